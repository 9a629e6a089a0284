#!/bin/sh
# SPDX-License-Identifier: MIT
#
# imatrix.t - importance matrices are added as llama-imatrix does, and covered
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh
cd "$fixtures" || exit 1

# merged SUM OUT ARGUMENT...: the file has that sum.  The sums are of files that
# llama-imatrix v0.5.0 wrote of the same inputs, with --in-file.
merged() {
    sum=$1 out=$dir/$2
    shift 2
    "$modelfile" merge --quiet --force "$@" "$out" >"$dir/said" || return
    echo "$sum  $out" | sha256sum --check --quiet
}
check "an old matrix becomes GGUF" merged \
    339db818d286549d39a150b2fae604b3c369894633bfded991010e4eabfd1cb6 \
    2.gguf good-imatrix.dat
check "an old matrix stays an old one" merged \
    dea57ff03b5f351ee680eb096112dc62bd2d930e1c491ae5258b15feb48ecc91 \
    2.dat good-imatrix.dat
check "a GGUF one stays GGUF" merged \
    c20d3b5394c6d34a51fabe952d341dbd6eaeeafc80289f5ff09b78d92f3513bb \
    1.gguf good-imatrix.gguf
check "a GGUF one becomes an old one" merged \
    85d80c4b8a280eb6f610073c206afd31d1229e9e4388a5e81b19df107745ba52 \
    1.dat good-imatrix.gguf
check "three of both kinds become GGUF" merged \
    caa7250c44e26ded733be8d8c614552d5b9de275a0ab3435b5ea2aecb767db55 \
    3.gguf good-imatrix.dat good-imatrix.gguf good-entries.dat
check "and an old one" merged \
    32b24d2a6e4faa875d580a412f1e2d93fe478f93b0852d1513ee881e80f236cf \
    3.dat good-imatrix.dat good-imatrix.gguf good-entries.dat
"$modelfile" merge -q good-imatrix.dat good-imatrix.gguf "$dir/first.gguf" \
    >/dev/null
check "three in two calls are the same" merged \
    caa7250c44e26ded733be8d8c614552d5b9de275a0ab3435b5ea2aecb767db55 \
    3.gguf "$dir/first.gguf" good-entries.dat
check "--output-format, whatever the suffix" merged \
    32b24d2a6e4faa875d580a412f1e2d93fe478f93b0852d1513ee881e80f236cf \
    3.gguf good-imatrix.dat good-imatrix.gguf good-entries.dat \
    --output-format dat
check "--chunk-size, as -c there" merged \
    caa8b40e417e805723a8cf80d9eea00b7e05d5ff3f5cf40f7403bf5c72ed76b2 \
    4.gguf good-imatrix.dat --chunk-size 256

# said CODE PATTERN ARGUMENT...: ends so, and says that.
said() {
    code=$1 pattern=$2
    shift 2
    "$modelfile" "$@" >"$dir/said" 2>&1
    found=$?
    cat "$dir/said"
    [ "$found" = "$code" ] && grep -q "$pattern" "$dir/said"
}
check "an output that exists is kept" \
    said 4 "exists" merge good-imatrix.dat "$dir/1.gguf"
cp good-imatrix.dat "$dir/in.dat"
check "an input is not replaced" said 4 "is one of the importance matrices" \
    merge --force good-entries.dat "$dir/in.dat" "$dir/in.dat"
check "it is whole" cmp good-imatrix.dat "$dir/in.dat"
"$modelfile" merge -q --force good-shape.dat "$dir/k.gguf" >/dev/null
printf '\001\0\0\0\023\0\0\0blk.0.attn_k.weight\001\0\0\0\001\0\0\0\0\0\200?' \
    >"$dir/one.dat"
check "entries must fit" said 3 "has 1 values, but 4 in a matrix before" \
    merge "$dir/k.gguf" "$dir/one.dat" "$dir/two.gguf"
check "and nothing is written" [ ! -e "$dir/two.gguf" ]
LC_ALL=C tr k '\001' <good-imatrix.gguf | LC_ALL=C sed 's/chun\x01/chunk/g' \
    >"$dir/control.gguf"
check "a name that the old format cannot be read with is refused" \
    said 3 "has a control character" \
    merge "$dir/control.gguf" "$dir/control.dat"
check "and it is not written" [ ! -e "$dir/control.dat" ]
check "GGUF can hold it" said 0 "1 matri" \
    merge "$dir/control.gguf" "$dir/control-2.gguf"
# The first name of the sorted entries begins with "bl ".
LC_ALL=C tr k ' ' <good-imatrix.gguf | LC_ALL=C sed 's/chun /chunk/g' \
    >"$dir/space.gguf"
check "a name with a space can be in both" said 0 "1 matri" \
    merge "$dir/space.gguf" "$dir/space.dat"
check "and the old file is known by it" said 0 "^bl .0" \
    tensors "$dir/space.dat"
check "shards are not matrices" said 2 "is not a shard of the model of" \
    merge good-base.gguf good-llama.gguf good-v2.gguf "$dir/no.gguf"
check "a model is not a matrix" said 3 "not an importance matrix" \
    merge good-imatrix.gguf good-base.gguf "$dir/no.gguf"
check "the file that is wrong is named" grep -q "good-base.gguf: " "$dir/said"
check "options of matrices are not for shards" \
    said 2 "'--to' is for importance" \
    merge --to gguf good-base.gguf "$dir/no.gguf"
check "options of shards are not for matrices" said 2 "is for shards" \
    merge --delete-inputs good-imatrix.dat "$dir/no.gguf"
dry_size() {
    said 0 "\"file_bytes\":$(stat -c %s "$dir/$1")," merge --dry-run --json \
        good-imatrix.dat good-imatrix.gguf good-entries.dat "$dir/dry.${1#*.}"
}
"$modelfile" merge -q --force good-imatrix.dat good-imatrix.gguf \
    good-entries.dat "$dir/3.gguf" >/dev/null
check "--dry-run knows the size" dry_size 3.gguf
check "also in the old format" dry_size 3.dat
check "and writes nothing" [ ! -e "$dir/dry.gguf" ]
piped() {
    "$modelfile" merge --quiet good-imatrix.dat - >"$dir/pipe" &&
        cmp "$dir/2.gguf" "$dir/pipe"
}
check "it can go to standard output" piped

# ---- what is covered

check "a tensor that was used" said 0 \
    "^blk.0.attn_q.weight  *all  *8  *1  *1  1536$" \
    imatrix coverage good-imatrix.gguf good-experts.gguf
check "a tensor that is missing" grep -q "^blk.0.attn_k.weight  *none" \
    "$dir/said"
check "an expert that was never used" grep -q \
    "^blk.0.ffn_down_exps.weight  *part  *8  *2  *1  0 to 1000  without 1$" \
    "$dir/said"
check "all together" grep -q \
    "covered 2 of 3 tensors, 1 without values for some experts" "$dir/said"
check "the same of an old matrix" said 0 "0 to 2  without 1$" \
    imatrix coverage "$dir/1.dat" good-experts.gguf
check "the order does not matter" said 0 "covered 2 of 3 tensors" \
    imatrix coverage good-experts.gguf "$dir/1.dat"
check "--gaps leaves out what is covered" said 0 "^covered 2 of 3" \
    imatrix coverage --gaps good-imatrix.gguf good-experts.gguf
check "of two that is one" [ "$(grep -c "^blk" "$dir/said")" = 2 ]
check "entries of another shape" said 1 "another number of values" \
    imatrix coverage good-shape.dat good-experts.gguf
printf '\001\0\0\0\007\0\0\0other.w\001\0\0\0\001\0\0\0\0\0\200?' \
    >"$dir/other.dat"
check "a matrix of another model" said 1 "covers no tensor of this model" \
    imatrix coverage "$dir/other.dat" good-experts.gguf
check "two matrices" said 2 "both files are importance matrices" \
    imatrix coverage good-imatrix.dat good-imatrix.gguf
check "two models" said 3 "not an importance matrix" \
    imatrix coverage good-base.gguf good-llama.gguf
check "JSON has each expert" said 0 '"cover":"part","columns":8,"experts":2,"used":1,"uses":\[1000,0\]' \
    imatrix coverage --json good-imatrix.gguf good-experts.gguf
check "and the sum" grep -q '"tensor_count":3,"covered":2,"partial":1,"unused":0,"uncovered":1,"mismatched":0,"entries_without_tensor":0,"experts":4,"experts_used":2,"chunk_count":3' "$dir/said"
finish
