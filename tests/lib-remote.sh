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
# Skips all that follows, and ends the script, without libcurl or python3.  Files
# to serve go to $files.
#
#     serve [CERTIFICATE KEY]   starts tests/remote/server.py, with its log in
#                               $log, and sets $port and $base, its address
#     start_server PROGRAM...   any other; what it prints first is in $dir/port
#     same COMMAND...           with @NAME for $here/NAME, and then for
#                               $there/NAME: prints and ends alike
#     same_file OUT COMMAND...  likewise, and OUT is written alike
#
# A server, $server, ends with the script.

# No proxy of the environment gets in between.
unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY CURL_CA_BUNDLE
MODELFILE_TIMEOUT=5
export MODELFILE_TIMEOUT

if ! python3 -c 'import ctypes; ctypes.CDLL("libcurl.so.4")' 2>/dev/null; then
    skip "all else" "python3 or libcurl is not installed"
    finish
fi
files=$dir/files
log=$dir/log
mkdir "$files"

start_server() {
    : >"$dir/port"
    python3 "$@" >"$dir/port" &
    server=$!
    trap 'kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT
    serve_tries=0
    while [ ! -s "$dir/port" ] && [ $serve_tries -lt 100 ]; do
        sleep 0.1
        serve_tries=$((serve_tries + 1))
    done
}
serve() {
    start_server tests/remote/server.py "$files" "$log" "$@"
    port=$(cat "$dir/port")
    base=http://127.0.0.1:$port
}

# plain FILE: what does not depend on where the model is.
plain() {
    sed "/as the cache has it since/d; s|$there/|$here/|g; s/\"run\": *{.*//; s/\"run\":{.*//" "$1"
}
same() {
    local_code=0 remote_code=0
    # shellcheck disable=SC2046 # no name has a space
    "$modelfile" --quiet $(echo "$*" | sed "s|@|$here/|g") \
        >"$dir/local-out" 2>"$dir/local-err" || local_code=$?
    # shellcheck disable=SC2046 # likewise
    "$modelfile" --quiet $(echo "$*" | sed "s|@|$there/|g") \
        >"$dir/remote-out" 2>"$dir/remote-err" || remote_code=$?
    plain "$dir/local-out" >"$dir/local-plain"
    plain "$dir/remote-out" >"$dir/remote-plain"
    plain "$dir/remote-err" | diff "$dir/local-err" - &&
        diff "$dir/local-plain" "$dir/remote-plain" &&
        [ $local_code = $remote_code ]
}
same_file() {
    out=$1
    shift
    same "$@" || return
    mv "$out" "$out.remote"
    # shellcheck disable=SC2046 # likewise
    "$modelfile" --quiet $(echo "$*" | sed "s|@|$here/|g") >/dev/null &&
        cmp "$out" "$out.remote" && rm "$out" "$out.remote"
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
