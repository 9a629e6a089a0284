#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deb.t - Debian's packages are built, clean, hardened, and go as they came
#
# `make deb-check` runs it; `make test` does not, because it builds everything
# once more, and takes minutes.  Root also installs the packages in a bare system
# (mmdebstrap, from the mirror that apt uses here) and runs debian/tests there.
# REPRODUCE=1 builds twice and compares the packages byte by byte; BUILT=1 takes
# those that `make deb` made before.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
mkdir -p "${BUILD:-build}"
. tests/lib-run.sh
. tests/lib-bare.sh

debs=$build/deb
has() {
    command -v "$1" >/dev/null 2>&1
}
if ! has dpkg-buildpackage || ! has dh; then
    skip "packages are built" "needs dpkg-dev and debhelper"
    finish
fi
version=$(sed -n '1s/^modelfile (\(.*\)) .*/\1/p' debian/changelog)
minor=${version%.*}
packages="modelfile libmodelfile$minor libmodelfile-dev python3-modelfile"
triplet=$(dpkg-architecture -q DEB_HOST_MULTIARCH)

# ---- building

tree() {
    git status --porcelain 2>/dev/null
    find debian fixtures -type f | LC_ALL=C sort
}
tree >"$dir/before"
if [ -n "${BUILT:-}" ]; then
    skip "packages are built" "BUILT=1 takes those that are there"
else
    check "packages are built" sh tests/deb.sh "$debs"
fi
tree_changes() {
    tree | diff "$dir/before" -
}
check_empty "the tree stays as it was" tree_changes

file_of() { # PACKAGE
    find "$debs" -maxdepth 1 -name "$1_*.deb"
}
if [ -n "${REPRODUCE:-}" ]; then
    mkdir "$dir/again"
    again() {
        (umask 077 && TZ=Asia/Tokyo JOBS=1 sh tests/deb.sh "$dir/again/here") || return
        for deb in "$debs"/*.deb; do
            cmp "$deb" "$dir/again/here/${deb##*/}" || return
        done
    }
    check "again, elsewhere, later and with another umask, with the same bytes" again
else
    skip "again, elsewhere, with the same bytes" "REPRODUCE=1 does this"
fi

# ---- what is in them

has_all() {
    for package in $packages modelfile-dbgsym "libmodelfile$minor-dbgsym"; do
        [ -e "$(file_of "$package")" ] || echo "no $package"
    done
}
check_empty "each has its package" has_all
[ -z "$tap_said" ] || finish

# Files and links, without what is documentation or for a shell.
contents_differ() {
    for package in $packages; do
        dpkg-deb --fsys-tarfile "$(file_of "$package")" | tar -t | sed "s|^\.|$package |" |
            grep -v '/$' | grep -v " /usr/share/\(doc\|man\|bash-completion\|fish\|zsh\)/"
    done | sed "s|/$triplet/|/TRIPLET/|" | LC_ALL=C sort >"$dir/contents"
    LC_ALL=C sort - <<FILES | diff - "$dir/contents"
modelfile /usr/bin/modelfile
libmodelfile$minor /usr/lib/TRIPLET/libmodelfile.so.$minor
libmodelfile$minor /usr/lib/TRIPLET/libmodelfile.so.$version
libmodelfile-dev /usr/include/modelfile.h
libmodelfile-dev /usr/include/modelfile.hpp
libmodelfile-dev /usr/lib/TRIPLET/libmodelfile.a
libmodelfile-dev /usr/lib/TRIPLET/libmodelfile.so
libmodelfile-dev /usr/lib/TRIPLET/cmake/modelfile/modelfile-config-version.cmake
libmodelfile-dev /usr/lib/TRIPLET/cmake/modelfile/modelfile-config.cmake
libmodelfile-dev /usr/lib/TRIPLET/pkgconfig/modelfile.pc
$(modules | sed 's|^|python3-modelfile /usr/lib/python3/dist-packages/|')
FILES
}
modules() {
    echo modelfile/_abi.py
    echo modelfile/compat/gguf/_names.py
    sh .ci/files --others --exclude-standard | tr '\0' '\n' |
        sed -n 's|^python/src/||p'
}
check_empty "packages have the files that they should" contents_differ

# Where the system looks for them, and every page that make wrote.
pages_missing() {
    for package in modelfile libmodelfile-dev; do
        dpkg-deb --fsys-tarfile "$(file_of "$package")" | tar -t
    done >"$dir/files"
    {
        cd "$debs/modelfile/build/man" && ls -d man[137]/* | sed 's|.*|man/&.gz|'
        echo bash-completion/completions/modelfile
        echo zsh/vendor-completions/_modelfile
        echo fish/vendor_completions.d/modelfile.fish
    } | while read -r file; do
        grep -qxF "./usr/share/$file" "$dir/files" || echo "no $file"
    done
}
check_empty "pages of the manual and completions are there" pages_missing

documented() {
    for package in $packages; do
        dpkg-deb --fsys-tarfile "$(file_of "$package")" | tar -t >"$dir/files"
        for file in changelog.gz copyright; do
            grep -qx "./usr/share/doc/$package/$file" "$dir/files" ||
                echo "$package: no $file"
        done
    done
    dpkg-deb --fsys-tarfile "$(file_of libmodelfile-dev)" | tar -t >"$dir/files"
    for example in examples/*.c*; do
        grep -qx "./usr/share/doc/libmodelfile-dev/$example" "$dir/files" ||
            echo "no $example"
    done
    dpkg-deb --fsys-tarfile "$(file_of modelfile)" |
        tar -xO ./usr/share/doc/modelfile/changelog.gz | gzip -dc |
        cmp - debian/changelog
}
check_empty "each has its changelog and copyright, and the examples are there" documented

for package in $packages modelfile-dbgsym "libmodelfile$minor-dbgsym"; do
    dpkg-deb -x "$(file_of "$package")" "$dir/files.$package"
done
program=$dir/files.modelfile/usr/bin/modelfile
library=$dir/files.libmodelfile$minor/usr/lib/$triplet/libmodelfile.so.$minor
build_id() {
    readelf -n "$1" 2>/dev/null | sed -n 's/^ *Build ID: //p'
}
finds_symbols() { # FILE PACKAGE
    id=$(build_id "$1")
    [ -n "$id" ] &&
        [ -e "$dir/files.$2/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug" ]
}
check "the program's debugging information is that program's" \
    finds_symbols "$program" modelfile-dbgsym
check "and so is the library's" finds_symbols "$library" "libmodelfile$minor-dbgsym"

# ---- how they were built

if has lintian; then
    check_empty "lintian has no complaint" lintian --allow-root --pedantic \
        "$debs/modelfile_${version}_$(dpkg --print-architecture).changes"
else
    skip "lintian has no complaint" "lintian is not installed"
fi
# Except for programs that only the build runs, and the object in the archive, which
# has not been linked to a program.
if has blhc; then
    check "every compiler's line has the flags of dpkg-buildflags" blhc --debian \
        --bindnow --ignore-line '.* -o build/(rows|fixtures/make)' \
        --ignore-line '.* -nostdlib -r .*' "$debs/build.log"
else
    skip "every compiler's line has the flags of dpkg-buildflags" "blhc is not installed"
fi
# Before they are stripped.
hardened() {
    env -u CC BUILD="$debs/modelfile/build" sh tests/project/harden.t >"$dir/hard" 2>&1
    code=$?
    grep -v '^ok [^#]*$' "$dir/hard"
    return $code
}
check "program and library have the guards that tests/project/harden.t knows" hardened
linked() {
    readelf -d "$program" | grep -F NEEDED >"$dir/needed"
    for name in libz libgomp; do
        grep -qF "[$name.so" "$dir/needed" || echo "not linked with $name"
    done
    readelf -d "$program" "$library" | grep -iE 'rpath|runpath'
    readelf -V "$program" "$library" | grep -o GLIBC_ABI_DT_RELR
}
check_empty "zlib and OpenMP are the system's, and no newer loader is needed" linked
ccache_used() {
    grep -m 1 ccache "$debs/build.log"
}
check_empty "no ccache" ccache_used

# ---- in a bare system

bare="packages are installed, upgraded, removed and purged"
why=$(cannot_be_bare)
if [ -n "$why" ]; then
    skip "$bare" "$why"
    finish
fi
if ! bare_system; then
    note <"$dir/bootstrap"
    skip "$bare" "mmdebstrap cannot make $suite here"
    finish
fi

# An older version, with a file that the new one has no more, and a library of
# another name under the same soname.
mkdir -p "$root/old" "$root/new"
older() { # PACKAGE
    folder=$dir/older.$1
    dpkg-deb -R "$(file_of "$1")" "$folder" || return
    sed -i "s/^Version: .*/Version: $version~~/; s/(\(>*=\) $version)/(\1 $version~~)/" \
        "$folder/DEBIAN/control"
    rm "$folder/DEBIAN/md5sums"
    echo old >"$folder/usr/share/doc/$1/of-the-old"
    for file in "$folder/usr/lib/$triplet/libmodelfile.so.$version"; do
        [ ! -e "$file" ] || {
            mv "$file" "$file.old" &&
                ln -sf "libmodelfile.so.$version.old" "${file%/*}/libmodelfile.so.$minor"
        } || return
    done
    dpkg-deb --root-owner-group -b "$folder" "$root/old" >/dev/null
}
for package in $packages; do
    cp "$(file_of "$package")" "$root/new"
    check "an older $package is made" older "$package"
done

# All that a package could leave: names, kinds, modes.
state() {
    inside find / -xdev \( -path /proc -o -path /tmp -o -path /old -o -path /new -o \
        -path '/var/cache/*' -o -path '/var/log/*' -o -path '/var/lib/apt/*' -o \
        -path '/var/lib/dpkg/*-old' -o -path '/var/lib/dpkg/triggers/*' \) -prune -o \
        -printf '%p %y %m %l\n' | LC_ALL=C sort
    inside dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n'
}
depends() {
    inside apt-get -q -y --no-install-recommends install zlib1g-dev libgomp1 python3
}
check "what they depend on is there" depends
state >"$dir/clean"

installs() { # FOLDER VERSION
    inside sh -c "dpkg -i /$1/*.deb" || return
    # shellcheck disable=SC2086 # names of packages
    inside dpkg-query -W -f '${Version} ${db:Status-Abbrev}\n' $packages | sort -u |
        grep -v "^$2 ii *$" && return 1
    inside modelfile version &&
        inside ldconfig -p | grep -F "libmodelfile.so.$minor "
}
left_of_old() {
    inside find /usr -name of-the-old -o -name 'libmodelfile*.old'
    [ "$(inside readlink "/usr/lib/$triplet/libmodelfile.so.$minor")" = \
        "libmodelfile.so.$version" ] || echo "the soname is not the new library"
}
left() {
    state | diff "$dir/clean" -
}
goes() { # WORD
    # shellcheck disable=SC2086 # names of packages
    inside dpkg "--$1" $packages
}
check "an older version is installed" installs old "$version~~"
check "and upgraded" installs new "$version"
check_empty "and leaves no file" left_of_old
check "packages are removed" goes remove
check_empty "and leave nothing" left
check "a new one is installed" installs new "$version"
check "packages are purged" goes purge
check_empty "and leave nothing, either" left

# ---- debian/tests there

# All in one: what the tests depend on, the packages by their files.
needed() {
    words=$(sed -n 's/^Depends: //p' debian/tests/control | tr -d ',' | tr ' ' '\n' |
        grep -v modelfile | sort -u)
    # shellcheck disable=SC2086 # names of packages
    inside sh -c 'apt-get -q -y --no-install-recommends install /new/*.deb "$@"' - $words
}
check "apt installs them with what debian/tests needs" needed
mkdir -p "$root/tmp/tree/fixtures"
cp -R debian examples "$root/tmp/tree"
cp -R fixtures/llama "$root/tmp/tree/fixtures"
# As a user who may not write there.
runs() { # TEST
    inside_other sh -c 'cd /tmp/tree && sh "debian/tests/$1"' - "$1"
}
for test in $(sed -n 's/^Tests: //p' debian/tests/control); do
    check "debian/tests/$test" runs "$test"
done

finish
