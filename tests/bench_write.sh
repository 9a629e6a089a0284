#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench_write.sh - how fast a model is rewritten, compared to cp and sync
#
#     tests/bench_write.sh [-n RUNS]
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
if [ "${1:-}" = -n ]; then
    runs=$2
fi
modelfile=$(realpath "${MODELFILE:-build/modelfile}")
tests=$(realpath "${BUILD:-build}/tests")
. "$(dirname "$0")/lib-bench.sh"
cd "$dir"
"$tests/filled" f16 "${SIZE:-1024}" model.gguf
"$modelfile" split --quiet model.gguf part --max-tensors 3 >/dev/null
sync

now() {
    date +%s%N
}

# once NAME COMMAND...: takes the time of a command that writes out.
once() {
    name=$1
    shift
    rm -f out out.*
    sync .
    cat model.gguf >/dev/null
    before=$(now)
    "$@" >/dev/null 2>&1
    echo "$name $((($(now) - before) / 1000))" >>times.txt
}

copy() {
    cp model.gguf out && sync out
}

convert() {
    "$modelfile" "$@"
}

for _ in $(seq "$runs"); do
    once cp copy
    once convert convert convert model.gguf out
    once header convert convert model.gguf out --reserve 100
    once merge convert merge part-00001-of-00003.gguf out
    once safetensors convert convert model.gguf out --to safetensors
    once apr convert convert model.gguf out --to apr
done

median() {
    grep "^$1 " times.txt | cut -d' ' -f2 | sort -n |
        awk '{ at[NR] = $1 } END { print at[int((NR + 1) / 2)] }'
}

plain=$(median cp)
size=$(stat -c %s model.gguf)
heap=$("$modelfile" convert model.gguf out --force --reserve 100 --json |
    sed -n 's/.*"peak_heap_bytes": *\([0-9]*\).*/\1/p')
for name in cp convert header merge safetensors apr; do
    awk -v name="$name" -v own="$(median $name)" -v plain="$plain" \
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
