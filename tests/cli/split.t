#!/bin/sh
# SPDX-License-Identifier: MIT
#
# split.t - shards as llama-gguf-split writes them, and one file of them again
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

model=$fixtures/llama/llama-small.gguf
more=${CONFORMANCE:-../shared}/golden/e2e/llama-f16.gguf

# shards NAME ARGUMENT...: of the files that come the sums are those on standard
# input, of files by llama-gguf-split v0.5.0.
shards() {
    name=$1
    shift
    mkdir "$dir/$name" && "$modelfile" split --quiet "$@" "$dir/$name/$name" \
        >"$dir/out" 2>"$dir/err" &&
        (cd "$dir/$name" && sha256sum -- *) | diff - "$dir/sums"
}
cat >"$dir/sums" <<'END'
3fefbd38676383c280f2532bef29776c1b2643c8e08ac314421b79a12e33cd43  five-00001-of-00003.gguf
aab6c655c2e0a1eb3690aec0a1d3b43c6ab5735fdc0eb7e3d74a3cb22af09e49  five-00002-of-00003.gguf
2e1156782bbd1be11b6626705d5409af82f7037a38364718fd71e0849f94921b  five-00003-of-00003.gguf
END
check "the tool's bytes: --split-max-tensors 5" \
    shards five --max-tensors 5 "$model"
words() {
    rm -rf "$dir/five"
    shards five --split-max-tensors 5 "$model" &&
        "$modelfile" split -q --dry-run --split-max-size 1M "$model" \
            "$dir/w" >"$dir/a" &&
        "$modelfile" split -q --dry-run --max-size 1M "$model" "$dir/w" |
        cmp - "$dir/a"
}
check "its words for the options" words
all_shards() {
    "$modelfile" merge -q "$dir/five/five-00002-of-00003.gguf" "$dir/one.gguf" &&
        "$modelfile" merge -q "$dir"/five/*.gguf "$dir/all.gguf" \
            >"$dir/out" 2>&1 && cmp "$dir/one.gguf" "$dir/all.gguf"
}
check "a pattern of the shell names all shards" all_shards
cat >"$dir/sums" <<'END'
f1aad2b10c4fedff6257d4ce1db996caf044c043ff025d2d6ad84ce72ad61b7e  none-00001-of-00003.gguf
248de1571c318a2d8d57199d4ec936ce8c419d262bca66c1139c0ae167a7d128  none-00002-of-00003.gguf
a9c0942aace4f4a14639e6d6b336490497c8e5ae79eb2e41cebfa5de9f09fa7d  none-00003-of-00003.gguf
END
check "the same with --no-tensor-first-split" shards none --max-tensors 9 \
    --no-tensor-first-split "$model"
if [ -f "$more" ]; then
    cat >"$dir/sums" <<'END'
45d61102cda249080f5ddc47afa4e46c558a132a80c3794ba2f526583dd2c11b  f16-00001-of-00007.gguf
34c25996aa0317daca51b2afa70c53d3388a3f63bea75b4961055ba2e0938a3e  f16-00002-of-00007.gguf
49fc4abce93aae7939bcb3b67e013e692056660b30321564b94c01f4db437136  f16-00003-of-00007.gguf
4188e6fc8c2802888817b8f723b1afe8f16f433ccdcf1078776e8b88956a5abe  f16-00004-of-00007.gguf
0f0e469ea35b28b185a36676a77405651461a30ff33a779a4a34bea357f922db  f16-00005-of-00007.gguf
46ebd28c13a5f779bb3ec52bcf2972d7bff5ebd42db671e85e765d64fc177990  f16-00006-of-00007.gguf
1ec4ec9c742800e25aa0b41796aef34fcc0bf8d771a5fc35295558fa522d0c0a  f16-00007-of-00007.gguf
END
    check "the same with --split-max-size 1M" shards f16 --max-size 1M "$more"
else
    skip "the same with --split-max-size 1M" "$more is not there"
fi
not_gguf() {
    "$modelfile" split --quiet "$fixtures/good-base.safetensors" "$dir/s" \
        --max-tensors 1 --no-tensor-first-split >"$dir/out" 2>&1
    [ $? = 3 ] && grep -q "without tensors" "$dir/out"
}
check "safetensors has no file without tensors" not_gguf

# ---- what is said of it

listed() {
    printf '%s\n' "$dir/l-00001-of-00003.gguf" "$dir/l-00002-of-00003.gguf" \
        "$dir/l-00003-of-00003.gguf" >"$dir/names"
    "$modelfile" split --dry-run --quiet --max-tensors 5 "$model" "$dir/l" \
        >"$dir/out" && head -n 3 "$dir/out" | cmp - "$dir/names" &&
        "$modelfile" split --json --max-tensors 5 "$model" "$dir/l" \
            >"$dir/out" 2>"$dir/err" &&
        tr '[,]' '\n\n\n' <"$dir/out" | sed -n '/"output_files":/,$ {
            s/^"\([^"]*gguf\)"$/\1/p
        }' | cmp - "$dir/names" && ls "$dir"/l-* | cmp - "$dir/names"
}
check "the files are listed" listed
large() {
    "$modelfile" split --quiet --max-size 2k "$model" "$dir/w" >"$dir/out" \
        2>"$dir/err" &&
        grep -q "warning: tensor 'blk.0.ffn_up.weight' of .* exceeds" "$dir/err"
}
check "a tensor larger than a shard gets a warning" large
small() {
    "$modelfile" split --quiet --max-size 2M "$model" "$dir/v" >"$dir/out" \
        2>"$dir/err" && [ ! -s "$dir/err" ]
}
check "others get none" small

# ---- the inputs are removed

# merged ARGUMENT...: what is left in the folder is one file, the model.
merged() {
    "$modelfile" merge --quiet --delete-inputs "$@" "$dir/in/o.gguf" \
        >"$dir/out" 2>"$dir/err" && [ "$(ls "$dir/in")" = o.gguf ] &&
        "$modelfile" diff --quiet "$model" "$dir/in/o.gguf" >"$dir/out"
}
parts() {
    rm -rf "$dir/in"
    mkdir "$dir/in" && "$modelfile" split --quiet --max-tensors 4 \
        "$model" "$dir/in/$1" >"$dir/out" 2>"$dir/err"
}
parts p
check "merge --delete-inputs leaves the new file alone" \
    merged "$dir/in/p-00001-of-00003.gguf"
parts p
check "also from a later shard" merged "$dir/in/p-00003-of-00003.gguf"
parts s.safetensors
check "with the list of the shards" \
    merged "$dir/in/s.safetensors.index.json"
parts p
mv "$dir/in" "$dir/elsewhere"
elsewhere() {
    "$modelfile" merge --quiet --delete-inputs \
        "$dir/elsewhere/p-00001-of-00003.gguf" "$dir/new.gguf" >"$dir/out" \
        2>"$dir/err" && [ -z "$(ls "$dir/elsewhere")" ]
}
check "from another folder" elsewhere

# kept CODE ARGUMENT...: it ends with that code, and all shards are there.
kept() {
    want=$1 code=0
    shift
    "$modelfile" merge --quiet --delete-inputs "$@" >"$dir/out" 2>&1 || code=$?
    [ "$code" = "$want" ] && [ "$(ls "$dir/in" | grep -c 'p-0000[123]')" = 3 ]
}
parts p
first=$dir/in/p-00001-of-00003.gguf
check "not where OUT exists" kept 4 "$first" "$dir/new.gguf"
check "not where OUT is one of them, --force or not" kept 4 --force "$first" \
    "$dir/in/p-00002-of-00003.gguf"
check "not in a dry run" kept 0 --dry-run "$first" "$dir/in/o.gguf"
check "not where OUT is a device" kept 2 "$first" /dev/null
check "nor standard output" kept 2 "$first" -
cp "$fixtures/good-base.gguf" "$dir/in/p-00003-of-00003.gguf"
check "not where one is of another model" kept 3 "$first" "$dir/in/o.gguf"

# ---- shards that are links

# one_place: neither --force nor a dry run has two of the files share a place,
# and none is written.
one_place() {
    ls -l "$dir/links" >"$dir/before"
    for how in --force --dry-run; do
        "$modelfile" "$@" "$how" >"$dir/out" 2>&1
        [ $? = 4 ] && grep -q "links to the same file" "$dir/out" || return 1
    done
    ls -l "$dir/links" | diff "$dir/before" -
}
mkdir "$dir/links"
ln -s l-00002-of-00003.gguf "$dir/links/l-00001-of-00003.gguf"
echo kept >"$dir/links/l-00002-of-00003.gguf"
check "a link to another shard" one_place split --max-tensors 5 "$model" \
    "$dir/links/l"
rm "$dir"/links/*
ln -s none "$dir/links/l-00001-of-00003.gguf"
ln -s ../links/none "$dir/links/l-00003-of-00003.gguf"
check "two links to one file that is not there" one_place split \
    --max-tensors 5 "$model" "$dir/links/l"
rm "$dir"/links/*
ln -s l.safetensors.index.json "$dir/links/l-00002-of-00003.safetensors"
check "a link to the list of the files" one_place convert --lossy \
    --shard-tensors 5 "$model" "$dir/links/l.safetensors"
rm "$dir"/links/*
ln -s elsewhere.gguf "$dir/links/l-00001-of-00003.gguf"
echo old >"$dir/links/l-00002-of-00003.gguf"
ln "$dir/links/l-00002-of-00003.gguf" "$dir/links/l-00003-of-00003.gguf"
own_places() {
    "$modelfile" split --quiet --force --max-tensors 5 "$model" \
        "$dir/links/l" >"$dir/out" 2>&1 &&
        "$modelfile" validate --quiet "$dir/links/l-00001-of-00003.gguf"
}
check "a link elsewhere and two names of one file are no such" own_places

mkdir "$dir/prefix"
beside() {
    "$modelfile" split --quiet --max-tensors 5 "$model" "$dir/prefix" &&
        "$modelfile" validate --quiet "$dir/prefix-00001-of-00003.gguf"
}
check "a folder that has the name of the prefix" beside

finish
