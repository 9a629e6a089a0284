#!/bin/sh
# SPDX-License-Identifier: MIT
#
# python.t - the tests of python/tests, with each interpreter that is here
#
# One, with NumPy if one has it, says a line for each test; each other a line in
# all, and what failed.  Interpreters are those on PATH, /usr/bin/python3, and
# those that pyenv has installed.  The library is this build's, so it cannot be a
# sanitized one, which only a program with a sanitizer can load.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

if [ -n "${QUICK:-}${SAN:-}" ]; then
    skip "Python" "the plain tests do this"
    finish
fi
. tests/lib-run.sh
. tests/lib-python.sh

if ! has_python; then
    skip "Python" "there is no python3 of version 3.9 or later"
    finish
fi
check "make python" made python
[ "$tap_failed" -eq 0 ] || finish

# ---- which interpreters there are

wanted="python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 pypy3"
# "NUMPY NAME PREFIX EXECUTABLE": "1 python3.11 /usr /usr/bin/python3", ...
describe() {
    "$1" - 2>/dev/null <<'PY'
import sys
from importlib.util import find_spec
name = {"cpython": "python", "pypy": "pypy"}.get(sys.implementation.name)
if name and sys.version_info >= (3, 9):
    version = "%d.%d" % sys.version_info[:2]
    print(int(bool(find_spec("numpy"))), name + version, sys.prefix, sys.executable)
PY
}
for interpreter in "$python" /usr/bin/python3 $wanted "$HOME"/.pyenv/versions/*/bin/python3; do
    describe "$interpreter"
done | awk '!seen[$2, $3]++' >"$dir/found"
main=$(sort -s -k 1,1r "$dir/found" | head -n 1)
missing() {
    for name in $wanted; do
        grep -q "^. ${name}[ .]" "$dir/found" || echo "$name"
    done
}
missing >"$dir/missing"
if [ -s "$dir/missing" ]; then
    skip "other interpreters" "not installed: $(paste -sd ' ' "$dir/missing")"
fi

# ---- their tests

export PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1 BUILD="$build"
run() { # EXECUTABLE
    "$1" python/tests/tap.py
}
# Another one has no line for each test, but all that it says of failures.
others() {
    grep -vxF "$main" "$dir/found" | while read -r _ name _ executable; do
        run "$executable" >"$dir/$name" 2>&1
        code=$?
        ran=$(grep -c '^ok [0-9]* [^#]*$' "$dir/$name")
        skipped=$(grep -c '^ok .*# SKIP' "$dir/$name")
        label="$name: $ran tests, $skipped skipped ($executable)"
        if [ "$code" -eq 0 ] && [ "$ran" -gt 0 ]; then
            echo "ok - $label"
        else
            echo "not ok - $label"
            grep -v '^ok ' "$dir/$name" | sed 's/^#* */# /'
        fi
    done
}
others >"$dir/others" &
echo "# each test by ${main##* }"
run "${main##* }" >"$dir/main" 2>"$dir/main.err"
code=$?
sed 's/^\(\(not \)*ok\) [0-9]* - /\1 - /; /^1\.\./d' "$dir/main"
wait
cat "$dir/others"
cat "$dir/main.err" >&2
failed=$(cat "$dir/main" "$dir/others" | grep -c '^not ok')
[ "$code" -eq 0 ] || failed=$((failed + 1))
total=$(cat "$dir/main" "$dir/others" | grep -c '^\(not \)*ok')
echo "1..$((tap_count + total))"
[ "$failed" -eq 0 ]
