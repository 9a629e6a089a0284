#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fixtures.t - the fixtures are what their program writes, and `info` sees in
# each what fixtures/README.md says of it
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh
. tests/lib-verdicts.sh

mkdir "$dir/made"
check "the program that writes fixtures runs" "$build/fixtures/make" "$dir/made"
as_committed() {
    diff -r --exclude='make*' --exclude=.gitattributes --exclude=quant \
        --exclude=mix --exclude=llama --exclude=tokenize --exclude=hub fixtures "$dir/made" && return
    echo "to take what it writes: $build/fixtures/make fixtures"
    return 1
}
check "it writes every committed byte, and nothing else" as_committed

# judge FILE VERDICT: as fixtures/README.md explains the verdicts.
judge() {
    code=0
    "$modelfile" info --json "fixtures/$1" >"$dir/out" 2>"$dir/err" || code=$?
    errors=$(number errors) warnings=$(number warnings)
    case $2 in
    good) [ "$code" = 0 ] && [ "$errors" = 0 ] && [ "$warnings" = 0 ] ;;
    warning) [ "$code" = 0 ] && [ "$errors" = 0 ] ;;
    # Faults in what `info` does not look at belong to tests/validate.t.
    error)
        [ "$code" = 0 ] && { [ "$errors" -gt 0 ] ||
            grep -q "^$1[^ ]* error " tests/golden/findings; }
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
