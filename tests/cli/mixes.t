#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mixes.t - models of several architectures in all mixes: llama-quantize's bytes
#
# CONFORMANCE (../shared) has golden/mixes: digests of what llama-quantize v0.5.0
# wrote, and which jobs it refused.  Its models are made by tools/arch_models.py.
# With QUICK=1, every sixth row.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

shared=$(realpath -m "${CONFORMANCE:-../shared}")
listed=$shared/golden/mixes/files.tsv

if [ ! -f "$listed" ]; then
    skip "mixes of several architectures" "no conformance data"
    finish
fi
if ! command -v python3 >"$dir/out"; then
    skip "mixes of several architectures" "no python3 to make the models"
    finish
fi
python3 "$shared/tools/arch_models.py" "$dir/models" --imatrix

known() {
    sha256sum "$dir/models/$1.gguf" "$dir/models/$1.imatrix.dat" |
        cut -d' ' -f1 | paste -s >"$dir/sums" &&
        printf '%s\t%s\n' "$2" "$3" | cmp - "$dir/sums"
}
{
    read -r _
    while IFS='	' read -r model _ sum matrix_sum; do
        check "$model is the model of the list" known "$model" "$sum" "$matrix_sum"
    done
} <"$shared/golden/mixes/sources.tsv"

# The file contains the path of the matrix as it was given.
quantize() {
    rm -f "$dir/o.gguf"
    # shellcheck disable=SC2086 # options are words
    (cd "$dir/models" && "$modelfile" quantize --quiet $options "$model.gguf" \
        "$dir/o.gguf" "$mix") >"$dir/out" 2>"$dir/err"
}
same() {
    quantize || {
        cat "$dir/err"
        return 1
    }
    [ "$(sha256sum <"$dir/o.gguf" | cut -d' ' -f1)" = "$sum" ]
}
# For want of a matrix it is by choice.
refused() {
    code=0 expected=3
    quantize || code=$?
    ! grep -q 'importance matrix' "$dir/err" || expected=2
    [ "$code" = "$expected" ] && [ ! -e "$dir/o.gguf" ]
}

every=1
[ -z "${QUICK:-}" ] || every=6
awk -v every="$every" 'NR > 1 && NR % every == 0' "$listed" >"$dir/rows"
set -f # patterns are not for files
while IFS='	' read -r model mix options status _ sum _; do
    [ "$options" != - ] || options=
    case $status in
    OK) check "$model $mix $options" same ;;
    *) check "$model $mix $options is refused" refused ;;
    esac
done <"$dir/rows"

finish
