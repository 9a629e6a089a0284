#!/bin/sh
# SPDX-License-Identifier: MIT
#
# page.t - the page of a report: its parts, its functions, and in a browser
#
# In a browser it is tested where Chromium is, and in WEB_MODULES what
#     npm install --prefix FOLDER playwright-core axe-core
# has put into FOLDER/node_modules.  SHOTS is a folder for screenshots.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

page=web/page
chromium=${CHROMIUM:-/usr/bin/chromium}

# ---- what is put together

sh $page/assemble.sh >"$dir/template.html"
printf '{"text": "</script><b>"}\n' >"$dir/text.json"
sh $page/assemble.sh "$dir/text.json" >"$dir/text.html"
cat $page/[0-9]*.js >"$dir/script.js"

at_most() {
    found=$(wc -c <"$1")
    [ "$found" -le "$2" ] || echo "$1 has $found bytes, more than $2"
}
check_empty "the assets have at most 200 KB" at_most "$dir/template.html" 200000

count_is() {
    found=$(grep -c -- "$2" "$dir/template.html")
    [ "$found" -eq "$1" ] || echo "$found lines, not $1, have $2"
}
check_empty "one line is for the document" count_is 1 '^@DOCUMENT@$'
check_empty "no other line is for anything" count_is 1 '^@[A-Z]*@$'
check_empty "there is one style" count_is 1 '<style'
check_empty "and there are two scripts, one of which is data" count_is 2 '<script'
check_empty "nothing has a style or a handler of its own" \
    count_is 0 '<[^>]* \(style\|on[a-z]*\)='
check_empty "no element ends early" count_is 2 '</script'

# What is between two lines of the page, with the first one's line end: what a
# browser takes the digest of.
between() {
    echo
    awk -v from="$1" -v to="$2" '$0 == to { inside = 0 }
        inside { print }
        $0 == from { inside = 1 }' "$dir/template.html"
}
digest_of() {
    between "$1" "$2" | openssl dgst -sha256 -binary | base64
}
policy_has() {
    grep -qF "$1 'sha256-$2'" "$dir/template.html"
}
if command -v openssl >/dev/null 2>&1; then
    check "the policy has the digest of the style" \
        policy_has style-src "$(digest_of '<style>' '</style>')"
    check "the policy has the digest of the script" \
        policy_has script-src "$(digest_of '<script>' '</script>')"
else
    skip "the policy has the digests" "openssl is not installed"
fi
check "text of a document ends no element" \
    grep -qxF '{"text": "\u003c/script>\u003cb>"}' "$dir/text.html"

# ---- functions

# results COMMAND...: it prints lines of "ok" and "not ok", and comments.
results() {
    "$@" >"$dir/results" 2>"$dir/errors" || not_ok "$* ended with $?: $(head -c 2000 "$dir/errors")"
    while read -r word rest; do
        case $word in
        ok) ok "$rest" ;;
        not) not_ok "${rest#ok }" ;;
        *) echo "$word $rest" ;;
        esac
    done <"$dir/results"
}

if ! command -v node >/dev/null 2>&1; then
    skip "functions of the page" "node is not installed"
    finish
fi
results node tests/web/parts.mjs "$dir/script.js"

same() {
    node tests/web/same.mjs "$dir/script.js" "$modelfile" "$fixtures"/good-* \
        "$fixtures"/bad-zip-* "$fixtures"/*/*.index.json 2>"$dir/count"
    grep -q '^[0-9]\{3,\} tensors' "$dir/count" || cat "$dir/count"
}
check_empty "a report has the tensors of tensors info" same

# ---- in a browser

if [ ! -x "$chromium" ]; then
    skip "the page in a browser" "Chromium is not installed"
elif [ ! -d "${WEB_MODULES:-}/playwright-core" ]; then
    skip "the page in a browser" "WEB_MODULES has no playwright-core"
else
    for kind in full pair large hostile partial; do
        node tests/web/sample.mjs $kind >"$dir/$kind.json"
        sh $page/assemble.sh "$dir/$kind.json" >"$dir/$kind.html"
    done
    check_empty "a report without data has at most 400 KB" at_most "$dir/pair.html" 400000
    results env CHROMIUM="$chromium" node tests/web/browser.mjs "$dir"
fi
finish
