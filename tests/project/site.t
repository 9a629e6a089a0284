#!/bin/sh
# SPDX-License-Identifier: MIT
#
# site.t - the pages of the site lead where they say, and fetch nothing
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

for tool in cmark-gfm mandoc node; do
    if ! command -v "$tool" >/dev/null; then
        skip "the site is whole" "$tool is not installed"
        finish
    fi
done

# A make of our own, not a branch of the one that may run this test.
site() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" BUILD="$build" \
        CC="${CC:-cc}" SITE="$1" site >"$dir/said" 2>&1 || cat "$dir/said"
    grep 'no page for' "$dir/said"
}

check_empty "the site is made, and knows every page" site "$dir/site"
check_empty "links, anchors and the index of the search lead somewhere" \
    node tests/project/site.mjs "$dir/site"

lacks() {
    for name in $(sed -n 's/^    \(mf_[a-z0-9_]*\);/\1/p' "$build/modelfile.map"); do
        grep -q ">$name</a>" "$dir/site/reference.html" || echo "$name"
    done
}
check_empty "each function is in the reference" lacks

# A link that leads nowhere is noticed.
cp -R "$dir/site" "$dir/broken"
echo '<a href="nowhere.html">x</a> <a href="cli.html#nothing">x</a>' \
    >>"$dir/broken/index.html"
check "a broken link is noticed" \
    [ "$(node tests/project/site.mjs "$dir/broken" | wc -l)" -ge 2 ]

check_empty "it is made again" site "$dir/again"
check "with the same bytes" diff -r "$dir/site" "$dir/again"
finish
