#!/bin/sh
# SPDX-License-Identifier: MIT
#
# remote_counts.t - what reading over HTTP costs: requests, bytes, connections,
# round trips and memory
#
# shellcheck disable=SC1091 # tests run in the top folder
set -u
. tests/tap.sh
. tests/lib-run.sh
. tests/lib-remote.sh

# The bytes of all headers in the folder, and of its index.json.
headers=$(python3 tests/remote/models.py "$files/big.safetensors" \
    "$files/vocab.gguf" "$files/shards")
"$build/tests/filled" f16 64 "$files/f16.gguf" >/dev/null
python3 tests/remote/archive.py "$fixtures/good-torch.pt" "$files/large.pt"
serve

# costs REQUESTS BYTES ARGUMENT...: at most; the program and the server agree.
costs() {
    most_requests=$1 most_bytes=$2
    shift 2
    : >"$log"
    : >"$log.connections"
    ends 0 --json "$@" || return
    requests=$(of_remote requests) bytes=$(of_remote bytes)
    echo "$requests requests, $bytes bytes; at most $most_requests, $most_bytes"
    [ "$requests" -le "$most_requests" ] && [ "$bytes" -le "$most_bytes" ] &&
        [ "$(wc -l <"$log")" = "$requests" ]
}
connected() { # LEAST MOST
    most=$(sort -n "$log.connections" | tail -1)
    echo "$most connections at a time"
    [ "$most" -ge "$1" ] && [ "$most" -le "$2" ]
}
size_of() {
    wc -c <"$files/$1"
}
header_of() {
    echo $(($(od -A n -t u8 -N 8 "$files/$1") + 8))
}

index=$base/good/shards/model.safetensors.index.json
check "163 shards and 90,000 tensors: 170 requests, the headers and 64 KiB each" \
    costs 170 $((headers + 163 * 65536)) tensors "$index"
check "which takes few connections" connected 1 6
check "and so does validate" costs 200 $((headers + 163 * 65536)) validate \
    "$index"
check "a safetensors file: two requests, the header and 256 KiB" costs 2 \
    $(($(header_of big.safetensors) + 262144)) tensors \
    "$base/good/big.safetensors"
check "a header of GGUF of 6 MiB: few requests, and not twice as much" costs 6 \
    $((2 * $(size_of vocab.gguf))) meta list "$base/good/vocab.gguf"
check "an archive of PyTorch by its end: four" costs 4 1000000 tensors \
    "$base/good/large.pt"
check "data once" costs 60 $(($(size_of f16.gguf) / 16 * 17)) \
    quantize "$base/good/f16.gguf" "$dir/o.gguf" Q8_0
check "over several connections" connected 3 6

# slow MOST ARGUMENT...: so many times 400 ms at most.
slow() {
    most=$1
    shift
    before=$(date +%s%N)
    ends 0 "$@" || return
    waited=$((($(date +%s%N) - before) / 1000000))
    echo "$waited ms"
    [ $((waited / 400)) -le "$most" ]
}
for name in f16.gguf vocab.gguf big.safetensors large.pt; do
    check "info $name: four round trips" slow 4 info "$base/delay=400/$name"
done

sum_of_heaps() {
    ends 0 --json quantize "$base/good/f16.gguf" \
        --output Q4_K_M="$dir/a.gguf" --output Q8_0="$dir/b.gguf" \
        --output F16="$dir/c.gguf" || return
    own=$(sed 's/"remote".*//; s/.*"peak_heap_bytes":\([0-9]*\).*/\1/' "$dir/out")
    echo "$own and $(of_remote peak_heap_bytes) bytes"
    [ $((own + $(of_remote peak_heap_bytes))) -le $((16 * 1024 * 1024)) ]
}
if counts_memory; then
    check "several outputs: 16 MiB of heap in both processes" sum_of_heaps
else
    skip "16 MiB of heap" "this build does not count it"
fi
finish
