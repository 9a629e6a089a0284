#!/bin/sh
# SPDX-License-Identifier: MIT
#
# windows.t - the library for Windows in wine does what that for this system does
#
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. tests/tap.sh

if ! command -v wine >/dev/null; then
    skip "windows" "apt-get install wine"
    finish
fi

system=windows
# wasi.t compiles them; they know no system.
without="hub restore tokenizers plan verify"
run_port() {
    WINEPREFIX=$work/wine WINEDEBUG=-all wine "$root/$build/windows/port.exe" \
        "$@"
}
. tests/ports/port_check.sh
WINEPREFIX=$work/wine wineserver -k 2>/dev/null
finish
