#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install_deps.sh - installs what make needs, where it is missing
#
#     tests/install_deps.sh build|test|check|ports|site|deb
#     tests/install_deps.sh missing    names what building lacks, installs nothing
#     tests/install_deps.sh mpi MPICC  the same for MPI=1
#
# build: a C compiler, zlib and xxHash.  test: also cmocka, perl for prove, and
# what some tests compare with or look through (strace, valgrind and others).
# check: also what checks more deeply.  Each includes the ones before.  ports:
# compilers for other systems, and what runs their programs; without them the
# tests of the ports are skipped (docs/ports.md).  deb: programs that
# make Debian packages and test them.
#
# Looks for the things themselves (commands, headers), whichever way they came
# here.  Nothing missing: says nothing, asks no network.  On Debian and its
# kin the rest comes through apt-get, as root or by a sudo that asks no
# password; else the line to type is printed, and the exit code is 1, but 0
# where only tests would be skipped.
set -eu

missing=
wanted=

# need PACKAGE: it will be installed.
need() {
    missing="$missing $1"
}

has_command() {
    command -v "$1" >/dev/null 2>&1
}

need_command() { # COMMAND PACKAGE
    has_command "$1" || need "$2"
}

# Without it some tests are skipped, and say so.
want_command() { # COMMAND PACKAGE...
    has_command "$1" && return
    shift
    wanted="$wanted $*"
}

want_library() { # FILE PACKAGE
    for folder in /lib /usr/lib /lib64 /usr/lib64 /lib/* /usr/lib/*; do
        [ ! -e "$folder/$1" ] || return 0
    done
    wanted="$wanted $2"
}

# The compiler that make will use ("cc" by default).
compiler=${CC:-cc}

has_headers() { # HEADER...
    for header in "$@"; do
        echo "#include <$header>"
    done | $compiler -E -x c - >/dev/null 2>&1
}

# Of Python.
want_module() { # MODULE PACKAGE...
    for python in python3 /usr/bin/python3; do
        ! $python -c "import $1" 2>/dev/null || return 0
    done
    shift
    wanted="$wanted $*"
}

need_header() { # HEADER PACKAGE
    has_headers stddef.h stdint.h stdarg.h setjmp.h "$1" || need "$2"
}

# Without a compiler it is unknown which headers it finds: then all of them are
# requested, and apt-get skips those that are installed.
need_for_build() {
    has_command "${compiler%% *}" || need gcc
    need_command ar binutils
    has_headers stdio.h zlib.h xxhash.h && return
    need_header stdio.h libc6-dev
    need_header zlib.h zlib1g-dev
    need_header xxhash.h libxxhash-dev
}

need_for_test() {
    need_header cmocka.h libcmocka-dev
    need_command prove perl
    # It needs libc6-dbg to know the loader's functions.
    want_command valgrind valgrind libc6-dbg
    want_command strace strace
    want_command heaptrack heaptrack
    want_command abidiff abigail-tools
    want_command node nodejs
    want_command git git
    want_command g++ g++ # compiles the public header as C++ does
    want_command pkg-config pkg-config
    want_command xmllint libxml2-utils
    want_command mandoc mandoc
    want_command man man-db groff-base # pages of the manual are printed by it
    want_command zsh zsh
    want_command fish fish
    want_command xxhsum xxhash
    want_library libcrypto.so.3 libssl3
    want_library libcurl.so.4 libcurl4
    want_command openssl openssl # certificates of a server
    want_module ensurepip python3 python3-venv
    want_module numpy python3-numpy
    [ "$(id -u)" -ne 0 ] || want_command mkfs.ext4 e2fsprogs # to be mounted
}

# The sanitizers' run-time comes with clang only by recommendation.
need_for_check() {
    need_command gcc gcc
    if ! echo 'int main(void) { return 0; }' | clang -x c - \
        -fsanitize=address,undefined,fuzzer-no-link -o /dev/null 2>/dev/null
    then
        need clang
        need libclang-rt-dev
    fi
    need_command clang-format clang-format
    want_command shellcheck shellcheck
    want_command pre-commit pre-commit
    want_command mpicc.openmpi libopenmpi-dev openmpi-bin
    want_command mpicc.mpich libmpich-dev mpich
}

want_for_ports() {
    want_command musl-gcc musl-tools
    want_command clang clang libclang-rt-dev-wasm32
    want_command wasm-ld lld
    want_command llvm-ar llvm
    want_command node nodejs
    want_command x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
    want_command wine wine
    want_command dpkg-source dpkg-dev # unpacks the source of zlib
    [ -e /usr/include/wasm32-wasi/stdio.h ] ||
        wanted="$wanted wasi-libc libclang-rt-dev-wasm32"
    [ -e /usr/x86_64-w64-mingw32/include/zlib.h ] ||
        wanted="$wanted libz-mingw-w64-dev"
}

need_for_site() {
    need_command cmark-gfm cmark-gfm
    need_command mandoc mandoc
}

need_for_deb() {
    need_command make make
    need_command dpkg-buildpackage dpkg-dev
    need_command dh debhelper
    need_command dh_python3 dh-python
    need_command python3 python3
    want_command git git
    want_command lintian lintian
    want_command blhc blhc
    [ "$(id -u)" -ne 0 ] || want_command mmdebstrap mmdebstrap
}

case ${1:-} in
site) need_for_site ;;
build) need_for_build ;;
deb)
    need_for_build
    need_for_deb
    ;;
ports) want_for_ports ;;
missing)
    need_for_build
    [ -n "$missing" ] || exit 0
    echo "Building needs (Debian's names):$missing" >&2
    echo "make deps installs this, or: sudo apt-get install$missing" >&2
    exit 1
    ;;
mpi)
    has_command "$2" && exit 0
    echo "MPI=1 needs $2: Debian's package libopenmpi-dev or libmpich-dev" >&2
    exit 1
    ;;
test)
    need_for_build
    need_for_test
    ;;
check)
    need_for_build
    need_for_test
    need_for_check
    ;;
*)
    echo "usage: install_deps.sh build|missing|mpi|test|check|ports|site|deb" >&2
    exit 2
    ;;
esac

[ -n "$missing$wanted" ] || exit 0

# A missing package stops the script only if the build needs it.
give_up() { # WORDS...
    echo "install_deps.sh: $*" >&2
    [ -z "$missing" ] || exit 1
    echo "install_deps.sh: tests that want$wanted are skipped" >&2
    exit 0
}

if ! has_command apt-get; then
    give_up "please install these, or what your system calls them" \
        "(Debian's names):$missing$wanted"
fi

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif has_command sudo && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    give_up "not root, please run:" \
        "sudo apt-get update && sudo apt-get install -y$missing$wanted"
fi

echo "install_deps.sh: installing$missing$wanted" >&2
# env, because sudo may drop what the shell exports.
install() { # PACKAGE...
    [ $# -eq 0 ] ||
        $as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends "$@" >&2
}
# shellcheck disable=SC2086 # words are meant to be split
{
    $as_root apt-get update -q >&2 && install $missing && missing= &&
        install $wanted
} || give_up "apt-get failed"
