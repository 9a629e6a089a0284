#!/bin/sh
# SPDX-License-Identifier: MIT
#
# quantize.t - smaller weights: the reference's bytes, the same on any machine
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

filled=$(realpath "${BUILD:-build}/tests/filled")
golden=$(realpath fixtures/llama)
# More of the same, of which golden is a sample: models and a list.
more=${CONFORMANCE:-../shared}/golden/e2e
listed=$(realpath -m "$more-2026/files.tsv")

code_of() {
    code=0
    "$@" >"$dir/out" 2>"$dir/err" || code=$?
}

"$filled" f16 2 "$dir/f16.gguf"

# ---- the same everywhere

same() {
    "$modelfile" quantize --quiet --threads 1 "$dir/f16.gguf" "$dir/one.gguf" \
        "$1" >"$dir/out" || return 1
    for threads in 2 3 7; do
        "$modelfile" quantize --quiet --force --threads "$threads" \
            "$dir/f16.gguf" "$dir/more.gguf" "$1" >"$dir/out" &&
            cmp "$dir/one.gguf" "$dir/more.gguf" || return 1
    done
    MODELFILE_ISA=portable "$modelfile" quantize --quiet --force \
        "$dir/f16.gguf" "$dir/more.gguf" "$1" >"$dir/out" &&
        cmp "$dir/one.gguf" "$dir/more.gguf" &&
        "$modelfile" validate --quiet --strict --data "$dir/one.gguf" \
            >"$dir/out" && rm "$dir/one.gguf"
}
for type in Q4_K_M Q8_0 IQ4_XS q5_k tq2_0 mxfp4; do
    check "$type: the same bytes for any number of threads, and portably" \
        same "$type"
done

little_memory() {
    for threads in 1 7; do
        "$modelfile" quantize --force --threads "$threads" --max-memory 300k \
            "$dir/f16.gguf" "$dir/more.gguf" Q4_K_M >"$dir/out" 2>"$dir/err" &&
            cmp "$dir/q4.gguf" "$dir/more.gguf" || return 1
        awk '/^peak heap/ { found = $4 == "KiB" && $3 < 300 }
            END { exit !found }' "$dir/err" || return 1
    done
}
too_little_memory() {
    code_of "$modelfile" quantize --max-memory 40k "$dir/f16.gguf" \
        "$dir/no.gguf" Q4_K_M
    [ "$code" = 5 ] && [ ! -e "$dir/no.gguf" ]
}
"$modelfile" quantize --quiet "$dir/f16.gguf" "$dir/q4.gguf" Q4_K_M >"$dir/out"
check "--max-memory makes buffers smaller, and fewer" little_memory
check "or says that it is too little" too_little_memory

# ---- what is said beforehand is what comes

foretold() {
    size=$("$modelfile" quantize --dry-run --json "$dir/f16.gguf" \
        "$dir/dry.gguf" Q6_K 2>/dev/null |
        sed -n 's/.*"file_bytes":\([0-9]*\).*/\1/p')
    [ ! -e "$dir/dry.gguf" ] &&
        "$modelfile" quantize --quiet "$dir/f16.gguf" "$dir/dry.gguf" Q6_K \
            >"$dir/out" && [ "$(stat -c %s "$dir/dry.gguf")" = "$size" ]
}
check "--dry-run tells the exact size and writes nothing" foretold

reported() {
    "$modelfile" quantize --report --json --force "$dir/f16.gguf" \
        "$dir/dry.gguf" q8_0 2>/dev/null |
        grep -q '"q8_0":{[^}]*"rmse":[0-9.e-]*,"max_error":[0-9.e-]*,"cosine":0\.99'
}
check "--report says how far the numbers have come" reported

pattern() {
    "$modelfile" quantize --quiet --force --tensor-type 't3\.=q8_0' \
        --pure "$dir/f16.gguf" "$dir/p.gguf" q4_k >"$dir/out" || return 1
    "$modelfile" tensors --json "$dir/p.gguf" 2>/dev/null |
        grep -o '"type":"[a-z0-9_]*"' | sort | uniq -c | tr -s ' ' \
        >"$dir/types"
    printf ' 7 "type":"q4_k"\n 1 "type":"q8_0"\n' | cmp - "$dir/types"
}
check "--tensor-type is for tensors whose name has the pattern" pattern

to_apr() {
    "$modelfile" quantize --quiet "$dir/f16.gguf" "$dir/o.apr" Q6_K \
        >"$dir/out" && "$modelfile" validate --quiet --data "$dir/o.apr" \
        >"$dir/out"
}
check "into APR, which can carry q6_k" to_apr

pruned() {
    "$modelfile" quantize --quiet --force --prune-layers 0 \
        --allow-requantize fixtures/good-llama.gguf "$dir/l.apr" F16 \
        >"$dir/out" &&
        [ "$("$modelfile" meta "$dir/l.apr" num_layers 2>"$dir/err" |
            tr -s ' ' | cut -d' ' -f3)" = 1 ]
}
check "into APR without a block" pruned

# In one step what convert and quantize do in two.
from_hf() {
    "$modelfile" convert --quiet --names gguf --type f32 "$1" \
        "$dir/hf.gguf" >"$dir/out" &&
        "$modelfile" quantize --quiet "$dir/hf.gguf" "$dir/two.gguf" "$2" \
            >"$dir/out" &&
        "$modelfile" quantize --quiet --names gguf "$1" "$dir/one.gguf" "$2" \
            >"$dir/out" && cmp "$dir/one.gguf" "$dir/two.gguf"
}
check "from a folder of Hugging Face's" from_hf fixtures/good-hf-llama F16

# Without --names a folder becomes what --names gguf makes of it, however it is
# named; --names keep is asked for.
default_is() { # NAMES OUT COMMAND...
    names=$1 out=$2
    shift 2
    "$modelfile" "$@" --names "$names" --force --quiet >"$dir/out" 2>&1 || return 1
    mv "$out" "$dir/named.gguf" && "$modelfile" "$@" --quiet >"$dir/out" 2>"$dir/err" &&
        [ ! -s "$dir/err" ] && cmp "$out" "$dir/named.gguf" && rm "$out"
}
hf=fixtures/good-hf-llama
check "a folder becomes GGUF: quantized" default_is gguf "$dir/d.gguf" \
    quantize $hf "$dir/d.gguf" Q8_0
check "converted" default_is gguf "$dir/d.gguf" convert $hf "$dir/d.gguf"
check "a file in it" default_is gguf "$dir/d.gguf" \
    convert $hf/model.safetensors "$dir/d.gguf"
check "by --to" default_is gguf "$dir/d.bin" convert --to gguf $hf "$dir/d.bin"
check "as floats" default_is gguf "$dir/d.gguf" dequantize $hf "$dir/d.gguf"
check "as another format" default_is keep "$dir/d.safetensors" \
    convert $hf "$dir/d.safetensors"
split_is() { # what split and merge, which have no --names, make of it
    "$modelfile" convert --quiet $hf "$dir/whole.gguf" --shard-tensors 9 >"$dir/out" &&
        mkdir "$dir/split" && "$modelfile" split --quiet $hf "$dir/split/whole.gguf" \
        --max-tensors 9 >"$dir/out" &&
        for i in 1 2 3 4; do
            cmp "$dir/split/whole-0000$i-of-00004.gguf" "$dir/whole-0000$i-of-00004.gguf" ||
                return 1
        done && "$modelfile" merge --quiet $hf "$dir/m.gguf" >"$dir/out" &&
        "$modelfile" convert --quiet $hf "$dir/c.gguf" >"$dir/out" &&
        cmp "$dir/m.gguf" "$dir/c.gguf" && [ ! -e "$dir/whole.gguf" ]
}
check "split and merged" split_is
kept() {
    "$modelfile" "$@" --names keep --quiet >"$dir/out" 2>"$dir/err" &&
        [ ! -s "$dir/err" ] &&
        "$modelfile" tensors info --quiet "$dir/k.gguf" >"$dir/out" &&
        grep -q "model.layers.0.self_attn.q_proj.weight" "$dir/out" &&
        ! "$modelfile" validate --quiet --for llama.cpp "$dir/k.gguf" >"$dir/out" &&
        grep -q "error MODEL-ARCHITECTURE" "$dir/out" && rm "$dir/k.gguf"
}
check "names are kept" kept convert $hf "$dir/k.gguf"
check "when quantizing" kept quantize $hf "$dir/k.gguf" F16
check "and when decoding" kept dequantize $hf "$dir/k.gguf"

# A class that is not known is named, and nothing is written.
mkdir "$dir/bert"
printf '{"architectures":["TimmModel"]}' >"$dir/bert/config.json"
cp fixtures/good-base.safetensors "$dir/bert/model.safetensors"
unknown() {
    "$modelfile" "$@" --quiet >"$dir/out" 2>"$dir/err"
    [ $? = 3 ] && [ ! -e "$dir/h.gguf" ] &&
        grep -q "class 'TimmModel' cannot be converted; --names keep" "$dir/err"
}
check "a family that is not known" unknown convert "$dir/bert" "$dir/h.gguf"
check "quantized" unknown quantize "$dir/bert" "$dir/h.gguf" F16
check "as floats" unknown dequantize "$dir/bert" "$dir/h.gguf"

# Without config.json the file is written, with a warning.
remarks() { # COUNT COMMAND...
    count=$1
    shift
    "$modelfile" "$@" --quiet --dry-run >"$dir/out" 2>"$dir/err" &&
        [ "$(grep -c "no runtime loads it" "$dir/err")" = "$count" ]
}
check "other formats are for no runtime" remarks 0 convert "$dir/bert" "$dir/h.safetensors"
rm "$dir/bert/config.json"
check "a file without config.json" remarks 1 convert "$dir/bert/model.safetensors" "$dir/h.gguf"
check "quantized" remarks 1 quantize "$dir/bert" "$dir/h.gguf" F16
check "decoded" remarks 1 dequantize "$dir/bert" "$dir/h.gguf"
check "asked for" remarks 0 convert --names keep "$dir/bert" "$dir/h.gguf"
"$modelfile" convert --quiet fixtures/good-base.gguf "$dir/named.safetensors" >"$dir/out"
check "one whose own metadata say it" remarks 0 convert "$dir/named.safetensors" "$dir/h.gguf"
{
    header='{"base_model.model.a.lora_A.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    printf '%b%s\0\0\0\0' "\\0$(printf %o ${#header})\\0\\0\\0\\0\\0\\0\\0" "$header"
} >"$dir/adapter.safetensors"
check "an adapter without its configuration" \
    remarks 1 convert "$dir/adapter.safetensors" "$dir/h.gguf"

# A folder's default file is next to it, with a slash or without.
slash() {
    cp -R fixtures/good-hf-llama "$dir/slash" &&
        (cd "$dir" && "$modelfile" quantize --quiet --names gguf "slash$1" F16 \
            >"$dir/out" 2>"$dir/err") &&
        rm -R "$dir/slash" "$dir/ggml-model-F16.gguf"
}
check "IN is a folder" slash ""
check "IN is a folder with slashes" slash //

# ---- what llama-quantize (v0.5.0) made of one small model

# A small llama some of whose shapes end with ones, as GGUF.
tensor() {
    printf ',"%s":{"dtype":"%s","shape":%s,"data_offsets":[%s]}' "$@"
}
trailing() {
    {
        printf '{"__metadata__":{"general.architecture":"llama"'
        printf ',"llama.%s:u32":"%s"' context_length 64 \
            embedding_length 256 block_count 1 attention.head_count 4 \
            feed_forward_length 256
        printf ',"llama.attention.layer_norm_rms_epsilon:f32":"0.5"}'
        tensor token_embd.weight F16 '[1,4,256]' 0,2048
        tensor output_norm.weight F32 '[1,1,1,256]' 2048,3072
        tensor blk.0.attn_q.weight F16 '[1,1,256]' 3072,3584
        tensor blk.0.attn_v.weight F32 '[1,2,2,256]' 3584,7680
        printf '}'
    } >"$dir/header"
    {
        printf '\000\004\000\000\000\000\000\000%-1024s' "$(cat "$dir/header")"
        awk 'BEGIN { for (i = 0; i < 480; i++) printf "0123456789:;<=>?" }'
    } >"$dir/ones.safetensors"
    "$modelfile" convert --quiet "$dir/ones.safetensors" "$dir/ones.gguf" >"$dir/out"
}
trailing

# Whole files: their sums match the tool's files.
is_tools() {
    want_sum=$1
    shift
    "$modelfile" quantize --quiet --force "$@" >"$dir/out" 2>"$dir/err" &&
        sha256sum <"$dir/ones-out.gguf" >"$dir/sum" &&
        [ "$(cut -d' ' -f1 "$dir/sum")" = "$want_sum" ]
}
copy_sum=364bd0f3473503ca3151d76dc711b4031ea56683821e719f7061b8709d5b0146
q8_sum=2a6de8337a8af06d1c72373952fcee67080d9193a4738983c660635d813dbefb
check "shapes lose the ones at their end: copied" is_tools "$copy_sum" \
    "$dir/ones.gguf" "$dir/ones-out.gguf" COPY
check "and quantized" is_tools "$q8_sum" \
    "$dir/ones.gguf" "$dir/ones-out.gguf" Q8_0

ones_foretold() {
    "$modelfile" quantize --quiet --force "$dir/ones.gguf" \
        "$dir/ones-out.gguf" Q8_0 >"$dir/out" || return 1
    size=$("$modelfile" quantize --dry-run --json "$dir/ones.gguf" \
        "$dir/ones-dry.gguf" Q8_0 2>/dev/null |
        sed -n 's/.*"file_bytes":\([0-9]*\).*/\1/p')
    [ "$(stat -c %s "$dir/ones-out.gguf")" = "$size" ]
}
check "which --dry-run knows" ones_foretold
dry_run_refuses() {
    code=0
    "$modelfile" quantize --dry-run "$dir/ones.gguf" "$dir/ones-out.gguf" Q8_0 \
        >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" -eq 4 ] && grep -q 'already exists.*--force' "$dir/err"
}
check "--dry-run refuses an output that exists" dry_run_refuses
check "but not with --force" "$modelfile" quantize --quiet --dry-run --force \
    "$dir/ones.gguf" "$dir/ones-out.gguf" Q8_0

converted() {
    printf '%s\n' '256x4x1' '256x1x1x1' '256x1x1' \
        '256x2x2x1' >"$dir/shapes"
    "$modelfile" tensors "$dir/ones.gguf" 2>"$dir/err" |
        grep -o ' 256x[0-9x]*' | tr -d ' ' |
        cmp - "$dir/shapes"
}
check "convert keeps them" converted

changed_sum=254a742754ef139321ce80203756b499b56624bb828879c34596d777bb180214
check "--override-kv: an integer is u32, without its sign" \
    is_tools "$changed_sum" --override-kv llama.context_length=int:77 \
    --override-kv new.key=int:-4294967295 "$dir/ones.gguf" \
    "$dir/ones-out.gguf" Q8_0

# ---- without OUT, as llama-quantize takes it: IN TYPE [THREADS]

mkdir "$dir/in"
cp "$dir/ones.gguf" "$dir/in/m.gguf"

# Nothing but the one file that is named, next to IN.
named() {
    name=$1
    shift
    rm -f "$dir"/in/ggml-*
    (cd "$dir" && "$modelfile" quantize --quiet "$@") >"$dir/out" \
        2>"$dir/err" && ls "$dir/in" >"$dir/names" || return 1
    # shellcheck disable=SC2086 # no name: no line
    printf '%s\n' $name m.gguf | cmp - "$dir/names"
}
named_q8() {
    named ggml-model-Q8_0.gguf "$@" &&
        sha256sum <"$dir/in/ggml-model-Q8_0.gguf" >"$dir/sum" &&
        [ "$(cut -d' ' -f1 "$dir/sum")" = "$q8_sum" ]
}
check "IN TYPE writes a file beside IN" named_q8 in/m.gguf q8_0
check "which must not stand there" \
    [ "$("$modelfile" quantize "$dir/in/m.gguf" q8_0 >"$dir/out" 2>&1
        echo $?)" = 4 ]
check "IN TYPE THREADS, too" named_q8 in/m.gguf Q8_0 3
check "THREADS below 1 are all" named_q8 in/m.gguf 7 0
check "and so is -1" named_q8 in/m.gguf Q8_0 -1
check "with OUT, too" is_tools "$q8_sum" "$dir/ones.gguf" \
    "$dir/ones-out.gguf" Q8_0 -1
check "a number stands for the shorter name" \
    named ggml-model-Q4_K.gguf in/m.gguf 15
check "a file of the format that is asked for" \
    named ggml-model-F16.apr in/m.gguf f16 --to apr
check "a dry run writes nothing" named '' in/m.gguf Q4_K_M 8 --dry-run
nothing_named() {
    code=0
    (cd "$dir/in" && "$modelfile" quantize m.gguf "$@") >"$dir/out" \
        2>"$dir/err" || code=$?
    [ "$code" = 2 ] && [ "$(ls "$dir/in")" = m.gguf ]
}
check "OUT is not a TYPE: F16 Q8_0 is a type and threads" nothing_named F16 Q8_0
check "OUT alone" nothing_named other.gguf

# ---- as many files as IN has

one_of_one() {
    rm -f "$dir"/in/*
    "$modelfile" quantize --quiet --keep-split "$dir/ones.gguf" \
        "$dir/in/one.gguf" Q8_0 >"$dir/out" 2>"$dir/err" &&
        [ "$(ls "$dir/in")" = one-00001-of-00001.gguf ] &&
        sha256sum <"$dir/in/one-00001-of-00001.gguf" >"$dir/sum" &&
        [ "$(cut -d' ' -f1 "$dir/sum")" = "$split_sum" ]
}
split_sum=b3017a1b900bdcb820dd84e6f121af6a03eb637732d0a7d40228129403ba92cb
check "--keep-split numbers a single file, too" one_of_one
check "which is a whole model" "$modelfile" diff --quiet \
    "$dir/in/one-00001-of-00001.gguf" "$dir/ones-out.gguf"
check "and one shard again" "$modelfile" quantize --quiet --keep-split \
    --allow-requantize "$dir/in/one-00001-of-00001.gguf" "$dir/in/two" F16
check "but APR has no shards" "$modelfile" quantize --quiet --keep-split \
    "$dir/ones.gguf" "$dir/in/one.apr" F16
check "under these names" [ "$(cd "$dir/in" && echo *)" = \
    "one-00001-of-00001.gguf one.apr two-00001-of-00001.gguf" ]

# ---- refusals

refused() {
    code_of "$modelfile" quantize "$@"
    [ "$code" = "$want" ] && [ ! -e "$dir/no.gguf" ] && [ ! -e "$dir/no.apr" ]
}
want=2
check "what is quantized already" refused "$dir/p.gguf" "$dir/no.gguf" q4_k
want=3
check "a type that APR cannot carry" refused "$dir/f16.gguf" "$dir/no.apr" q5_k
check "a damaged model" refused fixtures/bad-overlap.gguf "$dir/no.gguf" q4_k
# Of two blocks none is left if both count.
check "--prune-layers twice leaves out both" refused --allow-requantize \
    --prune-layers 0 --prune-layers 1 fixtures/good-llama.gguf \
    "$dir/no.gguf" F16
check "with a message" grep -q "cannot leave out all 2 blocks" "$dir/err"
check "a file that is not an importance matrix" refused --imatrix fixtures/good-base.apr \
    "$dir/f16.gguf" "$dir/no.gguf" q4_k

# blamed FILE: the matrix is at fault, and nothing is said of the model.
blamed() {
    refused --imatrix "$1" "$dir/f16.gguf" "$dir/no.gguf" q4_k || return
    said=$(grep -v '^peak heap' "$dir/err")
    case $said in
    *f16.gguf*) false ;;
    "modelfile: $1: "*) refused --json --imatrix "$1" "$dir/f16.gguf" \
        "$dir/no.gguf" q4_k && grep -q "\"file\":\"$1\"" "$dir/out" ;;
    *) false ;;
    esac && return
    echo "$said"
    return 1
}
: >"$dir/nothing.dat"
check "a matrix that is not there is what is blamed" blamed "$dir/none.dat"
check "or is a folder" blamed "$dir"
check "or has nothing in it" blamed "$dir/nothing.dat"
check "or is a model" blamed "$dir/p.gguf"
check "or is of another format" blamed fixtures/good-base.apr

# ---- the matrix is used, and that is said

# matrix NAME OUT: an importance matrix of before 2025 with one entry.
matrix() {
    {
        # shellcheck disable=SC2059 # the format begins with a length
        printf "\\001\\000\\000\\000\\$(printf %03o ${#1})\\000\\000\\000%s" "$1"
        printf '\001\000\000\000\000\020\000\000'
        awk 'BEGIN { for (i = 0; i < 4096; i++) printf "@?@@" }'
    } >"$2"
}
matrix t3.weight "$dir/one.dat"
matrix model.layers.0.weight "$dir/other.dat"
weighted() {
    "$modelfile" quantize --quiet --force --imatrix "$dir/one.dat" "$@" \
        "$dir/f16.gguf" "$dir/w.gguf" Q4_0 >"$dir/out" 2>"$dir/err"
}
says_weighted() {
    weighted && grep -q "^weighted 1 of 8 tensors by the" "$dir/out" &&
        weighted --json &&
        grep -q '"changed":8,"fallbacks":0,"weighted":1,' "$dir/out" &&
        weighted --dry-run && grep -q "^weighted 1 of 8 tensors" "$dir/out" &&
        "$modelfile" quantize --quiet --imatrix "$dir/one.dat" \
            "$dir/f16.gguf" - Q4_0 2>"$dir/err" | cmp - "$dir/w.gguf" &&
        grep -q "warning: weighted 1 of 8 tensors" "$dir/err"
}
check "with a matrix it is said how many tensors it weighted" says_weighted
check "a matrix of another model is what is blamed" blamed "$dir/other.dat"
check "which has none of the tensors" grep -q "none of the 1 entries" "$dir/out"
want=1
check "--include-weights that leaves no entry" refused --include-weights x \
    --imatrix "$dir/one.dat" "$dir/f16.gguf" "$dir/no.gguf" q4_k
want=2
check "--exclude-weights that leaves none" refused --exclude-weights t3 \
    --imatrix "$dir/one.dat" "$dir/f16.gguf" "$dir/no.gguf" q4_k
want=3
unused() {
    "$modelfile" quantize --quiet --force --tensor-type 't3\.=q8_0' \
        --tensor-type 'ffn_up=q8_0' --tensor-type 't\[3=q5_0' \
        "$dir/f16.gguf" "$dir/w.gguf" Q4_0 >"$dir/out" 2>"$dir/err" &&
        [ "$(grep -c "warning: pattern" "$dir/err")" = 2 ] &&
        grep -q "warning: pattern 'ffn_up'.* no tensor" "$dir/err" &&
        "$modelfile" quantize --json --force --tensor-type 'ffn_up=q8_0' \
            "$dir/f16.gguf" "$dir/w.gguf" Q4_0 2>"$dir/err" |
        grep -q '"unused_patterns":\["ffn_up"\]'
}
check "a pattern that no tensor has gets a warning" unused

want=2
check "--include-weights with --exclude-weights" refused --include-weights a \
    --exclude-weights b --imatrix "$dir/one.dat" "$dir/f16.gguf" \
    "$dir/no.gguf" q4_k
check "--include-weights without a matrix" refused --include-weights a \
    "$dir/f16.gguf" "$dir/no.gguf" q4_k
check "--exclude-weights without one" refused --exclude-weights a \
    "$dir/f16.gguf" "$dir/no.gguf" q4_k
check "--prune-layers that is not a list" refused --prune-layers 1 \
    --prune-layers 2,x "$dir/f16.gguf" "$dir/no.gguf" q4_k
check "an integer without digits" refused "$dir/f16.gguf" "$dir/no.gguf" q4_k \
    --override-kv a=int:-
check "an integer of more than 32 bits" refused "$dir/f16.gguf" \
    "$dir/no.gguf" q4_k --override-kv a=int:4294967296
check "an unknown type" refused "$dir/f16.gguf" "$dir/no.gguf" q4_x
check "a pattern without a type" refused --tensor-type x "$dir/f16.gguf" \
    "$dir/no.gguf" q4_k
check "an integer of more than 64 bits" refused "$dir/f16.gguf" \
    "$dir/no.gguf" q4_k --override-kv a=int:9223372036854775808
check "--keep-split to standard output" refused --keep-split "$dir/f16.gguf" \
    - q4_k
check "threads that are not numbers" refused "$dir/f16.gguf" "$dir/no.gguf" \
    q4_k many
check "something missing" refused "$dir/f16.gguf" "$dir/no.gguf"
want=4
check "a folder that is not there" refused "$dir/f16.gguf" "$dir/no/no.gguf" q4_k

# ---- the real llama-quantize

# The types of one mix are the same whatever the format that is written.
like_gguf() {
    for out in l.gguf l.apr; do
        "$modelfile" quantize --quiet --json --force "$golden/llama-wide.gguf" \
            "$dir/$out" Q4_K_M 2>/dev/null |
            sed 's/.*"types"/"types"/; s/,"run".*//' \
                >"$dir/$out.types" || return 1
    done
    cmp "$dir/l.gguf.types" "$dir/l.apr.types"
}
check "into APR with the types that GGUF gets" like_gguf

from_hf_rows() {
    rm -f "$dir"/one.gguf "$dir"/two.gguf "$dir"/hf.gguf
    "$modelfile" convert --quiet --names hf "$golden/llama-small.gguf" \
        "$dir/hf.safetensors" >"$dir/out" &&
        from_hf "$dir/hf.safetensors" Q4_K_M
}
check "rows that change places, too" from_hf_rows

# ---- NaN and infinite values

# no_number TYPE WORD FILE: nothing is written, and what is wrong is said.
no_number() {
    code_of "$modelfile" quantize --allow-requantize "$3" "$dir/no.gguf" "$1"
    [ "$code" = 3 ] && [ ! -e "$dir/no.gguf" ] && grep -q "$2" "$dir/err"
}
for type in COPY F16; do
    check "NaN is refused ($type)" no_number $type \
        "'c.weight' as f32: element 3 is infinite or NaN (row 0, column 3)$" \
        fixtures/bad-data-nan.gguf
    check "and a scale that is NaN ($type)" no_number $type \
        "'c.weight' as q8_0: a scale of block 1 is infinite or NaN (row" \
        fixtures/bad-data-scale.gguf
done

# 10^6 as the number after the first 1000 of t0.weight.
"$filled" f32 1 "$dir/large.gguf"
at=$("$modelfile" tensors info --quiet "$dir/large.gguf" |
    awk '$1 == "t0.weight" { print $(NF - 1) }')
printf '\000\044\164\111' | dd of="$dir/large.gguf" bs=1 conv=notrunc \
    seek=$((at + 4000)) 2>"$dir/err"
would="would be infinite or NaN"
check "a number that f16 cannot hold" no_number F16 \
    "'t0.weight' as f16: element 1000 $would (row 0, column 1000), made from" \
    "$dir/large.gguf"
check "one that a scale cannot hold" no_number Q4_0 \
    "a scale of block 31 $would (row 0, columns 992 to 1023), made from f32" \
    "$dir/large.gguf"
check "one that bf16 can" "$modelfile" quantize --quiet "$dir/large.gguf" \
    "$dir/bf16.gguf" BF16

# 10^30 as number 10 of the third row of t0.weight.
"$filled" bf16 1 "$dir/huge.gguf"
at=$("$modelfile" tensors info --quiet "$dir/huge.gguf" |
    awk '$1 == "t0.weight" { print $(NF - 1) }')
printf '\112\161' | dd of="$dir/huge.gguf" bs=1 conv=notrunc \
    seek=$((at + 2 * (2 * 4096 + 10))) 2>"$dir/err"
check "one of bf16: the block's place and the source's type" no_number Q4_K_S \
    "a scale of block 32 $would (row 2, columns 0 to 255), made from bf16" \
    "$dir/huge.gguf"
check "one that has no codes on a grid" no_number IQ3_S \
    "row 2 cannot be encoded as iq3_s: column 10 is 1.*e+30 in bf16" \
    "$dir/huge.gguf"

# llama-gguf-split leaves these keys in what it joined, llama-quantize takes
# them away: the result is the same as from the model that was never split.
from_joined() {
    cp "$golden/llama-wide.gguf" "$dir/j.gguf" &&
        "$modelfile" meta set --quiet "$dir/j.gguf" split.no:u16=0 \
            split.tensors.count:i32=17 split.count:u16=0 >"$dir/out" &&
        "$modelfile" quantize --quiet "$dir/j.gguf" "$dir/jq.gguf" Q4_K_M \
            >"$dir/out" && cmp "$dir/jq.gguf" "$golden/llama-wide-Q4_K_M.gguf"
}
check "a model joined of shards: as one that never was in parts" from_joined

as_the_tool() {
    rm -f "$dir/o.gguf"
    # The file contains the matrix's path as it was given.
    # shellcheck disable=SC2086 # options are words
    (cd "$golden" && "$modelfile" quantize --quiet "$source.gguf" \
        "$dir/o.gguf" "$type" $options) >"$dir/out" 2>"$dir/err" || return 1
    [ "$(sha256sum <"$dir/o.gguf" | cut -d' ' -f1)" = "$sum" ]
}

# as_all LIST: its rows, from the models in the folder $golden.
as_all() {
    grep "OK\$" "$1" | grep -v SOURCE >"$dir/rows"
    while IFS='	' read -r source type options _ sum _ _; do
        [ "$options" != - ] || options=
        rm -f "$dir/o.gguf"
        check "$source $type $options: the tool's bytes" as_the_tool
    done <"$dir/rows"
}
as_all "$golden/files.tsv"

# Weighted by a matrix, too; the file contains its path as it was given.
while IFS='	' read -r source type sum; do
    options="--imatrix $source.imatrix.dat"
    [ "$source" = source ] ||
        check "$source $type, weighted: the tool's bytes" as_the_tool
done <"$golden/weighted.tsv"

golden=$more
[ ! -f "$listed" ] || as_all "$listed"

finish
