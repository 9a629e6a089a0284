#!/bin/sh
# SPDX-License-Identifier: MIT
#
# signals.t - a signal ends every command soon, whatever it is doing
#
# The program under test goes on for ever in a read or a write of the library
# (tests/programs/endless.c): the library does not check for a stop there.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

endless=$PWD/${BUILD:-build}/modelfile-endless
filled=$PWD/${BUILD:-build}/tests/filled
mkdir "$dir/out" "$dir/tmp"
export TMPDIR="$dir/tmp"
# The leak checker would look while the program is at work.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

# What the end may take, in milliseconds: 100 are promised, the rest is for a
# machine with much else to do.
most=${SIGNAL_MOST:-1000}
echo 0 >"$dir/longest"

now() {
    echo $(($(date +%s%N) / 1000000))
}

# left: what lies in the folders of outputs, and of temporary files.
left() {
    find "$dir/out" "$dir/tmp" -mindepth 1
}

# gets_there: the child, within 10 seconds; false where it ends before.
gets_there() {
    for _ in $(seq 1000); do
        ! grep -q '^endless' "$dir/said" || return 0
        kill -0 "$child" 2>/dev/null || return 1
        sleep 0.01
    done
    echo "does neither end nor get there"
    kill -KILL "$child"
    return 1
}

# ended SIGNAL CODE: the child, soon after that signal.
ended() {
    start=$(now)
    kill -"$1" "$child"
    wait "$child"
    got=$?
    took=$(($(now) - start))
    [ $took -le "$(cat "$dir/longest")" ] || echo $took >"$dir/longest"
    [ $got -eq "$2" ] && [ $took -le "$most" ] && return
    echo "SIG$1: exit code $got after $took ms"
    cat "$dir/said"
    return 1
}

# begin COMMAND...: in the background; its number is in $child.
begin() {
    : >"$dir/said" # of the one before
    env $default "$@" >"$dir/printed" 2>"$dir/said" &
    child=$!
}

# goes_on SIGNAL CODE WHERE NUMBER COMMAND...: true where it got there, and then
# ended as it should; $reached counts.
goes_on() {
    signal=$1
    code=$2
    where=$3
    number=$4
    shift 4
    begin "ENDLESS_$where=$number" "$endless" "$@"
    if ! gets_there; then # there are not so many calls
        wait "$child"
        [ $? -ne 137 ] || return
        rm -rf "$dir/out" "$dir/tmp"
        mkdir "$dir/out" "$dir/tmp"
        return 0
    fi
    reached=$((reached + 1))
    ended "$signal" "$code" || return
    grep -q "interrupted" "$dir/said" || return
    [ -z "$(left)" ] && return
    echo "left:"
    left
    return 1
}

# every COMMAND...: in its first reads and writes, and in later ones.
every() {
    reached=0
    for number in 1 2 3 7 20; do
        goes_on TERM 143 READ $number "$@" || return
    done
    for number in 1 2 9; do
        goes_on HUP 129 WRITE $number "$@" || return
    done
    [ -z "$default" ] || goes_on INT 130 READ 4 "$@" || return
    [ $reached -gt "$least" ]
}

# A shell's background jobs have SIGINT ignored, and the program heeds that.
default=--default-signal=INT
if ! env $default true 2>/dev/null; then
    default=
    skip "SIGINT" "env has no --default-signal"
fi

cd "$dir" || exit 1
"$filled" f16 6 model.gguf >/dev/null
cp "$fixtures/good-llama.gguf" other.gguf
least=0
for command in info detect "tensors info" "meta list" validate; do
    # shellcheck disable=SC2086 # words
    check "$command" every $command model.gguf
done
for threads in 1 3; do
    least=1
    for command in "validate --data" hash "hash --algo crc32" \
        "tensors stats" "diff other.gguf" "diff --values other.gguf" \
        "verify --from other.gguf"; do
        # shellcheck disable=SC2086 # words
        check "$command on $threads threads" \
            every $command --threads $threads model.gguf
    done
    least=2
    check "convert on $threads threads" \
        every convert --threads $threads model.gguf out/o.safetensors
    check "quantize on $threads threads" \
        every quantize --threads $threads model.gguf out/o.gguf Q8_0
done
check "dequantize" every dequantize other.gguf out/o.gguf
check "split" every split --max-tensors 1 model.gguf out/o.gguf
check "tensors export" every tensors export model.gguf blk.0.weight out/o.npy
least=0
check "bench" every bench --rounds 1 --quantize Q8_0 model.gguf

# ---- an edit in place

# edit SYNC NAME...: what lies in the folder after an end in that fsync.  The
# model is sound, and has its old name or the new one.
edit() {
    number=$1
    shift
    cp other.gguf out/m.gguf
    begin ENDLESS_SYNC="$number" "$endless" meta set out/m.gguf general.name=new
    gets_there && ended TERM 143 || return
    left | sed 's|.*/||' | sort >names
    printf '%s\n' "$@" | diff - names || return
    "$modelfile" validate --quiet out/m.gguf >printed 2>&1 || return
    "$modelfile" meta get --quiet out/m.gguf general.name 2>&1 |
        grep -qx "new\|Tiny Llama of the Fixtures" || return
    "$modelfile" meta recover --quiet out/m.gguf >printed 2>&1 || return
    [ "$(left)" = "$dir/out/m.gguf" ] && rm out/m.gguf
}
check "meta set, while its journal has no name yet" edit 1 m.gguf
for number in 2 3; do
    check "meta set, while its journal has its name: fsync $number" \
        edit $number m.gguf m.gguf.modelfile-edit
done

# ---- that nothing is wrong with

# A second signal changes nothing.
twice() {
    begin ENDLESS_READ=1 "$endless" info model.gguf
    gets_there || return
    kill -HUP "$child"
    ended TERM 129
}
check "the first of two signals counts" twice

no_writer() {
    mkfifo pipe
    begin "$modelfile" convert --quiet model.gguf pipe
    sleep 0.2
    ended TERM 143
}
check "a pipe without a reader" no_writer

echo "# the longest end took $(cat "$dir/longest") ms"
finish
