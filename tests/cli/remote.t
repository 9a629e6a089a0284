#!/bin/sh
# SPDX-License-Identifier: MIT
#
# remote.t - models that are read over HTTP, and servers that answer wrongly
#
# All of it happens on 127.0.0.1: tests/remote/server.py is the server.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

# ---- without libcurl, and what is refused on the command line

check "no user names in URLs" expect 2 "passwords in URLs" \
    info http://me:secret@127.0.0.1/model.gguf
check "no spaces in URLs" expect 2 "has a character" info "http://host/a b"
check "a URL has a host" expect 2 "names no host" info http:///model.gguf
check "meta set reads no URL" expect 2 "reads no URLs" \
    meta set http://127.0.0.1/model.gguf general.name=other
check "nothing is written to a URL" expect 2 "cannot be written to" \
    convert "$fixtures/good-llama.gguf" http://127.0.0.1/model.gguf
check "quantize asks for OUT" expect 2 "missing argument OUT" \
    quantize http://127.0.0.1/model.gguf Q8_0
check "convert asks for OUT" expect 2 "missing argument OUT" \
    convert http://127.0.0.1/model.safetensors

mkdir "$dir/empty"
without_curl() {
    LD_LIBRARY_PATH=$dir/empty expect 3 "Debian's package libcurl4" \
        info http://127.0.0.1:9/model.gguf
}
if ! python3 -c 'import ctypes; ctypes.CDLL("libcurl.so.4")' 2>"$dir/why"; then
    if [ -s "$dir/why" ] && python3 -c '' 2>/dev/null; then
        check "an error names the package" without_curl
        skip "all else" "libcurl is not installed"
    else
        skip "all else" "python3 is not installed"
    fi
    finish
fi
: >"$dir/empty/libcurl.so.4"
check "a libcurl that cannot be loaded" without_curl

# ---- the server

. tests/lib-remote.sh
cp -r "$fixtures"/good-llama.gguf "$fixtures"/good-many-tensors.gguf \
    "$fixtures"/good-base.safetensors "$fixtures"/good-dtypes.apr \
    "$fixtures"/good-sharded "$fixtures"/good-hf-llama "$files"
: >"$files/empty.gguf"
"$modelfile" split --quiet "$fixtures/good-llama.gguf" "$files/part" \
    --max-tensors 10 >/dev/null
# A header of 700 KB and 8 MiB of data; a header of GGUF of 6 MiB.
python3 tests/remote/models.py "$files/big.safetensors" "$files/vocab.gguf"

serve
if [ -z "$port" ]; then
    check "the server starts" false
    finish
fi

# ---- the same answers as from the file

here=$files there=$base/good

each_model() {
    for name in good-llama.gguf good-many-tensors.gguf good-base.safetensors \
        good-dtypes.apr part-00001-of-00003.gguf part-00002-of-00003.gguf \
        good-sharded/model.safetensors.index.json \
        good-hf-llama/model.safetensors big.safetensors; do
        check "info $name" same info "@$name"
        check "info --json $name" same info --json "@$name"
        check "tensors $name" same tensors "@$name"
        check "meta list $name" same meta list "@$name"
        check "validate $name" same validate "@$name"
        check "validate --data $name" same validate --data "@$name"
        check "hash $name" same hash "@$name"
        check "diff $name" same diff --values "@$name" "$files/$name"
        check "report $name" same report --json "@$name"
    done
}
each_model
check "tensors stats" same tensors stats @good-llama.gguf
check "meta get" same meta get @good-llama.gguf general.name
check "plan" same plan @good-llama.gguf
check "plan of a folder's file" same plan @good-hf-llama/model.safetensors
check "report" same_file "$dir/page.html" report @good-llama.gguf \
    --output "$dir/page.html" --force
check "tensors export" same_file "$dir/x.npy" tensors export @good-llama.gguf \
    output_norm.weight "$dir/x.npy" --force
check "convert" same_file "$dir/x.gguf" convert @big.safetensors \
    "$dir/x.gguf" --force --names keep
check "convert a folder's file, with its config.json and tokenizer" same_file \
    "$dir/x.gguf" convert @good-hf-llama/model.safetensors "$dir/x.gguf" --force
check "quantize all shards" same_file "$dir/x.gguf" quantize \
    @part-00002-of-00003.gguf "$dir/x.gguf" Q8_0 --force --allow-requantize
check "dequantize" same_file "$dir/x.gguf" dequantize @good-llama.gguf \
    "$dir/x.gguf" --force
cp "$files/good-llama.gguf" "$files/source.gguf"
check "verify" same verify @good-llama.gguf --from @source.gguf
check "a file that is empty" same info @empty.gguf
check "a file without a command" same @good-llama.gguf
echo "$base/good/good-llama.gguf" >"$dir/list"
check "a list of URLs" expect 0 "Tiny Llama" info --files-from "$dir/list"
check "a query and a fragment" expect 0 "output.weight" tensors \
    "$base/good/part-00001-of-00003.gguf?download=true#top"

# ---- how much is fetched

# costs REQUESTS BYTES ARGUMENT...: no more than these for the file itself, and
# the log agrees with what the program says of all.
costs() {
    : >"$log"
    most_requests=$1 most_bytes=$2
    shift 2
    "$modelfile" --json "$@" >"$dir/out" 2>"$dir/err" || return
    requests=$(sed -n 's/.*"remote":{"requests":\([0-9]*\).*/\1/p' "$dir/out")
    bytes=$(sed -n 's/.*"remote":.*"bytes":\([0-9]*\),"retries.*/\1/p' "$dir/out")
    own=$(grep -Ec '(gguf|safetensors) ' "$log")
    echo "$requests requests, $bytes bytes"
    cat "$log"
    [ "$own" -le "$most_requests" ] && [ "$bytes" -le "$most_bytes" ] &&
        [ "$(wc -l <"$log")" = "$requests" ]
}
big=big.safetensors
size_of() {
    wc -c <"$files/$1"
}
check "a small file: one request" costs 1 "$(size_of good-llama.gguf)" \
    validate "$base/good/good-llama.gguf"
# shellcheck disable=SC2046 # one word
check "a long header of safetensors: two, and its bytes with 256 KiB" costs 2 \
    $(($(od -A n -t u8 -N 8 "$files/big.safetensors") + 262144)) \
    tensors "$base/good/big.safetensors"
check "a header of GGUF: six that double" costs 6 16515072 \
    meta list "$base/good/vocab.gguf"
# Texts of 404 are fetched, too.
check "data once, in long ranges" costs 6 $(($(size_of $big) + 2000)) \
    hash --threads 1 "$base/good/big.safetensors"
# One that is late may find its bytes gone.
check "and nearly so with threads" costs 10 $(($(size_of $big) + 1048576)) \
    hash --threads 4 "$base/good/big.safetensors"
"$modelfile" info "$base/good/good-llama.gguf" >/dev/null 2>"$dir/err"
check "the closing line says so" \
    grep -Eq '^fetched 23.7 KiB in 1 request · peak heap' "$dir/err"

# ---- answers that are wrong

llama=good-llama.gguf

right() { # HOW NAME
    "$modelfile" hash --quiet "$files/$2" >"$dir/expected"
    "$modelfile" hash --quiet "$base/$1/$2" >"$dir/out" 2>"$dir/err" || {
        cat "$dir/err"
        return 1
    }
    sed "s|$base/$1/|$files/|" "$dir/out" | diff "$dir/expected" -
}
# One error, and no file.
wrong() { # HOW NAME TEXT
    rm -f "$dir/out.gguf"
    expect 3 "$3" convert --names keep "$base/$1/$2" "$dir/out.gguf" &&
        [ ! -e "$dir/out.gguf" ] && [ "$(ls "$dir"/.??*)" = "" ]
}
check "404" wrong good none.gguf "the server answers 404"
check "403" wrong status=403 $llama "the server answers 403"
check "400" wrong status=400 $llama "the server answers 400"
check "500, again and again" wrong status=500 $llama "the server answers 500"
check "503, once" right status=503,1 $llama
check "429 with a time to wait" right wait=1 $llama
check "429 with a long one" wrong wait=3600 $llama "ask again in 3600 seconds"
check "416" wrong status=416 $llama "status 416"
check "a cut, once" right cut=1000,1 $llama
check "a cut in the data, three times" right cut=100000,3 $big
check "a cut, again and again" wrong cut=1000 $llama "cannot be read"
check "a reset, three times" right reset=3 $llama
check "a reset, again and again" wrong reset=9999 $llama "cannot be read"
# silent HOW: for a second, four times.
silent() {
    MODELFILE_TIMEOUT=1 wrong "$1" $llama "too slow"
}
check "a server that is silent" silent stall=0
check "one that falls silent" silent stall=1000
check "one that drips" silent drip
check "another range" wrong wrong-range $llama "another range"
check "a short range" wrong short-range $llama "another range"
check "a range with more bytes" wrong more $llama "more bytes than its range"
check "a range without a total" wrong no-total $llama "Content-Range"
check "a range with mad numbers" wrong negative $llama "Content-Range"
check "two ranges" wrong twice $llama "Content-Range"
check "a length that is too large" wrong length=7 $llama "Content-Length"
check "an ETag that changes" wrong etag $big "has changed"
check "an ETag that goes away" wrong etag-lost $big "has changed"
check "a size that changes" wrong size $big "has changed"
check "ranges that end" wrong whole-later $big "has changed"
check "a long line" wrong huge-line $llama "cannot be read"
check "a long header" wrong huge-header $llama "longer than 64 KiB"
check "an encoding that was not asked for" wrong gzip $llama "an encoding"
check "what is not HTTP" wrong not-http $llama "cannot be read"
check "chunks" right chunked $big
check "no server there" expect 3 "cannot be read" info http://127.0.0.1:1/x.gguf

# ---- redirects

check "a redirect" right redirect $big
: >"$log"
"$modelfile" hash --quiet "$base/redirect/$big" >/dev/null
check "whose address is kept" [ "$(grep -c "/redirect/$big" "$log")" = 1 ]
check "redirects without an end" wrong circle $llama "more than 10 times"
check "a redirect to a file" wrong to=file:~~ $llama "another protocol"
check "a redirect to FTP" wrong to=ftp:~~127.0.0.1 $llama "another protocol"
check "a redirect to another host" right \
    "to=http:~~localhost:$port~good" $llama
check "an address that expires is asked for again" right expires=2 $big

# ---- servers without ranges

check "a server without ranges" right whole $llama
check "its header of a long file" expect 0 "tensors" info "$base/whole/$big"
check "which is cut" costs 4 2000000 info "$base/whole/$big"
check "a server without sizes" right whole-chunked $llama
check "a long file without a size" wrong whole-chunked $big "not the file's size"
head -c 20000000 /dev/zero >>"$files/vocab.gguf"
check "data of a long file is refused" wrong whole vocab.gguf \
    "first 16 MiB only"
# in_order ARGUMENT...: with --whole the answer is the file's.
in_order() {
    "$modelfile" "$@" --quiet "$files/long.gguf" >"$dir/expected" &&
        "$modelfile" "$@" --quiet --whole "$base/whole/long.gguf" \
            >"$dir/out" 2>"$dir/err" || {
        cat "$dir/err"
        return 1
    }
    sed "s|$base/whole/|$files/|" "$dir/out" | diff "$dir/expected" -
}
written_in_order() {
    "$modelfile" quantize --quiet "$files/long.gguf" "$dir/long.gguf" Q8_0 &&
        ends 0 quantize --whole "$base/whole/long.gguf" "$dir/whole.gguf" Q8_0 &&
        cmp "$dir/long.gguf" "$dir/whole.gguf"
}
# Less memory for what was read than the file has.
"$build/tests/filled" f16 48 "$files/long.gguf" >/dev/null
check "but not with --whole: hash" in_order hash --algo crc32
check "validate --data" in_order validate --data
check "quantize" written_in_order
python3 tests/remote/turned.py "$files/turned.safetensors"
# A file is written as the source has it; a pipe from its beginning to its end.
turned() {
    expect 3 "in order only" convert --whole --names keep --to gguf \
        "$base/whole/turned.safetensors" -
}
check "another order is refused" turned

# ---- the two processes

children() {
    cat "/proc/$1/task/$1/children" 2>/dev/null
}
# It looks for the program once in a second.  Afterwards it may
# stay as a zombie.
gone() { # PROCESS
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        grep -q '^State:.[^Z]' "/proc/$1/status" 2>/dev/null || return 0
        sleep 0.3
    done
    return 1
}
# started URL: sets program and helper.
started() {
    "$modelfile" info "$1" >"$dir/out" 2>"$dir/err" &
    program=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        helper=$(children $program | tr -d ' ')
        [ -z "$helper" ] || break
        sleep 0.1
    done
    sleep 0.3
}
ends_together() { # SIGNAL
    MODELFILE_TIMEOUT=60 started "$base/stall=10/$llama"
    kill -"$1" "$program"
    wait "$program" 2>/dev/null
    gone "$helper"
}
survives() {
    MODELFILE_TIMEOUT=60 started "$base/stall=10/$llama"
    kill -9 "$helper"
    code=0
    wait "$program" || code=$?
    cat "$dir/err"
    [ $code = 3 ] && grep -q "network's process has ended" "$dir/err"
}
if [ -n "$(children $$)" ]; then
    check "the helper ends with the program that is killed" ends_together 9
    check "and with the one that is interrupted" ends_together 15
    check "without its helper the program ends with an error" survives
else
    skip "processes end together" "the system does not list children"
fi

# Every limit is enough, or ends with 5.
limits() {
    failed=0
    for limit in 20K 60K 100K 200K 300K 450K 600K 800K 1200K 2M 4M 64M; do
        code=0
        "$modelfile" hash --quiet --max-memory $limit "$base/good/$big" \
            >"$dir/out" 2>"$dir/err" || code=$?
        [ $code = 0 ] || [ $code = 5 ] || {
            echo "$limit: $code"
            cat "$dir/err"
            failed=1
        }
    done
    [ "$code" = 0 ] && return $failed
}
if counts_memory; then
    check "too little memory is exit code 5" limits
    check "with a limit all bytes pass through the socket" same hash @$big \
        --max-memory 64M
else
    skip "too little memory" "this build does not count it"
fi

kill "$server"

# ---- TLS

# certificate NAME DAYS: for that host, by an authority of its own.
certificate() {
    openssl req -x509 -newkey rsa:2048 -nodes -subj "/CN=$1" -days "$2" \
        -addext "subjectAltName=$3" -keyout "$dir/key.pem" \
        -out "$dir/cert.pem" 2>/dev/null
}
secure() { # the server has the certificate
    serve "$dir/cert.pem" "$dir/key.pem"
    base=https://127.0.0.1:$port
}
expired() {
    openssl req -new -key "$dir/key.pem" -subj /CN=127.0.0.1 \
        -out "$dir/request.pem" 2>/dev/null &&
        printf 'subjectAltName=IP:127.0.0.1\n' >"$dir/names" &&
        : >"$dir/index" && echo 01 >"$dir/serial" &&
        printf '%s\n' '[ca]' 'default_ca=own' '[own]' "database=$dir/index" \
            "serial=$dir/serial" "new_certs_dir=$dir" 'default_md=sha256' \
            'policy=any' '[any]' 'commonName=supplied' >"$dir/ca.cnf" &&
        openssl ca -batch -selfsign -config "$dir/ca.cnf" -in "$dir/request.pem" \
            -keyfile "$dir/key.pem" -extfile "$dir/names" \
            -startdate 20200101000000Z -enddate 20200201000000Z \
            -notext -out "$dir/cert.pem" 2>/dev/null
}
if command -v openssl >/dev/null 2>&1; then
    certificate 127.0.0.1 2 IP:127.0.0.1
    secure
    check "an unknown certificate" wrong good $llama "certificate"
    CURL_CA_BUNDLE=$dir/cert.pem
    export CURL_CA_BUNDLE
    check "a certificate that CURL_CA_BUNDLE has" right good $llama
    check "no way from https to http" wrong "to=http:~~127.0.0.1~good" $llama \
        "from https to http"
    kill "$server"
    certificate other.example 2 DNS:other.example
    secure
    check "another host's certificate" wrong good $llama "cannot be read"
    kill "$server"
    if expired; then
        secure
        check "a certificate that has expired" wrong good $llama "expired"
        kill "$server"
    else
        skip "a certificate that has expired" "openssl does not make one"
    fi
else
    skip "TLS" "openssl is not installed"
fi
trap 'rm -rf "$dir"' EXIT
unset CURL_CA_BUNDLE

# ---- without a URL, and with one

# The first process of a trace is the parser.  Before its sandbox closes, a
# helper's opens /dev/null, and loads libraries.
keeps_out() {
    strace -f -qq -o "$dir/trace" "$modelfile" info "$base/good/$llama" \
        >/dev/null 2>&1
    awk -v landlock="$landlock" '
        NR == 1 { parser = $1 }
        / execve\(/ && NR > 1 { print "runs a program: " $0; bad = 1 }
        $1 == parser && / (socket|connect|sendto|recvfrom|sendmsg)\(/ {
            print "the parser connects: " $0
            bad = 1
        }
        /landlock_restrict_self.*= 0$/ { closed[$1] = 1; entered++ }
        $1 != parser && / connect\(.*sin_port/ {
            connected++
            if (landlock && !closed[$1]) {
                print "before the sandbox: " $0
                bad = 1
            }
        }
        $1 != parser && / open(at)?\(.*O_(WRONLY|RDWR|CREAT)/ &&
            !/"\/dev\/null"/ {
            print "opens to write: " $0
            bad = 1
        }
        END {
            if (!connected || (landlock && entered != 2))
                print "not seen: " connected " connections, " entered " sandboxes"
            exit bad || !connected || (landlock && entered != 2)
        }' "$dir/trace"
}
lends() {
    awk '
        NR == 1 { parser = $1 }
        / mmap\(.*PROT_WRITE, MAP_SHARED\|MAP_ANONYMOUS/ { at = $NF; made++ }
        $1 == parser && at && index($0, " mprotect(" at ",") &&
            /PROT_READ[ )]/ { only++ }
        END { exit made != 1 || only != 1 }' "$dir/trace"
}
sandbox_has() {
    "$modelfile" version --json | grep -q '"sandbox": *{[^}]*"landlock": *[1-9]'
}
if strace -qq -o "$dir/trace" true 2>/dev/null; then
    landlock=0
    ! sandbox_has || landlock=1
    serve
    check "the parser connects to nothing, the helper writes and runs nothing" \
        keeps_out
    check "memory of both is read-only for the parser" lends
    kill "$server"
    strace -f -qq -o "$dir/trace" "$modelfile" info "$files/$llama" \
        >/dev/null 2>&1
    check "without a URL there is no other process, and no socket" \
        sh -c "! grep -E 'fork|socket|libcurl' '$dir/trace'"
else
    skip "no other process" "strace does not work here"
fi
finish
