#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hostile_folder.t - tokenizer files that are made to do harm
#
# Each is refused with its name and the place, in bounded time and memory.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

modelfile=${BUILD:-build}/modelfile
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-hostile.XXXXXX")
trap 'rm -rf "$work"' EXIT

folder=$work/folder
mkdir "$folder"

# file NAME TEXT
file() {
    printf '%s' "$2" >"$folder/$1"
}

# config FIELDS: config.json of a small Qwen 2 with those fields besides.
config() {
    file config.json '{"architectures": ["Qwen2ForCausalLM"],
        "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1,
        "intermediate_size": 8, "rms_norm_eps": 1e-6,
        "max_position_embeddings": 16, "num_key_value_heads": 2'"$1"'}'
}

header='{"lm_head.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}'
printf "\\$(printf %o "${#header}")\\0\\0\\0\\0\\0\\0\\0%s1234" "$header" \
    >"$folder/model.safetensors"

# refused CODE TEXT [ARGUMENT...]: convert fails so, and says that.
refused() {
    wanted=$1 text=$2
    shift 2
    "$modelfile" convert "$folder" "$work/out.gguf" --names gguf --vocab-only \
        "$@" >"$work/o" 2>"$work/e"
    code=$?
    [ "$code" -eq "$wanted" ] && grep -qF -e "$text" "$work/e" && return
    echo "exit code $code"
    cat "$work/e"
    return 1
}

tokenizer='{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}'
config ', "vocab_size": 10000000'
file tokenizer.json "$tokenizer"
file tokenizer_config.json '{"tokenizer_class": "Qwen2Tokenizer"}'
check "a vocabulary of 10,000,000 tokens is an input that cannot be read" \
    refused 3 "'vocab_size' 10000000: at most 4194304 tokens" \
    --max-memory 100M
config ''
check "memory that --max-memory refuses is another matter" \
    refused 5 "raise --max-memory" --max-memory 100K

config ', "num_attention_heads": 0, "architectures": ["LlamaForCausalLM"]'
check "a number that others are divided by is named" \
    refused 3 "'num_attention_heads' is 0, but other numbers are divided by it"

finish
