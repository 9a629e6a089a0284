#!/bin/sh
# SPDX-License-Identifier: MIT
#
# lora.t - adapters: described, checked, and added to a model
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

modelfile=${BUILD:-build}/modelfile
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-lora.XXXXXX")
trap 'rm -rf "$work"' EXIT
base=fixtures/good-hf-llama

# shows FILE LINE...: info has these lines, the spaces left out.
shows() {
    "$modelfile" -q info "$1" | tr -d ' ' >"$work/o" || return
    shift
    for line; do
        grep -qxF "$line" "$work/o" || { cat "$work/o"; return 1; }
    done
}
check "info of an adapter in GGUF" shows fixtures/good-adapter.gguf \
    adapterlora rank2to3 alpha8 "scale2.66667to4" "targets2tensors,and1replaced"
check "info of a folder of PEFT" shows fixtures/good-peft adapterlora rank2 \
    alpha8 scale4 targets1tensor "basemodel../good-hf-llama"
member() {
    "$modelfile" -q info --json "$2" | grep -qF "\"adapter\":$1"
}
check "info --json of an adapter" member '{"kind":"lora","rank_min":2,' \
    fixtures/good-peft
check "info --json of a model" member null fixtures/good-base.gguf

# fails CODE FILE TEXT ARGUMENT...: convert fails so, the error is in FILE.
fails() {
    wanted=$1 file=$2 text=$3
    shift 3
    "$modelfile" -q convert "$@" >"$work/o" 2>"$work/e"
    code=$?
    [ "$code" -eq "$wanted" ] && grep -qF "modelfile: $file: " "$work/e" &&
        grep -qF -e "$text" "$work/e" && return
    echo "exit code $code"
    cat "$work/e"
    return 1
}
check "an error in the adapter names the adapter" \
    fails 3 fixtures/bad-peft-alpha "'lora_alpha' is a string" \
    "$base" "$work/m.safetensors" --lora fixtures/bad-peft-alpha
check "and so does one that shows when it is added" \
    fails 3 fixtures/good-peft "q_proj.weight" \
    "$base" "$work/m.safetensors" --lora fixtures/good-peft
# alpha_pattern and use_rslora have no place in GGUF.
rescaled() {
    mkdir "$work/base" "$work/adapter"
    sed 's/"num_\(attention\|key_value\)_heads": *[0-9]*/"num_\1_heads": 1/g' \
        "$base/config.json" >"$work/base/config.json"
    cp fixtures/good-peft/*.safetensors "$work/adapter"
    for more in '' '"use_rslora": true,' '"alpha_pattern": {"q_proj": 3},'; do
        sed "s|{|{$more|; s|\.\./good-hf-llama|$work/base|" \
            fixtures/good-peft/adapter_config.json >"$work/adapter/adapter_config.json"
        "$modelfile" convert "$work/adapter" "$work/a.gguf" --names gguf --force
    done >"$work/o" 2>&1
    cat "$work/o"
    [ "$(grep -c '1 pair with another scale' "$work/o")" = 2 ] &&
        [ "$(grep -c 'a.gguf: gguf' "$work/o")" = 3 ]
}
check "pairs that GGUF scales in another way are counted" rescaled

# kept FILE ARGUMENT...: what is read for the output FILE is not replaced by it.
kept() {
    file=$1
    shift
    cp "$file" "$work/copy"
    "$modelfile" -q convert "$@" --force 2>"$work/e" && return 1
    cat "$work/e"
    grep -q "choose another name" "$work/e" && cmp "$file" "$work/copy"
}
header='{"model.layers.0.self_attn.q_proj.weight":{"dtype":"F32","shape":[6,8],"data_offsets":[0,192]}}'
mkdir "$work/small"
{
    printf '\137\0\0\0\0\0\0\0%s' "$header"
    head -c 192 /dev/zero
} >"$work/small/model.safetensors"
check "an adapter is added" "$modelfile" -q convert "$work/small" \
    "$work/small.safetensors" --lora "$work/adapter"
check "its adapter_config.json is not replaced" kept \
    "$work/adapter/adapter_config.json" "$work/small" \
    "$work/adapter/adapter_config.json" --to safetensors --lora "$work/adapter"
check "nor is config.json of the model that it was made for" kept \
    "$work/base/config.json" "$work/adapter" "$work/base/config.json" \
    --names gguf --to gguf

# A key that would be compared with the names of 400 tensors.
many() {
    mkdir "$work/many"
    header=$(awk 'BEGIN {
        for (i = 0; i < 200; i++)
            for (half = 0; half < 2; half++)
                printf "%s\"base_model.model.m%d.lora_%s.weight\":{\"dtype\":" \
                    "\"F32\",\"shape\":[1,1],\"data_offsets\":[%d,%d]}", \
                    i + half ? "," : "{", i, half ? "B" : "A", \
                    4 * (2 * i + half), 4 * (2 * i + half) + 4
        print "}" }')
    {
        printf "$(printf '\\%03o\\%03o' $((${#header} % 256)) \
            $((${#header} / 256)))"
        printf '\0\0\0\0\0\0%s' "$header"
        head -c 1600 /dev/zero
    } >"$work/many/adapter_model.safetensors"
    {
        printf '{"peft_type": "LORA", "r": 1, "lora_alpha": 1, "%s": {"' "$1"
        head -c 3000000 /dev/zero | tr '\0' w
        echo '": 2}}'
    } >"$work/many/adapter_config.json"
    "$modelfile" -q validate "$work/many" >"$work/e" 2>&1
    code=$?
    cat "$work/e"
    rm -r "$work/many"
    [ "$code" -eq 1 ] && grep -qF "the keys of '$1' have 3000001 letters, at \
most 2684354 are compared with 400 tensors" "$work/e"
}
check "patterns that take long are refused" many alpha_pattern
check "also those of ranks" many rank_pattern
check "nothing was written" [ ! -e "$work/m.safetensors" ]
finish
