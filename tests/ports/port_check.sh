# shellcheck shell=sh disable=SC2154 # $system and run_port are the caller's
# SPDX-License-Identifier: MIT
#
# port_check.sh - what a library for another system does is what this one does
#
#     system=musl
#     run_port() { ...; }    runs the program with arguments, in $work/there
#     . tests/ports/port_check.sh
#
# without: groups of functions that are left out (see WITHOUT in the Makefile).
#
# tests/ports/port.c is built for the system and for this one; both do the same, and
# must print the same.

build=${BUILD:-build}
root=$PWD
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-port.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/here" "$work/there"

# same NAME ARGUMENT...: program and native program print the same.
same() {
    same_name=$1
    shift
    (cd "$work/here" && "$work/port" "$@") >"$work/expected" 2>&1
    (cd "$work/there" && run_port "$@") 2>"$work/errors" | tr -d '\r' \
        >"$work/printed"
    if [ -n "${lacks:-}" ]; then # a line of sed
        sed -i "$lacks" "$work/expected"
    fi
    check "$system: $same_name" diff "$work/expected" "$work/printed"
}

copy() { # FIXTURE NAME
    cp "fixtures/$1" "$work/here/$2"
    cp "fixtures/$1" "$work/there/$2"
}

left() {
    ls -A "$work/there"
}

said=$(WITHOUT=${without:-} sh tests/ports/port_build.sh "$system") || code=$?
if [ "${code:-0}" -eq 77 ]; then
    skip "$system: the library does the same" "$said"
    finish
fi
check "$system: the library is built" [ "${code:-0}" -eq 0 ]
[ "${code:-0}" -eq 0 ] || { echo "$said" | note && finish; }

# shellcheck disable=SC2086 # flags are words
${CC:-cc} -std=c11 -I. tests/ports/port.c "$build/libmodelfile.a" \
    ${LIBS:--lz -lm -ldl -fopenmp} -o "$work/port"

copy llama/llama-wide-Q4_K_M.gguf q4_k.gguf
copy good-torch-deflated.pt packed.pt
copy good-deflated.npz packed.npz

same "it reads, decodes, encodes, writes, replaces and edits" \
    q4_k.gguf blk.0.attn_q.weight out
check "$system: and leaves nothing but what was written" \
    [ "$(left | wc -l)" -eq 4 ]

if [ -z "$said" ]; then
    same "compressed members of a checkpoint" packed.pt "$(
        "$build/modelfile" tensors info --json fixtures/good-torch-deflated.pt |
            sed -n 's/.*"tensors":\[{"name":"\([^"]*\)".*/\1/p'
    )" ''
else
    skip "$system: compressed members of a checkpoint" "$said"
fi

# A file of 13 GB, nearly all of it a hole.
name=blk.31.ffn_norm.weight
"$build/tests/big" 7b-32k "$work/here/big.gguf" >/dev/null
at=$("$build/modelfile" tensors info --json "$work/here/big.gguf" "$name" |
    sed -n 's/.*"offset":\([0-9]*\).*/\1/p')
printf 'far away' | dd of="$work/here/big.gguf" bs=1 seek="$at" \
    conv=notrunc 2>/dev/null
ln "$work/here/big.gguf" "$work/there/big.gguf"
check "$system: a tensor is beyond 4 GiB" [ "$at" -gt 4294967296 ]
same "and is read" big.gguf $name
