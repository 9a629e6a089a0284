#!/bin/sh
# SPDX-License-Identifier: MIT
#
# nonfinite.t - NaN and infinite values: refused, and written on request
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

nan=$fixtures/bad-data-nan.gguf
scale=$fixtures/bad-data-scale.gguf

# refused TEXT ARGUMENT...: exit code 3, that text, and no file.
refused() {
    text=$1 code=0
    shift
    rm -f "$dir"/out*
    "$modelfile" "$@" >"$dir/said" 2>&1 || code=$?
    [ "$code" = 3 ] && [ ! -e "$dir/out.gguf" ] && grep -qF -e "$text" \
        "$dir/said" && return
    echo "exit code $code:"
    cat "$dir/said"
    return 1
}
element="tensor 'c.weight' as f32: element 3 is infinite or NaN"
block="tensor 'c.weight' as q8_0: a scale of block 1 is infinite or NaN"
check "convert to another type" refused "$element" \
    convert "$nan" "$dir/out.gguf" --type f16
check "a plain copy, too" refused "$element" convert "$nan" "$dir/out.gguf"
check "with a new header" refused "$element" \
    convert "$nan" "$dir/out.gguf" --reserve 100
check "dequantize" refused "$block" dequantize "$scale" "$dir/out.gguf"
check "the option is named" refused "--allow-nonfinite writes such values" \
    dequantize "$scale" "$dir/out.gguf"
check "in JSON, too" refused '"message":"tensor '"'c.weight'" \
    convert --json "$nan" "$dir/out.gguf"
nothing_sent() {
    "$modelfile" convert "$nan" - --reserve 100 >"$dir/sent" 2>"$dir/said"
    [ $? = 3 ]
}
check "to standard output" nothing_sent

allowed() {
    rm -f "$dir"/out*
    "$modelfile" "$@" --allow-nonfinite --quiet >"$dir/said" 2>&1 &&
        "$modelfile" validate --data --quiet "$dir/out.gguf" >"$dir/said"
    [ $? = 1 ] && grep -q 'error DATA-NOT-FINITE' "$dir/said"
}
check "--allow-nonfinite: convert" allowed convert "$nan" "$dir/out.gguf" \
    --type f32
check "dequantize" allowed dequantize "$scale" "$dir/out.gguf" --type bf16
check "and a copy is the same byte for byte" "$modelfile" convert --quiet \
    --allow-nonfinite "$nan" "$dir/copy.gguf"
check "namely this" cmp "$nan" "$dir/copy.gguf"

# What moves bytes does not judge them.
moved() {
    "$modelfile" split --quiet "$nan" "$dir/part" --max-tensors 2 \
        >"$dir/said" &&
        "$modelfile" merge --quiet "$dir"/part-00001-of-*.gguf \
            "$dir/whole.gguf" >"$dir/said" &&
        "$modelfile" diff --quiet "$nan" "$dir/whole.gguf" >"$dir/said"
}
check "split and merge pass them on" moved
edited() {
    cp "$nan" "$dir/edit.gguf" && "$modelfile" meta set --quiet \
        "$dir/edit.gguf" --reserve 4096 general.name=x >"$dir/said"
}
check "and so does meta set, also where it writes the file again" edited

finish
