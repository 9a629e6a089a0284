#!/bin/sh
# SPDX-License-Identifier: MIT
#
# models.t - real models, read as other readers read them
#
# fixtures/llama has small ones, CONFORMANCE (../shared) is a folder with more,
# and with what other readers list in them; models.mjs compares.
set -u

folder=${CONFORMANCE:-../shared}
if ! command -v node >/dev/null 2>&1; then
    echo "1..0 # SKIP node is not installed"
    exit 0
fi
exec node tests/cli/models.mjs "$folder"
