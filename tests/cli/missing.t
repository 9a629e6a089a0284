#!/bin/sh
# SPDX-License-Identifier: MIT
#
# missing.t - what a file has and the program does not read
#
# Members and tensors that are left out are named by every command, and those
# that answer for all of a model end with 3, unless an option lets them continue.
# NUMPY_PYTHON and TORCH_PYTHON, where they have numpy and torch, write more.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

# quits CODE WORD...: as "ends", without the line about memory.
quits() {
    quits_code=$1
    shift
    ends "$quits_code" "$@" --quiet
}

# names FILE NAME...: the output there says that each is not read.
names() {
    names_in=$1
    shift
    for name in "$@"; do
        grep -Fq "'$name' is not read: " "$names_in" && continue
        echo "'$name' is not named in:"
        cat "$names_in"
        return 1
    done
}

# changed FILE OFFSET COPY: a copy with 'Z' at that offset.
changed() {
    cp "$1" "$3" && printf Z |
        dd of="$3" bs=1 seek="$2" conv=notrunc 2>"$dir/dd"
}

# place FILE TEXT: the offset of a text in it.
place() {
    LC_ALL=C grep -abo "$2" "$1" | head -n 1 | cut -d : -f 1
}

# ---- two files that differ only in what is not read

cp "$fixtures/bad-torch-unread.pt" "$dir/a.pt"
changed "$dir/a.pt" "$(place "$dir/a.pt" abcd)" "$dir/b.pt"
cp "$fixtures/bad-zip-method.npz" "$dir/a.npz"
# the last byte of the second member's data: the third one's header follows
third=$(LC_ALL=C grep -abo 'PK' "$dir/a.npz" | sed -n 3p | cut -d : -f 1)
changed "$dir/a.npz" $((third - 1)) "$dir/b.npz"

# refuses KIND NAME...: every command that answers for all of the two files.
refuses() {
    kind=$1
    shift
    a=$dir/a.$kind
    rm -f "$dir/o."*
    quits 0 hash --allow-missing "$a" && cp "$dir/out" "$dir/manifest" || return
    for command in "diff $a $dir/b.$kind" "hash $a" "hash --algo sha256 $a" \
        "hash --check $dir/manifest $a" "hash --duplicates $a" \
        "hash --duplicates $a $dir/b.$kind" "tensors stats $a" \
        "hash --format llama-gguf-hash $a" \
        "convert $a $dir/o.safetensors" "convert $a $dir/o.gguf" \
        "dequantize $a $dir/o.safetensors" "quantize $a $dir/o.gguf Q8_0" \
        "split $a $dir/o.gguf --max-tensors 1"; do
        # shellcheck disable=SC2086 # words of the command
        quits 3 $command && names "$dir/err" "$@" || return
        grep -q -- '; --allow-missing continues without them' "$dir/err" || {
            echo "$command gives no advice:"
            cat "$dir/err"
            return 1
        }
    done
    ! ls "$dir/o."* 2>"$dir/ls"
}
check "two PyTorch files that differ in unread tensors are not the same" \
    refuses pt sparse quantized
check "nor two archives that differ in an unread member" refuses npz b

goes_on() {
    kind=$1
    shift
    a=$dir/a.$kind
    quits 0 hash --allow-missing "$a" && cp "$dir/out" "$dir/manifest" || return
    for command in "diff $a $dir/b.$kind" "hash $a" \
        "hash --check $dir/manifest $a" "hash --duplicates $a" \
        "tensors stats $a" "convert $a $dir/o.safetensors"; do
        rm -f "$dir/o.safetensors"
        # shellcheck disable=SC2086 # words of the command
        quits 0 $command --allow-missing && names "$dir/err" "$@" || return
    done
    quits 0 tensors "$dir/o.safetensors" && ! grep -q "^$1 " "$dir/out"
}
check "--allow-missing goes on, and names the tensors" \
    goes_on pt sparse quantized
check "likewise in an archive" goes_on npz b

says_so() {
    quits 0 diff --allow-missing "$dir/a.npz" "$dir/b.npz" &&
        grep -q ', 1 not read, 1 not read$' "$dir/out" &&
        quits 0 hash --allow-missing "$dir/a.pt" && cp "$dir/out" "$dir/list" &&
        quits 0 hash --allow-missing --check "$dir/list" "$dir/a.pt" &&
        grep -q 'matches, 2 not read;' "$dir/out"
}
check "a verdict says that it is not about all" says_so

verifies() {
    rm -f "$dir/o.gguf"
    quits 0 convert --allow-missing "$dir/a.pt" "$dir/o.gguf" --names keep &&
        quits 3 verify "$dir/o.gguf" --from "$dir/a.pt" &&
        names "$dir/err" sparse quantized &&
        quits 0 verify --allow-missing "$dir/o.gguf" --from "$dir/a.pt" &&
        names "$dir/err" sparse quantized
}
check "verify refuses a source that is not whole" verifies

# ---- commands that list them

lists() {
    quits 0 info "$dir/a.pt" && grep -q 'not read  *sparse: ' "$dir/out" &&
        grep -q 'not read  *quantized: ' "$dir/out" && [ ! -s "$dir/err" ] &&
        quits 0 tensors info "$dir/a.pt" &&
        grep -q '^not read: sparse: a tensor of a kind that is not read' \
            "$dir/out" && [ ! -s "$dir/err" ] &&
        quits 0 tensors info "$dir/a.pt" --tsv &&
        names "$dir/err" sparse quantized &&
        ! grep -q sparse "$dir/out" &&
        quits 0 tensors stats "$dir/a.pt" weight &&
        names "$dir/err" sparse quantized &&
        quits 3 tensors stats "$dir/a.pt" 's*' &&
        quits 1 validate "$dir/a.pt" && grep -q "'sparse' is a tensor" "$dir/out"
}
check "info and tensors info list them and end with 0" lists

plans() {
    quits 3 plan "$dir/a.pt" --as Q4_K_M && names "$dir/err" sparse &&
        grep -q '; plan other models with their weights and without --as' "$dir/err" &&
        quits 0 plan "$dir/a.pt" && names "$dir/err" sparse quantized
}
check "plan names them, and says what can be planned" plans

json() {
    for command in "info" "tensors info" "hash" "hash --allow-missing" \
        "tensors stats" "validate" \
        "convert --allow-missing --dry-run"; do
        [ "$command" = "convert --allow-missing --dry-run" ] &&
            set -- "$dir/o2.safetensors" || set --
        # shellcheck disable=SC2086 # words of the command
        "$modelfile" $command --json --quiet "$dir/a.pt" "$@" >"$dir/out" \
            2>"$dir/err"
        grep -q '"missing":\[{"name":"sparse","reason":"a tensor of a kind[^"]*"},{"name":"quantized",' \
            "$dir/out" && continue
        echo "$command:"
        cat "$dir/out"
        return 1
    done
    quits 1 diff --json "$fixtures/good-array.npy" "$fixtures/good-torch.pt" &&
        [ "$(grep -o '"missing":\[\]' "$dir/out" | wc -l)" -eq 2 ]
}
check "JSON has them in every command, or an empty list" json

# What is read, and has no numbers to be computed.
numberless() {
    types=$fixtures/good-types.gguf
    quits 3 tensors stats "$types" && names "$dir/err" type.q8_1 type.q8_k &&
        grep -q '2 tensors or members .*; --allow-missing continues' "$dir/err" &&
        quits 0 tensors stats --allow-missing "$types" &&
        names "$dir/err" type.q8_1 type.q8_k &&
        grep -q '^type.f16 ' "$dir/out" && ! grep -q 'q8_[1k]' "$dir/out" &&
        quits 0 tensors stats "$types" 'type.q8_0' &&
        quits 3 tensors stats "$types" 'type.q8_*' &&
        quits 0 tensors stats --allow-missing "$types" 'type.q8_1' &&
        quits 1 tensors stats "$types" 'type.z*' &&
        quits 0 tensors stats --json --allow-missing "$types" &&
        grep -q '"missing":\[{"name":"type.q8_1","reason":"q8_1"},' "$dir/out" &&
        quits 0 hash "$types" && [ ! -s "$dir/err" ]
}
check "tensors stats names each tensor that has no numbers" numberless

# ---- every kind

# misses FILE NAME REASON
misses() {
    quits 0 tensors "$fixtures/$1" && grep -Fq "not read: $2: $3" "$dir/out" ||
        { cat "$dir/out"; return 1; }
    quits 3 hash "$fixtures/$1" && quits 3 tensors stats "$fixtures/$1" &&
        quits 0 hash --allow-missing "$fixtures/$1"
}
check "an array of objects" misses bad-object.npz d "an array of Python objects"
check "alone in its file, too" misses bad-object.npy arr_0 \
    "an array of Python objects"
check "an array with a malformed header" misses bad-header.npz d \
    "the shape is not"
check "a member that is not an array" misses bad-member.npz notes.txt \
    "it is not an array"
check "an encrypted member" misses bad-zip-encrypted.npz b \
    "a member is encrypted"
check "compressed bytes that are damaged" misses bad-zip-deflate.npz b \
    "its compressed bytes are damaged"
check "a member that deflate cannot have made" misses bad-zip-ratio.npz b \
    "a member is said to unpack to more than 1032 times"
check "a member whose header is not there" misses bad-zip-local.npz b \
    "the header of a member"
check "members that overlap" misses bad-zip-overlap.npz b \
    "two members of an archive overlap"
check "a view of negated values" misses bad-tensor-negated.pt weight \
    "a view of negated or conjugated values"
check "a tensor that is given a state" misses bad-tensor-state.pt weight \
    "a "
check "values within each other too deep" misses bad-pickle-depth.pt \
    "value$(printf '.0%.0s' $(seq 63))" "it has more than 64 values within each other"
check "a tensor that an index lists and no shard has" misses \
    bad-index-no-tensor bias "the index lists it"

# ---- what can be read is read

"$build/tests/big_archive" zeros "$dir/ratio.npz"
ratio() {
    [ "$(wc -c <"$dir/ratio.npz")" -lt 14400 ] &&
        quits 0 tensors stats "$dir/ratio.npz" &&
        grep -q '^array0  *f32  *0  *0 .* 3610000  *0  *0$' "$dir/out" &&
        quits 0 validate --strict "$dir/ratio.npz" &&
        quits 0 validate --data "$dir/ratio.npz" &&
        quits 0 hash "$dir/ratio.npz"
}
check "a member that is packed as well as deflate can" ratio
order() {
    quits 0 diff "$fixtures/good-torch-big.pt" \
        "$fixtures/good-torch-big-packed.pt" &&
        quits 0 tensors "$fixtures/good-torch-big-packed.pt" &&
        grep -q '^weight .*big-endian' "$dir/out"
}
check "a byte order that is compressed" order

python=${NUMPY_PYTHON:-${TORCH_PYTHON:-python3}}
if "$python" -c 'import numpy' >"$dir/out" 2>&1; then
    "$python" - "$dir" <<'END'
import sys
import numpy as np
for i, fill in enumerate((np.zeros, np.ones)):
    np.savez_compressed(f"{sys.argv[1]}/z{i}.npz", step=np.arange(3), m=fill(2_000_000, "f4"))
END
    zeros() {
        quits 1 diff "$dir/z0.npz" "$dir/z1.npz" &&
            grep -q "^tensor 'm' differs: data" "$dir/out" &&
            quits 0 hash "$dir/z0.npz" && cp "$dir/out" "$dir/manifest" &&
            quits 1 hash --check "$dir/manifest" "$dir/z1.npz" &&
            quits 0 tensors stats "$dir/z0.npz" && grep -q '^m  *f32  *0 ' "$dir/out"
    }
    check "numpy's zeros are read" zeros
else
    skip "numpy's zeros are read" "no numpy (NUMPY_PYTHON)"
fi

python=${TORCH_PYTHON:-python3}
if "$python" -c 'import torch; torch.save' >"$dir/out" 2>&1; then
    "$python" -W ignore - "$dir" <<'END'
import sys
import torch
for i in (0, 1):
    t = torch.tensor([[0, 1.], [2, 3]])
    for name, value in (("sparse", (t + i).to_sparse()), ("csr", (t + i).to_sparse_csr()),
                        ("quantized", torch.quantize_per_tensor(t + i, 0.5, 0, torch.qint8)),
                        ("meta", torch.empty(3 + i, device="meta")),
                        ("conj", torch.view_as_complex(t + i).conj()),
                        ("neg", torch._neg_view(t + i))):
        torch.save({"weight": t, name: value}, f"{sys.argv[1]}/{name}{i}.pt")
END
    unread() {
        for name in sparse csr quantized meta conj neg; do
            quits 3 diff "$dir/${name}0.pt" "$dir/${name}1.pt" &&
                names "$dir/err" "$name" && quits 3 hash "$dir/${name}0.pt" &&
                quits 0 diff --allow-missing "$dir/${name}0.pt" \
                    "$dir/${name}1.pt" &&
                names "$dir/err" "$name" || return
        done
    }
    check "torch's tensors of other kinds are named" unread
else
    skip "torch's tensors of other kinds are named" "no torch (TORCH_PYTHON)"
fi
finish
