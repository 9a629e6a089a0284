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
        usr/include/modelfile.hpp usr/lib/libmodelfile.a usr/lib/libmodelfile.so \
        usr/lib/libmodelfile.so.0.3 usr/lib/pkgconfig/modelfile.pc \
        usr/lib/cmake/modelfile/modelfile-config.cmake \
        usr/lib/cmake/modelfile/modelfile-config-version.cmake \
        usr/share/man/man1/modelfile.1 usr/share/man/man1/modelfile-meta.1 \
        usr/share/man/man3/modelfile.3 usr/share/man/man3/mf_model_open.3 \
        usr/share/man/man7/modelfile-rules.7 \
        usr/share/bash-completion/completions/modelfile \
        usr/share/zsh/site-functions/_modelfile \
        usr/share/fish/vendor_completions.d/modelfile.fish; do
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
check_empty "the build's place is not in modelfile.pc" \
    grep -n -e "$dir" -e '@' "$root/usr/lib/pkgconfig/modelfile.pc"
with_debug() { # ROOT
    for file in lib/libmodelfile.a lib/libmodelfile.so bin/modelfile; do
        ${OBJDUMP:-objdump} -h "$1/usr/$file" | grep -q -F .debug_ && echo "$file"
    done
}
check_empty "nothing has debugging information" with_debug "$root"
keeps_debug() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s STRIP=: \
        BUILD="${BUILD:-build}" CC="$cc" DESTDIR="$dir/full" PREFIX=/usr install
    with_debug "$dir/full" >"$dir/said"
    [ "$(wc -l <"$dir/said")" -eq 3 ]
}
case " ${CFLAGS:--g} " in
*" -g"*) check "but with STRIP=:" keeps_debug ;;
*) skip "but with STRIP=:" "built without -g" ;;
esac
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

# All of it in one file, with nothing in the environment that would help.
all_static() {
    # shellcheck disable=SC2046 # flags are words
    env -i PATH="$PATH" $cc -std=c11 "$dir/example.c" -static -o "$dir/whole" \
        $(env -i PATH="$PATH" PKG_CONFIG_LIBDIR="$root/usr/lib/pkgconfig" \
            PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
            PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
            pkg-config --static --cflags --libs modelfile) 2>"$dir/linked" &&
        runs env -i "$dir/whole" || { cat "$dir/linked"; return 1; }
}
if ! command -v pkg-config >/dev/null || [ -n "${SAN:-}" ]; then
    skip "a static program is linked as pkg-config --static says" \
        "pkg-config is not installed, or a sanitizer is on"
else
    check "a static program is linked as pkg-config --static says" all_static
fi

# tests/project/sizes.t has the limits of the archive that was built.
small_ones() {
    $cc -O2 -std=c11 -I"$root/usr/include" examples/small.c -Wl,--gc-sections \
        "$root/usr/lib/libmodelfile.a" -lz -lm -ldl -fopenmp -o "$dir/small" &&
        ${STRIP:-strip} "$dir/small" && size=$(wc -c <"$dir/small") &&
        { [ "$size" -le 250000 ] || { echo "$size bytes"; return 1; }; }
}
if [ -n "${SAN:-}" ]; then
    skip "a small program is small with the installed archive" "a sanitizer is on"
else
    check "a small program is small with the installed archive" small_ones
fi

# ---- below no DESTDIR: the loader has to find the library

# A list of the loader that never has it, and says when it was renewed.
cat >"$dir/ldconfig" <<END
#!/bin/sh
echo "ldconfig \$*" >>"$dir/renewed"
END
chmod +x "$dir/ldconfig"

make_own() { # TARGET VARIABLE...
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" \
        BUILD="${BUILD:-build}" CC="$cc" LDCONFIG="$dir/ldconfig" "$@" \
        >"$dir/made" 2>&1 || cat "$dir/made"
}
rpath=-Wl,-rpath,$dir/own/lib
renewed() {
    make_own install PREFIX="$dir/own"
    grep -qF -e "$rpath" "$dir/made" || echo "the line for the linker is missing"
    [ "$(id -u)" -ne 0 ] || [ "$(head -n 1 "$dir/renewed")" = "ldconfig " ] ||
        echo "root does not renew the list"
    [ "$(id -u)" -eq 0 ] || ! grep -qx "ldconfig " "$dir/renewed" ||
        echo "who is not root tries to"
}
check_empty "make install renews the loader's list as root, and says what else helps" \
    renewed
# shellcheck disable=SC2086
check "what it says helps" eval 'link_example "$dir/found" -I"$dir/own/include" \
    -L"$dir/own/lib" -lmodelfile "$rpath" && runs "$dir/found"'
listed() {
    echo "echo ' libmodelfile.so.0.3 (libc6,x86-64) => $dir/own/lib/libmodelfile.so.0.3'" \
        >>"$dir/ldconfig"
    make_own install PREFIX="$dir/own"
    grep -F -e "$rpath" "$dir/made"
}
check_empty "where the list has it, nothing is said" listed
below() {
    rm "$dir/renewed"
    make_own install PREFIX=/usr DESTDIR="$dir/below"
    [ ! -e "$dir/renewed" ] || echo "below DESTDIR the list is renewed"
}
check_empty "below DESTDIR the list is left alone" below

# ---- as docs/embedding.md has it for CMake and Meson

# snippet WORD: the lines of the block of code that begins after "With WORD:".
snippet() {
    awk -v begin="With $1:" '
        $0 == begin { wanted = 1 }
        wanted && /^```/ { if (inside) exit; inside = 1; next }
        inside' docs/embedding.md
}

# built FOLDER COMMAND...: with the library below $dir/own; what it says.
built() {
    (
        cd "$dir/$1" || exit
        shift
        export PKG_CONFIG_PATH="$dir/own/lib/pkgconfig" CC="$cc"
        unset MAKEFLAGS MFLAGS MAKELEVEL
        "$@"
    )
}
with_cmake() {
    mkdir "$dir/cmake" && cp "$dir/example.c" "$dir/cmake/program.c" || return
    {
        echo 'cmake_minimum_required(VERSION 3.13)'
        echo 'project(program C)'
        echo 'add_executable(program program.c)'
        snippet CMake
    } >"$dir/cmake/CMakeLists.txt"
    built cmake cmake -S . -B made && built cmake cmake --build made &&
        runs env LD_LIBRARY_PATH="$dir/own/lib" "$dir/cmake/made/program"
}
with_meson() {
    mkdir "$dir/meson" && cp "$dir/example.c" "$dir/meson/program.c" || return
    {
        echo "project('program', 'c')"
        snippet Meson
    } >"$dir/meson/meson.build"
    built meson meson setup made && built meson meson compile -C made &&
        runs env LD_LIBRARY_PATH="$dir/own/lib" "$dir/meson/made/program"
}
# The package that make install puts down, for both libraries.
finds_package() { # VERSION PREFIX
    rm -rf "$dir/package"
    mkdir "$dir/package" && cp "$dir/example.c" "$dir/package/program.c" || return
    cat >"$dir/package/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(program C)
find_package(modelfile $1 REQUIRED)
add_executable(shared program.c)
target_link_libraries(shared PRIVATE modelfile::modelfile)
add_executable(static program.c)
target_link_libraries(static PRIVATE modelfile::static)
END
    (cd "$dir/package" && CC=$cc cmake -S . -B made -DCMAKE_PREFIX_PATH="$2" &&
        cmake --build made) >"$dir/log" 2>&1
}
package_works() {
    finds_package 0.3 "$root/usr" || { cat "$dir/log"; return 1; }
    runs env LD_LIBRARY_PATH="$root/usr/lib" "$dir/package/made/shared" &&
        runs env -i "$dir/package/made/static" || return
    # Installed below no DESTDIR, too.
    finds_package 0.3.0 "$dir/own" && runs "$dir/package/made/shared" ||
        { cat "$dir/log"; return 1; }
}
package_refuses() {
    for version in 0.2 0.4 1.0 0.3.99; do
        ! finds_package $version "$root/usr" ||
            { echo "$version is found"; return 1; }
        grep -q 'compatible with requested' "$dir/log" ||
            { cat "$dir/log"; return 1; }
    done
}
if ! command -v cmake >/dev/null; then
    skip "find_package(modelfile) finds both libraries" "cmake is not installed"
elif [ -n "${SAN:-}" ]; then
    skip "find_package(modelfile) finds both libraries" "a sanitizer is on"
else
    check "find_package(modelfile) finds both libraries" package_works
    check "but not as another version" package_refuses
fi
for tool in cmake meson; do
    if command -v $tool >/dev/null && command -v pkg-config >/dev/null; then
        check "a program of $tool finds the library, and runs" with_$tool
    else
        skip "a program of $tool finds the library, and runs" \
            "$tool is not installed"
    fi
done

# ---- what building lacks

cat >"$dir/without" <<END
#!/bin/sh
text=\$(cat)
case \$text in *xxhash.h*) exit 1 ;; esac
printf '%s\\n' "\$text" | $cc "\$@"
END
lacking() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s \
        BUILD="$dir/new" CC="sh $dir/without" </dev/null >"$dir/made" 2>&1 &&
        echo "make succeeds"
    grep -q '^Building needs .*: libxxhash-dev$' "$dir/made" || cat "$dir/made"
    grep -q '^make deps .* apt-get install libxxhash-dev$' "$dir/made" ||
        echo "how to install it is missing"
    find "$dir/new" -name '*.o'
}
check_empty "make names the package that is missing, before it compiles" lacking

# What make without a target would make, were it not told to say so only.
not_made() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -n V=1 \
        BUILD="$dir/none" CC="$cc" >"$dir/made" 2>&1
    for file in modelfile libmodelfile.a libmodelfile.so; do
        grep -q "[ ]$dir/none/$file" "$dir/made" || echo "no $file"
    done
}
check_empty "make without a target makes the program and both libraries" not_made

check "make uninstall" make_in_root uninstall
check_empty "leaves nothing" installed
finish
