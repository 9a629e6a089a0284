#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bare.t - wheel and sdist in bare Debian 12 and 13, for root and for others
#
# `make wheel-check` runs it, as root; it takes minutes, as systems are installed
# and the sdist is compiled.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
mkdir -p "${BUILD:-build}"
. tests/lib-run.sh
. tests/lib-python.sh
. tests/lib-bare.sh

why=$(cannot_be_bare)
has_python || why="there is no python3 of version 3.9 or later"
if [ -n "$why" ]; then
    skip "wheel and sdist in bare systems" "$why"
    finish
fi
wheel=$(made wheel | tail -n 1)
sdist=$(made sdist | tail -n 1)
check "there is a wheel" [ -s "$wheel" ]
check "there is an sdist" [ -s "$sdist" ]
[ "$tap_failed" -eq 0 ] || finish

gets() { # PACKAGE...
    inside apt-get -q -y --no-install-recommends install "$@"
}
# A folder that anybody may write into, with what is installed.
shared() {
    mkdir -m 1777 "$root/shared" &&
        cp "$wheel" "$sdist" "$fixtures/good-llama.gguf" "$root/shared"
}
unpack() {
    inside_other python3 -m zipfile -e "/shared/${wheel##*/}" /shared/unpacked
}
cat >"$dir/try.py" <<'PY'
import modelfile
print(modelfile.__version__)
PY
# try PYTHON PROGRAM WHO...: what is there works, for WHO.
try() {
    interpreter=$1 program=$2
    shift 2
    "$modelfile" tensors info --quiet "$fixtures/good-llama.gguf" >"$dir/expected"
    "$@" env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$path" "$interpreter" \
        -c "$(cat "$dir/try.py")" >"$dir/said" && grep -qx "$version" "$dir/said" &&
        "$@" "$program" tensors info --quiet /shared/good-llama.gguf | cmp - "$dir/expected"
}
try_both() { # NAME PYTHON PROGRAM
    check "$suite: $1" try "$2" "$3" inside
    check "$suite: $1, for another user" try "$2" "$3" inside_other
}
venv_of() { # WHO FOLDER
    "$1" python3 -m venv "$2" && "$1" "$2/bin/pip" -q install --no-index \
        --no-cache-dir "/shared/${wheel##*/}"
}
says_missing() {
    ! inside /root/venv/bin/pip install --no-index "/shared/${sdist##*/}" >"$dir/said" 2>&1 &&
        grep "modelfile: building from source needs GNU make" "$dir/said"
}
says_packages() {
    ! inside /root/venv/bin/pip install --no-index "/shared/${sdist##*/}" >"$dir/said" 2>&1 &&
        grep "modelfile: Building needs (Debian's names): gcc.*zlib1g-dev libxxhash-dev" \
            "$dir/said"
}
compiles() {
    inside /root/venv/bin/pip install --no-index "/shared/${sdist##*/}" >"$dir/said" 2>&1 || {
        tail -n 20 "$dir/said"
        return 1
    }
}

for suite in bookworm trixie; do
    if ! bare_system "$suite"; then
        note <"$dir/bootstrap"
        skip "$suite: wheel and sdist" "mmdebstrap cannot make $suite here"
        continue
    fi
    check "$suite: python3 is there" gets python3
    shared
    check "$suite: the wheel is unpacked" unpack
    # zipfile unpacks no modes.
    chmod 755 "$root/shared/unpacked/modelfile-$version.data/scripts/modelfile"
    path=/shared/unpacked
    try_both "unpacked" python3 "/shared/unpacked/modelfile-$version.data/scripts/modelfile"
    path=
    check "$suite: python3-venv is there" gets python3-venv
    check "$suite: pip installs it" venv_of inside /root/venv
    check "$suite: it works" try /root/venv/bin/python /root/venv/bin/modelfile inside
    check "$suite: pip of another user installs it" venv_of inside_other /shared/venv
    try_both "it works" /shared/venv/bin/python /shared/venv/bin/modelfile

    inside /root/venv/bin/pip -q uninstall -y modelfile
    check "$suite: without make, the sdist says so" says_missing
    [ "$suite" = bookworm ] || continue
    check "$suite: make is there" gets make
    check "$suite: without a compiler, the sdist says so" says_packages
    check "$suite: what it takes is there" gets gcc libc6-dev zlib1g-dev libxxhash-dev
    check "$suite: the sdist is compiled" compiles
    check "$suite: it works, too" try /root/venv/bin/python /root/venv/bin/modelfile inside
done

finish
