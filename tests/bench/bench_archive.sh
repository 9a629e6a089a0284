#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench_archive.sh - how fast checkpoints, compressed arrays and tables are read
#
#     tests/bench/bench_archive.sh [-n RUNS]
#
# Digests of 512 MiB in a checkpoint take turns with digests of a safetensors file
# of the same tensors and with a program that only reads each; digests and checks
# of 128 MiB in a compressed npz with zlib alone, in as many threads.  Then the
# lists of checkpoints whose data is a hole, 300 tensors and 20,000, of a table
# of a million column chunks, and all of a compressed array with its columns first.  Prints medians of RUNS (15) runs, start of
# the process and all.  0.84>=0.80 keeps its target, 0.71<0.80 does not.
#
# From the environment:
#     MODELFILE   the program to measure           (build/modelfile)
#     BUILD       where the helpers were built     (build)
#     THREADS     numbers of threads to try        (1 2)
#     TMPDIR      where the files go: 1.5 GiB of disk, on a file system that
#                 has sparse files; memory should hold it          (/tmp)
set -eu

runs=15
. "$(dirname "$0")/lib-bench.sh"
link modelfile reading inflating

# A number of what the command says of its own run.
said() {
    name=$1
    shift
    "$@" --json 2>/dev/null | run_number "$name"
}

# share WHAT TARGET COMMAND PEER: how much of the peer's rate the command has.
share() {
    # shellcheck disable=SC2086 # the command is words
    awk -v what="$1" -v target="$2" -v threads="$threads" -v bytes="$bytes" \
        -v own="$(timeit_median "$3")" -v peer="$(timeit_median "$4")" \
        -v heap="$(said peak_heap_bytes $3)" 'BEGIN {
            share = sprintf("%.2f%s%.2f", peer / own,
                (peer / own < target ? "<" : ">="), target)
            printf "%-29s %7d %9.2f %10.2f %13s %9.0f\n", what, threads,
                bytes / own / 1e3, bytes / peer / 1e3, share, heap / 1024
        }'
}

printf '%-29s %7s %9s %10s %13s %9s\n' 'command, peer' threads GB/s \
    'peer GB/s' share 'heap KiB'
# Both are copies: how a file was written decides how its pages lie in memory,
# and that how fast they are read.
"$tests/big_archive" stored made.pt
./modelfile convert made.pt made.safetensors --quiet >said.txt
for kind in pt safetensors; do
    cp made.$kind model.$kind
    rm made.$kind
done
bytes=536870912
for threads in ${THREADS:-1 2}; do
    set --
    for file in model.pt model.safetensors; do
        set -- "$@" "./modelfile hash --quiet --threads $threads $file" \
            "./reading $threads $file"
    done
    "$tests/timeit" "$runs" "$@" >times.txt 2>/dev/null
    share "hash .pt, reading it" 0.80 "$1" "$2"
    share "hash .safetensors, reading it" 0.80 "$3" "$4"
done
rm -f model.pt model.safetensors

"$tests/big_archive" deflated model.npz
bytes=134217728
for threads in ${THREADS:-1 2}; do
    hash="./modelfile hash --quiet --threads $threads model.npz"
    data="./modelfile validate --data --quiet --threads $threads model.npz"
    peer="./inflating $threads model.npz"
    "$tests/timeit" "$runs" "$hash" "$data" "$peer" >times.txt 2>/dev/null
    share "hash .npz, zlib" 0.80 "$hash" "$peer"
    share "validate --data .npz, zlib" 0.80 "$data" "$peer"
done
rm -f model.npz

# list KIND FILE COUNT MILLISECONDS COMMAND: what a list takes, start and all.
list() {
    "$tests/big_archive" "$1" "$2"
    "$tests/timeit" "$runs" "./modelfile $5 $2" >times.txt 2>/dev/null
    # shellcheck disable=SC2086 # the command is words
    awk -v what="$5 $2" -v count="$3" -v target="$4" \
        -v own="$(timeit_median "./modelfile $5 $2")" \
        -v read="$(said bytes_read ./modelfile $5 $2)" \
        -v heap="$(said peak_heap_bytes ./modelfile $5 $2)" 'BEGIN {
            time = sprintf("%.2f%s%d", own / 1e3,
                (own / 1e3 > target ? ">" : "<="), target)
            printf "%-29s %8d %14s %10.0f %10.0f %6.0f\n", what, count, time,
                read / 1024, heap / 1024, heap / count
        }'
    rm -f "$2"
}

printf '\n%-29s %8s %14s %10s %10s %6s\n' list rows ms 'read KiB' 'heap KiB' each
list 300 300.pt 300 5 'info'
list transposed transposed.npz 1 2000 'hash --quiet'
list transposed transposed.npz 1 2000 'validate --data --quiet'
list 300 300.pt 300 5 'tensors info'
list 20000 20000.pt 20000 50 'tensors info'
list chunks chunks.parquet 1000000 1000 'info'
