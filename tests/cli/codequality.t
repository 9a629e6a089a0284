#!/bin/sh
# SPDX-License-Identifier: MIT
#
# codequality.t - `validate --format codequality` is what GitLab reads, and its
# fingerprints and the names of JUnit's cases stay the same in the next run
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

if ! command -v node >/dev/null 2>&1; then
    skip "Code Quality" "node is not installed"
    finish
fi
judge=$PWD/tests/cli/codequality.mjs

# report ARGUMENT...: the report in $dir/report.json, judged; its entries in
# $dir/entries.
report() {
    "$modelfile" validate --quiet --format codequality "$@" \
        >"$dir/report.json" 2>/dev/null
    node "$judge" "$dir/report.json" >"$dir/entries" && return
    cat "$dir/entries"
    return 1
}

# has LINE: one of the entries.
has() {
    grep -qxF -- "$1" "$dir/entries" && return
    cat "$dir/entries"
    return 1
}

all() {
    report fixtures/good-* fixtures/bad-* fixtures/unsupported-* || return
    [ "$(wc -l <"$dir/entries")" -gt 500 ]
}
check "the report of every fixture has what GitLab needs, and no fingerprint twice" all

none() {
    report fixtures/good-llama.gguf && [ "$(cat "$dir/report.json")" = "[]" ]
}
check "without findings it is an empty list" none

one() {
    report fixtures/bad-overlap.gguf &&
        has "TENSOR-OVERLAP critical fixtures/bad-overlap.gguf TENSOR-OVERLAP at 0xc0: tensor 'b.weight' overlaps 'a.weight' by 16 bytes" &&
        has "MODEL-UNKNOWN info fixtures/bad-overlap.gguf MODEL-UNKNOWN at 0x40: unknown architecture 'tiny': generic checks only"
}
check "an error is critical, a note information" one

warning() {
    report --data fixtures/bad-data-zero.gguf && grep -q '^DATA-ZERO minor ' "$dir/entries" &&
        report --strict --data fixtures/bad-data-zero.gguf &&
        grep -q '^DATA-ZERO critical ' "$dir/entries"
}
check "a warning minor, unless it is an error" warning

unread() {
    report fixtures/nothing.gguf fixtures/good-base.gguf &&
        has "NOT-READABLE blocker fixtures/nothing.gguf NOT-READABLE: cannot be opened: No such file or directory"
}
check "a file that cannot be read is in the report" unread

unshown() {
    report --max-findings 1 fixtures/bad-data-past-end.apr &&
        has "NOT-SHOWN critical fixtures/bad-data-past-end.apr fixtures/bad-data-past-end.apr: not shown: 1 error, 0 warnings, 1 note; --max-findings 3 shows all" &&
        [ "$(wc -l <"$dir/entries")" = 2 ] &&
        report --max-findings 1 fixtures/bad-overlap.gguf &&
        grep -q '^NOT-SHOWN info ' "$dir/entries"
}
check "what --max-findings leaves out is counted there" unshown

paths() {
    report fixtures/bad-overlap.gguf && cp "$dir/report.json" "$dir/known.json" ||
        return
    for path in ./fixtures/bad-overlap.gguf .//fixtures/./bad-overlap.gguf \
        "$PWD/fixtures/bad-overlap.gguf"; do
        report "$path" && cmp "$dir/report.json" "$dir/known.json" || return
    done
}
check "paths begin at the root of the repository, however the file was named" paths

# fingerprints FILE: of its errors and warnings.
fingerprints() {
    report --data --hide notes "$1" || return
    grep -o '"fingerprint":"[0-9a-f]*"' "$dir/report.json"
}
# titles FILE: the names of the cases.
titles() {
    "$modelfile" validate --quiet --format junit --data --hide notes "$1" |
        grep -o '<testcase [^>]*>'
}
moved() {
    cd "$dir" && cp "$fixtures/bad-data-zero.gguf" m.gguf || return
    fingerprints m.gguf >before && titles m.gguf >names &&
        grep -q "name=\"DATA-ZERO '[a-z.]*'\"" names || return
    place=$(grep -o -m 1 'at 0x[0-9a-f]*' report.json | head -n 1)
    "$modelfile" meta set --quiet m.gguf general.description="$(printf '%0900d' 0)" \
        >/dev/null || return
    fingerprints m.gguf | cmp - before && titles m.gguf | cmp - names &&
        ! grep -q "$place:" report.json
}
check "an edit that moves the data changes no fingerprint and no name of a case" moved

other() {
    cd "$dir" && cp m.gguf n.gguf || return
    fingerprints m.gguf >before
    fingerprints n.gguf | cmp -s - before && return 1
    [ "$(fingerprints n.gguf | wc -l)" = "$(wc -l <before)" ]
}
check "another file has another one" other

# The same findings again, in one run.
again() {
    report fixtures/bad-overlap.gguf fixtures/bad-overlap.gguf &&
        [ "$(grep -c '^TENSOR-OVERLAP ' "$dir/entries")" = 2 ] || return
    "$modelfile" validate --quiet --format junit fixtures/* fixtures/bad-overlap.gguf \
        2>/dev/null | grep -o '<testcase [^>]*>' >"$dir/names"
    grep -q "'b.weight' (2)\"" "$dir/names" && [ "$(wc -l <"$dir/names")" -gt 500 ] &&
        [ -z "$(sort "$dir/names" | uniq -d)" ] && return
    sort "$dir/names" | uniq -d
    return 1
}
check "no entry and no case of JUnit has the names of another one" again

hostile() {
    name=$(printf '%s/odd\033[31m"],\\\377\nx.gguf' "$dir")
    cp fixtures/bad-overlap.gguf "$name" && cd "$dir" && report "$name" || return
    [ "$(wc -l <"$dir/entries")" -ge 2 ] &&
        ! LC_ALL=C grep -q "$(printf '\033')" "$dir/report.json"
}
check "a name of any bytes is text in it" hostile
finish
