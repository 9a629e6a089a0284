#!/bin/sh
# SPDX-License-Identifier: MIT
#
# wasi.t - the library as WebAssembly in node does what that for this system does
#
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. tests/tap.sh

if ! node -e 'require("node:wasi")' 2>/dev/null; then
    skip "wasi" "apt-get install nodejs"
    finish
fi

system=wasi
# WASI has no locks.
lacks='s/a second editor has to wait/a second editor is let in/'
run_port() {
    node --no-warnings "$root/tests/ports/port_wasi.js" \
        "$root/$build/wasi/port.wasm" "$work/there" "$@"
}
. tests/ports/port_check.sh

# Bytes of the third way come from the host.
run_port q4_k.gguf blk.0.attn_q.weight '' >/dev/null 2>"$work/errors"
asked() {
    requests=$(sed -n 's/^host.read: \([0-9]*\) requests.*/\1/p' "$work/errors")
    [ "$requests" -gt 10 ]
}
check "wasi: the host was asked for the bytes of a source" asked
# A page has no folder to give.
alone() {
    mkdir "$work/empty"
    node --no-warnings tests/ports/port_wasi.js "$build/wasi/port.wasm" "$work/empty" \
        nothing.gguf x
    [ $? -eq 1 ]
}
check "wasi: without the file it ends with an error" alone
finish
