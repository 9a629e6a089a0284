#!/bin/sh
# SPDX-License-Identifier: MIT
#
# metrics.sh - how long functions, files and lines are, and how much is comment
#
#     tests/metrics.sh
#
# The aim: half of all functions under 15 lines, 95 in 100 under 50, files of
# about 400 lines at most.  Fails where a limit below is passed.  A function is
# counted from the '{' in the first column to the '}' there, which is where
# `make format` puts them.
set -eu

function_lines=60
file_lines=500 # of the product; the public header is a manual, and is longer
manual=lib/modelfile.h
code_columns=80
def_columns=170 # a row of a table, however wide, is one line

lines=$(mktemp "${TMPDIR:-/tmp}/modelfile-metrics.XXXXXX")
trap 'rm -f "$lines"' EXIT

formats=$(sed -n 's/^FORMAT(\([a-z0-9_]*\),.*/\1/p' lib/model/formats.def |
    sort -u)

# One row for each function (f), file (l), line of comment or code (c), and
# line that is too wide (w):
#     f LENGTH FILE:LINE NAME / l LENGTH FILE / c COMMENTS LINES FILE
#     w COLUMNS FILE:LINE LIMIT
# shellcheck disable=SC2086 # a word for each
find lib $formats cli tests fixtures \
    \( -name '*.[ch]' -o -name '*.def' \) |
    LC_ALL=C sort | while read -r file; do
    case $file in
    *.def) columns=$def_columns ;;
    tests/*) columns=1000 ;; # tables of expected messages
    *) columns=$code_columns ;;
    esac
    LC_ALL=C awk -v file="$file" -v columns="$columns" '
        length($0) > columns {
            text = $0
            gsub(/[\200-\277]/, "", text) # one column a character of UTF-8
            if (length(text) > columns)
                print "w", length(text), file ":" FNR, columns
        }
        file ~ /\.def$/ { next }
        /^[A-Za-z].*\(/ {
            name = $0
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
        }
        /^\{/ { start = NR }
        /^\}/ && start {
            print "f", NR - start + 1, file ":" start, name
            start = 0
        }
        /\/\*/ { comment = 1 }
        /[^ \t]/ { full++; comments += comment }
        /\*\// { comment = 0 }
        END {
            if (file ~ /\.def$/)
                exit
            print "l", NR, file
            print "c", comments + 0, full + 0, file
        }
    ' "$file"
done >"$lines"

# distribution NAME KIND PATTERN: of the lengths of rows whose file fits.
distribution() {
    awk -v kind="$2" -v pattern="$3" \
        '$1 == kind && $3 ~ pattern { print $2 }' "$lines" | sort -n |
        awk -v name="$1" '
            function rank(share) { return at[int((NR - 1) * share) + 1] }
            { at[NR] = $1 }
            END {
                if (NR)
                    printf "%-24s %6d %8d %8d %8d\n", name, NR, rank(0.5),
                        rank(0.95), at[NR]
            }'
}

# comments NAME SUFFIX: the share of lines with comment (also next to code) among lines
# that are not blank.
comments() {
    awk -v name="$1" -v suffix="$2" '
        $1 == "c" && substr($4, length($4) - 1) == suffix &&
            $4 !~ /^(tests|fixtures)/ { comments += $2; full += $3 }
        END { if (full) printf "%-24s %5.1f %%\n", name, 100 * comments / full }
    ' "$lines"
}

product="^(lib|cli|$(echo "$formats" | paste -sd '|' -))/"
rest='^(tests|fixtures)/'
printf '%-24s %6s %8s %8s %8s\n' "lines" count median 95% max
distribution "functions" f "$product"
distribution "functions of tests" f "$rest"
distribution "files" l "$product"
distribution "files of tests" l "$rest"
echo
comments "comment in .c" .c
comments "comment in .h" .h

echo
awk -v function_lines="$function_lines" -v file_lines="$file_lines" \
    -v manual="$manual" -v product="$product" '
    function fail(text) {
        print "too long: " text
        bad = 1
    }
    $1 == "l" && $3 ~ product && $3 != manual && $2 > file_lines {
        fail($3 " has " $2 " lines, at most " file_lines)
        next
    }
    $1 == "l" && $2 > 400 { print "long file: " $3 " has " $2 " lines" }
    $1 == "f" && $2 > function_lines {
        fail($4 " at " $3 " has " $2 " lines, at most " function_lines)
    }
    $1 == "f" && $2 > 50 && $2 <= function_lines {
        print "long function: " $4 " at " $3 " has " $2 " lines"
    }
    $1 == "w" { fail($3 " has " $2 " columns, at most " $4) }
    $1 == "f" { any = 1 }
    END { exit bad || !any }' "$lines"
