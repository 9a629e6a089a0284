#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tsv.t - what scripts read: tensors --tsv, and shapes of one word
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

tab=$(printf '\t')

# safetensors FILE HEADER BYTES: a file with that header, and zeros.
safetensors() {
    size=$(printf %s "$2" | wc -c)
    printf "\\$(printf %03o $((size % 256)))\\$(printf %03o $((size / 256)))\0\0\0\0\0\0%s" \
        "$2" >"$1"
    head -c "$3" /dev/zero >>"$1"
}
entry() { # NAME SHAPE BEGIN END
    printf '"%s":{"dtype":"F32","shape":[%s],"data_offsets":[%s,%s]}' "$@"
}
long=$(printf 'a.long.name.%.0s' $(seq 40))
ranks=$(printf '1,%.0s' $(seq 63))2
safetensors "$dir/odd.safetensors" \
    "{$(entry "$long" "2,3" 0 24),$(entry 'a\tb\nc\\d e' "" 24 28),$(entry z "$ranks" 28 36)}" 36

# ---- one line a tensor

lines() {
    "$modelfile" tensors info --tsv "$dir/odd.safetensors" >"$dir/out" 2>"$dir/err" &&
        [ "$(wc -l <"$dir/out")" = 4 ] &&
        [ "$(head -n 1 "$dir/out")" = "$(printf 'name\ttype\tshape\toffset\tbytes\tparameters\tshard\tnotes')" ] &&
        awk -F'\t' 'NF != 8 { exit 1 }' "$dir/out" && grep -q '^peak heap' "$dir/err"
}
check "a heading and a line for each tensor, no sums" lines
check "a long name is whole" grep -q "^$long${tab}f32${tab}2x3${tab}" "$dir/out"
check "in the table, too, where it is not a terminal" sh -c \
    "'$modelfile' tensors info -q '$dir/odd.safetensors' | grep -q '^$long '"
check "a name cannot make a column or a line, and can be recognized" \
    grep -qF "a\\tb\\nc\\\\d e${tab}f32${tab}scalar${tab}" "$dir/out"
check "a shape of 64 numbers is whole" \
    grep -q "^z${tab}f32${tab}$(printf '1x%.0s' $(seq 63))2${tab}" "$dir/out"
check "a pattern and an order, as without it" [ "$("$modelfile" tensors -q --tsv \
    --top 2 "$fixtures/good-llama.gguf" 'blk.*' | cut -f1 | tr '\n' ' ')" = \
    "name blk.0.ffn_gate.weight blk.0.ffn_up.weight " ]
refused() {
    code=0
    "$modelfile" "$@" "$fixtures/good-base.gguf" >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" = 2 ] && grep -q "cannot both be given" "$dir/err"
}
check "not with --json" refused tensors info --tsv --json
check "nor with --totals, which it leaves out" refused tensors info --tsv --totals
check "nor stats with --json" refused tensors stats --tsv --json

# ---- the same as JSON says

as_json() {
    for file in "$fixtures"/good-*.gguf "$fixtures"/good-*.safetensors \
        "$fixtures"/good-*.pt "$fixtures"/good-*.npz "$fixtures"/bad-overlap.gguf \
        "$fixtures"/good-split-00001-of-00003.gguf "$dir/odd.safetensors"; do
        case $file in *good-many*) continue ;; esac
        for command in info stats; do
            "$modelfile" tensors $command -q --json "$file" >"$dir/json" 2>/dev/null ||
                continue
            "$modelfile" tensors $command -q --tsv "$file" >"$dir/tsv" || return 1
            node -e '
                const fs = require("fs");
                const [json, tsv] = process.argv.slice(1).map(
                    (path) => fs.readFileSync(path, "utf8"));
                const { tensors } = JSON.parse(json.replace(
                    /([[:,])(-?\d{16,})(?=[,\]}])/g, "$1\"$2\"")).files[0];
                const [head, ...lines] = tsv.replace(/\n$/, "").split("\n").map(
                    (line) => line.split("\t"));
                const text = (name) => name.replace(/\\(t|n|\\)/g,
                    (_, what) => ({ t: "\t", n: "\n", "\\": "\\" })[what]);
                const want = (tensor, key) =>
                    key === "shape" ? tensor.shape.join("x") || "scalar" :
                    key === "notes" ? ["damaged", "size_inferred", "packed",
                        "strides", "big_endian"].filter((note) => tensor[note])
                        .map((note) => note === "strides" ? "strided" : note).join() :
                    String(tensor[key]).replace(/^nan$/, "NaN");
                if (lines.length !== tensors.length) throw new Error("lines");
                tensors.forEach((tensor, i) => head.forEach((key, k) => {
                    const got = k ? lines[i][k] : text(lines[i][k]);
                    if (got !== want(tensor, key) && Number(got) !== tensor[key])
                        throw new Error(`${key}: ${got}, not ${want(tensor, key)}`);
                }));' "$dir/json" "$dir/tsv" || {
                echo "$command $file"
                return 1
            }
        done
    done
}
if command -v node >/dev/null 2>&1; then
    check "info and stats say what JSON says" as_json
else
    skip "info and stats say what JSON says" "node is not installed"
fi
check "of a table, its chunks" [ "$("$modelfile" tensors -q --tsv \
    "$fixtures/good-table.parquet" 'b*' | cut -f1,3,6,9)" = \
    "column${tab}logical${tab}encodings${tab}offset
b.c${tab}STRING${tab}PLAIN,RLE${tab}28
b.c${tab}STRING${tab}PLAIN,RLE${tab}76" ]

# ---- shapes elsewhere

one_word() {
    "$modelfile" tensors info -q "$fixtures/good-base.gguf" | grep -q ' 4x2 ' &&
        "$modelfile" diff -q --no-data "$fixtures/good-base.gguf" \
            "$dir/odd.safetensors" | grep -q ': f32, 4x2$' &&
        "$modelfile" quantize -q --dry-run "$fixtures/good-base.gguf" "$dir/o.gguf" \
            f16 | grep -q ' 4x2 '
}
check "a shape is one word in every table" one_word

finish
