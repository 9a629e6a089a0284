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
#     modelfile  the program to test      (MODELFILE, or build's)
#     fixtures   the models of this tree  (FIXTURES, or fixtures)
#     dir        an empty folder, which is removed when the script ends
#
# counts_memory tells whether the program has a malloc that counts, as it has
# unless it is built with sanitizers.
#
#     ends CODE ARGUMENT...         the program's exit code; what it printed is
#                                   in $dir/out and $dir/err
#     expect CODE TEXT ARGUMENT...  its exit code with --quiet, and a part of
#                                   what it printed, which is in $dir/out

build=$(realpath "${BUILD:-build}")
modelfile=$(realpath "${MODELFILE:-$build/modelfile}")
fixtures=$(realpath "${FIXTURES:-fixtures}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT

counts_memory() {
    "${NM:-nm}" -u "$modelfile" | grep -q __libc_malloc
}

ends() {
    ends_code=$1 ends_found=0
    shift
    "$modelfile" "$@" >"$dir/out" 2>"$dir/err" </dev/null || ends_found=$?
    [ "$ends_found" -eq "$ends_code" ] && return
    echo "modelfile $*: exit code $ends_found, not $ends_code"
    cat "$dir/out" "$dir/err"
    return 1
}

expect() {
    expected_code=$1 expected_text=$2 expected_found=0
    shift 2
    "$modelfile" "$@" --quiet >"$dir/out" 2>&1 </dev/null || expected_found=$?
    [ "$expected_found" -eq "$expected_code" ] &&
        grep -qF -- "$expected_text" "$dir/out" && return
    echo "modelfile $*: exit code $expected_found, not $expected_code"
    cat "$dir/out"
    return 1
}
