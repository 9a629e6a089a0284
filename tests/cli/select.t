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
        grep -q '"skipped":12,"skipped_unread":0,"renamed":9,"written":false' out
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

advice() {
    for command in convert dequantize quantize; do
        [ $command = quantize ] && set -- q8_0
        ends 3 $command --quiet u8.safetensors o.gguf "$@" --force &&
            grep -q "cannot carry tensor 'a'" err || return
        if [ $command = convert ]; then
            grep -q '; --skip PATTERN leaves it out$' err
        else
            grep -q "; 'modelfile convert --skip PATTERN' leaves it out$" err
        fi || return
    done
}
check "and that is the advice" advice

# Two of them.
sed 's/"F32","shape":\[1\]/"U8","shape":[4]/; s/}}$/},"c":{"dtype":"U8","shape":[0],"data_offsets":[6,6]},"d":{"dtype":"F32","shape":[0],"data_offsets":[6,6]}}/' \
    head >head2
{
    # shellcheck disable=SC2059 # an octal number
    printf "\\$(printf %o "$(wc -c <head2)")\0\0\0\0\0\0\0"
    cat head2
    printf 'ab\0\0\0\0'
} >two.safetensors
two_not_carried() {
    ends 3 convert --quiet two.safetensors o.gguf --force --skip a --skip c &&
        grep -q "cannot carry tensor 'b'" err &&
        ends 0 convert --quiet two.safetensors o.gguf --force --skip a \
            --skip '[bc]' && [ "$(names o.gguf)" = d ]
}
check "and so can several" two_not_carried

# What is not read: bad-torch-unread.pt has weight, sparse and quantized,
# bad-object.npz a, b and c, and d, which is of Python objects.

# unread NAMES FILE OUT OPTION...: ends with 0, and OUT has the tensors NAMES.
unread() {
    left=$1 file=$fixtures/$2 out=$3
    shift 3
    ends 0 convert --quiet "$file" "$out" --force "$@" || return
    [ "$(names "$out" | LC_ALL=C sort | tr '\n' ' ')" = "$left " ] || {
        names "$out"
        return 1
    }
    ! grep -q "' is not read" err
}
check "what is not read can be skipped" unread "a b c" bad-object.npz \
    o.safetensors --skip d
check "--only leaves it out, too" unread a bad-object.npz o.gguf --only a
check "in PyTorch" unread weight bad-torch-unread.pt o.safetensors \
    --skip sparse --skip quantized
check "one of it and one that is read" unread "b c" bad-object.npz \
    o.safetensors --skip a --skip d
check "likewise with a shorter name" unread ght bad-torch-unread.pt \
    o.safetensors --skip sparse --only '[wqs]*' --skip 'quant*' \
    --strip-prefix wei
check "what an index lists and no shard has" unread \
    "embed.weight head.weight norm.weight" bad-index-no-tensor o.safetensors \
    --skip bias

skipped() {
    ends 0 convert --quiet "$fixtures/bad-object.npz" o.gguf --force \
        --skip d --skip a && grep -q ', 2 tensors skipped' out &&
        grep -q "'d' is skipped, and could not be read: an array of Python" \
            err &&
        ends 0 convert --quiet --json "$fixtures/bad-object.npz" o.gguf \
            --force --skip d --skip a &&
        grep -q '"missing":\[\]' out &&
        grep -q '"skipped":2,"skipped_unread":1,' out
}
check "it is named and counted among what was skipped" skipped

# still CODE TEXT FILE OPTION...: nothing is written, and TEXT says why.
still() {
    want=$1 what=$2 file=$fixtures/$3
    shift 3
    rm -f o.safetensors
    ends "$want" convert --quiet "$file" o.safetensors "$@" &&
        grep -q "$what" err && [ ! -e o.safetensors ]
}
check "the rest of it is missed" still 3 "'sparse' is not read: " \
    bad-torch-unread.pt --skip quantized
check "what is wanted, too" still 3 "1 tensor or member of the model is not" \
    bad-object.npz --only '[ad]'
check "and where nothing else is" still 3 "is not read; --allow-missing" \
    bad-object.npz --only d
check "a pattern must still match" still 1 "no tensor matches 'e'" \
    bad-object.npz --skip d --skip e
check "with --allow-missing something must be left" still 1 \
    "no tensor is left" bad-object.npz --only d --allow-missing
check "what has no names cannot be skipped" still 3 \
    "it and all that follows it" bad-pickle-size.pt --skip '*'
check "what has one can" still 1 "no tensor is left" bad-pickle-depth.pt \
    --skip '*'
allowed() {
    ends 0 convert --quiet --json "$fixtures/bad-torch-unread.pt" \
        o.safetensors --force --skip quantized --allow-missing &&
        grep -q '"missing":\[{"name":"sparse",[^}]*}\]' out &&
        grep -q '"skipped":1,"skipped_unread":1,' out
}
check "--allow-missing is for the rest" allowed

python=${NUMPY_PYTHON:-${TORCH_PYTHON:-python3}}
if "$python" -c 'import numpy' >out 2>&1; then
    "$python" - <<'END'
import numpy as np
np.savez("real.npz", **{
    "model.w": np.arange(6, dtype="f4").reshape(2, 3), "model.n": np.arange(3),
    "names": np.array(["ab", "c"]), "labels": np.array([{"a": 1}], dtype=object),
    "wave": np.ones(3, "c8"), "table": np.zeros(2, dtype=[("a", "f4"), ("b", "i4")])})
END
    real() {
        ends 0 convert --quiet real.npz o.safetensors --force --skip names \
            --skip labels --skip table --strip-prefix model. &&
            [ "$(names o.safetensors | sort | tr '\n' ' ')" = "n w wave " ] &&
            ends 0 convert --quiet real.npz o.gguf --force --only 'model.*' \
                --strip-prefix model. &&
            [ "$(names o.gguf | sort | tr '\n' ' ')" = "n w " ] &&
            ends 0 convert --quiet real.npz o.gguf --force \
                --skip '[!m]*' && [ "$(names o.gguf | wc -l)" -eq 2 ]
    }
    check "text, objects, complex numbers and records of numpy" real
else
    skip "text, objects, complex numbers and records of numpy" \
        "no numpy (NUMPY_PYTHON)"
fi

python=${TORCH_PYTHON:-python3}
if "$python" -c 'import torch; torch.save' >out 2>&1; then
    "$python" -W ignore - <<'END'
import torch
t = torch.eye(3)
torch.save({"model.w": t, "model.adj": t.to_sparse(), "model.b": torch.ones(2)}, "sparse.pt")
END
    torch() {
        ends 3 convert --quiet sparse.pt o.safetensors --force &&
            ends 0 convert --quiet sparse.pt o.safetensors --force \
                --skip '*.adj' --strip-prefix model. &&
            [ "$(names o.safetensors | sort | tr '\n' ' ')" = "b w " ]
    }
    check "a sparse tensor of torch" torch
else
    skip "a sparse tensor of torch" "no torch (TORCH_PYTHON)"
fi

finish
