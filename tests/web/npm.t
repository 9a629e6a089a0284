#!/bin/sh
# SPDX-License-Identifier: MIT
#
# npm.t - the package for npm, as it is packed
#
# WEB_MODULES: node_modules with typescript, for its types.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

build=${BUILD:-build}
if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
    skip "the package" "apt-get install nodejs npm"
    finish
fi
said=$(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" BUILD="$build" web-npm 2>&1)
code=$?
case $said in
*"apt-get install"*)
    skip "the package" "$said"
    finish
    ;;
esac
check "the package is made" [ "$code" -eq 0 ]
[ "$code" -eq 0 ] || { echo "$said" | note && finish; }

work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-npm.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/node_modules"
tar -xzf "$build"/web/modelfile-*.tgz -C "$work/node_modules"
mv "$work/node_modules/package" "$work/node_modules/modelfile"
header=$("$build/tests/big" 70b "$work/large.gguf" | sed 's/.*header \([0-9]*\).*/\1/')
check "it opens a file in every way" node tests/web/package.mjs \
    "$work/node_modules/modelfile" fixtures/llama/llama-wide-Q4_K_M.gguf \
    "$work/large.gguf" "$header"

tsc=${WEB_MODULES:-/nonexistent}/typescript/bin/tsc
types() {
    cp tests/web/package.ts "$work"
    (cd "$work" && node "$tsc" --noEmit --strict --target es2022 --module nodenext \
        --moduleResolution nodenext --lib es2022,dom package.ts)
}
if [ -e "$tsc" ]; then
    check "a program fits its types" types
else
    skip "a program fits its types" "WEB_MODULES has no typescript"
fi
finish
