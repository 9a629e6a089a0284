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

finish
