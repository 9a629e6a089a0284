#!/bin/sh
# SPDX-License-Identifier: MIT
#
# convert_options.t - a folder with the options of llama.cpp's converter
#
# fixtures/hub/options has two small folders, and in expected.tsv what the
# converter wrote with each set of options: names and bytes.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

modelfile=$(realpath "${BUILD:-build}/modelfile")
folders=$(realpath fixtures/hub/options)
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-options.XXXXXX")
trap 'rm -rf "$work"' EXIT

mixtral=Tiny-Mixtral-2x7B-Instruct-v0.1
tab='	'

# expected FOLDER OPTIONS: the lines "FILE SHA256".
expected() {
    awk -F "$tab" -v folder="$1" -v options="$2" \
        '$1 == folder && $2 == options { print $3 " " $4 }' \
        "$folders/expected.tsv"
}

written() {
    for file in "$work/out"/*; do
        [ -f "$file" ] &&
            echo "${file##*/} $(sha256sum <"$file" | cut -d' ' -f1)"
    done
    true
}

# same FOLDER OPTIONS [IN]: the files of the converter, or no file.
same() {
    rm -rf "$work/out"
    mkdir "$work/out"
    (cd "$work/out" && eval "\"\$modelfile\" convert --quiet '${3:-$folders/$1}' $2") \
        >"$work/o" 2>&1
    code=$?
    expected "$1" "$2" >"$work/expected"
    if [ "$(cat "$work/expected")" = "- -" ]; then
        [ $code -ne 0 ] && [ -z "$(ls "$work/out")" ] && return
    else
        written >"$work/written"
        [ $code -eq 0 ] && cmp -s "$work/expected" "$work/written" && return
    fi
    cat "$work/o"
    diff "$work/expected" "$work/written"
    return 1
}

grep -v '^#' "$folders/expected.tsv" | cut -f1,2 | uniq >"$work/rows"
while IFS=$tab read -r folder options; do
    check "$folder $options" same "$folder" "$options"
done <"$work/rows"

# Without OUT and --outfile the file goes into the folder, by the same name.
cp -r "$folders/$mixtral" "$work/"
beside() { # OPTIONS of "--outfile ." [OPERAND]
    (cd "$work" && "$modelfile" convert --quiet "${2:-$mixtral}" $1) >"$work/o" 2>&1 || {
        cat "$work/o"
        return 1
    }
    expected "$mixtral" "--outfile .${1:+ $1}" | while read -r file sum; do
        [ "$(sha256sum <"$work/$mixtral/$file" | cut -d' ' -f1)" = "$sum" ] || return 1
    done
}
check "a folder without OUT names itself" beside ""
check "with a type in the name" beside "--outtype f16"
check "a vocabulary, of a file in the folder" \
    beside "--vocab-only" "$mixtral/model.safetensors"
rm -f "$work/$mixtral"/*.gguf

# Names from a model card are not paths.
printf -- '---\nmodel_name: x\nfinetune: ../../y\n---\n' >"$work/$mixtral/README.md"
hostile() {
    ! (cd "$work" && "$modelfile" convert --quiet "$mixtral" >"$work/o" 2>&1) &&
        grep -qF "not the name of a file" "$work/o" &&
        [ -z "$(find "$work" -name '*.gguf')" ]
}
rm -rf "$work/out"
check "a name never leads out of the folder" hostile
cp "$folders/$mixtral/README.md" "$work/$mixtral/"

# refused CODE TEXT ARGUMENT...: convert fails so, and says that.
refused() {
    wanted=$1 text=$2
    shift 2
    "$modelfile" convert "$@" >"$work/o" 2>"$work/e"
    code=$?
    [ "$code" -eq "$wanted" ] && grep -qF -e "$text" "$work/e" && return
    echo "exit code $code"
    cat "$work/e"
    return 1
}
gguf=fixtures/good-base.gguf
check "a file needs OUT" refused 2 "missing argument OUT" "$gguf"
check "so does another format" \
    refused 2 "missing argument OUT" "$folders/fp8" --to safetensors
mkdir "$work/bare"
cp "$folders/fp8/model.safetensors" "$work/bare"
check "a folder that is not of Hugging Face needs OUT" \
    refused 2 "OUT is required" "$work/bare"
check "{ftype} needs a folder" \
    refused 2 "braces in --outfile" "$gguf" --outfile "$work/{ftype}.gguf"
check "--bigendian needs a folder" \
    refused 3 "only for a Hugging Face folder" "$gguf" "$work/o.gguf" --bigendian
check "a model is not an adapter" \
    refused 3 "only for an adapter" "$folders/fp8" "$work/o.gguf" --names gguf \
    --base "$folders/fp8"
check "GGUF 2 is little-endian" \
    refused 3 "needs GGUF version 3, not 2" "$folders/fp8" --outfile "$work/o.gguf" \
    --bigendian --gguf-version 2
check "no IN for --print-supported-models" \
    refused 2 "takes no IN" "$gguf" --print-supported-models

# Mistral's own format.
cp -r "$folders/mistral-fp8" "$folders/mistral-pieces" "$work/"
own="$work/mistral-fp8"
check "a folder that has not the format" \
    refused 2 "not in Mistral's own format" "$folders/fp8" "$work/o.gguf" \
    --mistral-format
check "a file without params.json" \
    refused 3 "'params.json' is missing" "$folders/fp8/model.safetensors" \
    "$work/o.gguf" --mistral-format
check "only of the format has it templates to leave out" \
    refused 2 "requires --mistral-format" "$folders/fp8" "$work/o.gguf" \
    --disable-mistral-community-chat-template
check "an adapter has not this format" \
    refused 2 "excludes --lora" "$own" "$work/o.gguf" --mistral-format --lora x

# What Hugging Face's format has in the same folder is not read.
both() {
    cp "$folders/fp8/model.safetensors" "$own/"
    "$modelfile" convert --quiet "$own" "$work/both.gguf" --mistral-format >/dev/null &&
        [ "$(sha256sum <"$work/both.gguf" | cut -d' ' -f1)" = \
            "$(expected mistral-fp8 '--mistral-format --outfile .' | cut -d' ' -f2)" ]
}
check "a folder that has both formats" both

no_template() {
    mv "$own/chat_template.jinja" "$work/t"
    refused 3 "of version 'v13', for which llama.cpp has no name" "$own" \
        "$work/o.gguf" --mistral-format &&
        grep -qF "template leaves it out" "$work/e" &&
        "$modelfile" convert --quiet "$own" "$work/bare.gguf" --mistral-format \
            --disable-mistral-community-chat-template >/dev/null &&
        "$modelfile" info "$work/bare.gguf" >/dev/null &&
        ! "$modelfile" meta get "$work/bare.gguf" tokenizer.chat_template >/dev/null 2>&1
    code=$?
    mv "$work/t" "$own/chat_template.jinja"
    return $code
}
check "a chat template that is a file of llama.cpp" no_template

# changed FROM TO TEXT: params.json with that is refused so.
changed() {
    sed "s|$1|$2|" "$folders/mistral-fp8/params.json" >"$own/params.json"
    ! cmp -s "$own/params.json" "$folders/mistral-fp8/params.json" &&
        refused 3 "$3" "$own" "$work/o.gguf" --mistral-format
}
check "other 8-bit floats" changed fp8_e4m3 fp8_e5m2 "must be 'fp8_e4m3', not 'fp8_e5m2'"
check "a head's size is needed" changed '"head_dim"' '"x"' "missing key 'head_dim'"
check "YaRN is whole" changed '"apply_scale"' '"x"' "missing key 'apply_scale'"
check "a key is of its kind" \
    changed '"n_heads":4' '"n_heads":"4"' "'params.json': 'n_heads' must be"

# No value of params.json is trusted: each becomes another one, and each prefix
# of the file is tried.
hostile_params() {
    for folder in mistral-fp8 mistral-pieces mistral-experts; do
        rm -rf "$work/h" && cp -r "$folders/$folder" "$work/h"
        keys=$(tr '{,' '\n\n' <"$folders/$folder/params.json" | sed -n 's/^"\([a-z_0-9]*\)":.*/\1/p')
        for key in $keys; do
            for value in null -1 0 1e30 4294967296 '[]' '"x"' '{}'; do
                sed "s|\"$key\":[^,{}]*|\"$key\":$value|" "$folders/$folder/params.json" \
                    >"$work/h/params.json"
                for more in "" --mmproj; do
                    "$modelfile" convert --quiet --force "$work/h" "$work/h.gguf" \
                        --mistral-format $more >/dev/null 2>"$work/e"
                    [ $? -le 3 ] || {
                        echo "$folder $key $value $more"
                        cat "$work/e"
                        return 1
                    }
                done
            done
        done
        size=$(wc -c <"$folders/$folder/params.json")
        while [ "$size" -gt 0 ]; do
            size=$((size - 29))
            [ "$size" -ge 0 ] || break
            head -c "$size" "$folders/$folder/params.json" >"$work/h/params.json"
            "$modelfile" convert --quiet --force "$work/h" "$work/h.gguf" \
                --mistral-format >/dev/null 2>&1
            [ $? -eq 3 ] || return 1
        done
    done
}
check "no value of params.json is trusted" hostile_params

# The last of an option that is given twice counts, whatever it is called.
twice() {
    (cd "$work" && "$modelfile" convert --quiet "$folders/$mixtral" --force \
        --outfile x.gguf --outfile a.gguf --type f32 --outtype f16) &&
        (cd "$work" && "$modelfile" convert --quiet "$folders/$mixtral" --force \
            b.gguf --names gguf --outtype f32 --type f16) &&
        cmp "$work/a.gguf" "$work/b.gguf" && [ ! -e "$work/x.gguf" ]
}
check "the last of two counts" twice

# Options of the converter mean its names.
named() {
    rm -f "$work/n.gguf"
    "$modelfile" convert --quiet "$folders/$mixtral" "$work/n.gguf" --bigendian &&
        [ "$(sha256sum <"$work/n.gguf" | cut -d' ' -f1)" = \
            "$(expected $mixtral '--outfile o.gguf --bigendian' | cut -d' ' -f2)" ]
}
check "without --names" named

# Sizes are those that are written, and so are the names.
large() {
    (cd "$work" && "$modelfile" convert "$folders/$mixtral" --dry-run \
        --outtype f32 --outfile s.gguf --split-max-size 6000) >"$work/o" 2>"$work/e" &&
        grep -qF "tensor 'blk.0.ffn_gate_exps.weight' of 8.0 KiB exceeds" "$work/e" &&
        ! grep -qF "ffn_gate.weight" "$work/e" &&
        ! (cd "$work" && "$modelfile" convert "$folders/$mixtral" --dry-run \
            --outtype q8_0 --outfile s.gguf --split-max-size 6000 2>&1) | grep -q exceeds
}
check "tensors larger than a shard are those that are written" large

whole() {
    (cd "$work" && "$modelfile" convert "$folders/$mixtral" --dry-run \
        --outfile s.gguf --split-max-size 5G --json) >"$work/o" 2>&1 &&
        grep -qF '"output_files":["s.gguf"]' "$work/o"
}
check "a folder that fits one shard is one file" whole

# What work that is stopped kept is reversed as well.
kept() {
    rm -f "$work"/r.gguf "$work"/.r.gguf*
    (cd "$work" && "$modelfile" convert --quiet "$folders/$mixtral" --outfile r.gguf \
        --bigendian --outtype f32 --resume) &&
        [ "$(sha256sum <"$work/r.gguf" | cut -d' ' -f1)" = \
            "$(expected $mixtral '--outfile o.gguf --bigendian --outtype f32' | cut -d' ' -f2)" ]
}
check "a big-endian file with --resume" kept

big() {
    "$modelfile" info "$work/r.gguf" >"$work/o" && "$modelfile" validate --data "$work/r.gguf"
}
check "which is sound" big

listed() {
    "$modelfile" convert --print-supported-models >"$work/o" 2>"$work/e" &&
        sort -c "$work/o" && grep -qx MixtralForCausalLM "$work/o" &&
        awk '/^[^ #]/ { family = $1 == "family" }
            family && $1 == "class" || more { for (i = 1 + !more; i <= NF; i++) if ($i != "\\") print $i
            more = $NF == "\\" }' lib/families/*.txt lib/families/*/*.txt | sort -u | cmp - "$work/o" &&
        "$modelfile" convert --print-supported-models --mmproj |
        grep -qx Gemma3ForConditionalGeneration &&
        "$modelfile" convert --print-supported-models --json | grep -qF '"MixtralForCausalLM"'
}
check "all classes are listed" listed

# On the way back, factors of llama3 are not in the file.
cp -r "$folders/$mixtral" "$work/scaled"
sed 's/^{/{"rope_scaling": {"rope_type": "llama3", "factor": 32.0,/
    s/"rope_type": "llama3",/& "low_freq_factor": 1.0, "high_freq_factor": 4.0,/
    s/"factor": 32.0,/& "original_max_position_embeddings": 8192},/' \
    "$folders/$mixtral/config.json" >"$work/scaled/config.json"
# noted TEXT FOLDER [OPTION...]: where a file of the folder becomes one again.
noted() {
    text=$1 folder=$2
    shift 2
    rm -rf "$work/again"
    "$modelfile" convert -q "$folder" "$work/noted.gguf" --force >"$work/o" &&
        "$modelfile" convert "$@" "$work/noted.gguf" "$work/again/" \
            >"$work/o" 2>&1
    grep -q "$text" "$work/o"
}
check "values that a GGUF file does not hold are named" \
    noted "config.json: rope_scaling.low_freq_factor, .* are the family's \
usual values: the GGUF file does not hold the model's" "$work/scaled"
check "and are in JSON" noted '"assumed":\["rope_scaling.low_freq_factor",' \
    "$work/scaled" --json
check "where there are none, none is" \
    noted '"tensors_left_out":0,"written":true' "$folders/$mixtral" --json

finish
