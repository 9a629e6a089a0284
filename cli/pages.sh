#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pages.sh - the pages of the manual that the program prints, as files
#
#     cli/pages.sh build/modelfile build/man
#
# FOLDER/man1 and FOLDER/man7 are there.  Where a word has several
# sub-commands, modelfile-WORD.1 is the page of the first.
set -eu

program=$1 folder=$2

"$program" help --quiet --man --all | while read -r page words; do
    # shellcheck disable=SC2086 # "meta set" is two words
    "$program" help --quiet --man $words >"$folder/man${page##*.}/$page"
    first=modelfile-${words%% *}.1
    if [ "$words" != "${words#* }" ] && [ ! -e "$folder/man1/$first" ]; then
        ln -s "$page" "$folder/man1/$first"
    fi
done
