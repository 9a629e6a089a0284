#!/bin/sh
# SPDX-License-Identifier: MIT
#
# memory.t - with little memory a command does its work or ends with 5
#
# Limits of our own are kept: the peak of the whole process, which heap.t holds
# against DHAT, is no more than what was allowed.  Under limits of the system
# nothing else happens than without memory.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

# Not so under a sanitizer, which has terabytes of its own.
if ! "${NM:-nm}" -u "$modelfile" | grep -q __libc_malloc; then
    echo "1..0 # SKIP this build leaves malloc alone"
    exit 0
fi
"${BUILD:-build}/tests/filled" f16 6 "$dir/model.gguf" >/dev/null

# ---- --max-memory

peak() {
    tr -d ' \n' <"$dir/out" |
        sed -n 's/.*"run":{[^}]*"peak_heap_bytes":\([0-9]*\).*/\1/p'
}

# kept COMMAND...: KiB by KiB, until it has what it needs.
kept() {
    worked=0
    for kib in 2 8 16 20 24 28 32 36 40 44 48 52 56 60 64 80 96 128 192 256 \
        512 1024 2048 4096; do
        code=0
        "$modelfile" "$@" --json --max-memory ${kib}K >"$dir/out" \
            2>"$dir/err" || code=$?
        if [ $code -ne 0 ] && [ $code -ne 5 ]; then
            echo "$kib KiB: exit code $code"
            cat "$dir/err"
            return 1
        fi
        told=$(peak)
        if [ "${told:-0}" -gt $((kib * 1024)) ]; then
            echo "$kib KiB: the peak is $told bytes, exit code $code"
            return 1
        fi
        [ $code -ne 0 ] || worked=$((worked + 1))
    done
    [ $worked -gt 4 ]
}
for algorithm in sha256 xxh3 crc32; do
    check "--max-memory: hash --algo $algorithm" \
        kept hash --algo $algorithm --threads 1 "$fixtures/good-llama.gguf"
done
check "--max-memory: hash, on threads" \
    kept hash --algo sha256 --threads 3 "$dir/model.gguf"
check "--max-memory: validate --data" \
    kept validate --data --threads 3 "$dir/model.gguf"
check "--max-memory: quantize" \
    kept quantize --force --threads 3 "$dir/model.gguf" "$dir/o.gguf" Q8_0

# ---- ulimit

# starts OPTION KIB: the system can start the program at all.
starts() {
    got=0
    sh -c 'ulimit "$1" "$2"; exec "$3" version' sh "$1" "$2" "$modelfile" \
        >/dev/null 2>&1 || got=$?
    [ $got -ne 127 ] && [ $got -lt 129 ]
} 2>/dev/null

# sweep OPTION MOST: from where it starts on; the steps are longer above 1 %
# of what there is.
sweep() {
    kib=200
    while ! starts "$1" $kib; do
        kib=$((kib + 4 + kib / 100))
        [ $kib -lt 20000 ] || return
    done
    echo "starts with $kib KiB"
    while [ $kib -lt "$2" ]; do
        for command in "detect $dir/model.gguf" \
            "hash --threads 4 $dir/model.gguf" \
            "hash --algo sha256 --threads 4 $dir/model.gguf"; do
            code=0
            # shellcheck disable=SC2086 # words
            (
                ulimit "$1" $kib
                exec "$modelfile" $command
            ) >"$dir/out" 2>"$dir/err" || code=$?
            [ $code -eq 0 ] || [ $code -eq 5 ] && continue
            echo "$kib KiB, $command: exit code $code"
            cat "$dir/err"
            return 1
        done
        kib=$((kib + 3 + kib / 50))
    done
}
for option in -d -v; do
    # shellcheck disable=SC3045 # dash has both
    if (ulimit $option 100000) 2>/dev/null; then
        check "ulimit $option" sweep $option 60000
    else
        skip "ulimit $option" "this shell or system has none"
    fi
done
finish
