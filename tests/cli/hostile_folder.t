#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hostile_folder.t - files of a folder that are made to do harm
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

header='{"lm_head.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},
    "model.layers.0.self_attn.q_proj.weight":{"dtype":"F32","shape":[1,1],
    "data_offsets":[4,8]}}'
printf "\\$(printf %o "${#header}")\\0\\0\\0\\0\\0\\0\\0%s12345678" "$header" \
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

for value in '"x"' 4.5 '[4]'; do
    config ', "num_hidden_layers": '"$value"
    check "$value layers are named" refused 3 \
        "'num_hidden_layers' must be a whole number from 0 on, not $(
            printf '%s' "$value" | sed "y/\"/'/; s/.4./a list/")"
    config ', "architectures": ["LlamaForCausalLM"], "head_dim": 4,
        "num_attention_heads": '"$value"
    check "$value heads are named" refused 3 \
        "'num_attention_heads' must be a whole number, not $(
            printf '%s' "$value" | sed "y/\"/'/; s/.4./a list/")"
done

# ---- tensors that become one, and one that becomes many ----

# experts BLOCKS COUNT FILE: a tensor for one expert of each block, and further
# ones of block 0, up to that many tensors, of one element each.
experts() {
    awk -v blocks="$1" -v count="$2" 'BEGIN {
        for (i = 0; i < count; i++)
            printf "%s\"model.layers.%d.block_sparse_moe.experts.%d.w1.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%d,%d]}", \
                i ? "," : "{", i < blocks ? i : 0, i < blocks ? 0 : i, 4 * i, 4 * i + 4
        print "}" }' >"$work/header"
    size=$(wc -c <"$work/header")
    {
        # shellcheck disable=SC2059 # the format is bytes
        printf "$(printf '\\%03o\\%03o\\%03o' $((size % 256)) \
            $((size / 256 % 256)) $((size / 65536)))\\0\\0\\0\\0\\0"
        cat "$work/header"
        head -c $((4 * $2)) /dev/zero
    } >"$3"
}

mv "$folder/model.safetensors" "$work/kept"
experts 1000 4000 "$folder/model.safetensors"
config ', "architectures": ["MixtralForCausalLM"], "num_hidden_layers": 1000,
    "num_local_experts": 4000, "num_experts_per_tok": 2'
many() {
    "$modelfile" convert "$folder" "$work/out.gguf" --names gguf \
        --max-memory 16M >"$work/o" 2>"$work/e"
    [ $? -eq 3 ] && grep -q "become one in each block, the folder has 4000" \
        "$work/e" || cat "$work/e"
}
check_empty "memory does not depend on the experts that config.json claims" many
mv "$work/kept" "$folder/model.safetensors"

# A GGUF file of 192 bytes with a tensor of 1 x 0 x 2^24.
{
    printf 'GGUF\3\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0'
    printf '\24\0\0\0\0\0\0\0general.architecture\10\0\0\0'
    printf '\5\0\0\0\0\0\0\0llama'
    printf '\21\0\0\0\0\0\0\0llama.block_count\4\0\0\0\1\0\0\0'
    printf '\32\0\0\0\0\0\0\0blk.0.ffn_gate_exps.weight\3\0\0\0'
    printf '\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0'
    printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
} >"$work/empty.gguf"
unstacked() {
    "$modelfile" convert "$work/empty.gguf" "$work/out.safetensors" --names hf \
        --max-memory 4M >"$work/o" 2>"$work/e"
    [ $? -eq 3 ] && grep -q "of 0 elements would become 16777216 tensors" \
        "$work/e" || cat "$work/e"
}
check_empty "a tensor without elements does not become 2^24 tensors" unstacked

# The same with 16 numbers and no other dimension: there are no places.
no_places() {
    {
        head -c 136 "$work/empty.gguf"
        printf '\1\0\0\0\20\0\0\0\0\0\0\0'
        head -c $((12 + 64)) /dev/zero
    } >"$work/row.gguf"
    "$modelfile" convert "$work/row.gguf" "$work/out.safetensors" --names hf \
        >"$work/o" 2>"$work/e"
    [ $? -eq 3 ] && grep -q "'blk.0.ffn_gate_exps.weight' has no counterpart" \
        "$work/e" || cat "$work/e"
}
check_empty "a list of numbers is not unstacked" no_places

# The same with one row of 32 numbers for each of so many experts.
stacked() {
    head -c 140 "$work/empty.gguf"
    printf '\40\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0'
    # shellcheck disable=SC2059 # the format is bytes
    printf "\\$(printf %o $(($1 % 256)))\\$(printf %o $(($1 / 256)))\0\0\0\0\0\0"
    head -c $((12 + 16 + $1 * 128)) /dev/zero
}
most_experts() {
    stacked 1024 >"$work/most.gguf"
    "$modelfile" convert "$work/most.gguf" "$work/most.safetensors" --names hf \
        >"$work/o" 2>"$work/e" || cat "$work/e"
    stacked 1025 >"$work/more.gguf"
    "$modelfile" convert "$work/more.gguf" "$work/more.safetensors" --names hf \
        >"$work/o" 2>"$work/e"
    [ $? -eq 3 ] && grep -q "would become 1025 tensors; at most 1024" \
        "$work/e" || cat "$work/e"
}
check_empty "as many experts as llama.cpp takes are unstacked" most_experts

# ---- tokenizer.json ----

config ''
file tokenizer.json '{"model": {"type": "BPE", "vocab": {"a": 4194304}, "merges": []}}'
check "an id beyond the largest vocabulary is named with its token" \
    refused 3 "'tokenizer.json': the id of token 'a' of 'model.vocab'"

file tokenizer.json "{\"pre_tokenizer\": {\"type\": \"Magic\"},
    ${tokenizer#?}"
check "an unknown step is named with its file" \
    refused 3 "'tokenizer.json': the value of 'type' of 'Magic'"

# added COUNT: that many added tokens.
added() {
    printf '{"added_tokens": ['
    awk -v count="$1" 'BEGIN { for (i = 0; i < count; i++)
        printf "%s{\"content\": \"t%d\"}", i ? "," : "", i }'
    printf '], %s' "${tokenizer#?}"
}
added 140000 >"$folder/tokenizer.json"
check "added tokens are limited" \
    refused 3 "more than 131072 added tokens" --max-memory 64M

awk 'BEGIN { print "{\"model\": {\"type\": \"BPE\", \"vocab\": {"
    for (i = 0; i < 1500000; i++) printf "%s\"%d\":%d", i ? "," : "", i, i
    print "}, \"merges\": [\"0 1\"]}}" }' >"$folder/tokenizer.json"
check "1,500,000 tokens take a few bytes each" \
    refused 3 "'tokenizer.json': GGUF has no name" --max-memory 24M

file tokenizer.json "$tokenizer"
file tokenizer_config.json '{"tokenizer_class": "MineTokenizer",
    "auto_map": {"AutoTokenizer": ["mine.MineTokenizer", null]}}'
check "a tokenizer that is code is refused by name" \
    refused 3 "'MineTokenizer' is Python code of the folder"

# ---- vocab.json and merges.txt ----

rm "$folder/tokenizer.json"
file tokenizer_config.json '{"tokenizer_class": "Qwen2Tokenizer"}'
file merges.txt 'a b c'
for text in '[]' '{"a": 0' '{"a": 0} 1' '{"a": "b"}' '{"a": -1}'; do
    file vocab.json "$text"
    check "vocab.json $text is refused" refused 3 "'vocab.json'"
done
file vocab.json '{"a": 0, "b": 1}'
check "a merge of three words is refused" \
    refused 3 "'merges.txt': line 1 is not two tokens"
file tokenizer_config.json '{"tokenizer_class": "LlamaTokenizer"}'
check "a class that needs another file says so" \
    refused 3 "missing file 'tokenizer.json': a LlamaTokenizer"

# ---- chat templates ----

# Special tokens come after the vocabulary: a tokenizer that has a name.
cp fixtures/tokenize/named/tokenizer* "$folder"
mkdir "$folder/additional_chat_templates"
file chat_template.jinja x
mkfifo "$folder/additional_chat_templates/a.jinja"
check "a pipe is not read as a chat template" \
    refused 3 "'additional_chat_templates/a.jinja': this is a pipe"
rm "$folder/additional_chat_templates/a.jinja"
printf 'a\377' >"$folder/additional_chat_templates/a.jinja"
check "a chat template is UTF-8" \
    refused 3 "'additional_chat_templates/a.jinja': not valid UTF-8"
for i in $(seq 70); do
    : >"$folder/additional_chat_templates/$i.jinja"
done
check "chat templates are limited" refused 3 "more than 64 templates"
rm -r "$folder/additional_chat_templates" "$folder/chat_template.jinja"
for text in 1 '{"chat_template": [{"name": 1}]}' '{"chat_template": "a'; do
    file chat_template.json "$text"
    check "chat_template.json $text is refused" refused 3 "'chat_template.json'"
done

# ---- names of tensors ----

# layers NAME IMPLIED: besides the last norm there is a tensor of that name, and
# so many layers are implied, where config.json has two.
layers() {
    header="{\"model.norm.weight\":{\"dtype\":\"F32\",\"shape\":[8],
        \"data_offsets\":[0,32]},\"$1\":{\"dtype\":\"F32\",
        \"shape\":[1],\"data_offsets\":[32,36]}}"
    {
        printf "\\$(printf %o "${#header}")\\0\\0\\0\\0\\0\\0\\0%s" "$header"
        head -c 36 /dev/zero
    } >"$folder/model.safetensors"
    "$modelfile" validate "$folder/model.safetensors" >"$work/o" 2>"$work/e"
    case $2 in
    2) ! grep -F "but tensor names imply" "$work/o" ;;
    *) grep -q "is 2, but tensor names imply $2\$" "$work/o" ;;
    esac && return
    cat "$work/o" "$work/e"
    return 1
}
config ', "architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "num_hidden_layers": 2, "vocab_size": 8'
file tokenizer.json "$tokenizer"
while read -r name implied; do
    check "$name: $implied layers" layers "$name" "$implied"
done <<'NAMES'
model.layers.1.x 2
model.layers.1 0
model.layers.1x.x 0
model.layers..x 0
model.layers.7.x 8
model.layers.71.x 72
model.layers.9999999999.x 10000000000
model.layers.10000000000.x 0
NAMES

finish
