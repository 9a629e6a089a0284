#!/bin/sh
# SPDX-License-Identifier: MIT
#
# budget.t - with --max-memory every command prints and writes what it does
# without, or ends with 5; and how little is enough for large models
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

# Not so under a sanitizer, which has memory of its own.
if ! counts_memory; then
    echo "1..0 # SKIP this build leaves malloc alone"
    exit 0
fi

# What a run cost, in JSON.
cost='"\(peak_heap_bytes\|heap_allocations\|peak_rss_bytes\|bytes_[a-z]*'
cost="$cost\\|seconds\\)\":"

# run_at SIZE COMMAND...: standard output, without what the run cost, in
# $dir/SIZE; the file that it writes, if any, is $dir/out.
run_at() {
    at=$1
    shift
    rm -f "$dir/out"
    code=0
    "$modelfile" "$@" --max-memory "$at" >"$dir/raw" 2>"$dir/err" || code=$?
    grep -v "$cost" "$dir/raw" >"$dir/$at"
    peak=$(sed -n 's/.*"peak_heap_bytes": *\([0-9]*\).*/\1/p' "$dir/raw")
}

# same ENOUGH STEPS COMMAND...: KiB by KiB, on the same output; ENOUGH has to
# be enough.
same() {
    enough=$1
    steps=$2
    shift 2
    run_at 1T "$@" --json
    wanted=$code
    rm -f "$dir/wanted"
    [ ! -e "$dir/out" ] || mv "$dir/out" "$dir/wanted"
    for kib in $steps; do
        run_at "${kib}K" "$@" --json
        if [ "$code" -eq 5 ] && [ "$kib" -lt "$enough" ]; then
            [ ! -e "$dir/out" ] && continue
            echo "$kib KiB: exit code 5, but there is a file"
            return 1
        fi
        if [ "$code" -ne "$wanted" ]; then
            echo "$kib KiB: exit code $code"
            cat "$dir/err"
            return 1
        fi
        if [ "${peak:-0}" -gt $((kib * 1024)) ]; then
            echo "$kib KiB: the peak is $peak bytes"
            return 1
        fi
        diff "$dir/1T" "$dir/${kib}K" || return 1
        [ ! -e "$dir/wanted" ] || cmp "$dir/wanted" "$dir/out" || return 1
    done
}

# ---- the header of a large model

"$build/tests/big" 7b-150k "$dir/big.gguf" >"$dir/err"
for command in info "tensors info" "meta list"; do
    # shellcheck disable=SC2086 # the command is words
    check "$command of 152,000 tokens needs 80 KiB" \
        same 80 "60 80 100 200" $command "$dir/big.gguf"
done
check "validate of 152,000 tokens needs 80 KiB" \
    same 80 "80 200" validate "$dir/big.gguf"
check "a plan for it needs 256 KiB" same 256 "128 200 256 500" \
    quantize --dry-run "$dir/big.gguf" "$dir/out" Q4_K_M
rm "$dir/big.gguf"

# ---- small models

for file in good-llama.gguf good-many-tensors.gguf good-metadata-large.apr \
    good-dtypes.safetensors good-folder bad-tokens-duplicate.gguf \
    bad-tokens-merge.gguf bad-hf-tokens; do
    check "validate --data $file" same 80 "24 32 40 48 64 80 128" \
        validate --data "$fixtures/$file"
done
check "tensors stats of 24 KB needs 40 KiB" same 40 "32 40 48 64 80 100" \
    tensors stats "$fixtures/good-llama.gguf"

# ---- data, on threads

"$build/tests/filled" f16 6 "$dir/a.gguf" >"$dir/err"
"$modelfile" quantize --quiet "$dir/a.gguf" "$dir/b.gguf" Q8_0 >"$dir/err"
"$modelfile" split --quiet "$dir/a.gguf" "$dir/s.gguf" --max-tensors 4 \
    >"$dir/err"
steps="40 64 100 150 250 500 1000 3000"
for algorithm in crc32 xxh3 sha256; do
    check "hash --algo $algorithm" same 64 "$steps" \
        hash --threads 3 --algo $algorithm "$dir/a.gguf"
done
check "tensors stats" same 40 "$steps" tensors stats --threads 3 "$dir/a.gguf"
check "diff --values" same 64 "$steps" \
    diff --values --threads 3 "$dir/a.gguf" "$dir/b.gguf"
check "verify" same 150 "$steps" \
    verify --threads 3 "$dir/b.gguf" --from "$dir/a.gguf"
check "verify of another one" same 150 "$steps" \
    verify --threads 3 "$dir/a.gguf" --from "$dir/b.gguf"
check "validate --data" same 40 "$steps" \
    validate --data --threads 3 "$dir/a.gguf"
check "tensors export" same 100 "$steps" \
    tensors export --threads 3 --force "$dir/b.gguf" t1.weight "$dir/out"
check "convert" same 64 "$steps" \
    convert --threads 3 --force --to apr "$dir/a.gguf" "$dir/out"
check "convert --type" same 64 "$steps" \
    convert --threads 3 --force --to gguf --type f32 "$dir/a.gguf" "$dir/out"
check "dequantize" same 100 "$steps" \
    dequantize --threads 3 --force "$dir/b.gguf" "$dir/out"
check "quantize" same 150 "$steps" \
    quantize --threads 3 --force "$dir/a.gguf" "$dir/out" Q4_K_M
check "quantize, the first of two outputs" same 250 "$steps" \
    quantize --threads 3 --force "$dir/a.gguf" --output Q4_K_M="$dir/out" \
    --output Q8_0="$dir/out-2"
check "merge" same 64 "$steps" \
    merge --threads 3 --force "$dir/s-00001-of-00002.gguf" "$dir/out"
finish
