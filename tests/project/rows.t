#!/bin/sh
# SPDX-License-Identifier: MIT
#
# rows.t - a slip in a row ends the build, with its file and line
#
# Each row of the table below is a change of a file of rows, and a part of what
# the program that makes the tables has to say about it.  With QUICK=1, every fifth.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

cp -r lib/families/. "$dir/families"
cp -r lib/hf/hub/names "$dir/families/names"

# As the Makefile calls it.
check_rows() {
    # shellcheck disable=SC2046 # file names have no spaces here
    "$build/rows" --fields lib/rows/config_names.txt --loader "$dir/tables.c" \
        --graph "$dir/graphs.c" --family "$dir/families.c" \
        --naming "$dir/naming_rows.c" --converted "$dir/converted.c" \
        $(find "$dir/families" -name '*.txt' | LC_ALL=C sort) 2>&1
}
check_empty "nothing is wrong with the rows" check_rows

same_tables() {
    for table in lib/arch/tables lib/plan/graphs lib/hf/hub/families \
        lib/hf/hub/naming_rows lib/folder/converted; do
        cmp "$build/$table.c" "$dir/${table##*/}.c" || return
    done
}
check "the tables are the library's" same_tables
not_again() {
    touch -d '2001-02-03' "$dir"/*.c && check_rows &&
        [ -z "$(find "$dir" -maxdepth 1 -name '*.c' -newermt 2002-01-01)" ]
}
check "a table that would not change is not written" not_again
# A comma needs no space after it.
without_spaces() {
    cp "$dir/families/llama.txt" "$dir/kept"
    sed -i '/^ *tensor/s/, /,/g' "$dir/families/llama.txt"
    cmp -s "$dir/kept" "$dir/families/llama.txt" && echo "nothing was changed"
    check_rows && same_tables
    mv "$dir/kept" "$dir/families/llama.txt"
}
check_empty "dimensions without spaces between them are the same" without_spaces
rm -f "$dir"/*.c

# slip FILE SED LINE TEXT: with that change of a line the checker says so there.
slips=0
slip() {
    slips=$((slips + 1))
    [ -z "${QUICK:-}" ] || [ $((slips % 5)) -eq 1 ] || return 0
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
llama.txt|key uint? vocab_size|s/key/kye/|unknown row 'kye': did you mean 'key'?
llama.txt|key uint? vocab_size|s/uint/unit/|unknown key type 'unit?'
llama.txt|key uint? vocab_size|s/$/ 3/|nothing follows the name of a key: '3'
llama.txt|need rot ==|s/rot/rto/|unknown key, 'let' or parameter 'rto': did you mean 'rot'?
llama.txt|need rot ==|s/==/=/|an operator or the end expected before '= head_k'
llama.txt|need rot ==|s/rot.*/1/|the condition always has the same value
llama.txt|key uint? vocab_size|s/uint/uint[65536]/|unknown key type 'uint[65536]?'
llama.txt|need rot ==|s/==.*/> 9223372036854775808/|a number below 2^63 expected before '9223372036854775808'
llama.txt|need rot ==|s/rot.*/99999999999999999999/|the condition always has the same value
llama.txt|need rot ==|s/rot/---------------------------------rot/|an expression with fewer brackets expected before
llama.txt|tensor blk.*.attn_norm|s/tensor/tnesor/|unknown row 'tnesor': did you mean 'tensor'?
llama.txt|tensor blk.*.attn_norm|s/embd/embd, embd, embd, embd, embd/|a tensor has at most 4 dimensions, not 5
llama.txt|tensor blk.*.attn_norm|s/embd/embd +/|a name expected at the end
llama.txt|tensor blk.*.attn_norm|s/attn_norm/atn_norm/|unknown GGUF tensor 'blk.*.atn_norm': did you mean 'blk.*.attn_norm'?
llama.txt|tensor blk.*.attn_norm|s/embd/embd reshaped/|a comma, 'reshape' or 'optional' expected before 'reshaped'
llama.txt|use qkv|s/embd, //|group 'qkv' has 4 parameters, not 3
llama.txt|use gated|s/gated/gatde/|unknown group 'gatde': did you mean 'gated'?
llama.txt|is(rope|s/is(/si(/|unknown function 'si': did you mean 'is'?
llama.txt|is(rope|s/, longrope//|',' expected before ')'
llama.txt|if experts == 0|s/if experts == 0/else/|'else' after 'else' or in 'each'
llama.txt|each 0 ..|s/\.\./to/|'..' expected in 'each FROM .. TO'
common/predicting.txt|let draft_only|s/draft_only/draft_olny/|nothing uses 'draft_olny'
llama.txt|use begin|s/begin/begni/|unknown group 'begni': did you mean 'begin'?
common/ends.txt|x = get_rows token_embd|s/get_rows/get_row/|unknown operation 'get_row': did you mean 'get_rows'?
common/ends.txt|x = get_rows token_embd|s/ ids:/ idss:/|unknown earlier tensor 'idss': did you mean 'ids'?
common/ends.txt|x = get_rows token_embd|s/ ids:/:/|'get_rows' has 1 sources, at least 2 and at most 2 are possible
common/ends.txt|x = get_rows token_embd|s/token_embd/tokn_embd/|unknown GGUF tensor 'tokn_embd': did you mean 'token_embd'?
qwen3_next.txt|mixed = concat|s/mixed/ixed/|no row reads 'ixed'
common/ends.txt|if i == layers - 1|s/i == .*/1/|the condition always has the same value
common/ends.txt|input ids i32|s/i32/i23/|unknown type 'i23': did you mean 'i32'?
common/ends.txt|input ids i32|s/tokens/tokes/|unknown number 'tokes': did you mean 'tokens'?
common/ends.txt|expand x|s/expand/expnad/|unknown row 'expnad': did you mean 'expand'?
common/text_models.txt|key u32 *.vocab_size|s/u32/u23/|unknown key type 'u23': did you mean 'u32'?
common/text_models.txt|key u32 *.vocab_size|s/$/ vocab_size/|an operator or the end expected before 'vocab_size'
common/text_models.txt|key u32 *.vocab_size|s/ vocab_size/ vocab_szie/|unknown field of config.json 'vocab_szie': did you mean 'vocab_size'?
common/text_models.txt|key u32 *.vocab_size|s/vocab_size /voacb_size /|unknown loader key 'voacb_size': did you mean 'vocab_size'?
internlm.txt|file.min_dynamic_patch|s/dynamic/dynamci/|unknown field of config.json 'min_dynamci_patch': did you mean 'min_dynamic_patch'?
llama.txt|    arch llama|s/llama/lama/|unknown architecture 'lama'
common/text_models.txt|refuse has|s/has/hsa/|unknown function 'hsa': did you mean 'has'?
common/text_models.txt|use rope_dimensions|s/dimensions/dimension/|unknown group 'rope_dimension': did you mean 'rope_dimensions'?
common/text_models.txt|vocab sentencepiece|s/llama_hf/lama_hf/|unknown vocabulary 'lama_hf': did you mean 'llama_hf'?
common/projectors.txt|group siglip_defaults|s/$/\n    use gemma2/|it uses 'gemma2', which is not a group
smollm.txt|    arch smollm3|s/arch smollm3/tensor * : drop/|'tensor' does nothing in 'family smollm3'
smollm.txt|class SmolLM3|s/SmolLM3/Llama/|class 'LlamaForCausalLM' is there twice
common/text_models.txt|first(hidden_size|s/first(/frist(/|unknown function 'frist': did you mean 'first'?
apertus.txt|*.act_fn.|s/: drop/: dorp/|unknown step 'dorp': did you mean 'drop'?
apertus.txt|*.act_fn.|s/eps}/eps/|'}' is missing in
common/attention.txt|tensor *q_proj.{|s/permute q_heads/permute/|'permute' has 0 numbers, at least 1 and at most 1 are possible
apertus.txt|*.act_fn.|s/ : drop/ below 3 from 1 : drop/|'from' comes before 'below', and once
apertus.txt|*.act_fn.|s/ : drop/ at [1] at [0] : drop/|'at' comes before 'at', and once
mimo.txt|rename model.mtp|s/rename.*/type f32 *.norm from 1/|rows about types have no range: 'from 1'
common/text_models.txt|rename *e_score|s/correction\.bias/$.bias/|'$' in '*e_score_$.bias' is nothing in
llama.txt|tensors llama arcee|s/arcee/arcees/|unknown family 'arcees'
common/text_models.txt|field head_dim attention|s/key_length/key_lenght/|unknown loader key 'attention.key_lenght': did you mean 'attention.key_length'?
common/text_models.txt|field head_dim attention|s/head_dim/haed_dim/|unknown field of config.json 'haed_dim': did you mean 'head_dim'?
common/text_models.txt|field head_dim attention|s/field/feild/|unknown row 'feild': did you mean 'field'?
llama.txt|restore nanbeige|s/nanbeige/nanbiege/|unknown architecture 'nanbiege'
olmo.txt|default rope_theta 10000.0|s/0\.0/0.0.1/|the end of a number expected before '.1'
olmo.txt|default rope_theta 10000.0|s/\.0/e/|the end of a number expected before 'e'
olmo.txt|default rope_theta 10000.0|s/default/defualt/|unknown row 'defualt': did you mean 'default'?
xverse.txt|use whole_heads|s/ *use/use/|a paragraph expected at the left margin, not 'use': rows are indented
xverse.txt|use whole_heads|s/use whole_heads/group more/|unknown row 'group'
xverse.txt|tensors xverse|s/^/    /|unknown row 'tensors'
xverse.txt|section loader|s/^/    /|a row outside of a section
xverse.txt|arch xverse|s/$/ yverse/|nothing follows the name of 'arch': 'yverse'
xverse.txt|graph xverse|s/$/ yverse/|nothing follows the name of 'graph': 'yverse'
xverse.txt|family xverse|s/$/ yverse/|nothing follows the name of 'family': 'yverse'
dots.txt|projector dots_ocr|s/$/ dots/|nothing follows the name of 'projector': 'dots'
common/all.txt|    let head_k |s/head_k .*/head_k head_k + 1/|the value of 'head_k' depends on itself
common/all.txt|    let head_k |s/head_k .*/head_k max(1, at(0, k_gqa))/|the value of 'head_k' depends on itself
common/all.txt|    let turn_k |s/turn_k .*/turn_k turn_k/|unknown number 'turn_k'
common/all.txt|group numbers|s/$/\n    let more tokens/|this group has 5 rows 'let' and no others, not 6 of 6
lfm2.txt|let conv short|s/conv/embd/|the number 'embd' is there already
starcoder.txt|        rough|s/$/ly/|unknown row 'roughly': did you mean 'rough'?
starcoder.txt|        rough|s/$/ indeed/|nothing follows 'rough'
cohere.txt|    mtp|s/$/ layers/|nothing follows 'mtp'
glm.txt|    text glm4v_text|s/$/ more/|'text' has one type, not 'more' as well
glm.txt|    text glm4v_text|s/text .*/text/|the model type is missing
xverse.txt|class Xverse|s/ Xverse.*//|the name of a class is missing
xverse.txt|class Xverse|s/Xverse/X"verse/|'"' cannot be in a name: 'X"verseForCausalLM'
xverse.txt|class Xverse|s/Xverse/X\\verse/|'\' cannot be in a name: 'X\verseForCausalLM'
apertus.txt|replace text_model.|s/ text_model.//|the text that is replaced is missing
mimo.txt|rename model.mtp|s/#.* model.*/#.*/|the new name is missing
mimo.txt|rename model.mtp|s/#.* model.*/#.* from 3/|the new name is missing
olmo.txt|default rope_theta 10000.0|s/10000.0/1e999/|a number in the range of a double expected before '1e999'
olmo.txt|default rope_theta 10000.0|s/10000.0/1.5e-999/|a number in the range of a double expected before '1.5e-999'
xverse.txt|tensor *q_proj|s/: permute/: permute@0/|a number from 1 to 6 expected after '@', not '0'
xverse.txt|tensor *q_proj|s/: permute/: permute@x/|a number from 1 to 6 expected after '@', not 'x'
xverse.txt|tensor *q_proj|s/: permute/: permute@9/|a number from 1 to 6 expected after '@', not '9'
xverse.txt|tensor *q_proj|s/: permute/: permute@12/|a number from 1 to 6 expected after '@', not '12'
xverse.txt|tensor *q_proj|s/: permute/: permute@2/|there is no tensor 2: 'permute' works on 1
xverse.txt|tensor *q_proj|s/: permute.*/: parts 0, 2 ; join@1 0/|'join' works on all tensors: '@1' does nothing
xverse.txt|tensor *q_proj|s/: permute.*/: parts 0, 2/|2 tensors are left, one is possible
xverse.txt|tensor *q_proj|s/: permute.*/: parts 0, 2 ; as a b c/|'as' has 3 names for 2 tensors
xverse.txt|tensor *q_proj|s/: permute.*/: parts 0, 2 ; zero ; join 0/|'zero' works on one tensor, there are 2
xverse.txt|tensor *q_proj|s/: permute.*/: parts 0, 2 ; join 0, 3/|'join' of 3 tensors, there are 2
xverse.txt|tensor *q_proj|s/: permute.*/: parts 0, 2 ; parts 0, 4 ; drop/|8 tensors at once, at most 6 are possible
xverse.txt|tensor *q_proj|s/: permute.*/: parts 0, 7 ; drop/|'parts' expects a number from 1 to 6, not '7'
xverse.txt|tensor *q_proj|s/: permute.*/: as a b c d e f g/|'as' has 7 names, at most 6 are possible
xverse.txt|tensor *q_proj|s/: permute/: drop ; permute/|no step follows 'drop': 'permute'
xverse.txt|tensor *q_proj|s/: permute.*/: fill 1, 2, 3, 4/|'fill' is a step of 'extra' only
xverse.txt|tensor *q_proj|s/: permute.*/: numbers [1]/|'numbers' is a step of 'extra' only
xverse.txt|tensor *q_proj|s/: permute.*/: llama3 1, 2, 3, 4, 5, 6/|'llama3' is a step of 'extra' only
xverse.txt|tensor *q_proj|s/: permute.*/: stack 2 as a/|'stack' expects one '#' or two, and no '*' in '*q_proj.weight'
xverse.txt|tensor *q_proj|s/: permute.*/: renumber [1] as a/|'renumber' expects a '#' in '*q_proj.weight'
xverse.txt|tensor *q_proj|s/: permute.*/: meet ; join 0/|'meet' expects '{}' of several texts in '*q_proj.weight'
gemma4.txt|extra rope_freqs|s/fill.*/drop/|'drop' is not a step of 'extra', which makes a tensor
gemma4.txt|extra rope_freqs|s/$/ ; drop/|no step follows 'fill': 'drop'
gemma4.txt|extra rope_freqs|s/rope_freqs/blk.*/|a name expected, not the pattern 'blk.*.weight'
gemma4.txt|extra rope_freqs|s/ :/ from 1 :/|nothing follows the name of a tensor: 'from 1'
names/1-tensors.txt|tensor token_types|s/ token_types f/ to"ken_types f/|a quote or '\' cannot be in a name: 'to"ken_types'
names/1-tensors.txt|tensor token_types|s/token_types/token_embd/|tensor 'token_embd' is there twice
names/1-tensors.txt|tensor token_types|s/f32/f23/|unknown tensor flag 'f23': did you mean 'f32'?
names/1-tensors.txt|tensor token_types|s/s  .*/s/|'tensor ID NAME' lacks its name
names/1-tensors.txt|tensor token_types|s/^/tensor one_more blk.#.one_more\n/|nothing uses this tensor
names/1-tensors.txt|tensor token_types|s/^tensor/    tesnor/|a tensor has no rows
names/1-tensors.txt|section names|s/names/naems/|unknown section 'naems': did you mean 'names'?
names/2-names.txt| embed_out |s/ output/ outptu/|unknown tensor 'outptu': did you mean 'output'?
names/2-names.txt| embed_out |s/ output/ output cls output cls/|too many tensors: at most 3 are possible
names/2-names.txt| embed_out |s/  *output//|'embed_out' means no tensor
names/2-names.txt| embed_out |s/embed_out/a&/|'aembed_out' is not in its place: 'emb_ln' is before it
names/2-names.txt| embed_out |s/embed_out/emb_ln/|'emb_ln' is not in its place: 'emb_ln' is before it
names/2-names.txt|at aligner.|s/$/ one/|nothing follows a prefix
names/2-names.txt|at audio.multi|s/audio/a/|'a.multi_modal_projector.' is not in its place: 'aligner.' is before it
names/3-archs.txt|arch gptneox|s/like/liek/|'like' expected before 'liek'
names/3-archs.txt|arch gptneox|s/gpt2/gtp2/|unknown earlier architecture 'gtp2': did you mean 'gpt2'?
names/3-archs.txt|arch gptneox|s/gpt2/mpt/|unknown earlier architecture 'mpt'
names/3-archs.txt|arch gptneox|s/gpt2/gptneox/|unknown earlier architecture 'gptneox'
names/3-archs.txt|arch gptneox|s/gptneox/gptj/|'gptj' is there twice, first at
names/3-archs.txt|    without pos_embd|s/pos/pso/|unknown tensor 'pso_embd': did you mean 'pos_embd'?
names/3-archs.txt|    without pos_embd|s/without/wihtout/|unknown row 'wihtout': did you mean 'without'?
names/3-archs.txt|    only model.layers.#.attn_hyper_connection.hc_norm|s/hc_attn_norm$/hc_atn_norm/|unknown tensor 'hc_atn_norm': did you mean 'hc_attn_norm'?
SLIPS

# The same with rows after the line: FILE|TEXT|LINES AFTER IT|ROWS|SAID.
while IFS='|' read -r file text after rows said; do
    number=$(line "$file" "$text")
    slip "$file" "${number}s/\$/\\n$rows/" $((number + after)) "$said"
done <<'SLIPS'
xverse.txt|use whole_heads|1|    if embd > 1\n    end|'if' has no rows
xverse.txt|use whole_heads|3|    if embd > 1\n    need embd > 2\n    else\n    end|'else' has no rows
xverse.txt|use whole_heads|1|    each 0 .. layers\n    end|'each' has no rows
xverse.txt|use keys|3|    if vocab_size\n    use pooling\n    elif hidden_size\n    end|'elif' has no rows
xverse.txt|use whole_heads|2|    each 0 .. layers\n    key uint? more\n    end|a key must not be read in 'each'
xverse.txt|use whole_heads|2|    each 0 .. layers\n    use all_keys\n    end\ngroup all_keys\n    key uint? more\narch yverse|a key must not be read in 'each'
plm.txt|q = rope|1|        let more embd|'let' comes before the first 'each'
plm.txt|q = rope|1|        vary i % 4|'vary' comes before the first 'each'
plm.txt|    use logits|1|    vary i % 4|'vary' comes before the first 'each'
xverse.txt|    arch xverse|1|    arch xverse|'arch' is there twice
xverse.txt|class Xverse|1|    class YverseForCausalLM|'class' is there twice
xverse.txt|class Xverse|2|    if vocab_size\n    class YverseForCausalLM\n    end|'class' does nothing in 'if'
xverse.txt|class Xverse|2|    if vocab_size\n    mtp\n    end|'mtp' does nothing in 'if'
xverse.txt|vocab xverse|1|    vocab|'vocab' without a vocabulary comes before any other
xverse.txt|vocab xverse|1|    vocab gpt2|a vocabulary is there already
xverse.txt|vocab xverse|2|    if vocab_size\n    vocab gpt2\n    end|a vocabulary is there already
SLIPS
number=$(line xverse.txt "family xverse")
slip xverse.txt "/^    arch xverse/d" "$number" "a row 'arch' is missing"
slip xverse.txt "s/^    arch xverse/    if vocab_size\n&\n    end/" "$number" \
    "a row 'arch' is missing where no 'if' of it holds"
slip xverse.txt 's/^    vocab xverse/& |/' "$(line xverse.txt 'vocab xverse')" \
    "a vocabulary expected after '|'"
slip xverse.txt "s/^    vocab xverse/    vocab/" "$number" \
    "a vocabulary is missing after 'vocab'"
number=$(line common/text_models.txt "group llama_keys")
for row in "arch llama" mtp "class LlamaForCausalLM"; do
    slip common/text_models.txt "${number}s/\$/\n    $row/" $((number + 1)) \
        "'${row%% *}' does nothing in a group"
done

# More than the library has room for.
many() {
    seq -f "    $1" -s '\n' "$2"
}
number=$(line xverse.txt "arch xverse")
slip xverse.txt "${number}s/\$/\n$(many 'key uint? more_%g' 112)/" "$number" \
    "an architecture reads at most 112 keys, not"
number=$(line plm.txt "graph plm")
slip plm.txt "${number}s/\$/\n$(many 'vary i %% %g' 9)/" "$number" \
    "a graph has at most 8 rows 'vary', not 9"
# Each is used by the next one.
lets=$(seq 2 224 | awk '{ printf "    let more_%d more_%d\\n", $1, $1 - 1 }')
slip plm.txt "${number}s/\$/\n    let more_1 embd\n$lets    vary more_224/" \
    "$number" \
    "a graph and its architecture have at most 224 rows 'let', not"

number=$(line xverse.txt "tensors xverse")
slip xverse.txt "${number}s/\$/\n$(many 'let more_%g kv' 175)/" "$number" \
    "a paragraph has at most 174 names of rows 'let', not"

# Files that say nothing, or that a text ends in.
slip xverse.txt d 1 "a section is missing"
slip xverse.txt 's/use rms/use \x00 rms/' "$(line xverse.txt "use rms")" \
    "a NUL in the text"

# More than a row, or a call of a group, has room for.
skip="    skip $(seq -s ' ' 256)"
slip xverse.txt "s/^tensors xverse/&\n$skip/" \
    $(($(line xverse.txt "tensors xverse") + 1)) \
    "it is too long: 256 parts or bytes, at most 255 are possible"
end=$(($(wc -l <"$dir/families/xverse.txt") + 2))
slip xverse.txt '$a\section loader\ngroup nine a b c d e f g h i' $end \
    "a group has at most 8 parameters here"
slip xverse.txt '$a\section convert\ngroup one vocab_size' $end \
    "a group has at most 0 parameters here"
slip xverse.txt '$a\section loader\ngroup two a a' $end \
    "parameter 'a' is there twice"

# What would not end.
end=$(($(wc -l <"$dir/families/xverse.txt") + 5))
while IFS='|' read -r section head row back; do
    slip xverse.txt "\$a\\section $section\n$head\n    $row\n$back\n    ${row%% *} ${head##* }" \
        $((end)) "'${head##* }' uses this paragraph, which would not end"
done <<'CYCLES'
loader|group one|use two|group two
loader|arch one|like two|arch two
graph|group one|use two|group two
convert|group one|use two|group two
convert|family one|use two|family two
restore|group one|use two|group two
CYCLES
slip mpt.txt 's/^graph mpt.*/&\n    like mpt/' \
    $(($(line mpt.txt "graph mpt") + 1)) "'mpt' uses this paragraph"

# What nothing uses.
end=$(($(wc -l <"$dir/families/xverse.txt") + 2))
for said in "this group" "the parameter 'what'"; do
    slip xverse.txt '$a\section loader\ngroup more what\n    need embd > 0' $end \
        "nothing uses $said"
done

# More tensors than the table has bits for, which are 36 times 16.
seq 99 | sed 's/.*/tensor more_& blk.#.more_&/' >"$dir/more"
names=$dir/families/names/1-tensors.txt
end=$(($(wc -l <"$names") + 577 - $(grep -c '^tensor ' "$names")))
slip names/1-tensors.txt "\$r $dir/more" $end "more than 576 tensors"

# The whole build ends there.
stops() {
    mkdir "$dir/tree" && cp -r Makefile lib cli gguf apr safetensors imatrix \
        torch npy parquet zip web "$dir/tree" || return
    mkdir "$dir/tree/tests" && cp tests/install_deps.sh "$dir/tree/tests"
    sed -i 's/key uint? vocab_size/kye uint? vocab_size/' \
        "$dir/tree/lib/families/llama.txt"
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s \
        -C "$dir/tree" BUILD="$dir/new" "$dir/new/lib/arch/tables.c" \
        >"$dir/made" 2>&1 && echo "make succeeds"
    number=$(line llama.txt "key uint? vocab_size")
    grep -q "^lib/families/llama.txt:$number: unknown row 'kye'" "$dir/made" ||
        cat "$dir/made"
}
check_empty "make ends there" stops
finish
