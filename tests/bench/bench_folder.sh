#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench_folder.sh - how fast a folder of Hugging Face becomes a GGUF file,
# compared to cp and sync
#
#     tests/bench/bench_folder.sh [-n RUNS]
#
# Makes a folder of 1 GiB of bf16 with 150,000 pieces, keeps it in the page
# cache, and lets cp followed by sync of the copy take turns with `convert`,
# whose fsync is included.  Prints medians of RUNS (5) runs and peak heap.  Then
# a folder of 671 billion numbers in 163 shards, whose data is a hole, is
# planned (`--dry-run`).  1.10<=1.30 keeps its target, 1.50>1.30 does not.
#
# From the environment:
#     MODELFILE   the program to measure           (build/modelfile)
#     BUILD       where the helpers were built     (build)
#     TMPDIR      where the files go: 3 GiB of disk                (/tmp)
set -eu

runs=5
. "$(dirname "$0")/lib-bench.sh"

# turn NAME COMMAND...: takes the time of a command that reads the cached folder
# and writes out or out.gguf.
turn() {
    rm -rf out out.gguf
    cat dense/* >/dev/null
    once "$@"
}

copy() {
    cp -r dense out
    sync out/*
}

convert() {
    "$modelfile" convert "$1" out.gguf --names gguf --json
}
plan() {
    "$modelfile" convert experts out.gguf --names gguf --dry-run --json
}

"$tests/hub_big" dense dense
sync
for _ in $(seq "$runs"); do
    turn cp copy
    turn convert convert dense
done
awk -v cp="$(once_median cp)" -v own="$(once_median convert)" \
    -v heap="$(run_number peak_heap_bytes <said.txt)" '
BEGIN {
    times = own / cp
    slow = times > 1.3 ? ">" : "<="
    large = heap > 8 * 1048576 ? ">" : "<="
    printf "1 GiB        cp+sync %.3f s, convert %.3f s: %.2f%s1.30 of it, ",
        cp / 1e6, own / 1e6, times, slow
    printf "peak heap %.1f%s8.0 MiB\n", heap / 1048576, large
}'
rm -rf dense out.gguf

"$tests/hub_big" experts experts
for _ in $(seq "$runs"); do
    once plan plan
done
awk -v own="$(once_median plan)" \
    -v heap="$(run_number peak_heap_bytes <said.txt)" '
BEGIN {
    slow = own > 1e6 ? ">" : "<="
    large = heap > 64 * 1048576 ? ">" : "<="
    printf "671 billion  convert --dry-run %.3f%s1.000 s, ", own / 1e6, slow
    printf "peak heap %.1f%s64.0 MiB\n", heap / 1048576, large
}'
