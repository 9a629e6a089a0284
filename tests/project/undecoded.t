#!/bin/sh
# SPDX-License-Identifier: MIT
#
# undecoded.t - validate decodes nothing: its tests pass where decoding aborts
#
# QUICK=1 leaves those tests out.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

MODELFILE=${BUILD:-build}/modelfile-undecoded
export MODELFILE

aborts() {
    code=0
    (ulimit -c 0; exec "$MODELFILE" "$@") >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" -gt 128 ]
}
check "dequantize dies here" aborts dequantize fixtures/good-llama.gguf \
    "$dir/o.gguf"
check "tensors stats dies here" aborts tensors stats fixtures/good-llama.gguf

none_fails() {
    sh "tests/cli/$1.t" >"$dir/tap" || { grep '^not ok' "$dir/tap"; return 1; }
    grep -q '^ok' "$dir/tap"
}
for tests in validate no_alarm; do
    if [ -n "${QUICK:-}" ]; then
        skip "all of tests/cli/$tests.t" "make check does this"
        continue
    fi
    check "all of tests/cli/$tests.t" none_fails "$tests"
done

finish
