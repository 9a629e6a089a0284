# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# lib-bench.sh - an empty folder to measure in, which is removed at the end and
# when the measurement is interrupted

dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
