#!/bin/sh
# SPDX-License-Identifier: MIT
#
# page.sh - the page of web/page as two tables of C
#
#     sh lib/report/page.sh [plain] >page_text.c
#
# What comes before the line @DOCUMENT@, and what comes after it: raw deflate,
# or with "plain", for a library without zlib, as it is.
set -eu

# packed: without gzip's header of 10 bytes and its last 8.
packed() {
    if [ $plain = true ]; then
        cat
    else
        gzip -9n | tail -c +11 | head -c -8
    fi
}

# table NAME: bytes of standard input.
table() {
    echo "const uint8_t mf_page_$1[] = {"
    packed | od -An -v -tu1 | tr -s ' ' ',' | sed 's/^,//; s/,*$/,/'
    echo "};"
    echo "const size_t mf_page_$1_size = sizeof(mf_page_$1);"
}

plain=false
[ "${1-}" != plain ] || plain=true
folder=$(dirname "$0")/../../web/page
page=$(mktemp "${TMPDIR:-/tmp}/modelfile-page.XXXXXX")
trap 'rm -f "$page"' EXIT
sh "$folder/assemble.sh" >"$page"
grep -qx '@DOCUMENT@' "$page"
echo '#include "lib/report/document.h"'
echo "const bool mf_page_is_packed = $([ $plain = true ] && echo false || echo true);"
sed '/^@DOCUMENT@$/,$d' "$page" | table head
sed '1,/^@DOCUMENT@$/d' "$page" | table tail
