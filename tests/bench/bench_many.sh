#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench_many.sh - three outputs of one run of quantize, compared to three runs
#
#     tests/bench/bench_many.sh [-n RUNS]
#
# Makes a model of SIZE (512) MiB, and a compressed archive of 75 MiB, and keeps
# both in the page cache.  Three runs take turns with one that writes the same
# three files.  Prints medians of RUNS (3) runs and the bytes read in all.
#
# From the environment:
#     MODELFILE   the program to measure           (build/modelfile)
#     BUILD       where the helpers were built     (build)
#     THREADS     of each run                      (2)
#     TMPDIR      where the files go: three times SIZE of disk     (/tmp)
set -eu

runs=3
. "$(dirname "$0")/lib-bench.sh"
"$tests/filled" f16 "${SIZE:-512}" f16.gguf >/dev/null
"$tests/big_archive" deflated archive.npz >/dev/null
sync

quantize() {
    "$modelfile" quantize --force --json --threads "${THREADS:-2}" "$@" \
        2>/dev/null
}
three_runs() {
    for type in Q4_K_M Q8_0 F16; do
        quantize "$1" $type.gguf $type
    done
}
one_run() {
    quantize "$1" --output Q4_K_M=Q4_K_M.gguf --output Q8_0=Q8_0.gguf \
        --output F16=F16.gguf
}
# read_in_all: bytes, of the runs whose JSON is in said.txt.
read_in_all() {
    sed -n 's/.*"bytes_read": *\([0-9]*\).*/\1/p' said.txt |
        awk '{ sum += $1 } END { printf "%.1f", sum / 1048576 }'
}

printf '%-12s %10s %10s %12s %12s\n' source '3 runs, s' '1 run, s' \
    '3 runs, MiB' '1 run, MiB'
for source in f16.gguf archive.npz; do
    rm -f times.txt
    for _ in $(seq "$runs"); do
        cat "$source" >/dev/null
        once three three_runs "$source"
        three=$(read_in_all)
        once one one_run "$source"
        one=$(read_in_all)
    done
    printf '%-12s %10s %10s %12s %12s\n' "$source" \
        "$(once_median three | awk '{ printf "%.2f", $1 / 1e6 }')" \
        "$(once_median one | awk '{ printf "%.2f", $1 / 1e6 }')" \
        "$three" "$one"
done
