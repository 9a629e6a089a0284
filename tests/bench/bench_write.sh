#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench_write.sh - how fast a model is rewritten, compared to cp and sync
#
#     tests/bench/bench_write.sh [-n RUNS]
#
# Makes a model of SIZE (1024) MiB, keeps it in the page cache, and lets cp
# followed by sync of the copy take turns with commands that copy the same bytes
# (their fsync included).  Prints medians of RUNS (7) runs, what they are of cp's
# speed, and peak heap.  1.32>=0.90 keeps its target, 0.71<0.90 does not.
#
# From the environment:
#     MODELFILE   the program to measure           (build/modelfile)
#     BUILD       where the helpers were built     (build)
#     TMPDIR      where the files go: three times SIZE of disk     (/tmp)
set -eu

runs=7
. "$(dirname "$0")/lib-bench.sh"
"$tests/filled" f16 "${SIZE:-1024}" model.gguf
"$modelfile" split --quiet model.gguf part --max-tensors 3 >/dev/null
sync

# turn NAME COMMAND...: takes the time of a command that reads the cached model
# and writes out.
turn() {
    rm -f out out.*
    sync .
    cat model.gguf >/dev/null
    once "$@"
}

copy() {
    cp model.gguf out && sync out
}

convert() {
    "$modelfile" "$@"
}

for _ in $(seq "$runs"); do
    turn cp copy
    turn convert convert convert model.gguf out
    turn header convert convert model.gguf out --reserve 100
    turn merge convert merge part-00001-of-00003.gguf out
    turn safetensors convert convert model.gguf out --to safetensors
    turn apr convert convert model.gguf out --to apr
done

plain=$(once_median cp)
size=$(stat -c %s model.gguf)
heap=$("$modelfile" convert model.gguf out --force --reserve 100 --json |
    run_number peak_heap_bytes)
for name in cp convert header merge safetensors apr; do
    awk -v name="$name" -v own="$(once_median $name)" -v plain="$plain" \
        -v size="$size" 'BEGIN {
            share = plain / own
            # The checksum of an APR file is a second pass over it.
            target = name == "cp" || name == "apr" ? 0 : 0.9
            printf "%-12s %8.3f s %8.2f GB/s", name, own / 1e6, size / own / 1e3
            if (target)
                printf "  %.2f%s%.2f of cp", share,
                    share < target ? "<" : ">=", target
            print ""
        }'
done
echo "peak heap of convert: $heap bytes"
