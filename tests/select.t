#!/bin/sh
# SPDX-License-Identifier: MIT
#
# select.t - convert --only, --skip and --strip-prefix: some of the tensors
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

"$modelfile" dequantize --quiet "$fixtures/good-llama.gguf" "$dir/in.gguf" \
    >/dev/null
cd "$dir" || exit 1

# ends CODE ARGUMENT...
ends() {
    want=$1 code=0
    shift
    "$modelfile" "$@" >out 2>err </dev/null || code=$?
    [ "$code" = "$want" ] && return
    echo "exit code $code of: modelfile $*"
    cat out err
    return 1
}

# names FILE: what "tensors" lists.
names() {
    "$modelfile" tensors --quiet --tsv "$1" | sed 1d | cut -f1
}

# The data of the tensors that are left is what it was.
kept() {
    out=o.$1
    shift
    rm -f "$out"
    ends 0 convert --quiet --names keep in.gguf "$out" "$@" || return
    names "$out" | sort >found
    sort expected | diff - found || return
    "$modelfile" hash --quiet in.gguf | grep '^xxh3:' | cut -d' ' -f1 |
        sort -u >all
    "$modelfile" hash --quiet "$out" | grep '^xxh3:' | cut -d' ' -f1 |
        sort -u | comm -13 all - >new
    [ ! -s new ]
}

names in.gguf | grep '^blk\.1\.' >expected
for each in gguf safetensors; do
    check "--only, to $each" kept "$each" --only 'blk.1.*'
done
names in.gguf | grep -v '^blk\.' >expected
check "--skip" kept gguf --skip 'blk.*'
names in.gguf | grep -E '^(blk\.0\.attn_[qk]|output)\.weight' >expected
check "several of each" kept safetensors --only 'blk.*' --only output.weight \
    --skip '*ffn*' --skip '*norm*' --skip 'blk.1.*' --skip '*attn_[vo]*'
names in.gguf | grep '^blk\.1\.' | sed 's/^blk\.1\.//' >expected
check "--strip-prefix" kept gguf --only 'blk.1.*' --strip-prefix blk.1.
refused() {
    want=$1 what=$2
    shift 2
    rm -f o.gguf
    ends "$want" convert --quiet in.gguf o.gguf "$@" &&
        grep -q "$what" err && [ ! -e o.gguf ]
}
check "a pattern that matches nothing" refused 1 "no tensor matches 'no.\*'" \
    --only 'no.*'
check "one of several" refused 1 "no tensor matches 'no.\*'" --only 'blk.*' \
    --skip 'no.*'
check "a prefix that no name has" refused 1 "no tensor's name begins with 'x.'" \
    --strip-prefix x.
check "nothing is left" refused 1 "no tensor is left" --skip '*'
check "two of one name" refused 3 \
    "tensors 'blk.0.attn_norm.weight' and 'blk.1.attn_norm.weight' would have the same name, 'attn_norm.weight'" \
    --strip-prefix blk.0. --strip-prefix blk.1.
check "no name is left" refused 3 "nothing would be left" \
    --strip-prefix output.weight

dry() {
    ends 0 convert --quiet --dry-run --json in.gguf o.gguf --only 'blk.1.*' \
        --strip-prefix blk.1. && [ ! -e o.gguf ] &&
        grep -q '"skipped":12,"renamed":9,"written":false' out
}
check "--dry-run and --json say how many" dry

# A type that the target cannot carry; GGUF has i64, and no u8.
printf '%s' '{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}' >head
{
    # shellcheck disable=SC2059 # an octal number
    printf "\\$(printf %o "$(wc -c <head)")\0\0\0\0\0\0\0"
    cat head
    printf 'ab\0\0\0\0'
} >u8.safetensors
not_carried() {
    ends 3 convert --quiet u8.safetensors o.gguf --force &&
        grep -q "cannot carry tensor 'a'" err &&
        ends 0 convert --quiet u8.safetensors o.gguf --force --skip a &&
        [ "$(names o.gguf)" = b ]
}
check "what the target cannot carry can be skipped" not_carried

finish
