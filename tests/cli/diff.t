#!/bin/sh
# SPDX-License-Identifier: MIT
#
# diff.t - what counts as different, and the exit code that says so
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

# expect_diff CODE TEXT ARGUMENT...
expect_diff() {
    expect_code=$1 expect_text=$2
    shift 2
    expect "$expect_code" "$expect_text" diff "$@"
}

llama=fixtures/good-llama.gguf

# One byte of a tensor, in the last of its 2,176 bytes.
size=$(wc -c <"$llama")
{
    head -c $((size - 1)) "$llama"
    printf '\001'
} >"$dir/flipped.gguf"
where=$("$modelfile" tensors --json "$llama" | tr '{' '\n' | sed -n \
    's/^"name":"\([^"]*\)".*"offset":\([0-9]*\),"bytes":\([0-9]*\),.*/\2 \3 \1/p' |
    sort -n | tail -n 1)
name=${where##* }
offset=${where%% *}
byte=$(echo $((size - 1 - offset)) | sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta')

check "a model is the same as itself" \
    expect_diff 0 "are the same: 29 keys and 21 tensors" "$llama" "$llama"
check "a flipped byte is found where it is" \
    expect_diff 1 "tensor '$name' differs: data, first at byte $byte" \
    "$llama" "$dir/flipped.gguf"
check "and nothing else" expect_diff 1 "differ in 0 keys and 1 tensor" \
    "$llama" "$dir/flipped.gguf"
check "by any number of threads" expect_diff 1 "data, first at byte $byte" \
    --threads 3 "$llama" "$dir/flipped.gguf"
check "--no-data does not look" expect_diff 0 "data not read" --no-data \
    "$llama" "$dir/flipped.gguf"
check "in JSON, too" expect_diff 1 '"same":false' --json "$llama" \
    "$dir/flipped.gguf"
check "which says so where they are the same" expect_diff 0 '"same":true' --json \
    "$llama" "$llama"

sed 's/Tiny Llama/Tiny Lhama/' "$llama" >"$dir/renamed.gguf"
check "within a format, metadata count" \
    expect_diff 1 "differ in 1 key and 0 tensors" "$llama" "$dir/renamed.gguf"

# The tensors of good-base.gguf (4 x 2 at 160, 6 at 192) as safetensors, which
# lists dimensions the other way round, with metadata of its own.
gguf=fixtures/good-base.gguf
header='{"__metadata__":{"general.architecture":"ARCHI"},'
header=$header'"b.weight":{"dtype":"F32","shape":[6],"data_offsets":[0,24]},'
header=$header'"a.weight":{"dtype":"F32","shape":[2,4],"data_offsets":[24,56]}}'
# safetensors NAME ARCHITECTURE: five letters of it
safetensors() {
    # shellcheck disable=SC2059 # the size in octal digits is an escape
    {
        printf "\\$(printf %o ${#header})\\0\\0\\0\\0\\0\\0\\0"
        printf %s "$header" | sed "s/ARCHI/$2/"
        tail -c +193 "$gguf" | head -c 24
        tail -c +161 "$gguf" | head -c 32
    } >"$dir/$1"
}
safetensors other.safetensors other
check "another container of the same tensors is the same" \
    expect_diff 0 "are the same but for 1 key (not counted)" \
    "$gguf" "$dir/other.safetensors"
check "its metadata are shown" expect_diff 0 \
    "key 'general.architecture' differs: \"tiny\" | \"other\"" \
    "$gguf" "$dir/other.safetensors"
check "and count with --strict-metadata" \
    expect_diff 1 "differ in 1 key and 0 tensors" --strict-metadata "$gguf" \
    "$dir/other.safetensors"
safetensors third.safetensors third
check "they count within a format" expect_diff 1 "differ in 1 key and 0 tensors" \
    "$dir/other.safetensors" "$dir/third.safetensors"

# A format's own keys and types are distinguished only where they differ.
converted() {
    "$modelfile" dequantize --quiet --type f16 fixtures/good-llama.gguf \
        "$dir/c.gguf" >"$dir/out" || return 1
    for suffix in apr safetensors; do
        "$modelfile" convert --quiet "$dir/c.gguf" "$dir/c.$suffix" \
            >"$dir/out" || return 1
    done
    for pair in "c.gguf c.apr" "c.gguf c.safetensors" "c.safetensors c.apr"; do
        # shellcheck disable=SC2086 # two names
        (cd "$dir" && "$modelfile" diff --strict-metadata $pair) \
            >"$dir/out" 2>"$dir/err" || { cat "$dir/out"; return 1; }
    done
}
case $modelfile in /*) ;; *) modelfile=$PWD/$modelfile ;; esac
check "a converted model is the same, metadata and all" converted
renamed() {
    "$modelfile" meta set --quiet "$dir/c.apr" num_layers=3 >"$dir/out" &&
        expect_diff 1 "key 'llama.block_count' differs: u32 2 | u64 3" \
            --strict-metadata "$dir/c.gguf" "$dir/c.apr"
}
check "a key that has another name there is found" renamed

check "a file that is not there is exit code 3" \
    expect_diff 3 "cannot be opened" "$gguf" "$dir/nothing"
check "so is a damaged tensor, with the file's name" \
    expect_diff 3 "bad-overlap.gguf': tensor" "$gguf" fixtures/bad-overlap.gguf
check "an option that is not there is exit code 2" \
    expect_diff 2 "unknown option" --value "$gguf" "$gguf"

# ---- the numbers ----

# floats NAME TYPE BYTES DATA: "t" of four numbers, its data as printf takes it.
floats() {
    text="{\"t\":{\"dtype\":\"$2\",\"shape\":[4],\"data_offsets\":[0,$3]}}"
    # shellcheck disable=SC2059 # both are escapes
    {
        printf "\\$(printf %o ${#text})\\0\\0\\0\\0\\0\\0\\0"
        printf %s "$text"
        printf "$4"
    } >"$dir/$1.safetensors"
}
# 1 -2 0 4, 1 -2.5 3 3, the first with a NaN and an infinity, and no numbers
floats four F32 16 '\0\0\200\77\0\0\0\300\0\0\0\0\0\0\200\100'
floats half F16 8 '\0\74\0\301\0\102\0\102'
floats odd F16 8 '\0\74\0\300\1\176\0\174'
floats complex C64 32 '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

check "numbers of different types are compared" expect_diff 1 \
    "tensor 't': max error 3, relative 0.25; RMSE 1.60078, cosine 0.781685699, zero in A alone: 1" \
    --values "$dir/four.safetensors" "$dir/half.safetensors"
check "the line that says so follows the difference" \
    [ "$(sed -n 1p "$dir/out")" = "tensor 't' differs: type f32 | f16" ]
check "in JSON, too" expect_diff 1 \
    '"values":{"finite":4,"max_abs":3,"max_rel":0.25,"rmse":1.6007810593582121,"cosine":0.7816856' \
    --values --json "$dir/four.safetensors" "$dir/half.safetensors"
check "NaN and Inf on one side are counted" expect_diff 1 \
    "relative 0; RMSE 0, cosine 1, NaN in B alone: 1, Inf in B alone: 1" \
    --values "$dir/four.safetensors" "$dir/odd.safetensors"
check "numbers of no type that is decoded are not" expect_diff 1 \
    "tensor 't': values not compared: '$dir/complex.safetensors': tensor 't': decoding c64 is not supported" \
    --values "$dir/four.safetensors" "$dir/complex.safetensors"
check "equal tensors have no such line" expect_diff 0 "are the same" --values \
    "$dir/four.safetensors" "$dir/four.safetensors"
check "it is not printed" \
    [ "$(wc -l <"$dir/out")" -eq 1 ]
check "--no-data is at odds with it" expect_diff 2 "'--values' and '--no-data' cannot both be given" \
    --values --no-data "$llama" "$llama"

# Of blocks that became floats nothing is lost, and not much of floats that
# became half as long: bf16 has 8 bits.
"$modelfile" dequantize --quiet --type f32 "$llama" "$dir/floats.gguf" >"$dir/log"
"$modelfile" dequantize --quiet --type bf16 "$llama" "$dir/halves.gguf" >"$dir/log"
worst() {
    "$modelfile" diff --quiet --values "$1" "$2" |
        sed -n 's/.*: max error .* relative \([^;]*\);.*/\1/p' | sort -g | tail -n 1
}
check "dequantized blocks are what they were" \
    [ "$(worst "$llama" "$dir/floats.gguf")" = 0 ]
check "bf16 is off by 1/256 at most" sh -c \
    "echo '$(worst "$dir/floats.gguf" "$dir/halves.gguf")' |
        awk '{ exit !(\$1 > 0.001 && \$1 <= 1 / 256) }'"
finish
