#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sarif.t - `validate --format sarif` keeps the published SARIF 2.1.0 schema
#
# The schema comes with a package of npm, fetched once into $BUILD/sarif;
# without node, npm or a network the test is skipped.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

modelfile=${MODELFILE:-${BUILD:-build}/modelfile}
folder=${BUILD:-build}/sarif
package=@microsoft/jest-sarif

fetch() {
    [ ! -f "$folder/node_modules/$package/package.json" ] || return 0
    mkdir -p "$folder"
    timeout 60 npm install --prefix "$folder" --no-audit --no-fund \
        --ignore-scripts --fetch-retries=0 --fetch-timeout=20000 \
        "$package@1.0.0-beta.0" >"$folder/log" 2>&1 && return
    rm -rf "$folder/node_modules"
    return 1
}

if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
    skip "the schema" "node or npm is not installed: apt-get install nodejs npm"
elif ! fetch; then
    skip "the schema" "npm could not fetch $package, see $folder/log"
else
    "$modelfile" validate --format sarif fixtures/*.* 'not there%20.gguf' \
        >"$folder/all.sarif" 2>/dev/null
    check "findings of every fixture" node tests/cli/sarif.mjs "$folder" \
        "$folder/all.sarif"
    "$modelfile" validate fixtures/*.* >"$folder/known" 2>/dev/null
    rm -f "$folder/some.sarif"
    "$modelfile" validate --sarif "$folder/some.sarif" --ignore MODEL-UNKNOWN \
        --baseline "$folder/known" fixtures/*.* >/dev/null 2>&1
    check "findings that are suppressed" node tests/cli/sarif.mjs "$folder" \
        "$folder/some.sarif"
    "$modelfile" validate --format sarif fixtures/good-llama.gguf \
        >"$folder/none.sarif" 2>/dev/null
    check "no findings" node tests/cli/sarif.mjs "$folder" "$folder/none.sarif"
fi
finish
