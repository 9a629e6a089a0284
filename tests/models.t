#!/bin/sh
# SPDX-License-Identifier: MIT
#
# models.t - real models, read as other readers read them
#
# CONFORMANCE (../shared) is a folder with model files and what other readers
# list in them; models.mjs compares.
set -u

folder=${CONFORMANCE:-../shared}
if [ ! -d "$folder/models" ]; then
    echo "1..0 # SKIP no folder $folder/models; CONFORMANCE names another"
    exit 0
fi
if ! command -v node >/dev/null 2>&1; then
    echo "1..0 # SKIP node is not installed"
    exit 0
fi
exec node tests/models.mjs "$folder"
