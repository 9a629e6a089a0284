#!/bin/sh
# SPDX-License-Identifier: MIT
#
# dhat.t - heap profiles match valgrind's DHAT, and open in its viewer
#
# Each command runs twice: with --dhat, and under valgrind, which counts the
# mallocs of the same process from outside.  Bytes and blocks in total, at the
# peak and at the end must be the same, for each function of ours as well.  With
# QUICK=1, a third of the commands.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

check "the program is built" [ -x "$modelfile" ]

if ! counts_memory; then
    refused() {
        "$modelfile" version --dhat="$dir/heap.json" >"$dir/out" 2>&1
        [ $? -eq 2 ] && grep -q 'not possible in this build' "$dir/out" &&
            [ ! -e "$dir/heap.json" ]
    }
    check "--dhat is refused by a build that does not count" refused
    finish
fi

MODELFILE_ISA=avx2
"$modelfile" info "$fixtures/good-base.gguf" -q >/dev/null 2>&1 ||
    MODELFILE_ISA=portable
[ "$(uname -m)" = x86_64 ] || MODELFILE_ISA=portable
export MODELFILE_ISA
model=$fixtures/good-llama.gguf
viewer=/usr/libexec/valgrind/dh_view.js
fast=
command -v node >/dev/null 2>&1 || fast="node is not installed"
command -v valgrind >/dev/null 2>&1 || fast="valgrind is not installed"

# sums FILE: what the profile's owner said, as valgrind says it.
sums() {
    sed -n 's/^==[0-9]*== //; s/^\(Total\|At t-gmax\|At t-end\): *\(.*\)/\1 \2/p' "$1"
}

# same COMMAND...: writes what is not.
same() {
    rm -rf "$dir/o" && mkdir "$dir/o"
    "$modelfile" "$@" --dhat="$dir/ours.json" >"$dir/out" 2>"$dir/err"
    [ $? -le 1 ] || cat "$dir/err" # diff: 1
    rm -rf "$dir/o" && mkdir "$dir/o"
    valgrind --tool=dhat --num-callers=200 --dhat-out-file="$dir/valgrind.json" \
        --log-file="$dir/dhat" "$modelfile" "$@" >"$dir/out" 2>&1
    sums "$dir/err" >"$dir/said"
    sums "$dir/dhat" | diff "$dir/said" -
    node tests/cli/dhat.mjs check "$dir/ours.json"
    node tests/cli/dhat.mjs same "$dir/ours.json" "$dir/valgrind.json"
}

turn=0
while read -r command; do
    turn=$((turn + 1))
    [ -z "${QUICK:-}" ] || [ $((turn % 3)) -eq 1 ] || continue
    if [ -n "$fast" ]; then
        skip "$command" "$fast"
        continue
    fi
    # shellcheck disable=SC2086 # the command is words
    check_empty "$command: as DHAT has it" same $command
done <<COMMANDS
detect $model
info $model
tensors info $fixtures/good-many-tensors.gguf
meta list $fixtures/good-strings.gguf
meta get $model general.name
validate --data --threads 1 $model
hash --threads 1 $model
hash --threads 1 --algo sha256 $model
diff --threads 1 $model $fixtures/good-base.gguf
convert --threads 1 $model $dir/o/new.gguf
quantize --threads 1 --allow-requantize $model $dir/o/out.gguf Q4_0
tensors stats --threads 1 $fixtures/good-folder
version
COMMANDS

if [ -z "$fast" ] && [ -e "$viewer" ]; then
    check_empty "valgrind's viewer shows a profile" \
        node tests/cli/dhat.mjs tree "$dir/ours.json" "$viewer"
else
    skip "valgrind's viewer shows a profile" "valgrind or node is not installed"
fi

# ---- on threads, and with everything that may be on a command line

threads() {
    "$modelfile" hash --threads 4 "$model" --dhat="$dir/ours.json" \
        >/dev/null 2>"$dir/err" || return
    grep -q '^Total: .* bytes in .* blocks$' "$dir/err" &&
        [ -n "$fast" ] || node tests/cli/dhat.mjs check "$dir/ours.json"
}
check "a profile of several threads is consistent" threads

default_name() {
    (cd "$dir" && "$modelfile" info --dhat "$model" >/dev/null 2>err) &&
        grep -q '^heap profile: dhat-heap.json' "$dir/err" &&
        grep -q '(info\.c:[0-9]*)' "$dir/dhat-heap.json" &&
        grep -q '"cmd":"[^"]*info --dhat ' "$dir/dhat-heap.json"
}
check "--dhat writes dhat-heap.json, with functions and lines" default_name

replaced() {
    (cd "$dir" && "$modelfile" version --dhat >/dev/null 2>&1) &&
        grep -q '"cmd":"[^"]*version --dhat"' "$dir/dhat-heap.json"
}
check "an older profile is replaced" replaced

quiet() {
    "$modelfile" version --quiet --dhat="$dir/ours.json" >/dev/null \
        2>"$dir/err" && [ ! -s "$dir/err" ]
}
check "--quiet: nothing on standard error" quiet

same_json() {
    (cd "$dir" && "$modelfile" version --json >plain 2>/dev/null &&
        "$modelfile" version --json --dhat >profiled 2>/dev/null)
    for file in plain profiled; do
        sed 's/,"run":.*//' "$dir/$file" >"$dir/$file.most"
    done
    cmp "$dir/plain.most" "$dir/profiled.most"
}
check "JSON on standard output is as without it" same_json

# The heap that the closing line reports is without the profile.
same_heap() {
    (cd "$dir" && "$modelfile" info "$model" --json >plain 2>/dev/null &&
        "$modelfile" info "$model" --json --dhat >profiled 2>/dev/null)
    for file in plain profiled; do
        tr -d ' \n' <"$dir/$file" |
            sed 's/.*\("peak_heap_bytes":[0-9]*,"heap_allocations":[0-9]*\).*/\1/' \
                >"$dir/$file.heap"
    done
    cmp "$dir/plain.heap" "$dir/profiled.heap"
}
check "the profile's own memory is not counted" same_heap

not_an_option() {
    rm -f "$dir/dhat-heap.json"
    (cd "$dir" && "$modelfile" info -- --dhat >/dev/null 2>&1)
    [ $? -eq 3 ] && [ ! -e "$dir/dhat-heap.json" ] &&
        (cd "$dir" && ! "$modelfile" info --no-such --dhat >/dev/null 2>&1) &&
        [ ! -e "$dir/dhat-heap.json" ]
}
check "no profile of a wrong command line" not_an_option

# What an env still has when it is freed; an assertion ends the program then.
left() {
    (ulimit -c 0; LEAKY=env "$build/modelfile-leaky" info "$model" \
        --dhat="$dir/left.json") >/dev/null 2>"$dir/err"
    grep -q '^largest blocks left:' "$dir/err" &&
        [ "$(sed -n '/^At t-end/{n;p;}' "$dir/err")" = \
            "largest blocks left:" ] &&
        grep -q '^    leak (leaky\.c:[0-9]*) < ' "$dir/err" &&
        grep -q ': leak (leaky\.c:[0-9]*)"' "$dir/left.json"
}
check "blocks that an env has when it is freed have names" left

# An env with more blocks of its own leaves nothing, either.
nothing_left() {
    rm -rf "$dir/record"
    "$modelfile" info "$model" --dhat="$dir/ours.json" >/dev/null 2>"$dir/err" &&
        grep '^At t-end' "$dir/err" >"$dir/end" &&
        "$modelfile" info "$model" --dhat="$dir/ours.json" "$@" \
            >/dev/null 2>"$dir/err" &&
        ! grep 'what is left' "$dir/err" &&
        grep '^At t-end' "$dir/err" | cmp - "$dir/end"
}
check "--timings is not a leak" nothing_left --timings
check "--record is not a leak" nothing_left --record="$dir/record"

# ---- where it cannot be written

# wrong WHY OPTION [OPERAND]: exit code 2, and nothing is printed.
wrong() {
    "$modelfile" info "${3-$model}" "$2" >"$dir/out" 2>"$dir/err"
    [ $? -eq 2 ] && grep -q "^modelfile: '--dhat' $1" "$dir/err" &&
        [ ! -s "$dir/out" ]
}
check "standard output: 2" wrong 'needs the name of a file' --dhat=-
check "an empty name: 2" wrong 'needs the name of a file' --dhat=
: >"$dir/input.json"
check "an empty input: 2" wrong 'would replace' "--dhat=$dir/input.json" \
    "$dir/../${dir##*/}/input.json"
check "and it stays empty" [ ! -s "$dir/input.json" ]

# refused WHY FILE: exit code 4, and what the command wrote stays.
refused() {
    rm -f "$dir/new.gguf"
    "$modelfile" convert "$model" "$dir/new.gguf" --dhat="$2" \
        >/dev/null 2>"$dir/err"
    [ $? -eq 4 ] && grep -q "^modelfile: .*$1" "$dir/err" &&
        [ -s "$dir/new.gguf" ]
}
check "no such folder: 4" refused 'No such file' "$dir/no-such/heap.json"
check "and it is named once" grep -q \
    "^modelfile: '[^']*' cannot be .*: No such file" "$dir/err"
cp "$model" "$dir/precious.gguf"
check "a file that is not a profile: 4" refused 'is not a heap profile' \
    "$dir/precious.gguf"
check "and it stays" cmp "$model" "$dir/precious.gguf"
ln -s "$dir/nowhere" "$dir/link.json"
check "a link to nowhere: 4" refused 'is a symbolic link' "$dir/link.json"
check "and nothing is there" [ ! -e "$dir/nowhere" ]
ln -sf "$dir/precious.gguf" "$dir/link.json"
check "a link to a file: 4" refused 'is a symbolic link' "$dir/link.json"
ln -sf /dev/null "$dir/link.json"
check "a link to a device: 4" refused 'is a symbolic link' "$dir/link.json"
check "a device: 4" refused 'is not a regular file' /dev/full
check "a folder: 4" refused 'is not a regular file' "$dir"
mkfifo "$dir/fifo"
check "a pipe without a reader: 4" refused 'is not a regular file' "$dir/fifo"
check "/dev/stdout: 4" refused 'is a symbolic link' /dev/stdout
no_room() {
    (ulimit -f 1 && "$modelfile" version -q --dhat="$dir/large.json") \
        >/dev/null 2>"$dir/err"
    [ $? -eq 4 ] &&
        grep -q "^modelfile: .*large.json': File too large" "$dir/err" &&
        [ ! -e "$dir/large.json" ]
}
check "no room for it: 4, and no part stays" no_room
: >"$dir/empty.json"
check "an empty file is replaced" "$modelfile" version -q \
    --dhat="$dir/empty.json"
check "that is a profile then" grep -q '^{"dhatFileVersion":2,' \
    "$dir/empty.json"

# ---- without names

stripped() {
    cp "$modelfile" "$dir/stripped" && "${STRIP:-strip}" -s "$dir/stripped" &&
        "$dir/stripped" info "$model" --dhat="$dir/ours.json" >/dev/null 2>&1 &&
        grep -q '"0x[0-9A-F]*: ??? (in [^)]*/stripped)"' "$dir/ours.json" &&
        ! grep -q 'info\.c' "$dir/ours.json"
}
no_lines() {
    cp "$modelfile" "$dir/bare" && "${STRIP:-strip}" -g "$dir/bare" &&
        "$dir/bare" info "$model" --dhat="$dir/ours.json" >/dev/null 2>&1 &&
        grep -q '"0x[0-9A-F]*: mf_env_new (in [^)]*/bare)"' "$dir/ours.json"
}
if command -v "${STRIP:-strip}" >/dev/null 2>&1; then
    check "a stripped program: frames name the object" stripped
    check "without debug information: functions" no_lines
fi
finish
