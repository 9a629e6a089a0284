#!/bin/sh
# SPDX-License-Identifier: MIT
#
# abi.t - programs that were compiled before go on with this library
#
# lib/modelfile.abi describes the interface of the shared library.  Any change
# is noticed here; UPDATE=1 describes the new one, but not one that breaks
# programs under a soname that was released.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

cc=${CC:-cc}
libs=${LIBS:--lz -lgomp -lpthread -lm -ldl}
library=$build/libmodelfile.so
known=lib/modelfile.abi

# ---- room for later members ----

# A header with a member more in each struct that has room.
sed 's/uint64_t room\[4\];/uint64_t newer; uint64_t room[3];/
    s/uint32_t room;/uint32_t newer;/' \
    lib/modelfile.h >"$dir/modelfile.h"
cat >"$dir/later.c" <<'PROGRAM'
#include <modelfile.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_tensor tensor = { .newer = 1 };
    struct mf_type_info type = { .newer = 1 };
    struct mf_meta meta = { .newer = 1 };
    struct mf_model *model;

    if (argc < 2 || mf_model_open(env, argv[1], NULL, &model) != MF_OK)
        return 1;
    mf_tensor_at(model, 0, &tensor);
    mf_type_at(0, &type);
    mf_meta_at(model, 0, &meta);
    printf("%s %d %d %d\n", tensor.name.at, (int)tensor.newer,
           (int)type.newer, (int)meta.newer);
    mf_model_close(model);
    mf_env_free(env);
    return 0;
}
PROGRAM
later() {
    # shellcheck disable=SC2086 # flags are words
    $cc -std=c11 -I"$dir" "$dir/later.c" "$build/libmodelfile.a" $libs \
        -o "$dir/later" && "$dir/later" "$fixtures/good-llama.gguf"
}
check "a program with a later header is built, and runs" later
check "and finds 0 in members that this library does not know" \
    [ "$("$dir/later" "$fixtures/good-llama.gguf")" = "token_embd.weight 0 0 0" ]

# What the library fills in, and what is in it: without options, which have
# their size, and without what only the library makes.
without_room() {
    awk '
        /^struct mf_[a-z_]* \{/ { name = $2; room = sized = 0 }
        name && /size_t size; *\/\* of this struct/ { sized = 1 }
        name && /uint(64_t room\[[34]\]|32_t room);/ { room = 1 }
        /^};/ && name { if (!room && !sized) print name; name = "" }
    ' lib/modelfile.h | LC_ALL=C sort >"$dir/without"
    LC_ALL=C sort - <<'NAMES' | LC_ALL=C comm -23 "$dir/without" -
mf_allocator
mf_array
mf_config_fact
mf_difference
mf_edit
mf_error
mf_imatrix_tensor
mf_model_info
mf_new_tensor
mf_pending_edit
mf_progress
mf_quantize_output
mf_span
mf_str
mf_tensor_type
mf_type_cost
mf_value_errors
mf_verified_key
mf_verified_tensor
mf_watch_threshold
NAMES
}
check_empty "every struct that the library fills in has room" without_room

# ---- the interface as it was described ----

if ! command -v abidiff >/dev/null; then
    skip "the interface is the one that is described" \
        "needs abidiff, from Debian's abigail-tools"
    finish
fi
mkdir "$dir/public"
cp lib/modelfile.h "$dir/public"

describe() {
    abidw --headers-dir "$dir/public" --drop-private-types --no-show-locs \
        --no-corpus-path --no-comp-dir-path --no-elf-needed \
        --no-parameter-names --no-write-default-sizes \
        --exported-interfaces-only --type-id-style hash "$1"
}
describe "$library" >"$dir/now.abi"
if ! grep -q "class-decl name='mf_tensor'" "$dir/now.abi"; then
    skip "the interface is the one that is described" \
        "$library has no debugging information"
    finish
fi

soname() {
    sed -n "s/.* soname='\([^']*\)'.*/\1/p" "$1" | head -n 1
}

# Structs that begin with their size, as the program was compiled with it.
sized=$(awk '
    /^struct mf_[a-z_]* \{/ { name = $2 }
    name && /size_t size; *\/\* of this struct/ { print name }
    /^};/ { name = "" }
' lib/modelfile.h | tr '\n' ' ')

# Without the lines that say that these have grown.
but_sized() {
    awk -v sized=" $sized" '
        match($0, /struct mf_[a-z_]*/) {
            name = substr($0, RSTART + 7, RLENGTH - 7)
        }
        /type size changed from/ && $7 > $5 && index(sized, " " name " ") {
            next
        }
        { print }'
}

# From a report of abidiff what a program that was compiled before notices.  A
# line "and offset changed" comes after one that names the member: room, or one
# that is noticed by its name.
breaks() {
    but_sized | grep -E "Removed function|^ *\[D\]|type size changed|deletion|\
offset changed|enumerator.* change|type of '|return type changed" |
        grep -v "'uint64_t room\|and offset changed\|array type size\|: 0 Removed"
}

# The version is not released, and the first with this soname.
may_break() {
    version=$(sed -n 's/.*MF_VERSION_STRING "\(.*\)"/\1/p' lib/modelfile.h)
    grep -qxF "## $version (unreleased)" CHANGELOG.md &&
        [ "${version##*.}" = 0 ]
}

abidiff "$known" "$dir/now.abi" >"$dir/changes" 2>&1
changed=$?
if [ -n "${UPDATE:-}" ] && [ $changed -ne 0 ]; then
    if [ "$(soname "$known")" != "$(soname "$dir/now.abi")" ] || may_break ||
        ! breaks <"$dir/changes" >/dev/null; then
        cp "$dir/now.abi" "$known"
        changed=0
    else
        echo "This breaks programs: it needs another soname." >>"$dir/changes"
    fi
fi
check "the interface is the one that lib/modelfile.abi describes" \
    sh -c 'cat "$1"; exit "$2"' - "$dir/changes" "$changed"

# ---- what this test would notice ----

# differs SED: a description changed like that differs, and breaks.
differs() {
    sed "$1" "$known" >"$dir/other.abi"
    ! abidiff "$dir/other.abi" "$dir/now.abi" >"$dir/report" 2>&1 &&
        breaks <"$dir/report" >/dev/null
}
check "it would notice a function that is gone" \
    differs "s/mf_env_free/mf_env_gone/g"
check "and a struct of another size" differs \
    "/class-decl name='mf_shard' /s/size-in-bits='[0-9]*'/size-in-bits='64'/"
check "and options that have shrunk" differs \
    "/class-decl name='mf_options' /s/size-in-bits='[0-9]*'/size-in-bits='64000'/"

finish
