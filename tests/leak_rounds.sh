#!/bin/sh
# SPDX-License-Identifier: MIT
#
# leak_rounds.sh - many rounds of modelfile bench --leak-check
#
# leak.t does as much as a test has time for; this is the rest: 100,000 times
# opening, 1,000 times validating, for each format, and 300 times everything.
# Ends with 1 at the first leak.
set -eu
modelfile=${MODELFILE:-${BUILD:-build}/modelfile}
fixtures=${FIXTURES:-fixtures}

# rounds N MODEL ARGUMENT...
rounds() {
    count=$1 model=$2
    shift 2
    echo "$model: $count rounds $*"
    "$modelfile" bench --quiet --leak-check --rounds "$count" "$@" \
        "$fixtures/$model"
}

for model in good-llama.gguf good-metadata-large.apr good-dtypes.safetensors; do
    rounds 100000 $model --work open
    rounds 1000 $model --work validate --work hash --threads 2
done
rounds 1000 good-split-00001-of-00003.gguf --work validate --work convert
rounds 300 good-llama.gguf --threads 2
