#!/bin/sh
# SPDX-License-Identifier: MIT
#
# assemble.sh - the page as one file
#
#     web/page/assemble.sh                 without a document: @DOCUMENT@ is left
#     web/page/assemble.sh DOCUMENT.json   with one
#     web/page/assemble.sh --digests       of style and script, as the policy has
#                                          them, and nothing else
#
# In page.html, each line that is @POLICY@, @STYLE@, @SCRIPT@ or @DOCUMENT@ is
# replaced.  The digests of the policy are of all between the tags: a line end,
# and the assets, which end with one.
set -eu
folder=$(dirname "$0")
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-page.XXXXXX")
trap 'rm -rf "$work"' EXIT

# digest FILE: its SHA-256 as base64, out of the hexadecimal digits.
digest() {
    { echo && cat "$1"; } | sha256sum | awk '{
        for (i = 1; i <= 64; i += 2)
            printf "\\0%o", 16 * (index("0123456789abcdef", substr($1, i, 1)) - 1) \
                + index("0123456789abcdef", substr($1, i + 1, 1)) - 1
    }' >"$work/octal"
    printf '%b' "$(cat "$work/octal")" | base64
}

cat "$folder/page.css" >"$work/style"
cat "$folder"/[0-9]*.js >"$work/script"
style=$(digest "$work/style")
script=$(digest "$work/script")
if [ "${1-}" = --digests ]; then
    printf '%s\n%s\n' "$style" "$script"
    exit
fi
cat >"$work/policy" <<POLICY
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-$style'; script-src 'sha256-$script'; img-src data:; base-uri 'none'; form-action 'none'">
POLICY

# No text of a document ends its element.
echo @DOCUMENT@ >"$work/document"
if [ $# -gt 0 ]; then
    sed 's/</\\u003c/g' "$1" >"$work/document"
fi
awk -v work="$work" '
    /^@(POLICY|STYLE|SCRIPT|DOCUMENT)@$/ {
        name = work "/" tolower(substr($0, 2, length($0) - 2))
        while ((getline line < name) > 0)
            print line
        next
    }
    { print }' "$folder/page.html"
