#!/bin/sh
# SPDX-License-Identifier: MIT
#
# replay.t - every input that fuzzing has kept, and every fixture, through
# every fuzz target
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

# Every target has a corpus, if only of one file.
for corpus in tests/fuzz/corpus/*; do
    target=${corpus##*/}
    check "$target" "${BUILD:-build}/tests/replay-$target" "$corpus" fixtures
done
finish
