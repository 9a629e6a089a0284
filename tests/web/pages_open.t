#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pages_open.t - local.html and remote.html in Chromium: see pages_open.mjs
#
# WEB_MODULES: node_modules with playwright-core; CHROMIUM: /usr/bin/chromium.
#
# shellcheck disable=SC1091 # tests run in the top folder
set -u
. tests/tap.sh

build=${BUILD:-build}
missing=
command -v node >/dev/null || missing="apt-get install nodejs"
[ -e "${WEB_MODULES:-/nonexistent}/playwright-core" ] ||
    missing=${missing:-"WEB_MODULES has no playwright-core"}
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || missing=${missing:-"no chromium"}
if [ -z "$missing" ]; then
    said=$(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" BUILD="$build" web 2>&1) ||
        missing=$said
fi
[ -z "$missing" ] || {
    skip "the pages open models" "$missing"
    finish
}

work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-pages.XXXXXX")
trap 'rm -rf "$work"' EXIT
header=$("$build/tests/big" 70b "$work/large.gguf" | sed 's/.*header \([0-9]*\).*/\1/')
node tests/web/pages_open.mjs "$build/web" fixtures/llama/llama-wide-Q4_K_M.gguf \
    "$work/large.gguf" "$header"
