#!/bin/sh
# SPDX-License-Identifier: MIT
#
# seeds.sh - the inputs that the fuzz targets begin with, packed and unpacked
#
#     tests/fuzz/seeds.sh unpack TARGET FOLDER [ARCHIVES]
#     tests/fuzz/seeds.sh pack TARGET FOLDER [ARCHIVES]
#
# Each target has ARCHIVES/TARGET.tar, by default in tests/fuzz/seeds, and lines
# in ARCHIVES.txt: target, and name, size and SHA-256 of each input.  unpack
# writes FOLDER/TARGET, which then has what the list says and nothing else;
# FOLDER/TARGET.txt is the last file written, so that make sees what is whole.
# pack makes the archive of FOLDER/TARGET and its lines of the list: the same
# inputs are always the same bytes.  To add an input:
#
#     make fuzz-seeds && cp INPUT build/seeds/TARGET/
#     sh tests/fuzz/seeds.sh pack TARGET build/seeds
#
# Archives are not compressed: what compressors write depends on their version.
# pack needs GNU tar.
set -eu
LC_ALL=C
export LC_ALL

[ $# -eq 3 ] || [ $# -eq 4 ] || {
    sed -n 's/^# \{0,1\}//; 3,7p' "$0" >&2
    exit 2
}
target=$2
folder=$3/$2
archives=${4:-tests/fuzz/seeds}
archive=$archives/$2.tar
list=$archives.txt

# The lines of the target for what its folder has.
listed() {
    (
        cd "$folder"
        ls -A | while read -r input; do
            sum=$(sha256sum <"$input")
            echo "$target $input $(($(wc -c <"$input"))) ${sum%% *}"
        done
    )
}

# Those of the list: of this target, or of all others.
lines() { # = or !
    awk -v target="$target" "\$1 $1= target" "$list"
}

pack() {
    (cd "$folder" && ls -A) |
        tar --format=ustar --owner=0 --group=0 --numeric-owner --mode=0644 \
            --mtime=@0 --blocking-factor=1 --no-recursion -C "$folder" \
            -cf "$archive" -T -
    touch "$list"
    { lines ! && listed; } | sort -s -k 1,1 >"$list.new"
    mv "$list.new" "$list"
}

unpack() {
    rm -rf "$folder" "$folder.txt"
    mkdir -p "$folder"
    tar -xf "$archive" -C "$folder"
    listed >"$folder.listed"
    lines = | diff - "$folder.listed" || {
        echo "$archive does not have what $list lists" >&2
        exit 1
    }
    mv "$folder.listed" "$folder.txt"
}

case $1 in
pack | unpack) "$1" ;;
*)
    echo "seeds.sh: pack or unpack, not '$1'" >&2
    exit 2
    ;;
esac
