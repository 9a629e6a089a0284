#!/bin/sh
# SPDX-License-Identifier: MIT
#
# detect.t - `detect` opens a file once and takes at most two short looks
#
# strace sees every system call, so nothing that the program says of itself is
# believed here.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

# No leak is looked for: that needs ptrace, which strace has taken.
traced() {
    ASAN_OPTIONS=detect_leaks=0 strace -f -y -s 0 -o "$dir/trace" "$@"
}

# Every call on FILE by its name or by a descriptor, which -y names as well:
#     7 openat(AT_FDCWD</top>, ""..., O_RDONLY) = 3</top/fixtures/x.gguf>
#     7 pread64(3</top/fixtures/x.gguf>, ""..., 64, 0) = 64
# -s 0 leaves no path in quotes, so the result says which file was opened.
# looks_short FILE [TAIL]: at most two reads of 64 bytes, or the second of TAIL.
looks_short() {
    traced "$modelfile" detect "$1" || return 1
    awk -v file="<$1>" -v tail="${2:-}" '
        !index($0, file) { next }
        { print }
        / open(at2?)?\(/ { opened++; next }
        / p?read(64)?\(/ {
            reads++
            sub(/.*>, ""(\.\.\.)?, /, "")
            # The second one is the end of what has an index there.
            if ($0 + 0 > (reads > 1 && tail ? tail : 64))
                long++
            next
        }
        / (p?readv2?|mmap|sendfile|splice|copy_file_range|io_[a-z]+)\(/ {
            other++
        }
        END {
            printf "opened %d, read %d, longer than 64 bytes %d, other %d\n",
                opened, reads, long, other
            exit !(opened == 1 && reads >= 1 && reads <= 2 &&
                !long && !other)
        }' "$dir/trace"
}

if ! traced true 2>/dev/null; then
    echo "1..0 # SKIP strace is not installed, or may not trace here"
    exit 0
fi
for file in good-llama.gguf good-big-endian.gguf bad-v1.gguf \
    good-split-00001-of-00003.gguf good-base.safetensors \
    good-header-room.safetensors good-sharded/model.safetensors.index.json \
    good-imatrix.dat good-base.apr good-metadata-large.apr good-v1.apr \
    unsupported-pickle.bin unsupported-html.gguf \
    bad-version-4.gguf bad-footer.apr; do
    check "$file: at most two reads of 64 bytes" looks_short "$fixtures/$file"
done
for file in unsupported-zip.gguf good-torch.pt good-arrays.npz \
    good-table.parquet; do
    check "$file: a read of 64 bytes and one of the end" \
        looks_short "$fixtures/$file" 65536
done
finish
