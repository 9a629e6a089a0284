#!/bin/sh
# SPDX-License-Identifier: MIT
#
# port_build.sh - builds the library for another system than this one
#
#     tests/ports/port_build.sh musl|wasi|windows [TARGET...]
#
# Into $BUILD/SYSTEM: libmodelfile.a, and tests/ports/port.c as port (port.wasm,
# port.exe).  TARGET: more that make is to build there, such as all.  Optimizes
# as PORT_CFLAGS says (-O0, which compiles fast).  With PORT_ONLY=FOLDER only
# TARGET, into that folder; PORT_ZLIB_CFLAGS: zlib's, instead of -O2.
#
# Compilers are Debian's packages (sh tests/install_deps.sh ports).  So is zlib
# for Windows; for the others it is compiled from Debian's source package, which
# apt-get fetches to $BUILD/sources.  Where that cannot be had, the library is
# built without zlib and this says so.  Exit code 77: a package is missing, and
# named.
set -eu

system=${1:-}
[ $# -gt 0 ] && shift
native=${BUILD:-build}
build=${PORT_ONLY:-$native/$system}
sources=$native/sources
optimize=${PORT_CFLAGS:--O0}
missing=

need() { # COMMAND-OR-FILE PACKAGE
    case $1 in
    /*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null ;;
    esac || missing="$missing $2"
}

# The newest version of an LLVM tool that there is.
llvm() { # TOOL
    for found in "/usr/bin/$1" "$(printf '%s\n' /usr/bin/"$1"-* |
        sort -V | tail -n 1)"; do
        [ ! -x "$found" ] || { echo "$found" && return; }
    done
    echo "$1"
}

wide="-Wall -Wextra" # without those that headers of the system break
case $system in
musl)
    need musl-gcc musl-tools
    cc=musl-gcc ar=ar link="-static" program=port warn=
    ;;
wasi)
    need clang clang
    need wasm-ld lld
    need /usr/include/wasm32-wasi/stdio.h wasi-libc
    cc="clang --target=wasm32-wasi -nostdlibinc -isystem /usr/include/wasm32-wasi"
    ar=$(llvm llvm-ar) link="-Wl,--gc-sections -Wl,--strip-debug"
    program=port.wasm warn=
    need "$ar" llvm
    ;;
windows)
    need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
    need /usr/x86_64-w64-mingw32/include/zlib.h libz-mingw-w64-dev
    cc=x86_64-w64-mingw32-gcc ar=x86_64-w64-mingw32-ar
    link="-static -lpthread" program=port.exe warn=WARN=$wide
    ;;
*)
    echo "usage: port_build.sh musl|wasi|windows [TARGET...]" >&2
    exit 2
    ;;
esac
need /usr/include/xxhash.h libxxhash-dev
# clang comes without the compiler's own functions for WebAssembly.
if [ "$system" = wasi ] && [ -z "$missing" ]; then
    [ -e "$(clang --target=wasm32-wasi -print-libgcc-file-name)" ] ||
        missing=" libclang-rt-dev-wasm32"
fi
if [ -n "$missing" ]; then
    echo "apt-get install$missing"
    exit 77
fi

# ---- zlib

# One of Debian's source packages, unpacked in $sources/NAME; false where it
# cannot be had.  The lists are apt's, kept apart from the system's.
fetch() { # NAME
    [ ! -e "$sources/$1/.there" ] || return 0
    command -v apt-get >/dev/null && command -v dpkg-source >/dev/null ||
        return 1
    rm -rf "${sources:?}/$1" && mkdir -p "$sources/lists/partial" \
        "$sources/archives/partial" && (
        cd "$sources"
        # shellcheck disable=SC1091 # says which release this is
        . /etc/os-release
        echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" \
            >sources.list
        from="-q -o Dir::Etc::SourceList=$PWD/sources.list
            -o Dir::Etc::SourceParts=/nonexistent -o Dir::Cache=$PWD
            -o Dir::State::Lists=$PWD/lists -o APT::Sandbox::User=root"
        # shellcheck disable=SC2086 # options are words
        [ -n "$(find lists -name '*Sources*')" ] || apt-get $from update
        # shellcheck disable=SC2086
        apt-get $from source --download-only "$1"
        dpkg-source -x "$1"_*.dsc "$1" && touch "$1/.there"
    ) >"$sources/$1.log" 2>&1
}

# What unpacks and, for tests, packs; and the two checksums.
compile_zlib() {
    for file in adler32 crc32 deflate inffast inflate inftrees trees zutil; do
        # shellcheck disable=SC2086 # flags are words
        $cc ${PORT_ZLIB_CFLAGS:--O2} -DHAVE_HIDDEN -DDYNAMIC_CRC_TABLE -c "$sources/zlib/$file.c" \
            -o "$build/zlib-$file.o" || return 1
    done
    cp "$sources/zlib/zlib.h" "$sources/zlib/zconf.h" "$build/include"
    "$ar" rcs "$build/libz.a" "$build"/zlib-*.o
}

# For unit tests.
compile_cmocka() {
    flags=
    for fact in SETJMP_H SIGNAL_H STDLIB_H STRING_H TIME_H INTTYPES_H UNISTD_H \
        MALLOC_H STRUCT_TIMESPEC CLOCK_GETTIME CLOCK_REALTIME SNPRINTF VSNPRINTF; do
        flags="$flags -DHAVE_$fact"
    done
    # shellcheck disable=SC2086 # flags are words
    $cc -O1 -D_GNU_SOURCE -DHAVE_GCC_THREAD_LOCAL_STORAGE $flags \
        -I"$sources/cmocka/include" -c "$sources/cmocka/src/cmocka.c" \
        -o "$build/cmocka.o" || return 1
    cp "$sources/cmocka/include/cmocka.h" "$build/include"
    "$ar" rcs "$build/libcmocka.a" "$build/cmocka.o"
}

mkdir -p "$build/include"
cp /usr/include/xxhash.h /usr/include/xxh3.h "$build/include"
touch "$build/.found" # what make would look for on this system
zlib=1 archive=$build/libz.a
case $system in
windows) archive=-lz ;;
*)
    if ! [ -e "$archive" ]; then
        # Two of these scripts may run at once.
        mkdir -p "$sources"
        if ! (flock 9 && fetch zlib) 9>"$sources/.lock" || ! compile_zlib; then
            zlib=0 archive=
            echo "no source package of zlib: compressed archives are not read"
        fi
    fi
    ;;
esac

case " $*" in
*/tests/test_*)
    if ! [ -e "$build/libcmocka.a" ]; then
        (flock 9 && fetch cmocka) 9>"$sources/.lock" && compile_cmocka || {
            echo "no source package of cmocka"
            exit 77
        }
    fi
    link="$link -L$(realpath "$build")"
    ;;
esac
# The kernel's headers are not the C library's.
if [ "$system" = musl ]; then
    for folder in linux asm-generic; do
        ln -sfn "/usr/include/$folder" "$build/include/$folder"
    done
    asm=$(find /usr/include -maxdepth 2 -name asm | head -n 1)
    [ -z "$asm" ] || ln -sfn "$asm" "$build/include/asm"
fi

# ---- the library and its test

include="-isystem $(realpath "$build/include")"
[ "$system" = windows ] || [ -z "$archive" ] || archive=$(realpath "$archive")
[ -n "${PORT_ONLY:-}" ] || set -- "$build/libmodelfile.a" "$@"
# make does not see that flags have changed.
if [ "$(cat "$build/.flags" 2>/dev/null)" != "$optimize $zlib" ]; then
    find "$build" -name '*.o' ! -name 'zlib-*' ! -name cmocka.o -delete
    echo "$optimize $zlib" >"$build/.flags"
fi
make ${JOBS:+-j"$JOBS"} --no-print-directory BUILD="$build" AR="$ar" \
    CC="${CCACHE:+$CCACHE }$cc $include" OPENMP=0 ZLIB=$zlib PORTABLE=1 \
    HARDEN= RELRO= PIE= CFLAGS="$optimize" LIBZ="$archive" LIBDL= \
    QUANT_FLAGS="$optimize -fno-fast-math -ffp-contract=off" \
    LDFLAGS="$link" WERROR=-Werror ${warn:+"$warn"} "$@" \
    >"$build/make.log" 2>&1 || {
    tail -n 20 "$build/make.log"
    exit 1
}
[ -z "${PORT_ONLY:-}" ] || exit 0
# shellcheck disable=SC2086 # words
$cc -std=c11 -O1 -I. tests/ports/port.c "$build/libmodelfile.a" $archive $link -lm \
    $([ "$system" != windows ] || echo -D__USE_MINGW_ANSI_STDIO=1) \
    -o "$build/$program"
