# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034 # variables are for the script that sources
#
# lib-run.sh - what a test script runs and where it puts its files
#
#     . tests/tap.sh
#     . tests/lib-run.sh
#
# Sets absolute paths, so that a script may change its folder:
#
#     build      what make built          (BUILD, or build)
#     modelfile  the program to test      (MODELFILE, or that of build)
#     fixtures   the models of this tree  (FIXTURES, or fixtures)
#     dir        an empty folder, which is removed when the script ends
#
# counts_memory tells whether the program has a malloc that counts, as it has
# unless it is built with sanitizers.

build=$(realpath "${BUILD:-build}")
modelfile=$(realpath "${MODELFILE:-$build/modelfile}")
fixtures=$(realpath "${FIXTURES:-fixtures}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT

counts_memory() {
    "${NM:-nm}" -u "$modelfile" | grep -q __libc_malloc
}
