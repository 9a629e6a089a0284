#!/bin/sh
# SPDX-License-Identifier: MIT
#
# nozlib.t - a build without zlib reads all but what is compressed, and says so
#
# Four files depend on it: they are compiled again and linked before the rest,
# and no zlib is.
#
# shellcheck disable=SC1091,SC2086,SC2317
set -u
. tests/tap.sh

build=${BUILD:-build}
cc=${CC:-cc}
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-nozlib.XXXXXX")
trap 'rm -rf "$work"' EXIT

link() {
    objects=
    for file in lib/io/crc32 lib/model/inflate zip/directory \
        cli/commands/version; do
        object=$work/$(basename $file).o
        $cc -std=c11 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -I. \
            -DMF_NO_ZLIB -c $file.c -o "$object" || return 1
        objects="$objects $object"
    done
    libs=
    for each in ${LIBS:--fopenmp -lm -ldl}; do
        case $each in
        */libz.a | -lz) ;;
        *) libs="$libs $each" ;;
        esac
    done
    $cc $objects $(find "$build/cli" -name '*.o' ! -name version.o) \
        "$build/objects.a" $libs -o "$work/modelfile"
}
check "the program links without zlib" link

says() { # WORDS COMMAND...
    words=$1
    shift
    "$work/modelfile" "$@" 2>&1 | grep -qF "$words"
}
check "version says what is not read" \
    says "deflated members of archives are not read" version
check "and so does its JSON" says '"zlib":false' version --json
check "a compressed member is a finding" \
    says "is compressed by deflate, which this build without zlib cannot" \
    validate fixtures/good-deflated.npz
check "of the rule for methods" \
    says ZIP-METHOD validate fixtures/good-deflated.npz
check "an archive that is not compressed is read" \
    "$work/modelfile" validate --data --quiet fixtures/good-torch.pt

same_sums() {
    for file in fixtures/good-llama.gguf fixtures/good-v1.apr; do
        "$build/modelfile" hash --algo crc32 "$file" 2>/dev/null
    done >"$work/expected"
    for file in fixtures/good-llama.gguf fixtures/good-v1.apr; do
        "$work/modelfile" hash --algo crc32 "$file" 2>/dev/null
    done >"$work/sums"
    [ -s "$work/sums" ] && diff "$work/expected" "$work/sums"
}
check "checksums match zlib" same_sums

# Sums of pieces are joined: against zlib's, of all sizes around powers of two.
joins() {
    cat >"$work/join.c" <<'CODE'
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>
uint32_t mf_crc32_join(uint32_t first, uint32_t second, uint64_t size);
uint32_t mf_crc32(uint32_t crc, const void *bytes, size_t size);
int main(void)
{
    for (int bit = 0; bit < 31; bit++)
        for (int64_t size = (1ll << bit) - 1; size <= (1ll << bit) + 1; size++)
            if (mf_crc32_join(0x12345678, 0x9abcdef0, size) !=
                crc32_combine(0x12345678, 0x9abcdef0, size))
                return 1;
    return mf_crc32(7, "modelfile", 9) != crc32(7, (const void *)"modelfile", 9);
}
CODE
    $cc "$work/join.c" "$work/crc32.o" -lz -o "$work/join" && "$work/join"
}
check "and so are joined ones" joins
finish
