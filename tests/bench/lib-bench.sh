# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# lib-bench.sh - what the measuring scripts share
#
# Reads the option `-n RUNS`, finds the program ($modelfile) and the helpers
# ($tests), and enters an empty folder ($dir), which is removed at the end and
# when the measurement is interrupted.  A script sets $runs, its default, first.

if [ "${1:-}" = -n ]; then
    # shellcheck disable=SC2034 # the scripts use it
    runs=$2
    shift 2
fi
modelfile=$(realpath "${MODELFILE:-build/modelfile}")
tests=$(realpath "${BUILD:-build}/tests")
if [ ! -x "$modelfile" ]; then
    echo "${0##*/}: '$modelfile' is not a program" >&2
    exit 2
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$dir"

# link PROGRAM...: makes ./PROGRAM of each.  timeit splits commands at spaces;
# paths by these links have no spaces.
link() {
    for name in "$@"; do
        case $name in
        modelfile) ln -s "$modelfile" modelfile ;;
        *) ln -s "$tests/$name" "$name" ;;
        esac
    done
}

# timeit_median WORDS: the median, in microseconds, of the command that begins
# with the words, from what timeit wrote to times.txt, or '-'.
timeit_median() {
    awk -v words="$1 " '
        { at = $0; sub(/^[^ ]+ [^ ]+ [^ ]+ /, "", at) }
        index(at " ", words) == 1 { print $2; found = 1 }
        END { if (!found) print "-" }' times.txt
}

# once NAME COMMAND...: adds the time of a command, in microseconds, to
# times.txt; what it printed is in said.txt.
once() {
    name=$1
    shift
    before=$(date +%s%N)
    "$@" >said.txt 2>&1
    echo "$name $((($(date +%s%N) - before) / 1000))" >>times.txt
}

# once_median NAME: the median of the times that once added.
once_median() {
    grep "^$1 " times.txt | cut -d' ' -f2 | sort -n |
        awk '{ at[NR] = $1 } END { print at[int((NR + 1) / 2)] }'
}

# run_number NAME: a number of the "run" object in the JSON on standard input,
# or '-'.
run_number() {
    sed -n "s/.*\"$1\": *\([0-9][0-9]*\).*/\1/p" |
        awk '{ number = $0 } END { print number == "" ? "-" : number }'
}
