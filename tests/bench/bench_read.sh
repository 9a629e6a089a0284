#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench_read.sh - how fast a program reads tensors as floats
#
#     tests/bench/bench_read.sh [-n RUNS] [TYPE...]
#
# For each tensor type writes a file of SIZE (128) MiB of noise and lets a
# program that reads all of it by mf_tensor_reader_read, a piece at a time, and
# `dequantize`, which writes the floats to a file in TMPDIR, run by turns with as
# many threads.  Prints medians of RUNS (15) runs in GB/s of floats, how often
# as fast the first is (1.30>=1.00 keeps its target), and how many allocations
# there are in its loop.
#
# From the environment:
#     MODELFILE   the program to measure           (build/modelfile)
#     BUILD       where the helpers were built     (build)
#     THREADS     numbers of threads to try        (1 2)
#     TMPDIR      where the files go; in memory, so that no disk counts   (/tmp)
set -eu

runs=15
# shellcheck disable=SC1091 # beside this file
. "$(dirname "$0")/lib-bench.sh"
link modelfile read_speed
[ $# -gt 0 ] || set -- f16 q8_0 q4_k q6_k

printf '%-6s %8s %12s %12s %14s %12s\n' type threads dequantize reading ratio \
    allocations
for type in "$@"; do
    "$tests/filled" "$type" "${SIZE:-128}" model
    for threads in ${THREADS:-1 2}; do
        read="./read_speed $threads model"
        write="./modelfile dequantize model out.gguf --type f32 --force --quiet --threads $threads"
        said=$($read)
        $write >said.txt 2>&1
        "$tests/timeit" "$runs" "$read" "$write" >times.txt 2>/dev/null
        echo "$said" | awk -v type="$type" -v threads="$threads" \
            -v reading="$(timeit_median "$read")" \
            -v writing="$(timeit_median "$write")" '{
                bytes = 4 * $1
                ratio = writing / reading
                printf "%-6s %8d %12.2f %12.2f %14s %12d\n", type, threads,
                    bytes / writing / 1e3, bytes / reading / 1e3,
                    sprintf("%.2f%s1.00", ratio, ratio < 1 ? "<" : ">="), $8
            }'
    done
done
