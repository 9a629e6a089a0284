#!/bin/sh
# SPDX-License-Identifier: MIT
#
# metrics.sh - how long functions and files are, and how much is comment
#
#     tests/metrics.sh
#
# The aim: half of all functions under 15 lines, 95 in 100 under 50, files of
# about 400 lines at most.  Fails where a function has more than 70.  A
# function is counted from the '{' in the first column to the '}' there, which
# is where `make format` puts them.
set -eu

lines=$(mktemp "${TMPDIR:-/tmp}/modelfile-metrics.XXXXXX")
trap 'rm -f "$lines"' EXIT

# One row for each function (f), file (l) and line of comment or code (c):
#     f LENGTH FILE:LINE NAME / l LENGTH FILE / c COMMENTS LINES FILE
find lib apr gguf safetensors cli tests fixtures -name '*.[ch]' |
    LC_ALL=C sort | while read -r file; do
    awk -v file="$file" '
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

# comments NAME SUFFIX: the share of lines with comment (also beside code) among lines
# that are not blank.
comments() {
    awk -v name="$1" -v suffix="$2" '
        $1 == "c" && substr($4, length($4) - 1) == suffix &&
            $4 !~ /^(tests|fixtures)/ { comments += $2; full += $3 }
        END { if (full) printf "%-24s %5.1f %%\n", name, 100 * comments / full }
    ' "$lines"
}

product='^(lib|apr|gguf|safetensors|cli)/'
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
awk '$1 == "l" && $2 > 400 { print "long file: " $3 " has " $2 " lines" }
    $1 == "f" && $2 > 50 && $2 <= 70 {
        print "long function: " $4 " at " $3 " has " $2 " lines"
    }
    $1 == "f" && $2 > 70 {
        print "too long: " $4 " at " $3 " has " $2 " lines, at most 70"
        bad = 1
    }
    $1 == "f" { any = 1 }
    END { exit bad || !any }' "$lines"
