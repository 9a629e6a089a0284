#!/bin/sh
# SPDX-License-Identifier: MIT
#
# names.t - convert --names: names, order of rows, metadata, and refusals
#
# names.mjs works out by itself what must come about, and compares.
set -u

if ! command -v node >/dev/null 2>&1; then
    echo "1..0 # SKIP node is not installed"
    exit 0
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-names.XXXXXX")
trap 'rm -rf "$dir"' EXIT
node tests/cli/names.mjs "${FIXTURES:-fixtures}" "$dir"
