#!/bin/sh
# SPDX-License-Identifier: MIT
#
# replay.t - every input that fuzzing has kept, and every fixture, through
# every fuzz target
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

for target in gguf safetensors apr json convert config tokenizer \
    tokenizer_config template index imatrix manifest baseline journal; do
    check "$target" "${BUILD:-build}/tests/replay-$target" \
        "tests/fuzz/corpus/$target" fixtures
done
finish
