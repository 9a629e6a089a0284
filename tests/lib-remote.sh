# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # variables are for the script that
#                                             sources this, and of lib-run.sh
#
# lib-remote.sh - a server on 127.0.0.1, for tests of models that are read over
# HTTP
#
#     . tests/tap.sh
#     . tests/lib-run.sh
#     . tests/lib-remote.sh
#
# Skips all, and ends the script, without libcurl or python3.  Files to serve
# go to $files.  serve starts tests/remote/server.py, with its log in $log, and
# sets $base, its address, and $server; it ends with the script.

# No proxy of the environment gets in between.
unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY CURL_CA_BUNDLE
MODELFILE_TIMEOUT=5
export MODELFILE_TIMEOUT

if ! python3 -c 'import ctypes; ctypes.CDLL("libcurl.so.4")' 2>/dev/null; then
    skip "all" "python3 or libcurl is not installed"
    finish
fi
files=$dir/files
log=$dir/log
mkdir "$files"

serve() {
    : >"$dir/port"
    python3 tests/remote/server.py "$files" "$log" >"$dir/port" &
    server=$!
    trap 'kill "$server"; rm -rf "$dir"' EXIT
    serve_tries=0
    while [ ! -s "$dir/port" ] && [ $serve_tries -lt 100 ]; do
        sleep 0.1
        serve_tries=$((serve_tries + 1))
    done
    base=http://127.0.0.1:$(cat "$dir/port")
}

# of_remote NAME [FILE]: a number of "remote" in a JSON document.
of_remote() {
    sed -n 's/.*"remote":{\([^}]*\)}.*/\1/p' "${2:-$dir/out}" |
        sed "s/.*\"$1\":\([0-9]*\).*/\1/"
}

# asked_for [PATTERN]: bytes of all ranges in the log, of paths like that.
asked_for() {
    grep "${1:-.}" "$log" | sed -n 's/.*bytes=\([0-9]*\)-\([0-9]*\)$/\1 \2/p' |
        awk '{ sum += $2 - $1 + 1 } END { printf "%d\n", sum }'
}
