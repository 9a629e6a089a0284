#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fixtures.t - the fixtures are what their program writes, byte by byte what
# fixtures/digests.txt lists, and `info` sees in each what fixtures/README.md
# says of it
#
# UPDATE=1 writes that list and that page again, to be read before they are
# committed.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

# listed FOLDER: what is made there, and the SHA-256 of each.
listed() {
    (cd "$1" && find . \( -path './good-*' -o -path './bad-*' \
        -o -path './unsupported-*' -o -path './tokenize/*/*' \
        -o -path './hub/options/*/*' ! -name '*.safetensors' \) ! -xtype d |
        sed 's|^\./||' | LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum)
}

mkdir "$dir/made"
check "the program that writes fixtures runs" \
    "$build/fixtures/make" "$dir/made" "$dir/README.md"
listed "$dir/made" >"$dir/digests.txt"
for page in README.md digests.txt; do
    [ -z "${UPDATE:-}" ] || cp "$dir/$page" "fixtures/$page"
done

as_committed() { # PAGE
    diff "fixtures/$1" "$dir/$1" && return
    echo "if these are right: UPDATE=1 sh tests/project/fixtures.t"
    return 1
}
check "its fixtures have the digests that are listed" as_committed digests.txt
check "its page is that in the repository" as_committed README.md

nothing_else() {
    [ -z "$(find "$dir/made" -mindepth 1 -maxdepth 1 ! -name 'good-*' \
        ! -name 'bad-*' ! -name 'unsupported-*' ! -name tokenize ! -name hub)" ]
}
check "it writes what git ignores, and nothing else" nothing_else

# What the other tests look at.
as_made() {
    listed fixtures >"$dir/here"
    diff fixtures/digests.txt "$dir/here" && return
    echo "to write all of them again: rm fixtures/good-base.gguf && make"
    return 1
}
check "those in fixtures/ are the same" as_made

# Now that the page is known to be right.
. tests/lib-verdicts.sh

# judge FILE VERDICT: as fixtures/README.md explains the verdicts.
judge() {
    code=0
    "$modelfile" info --json "fixtures/$1" >"$dir/out" 2>"$dir/err" || code=$?
    errors=$(number errors) warnings=$(number warnings)
    case $2 in
    good) [ "$code" = 0 ] && [ "$errors" = 0 ] && [ "$warnings" = 0 ] ;;
    warning) [ "$code" = 0 ] && [ "$errors" = 0 ] ;;
    # Faults in what `info` does not look at belong to tests/cli/validate.t.
    error)
        [ "$code" = 0 ] && { [ "$errors" -gt 0 ] ||
            grep -q "^$1[^ ]* error " tests/data/findings.txt; }
        ;;
    *) [ "$code" = 3 ] && grep -q '"error":{"code":3' "$dir/out" ;;
    esac && return
    echo "exit code $code, ${errors:-no} errors, ${warnings:-no} warnings"
    cat "$dir/err"
    return 1
}

while read -r file verdict; do
    check "$file: $verdict" judge "$file" "$verdict"
done <"$dir/verdicts"

check "no fixture is left out" [ "$(wc -l <"$dir/verdicts")" -gt 200 ]

finish
