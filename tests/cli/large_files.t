#!/bin/sh
# SPDX-License-Identifier: MIT
#
# large_files.t - files that are read next to a model have a largest size
#
# A hole of 20 GiB is free to publish.  Each file that the
# program reads whole is refused by its size, before a byte of it is read.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

modelfile=${BUILD:-build}/modelfile
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-large.XXXXXX")
trap 'rm -rf "$work"' EXIT

huge=21474836480 # 20 GiB
most=67108864
folder=$work/folder

# within SECONDS COMMAND...: what it prints goes to a file; the program is not
# waited for longer.
within() {
    seconds=$1
    shift
    timeout "$seconds" "$modelfile" "$@" >"$work/o" 2>&1
    code=$?
    [ "$code" -ne 124 ] && return
    echo "more than $seconds seconds: $*"
    return 1
}

# refused SIZE MOST COMMAND...: by that size.
refused() {
    text="it has $1 bytes, at most $2 are read"
    shift 2
    within 10 "$@" || return
    [ "$code" -ne 0 ] && grep -qF -e "$text" "$work/o" && return
    echo "exit code $code, '$text' is not in:"
    head -5 "$work/o"
    return 1
}

fresh() {
    rm -rf "$folder" "$work/out"*
    cp -r fixtures/good-hf-llama "$folder"
}

# A sparse file; some file systems have none of that size.
if ! truncate -s "$huge" "$work/hole" 2>/dev/null; then
    skip "files of 20 GiB" "no sparse files here"
    finish
fi

# ---- files of a folder ----

# all_commands FILE: none of them reads a hole of that name for long.
all_commands() {
    for command in info plan tensors validate hash "convert --names gguf" \
        convert dequantize; do
        fresh
        case $1 in */*) mkdir -p "$folder/${1%/*}" ;; esac
        rm -f "$folder/$1"
        truncate -s "$huge" "$folder/$1"
        case $command in
        *gguf) within 10 convert "$folder" "$work/out.gguf" --names gguf ;;
        convert) within 10 convert "$folder" "$work/out/" ;;
        dequantize) within 10 dequantize "$folder" "$work/out.safetensors" ;;
        *) within 10 "$command" "$folder" ;;
        esac || return
        # The last that copies: no file of 20 GiB is copied.
        [ "$command" != convert ] ||
            grep -qF "at most $([ "$1" = tokenizer.json ] &&
                echo 268435456 || echo $most) are read" "$work/o" || {
            echo "convert to a folder: exit code $code"
            cat "$work/o"
            return 1
        }
    done
}

sed -n '/mf_sidecar_names\[\] = {/,/};/s/.*"\([^"]*\)".*/\1/p' \
    lib/folder/sidecar.c | grep -v safetensors >"$work/names"
[ "$(wc -l <"$work/names")" -gt 20 ] || not_ok "the list of files is read"
while read -r name <&3; do
    check "$name of 20 GiB" all_commands "$name"
done 3<"$work/names"

# json SIZE: an object and blanks.
json() {
    printf '{}' && head -c $(($1 - 2)) /dev/zero | tr '\0' ' '
}
fresh
json $most >"$folder/generation_config.json"
check "a file of 64 MiB is read" "$modelfile" validate "$folder"
echo >>"$folder/generation_config.json"
check "one byte more is refused" \
    refused $((most + 1)) $most validate "$folder"
fresh
truncate -s 268435457 "$folder/tokenizer.json"
check "tokenizer.json has up to 256 MiB" \
    refused 268435457 268435456 validate "$folder"
fresh
truncate -s 268435456 "$folder/tokenizer.json"
at_limit() {
    within 10 validate "$folder" && ! grep "at most" "$work/o" &&
        grep -q "'tokenizer.json'" "$work/o"
}
check "and is read at that size" at_limit
fresh
printf x >"$folder/chat_template.jinja"
mkdir "$folder/additional_chat_templates"
truncate -s $huge "$folder/additional_chat_templates/a.jinja"
check "a further chat template of 20 GiB" \
    refused $huge $most convert "$folder" "$work/out/"

# ---- lists of shards ----

cp -r fixtures/good-sharded "$work/shards"
list=$(cd "$work/shards" && echo ./*.index.json)
truncate -s $huge "$work/shards/$list"
check "a list of shards of 20 GiB" \
    refused $huge 268435456 info "$work/shards/$list"
check "next to a shard" refused $huge 268435456 \
    merge "$work/shards/model-00001-of-00002.safetensors" \
    "$work/out.safetensors"

# ---- files that options name ----

# option TEXT COMMAND...: refused, with that text.
option() {
    text=$1
    shift
    within 10 "$@" || return
    [ "$code" -ne 0 ] && grep -qF -e "$text" "$work/o" && return
    echo "exit code $code"
    cat "$work/o"
    return 1
}
fresh
small=fixtures/good-base.gguf
check "--metadata of 20 GiB" option "it has $huge bytes, at most $most are" \
    convert "$folder" "$work/out.gguf" --names gguf --metadata "$work/hole"
check "a manifest of 20 GiB" option "it is larger than 256 MiB" \
    hash "$small" --check "$work/hole"
check "a baseline of 20 GiB" option "it is larger than 256 MiB" \
    validate "$small" --baseline "$work/hole"
check "options of 20 GiB" option "it is larger than 1 MiB" \
    validate "$small" --config "$work/hole"
check "--tensor-type-file of 20 GiB" option "it is larger than 1 MiB" \
    quantize "$small" "$work/out.gguf" q8_0 --tensor-type-file "$work/hole"
check "a value of 20 GiB" option "it is larger than" \
    meta set "$small" "a.b=@$work/hole" --dry-run

finish
