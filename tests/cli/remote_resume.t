#!/bin/sh
# SPDX-License-Identifier: MIT
#
# remote_resume.t - with --resume, work on a model on a server goes on after a
# stop, and fetches little of what it had again
#
# REMOTE_KILLS sets how often it is killed at random moments.
#
# shellcheck disable=SC1091,SC2086 # tests run in the top folder, and commands
#                                    are words
set -u
. tests/tap.sh
. tests/lib-run.sh
. tests/lib-remote.sh

endless=$build/modelfile-endless
kills=${REMOTE_KILLS:-${QUICK:+5}}
kills=${kills:-100}
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
"$build/tests/filled" f16 160 "$files/in.gguf" >/dev/null
serve
mkdir "$dir/work"

left() {
    find "$dir/work" -name '.*' -type f
}

# stop WHERE ARGUMENT...: kills it in that write (tests/programs/endless.c).
stop() {
    where=$1
    shift
    : >"$dir/said"
    env "ENDLESS_$where" "$endless" "$@" >"$dir/printed" 2>"$dir/said" &
    child=$!
    for _ in $(seq 3000); do
        ! grep -q '^endless' "$dir/said" || break
        kill -0 "$child" 2>/dev/null || break
        sleep 0.01
    done
    kill -KILL "$child" 2>/dev/null
    wait "$child" 2>/dev/null
    [ -n "$(left)" ] || {
        cat "$dir/said"
        echo "nothing is kept"
        return 1
    }
}

again_most=$((64 * 1024 * 1024))

# goes_on WRITE COMMAND...: with @ for the input: killed twice, and it goes on; both
# as a whole do not ask for more than the file and 64 MiB for each kill.
goes_on() {
    writes=$1
    shift
    rm -rf "$dir/work" "$dir/whole"
    mkdir "$dir/work"
    "$modelfile" $(echo "$*" | sed "s|@|$files/in.gguf|") >"$dir/said" 2>&1 ||
        return
    mv "$dir/work" "$dir/whole"
    mkdir "$dir/work"
    : >"$log"
    command=$(echo "$*" | sed "s|@|$base/good/in.gguf|")
    stop WRITE=$writes $command --resume --threads 1 || return
    stop WRITE=$((writes / 2)) $command --resume --threads 2 || return
    ends 0 $command --resume --json || return
    asked=$(asked_for) size=$(wc -c <"$files/in.gguf")
    echo "asked for $asked bytes of $size, and $(of_remote bytes) at last"
    [ "$asked" -le $((size + 2 * again_most)) ] &&
        [ "$(of_remote bytes)" -lt "$size" ] &&
        diff -r "$dir/whole" "$dir/work" && [ -z "$(left)" ]
}
check "quantize goes on" goes_on 400 quantize @ "$dir/work/o.gguf" Q8_0
check "what is copied has digests" goes_on 80 convert @ "$dir/work/o.apr"
check "quantize to several outputs goes on" goes_on 1500 quantize @ \
    --output Q4_K_M="$dir/work/a.gguf" --output Q8_0="$dir/work/b.gguf" \
    --output F16="$dir/work/c.gguf"

# ---- which file it is

: >"$dir/said"
refused() { # HOW TEXT
    rm -rf "$dir/work"
    mkdir "$dir/work"
    stop WRITE=400 quantize "$base/good/in.gguf" "$dir/work/o.gguf" Q8_0 \
        --resume --threads 1 || return
    expect 4 "$2" quantize "$base/$1/in.gguf" "$dir/work/o.gguf" Q8_0 --resume &&
        [ -n "$(left)" ]
}
check "another version of the file is refused" refused modified \
    "the input is not the one it was begun with"
damage() {
    printf '\377\377' | dd of="$dir/work/.o.gguf.partial" bs=1 \
        seek=1000000 conv=notrunc 2>/dev/null
    expect 4 "differs from the bytes that were written" quantize \
        "$base/good/in.gguf" "$dir/work/o.gguf" Q8_0 --resume
}
check "a damaged copy is found without the server" damage
rm -rf "$dir/work"
mkdir "$dir/work"
check "a server that names no version is refused" expect 3 \
    "neither ETag nor Last-Modified" quantize "$base/no-version/in.gguf" \
    "$dir/work/o.gguf" Q8_0 --resume
check "which leaves nothing" [ -z "$(left)" ]
check "Last-Modified is enough" ends 0 quantize "$base/modified/in.gguf" \
    "$dir/work/o.gguf" Q8_0 --resume

# ---- killed at random moments

"$modelfile" quantize --quiet "$files/in.gguf" "$dir/whole.gguf" Q8_0 \
    >"$dir/said"
random_kills() {
    count=0 finished=0 seed=${REMOTE_SEED:-4711}
    rm -rf "$dir/work"
    mkdir "$dir/work"
    while [ $count -lt "$kills" ]; do
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        after=$((seed / 65536 % 250 + 20))
        "$modelfile" quantize --quiet --resume "$base/good/in.gguf" \
            "$dir/work/o.gguf" Q8_0 >"$dir/said" 2>&1 &
        child=$!
        sleep "0.$(printf %03d $after)"
        kill -KILL $child 2>/dev/null
        code=0
        wait $child || code=$?
        count=$((count + 1))
        if [ -f "$dir/work/o.gguf" ]; then # it may be killed after that
            cmp "$dir/whole.gguf" "$dir/work/o.gguf" || return
            rm -rf "$dir/work"
            mkdir "$dir/work"
            finished=$((finished + 1))
        elif [ $code != 137 ]; then
            cat "$dir/said"
            return 1
        fi
    done 2>/dev/null
    ends 0 quantize --resume "$base/good/in.gguf" "$dir/work/o.gguf" Q8_0 &&
        cmp "$dir/whole.gguf" "$dir/work/o.gguf" && [ -z "$(left)" ] &&
        echo "$count attempts, $finished of them finished"
}
check "$kills kills at random moments" random_kills
finish
