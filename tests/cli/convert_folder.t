#!/bin/sh
# SPDX-License-Identifier: MIT
#
# convert_folder.t - options of convert that llama.cpp's converter has
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

modelfile=${BUILD:-build}/modelfile
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-folder.XXXXXX")
trap 'rm -rf "$work"' EXIT

out=$work/out.gguf
small=fixtures/good-base.gguf

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

check "--remote takes the name of a repository" \
    refused 2 "expected hf://OWNER/NAME" x "$out" --remote
check "--mtp and --no-mtp exclude each other" \
    refused 2 "--mtp and --no-mtp" x "$out" --mtp --no-nextn
for option in --vocab-only --mtp --no-mtp "--lora x" "--base x"; do
    # shellcheck disable=SC2086 # a word or two
    check "--mmproj and $option exclude each other" \
        refused 2 "--mmproj excludes" x "$out" --mmproj $option
done
check "OUT and --outfile exclude each other" \
    refused 2 "OUT and --outfile" "$small" "$out" --outfile "$out"
for option in "--model-name x" "--metadata x" --vocab-only --mtp --no-mtp \
    --fuse-qkv --fuse-gate-up-exps --fp8-as-q8 --mmproj; do
    # shellcheck disable=SC2086 # a word or two
    check "$option is only for folders" \
        refused 3 "only for a Hugging Face folder" "$small" "$out" $option
done

# accepted ARGUMENT...: what has no effect gives the same file.
accepted() {
    "$modelfile" convert "$small" "$work/a.gguf" --force -q >"$work/o" &&
        "$modelfile" convert "$small" "$out" --force -q "$@" >"$work/o" &&
        cmp "$work/a.gguf" "$out"
}
check "options without effect are accepted" \
    accepted --no-lazy --use-temp-file --verbose
check "--outtype is --type" accepted --outtype keep
check "nothing else was written" \
    [ "$(ls "$work")" = "$(printf 'a.gguf\ne\no\nout.gguf')" ]

finish
