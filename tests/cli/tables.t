#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tables.t - files that are tables: what is shown of them, and what is refused
#
# parquet.t compares footers with other readers; this one needs none.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

table=$fixtures/good-table.parquet

# shows TEXT COMMAND...: the output has that line.
shows() {
    text=$1
    shift
    "$modelfile" "$@" --quiet >"$dir/out" 2>&1
    cat "$dir/out"
    # What a run has cost is another number each time.
    sed 's/,"run":{.*}}$/}/' "$dir/out" | grep -qxF -- "$text"
}
check "info shows the version" shows "  format            parquet, version 2" info "$table"
check "info shows rows" shows "  rows              4" info "$table"
check "groups of them" shows "  row groups        2" info "$table"
check "what the chunks have" \
    shows "  chunk bytes       96 (96 without compression)" info "$table"
check "tensors lists chunks" \
    shows "b.c         0  BYTE_ARRAY  STRING   UNCOMPRESSED       2      0    0x1c     24  PLAIN,RLE" \
    tensors info "$table"
check "of the columns that are wanted" \
    shows "2 chunks of 1 column: 48 bytes, 48 without compression" tensors info "$table" 'b*'
check "their sums" \
    shows "4 chunks of 2 columns: 96 bytes, 96 without compression" tensors info --totals "$table"
check "columns where there are no chunks" \
    shows "b.c  BYTE_ARRAY  STRING" tensors info "$fixtures/good-no-groups.parquet"
check "JSON has both" \
    shows '{"schema":2,"files":[{"file":"'"$table"'","missing":[],"format":"parquet","columns":[{"column":"a","type":"INT32","logical":null,"optional":false,"repeated":false}],"chunks":[{"column":"a","type":"INT32","logical":null,"group":0,"codec":"UNCOMPRESSED","encodings":["PLAIN","RLE"],"values":2,"nulls":0,"offset":4,"bytes":24,"unpacked_bytes":24}],"totals":{"chunks":1,"columns":1,"bytes":24,"unpacked_bytes":24}}]}' \
    tensors info --json --top 1 "$table" a

# sorted HOW WANTED: the offsets in that order.
sorted() {
    "$modelfile" tensors info --quiet --sort "$1" "$fixtures/good-table.parquet" |
        sed -n 's/.* 0x\([0-9a-f]*\) .*/\1/p' | tr '\n' ' ' >"$dir/out"
    cat "$dir/out"
    [ "$(cat "$dir/out")" = "$2 " ]
}
check "by name" sorted name "4 34 1c 4c"
check "by place" sorted offset "4 1c 34 4c"

no_column() {
    code=0
    "$modelfile" tensors info "$table" 'x*' >"$dir/out" 2>&1 || code=$?
    [ "$code" = 1 ] && grep -q "no column matches 'x\*'" "$dir/out"
}
check "a pattern that matches nothing is exit code 1" no_column

# What needs tensors says why it cannot work, and writes nothing.
refused() {
    code=0
    rm -f "$dir/o.gguf"
    "$modelfile" "$@" >"$dir/out" 2>&1 || code=$?
    cat "$dir/out"
    [ "$code" = 3 ] && grep -q 'is a table: it has no tensors' "$dir/out" && [ ! -e "$dir/o.gguf" ]
}
check "hash refuses it" refused hash "$table"
check "hash --duplicates too" refused hash --duplicates "$fixtures/good-base.gguf" "$table"
check "tensors stats" refused tensors stats "$table"
check "plan" refused plan "$table"
check "diff" refused diff "$fixtures/good-base.gguf" "$table"
check "verify" refused verify "$table" --from "$fixtures/good-base.gguf"
check "convert" refused convert "$table" "$dir/o.gguf"
check "dequantize" refused dequantize "$table" "$dir/o.gguf"
check "quantize" refused quantize "$table" "$dir/o.gguf" Q4_0
check "imatrix coverage" refused imatrix coverage "$fixtures/good-imatrix.gguf" "$table"
check "merge" refused merge "$table" "$dir/o.gguf"
finish
