#!/bin/sh
# SPDX-License-Identifier: MIT
#
# package.t - what debian/ says of the library is what lib/modelfile.h says
#
# tests/project/deb.t builds the packages.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

version=$(sed -n 's/^#define MF_VERSION_STRING "\(.*\)"/\1/p' lib/modelfile.h)
minor=${version%.*}
package=libmodelfile$minor

check "debian/changelog begins with this version" \
    [ "$(sed -n '1s/^modelfile (\(.*\)) .*/\1/p' debian/changelog)" = "$version" ]
check "CHANGELOG.md does, too" \
    [ "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)" = "$version" ]

# The soname is in the name of the package and of its files.
other_names() {
    ls "debian/$package.install" "debian/$package.symbols" >/dev/null
    grep -qx "Package: $package" debian/control || echo "no package $package"
    grep -noE 'libmodelfile[0-9.]+' debian/control | grep -v ":$package$"
    head -n 1 "debian/$package.symbols" |
        grep -v "^libmodelfile.so.$minor $package "
}
check_empty "the library's package has the soname's number" other_names

functions() {
    awk -f lib/exports.awk -v version="$minor" lib/modelfile.h |
        sed -n "s/^    \(mf_.*\);/\1@MODELFILE_$minor/p" | sort
}
symbols_differ() {
    functions >"$dir/functions"
    [ -s "$dir/functions" ] || echo "no functions"
    sed -n 's/^ \(mf_[^ ]*\) [0-9.]*$/\1/p' "debian/$package.symbols" | sort |
        diff - "$dir/functions"
}
check_empty "debian/*.symbols has every function of modelfile.h" symbols_differ

finish
