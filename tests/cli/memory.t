#!/bin/sh
# SPDX-License-Identifier: MIT
#
# memory.t - with little memory a command does its work or ends with 5
#
# Limits of our own are kept: the peak of the whole process, which heap.t holds
# against DHAT, is no more than what was allowed.  Under limits of the system
# nothing else happens than without memory.  With QUICK=1, fewer limits of our own.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

# Not so under a sanitizer, which has terabytes of its own.
if ! counts_memory; then
    echo "1..0 # SKIP this build leaves malloc alone"
    exit 0
fi
"${BUILD:-build}/tests/filled" f16 6 "$dir/model.gguf" >/dev/null

# ---- --max-memory

peak() {
    tr -d ' \n' <"$dir/out" |
        sed -n 's/.*"run":{[^}]*"peak_heap_bytes":\([0-9]*\).*/\1/p'
}

# kept COMMAND...: K by K, until it has what it needs; then it prints the same
# as without a limit.
sizes="2 8 16 20 24 28 32 36 40 44 48 52 56 60 64 80 96 128 192 256 512 1024 2048 4096"
often=5
[ -z "${QUICK:-}" ] || sizes="2 16 28 40 52 64 128 512 2048 4096" often=1
kept() {
    worked=0
    "$modelfile" "$@" --quiet >"$dir/free" 2>/dev/null
    free=$?
    for size in $sizes; do
        code=0
        "$modelfile" "$@" --json --max-memory ${size}K >"$dir/out" \
            2>"$dir/err" || code=$?
        if [ $code -ne $free ] && [ $code -ne 5 ]; then
            echo "$size K: exit code $code"
            cat "$dir/err"
            return 1
        fi
        reached=$(peak)
        if [ "${reached:-0}" -gt $((size * 1000)) ]; then
            echo "$size K: the peak is $reached bytes, exit code $code"
            return 1
        fi
        [ $code -eq $free ] || continue
        "$modelfile" "$@" --quiet --max-memory ${size}K >"$dir/out" \
            2>"$dir/err"
        if ! cmp "$dir/free" "$dir/out"; then
            echo "$size K: other output"
            return 1
        fi
        worked=$((worked + 1))
    done
    [ $worked -ge $often ]
}
llama=$fixtures/good-llama.gguf
for command in detect info "tensors info" "tensors stats" "meta list" \
    "meta get" validate "validate --data --threads 3" "hash --threads 3" \
    "hash --algo sha256 --threads 3" "hash --algo crc32" \
    "diff $llama" "verify --threads 3 --from $dir/model.gguf"; do
    file=$llama
    case $command in
    *--threads*) file=$dir/model.gguf ;;
    esac
    key=
    [ "$command" != "meta get" ] || key=general.architecture
    # shellcheck disable=SC2086 # words
    check "--max-memory: $command" kept $command "$file" $key
done
check "--max-memory: version" kept version
check "--max-memory: convert" \
    kept convert --force --threads 3 "$dir/model.gguf" "$dir/o.apr"
check "--max-memory: quantize" \
    kept quantize --force --threads 3 "$dir/model.gguf" "$dir/o.gguf" Q8_0

# ---- the least SIZE that works

again() {
    [ -z "${changes:-}" ] || cp "${unchanged:-$dir/model.gguf}" "$changes"
    code=0
    "$modelfile" "$@" >"$dir/out" 2>"$dir/err" || code=$?
}

# least COMMAND...: does what the message says; a tenth less is not enough.
least() {
    for size in 10 9K; do
        again "$@" --max-memory $size
        [ $code -eq 5 ] || return 1
        named=$(sed -n 's/.*; raise --max-memory to \([0-9]*\)K$/\1/p' \
            "$dir/err")
        [ -n "$named" ] || return 1
        again "$@" --max-memory $((named * 900))
        [ $code -eq 5 ] || return 1
        again "$@" --max-memory "${named}K"
        [ $code -le 1 ] || return 1
    done
}
names_least() {
    if least "$@"; then
        ok "the least SIZE is named: $* (${named}K)"
    else
        not_ok "the least SIZE is named: $* (${named:-nothing}: code $code)"
        note <"$dir/err"
    fi
}
for command in info "tensors info" "tensors stats" "meta list" validate \
    "validate --data" hash "hash --algo sha256" "diff $llama"; do
    # shellcheck disable=SC2086 # words
    names_least $command "$fixtures/good-many-tensors.gguf"
done
names_least hash --threads 3 "$dir/model.gguf"
names_least convert --force "$dir/model.gguf" "$dir/o.apr"
names_least quantize --force "$dir/model.gguf" "$dir/o.gguf" Q4_K_M
names_least split --force --max-tensors 2 "$dir/model.gguf" "$dir/part"
names_least merge --force "$fixtures/good-split-00001-of-00003.gguf" \
    "$dir/merged.gguf"
changes=$dir/changed.gguf
names_least meta set "$changes" general.name=other
changes=$dir/changed.apr
unchanged=$fixtures/good-base.apr
names_least meta set "$changes" name=other
unchanged=$fixtures/good-llama.gguf
changes=$dir/changed.gguf
names_least meta set "$changes" general.name=other
changes=

# A run that would fail for another reason had enough memory to find out.
names_for_failure() {
    : >"$dir/no-model.gguf"
    for command in "info $dir/missing.gguf" "info $dir/no-model.gguf" \
        "quantize $dir/o.gguf $dir/q.gguf Q4_K"; do
        # shellcheck disable=SC2086 # words
        again $command --max-memory 1K
        [ $code -eq 5 ] || return 1
        named=$(sed -n 's/.*; raise --max-memory to \([0-9]*\)K$/\1/p' \
            "$dir/err")
        [ -n "$named" ] || return 1
        # shellcheck disable=SC2086 # words
        again $command --max-memory "${named}K"
        case $command in
        quantize*) [ $code -eq 2 ] || return 1 ;; # it is quantized already
        *) [ $code -eq 3 ] || return 1 ;;
        esac
    done
}
"$modelfile" quantize --force --quiet "$dir/model.gguf" "$dir/o.gguf" Q8_0 \
    >/dev/null
check "the least SIZE of a run that fails otherwise" names_for_failure
rm -f "$dir/o.gguf"

# Trials write nothing and remove nothing.
changes_nothing() {
    mkdir "$dir/kept"
    cp "$dir"/part-0000?-of-0000?.gguf "$dir/model.gguf" "$dir/kept"
    (cd "$dir/kept" && ls -l --time-style=full-iso) >"$dir/before"
    for command in "merge --delete-inputs $dir/kept/part-00001-of-00004.gguf \
$dir/kept/o.gguf" "convert $dir/kept/model.gguf $dir/kept/o.gguf" \
        "convert --resume $dir/kept/model.gguf $dir/kept/o.gguf" \
        "meta set $dir/kept/model.gguf general.name=x" \
        "meta set $dir/kept/model.gguf a.b=1 --reserve 1M"; do
        # shellcheck disable=SC2086 # words
        again $command --max-memory 9K
        [ $code -eq 5 ] || return 1
        (cd "$dir/kept" && ls -l --time-style=full-iso) >"$dir/after"
        diff "$dir/before" "$dir/after" || return 1
    done
}
check "what does not fit leaves all files as they were" changes_nothing

in_json() {
    again info --json --max-memory 9K "$llama"
    [ $code -eq 5 ] && tr -d ' \n' <"$dir/out" |
        grep -q '"error":{"code":5,.*"memory_needed":[1-9][0-9]*000}'
}
check "the least SIZE in JSON" in_json

# ---- ulimit

# starts OPTION KIB: the system can start the program at all.
starts() {
    got=0
    sh -c 'ulimit "$1" "$2"; exec "$3" version' sh "$1" "$2" "$modelfile" \
        >/dev/null 2>&1 || got=$?
    [ $got -ne 127 ] && [ $got -lt 129 ]
} 2>/dev/null

# sweep OPTION MOST: from where it starts on; the steps are longer above 1 %
# of what there is.
sweep() {
    kib=200
    while ! starts "$1" $kib; do
        kib=$((kib + 4 + kib / 100))
        [ $kib -lt 20000 ] || return
    done
    echo "starts with $kib KiB"
    while [ $kib -lt "$2" ]; do
        for command in "detect $dir/model.gguf" \
            "hash --threads 4 $dir/model.gguf" \
            "hash --algo sha256 --threads 4 $dir/model.gguf"; do
            code=0
            # shellcheck disable=SC2086 # words
            (
                ulimit "$1" $kib
                exec "$modelfile" $command
            ) >"$dir/out" 2>"$dir/err" || code=$?
            [ $code -eq 0 ] || [ $code -eq 5 ] && continue
            echo "$kib KiB, $command: exit code $code"
            cat "$dir/err"
            return 1
        done
        kib=$((kib + 3 + kib / 50))
    done
}
for option in -d -v; do
    # shellcheck disable=SC3045 # dash has both
    if (ulimit $option 100000) 2>/dev/null; then
        check "ulimit $option" sweep $option 60000
    else
        skip "ulimit $option" "this shell or system has none"
    fi
done
finish
