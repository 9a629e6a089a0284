#!/bin/sh
# SPDX-License-Identifier: MIT
#
# locale.t - no number goes through the locale of the program
#
# shellcheck disable=SC1091 # tests run in the top folder
set -u
. tests/tap.sh

build=${BUILD:-build}
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-locale.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Folders become GGUF files, these come back, headers are written as JSON,
# checkpoints have numbers for keys: as everywhere, though 0.5 is printed "0,5".
tests="test_restore test_hub_keys test_hub_tensors test_hub_back
    test_carry test_carry_apr test_card test_card_names test_torch_names
    test_json_out test_json_values test_json_grammar test_mix test_pattern"

if [ -n "${QUICK:-}" ]; then
    skip "in de_DE.UTF-8" "make check does this"
elif ! localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" >"$work/e" 2>&1; then
    skip "in de_DE.UTF-8" "localedef or its sources are missing"
else
    check "the point is a comma there" [ "$(LC_ALL=de_DE.UTF-8 \
        LOCPATH=$work /usr/bin/printf '%.1f' 0,5)" = 0,5 ]
    for test in $tests; do
        check "$test in de_DE.UTF-8" env LOCPATH="$work" \
            TEST_LOCALE=de_DE.UTF-8 "$build/tests/$test"
    done
fi

# ---- the sources ----

# Calls of the C library that depend on the locale; numbers go through
# lib/base/decimal.h, letters through lib/base/str.h.  The compiler of rows is a
# program of its own, which stays in the locale "C".
calls='strto(d|f|ld)|atof|[fs]?scanf|setlocale|localeconv|nl_langinfo|strftime'
calls="$calls|is(al(num|pha)|blank|cntrl|x?digit|graph|lower|print|punct|space"
calls="$calls|upper)|to(lower|upper)|str(n?casecmp|coll|xfrm)"

# sources FOLDER...: lines of code, without comments.
sources() {
    find "$@" -path lib/rows/maker -prune -o -name '*.[ch]' -print -o \
        -name '*.def' -print | LC_ALL=C sort |
        while read -r file; do
            sed -e 's|/\*.*\*/||' -e '/^ *\/\*/,/\*\//d' "$file" |
                sed "s|^|$file: |"
        done
}
formats=$(sed -n 's/^FORMAT(\([a-z0-9_]*\),.*/\1/p' lib/model/formats.def |
    sort -u)
# shellcheck disable=SC2086 # several folders
sources lib zip $formats >"$work/library"
sources cli >"$work/program"
check_empty "the library calls nothing that depends on the locale" \
    grep -E "(^|[^A-Za-z0-9_.>])($calls) *\\(" "$work/library"
check_empty "and has printf print no floating-point number" \
    grep -E '"[^"]*%[-+ #0-9.*]*l?[aefgAEFG]([^a-z]|$)' "$work/library"
check "the program does, and stays in C's locale" \
    grep -qE '"[^"]*%[-+ #0-9.*]*l?[aefgAEFG]([^a-z]|$)' "$work/program"
check_empty "as it never sets another" \
    grep -E '(^|[^A-Za-z0-9_])(setlocale|uselocale|newlocale) *\(' \
    "$work/program" "$work/library"

finish
