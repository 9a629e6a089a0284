#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh - runs tests that speak TAP, and counts single tests
#
#     tests/run.sh TEST...
#
# A TEST is a program or a *.t script.  They run under prove, JOBS (2) at a
# time, each for at most TEST_TIMEOUT (1200) seconds, those in tests/slowest.txt
# first.  Failures are shown with what the test said, skipped tests by name; the
# last line is
#
#     N passed, N failed, N skipped
#
# A test that dies, or runs fewer tests than it planned, counts as a failure
# of its own.  Exit code 1 on any failure, or where nothing was tested.
set -eu

# Where the output of test $1 is kept; "of" so that ./x is not a hidden file.
kept_path() {
    echo "$TAP_LOG/of_$(echo "$1" | tr / _)"
}

# One test, for prove: its output cleaned, a copy of it, and its exit code.
run_one() {
    kept=$(kept_path "$1")
    status=0
    case $1 in
    *.t) set -- "$1" sh "$1" ;;
    */*) set -- "$1" "$1" ;;
    *) set -- "$1" "./$1" ;;
    esac
    name=$1
    shift
    CMOCKA_MESSAGE_OUTPUT=TAP timeout "${TEST_TIMEOUT:-1200}" "$@" \
        >"$kept.raw" 2>"$kept.err" </dev/null || status=$?
    awk -v name="$name" -v status="$status" -v counts="$kept.counts" \
        -f "$(dirname "$0")/tap.awk" "$kept.raw" >"$kept.tap"
    cat "$kept.tap"
    exit "$status"
}

if [ "${1:-}" = --one ]; then # as prove calls this script, see below
    run_one "$2"
fi

TAP_LOG=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-tests.XXXXXX")
export TAP_LOG
trap 'rm -rf "$TAP_LOG"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Those that take long begin first: none of them is waited for in the end.
in_order() {
    printf '%s\n' "$@" | awk -F / '
        NR == FNR { if (!/^#/) rank[$1] = FNR; next }
        { print ($NF in rank ? rank[$NF] : FNR + 1000) "\t" $0 }' \
        "$(dirname "$0")/slowest.txt" - | sort -n | cut -f 2-
}
if [ $# -gt 1 ]; then
    before=$IFS
    IFS='
'
    set -f
    # shellcheck disable=SC2046 # a test in each line
    set -- $(in_order "$@")
    set +f
    IFS=$before
fi

# The word of prove is not needed for the verdict: it shows progress, and
# whatever it minds shows in the counts as well.
if [ $# -gt 0 ]; then
    prove --timer --jobs "${JOBS:-2}" --exec "sh $0 --one" "$@" || true
fi

# What each failed test said: its line, and comments up to the next result.
# After them the end of what the program wrote to standard error, where a
# sanitizer or an assert leaves its words.
for test in "$@"; do
    kept=$(kept_path "$test")
    [ -f "$kept.counts" ] || echo 0 1 0 >"$kept.counts"
    read -r _ failed _ <"$kept.counts"
    [ "$failed" -gt 0 ] || continue
    echo
    echo "FAILED: $test"
    [ ! -f "$kept.tap" ] || awk '
        /^not ok / { shown = 1; print "  " $0; next }
        /^ok / { shown = 0; next }
        shown && !/^1\.\./ { print "  " $0 }' "$kept.tap"
    [ ! -f "$kept.err" ] || tail -n 60 "$kept.err" | sed 's/^/  stderr: /'
done

for test in "$@"; do
    kept=$(kept_path "$test")
    [ ! -f "$kept.tap" ] ||
        sed -n "s|^ok [0-9]* - \(.*\) # SKIP|SKIPPED: $test: \1:|p" \
            "$kept.tap"
done | sed 's/: *$//'

shared=${CONFORMANCE:-../shared}
[ -d "$shared" ] || echo "There is no folder $shared: tests that compare with" \
    "what other programs made have the samples in fixtures alone." \
    "See CONTRIBUTING.md"

cat "$TAP_LOG"/*.counts /dev/null 2>/dev/null | awk '
    { pass += $1; fail += $2; skip += $3 }
    END {
        printf "%d passed, %d failed, %d skipped\n", pass, fail, skip
        exit fail > 0 || pass == 0
    }'
