#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deb.sh - Debian packages of this tree, below BUILD/deb
#
#     tests/deb.sh [FOLDER]
#
# `make deb` calls it.  Copies the tree to FOLDER/modelfile (BUILD/deb/modelfile),
# builds there, and leaves the packages, the source package and build.log in
# FOLDER.  The tree stays as it is.  The caller's compiler and flags are not used:
# the same tree gives the same packages, byte by byte, in any folder, at any time,
# with any umask.
set -eu

deb=${1:-${BUILD:-build}/deb}
rm -rf "$deb"
mkdir -p "$deb/modelfile"

# Packages keep the date of a file that is older than they are.
date=$(dpkg-parsechangelog -S Timestamp)
# Changed files are as they are now, and new ones are there.
sh .ci/files --others --exclude-standard |
    tar -c --null -T - --ignore-failed-read --mtime "@$date" --mode u+rwX,go=rX |
    tar -x -p -C "$deb/modelfile"

cd "$deb/modelfile"
export LC_ALL=C.UTF-8 DEB_BUILD_OPTIONS="nocheck parallel=${JOBS:-$(nproc)}" \
    DEB_BUILD_PROFILES=nocheck
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES -u BUILD -u CC -u CFLAGS \
    -u CPPFLAGS -u LDFLAGS -u SOURCE_DATE_EPOCH \
    dpkg-buildpackage -us -uc -ui -i -I >../build.log 2>&1 || {
    tail -n 40 ../build.log
    exit 1
}
