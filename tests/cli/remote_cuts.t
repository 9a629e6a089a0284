#!/bin/sh
# SPDX-License-Identifier: MIT
#
# remote_cuts.t - answers that end early, at every place: the right bytes, or
# one error and no file
#
# Where QUICK is set, some of the places.
#
# shellcheck disable=SC1091 # tests run in the top folder
set -u
. tests/tap.sh
. tests/lib-run.sh
. tests/lib-remote.sh
MODELFILE_TIMEOUT=1 # pauses before retries are short, too
export MODELFILE_TIMEOUT

python3 tests/remote/models.py "$files/big.safetensors" "$files/vocab.gguf" \
    "$files/shards" >/dev/null
cp "$fixtures/good-llama.gguf" "$files"
serve
big=big.safetensors

# Each is a path of its own, for which the server counts requests.
places=0
converted() { # HOW NAME
    places=$((places + 1))
    rm -f "$dir/out.gguf"
    code=0
    "$modelfile" convert --quiet --names keep "$base/$1/$2" "$dir/out.gguf" \
        >"$dir/out" 2>"$dir/err" || code=$?
}
right() {
    converted "$@"
    [ $code = 0 ] && cmp "$dir/out.gguf" "$dir/right-$2.gguf" && return
    echo "$1: exit code $code"
    cat "$dir/err"
    return 1
}
wrong() {
    converted "$@"
    [ $code = 3 ] && [ ! -e "$dir/out.gguf" ] &&
        [ "$(wc -l <"$dir/err")" = 1 ] && return
    echo "$1: exit code $code"
    cat "$dir/err"
    return 1
}
for name in $big good-llama.gguf; do
    "$modelfile" convert --quiet --names keep "$files/$name" \
        "$dir/right-$name.gguf" >"$dir/said"
done

each_byte() { # HOW TEST
    at=0
    while [ $at -le 512 ]; do
        $2 "$1=$at" good-llama.gguf || return
        at=$((at + ${QUICK:+36} + 1))
    done
    echo "$places places"
}
check "cut at each of the first 512 bytes of an answer, once" each_byte ends right
check "and each time" each_byte ends-always wrong

# The header's rest is the second answer; then come blocks of data.
each_block() { # NUMBER of the answer
    at=65536
    while [ $at -le $((8 * 1024 * 1024)) ]; do
        right "ends=$at,$1" $big || return
        at=$((at + 65536 * (${QUICK:+16} + 1)))
    done
}
for number in 1 2 3 4; do
    check "answer $number, cut at every 64 KiB" each_block $number
done

for number in 2 3 4 5 6; do
    check "another ETag in answer $number" wrong "etag-at=$number" $big
    check "another size in answer $number" wrong "size-at=$number" $big
done
check "Retry-After as a date" right wait-until=1 $big
check "one that is past" right wait-until=-100 $big
check "one that is far away" wrong wait-until=3600 $big
finish
