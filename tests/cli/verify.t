#!/bin/sh
# SPDX-License-Identifier: MIT
#
# verify.t - whether a model was made from another one, and a proof of it
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

# expect_verify CODE TEXT ARGUMENT...
expect_verify() {
    expect_code=$1 expect_text=$2
    shift 2
    expect "$expect_code" "$expect_text" verify "$@"
}

filled=$build/tests/filled
llama=$fixtures/llama

# quiet COMMAND ARGUMENT...: only its errors.
quiet() {
    "$modelfile" "$@" --quiet >/dev/null
}

# flip FILE OFFSET: the lowest bit of a byte.
flip() {
    byte=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
    # shellcheck disable=SC2059 # the byte in octal digits is an escape
    printf "\\$(printf %o $((byte ^ 1)))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# offset FILE TENSOR: where its data begin.
offset() {
    "$modelfile" tensors --json "$1" "$2" |
        sed 's/.*"offset":\([0-9]*\),.*/\1/'
}

# ---- what is not a model

matrix=$llama/llama-wide.imatrix.dat
check "an importance matrix is refused" expect_verify 3 "this is an importance matrix" \
    "$matrix" --from "$llama/llama-wide.gguf"
check "in GGUF, too" expect_verify 3 "this is an importance matrix" \
    "$fixtures/good-imatrix.gguf" --from "$llama/llama-wide.gguf"
check "nothing is made from one" expect_verify 3 "this is an importance matrix" \
    "$llama/llama-wide.gguf" --from "$matrix"

# ---- what llama-quantize and quantize made

check "a file of llama-quantize follows from its source" \
    expect_verify 0 "follows from" "$llama/llama-small-Q4_0.gguf" \
    --from "$llama/llama-small.gguf"
check "and one of a mix" expect_verify 0 "17 tensors" \
    "$llama/llama-wide-Q4_K_M.gguf" --from "$llama/llama-wide.gguf"

"$filled" f16 2 "$dir/f16.gguf"
made() {
    quiet quantize "$dir/f16.gguf" "$dir/q.gguf" "$1" --force &&
        expect_verify 0 "follows from" "$dir/q.gguf" --from "$dir/f16.gguf"
}
for mix in Q4_K_M Q3_K_L IQ4_XS TQ2_0 Q8_0 mxfp4 BF16 F32; do
    check "$mix" made "$mix"
done

# A matrix, all of it and a part of it.
weighted() {
    quiet quantize "$llama/llama-wide.gguf" "$dir/w.gguf" Q4_K_M --force \
        --imatrix "$llama/llama-wide.imatrix.dat" "$@"
}
matrix="--imatrix $llama/llama-wide.imatrix.dat"
weighted
# shellcheck disable=SC2086 # two words
check "an importance matrix" expect_verify 0 "with the importance matrix" \
    "$dir/w.gguf" --from "$llama/llama-wide.gguf" $matrix
check "which is missed if it is not given" expect_verify 1 "use --imatrix FILE" \
    "$dir/w.gguf" --from "$llama/llama-wide.gguf"
weighted --exclude-weights ffn
# shellcheck disable=SC2086
check "entries of it that were left out are found" expect_verify 0 "follows" \
    "$dir/w.gguf" --from "$llama/llama-wide.gguf" $matrix
# shellcheck disable=SC2086
check "and where it was not used at all" expect_verify 0 \
    "the importance matrix was not used for any" "$llama/llama-wide-Q4_K_M.gguf" \
    --from "$llama/llama-wide.gguf" $matrix
# shellcheck disable=SC2086
check "one of another model is refused" expect_verify 3 "may belong to another" \
    "$llama/llama-small-Q4_0.gguf" --from "$llama/llama-small.gguf" $matrix

# ---- other containers, names and shards

other() {
    quiet convert "$llama/llama-wide.gguf" "$dir/$1" --force &&
        expect_verify 0 "follows from" "$llama/llama-wide-Q4_K_M.gguf" --strict \
            --from "$dir/$1"
}
check "a source in safetensors" other source.safetensors
check "a source in APR" other source.apr
apr() {
    quiet quantize "$llama/llama-wide.gguf" "$dir/q.apr" "$1" --force &&
        expect_verify 0 "follows from" "$dir/q.apr" --strict \
            --from "$llama/llama-wide.gguf"
}
for type in apr_q4 apr_q8 q4_k; do
    check "APR's $type" apr "$type"
done
# hf OUT COMMAND ARGUMENT...
hf() {
    out=$dir/$1
    shift
    quiet "$@" "$out" --names gguf --force &&
        expect_verify 0 "29 tensors" "$out" --strict --from "$fixtures/good-hf-llama"
}
check "a folder of Hugging Face, whose tensors have other names" \
    hf h.gguf convert --type f16 "$fixtures/good-hf-llama"
check "as it is" hf h.gguf convert "$fixtures/good-hf-llama"
check "as APR" hf h.apr convert "$fixtures/good-hf-llama"
back() {
    quiet convert "$dir/h.gguf" "$dir/h.safetensors" --names hf &&
        expect_verify 0 "29 tensors" "$dir/h.safetensors" --from "$dir/h.gguf"
}
check "and the other way round" back
shards() {
    quiet split "$dir/f16.gguf" "$dir/source" --max-size 1M --force &&
        quiet quantize "$dir/f16.gguf" "$dir/q.gguf" Q4_K_M --force &&
        quiet split "$dir/q.gguf" "$dir/quant" --max-size 200K --force &&
        expect_verify 0 "8 tensors" "$dir"/quant-00002-of-*.gguf --from \
            "$dir"/source-00001-of-*.gguf
}
check "shards of both" shards
again() {
    quiet quantize "$dir/q.gguf" "$dir/again.gguf" Q8_0 --allow-requantize &&
        expect_verify 0 "follows" "$dir/again.gguf" --from "$dir/q.gguf"
}
check "what was quantized again" again

# ---- what was changed

quiet quantize "$dir/f16.gguf" "$dir/q.gguf" Q4_K_M --force
name=$("$modelfile" tensors --json "$dir/q.gguf" | tr '{' '\n' | sed -n \
    's/^"name":"\([^"]*\)","type":"q4_k".*/\1/p' | tail -n 1)
start=$(offset "$dir/q.gguf" "$name")
flipped() {
    cp "$dir/q.gguf" "$dir/bad.gguf"
    flip "$dir/bad.gguf" $((start + 144 * 100 + $1))
    where=$(printf '0x%x' $((start + 144 * 100)))
    shift
    expect_verify 1 "tensor '$name' differs: 1 of 512 blocks of q4_k, the first is \
100 at $where" "$dir/bad.gguf" --from "$dir/f16.gguf" "$@"
}
check "one bit of a block is found, and named" flipped 143
check "of its scale, too" flipped 0
check "by any number of threads" flipped 77 --threads 7
check "in little memory" flipped 78 --max-memory 400k
portably() {
    MODELFILE_ISA=portable flipped 79
}
check "and portably" portably
check "with its error" expect_verify 1 "; against the source: max error" \
    "$dir/bad.gguf" --from "$dir/f16.gguf"
check "in JSON" expect_verify 1 "\"block\":100,\"offset\":$((start + 14400))" --json \
    "$dir/bad.gguf" --from "$dir/f16.gguf"
check "which counts it" expect_verify 1 '"verdicts":{"same":7,"differs":1,' --json \
    "$dir/bad.gguf" --from "$dir/f16.gguf"
cp "$dir/f16.gguf" "$dir/other.gguf"
flip "$dir/other.gguf" 200001
check "a source with a bit changed is another one" expect_verify 1 \
    "1 different" "$dir/q.gguf" --from "$dir/other.gguf"

quiet meta set "$dir/bad.gguf" general.name=Other
cp "$dir/q.gguf" "$dir/meta.gguf"
quiet meta set "$dir/meta.gguf" general.name=Other general.file_type=7
check "a key that was added is listed" expect_verify 0 \
    "key 'general.name' was added: string \"Other\"" \
    "$dir/meta.gguf" --from "$dir/f16.gguf"
check "and counts with --strict" expect_verify 1 "1 key changed" --strict \
    "$dir/meta.gguf" --from "$dir/f16.gguf"
check "--strict alone changes nothing" expect_verify 0 "follows" --strict \
    "$dir/q.gguf" --from "$dir/f16.gguf"
check "tensors of another model cannot be derived" expect_verify 1 \
    "cannot be derived: the source has no such tensor" \
    "$dir/q.gguf" --from "$llama/llama-wide.gguf"
check "those that are missing are listed" expect_verify 1 \
    "is missing: only the source has it" \
    "$dir/q.gguf" --from "$llama/llama-wide.gguf"

# ---- refusals

check "--from is required" expect_verify 2 "missing option '--from SOURCE'" \
    "$dir/q.gguf"
check "a source that is not a model" expect_verify 3 "README" "$dir/q.gguf" --from \
    README.md
check "a damaged model" expect_verify 3 "the model has" \
    "$fixtures/bad-overlap.gguf" --from "$dir/f16.gguf"
check "a damaged source" expect_verify 3 "the source has" \
    "$dir/q.gguf" --from "$fixtures/bad-overlap.gguf"
check "too little memory" expect_verify 5 "--max-memory" --max-memory 20k \
    "$dir/q.gguf" --from "$dir/f16.gguf"

# ---- the statement

state() {
    expect_verify "$1" "$2" "$dir/$3" --from "$dir/f16.gguf" --statement \
        "$dir/$4" ${5+"$5"}
}
sum() {
    sha256sum "$1" | cut -d ' ' -f 1
}
has_digests() {
    grep -qF "\"subject\":[{\"name\":\"q.gguf\",\"digest\":{\"sha256\":\"$(sum \
        "$dir/q.gguf")\"}}]" "$dir/st.json" &&
        grep -qF "\"source\":[{\"name\":\"f16.gguf\",\"digest\":{\"sha256\":\"$(
            sum "$dir/f16.gguf")\"}}]" "$dir/st.json" &&
        dd if="$dir/q.gguf" of="$dir/tensor" bs=1 skip="$start" \
            count=$((512 * 144)) 2>/dev/null &&
        grep -qF "{\"name\":\"$name\",\"type\":\"q4_k\",\"digest\":{\"sha256\":\"$(
            sum "$dir/tensor")\"}" "$dir/st.json"
}
if sum README.md >/dev/null 2>&1 && "$modelfile" hash --algo sha256 --quiet \
    "$dir/q.gguf" >/dev/null 2>&1; then
    check "a statement is written" state 0 "follows" q.gguf st.json
    check "with the digests of both files and of a tensor" has_digests
    check "it is not overwritten" state 4 "use --force" q.gguf st.json
    cp "$dir/st.json" "$dir/first.json"
    check "but with --force" state 0 "follows" q.gguf st.json --force
    check "and is the same" cmp "$dir/first.json" "$dir/st.json"
    check "there is none about a model that does not follow" \
        state 1 "does not follow" bad.gguf no.json
    check "not even an empty one" [ ! -e "$dir/no.json" ]
    check "no input is overwritten" state 4 "choose another name" q.gguf \
        f16.gguf --force
    to_stdout() {
        "$modelfile" verify --quiet "$dir/q.gguf" --from "$dir/f16.gguf" \
            --statement - >"$dir/out" && cmp "$dir/out" "$dir/st.json"
    }
    check "it can go to standard output, alone" to_stdout
    check "but not with --json" expect_verify 2 "cannot both write" "$dir/q.gguf" \
        --from "$dir/f16.gguf" --statement - --json
else
    skip "statements" "no libcrypto or no sha256sum"
fi

# As docs/verify.md shows: an envelope of DSSE, signed and checked.
sign() {
    openssl ecparam -name prime256v1 -genkey -noout -out "$dir/key.pem" &&
        openssl ec -in "$dir/key.pem" -pubout -out "$dir/key.pub" &&
        type=application/vnd.in-toto+json &&
        printf 'DSSEv1 %d %s %d ' ${#type} $type \
            "$(wc -c <"$dir/st.json")" | cat - "$dir/st.json" >"$dir/pae" &&
        openssl dgst -sha256 -sign "$dir/key.pem" -out "$dir/sig" "$dir/pae" &&
        openssl dgst -sha256 -verify "$dir/key.pub" -signature "$dir/sig" \
            "$dir/pae"
}
if command -v openssl >/dev/null 2>&1 && [ -e "$dir/st.json" ]; then
    check "openssl can sign it" sign
else
    skip "openssl can sign it" "no openssl"
fi
finish
