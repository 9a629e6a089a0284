#!/bin/sh
# SPDX-License-Identifier: MIT
#
# foreign.sh - builds for another processor and runs that in an emulator
#
#     tests/foreign.sh s390x|arm64|armhf [jobs|TEST...]
#     tests/foreign.sh musl|wasi|windows [TEST...]    is port_units.sh
#
# The library, the program and the unit tests are built into
# $BUILD/foreign-ARCH with Debian's cross compiler, and run under qemu-user.
# Then the emulated program and that in $BUILD do the same jobs over the
# fixtures, and what they write and print must be equal byte by byte.  `jobs`:
# only these; a TEST, such as quant for tests/quant/test_quant.c: only that.
#
# s390x is big-endian; armhf has addresses of 32 bits.
#
# zlib, xxHash, cmocka and OpenSSL for the processor are Debian's packages, unpacked in
# that folder; nothing but them is fetched.  Where one is missing, its
# package is named and everything is skipped.
set -u

usage() {
    echo "usage: foreign.sh s390x|arm64|armhf|musl|wasi|windows [jobs|TEST...]" >&2
    exit 2
}

arch=${1:-}
case $arch in
musl | wasi | windows) exec sh tests/ports/port_units.sh "$@" ;;
s390x) triplet=s390x-linux-gnu qemu=qemu-s390x libc=s390x ;;
arm64) triplet=aarch64-linux-gnu qemu=qemu-aarch64 libc=arm64 ;;
armhf) triplet=arm-linux-gnueabihf qemu=qemu-arm libc=armhf ;;
*) usage ;;
esac
shift

native=${BUILD:-build}
build=$native/foreign-$arch
root=$build/root
libraries="zlib1g-dev zlib1g libxxhash-dev libcmocka-dev libcmocka0 libssl3"

# What cannot pass in an emulator, and why.
excluded() {
    cat <<'TESTS'
sandbox        the emulator has no seccomp filter of its own
sandbox_files  the same, for Landlock
host           forks while threads run: an assertion of the emulator ends it
power          reads the counters of the processor that there is
profile        walks the stack and reads the ELF file of the emulator
profile_names  the same
TESTS
}

skip() {
    echo "SKIPPED: foreign $arch: $*"
    exit 0
}

# ---- what is needed

missing=
command -v "$triplet-gcc" >/dev/null || missing="$missing gcc-$triplet"
[ -e "/usr/$triplet/include/stdio.h" ] ||
    missing="$missing libc6-dev-$libc-cross"
command -v "$qemu" >/dev/null || missing="$missing qemu-user"
[ -z "$missing" ] || skip "apt-get install$missing"

fetch() {
    rm -rf "$root" "$build/packages"
    mkdir -p "$build/packages" && cd "$build/packages" || return 1
    for package in $libraries; do
        apt-get download -q "$package:$arch" >fetch.log 2>&1 || return 1
    done
    for package in *.deb; do
        dpkg -x "$package" ../root || return 1
    done
    touch ../.fetched
}
if [ ! -e "$build/.fetched" ]; then
    (fetch) || skip "apt-get cannot download" \
        "$(echo " $libraries" | sed "s/[^ ]\{1,\}/&:$arch/g");" \
        "try: dpkg --add-architecture $arch && apt-get update"
fi
root=$(realpath "$root")

# ---- what the emulator can run

# Some versions end every program that starts a thread, whatever it does.
threads_run() {
    cat >"$build/threads.c" <<'C'
#include <pthread.h>
static void *nothing(void *user) { return user; }
int main(void)
{
    pthread_t thread;
    return pthread_create(&thread, 0, nothing, 0) || pthread_join(thread, 0);
}
C
    "$triplet-gcc" -pthread "$build/threads.c" -o "$build/threads" &&
        "$qemu" -L "/usr/$triplet" "$build/threads" 2>/dev/null
}

# ---- building

if [ "$*" = jobs ]; then
    tests=
elif [ $# -gt 0 ]; then
    tests=$*
else
    tests=$(ls tests/*/test_*.c | sed 's|.*/test_\(.*\)\.c|\1|' |
        grep -vxF "$(excluded | cut -d ' ' -f 1)")
fi
if [ -n "$tests" ] && ! (threads_run) 2>/dev/null; then
    echo "SKIPPED: foreign $arch: unit tests: $qemu ends a program that starts" \
        "a thread"
    tests=
fi
programs=
for test in $tests; do
    programs="$programs $build/tests/test_$test"
done

# -B: where the compiler looks for the archive of zlib.
# shellcheck disable=SC2086 # names have no spaces
make ${JOBS:+-j"$JOBS"} --no-print-directory BUILD="$build" WERROR=-Werror \
    CC="${CCACHE:+$CCACHE }$triplet-gcc -isystem $root/usr/include \
-B$root/usr/lib/$triplet/" \
    AR="$triplet-ar" LDFLAGS="-L$root/usr/lib/$triplet -L$root/lib/$triplet" \
    all $programs || exit 1

# ---- unit tests

# emulated PROGRAM WRAPPER: a script that runs it.
emulated() {
    cat >"$2" <<WRAPPER
#!/bin/sh
exec $qemu -L /usr/$triplet \\
    -E LD_LIBRARY_PATH=$root/usr/lib/$triplet:$root/lib/$triplet \\
    $(realpath "$1") "\$@"
WRAPPER
    chmod +x "$2"
}

mkdir -p "$build/run"
wrappers=
for test in $tests; do
    emulated "$build/tests/test_$test" "$build/run/test_$test"
    wrappers="$wrappers $build/run/test_$test"
done
emulated "$build/modelfile" "$build/run/modelfile"
if [ -n "$tests" ]; then
    # shellcheck disable=SC2086 # names have no spaces
    sh tests/run.sh $wrappers || failed=1
fi
if [ $# -eq 0 ]; then
    excluded | sed "s/^\([^ ]*\) */EXCLUDED: test_\1: /"
elif [ "$*" != jobs ]; then
    exit "${failed:-0}"
fi

# ---- the same bytes

work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-foreign.XXXXXX")
trap 'rm -rf "$work"' EXIT
here=$(realpath "$native/modelfile")
there=$(realpath "$build/run/modelfile")
fixtures=$(realpath fixtures)
count=0 differ=0

# run PROGRAM FOLDER ARGUMENT...: in an empty folder that keeps what it leaves.
run() {
    rm -rf "${work:?}/$2"
    mkdir "$work/$2"
    (
        program=$1
        cd "$work/$2" || exit
        shift 2
        "$program" "$@" --quiet >text 2>errors
        echo $? >code
        sed -i 's/"run":{[^}]*}//' text # time and memory
    )
}

# job ARGUMENT...: both programs leave the same files and say the same.
job() {
    run "$here" here "$@"
    run "$there" there "$@"
    count=$((count + 1))
    diff -r "$work/here" "$work/there" >"$work/diff" && return
    differ=$((differ + 1))
    echo "DIFFERS: modelfile $*"
    head -n 5 "$work/diff"
}

# What was quantized last, by the program for this processor.
keep() {
    rm -f "$work/kept.gguf"
    mv "$work/here/out.gguf" "$work/kept.gguf"
}

quantize_all() {
    wide=$fixtures/llama/llama-wide.gguf
    for type in Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q2_K_S Q3_K_M Q4_K_M Q5_K_M \
        Q6_K IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ2_M IQ3_XXS IQ3_S IQ3_M \
        IQ4_NL IQ4_XS TQ1_0 TQ2_0 Q1_0 Q2_0 mxfp4 nvfp4 F16 BF16 F32; do
        job quantize "$wide" out.gguf $type
        job quantize "$wide" out.gguf $type --report \
            --imatrix "$fixtures/llama/llama-wide.imatrix.dat"
        keep
        job dequantize "$work/kept.gguf" out.gguf --type f32
        job tensors stats --json "$work/kept.gguf"
        job diff --json "$wide" "$work/kept.gguf"
    done
    job quantize "$wide" out.apr apr_q4
    job quantize "$wide" out.apr apr_q8
    job convert "$wide" out.safetensors
    job split "$wide" part --split-max-tensors 5
    job convert "$fixtures/good-llama.gguf" folder/
    for digest in crc32 xxh64 xxh3 xxh128 sha256; do
        job hash --algo $digest "$wide"
    done
    job meta set "$wide" general.name=x --dry-run
}

read_all() {
    for file in "$fixtures"/bad-* "$fixtures"/unsupported-*; do
        job validate --json --data "$file"
    done
    for file in "$fixtures"/good-*; do
        job validate --json --data "$file"
        job tensors stats --json "$file"
        job tensors info --json "$file"
        job meta list --json "$file"
        job hash "$file"
    done
}

convert_all() {
    for file in "$fixtures"/good-*; do
        for to in gguf safetensors apr; do
            job convert --lossy --allow-nonfinite "$file" out.$to
        done
    done
    job convert --bigendian "$fixtures/good-hf-llama" out.gguf
    for order in big little; do
        job convert --endian $order "$fixtures/good-blocks-little.gguf" out.gguf
        job convert --endian $order "$fixtures/good-blocks-big.gguf" out.gguf
        job quantize --endian $order "$fixtures/llama/llama-wide.gguf" \
            out.gguf Q4_K_M
    done
    job imatrix coverage "$fixtures/good-imatrix.dat" \
        "$fixtures/good-llama.gguf"
    job merge "$fixtures/good-imatrix.dat" "$fixtures/good-imatrix.dat" \
        out.gguf
}

quantize_all
read_all
convert_all
echo "$count jobs, $differ of them with another result than on this processor"
[ "$differ" -eq 0 ] || exit 1
exit "${failed:-0}"
