#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench_remote.sh - quantize from a server on this machine, compared to a file
#
#     tests/bench/bench_remote.sh [-n RUNS]
#
# Makes a model of SIZE (1024) MiB of f16, which nginx (Debian's nginx-light)
# serves on 127.0.0.1, by http and, with openssl, by https.  Runs from the file
# and from the server take turns.  Prints medians of RUNS (5) runs, the speed as
# a share of that from the file, and what the process that fetches took.
#
# From the environment:
#     MODELFILE   the program to measure           (build/modelfile)
#     BUILD       where the helpers were built     (build)
#     THREADS     of each run                      (1)
#     TYPE        the mix                          (Q4_K_M)
#     PORT        and the one after it             (one of 20000 to 39999)
#     TMPDIR      where the files go: SIZE and a half of disk      (/tmp)
set -eu

runs=5
. "$(dirname "$0")/lib-bench.sh"
unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY
if ! command -v nginx >/dev/null 2>&1; then
    echo "${0##*/}: nginx is not installed" >&2
    exit 2
fi
port=${PORT:-$((20000 + $$ % 20000))}
type=${TYPE:-Q4_K_M}
size=${SIZE:-1024}
"$tests/filled" f16 "$size" model.gguf >/dev/null
sync

secure=
if command -v openssl >/dev/null 2>&1; then
    openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -days 2 \
        -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem \
        2>/dev/null
    secure="listen 127.0.0.1:$((port + 1)) ssl;
        ssl_certificate $dir/cert.pem; ssl_certificate_key $dir/key.pem;"
    CURL_CA_BUNDLE=$dir/cert.pem
    export CURL_CA_BUNDLE
fi
cat >nginx.conf <<END
$([ "$(id -u)" != 0 ] || echo 'user root;')
daemon off;
pid $dir/nginx.pid;
error_log $dir/error.log;
events { }
http {
    access_log off;
    sendfile on;
    client_body_temp_path $dir/body;
    proxy_temp_path $dir/proxy;
    fastcgi_temp_path $dir/fastcgi;
    uwsgi_temp_path $dir/uwsgi;
    scgi_temp_path $dir/scgi;
    server {
        listen 127.0.0.1:$port;
        $secure
        root $dir;
    }
}
END
nginx -p "$dir" -e "$dir/error.log" -c "$dir/nginx.conf" &
server=$!
trap 'kill "$server"; wait "$server" || :; rm -rf "$dir"' EXIT
sleep 1

quantize() {
    "$modelfile" quantize --force --json --threads "${THREADS:-1}" "$1" \
        out.gguf "$type" 2>/dev/null
}

# numbers NAME: what the other process took, added to NAME.txt.
numbers() {
    {
        sed -n 's/.*"remote"://p' said.txt | run_number processor_microseconds
        sed -n 's/.*"remote"://p' said.txt | run_number requests
        sed 's/"remote".*//' said.txt | run_number peak_heap_bytes
        sed -n 's/.*"remote"://p' said.txt | run_number peak_heap_bytes
    } | tr '\n' ' ' >>"$1.txt"
    echo >>"$1.txt"
}
sources="model.gguf http://127.0.0.1:$port/model.gguf"
[ -z "$secure" ] || sources="$sources https://127.0.0.1:$((port + 1))/model.gguf"
cat model.gguf >/dev/null
for _ in $(seq "$runs"); do
    for source in $sources; do
        once "${source%%:*}" quantize "$source"
        numbers "${source%%:*}"
    done
done

printf '%-8s %8s %8s %14s %10s %12s\n' source s speed 'helper, s/GiB' \
    requests 'heap, MiB'
for source in $sources; do
    name=${source%%:*}
    printf '%-8s ' "$([ "$name" = model.gguf ] && echo file || echo "$name")"
    sort -n "$name.txt" | awk -v time="$(once_median "$name")" -v size="$size" \
        -v file="$(once_median model.gguf)" '
        { cpu[NR] = $1; requests = $2; heap = $3 + $4 }
        END {
            printf "%8.2f %8.2f %14.2f %10s %12.1f\n", time / 1e6, file / time,
                cpu[int((NR + 1) / 2)] / 1e6 / size * 1024, requests,
                heap / 1048576
        }'
done
