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
    "$files/two.safetensors" >/dev/null
cp "$fixtures/good-llama.gguf" "$files"
serve
big=big.safetensors

# Each is a path of its own, for which the server counts requests, and has files
# of its own, as several run at once.
converted() { # HOW NAME
    made=$dir/of-$1
    rm -f "$made.gguf"
    code=0
    "$modelfile" convert --json --threads 1 --names keep "$base/$1/$2" "$made.gguf" \
        >"$made.out" 2>"$made.err" || code=$?
}
right() {
    converted "$@"
    [ $code = 0 ] && cmp "$made.gguf" "$dir/right-$2.gguf" && return
    echo "$1: exit code $code"
    cat "$made.err"
    return 1
}
wrong() {
    converted "$@"
    [ $code = 3 ] && [ ! -e "$made.gguf" ] &&
        [ "$(wc -l <"$made.err")" = 1 ] && return
    echo "$1: exit code $code"
    cat "$made.err"
    return 1
}
for name in $big two.safetensors good-llama.gguf; do
    "$modelfile" convert --quiet --names keep "$files/$name" \
        "$dir/right-$name.gguf" >"$dir/said"
done

# They wait before they try again: eight at a time.
each_byte() { # HOW TEST
    at=0 places=0
    while [ $at -le 512 ]; do
        running=
        for _ in 1 2 3 4 5 6 7 8; do
            { $2 "$1=$at" good-llama.gguf || touch "$dir/failed"; } &
            running="$running $!"
            at=$((at + ${QUICK:+36} + 1)) places=$((places + 1))
        done
        # shellcheck disable=SC2086 # a word for each
        wait $running
    done
    echo "$places places"
    [ ! -e "$dir/failed" ]
}
check "cut at each of the first 512 bytes of an answer, once" each_byte ends right
check "and each time" each_byte ends-always wrong

# The header's rest is the second answer; then come blocks of data.  An answer
# that ends before the place is not tried again.
each_block() { # NAME NUMBER of the answer, its PLACES
    at=65536 cuts=0
    while right "ends=$at,$2" "$1"; do
        if grep -q '"retries":0' "$made.out"; then
            echo "$cuts places"
            [ $cuts -ge "$3" ]
            return
        fi
        cuts=$((cuts + 1))
        at=$((at + 65536 * (${QUICK:+6} + 1)))
    done
    return 1
}
for answer in "$big 1 256" "$big 2 512" "$big 3 256" "$big 4 256" \
    "two.safetensors 2 4800"; do
    # shellcheck disable=SC2086 # the file, the answer's number and its KiB
    set -- $answer
    check "answer $2 of $1, cut at every 64 KiB" each_block "$1" "$2" \
        $(($3 / 64 / (${QUICK:+6} + 1)))
done

for number in 2 3 4 5 6; do
    check "another ETag in answer $number" wrong "etag-at=$number" $big
    check "another size in answer $number" wrong "size-at=$number" $big
done
check "Retry-After as a date" right wait-until=1 $big
check "one that is past" right wait-until=-100 $big
check "one that is far away" wrong wait-until=3600 $big
finish
