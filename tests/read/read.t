#!/bin/sh
# SPDX-License-Identifier: MIT
#
# read.t - mf_tensor_read and numpy, torch, safetensors and gguf read the same
#
# READ_PYTHON is a Python that has all four; READ_FILES more files to compare,
# such as packages carry.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

python=${READ_PYTHON:-}
mkdir "$dir/numbers"

# same KIND LEAST FILE...: all tensors are, and there are as many.
same() {
    kind=$1 least=$2
    shift 2
    "$python" tests/read/read_judge.py "$kind" "$build/tests/dump" "$dir/numbers" \
        "$@" >"$dir/judged" 2>"$dir/passed"
    grep -v ' tensors$' "$dir/judged"
    count=$(sed -n 's/^\([0-9]*\) tensors$/\1/p' "$dir/judged")
    [ "${count:-0}" -ge "$least" ] ||
        echo "only ${count:-none} compared: $(cat "$dir/passed")"
}

# with_suffix SUFFIX...: those files of READ_FILES.
with_suffix() {
    for file in ${READ_FILES:-}; do
        for suffix in "$@"; do
            case $file in *."$suffix") echo "$file" ;; esac
        done
    done
}

if [ -z "$python" ]; then
    skip "numbers as numpy, torch, safetensors and gguf read them" \
        "no Python that has them (READ_PYTHON)"
    finish
fi
check_empty "as numpy" same numpy 15 "$fixtures"/good-*.np[yz]
check_empty "as torch" same torch 10 "$fixtures"/good-*.pt
check_empty "as safetensors" same safetensors 10 "$fixtures"/good-*.safetensors
check_empty "as gguf" same gguf 20 "$fixtures"/good-*.gguf
if [ -n "${READ_FILES:-}" ]; then
    # shellcheck disable=SC2046 # names without spaces
    check_empty "files of packages as numpy" same numpy 1 $(with_suffix npy npz)
    # shellcheck disable=SC2046
    check_empty "as torch" same torch 1 $(with_suffix pt pth bin)
    # shellcheck disable=SC2046
    check_empty "as safetensors" same safetensors 1 $(with_suffix safetensors)
fi
finish
