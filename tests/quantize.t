#!/bin/sh
# SPDX-License-Identifier: MIT
#
# quantize.t - smaller weights: the reference's bytes, the same on any machine
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

modelfile=$(realpath "${MODELFILE:-${BUILD:-build}/modelfile}")
filled=$(realpath "${BUILD:-build}/tests/filled")
golden=${CONFORMANCE:-../shared}/golden/e2e
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-quantize.XXXXXX")
trap 'rm -rf "$dir"' EXIT

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
    code_of "$modelfile" quantize --max-memory 100k "$dir/f16.gguf" \
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

# ---- refusals

refused() {
    code_of "$modelfile" quantize "$@"
    [ "$code" = "$want" ] && [ ! -e "$dir/no.gguf" ] && [ ! -e "$dir/no.apr" ]
}
want=3
check "a type that nobody knows" refused "$dir/f16.gguf" "$dir/no.gguf" q4_x
check "what is quantized already" refused "$dir/p.gguf" "$dir/no.gguf" q4_k
check "a type that APR cannot carry" refused "$dir/f16.gguf" "$dir/no.apr" q5_k
check "a damaged model" refused fixtures/bad-overlap.gguf "$dir/no.gguf" q4_k
check "a matrix that is none" refused --imatrix fixtures/good-base.apr \
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
want=2
check "a pattern without a type" refused --tensor-type x "$dir/f16.gguf" \
    "$dir/no.gguf" q4_k
check "threads that are no number" refused "$dir/f16.gguf" "$dir/no.gguf" \
    q4_k many
check "something missing" refused "$dir/f16.gguf" "$dir/no.gguf"
want=4
check "a folder that is not there" refused "$dir/f16.gguf" "$dir/no/no.gguf" q4_k

# ---- the real llama-quantize

if [ ! -f "$golden/files.tsv" ]; then
    skip "whole files as the real llama-quantize writes them" \
        "$golden is not there"
    finish
    exit
fi

# The types of one mix are the same whatever the format that is written.
like_gguf() {
    for out in l.gguf l.apr; do
        "$modelfile" quantize --quiet --json --force "$golden/llama-f16.gguf" \
            "$dir/$out" Q4_K_M 2>/dev/null |
            sed 's/.*"types"/"types"/; s/,"run".*//' \
                >"$dir/$out.types" || return 1
    done
    cmp "$dir/l.gguf.types" "$dir/l.apr.types"
}
check "into APR with the types that GGUF gets" like_gguf

from_hf_rows() {
    rm -f "$dir"/one.gguf "$dir"/two.gguf "$dir"/hf.gguf
    "$modelfile" convert --quiet --names hf "$golden/llama-f16.gguf" \
        "$dir/hf.safetensors" >"$dir/out" &&
        from_hf "$dir/hf.safetensors" Q4_K_M
}
check "rows that change places, too" from_hf_rows

# llama-gguf-split leaves these keys in what it joined, llama-quantize takes
# them away: what comes is what comes of the model that was never split.
from_joined() {
    cp "$golden/llama-f16.gguf" "$dir/j.gguf" &&
        "$modelfile" meta set --quiet "$dir/j.gguf" split.no:u16=0 \
            split.tensors.count:i32=39 split.count:u16=0 >"$dir/out" &&
        "$modelfile" quantize --quiet "$dir/j.gguf" "$dir/jq.gguf" Q4_K_M \
            >"$dir/out" && cmp "$dir/jq.gguf" "$golden/llama-f16-Q4_K_M.gguf"
}
check "a model joined of shards: as one that never was in parts" from_joined

grep "OK\$" "$golden/files.tsv" | grep -v SOURCE >"$dir/rows"

as_the_tool() {
    # The matrix's path stands in the file as it was given.
    # shellcheck disable=SC2086 # options are words
    (cd "$golden" && "$modelfile" quantize --quiet "$source.gguf" \
        "$dir/o.gguf" "$type" $options) >"$dir/out" 2>"$dir/err" || return 1
    [ "$(sha256sum <"$dir/o.gguf" | cut -d' ' -f1)" = "$sum" ]
}

# The encoders of iq1 to iq3 are not there, and that is said.
not_yet() {
    # shellcheck disable=SC2086 # options are words
    (cd "$golden" && "$modelfile" quantize --quiet "$source.gguf" \
        "$dir/o.gguf" "$type" $options) >"$dir/out" 2>"$dir/err" && return 1
    grep -qE 'iq[123][a-z_]* cannot be encoded here' "$dir/err"
}

while IFS='	' read -r source type options _ sum _ _; do
    [ "$options" != - ] || options=
    rm -f "$dir/o.gguf"
    case $type in
    IQ1* | IQ2* | IQ3*)
        check "$source $type $options is refused" not_yet ;;
    *)
        check "$source $type $options: the tool's bytes" as_the_tool ;;
    esac
done <"$dir/rows"

finish
