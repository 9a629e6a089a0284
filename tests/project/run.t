#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.t - how tests are counted: whatever one of them does, the others run
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
# shellcheck disable=SC1091
. tests/lib-run.sh

# one NAME TEXT: a test that runs the text.
one() {
    printf '#!/bin/sh\n%s\n' "$2" >"$dir/$1.t"
}
one a 'echo "ok 1 - a"; echo "Bail out! of order"; exit 1'
one b 'echo "ok 1 - b"; echo 1..1'
one c 'echo "ok 1 - c"; echo 1..2'

counted() {
    sh tests/run.sh "$dir/a.t" "$dir/b.t" "$dir/c.t" >"$dir/said" 2>&1 &&
        echo "it says that all is well"
    tail -n 1 "$dir/said" | grep -qx "3 passed, 2 failed, 0 skipped" ||
        tail -n 5 "$dir/said"
}
check_empty "a test that gives up, or ends too early, is one that failed" \
    counted

# ---- their order

names() {
    grep -v '^#' tests/slowest.txt
}
unknown() {
    [ "$(names | wc -l)" -gt 10 ] || echo "few names"
    names | while read -r name; do
        set -- tests/*/"${name%.t}".[tc]
        [ -e "$1" ] || echo "$name"
    done
    names | sort | uniq -d
}
check_empty "tests/slowest.txt has tests that are there, each once" unknown

# The list's second comes after its first, and any other after both.
in_order() {
    names | sed -n '1p; 2p' >"$dir/two"
    first=$(sed -n 1p "$dir/two") second=$(sed -n 2p "$dir/two")
    for name in "${second%.t}" "${first%.t}"; do
        one "$name" 'echo "ok 1 - x"; echo 1..1'
    done
    printf '%s\n' "${first%.t}.t" "${second%.t}.t" >"$dir/list"
    mkdir "$dir/of" && cp tests/run.sh tests/tap.awk "$dir/of" &&
        cp "$dir/list" "$dir/of/slowest.txt" || return
    JOBS=1 sh "$dir/of/run.sh" "$dir/b.t" "$dir/${second%.t}.t" "$dir/${first%.t}.t" 2>&1 |
        sed -n 's|.*/\([a-z_]*\.t\) \.*.*ok.*|\1|p' >"$dir/said"
    { cat "$dir/list" && echo b.t; } | diff - "$dir/said"
}
check "the slowest tests begin first" in_order

finish
