#!/bin/sh
# SPDX-License-Identifier: MIT
#
# metadata.t - the digest of metadata: what it covers, and what others compute
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

model=fixtures/good-template.gguf

# digest FILE [ALGO]: of its metadata.
digest() {
    "$modelfile" hash --quiet --algo "${2:-sha256}" "$1" |
        sed -n 's/^metadata [a-z]* [a-z0-9]*:\([0-9a-f]*\)  .*/\1/p'
}

# ---- what --check says

"$modelfile" hash --quiet "$model" >"$dir/manifest"
check_with() {
    expect "$1" "$2" hash --check "$dir/manifest" "$3"
}
check "a model matches its own manifest" \
    check_with 0 "xxh3 matches; metadata matches" "$model"

# edited KEY=VALUE: an edit of one key is found, and of no tensor.
edited() {
    cp "$model" "$dir/edited.gguf" &&
        "$modelfile" meta set --quiet "$dir/edited.gguf" "$1" >"$dir/out" &&
        check_with 1 "metadata is different: $(
            digest "$dir/edited.gguf" xxh3), the manifest has $(
            digest "$model" xxh3)" "$dir/edited.gguf" &&
        check_with 1 "xxh3 matches; metadata differs" "$dir/edited.gguf"
}
check "another chat template is found" edited "tokenizer.chat_template={{ x }}"
check "another name is" edited "general.name=another"
check "so is a key that is new" edited "general.quantized_by=someone"
check "and one of another context length" \
    edited "llama.context_length=4096:u32"

in_json() {
    expect 1 "\"metadata\":\"$(digest "$dir/edited.gguf" xxh3)\",\
\"metadata_expected\":\"$(digest "$model" xxh3)\",\"model\":" \
        hash --json --check "$dir/manifest" "$dir/edited.gguf" &&
        grep -q '"match":false' "$dir/out" &&
        expect 0 "\"metadata\":\"$(digest "$model" xxh3)\",\"tensors\":" \
            hash --json "$model"
}
check "in JSON, too" in_json

old() {
    "$modelfile" hash --quiet "$model" | grep -v ^metadata >"$dir/old" &&
        expect 0 "xxh3 matches; metadata not covered" \
            hash --check "$dir/old" "$dir/edited.gguf" &&
        expect 0 '"metadata_expected":null,"model":' \
            hash --json --check "$dir/old" "$dir/edited.gguf" &&
        grep -q '"match":true' "$dir/out" &&
        "$modelfile" hash --quiet --format llama-gguf-hash "$model" \
            >"$dir/llama" && expect 0 "xxh64 matches; metadata not covered" \
        hash --check "$dir/llama" "$dir/edited.gguf"
}
check "of an older manifest it says that metadata is not covered" old

# Keys and types of another format are others.
formats() {
    "$modelfile" hash --quiet fixtures/good-base.apr >"$dir/apr" &&
        "$modelfile" convert --quiet fixtures/good-base.apr \
            "$dir/base.safetensors" >"$dir/out" &&
        expect 0 "xxh3 matches; metadata not compared: apr in the manifest" \
            hash --check "$dir/apr" "$dir/base.safetensors"
}
check "of another format it says that metadata is not compared" formats

# malformed LINE TEXT
malformed() {
    { echo "$1" && cat "$dir/manifest"; } >"$dir/wrong"
    expect 3 "$2" hash --check "$dir/wrong" "$model"
}
check "a line without a digest is refused" malformed \
    "metadata gguf" "line 1 of the manifest is not a line of a modelfile"
check "so is one without a format" malformed \
    "metadata  xxh3:0123456789abcdef  x" "line 1 of the manifest"
check "and one with a digest that is too short" malformed \
    "metadata gguf xxh3:0123456789abcde  x" \
    "line 1 of the manifest has a digest of the wrong length"

merged() {
    "$modelfile" merge --quiet fixtures/good-split-00001-of-00003.gguf \
        "$dir/merged.gguf" >"$dir/out" &&
        "$modelfile" hash --quiet fixtures/good-split-00001-of-00003.gguf \
            >"$dir/split" &&
        expect 0 "metadata matches" hash --check "$dir/split" "$dir/merged.gguf"
}
check "a model of several files has the metadata of the merged one" merged

# ---- folders

folder=$dir/folder
cp -r fixtures/hub/options/fp8 "$folder"
"$modelfile" hash --quiet "$folder" >"$dir/folder-manifest"
folder_check() {
    expect "$1" "$2" hash --check "$dir/folder-manifest" "$folder"
}
# file_edited NAME: an edit of that file is found, and undone.
file_edited() {
    [ -e "$folder/$1" ] && cp "$folder/$1" "$dir/kept"
    mkdir -p "$(dirname "$folder/$1")"
    printf ' ' >>"$folder/$1" &&
        folder_check 1 "metadata differs" || return
    rm "$folder/$1"
    [ ! -e "$dir/kept" ] || mv "$dir/kept" "$folder/$1"
    folder_check 0 "metadata matches"
}
check "a folder matches its own manifest" folder_check 0 "metadata matches"
for name in config.json tokenizer_config.json chat_template.jinja \
    generation_config.json additional_chat_templates/tool.jinja; do
    check "in a folder an edit of $name is found" file_edited "$name"
done
card() {
    echo "# Card" >"$folder/README.md" && folder_check 0 "metadata matches"
}
check "one of the card is not" card

# ---- what others compute

if ! command -v python3 >/dev/null 2>&1; then
    skip "Python computes the same digests" "python3 is not installed"
    finish
fi
agrees() {
    for file; do
        [ "$(digest "$file")" = \
            "$(python3 tests/cli/metadata.py digest "$file")" ] && continue
        echo "$file: $(digest "$file")"
        return 1
    done
}
check "Python computes the same of GGUF" agrees fixtures/good-arrays.gguf \
    fixtures/good-scalars.gguf fixtures/good-llama.gguf "$model" \
    fixtures/good-strings.gguf fixtures/good-v2.gguf \
    fixtures/good-big-endian.gguf fixtures/good-tokens-ugm.gguf
check "of APR" agrees fixtures/good-base.apr fixtures/good-metadata.apr \
    fixtures/good-metadata-large.apr fixtures/good-mixtral.apr
check "of safetensors and folders" agrees "$dir/base.safetensors" \
    "$folder/model.safetensors" fixtures/good-base.safetensors

mkdir "$dir/same"
python3 tests/cli/metadata.py make "$dir/same"
same=$(digest "$dir/same/v3.gguf")
# is_same SIGN NAME...
is_same() {
    sign=$1
    shift
    for name; do
        agrees "$dir/same/$name.gguf" &&
            [ "$(digest "$dir/same/$name.gguf")" "$sign" "$same" ] || return
    done
}
check "version, byte order, order of keys, padding and shards do not matter" \
    is_same = v3 v2 big reversed aligned split
check "the type of an empty array does, and a key" is_same != changed renamed
finish
