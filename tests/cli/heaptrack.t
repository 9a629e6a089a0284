#!/bin/sh
# SPDX-License-Identifier: MIT
#
# heaptrack.t - heaptrack, whose malloc LD_PRELOAD brings, sees the program's
# blocks, and ends
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

if ! command -v heaptrack >/dev/null 2>&1; then
    echo "1..0 # SKIP heaptrack is not installed (apt install heaptrack)"
    exit 0
fi
if ! counts_memory; then
    echo "1..0 # SKIP this build leaves malloc alone"
    exit 0
fi
cd "$dir" || exit 1
"$build/tests/filled" f16 8 in.gguf

# peak FILE: the bytes that heaptrack has seen at once.
peak() {
    for each in "$1".zst "$1".gz; do
        [ -e "$each" ] || continue
        heaptrack_print "$each" 2>/dev/null |
            sed -n 's/^peak heap memory consumption: //p' |
            awk '{ size = $0 + 0
                   if ($0 ~ /K/) size *= 1000
                   if ($0 ~ /M/) size *= 1000000
                   printf "%d\n", size }'
    done
}

# traced ARGUMENT...: heaptrack may add some of its own, and has fewer: what the
# libraries took before the program began.
traced() {
    "$modelfile" "$@" --json >json 2>err || return 1
    ours=$(tr -d ' \n' <json |
        sed -n 's/.*"run":{[^}]*"peak_heap_bytes":\([0-9]*\).*/\1/p')
    timeout 120 heaptrack -o trace "$modelfile" "$@" >out 2>err || {
        cat out err
        return 1
    }
    seen=$(peak trace)
    rm -f trace.*
    echo "we say $ours, heaptrack $seen"
    [ -n "$seen" ] && [ "$seen" -gt $((ours / 4)) ] &&
        [ "$seen" -lt $((ours * 2 + 100000)) ]
}

check "info" traced info "$fixtures/good-llama.gguf"
check "hash with threads" traced hash --threads 3 in.gguf
check "quantize" traced quantize in.gguf out.gguf Q8_0 --force --threads 3
ends_when_it_fails() {
    timeout 120 heaptrack -o failed "$modelfile" info missing.gguf >out 2>err
    [ $? != 124 ] && grep -q 'No such file' out err
}
check "a command that fails" ends_when_it_fails

finish
