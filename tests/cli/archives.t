#!/bin/sh
# SPDX-License-Identifier: MIT
#
# archives.t - members of zip archives: what is listed, and what others say
#
# unzip and zipinfo read the same archives.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

archives() {
    find "$fixtures" -maxdepth 1 -name "$1*.npz" -o -maxdepth 1 -name "$1*.pt" |
        grep -v legacy | LC_ALL=C sort
}

# ---- storages

list() {
    "$modelfile" tensors info --quiet "$@" >"$dir/out" 2>"$dir/err" && return
    cat "$dir/err"
    return 1
}
line() { grep -Eq "$1" "$dir/out" || { cat "$dir/out"; return 1; }; }

once() {
    list "$fixtures/good-torch.pt" || return
    line '^turned .* 24  strided$' && line '^weight .* 24$' &&
        line '^storages: 2 of 32 bytes in all; 2 with several tensors$'
}
check "the bytes of a storage are counted once" once
packed() {
    list "$fixtures/good-deflated.npz" || return
    line '^b .* 8  packed$' &&
        line '^storages: 3 of 424 bytes in all, 429 as they are packed$'
}
check "compressed members are called so" packed
big() {
    list "$fixtures/good-torch-big.pt" && line '^weight .* 24  big-endian$'
}
check "and big-endian numbers" big
without() {
    for file in good-array.npy good-llama.gguf; do
        list "$fixtures/$file" || return
        ! grep storages "$dir/out" || return
    done
}
check "other files have no storages" without
json() {
    list --json "$fixtures/good-torch.pt" || return
    line '"name":"turned","type":"f32","shape":\[3,2\],"offset":960,"bytes":24,"parameters":6,"shard":0,"storage":"x/data/0","strides":\[1,3\]}' &&
        line '"storages":\[{"name":"x/data/0","method":"stored","offset":960,"file_bytes":24,"bytes":24,"tensors":3,"shard":0},'
}
check "JSON has the storage of a tensor, its strides, and all storages" json

# ---- other programs

# The members that arrays lie in: name, method, bytes in the file, bytes.
ours() {
    "$modelfile" tensors info --quiet --json "$1" | tr '{' '\n' | sed -n \
        's/^"name":"\([^"]*\)","method":"\(.\).*","offset":[0-9]*,"file_bytes":\([0-9]*\),"bytes":\([0-9]*\),.*/\1 \2 \3 \4/p'
}
# The same of all members.
theirs() {
    unzip -v "$1" | awk '$7 ~ /^[0-9a-f]+$/ && NF == 8 {
        print $8, tolower(substr($2, 1, 1)), $3, $1 }'
}
same_members() {
    for file in $(archives good-); do
        ours "$file" >"$dir/ours" && theirs "$file" >"$dir/theirs"
        [ -s "$dir/ours" ] || echo "$file: no storages"
        grep -vxFf "$dir/theirs" "$dir/ours" | sed "s|^|$file: |"
    done
}
# Where the data of a member begins, and where the member does.
after_header() {
    for file in $(archives good-); do
        "$modelfile" tensors info --quiet --json "$file" | tr '{' '\n' | sed -n \
            's/^"name":"\([^"]*\)","method":.*"offset":\([0-9]*\),.*/\1 \2/p' |
            while read -r name offset; do
                header=$(zipinfo -v "$file" "$name" | sed -n \
                    's/.*offset of local header from start of archive: *\([0-9]*\).*/\1/p')
                [ "$offset" -ge $((header + 30 + ${#name})) ] &&
                    [ "$offset" -le $((header + 30 + ${#name} + 128)) ] ||
                    echo "$file: $name at $offset, its header at ${header:-?}"
            done
    done
}
good_ones() {
    for file in $(archives good-); do
        unzip -tqq "$file" >"$dir/out" 2>&1 || { echo "$file"; cat "$dir/out"; }
    done
}
# Whatever unzip does not take, or only with a warning.
bad_ones() {
    for file in $(archives bad-); do
        unzip -tqq "$file" </dev/null >"$dir/out" 2>&1 && continue
        "$modelfile" validate --quiet --data --strict "$file" >/dev/null 2>&1 &&
            { echo "$file passes"; cat "$dir/out"; }
    done
}
if command -v unzip >/dev/null; then
    check_empty "unzip lists the same members" same_members
    check_empty "and unpacks the good ones" good_ones
    check_empty "what it complains about is an error or a warning" bad_ones
else
    skip "unzip lists the same members" "no unzip"
fi
if command -v zipinfo >/dev/null; then
    check_empty "zipinfo has headers where data begins" after_header
else
    skip "zipinfo has headers where data begins" "no zipinfo"
fi

# ---- damage

still_read() {
    code=0
    "$modelfile" validate --quiet --data "$fixtures/bad-zip-crc.npz" \
        >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" -eq 1 ] && line "error ZIP-CRC at .* for member 'b.npy'" &&
        line ' 3 tensors, header checked, data checked'
}
check "a damaged member is a finding, and the others are checked" still_read

# Compressed members of 4 MiB: each is several pieces, of one thread.
"${BUILD:-build}/tests/big_archive" deflated "$dir/big.npz"
# read_once COMMAND...: of the archive hardly a byte more than once.
read_once() {
    "$modelfile" "$@" --json --threads 2 >"$dir/out"
    read=$(sed 's/.*"bytes_read":\([0-9]*\).*/\1/' "$dir/out" | tail -n 1)
    others=$(stat -c %s "$dir/big.gguf" 2>/dev/null || echo 0)
    [ "$read" -le $(($(stat -c %s "$dir/big.npz") / 100 * 103 + others)) ] ||
        { echo "read $read"; return 1; }
}
check "a compressed member is read once, for its checksum and its values" \
    read_once validate --data "$dir/big.npz"
check "to be converted" \
    read_once convert "$dir/big.npz" "$dir/big.gguf" --type bf16
check "and to be compared" \
    read_once diff --values "$dir/big.npz" "$dir/big.gguf"
rm "$dir/big.gguf"

# Columns first: what is wanted next is all over the member, which is unpacked to
# a temporary file.
"${BUILD:-build}/tests/big_archive" transposed "$dir/columns.npz"
# few_passes COMMAND...: of the archive a few times its bytes, in little memory.
few_passes() {
    "$modelfile" "$@" --json --threads 2 --max-memory 2M >"$dir/out"
    read=$(sed 's/.*"bytes_read":\([0-9]*\).*/\1/' "$dir/out" | tail -n 1)
    [ "$read" -le $(($(stat -c %s "$dir/columns.npz") * 4)) ] ||
        { echo "read $read"; return 1; }
}
check "a compressed array with its columns first is read a few times" \
    few_passes hash "$dir/columns.npz"
check "to be checked" few_passes validate --data "$dir/columns.npz"
check "to be converted" \
    few_passes convert "$dir/columns.npz" "$dir/columns.safetensors"
check "and is the same then" \
    "$modelfile" diff "$dir/columns.npz" "$dir/columns.safetensors"
no_folder() {
    code=0
    TMPDIR="$dir/none" "$modelfile" hash --max-memory 2M "$dir/columns.npz" \
        >"$dir/out" 2>"$dir/err" || code=$?
    grep 'is unpacked to a temporary file' "$dir/err" && [ "$code" -eq 3 ]
}
check "without a folder for that file it is refused" no_folder
check "but not where memory has room" \
    env TMPDIR="$dir/none" "$modelfile" hash --quiet "$dir/columns.npz"
rm "$dir/columns.npz" "$dir/columns.safetensors"

# The member 3 of 32, from its middle on, is other bytes.
damage() {
    size=$(stat -c %s "$dir/big.npz")
    dd if=/dev/zero of="$dir/big.npz" bs=1 count=3000 conv=notrunc \
        seek=$((size / 64 * 7)) 2>"$dir/err"
    for threads in 1 2; do
        "$modelfile" validate --quiet --data --threads "$threads" \
            "$dir/big.npz" >"$dir/out"
        line "error ZIP-SIZE at .* of member 'array3.npy' is damaged" &&
            line ' 1 error, 0 warnings; 32 tensors' || return 1
    done
}
check "one that cannot be unpacked is one finding" damage
rm "$dir/big.npz"

# A member of 1 MB in 141 bytes is refused before it is unpacked.
bomb() {
    "$modelfile" validate --data --json "$fixtures/bad-zip-ratio.npz" >"$dir/out"
    read=$(sed 's/.*"bytes_read":\([0-9]*\).*/\1/' "$dir/out")
    [ "$read" -le 4096 ] || { cat "$dir/out"; return 1; }
}
check "an archive that unpacks to very much is not unpacked" bomb

finish
