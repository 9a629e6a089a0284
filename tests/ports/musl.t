#!/bin/sh
# SPDX-License-Identifier: MIT
#
# musl.t - a static library for musl does what that for this system does
#
# It stands for every POSIX but Linux with glibc: lib/io/system_posix.c.
#
# shellcheck disable=SC1091,SC2034,SC2317
set -u
. tests/tap.sh

system=musl
# wasi.t compiles them; they know no system.
without="hub restore tokenizers plan verify"
run_port() {
    "$root/$build/musl/port" "$@"
}
. tests/ports/port_check.sh
finish
