#!/bin/sh
# SPDX-License-Identifier: MIT
#
# build.sh - builds the program from the checkout that this action is part of
#
# It is built below RUNNER_TEMP, so that a second use in the job finds it there.
set -eu
source=$(cd "$(dirname "$0")/../../.." && pwd)
build=$RUNNER_TEMP/modelfile-build

make -C "$source" deps
make -C "$source" -j"$(nproc 2>/dev/null || echo 2)" BUILD="$build" \
    "$build/modelfile"
echo "program=$build/modelfile" >>"$GITHUB_OUTPUT"
