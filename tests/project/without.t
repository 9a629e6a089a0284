#!/bin/sh
# SPDX-License-Identifier: MIT
#
# without.t - what `make WITHOUT=...` leaves passes its tests
#
# The units' tests are linked with the objects that are left, and run.  Those
# that need what is left out are listed here, and no others may.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

groups="hub restore tokenizers plan"

cc=${CC:-cc}
libs=${LIBS:--lz -lgomp -lpthread -lm -ldl}
# It takes a fifth of the time for a large object.
fast=
! command -v ld.gold >/dev/null 2>&1 || fast=-fuse-ld=gold

# Tests of the groups, by their rooms; and others that convert folders of
# Hugging Face, plan, or have objects of their own (see the Makefile).
needs() { # ROOM NAME
    case $1 in
    card | encode | hub | plan | report | restore | rows | tokenizer | yaml) return 0 ;;
    cli | full | arch) return 0 ;;
    esac
    case $2 in
    compressed | lora | mix_sizes | names | output | projector | source) ;;
    malloc_count | verify | vocab_faults | every_shape | null) ;;
    *) return 1 ;;
    esac
}

env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s BUILD="$build" \
    CC="$cc" WITHOUT="$groups" kept-objects 2>"$dir/said" |
    grep '\.o$' | grep -v ' ' >"$dir/kept"
check "objects are left" [ "$(wc -l <"$dir/kept")" -gt 300 ]
check_empty "and none of them is hub's or plan's" \
    grep -E '/lib/(hf/hub|hf/restore|plan)/' "$dir/kept"

# One object without debugging information: it is linked with each of them.
# shellcheck disable=SC2046 # names are words
check "what is left is one object" $cc -nostdlib -r -Wl,-S $(cat "$dir/kept") \
    -o "$dir/kept.o"

passes() { # OBJECT
    case $1 in
    # They read their own symbols, and lines of the sources.
    */test_profile*) set -- "$1" $(cat "$dir/kept") ;;
    *) set -- -Wl,-S "$1" "$dir/kept.o" ;;
    esac
    # shellcheck disable=SC2086 # flags are words
    $cc $fast "$@" -lcmocka $libs -o "$dir/unit" &&
        "$dir/unit" >"$dir/unit.out" 2>&1 || { cat "$dir/unit.out"; return 1; }
}
count=0
for source in tests/*/test_*.c; do
    room=${source#tests/} room=${room%/*}
    name=${source##*/test_} name=${name%.c}
    needs "$room" "$name" && continue
    check "$room/test_$name" passes "$build/${source%.c}.o"
    count=$((count + 1))
done
check "most rooms are tested" [ "$count" -gt 70 ]
finish
