# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# mutants_copy.sh - a copy of the tree, whose code may be changed
#
# For mutants.sh and mutants_rows.sh, which read it with ".".  It makes the
# folder $copy, which is removed in the end, with the tree and what has been
# built in $copy/tree, and goes there; $top is the tree itself.

tab=$(printf '\t')
CC=${CC:-gcc}

die() {
    echo "${0##*/}: $*" >&2
    exit 2
}

copy=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-mutants.XXXXXX") || exit 2
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$copy/tree" "$copy/tmp"

top=$(pwd)
git ls-files -z --cached --others --exclude-standard |
    xargs -0 sh -c 'for file; do [ ! -e "$file" ] || printf "%s\0" "$file"
        done' sh | tar cf - --null -T - | tar xf - -C "$copy/tree" ||
    die "the tree cannot be copied"
if [ -d "${BUILD:-build}" ]; then # for what need not be built again
    mkdir "$copy/tree/build"
    tar cf - -C "${BUILD:-build}" --exclude='./check-*' --exclude=./outside \
        --exclude=./corpus --exclude=./sarif . | tar xf - -C "$copy/tree/build"
fi
cd "$copy/tree" || exit 2
unset BUILD MAKEFLAGS MFLAGS MAKELEVEL

make_them() { # TARGET...
    make -s CC="$CC" CFLAGS="$flags" "$@" >"$copy/log" 2>&1
}

needs() { # TEST: what make must build for it
    case $1 in
    *.t) echo build/modelfile ;;
    *) echo "$1" ;;
    esac
}

run() { # SECONDS TEST
    runner=
    [ "$2" = "${2%.t}" ] || runner=sh
    TMPDIR=$copy/tmp QUICK=1 CONFORMANCE=/nowhere BUILD=build CC=$CC \
        timeout -k 1 "$1" $runner "$2" >"$copy/said" 2>&1 </dev/null
}

milliseconds_of() { # TEST, of those in $copy/times
    awk -v test="$1" '$2 == test { print $1 }' "$copy/times"
}

now_in_ms() {
    echo "$(($(date +%s%N) / 1000000))"
}
