# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # variables are for
#       the script that sources; build: of lib-run.sh
#
# lib-python.sh - what make makes for Python, for the test scripts
#
#     . tests/lib-run.sh
#     . tests/lib-python.sh
#
# Sets python, the interpreter that make uses (PYTHON3, or python3), and version,
# the project's.
#
#     has_python       whether it is there, and not too old
#     made TARGET...   what make prints; one script at a time

# The interpreter itself, and not a script that starts it.
python=${PYTHON3:-python3}
python=$("$python" -c 'import sys; print(sys.executable)' 2>/dev/null || echo "$python")
version=$(sed -n 's/^#define MF_VERSION_STRING "\(.*\)"/\1/p' lib/modelfile.h)

has_python() {
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null
}

# Scripts run at the same time, and would write the same files.
made() {
    set -- env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s \
        --no-print-directory "$@" BUILD="$build" CC="${CC:-cc}" PYTHON3="$python" \
        ${CFLAGS:+CFLAGS="$CFLAGS"}
    if command -v flock >/dev/null; then
        set -- flock "$build/.python" "$@"
    fi
    "$@"
}
