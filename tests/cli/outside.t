#!/bin/sh
# SPDX-License-Identifier: MIT
#
# outside.t - readers that are not ours agree on what the fixtures hold
#
# outside.mjs compares.  The one package it needs is fetched once, by npm into
# $BUILD/outside; without node 20, npm or a network its part is skipped.
set -u

package=@huggingface/gguf
version=0.4.6
folder=${BUILD:-build}/outside

# The network may be slow or not there: the tests do not wait for long.
fetch() {
    [ ! -f "$folder/node_modules/$package/package.json" ] || return 0
    timeout 60 npm install --prefix "$folder" --no-audit --no-fund \
        --ignore-scripts --fetch-retries=0 --fetch-timeout=20000 \
        "$package@$version" >"$folder/log" 2>&1 && return
    rm -rf "$folder/node_modules"
    return 1
}

if ! command -v node >/dev/null 2>&1; then
    echo "1..0 # SKIP node is not installed"
    exit 0
fi
mkdir -p "$folder" || exit 1
reason=
if [ "$(node -p 'parseInt(process.versions.node)')" -lt 20 ]; then
    reason="$package needs node 20 and npm, see nodejs.org"
elif ! command -v npm >/dev/null 2>&1; then
    reason="npm is not installed: apt-get install npm"
elif ! fetch; then
    reason="npm could not fetch $package, see $folder/log"
fi
if [ -n "$reason" ]; then
    folder=
fi
exec node tests/cli/outside.mjs "$folder" "$reason"
