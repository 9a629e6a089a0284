#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench_data.sh - how fast commands that read all tensor data do it
#
#     tests/bench/bench_data.sh [-n RUNS] [TYPE...]
#
# For each tensor type writes a file of SIZE (512) MiB of noise, keeps it in the
# page cache, and lets the commands run by turns with a program that only reads
# the file, 1 MiB at a time into one buffer, with as many threads.  Prints
# medians of RUNS (15) runs, start of the process and all, in GB/s, and the
# share of the plain read.  0.84>=0.80 keeps its target, 0.71<0.80 does not.
#
# From the environment:
#     MODELFILE   the program to measure           (build/modelfile)
#     BUILD       where the helpers were built     (build)
#     THREADS     numbers of threads to try        (1 2)
#     TMPDIR      where the file goes; memory should hold it   (/tmp)
set -eu

runs=15
. "$(dirname "$0")/lib-bench.sh"
link modelfile reading
[ $# -gt 0 ] || set -- f32 f16 bf16 q8_0 q4_k q6_k

# What is measured: a name, its target, and the command without the threads.
commands='validate --data;0.80;./modelfile validate --data --quiet model
hash;0.80;./modelfile hash --quiet model'

printf '%-6s %-16s %8s %10s %10s %12s %10s\n' type command threads \
    'read GB/s' 'GB/s' share 'peak heap'
for type in "$@"; do
    "$tests/filled" "$type" "${SIZE:-512}" model
    bytes=$(stat -c %s model)
    for threads in ${THREADS:-1 2}; do
        set -- "./reading $threads model"
        while IFS=';' read -r name target command; do
            set -- "$@" "$command --threads $threads"
        done <<END
$commands
END
        ./reading 1 model
        "$tests/timeit" "$runs" "$@" >times.txt 2>/dev/null
        while IFS=';' read -r name target command; do
            heap=$($command --threads "$threads" --json |
                run_number peak_heap_bytes)
            awk -v type="$type" -v name="$name" -v threads="$threads" \
                -v bytes="$bytes" -v target="$target" -v heap="$heap" \
                -v plain="$(timeit_median "./reading $threads model")" \
                -v own="$(timeit_median "$command --threads $threads")" '
                BEGIN {
                    share = plain / own
                    printf "%-6s %-16s %8d %10.1f %10.1f %12s %6.2f MiB\n", type,
                        name, threads, bytes / plain / 1e3, bytes / own / 1e3,
                        sprintf("%.2f%s%.2f", share,
                            share < target ? "<" : ">=", target), heap / 2^20
                }'
        done <<END
$commands
END
    done
done
