#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutants.sh - changes the code in one place at a time; lists what no test minds
#
#     RANGE=main~5..main tests/mutants.sh
#     FILES="lib/io/journal_apply.c lib/write/edit.c" tests/mutants.sh
#     MUTANTS=100 SEED=1 tests/mutants.sh
#
# RANGE: the lines that these commits touched, in their C files.  FILES: these
# files, or, with RANGE, these of them.  MUTANTS: so many changes in any file of
# the library, which SEED decides; a change that gives the same object code is not
# among them.  One operator or constant is changed at a time (mutants.awk; rows of
# lib/families: mutants_rows.sh).  Tests that run the line decide, the fastest
# first; gcov knows which do.  Settings:
#
#     TESTS=                the tests; unset: all fast ones
#     MUTANTS_MAX=200       of more changes some are chosen, spread evenly
#     MUTANTS_SECONDS=1200  then the rest is left out, and its size reported
#     MUTANTS_TEST=30       seconds; slower tests are left out
#
# All is done in a copy of the tree.  gcc only.  A line of the output is
#
#     survived: FILE:LINE:COLUMN: OLD -> NEW  CODE
#
# A change with the same object code is not listed.  The exit code says nothing of
# survivors: some changes change nothing that matters, and a reader must decide.
set -u

max=${MUTANTS_MAX:-200}
seconds=${MUTANTS_SECONDS:-1200}
slow=${MUTANTS_TEST:-30}
started=$(date +%s)
GCOV=${GCOV:-gcov}
# shellcheck disable=SC1091 # it is run in the top folder
. tests/mutants_copy.sh

[ -n "${RANGE:-}${FILES:-}${MUTANTS:-}" ] ||
    die "RANGE=, FILES= or MUTANTS= says what to change"
formats=$(sed -n 's|^FORMAT(\([a-z0-9_]*\),.*|\1/*.c|p' lib/model/formats.def |
    sort -u)
if [ -n "${RANGE:-}" ]; then
    # shellcheck disable=SC2046 # a word for each folder of a format
    touched=$(git -C "$top" diff --name-only --diff-filter=d "$RANGE" -- \
        'lib/*.c' 'cli/*.c' $formats) || die "git does not know $RANGE"
    FILES=${FILES:-$touched}
elif [ -n "${MUTANTS:-}" ]; then # all rooms, and no other program
    # shellcheck disable=SC2086 # a word for each folder of a format
    FILES=${FILES:-$(git -C "$top" ls-files 'lib/*.c' $formats 'zip/*.c' |
        grep -v '^lib/rows/maker/')}
    max=$MUTANTS
fi
command -v "$GCOV" >/dev/null 2>&1 || die "gcov is not installed"

mkdir "$copy/lines"
# Threads want whole counts. The program does without its sandbox, which would
# keep them from the disk, where it finds that lines are counted.
counting="-O0 --coverage -fprofile-update=atomic"

# One, or one for each instruction set.
objects_of() { # FILE.c
    case $1 in
    lib/lanes/isa.c | lib/lanes/sha*.c) echo "build/${1%.c}.o" ;;
    lib/quant/* | lib/lanes/*) ls "build/${1%.c}".*.o ;;
    *) echo "build/${1%.c}.o" ;;
    esac
}

# ---- which lines, and what is changed there

for file in $FILES; do
    [ -f "$file" ] || die "there is no $file"
    lines=-
    if [ -n "${RANGE:-}" ]; then
        if ! (cd "$top" && git diff --quiet "${RANGE##*..}" -- "$file"); then
            echo "$file is not as $RANGE left it: left out"
            continue
        fi
        lines=$copy/lines/list
        (cd "$top" && git diff -U0 "$RANGE" -- "$file") | sed -n \
            's/^@@ [^+]*+\([0-9]*\),*\([0-9]*\) @@.*/\1 \2/p' |
            awk '{ n = NF > 1 ? $2 : 1; for (i = 0; i < n; i++) print $1 + i }' \
                >"$lines"
    fi
    awk -v lines="$lines" -f tests/mutants.awk "$file" |
        sed "s|^|$file$tab|" >>"$copy/changes"
done
[ -s "$copy/changes" ] || die "there is nothing to change"

# ---- a change, and what it makes

now=
# Kept: the file, and its objects as they were.
turn_to() { # FILE
    if [ -n "$now" ]; then
        cp "$copy/kept.c" "$now"
    fi
    now=$1
    cp "$now" "$copy/kept.c"
    rm -rf "$copy/objects"
    mkdir "$copy/objects"
    # shellcheck disable=SC2046 # objects are words
    {
        touch "$now" && make_them $(objects_of "$now") &&
            cp $(objects_of "$now") "$copy/objects"
    } || die "$(tail "$copy/log")"
}

same_objects() {
    for object in $(objects_of "$now"); do
        cmp -s "$object" "$copy/objects/${object##*/}" || return 1
    done
}

put_change() { # LINE COLUMN SIZE INSTEAD
    awk -v line="$1" -v column="$2" -v size="$3" -v instead="$4" '
        NR == line {
            $0 = substr($0, 1, column - 1) instead substr($0, column + size)
        }
        { print }' "$copy/kept.c" >"$now"
}

# The first of them that make other code, in the order of random numbers.
draw() {
    awk -v seed="${SEED:-1}" '
        BEGIN { state = seed % 2147483646 + 1 }
        {
            state = (state * 16807) % 2147483647
            print state "\t" $0
        }' "$copy/changes" | sort -n -k 1,1 | cut -f 2- >"$copy/shuffled"
    flags=-O2
    make_them all || die "$(tail "$copy/log")"
    while IFS=$tab read -r file line column size instead; do
        [ "$(wc -l <"$copy/drawn")" -lt "$MUTANTS" ] || break
        # shellcheck disable=SC2046 # objects are words
        ls $(objects_of "$file") >/dev/null 2>&1 || continue # of other systems
        [ "$file" = "$now" ] || turn_to "$file"
        put_change "$line" "$column" "$size" "$instead"
        # shellcheck disable=SC2046 # objects are words
        if make_them $(objects_of "$now") && ! same_objects; then
            printf '%s\t' "$file" "$line" "$column" "$size" >>"$copy/drawn"
            echo "$instead" >>"$copy/drawn"
        fi
    done <"$copy/shuffled"
    cp "$copy/kept.c" "$now"
    now=
    sort -k 1,1 -k 2,2n "$copy/drawn" >"$copy/changes"
}

if [ -n "${MUTANTS:-}" ]; then
    echo "seed ${SEED:-1}, $MUTANTS changes of C"
    : >"$copy/drawn"
    draw
fi
cut -f 1 "$copy/changes" | sort -u >"$copy/files"

# ---- which tests run which line

# Those that take minutes, or look at other things than what the code does.
not_here="*/test_sweep */test_malloc_count tests/cli/bench.t \
tests/cli/crash.t tests/cli/heap.t tests/cli/hostile.t tests/project/install.t tests/project/layers.t \
tests/cli/models.t tests/cli/outside.t tests/project/replay.t tests/cli/sarif.t tests/project/undecoded.t \
tests/project/convert_docs.t tests/project/hook.t"

fast_tests() {
    for test in tests/*/test_*.c tests/*/*.t; do
        name=$test
        if [ "$test" != "${test%.c}" ]; then
            name=${test##*/}
            name=build/tests/${name%.c}
        fi
        for pattern in $not_here; do
            # shellcheck disable=SC2254 # it is a pattern
            case $name in
            $pattern) continue 2 ;;
            esac
        done
        echo "$name"
    done
}

unit_object() { # PROGRAM
    for source in tests/*/"${1##*/}.c"; do
        echo "build/${source%.c}.o"
    done
}

echo "building what tells which tests run which lines"
flags=-O2
# The tests' objects, too: what is made further on counts lines.
# shellcheck disable=SC2046 # targets are words
make_them all build/tests/filled build/tests/reading build/tests/big \
    build/tests/timeit build/tests/empty $(for test in ${TESTS:-$(fast_tests)}
    do
        [ "$test" != "${test%.t}" ] || unit_object "$test"
    done) || die "$(tail "$copy/log")"
while read -r file; do
    touch "$file"
done <"$copy/files"
flags=$counting
objects=$(while read -r file; do objects_of "$file"; done <"$copy/files")
# shellcheck disable=SC2046,SC2086 # targets are words
make_them $(for test in ${TESTS:-$(fast_tests)}; do needs "$test"; done |
    sort -u) || die "$(tail "$copy/log")"

# ran TEST: FILE, LINE and TEST for each line that it ran, LINE with a "-" where
# there is no code of its own, into cover.
ran() {
    while read -r file; do
        for object in $(objects_of "$file"); do
            [ ! -f "${object%.o}.gcda" ] ||
                "$GCOV" -t "${object%.o}.gcda" 2>/dev/null |
                awk -v file="$file" -v test="$1" -F: '
                    $3 == "Source" { mine = $4 == file }
                    mine && $2 + 0 > 0 {
                        gsub(/ /, "", $1)
                        how = "ran"
                        if ($1 == "-")
                            how = "none"
                        else if ($1 ~ /^[#=]/)
                            how = "not"
                        print file, $2 + 0, how, test
                    }'
        done
    done <"$copy/files"
}

: >"$copy/times"
: >"$copy/cover"
for test in ${TESTS:-$(fast_tests)}; do
    # shellcheck disable=SC2086 # objects are words
    for object in $objects; do
        rm -f "${object%.o}.gcda"
    done
    before=$(date +%s%N)
    if ! run "$slow" "$test"; then
        echo "left out: $test fails here, or takes more than $slow s"
        continue
    fi
    echo "$((($(date +%s%N) - before) / 1000000)) $test" >>"$copy/times"
    ran "$test" >>"$copy/cover"
done
[ -s "$copy/times" ] || die "no test passes"

# Rows of changes with the tests that run their lines, the fastest first, at the
# end.  What has no code of its own goes with the code above it; where that is
# not in a function, with all of the file.
awk -F '\t' -v times="$copy/times" -v cover="$copy/cover" '
    BEGIN {
        OFS = FS
        while ((getline row <times) > 0) {
            split(row, part, " ")
            milliseconds[part[2]] = part[1]
        }
        while ((getline row <cover) > 0) {
            split(row, part, " ")
            at = part[1] SUBSEP part[2]
            if (part[3] == "none")
                continue
            code[at] = 1
            if (part[3] != "ran")
                continue
            if (!((part[1], part[4]) in whole_seen))
                whole[part[1]] = whole[part[1]] " " part[4]
            whole_seen[part[1], part[4]] = 1
            if (!((at, part[4]) in seen))
                tests[at] = tests[at] " " part[4]
            seen[at, part[4]] = 1
        }
    }
    function sorted(list,    name, count, i, j, keep, out) {
        count = split(list, name, " ")
        for (i = 2; i <= count; i++) {
            keep = name[i]
            for (j = i - 1; j > 0 &&
                milliseconds[name[j]] > milliseconds[keep]; j--)
                name[j + 1] = name[j]
            name[j + 1] = keep
        }
        for (i = 1; i <= count; i++)
            out = out " " name[i]
        return substr(out, 2)
    }
    {
        for (line = $2; line > 0 && !(($1, line) in code); line--)
            ;
        list = line > $2 - 8 && line > 0 ? tests[$1, line] : whole[$1]
        print $0, sorted(list)
    }' "$copy/changes" >"$copy/planned"

awk -F '\t' '$6 == "" && !(($1, $2) in seen) {
        seen[$1, $2] = 1
        rows[$1] = rows[$1] " " $2
    }
    END {
        for (file in rows)
            print "no test runs: " file ":" rows[file]
    }' "$copy/planned" | sort
if [ -n "${MUTANTS:-}" ]; then # what no test runs survives
    cp "$copy/planned" "$copy/run"
else
    awk -F '\t' '$6 != ""' "$copy/planned" >"$copy/run"
fi
count=$(wc -l <"$copy/run")
[ "$count" -gt 0 ] || die "no test runs any of these lines"
if [ "$count" -gt "$max" ]; then
    echo "$max of $count changes are tried"
    awk -v all="$count" -v max="$max" \
        'int(NR * max / all) != int((NR - 1) * max / all)' "$copy/run" \
        >"$copy/some"
    mv "$copy/some" "$copy/run"
fi

# ---- trying them

# Says killed, survived, same or broken.
verdict() { # TEST...
    # shellcheck disable=SC2046 # objects are words
    if ! make_them $(objects_of "$now"); then
        echo broken
        return
    fi
    if same_objects; then
        echo same
        return
    fi
    for test in "$@"; do
        if ! make_them "$(needs "$test")"; then
            echo broken
            return
        fi
        if ! run "$(($(milliseconds_of "$test") * 3 / 1000 + 5))" "$test"; then
            echo killed
            return
        fi
        rm -rf "${copy:?}"/tmp/*
    done
    echo survived
}

flags=-O2
tried=0
while read -r file; do # whose objects count no more
    touch "$file"
done <"$copy/files"
while IFS=$tab read -r file line column size instead tests; do
    if [ "$(($(date +%s) - started))" -gt "$seconds" ]; then
        echo "left out: $(($(wc -l <"$copy/run") - tried)) changes, after" \
            "$seconds s"
        break
    fi
    tried=$((tried + 1))
    [ "$file" = "$now" ] || turn_to "$file"
    put_change "$line" "$column" "$size" "$instead"
    # shellcheck disable=SC2086 # tests are words
    found=$(verdict $tests)
    echo "$found" >>"$copy/verdicts"
    if [ "$found" = survived ]; then
        sed -n "${line}p" "$copy/kept.c" | awk -v place="$file:$line:$column" \
            -v column="$column" -v size="$size" -v instead="$instead" '{
                old = substr($0, column, size)
                sub(/^ */, "")
                print "survived: " place ": " old " -> " \
                    (instead == " " ? "nothing" : instead) "  " $0
            }'
    fi
done <"$copy/run"

awk '{ n[$1]++ }
    END {
        printf "%d changes: %d found by a test, %d survived, %d make the " \
            "same code, %d do not compile\n", NR, n["killed"], n["survived"],
            n["same"], n["broken"]
    }' "$copy/verdicts"
