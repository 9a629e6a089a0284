#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install.t - what `make install` puts down works, and `make uninstall` takes
# all of it away again
#
# Compiles the example at the top of modelfile.h against the installed library,
# static and shared, as a user would, and runs it.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

fixtures=${FIXTURES:-fixtures}
cc=${CC:-cc}
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-install.XXXXXX")
trap 'rm -rf "$dir"' EXIT
root=$dir/root

# A make of our own, not a branch of the one that may run this test: options
# like -n or -j would come along.
make_in_root() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" \
        BUILD="${BUILD:-build}" CC="$cc" DESTDIR="$root" PREFIX=/usr "$1"
}

installed() {
    (cd "$root" && find . ! -type d | LC_ALL=C sort | sed 's|^\./||')
}

# What has to be there, version numbers aside.
files_are_missing() {
    for file in usr/bin/modelfile usr/include/modelfile.h \
        usr/lib/libmodelfile.a usr/lib/libmodelfile.so \
        usr/lib/libmodelfile.so.0.2 usr/lib/pkgconfig/modelfile.pc; do
        [ -e "$root/$file" ] || echo "no $file"
    done
}

# pkg-config leaves out /usr/include and /usr/lib unless told not to.
flags() {
    PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$root/usr/lib/pkgconfig \
        PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
        PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config "$@" modelfile
}

version_differs() {
    header=$(sed -n 's/^#define MF_VERSION_STRING "\(.*\)"/\1/p' \
        lib/modelfile.h)
    [ "$(flags --modversion)" = "$header" ] ||
        echo "pkg-config says $(flags --modversion), modelfile.h $header"
}

# The lines of the first comment that are indented as code.
example() {
    sed -n '/^ \*\//q; s/^ \*     //p' lib/modelfile.h
}

names_and_types() {
    printf '%s f32\n' "$@"
}

# runs PROGRAM: the example says what is in the fixture, and fails as it says.
runs() {
    "$@" "$fixtures/good-base.gguf" >"$dir/said" || return
    names_and_types a.weight b.weight | diff - "$dir/said" || return
    "$@" "$fixtures/no-such-file" && return 1
    [ $? -eq 1 ]
}

# link_example OUT FLAG...
link_example() {
    out=$1
    shift
    $cc -std=c11 -Wall -Wextra -Wpedantic -Werror "$dir/example.c" -o "$out" \
        "$@"
}

mkdir "$root"
check "make install" make_in_root install
check_empty "everything is there" files_are_missing
check_empty "nothing of the build's place is in modelfile.pc" \
    grep -n -e "$dir" -e '@' "$root/usr/lib/pkgconfig/modelfile.pc"
check "the installed program runs" "$root/usr/bin/modelfile" version

example >"$dir/example.c"
shared="-I$root/usr/include -L$root/usr/lib -lmodelfile"
private=-lz
if command -v pkg-config >/dev/null 2>&1; then
    check_empty "pkg-config knows the version" version_differs
    shared=$(flags --cflags --libs)
    private=$(flags --libs --static)
    private=${private#*-lmodelfile}
else
    skip "pkg-config knows the version" "pkg-config is not installed"
fi
static=$(echo "$shared" | sed 's/-lmodelfile/-l:libmodelfile.a/')
# shellcheck disable=SC2086 # flags are words
check "the example links to the shared library" \
    link_example "$dir/shared" $shared
check "and runs" runs env LD_LIBRARY_PATH="$root/usr/lib" "$dir/shared"
# shellcheck disable=SC2086
check "the example links to the static library" \
    link_example "$dir/static" $static $private
check "and runs alone" runs "$dir/static"

check "make uninstall" make_in_root uninstall
check_empty "leaves nothing" installed
finish
