#!/bin/sh
# SPDX-License-Identifier: MIT
#
# port_units.sh - all that can be tested of the library on another system
#
#     tests/ports/port_units.sh musl|wasi|windows [TEST...]
#
# The script that make test runs, and for musl the command and the unit tests as
# well, linked statically.  TEST, such as quant for tests/quant/test_quant.c: only
# that.  `make foreign ARCH=SYSTEM` calls this.
set -u

system=${1:-}
shift
build=${BUILD:-build}

# What cannot pass with musl, and why.
excluded() {
    cat <<'TESTS'
sandbox        looks for libcrypto, which no static program can load
missing        the same
profile        needs backtrace, which musl does not have
profile_names  the same
threads        the build has no threads
host           the same
malloc_count   counts through functions of glibc
TESTS
}

if [ "$system" != musl ]; then
    exec sh tests/run.sh "tests/ports/$system.t"
fi

tests=$*
[ -n "$tests" ] || tests=$(ls tests/*/test_*.c |
    sed 's|.*/test_\(.*\)\.c|\1|' |
    grep -vxF "$(excluded | cut -d ' ' -f 1)")
programs=
for test in $tests; do
    programs="$programs $build/musl/tests/test_$test"
done
# shellcheck disable=SC2086 # names have no spaces
said=$(sh tests/ports/port_build.sh musl "$build/musl/modelfile" $programs)
case $? in
0) ;;
77) echo "SKIPPED: foreign musl: $said" && exit 0 ;;
*) echo "$said" && exit 1 ;;
esac
[ -z "$said" ] || echo "$said"
[ $# -gt 0 ] || excluded | sed "s/^\([^ ]*\) */EXCLUDED: test_\1: /"
[ $# -gt 0 ] || programs="$programs tests/ports/musl.t"
# shellcheck disable=SC2086
sh tests/run.sh $programs
