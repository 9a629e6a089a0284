#!/bin/sh
# SPDX-License-Identifier: MIT
#
# huggingface.t - folders of Hugging Face as GGUF: the bytes of llama.cpp's converter
#
# CONFORMANCE (../shared) has golden/hf: digests of what convert_hf_to_gguf.py
# v0.5.0 wrote.  tools/hf_models.py makes the folders.  Most need tokenizers that
# cannot be kept here; HF_TOKENIZERS is a folder with them (tools/README_HF.md).
# With QUICK=1, only --type auto.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

shared=$(realpath -m "${CONFORMANCE:-../shared}")
listed=$shared/golden/hf/files.tsv
tokenizers=${HF_TOKENIZERS:-/nowhere}
alone="llama-f32 llama-spm llama-bytefallback Tiny-Llama-3.1-8B-Instruct-v0.2
    mistral-spm mixtral gemma gemma2 gemma3 phi3"

if [ ! -f "$listed" ]; then
    skip "folders of Hugging Face" "no conformance data"
    finish
fi
if ! command -v python3 >"$dir/out"; then
    skip "folders of Hugging Face" "no python3 to make the folders"
    finish
fi
if [ -d "$tokenizers" ]; then
    python3 "$shared/tools/hf_models.py" "$dir/folders" "$tokenizers"
else
    # shellcheck disable=SC2086 # names are words
    python3 "$shared/tools/hf_models.py" "$dir/folders" "$tokenizers" $alone
fi

known() { # FOLDER FILE SHA256
    [ "$(sha256sum <"$dir/folders/$1/$2" | cut -d' ' -f1)" = "$3" ]
}
{
    read -r _
    while IFS='	' read -r folder file _ sum; do
        [ ! -d "$dir/folders/$folder" ] ||
            check "$folder/$file matches the list" known "$folder" "$file" "$sum"
    done
} <"$shared/golden/hf/sources.tsv"

same() { # FOLDER TYPE SHA256
    rm -f "$dir/o.gguf"
    "$modelfile" convert --quiet --names gguf --type "$2" \
        "$dir/folders/$1" "$dir/o.gguf" >"$dir/out" 2>&1 || {
        cat "$dir/out"
        return 1
    }
    [ "$(sha256sum <"$dir/o.gguf" | cut -d' ' -f1)" = "$3" ]
}
{
    read -r _
    while IFS='	' read -r folder type _ _ _ sum _; do
        [ "$type" = auto ] || [ -z "${QUICK:-}" ] || continue
        if [ -d "$dir/folders/$folder" ]; then
            check "$folder as $type" same "$folder" "$type" "$sum"
        else
            skip "$folder as $type" "no tokenizers (HF_TOKENIZERS)"
        fi
    done
} <"$listed"

# validate knows each of them, whether or not it knows their tensors.
known_type() { # FOLDER
    "$modelfile" validate --json --require-known "$dir/folders/$1" >"$dir/out"
    ! grep -q '"id":"MODEL-UNKNOWN"' "$dir/out"
}
for folder in "$dir/folders"/*/; do
    folder=$(basename "$folder")
    check "validate knows $folder" known_type "$folder"
done

finish
