#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install_deps.sh - installs what make needs, where it is missing
#
#     tests/install_deps.sh build|test|check
#
# build: a C compiler, zlib and xxHash.  test: also cmocka, and perl for prove.
# check: also what checks more deeply.  Each includes the ones before.
#
# Looks for the things themselves (commands, headers), whichever way they came
# here.  Nothing missing: says nothing, asks no network.  On Debian and its
# kin the rest comes through apt-get, as root or by a sudo that asks no
# password; else the line to type is printed, and the exit code is 1.
set -eu

missing=

# need PACKAGE: it is to be installed.
need() {
    missing="$missing $1"
}

need_command() { # COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 || need "$2"
}

# The compiler that make will use ("cc" unless told otherwise).
compiler=${CC:-cc}

has_headers() { # HEADER...
    for header in "$@"; do
        echo "#include <$header>"
    done | $compiler -E -x c - >/dev/null 2>&1
}

need_header() { # HEADER PACKAGE
    has_headers stddef.h stdint.h stdarg.h setjmp.h "$1" || need "$2"
}

# Without a compiler there is no telling which headers it finds: then all of
# them are asked for, and apt-get knows better which are there already.
need_for_build() {
    command -v "${compiler%% *}" >/dev/null 2>&1 || need gcc
    need_command ar binutils
    has_headers stdio.h zlib.h xxhash.h && return
    need_header stdio.h libc6-dev
    need_header zlib.h zlib1g-dev
    need_header xxhash.h libxxhash-dev
}

need_for_test() {
    need_header cmocka.h libcmocka-dev
    need_command prove perl
}

# The sanitizers' run-time comes with clang only by recommendation.  valgrind
# needs libc6-dbg to know the loader's functions; g++ compiles the public
# header as C++ does; pkg-config is how people will link the library.
need_for_check() {
    need_command gcc gcc
    need_command g++ g++
    if ! echo 'int main(void) { return 0; }' | clang -x c - \
        -fsanitize=address,undefined,fuzzer-no-link -o /dev/null 2>/dev/null
    then
        need clang
        need libclang-rt-dev
    fi
    need_command clang-format clang-format
    need_command valgrind valgrind
    command -v valgrind >/dev/null 2>&1 || need libc6-dbg
    need_command strace strace
    need_command pkg-config pkg-config
}

case ${1:-} in
build) need_for_build ;;
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
    echo "usage: install_deps.sh build|test|check" >&2
    exit 2
    ;;
esac

[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "install_deps.sh: please install these, or what your system calls" \
        "them (Debian's names):$missing" >&2
    exit 1
fi

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    echo "install_deps.sh: not root, please run:" \
        "sudo apt-get update && sudo apt-get install -y$missing" >&2
    exit 1
fi

echo "install_deps.sh: installing$missing" >&2
# env, because sudo may drop what the shell exports.
# shellcheck disable=SC2086 # words are meant to be split
{
    $as_root apt-get update -q &&
        $as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends $missing
} >&2
