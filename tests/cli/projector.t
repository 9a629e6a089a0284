#!/bin/sh
# SPDX-License-Identifier: MIT
#
# projector.t - a folder's projector on the command line, and what info says
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

modelfile=${BUILD:-build}/modelfile
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-projector.XXXXXX")
trap 'rm -rf "$work"' EXIT
folder=$work/eyes
out=$work/mmproj.gguf

# A vector of four zeros is all that there is of this encoder.
mkdir "$folder"
header='{"vision_tower.vision_model.post_layernorm.bias":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}     '
{
    printf '\150\0\0\0\0\0\0\0%s' "$header"
    printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
} >"$folder/model.safetensors"
cat >"$folder/config.json" <<'END'
{"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3",
 "text_config": {"hidden_size": 8},
 "vision_config": {"hidden_size": 4, "intermediate_size": 8, "image_size": 56,
 "num_hidden_layers": 1, "num_attention_heads": 2, "patch_size": 14}}
END
pixels='"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.25, 0.5]'
echo "{$pixels}" >"$folder/preprocessor_config.json"

check "--mmproj is enough to make a projector" \
    "$modelfile" convert "$folder" "$out" --mmproj -q
check "it is valid" "$modelfile" validate -q "$out"
check "its only tensor has llama.cpp's name" \
    sh -c "'$modelfile' tensors -q '$out' | grep -q '^v.post_ln.bias *f32'"

has() {
    "$modelfile" info -q "$out" | grep -q "^  $1  *$2\$"
}
check "info: architecture" has architecture clip
check "info: projector" has projector gemma3
check "info: it is for images" has "sees images" true
check "info: sizes" has "image size" 56
check "info: patches" has "patch size" 14
check "info --json has them" sh -c "'$modelfile' info -q --json '$out' |
    grep -q '\"type\":\"gemma3\",.*\"audio_encoder\":null,\"image_size\":56'"

check "names of Hugging Face are refused" \
    sh -c "! '$modelfile' convert '$folder' '$work/x.gguf' --mmproj --names hf"

# The converter takes processor_config.json after the other file.
echo "{\"image_processor\": {$pixels}}" >"$folder/processor_config.json"
echo '{}' >"$folder/preprocessor_config.json"
check "processor_config.json says the same" \
    "$modelfile" convert "$folder" "$work/again.gguf" --mmproj -q
check "the same file is made of it" cmp "$out" "$work/again.gguf"

rm "$folder/processor_config.json"
refused() {
    "$modelfile" convert "$folder" "$out" --mmproj --force 2>"$work/e" && return 1
    grep -qF -e "$1" "$work/e"
}
check "without both the missing key is named" \
    refused "'preprocessor_config.json': missing key 'image_mean'"
echo '[' >"$folder/preprocessor_config.json"
check "a broken file is named" refused "'preprocessor_config.json': "
echo '[1]' >"$folder/preprocessor_config.json"
check "a file that is not an object is refused" refused "must be an object"

finish
