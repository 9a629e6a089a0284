#!/bin/sh
# SPDX-License-Identifier: MIT
#
# rounding.t - numbers that lose digits on the way to floats are not lost in
# silence, and what is copied is not said to be measured
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

in=$fixtures/good-dtypes.safetensors
llama=$fixtures/llama/llama-wide.gguf

# says PATTERN COMMAND...: to standard error.
says()
{
    pattern=$1
    shift
    "$modelfile" "$@" --force >"$dir/out" 2>"$dir/err" || return 1
    grep -q "$pattern" "$dir/err" || { cat "$dir/err"; return 1; }
}

silent()
{
    "$modelfile" "$@" --force >"$dir/out" 2>"$dir/err" || return 1
    ! grep "rounded" "$dir/err"
}

counted()
{
    "$modelfile" convert "$in" "$dir/o.safetensors" --type f32 --json --force \
        >"$dir/out" 2>"$dir/err" &&
        grep -q '"rounded":1,"rounded_numbers":8,' "$dir/out"
}

# wide_folder DIR: a folder whose last tensor, eight numbers, is of f64.
wide_folder()
{
    mkdir "$1" && cp "$fixtures/good-hf-llama/"*.json "$1" || return 1
    {
        LC_ALL=C sed \
            's/"BF16",\("shape":.8.,"data_offsets":.2856,\)2872/"F64" ,\12920/' \
            "$fixtures/good-hf-llama/model.safetensors"
        for i in 1 2 3 4 5 6; do
            printf '\232\231\231\231\231\231\271\077' # 0.1
        done
    } >"$1/model.safetensors"
    "$modelfile" tensors "$1" 2>/dev/null | grep -q '^model.norm.weight  *f64'
}

copied()
{
    "$modelfile" quantize "$llama" "$dir/q.gguf" Q4_K_M --report --force \
        >"$dir/out" 2>"$dir/err" &&
        grep -q '^f32 .* copied$' "$dir/out" &&
        ! grep '^q4_k .* copied' "$dir/out" || return 1
    "$modelfile" quantize "$llama" "$dir/q.gguf" Q4_K_M --report --force \
        --json >"$dir/out" 2>"$dir/err" &&
        grep -q '"bytes":3072,"measured":0}' "$dir/out"
}

check "f64 that becomes f32 is named, with its numbers" \
    says "warning: 1 tensor of f64 or integers, 8 numbers, .*rounded" \
    convert "$in" "$dir/o.safetensors" --type f32
check "and before anything is written" \
    says "warning: 1 tensor of f64 or integers, 8 numbers" \
    convert "$in" "$dir/o.safetensors" --type f32 --dry-run
check "JSON counts them" counted
check "what keeps its type is not rounded" \
    silent convert "$in" "$dir/o.safetensors"
check "nor is f32 that becomes bf16, as was asked for" \
    silent convert "$llama" "$dir/o.gguf" --type bf16
check "a folder with f64 is made" wide_folder "$dir/wide"
check "f64 of a folder that gets llama.cpp's names is named" \
    says "warning: 1 tensor of f64 or integers, 8 numbers, .*rounded" \
    convert "$dir/wide" "$dir/o.gguf" --names gguf
check "without f64 a folder is not" \
    silent convert "$fixtures/good-hf-llama" "$dir/o.gguf" --names gguf
check "nor is it where no tensor is written" \
    silent convert "$dir/wide" "$dir/o.gguf" --names gguf --vocab-only
check "the error of quantization differs from copies'" copied
finish
