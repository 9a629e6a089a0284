#!/bin/sh
# SPDX-License-Identifier: MIT
#
# endian.t - commands do with a big-endian GGUF file what they do with the same
# model in a little-endian one
#
# test_swap.c knows the bytes of each type.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

modelfile=${BUILD:-build}/modelfile
fixtures=${FIXTURES:-fixtures}
little=$fixtures/good-blocks-little.gguf
big=$fixtures/good-blocks-big.gguf
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-endian.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# code N COMMAND...: the command ends with that exit code.
code() {
    wanted=$1
    shift
    "$@" >"$dir/said" 2>&1
    [ $? -eq "$wanted" ]
}

# turn FROM TO ORDER [OPTION...]
turn() {
    from=$1 to=$2 order=$3
    shift 3
    "$modelfile" convert --quiet "$from" "$to" --endian "$order" --force "$@" \
        >"$dir/said" 2>&1
}

# ---- convert --endian

there() {
    turn "$little" "$dir/b.gguf" big && cmp "$dir/b.gguf" "$big" &&
        turn "$big" "$dir/l.gguf" little && cmp "$dir/l.gguf" "$little"
}
check "every type, in both directions" there

as_it_is() {
    turn "$big" "$dir/b.gguf" big && cmp "$dir/b.gguf" "$big" &&
        turn "$little" "$dir/l.gguf" little && cmp "$dir/l.gguf" "$little"
}
check "in the order that it has, the file is the same" as_it_is

# Whatever plain convert makes of a fixture, that is what comes back.
every_fixture() {
    count=0
    for file in "$fixtures"/good-*.gguf "$fixtures"/llama/*.gguf; do
        case $file in
        # A split model; what no writer makes again: a scalar without a
        # dimension, and bytes after the data.
        *-split-* | *rank-0* | *trailing-zeros*) continue ;;
        esac
        "$modelfile" convert --quiet "$file" "$dir/plain.gguf" --force \
            --endian little --gguf-version 3 >"$dir/said" 2>&1 || continue
        if ! turn "$file" "$dir/b.gguf" big ||
            ! turn "$dir/b.gguf" "$dir/l.gguf" little ||
            ! cmp "$dir/plain.gguf" "$dir/l.gguf"; then
            echo "$file: $(cat "$dir/said")"
            return 1
        fi
        count=$((count + 1))
    done
    [ "$count" -gt 30 ]
}
check "every fixture comes back" every_fixture

json() {
    "$modelfile" convert --json "$little" "$dir/b.gguf" --endian big --force \
        >"$dir/out" && "$modelfile" info --json "$dir/b.gguf" >"$dir/out" &&
        grep -q '"byte_order":"big"' "$dir/out"
}
check "info says the order" json

resumed() {
    turn "$little" "$dir/r.gguf" big --resume && cmp "$dir/r.gguf" "$big"
}
check "with --resume" resumed

piped() {
    "$modelfile" convert --quiet "$little" - --endian big >"$dir/p.gguf" \
        2>"$dir/said" && cmp "$dir/p.gguf" "$big"
}
check "to a pipe" piped

check "another word is refused" code 2 \
    "$modelfile" convert "$little" "$dir/o.gguf" --endian middle
check "so is the converter's own option with it" code 2 \
    "$modelfile" convert "$little" "$dir/o.gguf" --endian big --bigendian
check "and a format without an order" code 3 \
    "$modelfile" convert "$fixtures/good-base.gguf" "$dir/o.apr" --endian big

# gguf-py's script knows some types, and asks before it changes a file.
script() {
    set --
    for type in f32 f16 bf16 q4_0 q8_0 q4_k q6_k mxfp4 nvfp4; do
        set -- "$@" --only "$type"
    done
    "$modelfile" convert --quiet "$little" "$dir/some.gguf" "$@" \
        >"$dir/said" 2>&1 &&
        turn "$dir/some.gguf" "$dir/ours.gguf" big &&
        echo YES | "$READ_PYTHON" -m gguf.scripts.gguf_convert_endian \
            "$dir/some.gguf" big >"$dir/said" 2>&1 &&
        cmp "$dir/some.gguf" "$dir/ours.gguf"
}
if "${READ_PYTHON:-false}" -c 'import gguf.scripts' 2>/dev/null; then
    check "gguf-py's script writes the same bytes" script
else
    skip "gguf-py's script writes the same bytes" \
        "no Python that has it (READ_PYTHON)"
fi

# ---- a folder

# All of it is big-endian, where --bigendian leaves quantized tensors as they
# are, as llama.cpp's converter does.
folder=$fixtures/hub/options/Tiny-Mixtral-2x7B-Instruct-v0.1
of_a_folder() {
    for type in f32 bf16 q8_0; do
        "$modelfile" convert --quiet "$folder" "$dir/h.gguf" --type $type \
            --force >"$dir/said" 2>&1 &&
            turn "$folder" "$dir/hb.gguf" big --type $type &&
            turn "$dir/hb.gguf" "$dir/hl.gguf" little &&
            cmp "$dir/h.gguf" "$dir/hl.gguf" || return 1
    done
}
check "a folder becomes a big-endian file, of any type" of_a_folder

# ---- other commands

model=$fixtures/llama/llama-wide.gguf
turn "$model" "$dir/m.gguf" big

# same OUT-ORDER NAME ARGUMENT...: `modelfile NAME IN OUT ARGUMENT...`
same() {
    order=$1 name=$2
    shift 2
    "$modelfile" "$name" --quiet "$model" "$dir/x.gguf" "$@" --force \
        >"$dir/said" 2>&1 &&
        "$modelfile" "$name" --quiet "$dir/m.gguf" "$dir/y.gguf" "$@" --force \
            >"$dir/said" 2>&1 &&
        "$modelfile" detect "$dir/y.gguf" | grep -q "$order" &&
        turn "$dir/y.gguf" "$dir/z.gguf" little &&
        cmp "$dir/x.gguf" "$dir/z.gguf"
}
check "quantize keeps the order" same big-endian quantize Q4_K_M
check "with an importance matrix" same big-endian quantize IQ2_S --imatrix \
    "$fixtures/llama/llama-wide.imatrix.dat"
check "with --resume" same big-endian quantize Q6_K --resume
# other ARGUMENT...: of the little-endian model, with --endian big.
other() {
    name=$1 in=$2
    shift 2
    "$modelfile" "$name" --quiet "$in" "$dir/x.gguf" "$@" --force \
        >"$dir/said" 2>&1 &&
        "$modelfile" "$name" --quiet "$in" "$dir/y.gguf" "$@" --force \
            --endian big >"$dir/said" 2>&1 &&
        "$modelfile" detect "$dir/y.gguf" | grep -q big-endian &&
        turn "$dir/y.gguf" "$dir/z.gguf" little &&
        cmp "$dir/x.gguf" "$dir/z.gguf"
}
check "quantize --endian" other quantize "$model" Q3_K_M
check "of a folder, too" other quantize "$folder" Q5_1
check "dequantize --endian" other dequantize "$model"
check "dequantize keeps it" same big-endian dequantize --type bf16
check "convert to another type keeps it" same big-endian convert --type f16

said_the_same() {
    "$modelfile" "$@" --quiet "$model" >"$dir/out.l" 2>&1
    "$modelfile" "$@" --quiet "$dir/m.gguf" >"$dir/out.b" 2>&1
    sed "s|$model|$dir/m.gguf|" "$dir/out.l" | cmp - "$dir/out.b"
}
check "tensors stats" said_the_same tensors stats
check "hash" said_the_same hash
check "meta list" said_the_same meta list
check "plan --as" said_the_same plan --as Q4_K_M

alike() {
    "$modelfile" diff --quiet --values "$model" "$dir/m.gguf"
}
check "diff finds no difference" alike

verified() {
    "$modelfile" quantize --quiet "$model" "$dir/q.gguf" Q5_K_M --force \
        >"$dir/said" 2>&1 &&
        "$modelfile" verify --quiet "$dir/q.gguf" --from "$dir/m.gguf" &&
        turn "$dir/q.gguf" "$dir/qb.gguf" big &&
        "$modelfile" verify --quiet "$dir/qb.gguf" --from "$model"
}
check "verify takes either" verified

exported() {
    for tensor in blk.0.attn_q.weight token_embd.weight; do
        for raw in "" --raw; do
            # shellcheck disable=SC2086 # no option is not a word
            "$modelfile" tensors export --quiet "$model" $tensor \
                "$dir/l.npy" --force $raw &&
                "$modelfile" tensors export --quiet "$dir/m.gguf" $tensor \
                    "$dir/b.npy" --force $raw &&
                cmp "$dir/l.npy" "$dir/b.npy" || return 1
        done
    done
}
check "tensors export, as an array and as bytes" exported

edited() {
    cp "$dir/m.gguf" "$dir/e.gguf" && cp "$model" "$dir/f.gguf" &&
        chmod u+w "$dir/e.gguf" "$dir/f.gguf" &&
        for file in e f; do
            "$modelfile" meta set --quiet "$dir/$file.gguf" \
                general.name="a longer name than the one before" \
                general.description=new --reserve 100 >"$dir/said" 2>&1 ||
                return 1
        done
    # Space that is free is not carried.
    "$modelfile" detect "$dir/e.gguf" | grep -q big-endian &&
        turn "$dir/e.gguf" "$dir/el.gguf" little &&
        turn "$dir/el.gguf" "$dir/eb.gguf" big &&
        turn "$dir/f.gguf" "$dir/fb.gguf" big &&
        cmp "$dir/eb.gguf" "$dir/fb.gguf"
}
check "meta set keeps the order" edited

split() {
    "$modelfile" split --quiet "$dir/m.gguf" "$dir/part" --max-tensors 7 \
        >"$dir/said" 2>&1 &&
        "$modelfile" merge --quiet "$dir"/part-00001-of-*.gguf \
            "$dir/merged.gguf" >"$dir/said" 2>&1 &&
        cmp "$dir/merged.gguf" "$dir/m.gguf"
}
check "split and merge keep it" split

whole_folder() {
    for type in f32 bf16; do
        "$modelfile" convert --quiet "$folder" "$dir/h.gguf" --type $type \
            --force >"$dir/said" 2>&1 &&
            turn "$dir/h.gguf" "$dir/hb.gguf" big || return 1
        for order in h hb; do
            "$modelfile" convert --quiet "$dir/$order.gguf" \
                "$dir/$order-$type/" >"$dir/said" 2>&1 || return 1
        done
        diff -r "$dir/h-$type" "$dir/hb-$type" || return 1
    done
}
check "a folder of Hugging Face is made of either" whole_folder

merged_matrix() {
    "$modelfile" merge --quiet "$fixtures/good-imatrix.gguf" "$dir/i.gguf" \
        >"$dir/said" 2>&1 && turn "$dir/i.gguf" "$dir/ib.gguf" big &&
        "$modelfile" merge --quiet "$dir/ib.gguf" "$dir/i2.gguf" \
            >"$dir/said" 2>&1 && cmp "$dir/i.gguf" "$dir/i2.gguf"
}
check "an importance matrix" merged_matrix

finish
