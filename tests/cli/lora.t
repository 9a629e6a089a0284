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

# ---- an adapter as GGUF ----

# save_tensors FILE HEADER BYTES: a safetensors file of zeros.
save_tensors() {
    {
        printf "$(printf '\\%03o\\%03o' $((${#2} % 256)) $((${#2} / 256)))"
        printf '\0\0\0\0\0\0%s' "$2"
        head -c "$3" /dev/zero
    } >"$1"
}

# adapt NAME ROWS COLUMNS FIELDS: a.gguf for that tensor of a model of the class
# and with those fields of config.json.
adapt() {
    printf '{"hidden_size":16,"num_attention_heads":4,"num_hidden_layers":2,
        "num_key_value_heads":2,"head_dim":4,"intermediate_size":32,
        "max_position_embeddings":64,"rms_norm_eps":1e-6,%s}' \
        "$4" >"$work/base/config.json"
    save_tensors "$work/adapter/adapter_model.safetensors" \
        "{\"base_model.model.$1.lora_A.weight\":{\"dtype\":\"F32\",\"shape\":[1,$3],\"data_offsets\":[0,$((4 * $3))]},\"base_model.model.$1.lora_B.weight\":{\"dtype\":\"F32\",\"shape\":[$2,1],\"data_offsets\":[$((4 * $3)),$((4 * ($3 + $2)))]}}" \
        $((4 * ($3 + $2)))
    echo '{"peft_type":"LORA","r":1,"lora_alpha":2}' \
        >"$work/adapter/adapter_config.json"
    "$modelfile" -q convert "$work/adapter" "$work/a.gguf" --names gguf \
        --type f16 --base "$work/base" --force >"$work/e" 2>&1
}
# adapted LINE ARGUMENT...: LINE is what the A half becomes.
adapted() {
    line=$1
    shift
    adapt "$@" || { cat "$work/e"; return 1; }
    "$modelfile" -q tensors info "$work/a.gguf" | tr -s ' ' >"$work/o"
    grep -qF "$line" "$work/o" || { cat "$work/o"; return 1; }
}
not_adapted() {
    text=$1
    shift
    adapt "$@" && return 1
    cat "$work/e"
    grep -qF -e "$text" "$work/e"
}
check "rows of a pair change their sign" \
    adapted "blk.0.attn_q.weight.lora_a f16" model.blocks.0.attn.attn_query 16 16 \
    '"architectures":["TalkieForCausalLM"]'
check "a pair has the type that the matrix must have" \
    adapted "blk.1.indexer.q_proj.weight.lora_a f32" \
    model.layers.1.self_attn.index_q_proj 8 16 '"architectures":
    ["MiniMaxM3SparseForCausalLM"],"rotary_dim":2,"num_local_experts":2,
    "n_shared_experts":1,"moe_layer_freq":[0,1],"sparse_attention_config":{}'
check "a pair that would become three values is refused" \
    not_adapted "of an adapter cannot be computed with" \
    model.layers.0.self_attn.q_proj 16 16 '"architectures":["BitnetForCausalLM"]'
next='"architectures":["Qwen3NextForCausalLM"],"num_experts":4,
    "layer_types":["linear_attention","full_attention"],
    "linear_key_head_dim":4,"linear_value_head_dim":4,
    "linear_num_key_heads":2,"linear_num_value_heads":4'
check "config.json does not say how many layers predict tokens" \
    not_adapted "layers that predict further tokens are missing" \
    model.layers.0.mlp.shared_expert.gate_proj 32 16 "$next"
save_tensors "$work/base/model.safetensors" \
    '{"mtp.layers.0.fc.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}' 4
check "tensors of the model do" \
    adapted "blk.0.ffn_gate_shexp.weight.lora_a f16" \
    model.layers.0.mlp.shared_expert.gate_proj 32 16 "$next"
check "they are not replaced by the adapter" kept \
    "$work/base/model.safetensors" "$work/adapter" \
    "$work/base/model.safetensors" --names gguf --to gguf --base "$work/base"

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
    save_tensors "$work/many/adapter_model.safetensors" "$header" 1600
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
