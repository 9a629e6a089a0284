#!/bin/sh
# SPDX-License-Identifier: MIT
#
# page.sh - the page of web/page as two tables of C
#
#     sh lib/report/page.sh >page_text.c
#
# What comes before the line @DOCUMENT@, and what comes after it.
set -eu

# table NAME: bytes of standard input.
table() {
    echo "const uint8_t mf_page_$1[] = {"
    od -An -v -tu1 | tr -s ' ' ',' | sed 's/^,//; s/,*$/,/'
    echo "};"
    echo "const size_t mf_page_$1_size = sizeof(mf_page_$1);"
}

folder=$(dirname "$0")/../../web/page
page=$(mktemp "${TMPDIR:-/tmp}/modelfile-page.XXXXXX")
trap 'rm -f "$page"' EXIT
sh "$folder/assemble.sh" >"$page"
grep -qx '@DOCUMENT@' "$page"
echo '#include "lib/report/document.h"'
sed '/^@DOCUMENT@$/,$d' "$page" | table head
sed '1,/^@DOCUMENT@$/d' "$page" | table tail
