#!/bin/sh
# SPDX-License-Identifier: MIT
#
# replay.t - every input that fuzzing has kept, and every fixture, through
# every fuzz target
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

build=${BUILD:-build}
archives=tests/fuzz/seeds
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# The same bytes whenever they are packed, by any user.
packs_again() { # TARGET
    mkdir "$dir/$1" &&
        cp "$build/seeds/$1"/* "$dir/$1" && chmod 755 "$dir/$1"/* &&
        sh tests/fuzz/seeds.sh pack "$1" "$dir" "$dir/again" &&
        cmp "$archives/$1.tar" "$dir/again/$1.tar"
}

mkdir "$dir/again"

# Every target has inputs, if only one.
for archive in "$archives"/*.tar; do
    target=${archive##*/}
    target=${target%.tar}
    check "$target: its archive has these inputs" packs_again "$target"
    check "$target" "$build/tests/replay-$target" "$build/seeds/$target" fixtures
done

# Its lines take the place of those that it has in the list.
check "a target is packed once more" \
    sh tests/fuzz/seeds.sh pack zip "$dir" "$dir/again"
check "the list is of these archives" cmp "$archives.txt" "$dir/again.txt"

# An input that is not the one listed.
no_other() {
    mkdir "$dir/spoiled" && cp "$archives/zip.tar" "$dir/spoiled" &&
        cp "$archives.txt" "$dir/spoiled.txt" &&
        printf x | dd of="$dir/spoiled/zip.tar" bs=1 seek=600 conv=notrunc \
            2>"$dir/said" || return
    ! sh tests/fuzz/seeds.sh unpack zip "$dir" "$dir/spoiled" >"$dir/said" &&
        grep -q '^< zip .*\.npz [0-9]* [0-9a-f]*$' "$dir/said" &&
        [ ! -e "$dir/zip.txt" ]
}
check "a changed archive is not unpacked" no_other
finish
