#!/bin/sh
# SPDX-License-Identifier: MIT
#
# heap.t - the peak heap that modelfile reports is the one that valgrind sees
#
# Each command runs twice: as it is, and under valgrind's DHAT, which counts
# the mallocs of the same process from outside.  Both must name one number.  With
# QUICK=1, each command on two files.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

# run_number KEY: from the "run" object of the JSON that modelfile printed.
run_number() {
    tr -d ' \n' <"$dir/out" | sed -n "s/.*\"run\":{[^}]*\"$1\":\([0-9]*\).*/\1/p"
}

# dhat_number LINE: "==12== At t-gmax: 1,234 bytes in 5 blocks" has 1234.
dhat_number() {
    sed -n "s/^==[0-9]*== $1: *\([0-9,]*\) bytes.*/\1/p" "$dir/dhat" | tr -d ,
}

# The exit code does not matter here: only the numbers do.
same_peak() {
    "$modelfile" "$@" --json >"$dir/out" 2>"$dir/err"
    told=$(run_number peak_heap_bytes)
    valgrind --tool=dhat --dhat-out-file=/dev/null --log-file="$dir/dhat" \
        "$modelfile" "$@" --json >"$dir/out" 2>>"$dir/err"
    seen=$(dhat_number "At t-gmax")
    if [ -n "$told" ] && [ "$told" = "$seen" ]; then
        ok "$* takes $told bytes"
    else
        not_ok "$*: modelfile says '$told' bytes, DHAT '$seen'"
        tail -n 20 "$dir/err" "$dir/dhat" | note
    fi
}

if ! command -v valgrind >/dev/null 2>&1; then
    echo "1..0 # SKIP valgrind is not installed"
    exit 0
fi
check "the program is built" [ -x "$modelfile" ]
if ! counts_memory; then
    skip "peak heap" "this build leaves malloc alone"
    finish
fi

turn=0
for command in detect info "tensors info" "meta list" "hash --threads 1"; do
    for file in good-llama.gguf good-many-tensors.gguf good-strings.gguf \
        good-split-00001-of-00003.gguf good-metadata-large.apr \
        good-dtypes.safetensors good-folder; do
        turn=$((turn + 1))
        [ -z "${QUICK:-}" ] || [ $((turn % 4)) -eq 0 ] || continue
        # shellcheck disable=SC2086 # the command is words
        same_peak $command "$fixtures/$file"
    done
done
same_peak diff --threads 1 "$fixtures/good-llama.gguf" "$fixtures/good-base.gguf"
same_peak verify --threads 1 "$fixtures/good-llama.gguf" --from \
    "$fixtures/good-llama.gguf"
same_peak version
finish
