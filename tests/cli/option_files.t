#!/bin/sh
# SPDX-License-Identifier: MIT
#
# option_files.t - no output replaces a file that an option names
#
# By the same name, by a hard link and by a symbolic link.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

modelfile=${BUILD:-build}/modelfile
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-option.XXXXXX")
trap 'rm -rf "$work"' EXIT
small=fixtures/good-base.gguf
folder=fixtures/good-hf-llama

# names FILE: that file, and two links to it.
names() {
    rm -f "$work/hard" "$work/soft"
    ln "$1" "$work/hard"
    ln -s "$1" "$work/soft"
    echo "$1 $work/hard $work/soft"
}

# kept FILE COMMAND...: is refused for each name, which takes the place of OUT,
# and the file is as before.
kept() {
    file=$1
    shift
    sum=$(cksum <"$file")
    for out in $(names "$file"); do
        set -- "$@"
        words=
        for word; do
            [ "$word" = OUT ] && word=$out
            words="$words $word"
        done
        # shellcheck disable=SC2086 # words
        "$modelfile" $words >"$work/o" 2>&1
        code=$?
        if [ $code -eq 0 ] || [ "$(cksum <"$file")" != "$sum" ] ||
            ! grep -q "choose another name\|which is read" "$work/o"; then
            echo "$words: exit code $code"
            cat "$work/o"
            return 1
        fi
    done
}

types=$work/types
echo 'blk=q8_0' >"$types"
check "--tensor-type-file" kept "$types" \
    quantize "$small" OUT q8_0 --force --tensor-type-file "$types"
check "--tensor-type-file of a dry run" kept "$types" \
    quantize "$small" OUT q8_0 --force --dry-run --tensor-type-file "$types"
echo 'blk=q8_0' >"$work/types.2"
check "the second of two" kept "$work/types.2" quantize "$small" OUT q8_0 \
    --force --tensor-type-file "$types" --tensor-type-file "$work/types.2"
check "--recipe" kept "$types" quantize "$small" OUT --force --recipe "$types"
wide=fixtures/llama/llama-wide.gguf
echo 'blk=2' >"$work/factors"
check "--importance" kept "$work/factors" quantize "$wide" OUT --force \
    --target-bpw 6 --importance "$work/factors"
check "--importance and --save-recipe" kept "$work/factors" \
    quantize "$wide" "$work/model.gguf" --force --target-bpw 6 \
    --importance "$work/factors" --save-recipe OUT
check "--importance and --plot" kept "$work/factors" \
    quantize "$wide" - --dry-run --force --target-bpw 6 \
    --importance "$work/factors" --plot OUT
echo '{"general.author": "a"}' >"$work/metadata"
check "--metadata" kept "$work/metadata" \
    convert "$folder" OUT --to gguf --force --metadata "$work/metadata"
: >"$work/empty"
for report in --sarif --junit --codequality; do
    check "--config and $report" kept "$work/empty" \
        validate "$small" --config "$work/empty" $report OUT
    check "--baseline and $report" kept "$work/empty" \
        validate "$small" --baseline "$work/empty" $report OUT
done

# A new option of this kind needs a line above.  Others write, are read by a
# command that writes nothing, or are tested elsewhere (--imatrix).
known="--baseline --check --codequality --config --imatrix --junit --metadata \
--outfile --output --recipe --sarif --save-recipe --statement --tensor-type-file"
all() {
    grep -rhoE 'OPTION_(TEXT|LIST)\("--[a-z-]+", "FILE"' cli/commands |
        sed 's/.*"\(--[^"]*\)", .*/\1/' | sort -u >"$work/found"
    # shellcheck disable=SC2086 # words
    printf '%s\n' $known | sort >"$work/known"
    comm -23 "$work/found" "$work/known"
}
check_empty "all options that name a file are known here" all

finish
