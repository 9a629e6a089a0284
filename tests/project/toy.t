#!/bin/sh
# SPDX-License-Identifier: MIT
#
# toy.t - a format is a folder and a line: the command with tests/toy/ added
#
# modelfile-toy is the command with one more line in formats.def, and one in
# writers.def.  Nothing else was changed for it, so whatever fails here knows its
# formats by name.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

def=$build/toy/lib/model/formats.def
check "the table has one line more" [ "$(diff lib/model/formats.def "$def")" = \
    "$(printf '%sa%s\n> FORMAT(tests/toy, toy)' \
        "$(wc -l <lib/model/formats.def)" "$(wc -l <"$def")")" ]

toy=$build/modelfile-toy
cd "$dir" || exit

run() {
    "$toy" "$@" --quiet >out 2>err || { cat err; return 1; }
}

# refused CODE TEXT ARGUMENT...
refused() {
    code=$1 text=$2
    shift 2
    "$toy" "$@" >out 2>err
    [ $? -eq "$code" ] && grep -q "$text" err || { cat err; return 1; }
}

run dequantize "$fixtures/good-llama.gguf" f.gguf
check "GGUF becomes the new format, by its suffix" run convert f.gguf f.toy
is_toy() {
    "$toy" detect --json f.toy | grep -q '"format":"toy"' &&
        run info --json f.toy && grep -q '"architecture":"llama"' out
}
check "which is detected, and has facts" is_toy
check "it is valid, and so is its data" run validate --data --strict f.toy
same_keys() {
    for file in f.gguf f.toy; do
        "$toy" meta list --full --quiet $file >"$file.keys" || return
    done
    cmp f.gguf.keys f.toy.keys
}
check "metadata has the same values, long ones too" same_keys
same_digests() {
    for file in f.gguf f.toy; do
        "$toy" hash --quiet $file >"$file.all" || return
        # The digest of the metadata is of its types, too.
        sed '/^metadata /d; s/ [^ ]*$//' "$file.all" >"$file.sums"
    done
    cmp f.gguf.sums f.toy.sums
}
check "tensors have the same digests" same_digests

back() {
    run convert f.toy "back.$1" && run convert f.gguf "direct.$1" &&
        cmp "back.$1" "direct.$1"
}
check "it becomes GGUF, byte for byte" back gguf
check "and safetensors" back safetensors
check "and APR" back apr
from_safetensors() {
    run convert direct.safetensors from.toy && run diff direct.safetensors \
        from.toy && run convert from.toy again.safetensors &&
        cmp direct.safetensors again.safetensors
}
check "safetensors becomes it, and comes back" from_safetensors

quantized() {
    run quantize f.toy q.toy Q8_0 && run quantize f.gguf q.gguf Q8_0 &&
        run diff q.toy q.gguf && run validate --data --strict q.toy
}
check "it is quantized like GGUF" quantized
check "to types that it has" refused 3 "q4_0" quantize f.toy o.toy Q4_0
renamed() {
    run convert f.toy hf.toy --names hf &&
        run convert hf.toy renamed.toy --names gguf && run diff f.toy \
        renamed.toy
}
check "its tensors get other names" renamed

edited() {
    cp f.toy e.toy && run meta set e.toy general.name=Toy x.y:i16=-3 &&
        run validate --data --strict e.toy &&
        [ "$("$toy" meta get --quiet e.toy x.y)" = -3 ] &&
        [ "$("$toy" meta get --quiet e.toy general.name)" = Toy ]
}
check "its metadata is edited" edited
roomy() {
    run convert --reserve 1k f.toy roomy.toy && before=$(stat -c %i roomy.toy) &&
        run meta set roomy.toy x.text=some &&
        [ "$before" = "$(stat -c %i roomy.toy)" ] &&
        run validate --data --strict roomy.toy
}
check "in place, where the header has room" roomy

sharded() {
    run split f.toy part --max-tensors 8 &&
        [ "$(echo part-*)" = "part-00001-of-00003.toy part-00002-of-00003.toy \
part-00003-of-00003.toy" ] && run validate --data --strict \
        part-00002-of-00003.toy && run merge part-00003-of-00003.toy m.toy &&
        cmp m.toy f.toy
}
check "it is split, read from any shard, and merged" sharded
first_empty() {
    run split f.toy none --max-tensors 20 --no-tensor-first-split &&
        run merge none-00001-of-00003.toy n.toy && cmp n.toy f.toy
}
check "with metadata alone in the first shard" first_empty
lacking() {
    rm part-00002-of-00003.toy
    refused 3 "part-00002-of-00003.toy" info part-00001-of-00003.toy
}
check "a shard that is missing is named" lacking
misplaced() {
    cp none-00002-of-00003.toy none-00003-of-00003.toy
    refused 3 "shard" info none-00001-of-00003.toy
}
check "a shard in the place of another is refused" misplaced

# ---- what the file cannot be

truncated() {
    size=$(stat -c %s q.toy) at=0
    while [ $at -lt "$size" ]; do
        head -c $at q.toy >cut.toy
        "$toy" validate --quiet --data cut.toy >out 2>err
        code=$?
        [ $code -eq 1 ] || [ $code -eq 3 ] ||
            { echo "$code at $at of $size"; return 1; }
        at=$((at + 487))
    done
}
check "a truncated file is found to be one, wherever it ends" truncated
newer() {
    { printf 'TOY!\002'; tail -c +6 f.toy; } >newer.toy
    refused 3 "only version 1" info newer.toy
}
check "a newer version is refused" newer

# ---- lists of formats

chosen() {
    run convert f.gguf named --to toy && cmp named f.toy &&
        "$toy" help convert | grep -q -e "--to .*|toy" &&
        "$toy" help quantize | grep -q -e "--to .*|toy"
}
check "--to takes its name, and help lists it" chosen
listed() {
    "$toy" version --json | grep -q '"name":"toy","suffix":".toy"' &&
        "$toy" version --json | grep -q '"name":"q8_0"[^}]*"toy":true' &&
        "$toy" version --json | grep -q '"name":"q4_0"[^}]*"toy":false'
}
check "version --json lists it, with its types" listed
in_folder() {
    mkdir -p folder && cp f.toy folder && run info --json folder &&
        grep -q '"format":"toy"' out
}
check "a folder with one such file is a model" in_folder
none_in_folder() {
    mkdir -p nothing && refused 3 "\.safetensors or \.toy file" info nothing
}
check "an error lists its suffix" none_in_folder
finish
