#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench_executed.sh - how many instructions a codec takes on another processor
#
#     tests/bench/bench_executed.sh [arm64|s390x]
#
# Compiles some codecs twice for the processor (arm64): as they are in the
# library, with the vectors that every such processor has, and without: then the
# compiler makes numbers of vectors.  Runs both in qemu-user one instruction at a time, and prints the instructions for
# each element, which is the difference of two rows, divided by
# the difference of their lengths.
# They are counted, not timed: the emulator's speed says nothing.
#
# Needs Debian's cross compiler and qemu-user, as tests/foreign.sh does.
set -eu

case ${1:-arm64} in
arm64) triplet=aarch64-linux-gnu qemu=qemu-aarch64 scalar=-march=armv8-a+nosimd ;;
s390x) triplet=s390x-linux-gnu qemu=qemu-s390x scalar= ;;
*)
    echo "usage: bench_executed.sh [arm64|s390x]" >&2
    exit 2
    ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-executed.XXXXXX")
trap 'rm -rf "$work"' EXIT

# build NAME FLAG...: with the flags of the Makefile's QUANT_FLAGS.
build() {
    name=$1
    shift
    "$triplet-gcc" -std=c11 -D_POSIX_C_SOURCE=200809L -I. -g0 -O3 \
        -fopenmp-simd -fno-fast-math -fno-trapping-math -fno-math-errno \
        -ffp-contract=off -DNDEBUG -DMF_ISA=portable "$@" -static \
        tests/bench/executed.c lib/quant/f16.c lib/quant/q8_0.c lib/quant/q4_0.c \
        lib/quant/q4_k.c lib/quant/q6_k.c -o "$work/$name"
}
build vectors
# shellcheck disable=SC2086 # flags
build plain -fno-tree-vectorize -fno-openmp-simd $scalar

# count PROGRAM TYPE JOB COLUMNS: the lines of the emulator's log.
count() {
    "$qemu" -singlestep -d nochain,exec -D /dev/stdout "$work/$1" "$2" "$3" \
        "$4" | wc -l
}

# each PROGRAM TYPE JOB: instructions for an element.
each() {
    few=$(count "$1" "$2" "$3" 4096)
    many=$(count "$1" "$2" "$3" 12288)
    echo "$few $many" | awk '{ printf "%.3f", ($2 - $1) / 8192 }'
}

printf '%-5s %-7s %8s %8s %6s\n' type job vectors plain ratio
for job in "f16 decode" "q8_0 decode" "q4_k decode" "q6_k decode" \
    "q4_0 encode"; do
    # shellcheck disable=SC2086 # two words
    set -- $job
    vectors=$(each vectors "$@")
    plain=$(each plain "$@")
    echo "$vectors $plain" | awk -v type="$1" -v job="$2" '{
        printf "%-5s %-7s %8.2f %8.2f %6.1f\n", type, job, $1, $2, $2 / $1 }'
done
