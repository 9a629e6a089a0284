#!/bin/sh
# SPDX-License-Identifier: MIT
#
# page.sh - the page of web/page as two tables of C
#
#     sh lib/report/page.sh [plain] >page_text.c
#
# What comes before the line @DOCUMENT@, and what comes after it.
set -eu

folder=$(dirname "$0")/../../web/page
pack=$(dirname "$0")/../model/pack.sh
page=$(mktemp "${TMPDIR:-/tmp}/modelfile-page.XXXXXX")
trap 'rm -f "$page"' EXIT
sh "$folder/assemble.sh" >"$page"
grep -qx '@DOCUMENT@' "$page"
sed '/^@DOCUMENT@$/,$d' "$page" | sh "$pack" mf_page_head "$@"
sed '1,/^@DOCUMENT@$/d' "$page" | sh "$pack" mf_page_tail "$@"
