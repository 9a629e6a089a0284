#!/bin/sh
# SPDX-License-Identifier: MIT
#
# rows.t - a slip in a row ends the build, with its file and line
#
# Each row of the table below is a change of a file of rows, and a part of what
# the checker has to say about it.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

cp -r lib/families/. "$dir/families"

check_rows() {
    "$build/rows" --fields lib/rows/config_names.txt \
        --tensors lib/hf/hub/names/1-tensors.txt "$dir"/families/*.txt \
        "$dir"/families/*/*.txt 2>&1
}
check_empty "nothing is wrong with the rows" check_rows

# slip FILE SED LINE TEXT: with that change of a line the checker says so there.
slip() {
    slip_file=$dir/families/$1
    cp "$slip_file" "$dir/kept"
    sed -i "$2" "$slip_file"
    slip_said=$(check_rows)
    cmp -s "$dir/kept" "$slip_file" && slip_said="nothing was changed"
    mv "$dir/kept" "$slip_file"
    case $slip_said in
    *"$slip_file:$3: $4"*) ok "$1: $4" ;;
    *)
        not_ok "$1: $4"
        echo "$slip_said" | head -5 | note
        ;;
    esac
}

# line FILE TEXT: the number of the first line that contains it.
line() {
    grep -nF -m 1 -- "$2" "$dir/families/$1" | cut -d: -f1
}

while IFS='|' read -r file text change said; do
    [ -n "$file" ] || continue
    number=$(line "$file" "$text")
    slip "$file" "${number}$change" "$number" "$said"
done <<'SLIPS'
llama.txt|key uint? vocab_size|s/key/kye/|'kye' is no row: did you mean 'key'?
llama.txt|key uint? vocab_size|s/uint/unit/|'unit?' is no type of a key
llama.txt|key uint? vocab_size|s/$/ 3/|nothing follows the name of a key: '3'
llama.txt|need rot ==|s/rot/rto/|'rto' is no key, 'let' or parameter here: did you mean 'rot'?
llama.txt|need rot ==|s/==/=/|an operator or the end expected before '= head_k'
llama.txt|need rot ==|s/rot.*/1/|the condition always has the same value
llama.txt|tensor blk.*.attn_norm|s/tensor/tnesor/|'tnesor' is no row: did you mean 'tensor'?
llama.txt|tensor blk.*.attn_norm|s/embd/embd, embd, embd, embd, embd/|a tensor has at most 4 dimensions, not 5
llama.txt|tensor blk.*.attn_norm|s/embd/embd +/|a name expected at the end
llama.txt|tensor blk.*.attn_norm|s/attn_norm/atn_norm/|'blk.*.atn_norm' is no tensor of GGUF: did you mean 'blk.*.attn_norm'?
llama.txt|use qkv|s/embd, //|group 'qkv' has 4 parameters, not 3
llama.txt|use gated|s/gated/gatde/|'gatde' is no group: did you mean 'gated'?
llama.txt|is(rope|s/is(/si(/|'si' is no function: did you mean 'is'?
llama.txt|is(rope|s/, longrope//|',' expected before ')'
llama.txt|if experts == 0|s/if experts == 0/else/|'else' after 'else' or in 'each'
llama.txt|each 0 ..|s/\.\./to/|'..' expected in 'each FROM .. TO'
common/predicting.txt|let draft_only|s/draft_only/draft_olny/|nothing uses 'draft_olny'
llama.txt|use begin|s/begin/begni/|'begni' is no group: did you mean 'begin'?
common/ends.txt|x = get_rows token_embd|s/get_rows/get_row/|'get_row' is no operation: did you mean 'get_rows'?
common/ends.txt|x = get_rows token_embd|s/ ids:/ idss:/|'idss' is no tensor that a row before has made: did you mean 'ids'?
common/ends.txt|x = get_rows token_embd|s/ ids:/:/|'get_rows' has 1 sources, at least 2 and at most 2 are possible
common/ends.txt|x = get_rows token_embd|s/token_embd/tokn_embd/|'tokn_embd' is no tensor of GGUF: did you mean 'token_embd'?
qwen3_next.txt|mixed = concat|s/mixed/ixed/|no row reads 'ixed'
common/ends.txt|input ids i32|s/i32/i23/|'i23' is no type: did you mean 'i32'?
common/ends.txt|input ids i32|s/tokens/tokes/|'tokes' is no number here: did you mean 'tokens'?
common/ends.txt|expand x|s/expand/expnad/|'expnad' is no row: did you mean 'expand'?
common/text_models.txt|key u32 *.vocab_size|s/u32/u23/|'u23' is no type of a key: did you mean 'u32'?
common/text_models.txt|key u32 *.vocab_size|s/$/ vocab_size/|an operator or the end expected before 'vocab_size'
common/text_models.txt|key u32 *.vocab_size|s/ vocab_size/ vocab_szie/|'vocab_szie' is no field of config.json that is known here: did you mean 'vocab_size'?
common/text_models.txt|key u32 *.vocab_size|s/vocab_size /voacb_size /|'voacb_size' is no key that a loader reads: did you mean 'vocab_size'?
internlm.txt|file.min_dynamic_patch|s/dynamic/dynamci/|'min_dynamci_patch' is no field of config.json that is known here: did you mean 'min_dynamic_patch'?
llama.txt|    arch llama|s/llama/lama/|'lama' is no architecture
common/text_models.txt|refuse has|s/has/hsa/|'hsa' is no function: did you mean 'has'?
common/text_models.txt|use rope_dimensions|s/dimensions/dimension/|'rope_dimension' is no group: did you mean 'rope_dimensions'?
common/text_models.txt|vocab sentencepiece|s/llama_hf/lama_hf/|'lama_hf' is no vocabulary: did you mean 'llama_hf'?
smollm.txt|    arch smollm3|s/arch smollm3/tensor * : drop/|'tensor' does nothing in 'family smollm3'
smollm.txt|class SmolLM3|s/SmolLM3/Llama/|class 'LlamaForCausalLM' is there twice
common/text_models.txt|first(hidden_size|s/first(/frist(/|'frist' is no function: did you mean 'first'?
apertus.txt|*.act_fn.|s/: drop/: dorp/|'dorp' is no step: did you mean 'drop'?
apertus.txt|*.act_fn.|s/eps}/eps/|'}' is missing in
common/attention.txt|tensor *q_proj.{|s/permute q_heads/permute/|'permute' has 0 numbers, at least 1 and at most 1 are possible
common/text_models.txt|rename *e_score|s/correction\.bias/$.bias/|'$' in '*e_score_$.bias' is nothing in
llama.txt|tensors llama arcee|s/arcee/arcees/|'arcees' is no family
common/text_models.txt|field head_dim attention|s/key_length/key_lenght/|'attention.key_lenght' is no key that a loader reads: did you mean 'attention.key_length'?
common/text_models.txt|field head_dim attention|s/head_dim/haed_dim/|'haed_dim' is no field of config.json that is known here: did you mean 'head_dim'?
common/text_models.txt|field head_dim attention|s/field/feild/|'feild' is no row: did you mean 'field'?
llama.txt|restore nanbeige|s/nanbeige/nanbiege/|'nanbiege' is no architecture
olmo.txt|default rope_theta 10000.0|s/default/defualt/|'defualt' is no row: did you mean 'default'?
SLIPS

# What nothing uses.
end=$(($(wc -l <"$dir/families/xverse.txt") + 2))
for said in "this group" "the parameter 'what'"; do
    slip xverse.txt '$a\section loader\ngroup more what\n    need embd > 0' $end \
        "nothing uses $said"
done

# The whole build ends there.
stops() {
    mkdir "$dir/tree" && cp -r Makefile lib cli gguf apr safetensors imatrix \
        torch npy parquet zip "$dir/tree" || return
    mkdir "$dir/tree/tests" && cp tests/install_deps.sh "$dir/tree/tests"
    sed -i 's/key uint? vocab_size/kye uint? vocab_size/' \
        "$dir/tree/lib/families/llama.txt"
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s \
        -C "$dir/tree" BUILD="$dir/new" "$dir/new/lib/arch/tables.c" \
        >"$dir/made" 2>&1 && echo "make succeeds"
    number=$(line llama.txt "key uint? vocab_size")
    grep -q "^lib/families/llama.txt:$number: 'kye' is no row" "$dir/made" ||
        cat "$dir/made"
}
check_empty "make ends there" stops
finish
