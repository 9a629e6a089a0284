#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench.sh - what opening and listing a big model costs, compared to other programs
#
#     tests/bench/bench.sh [-n RUNS] [--json] [KIND...]
#
# For each KIND that build/tests/big can make (all of them by default): makes
# the file, runs `modelfile info` and `modelfile tensors info` on it by turns
# with the peers and with a program that does nothing, and prints medians of
# RUNS runs, start of the process and all, with what modelfile says of its own
# reading and heap.  A figure that has a target shows it: 0.90<=1.20 keeps it,
# 1.43>1.20 does not.
#
# From the environment; a peer that is not given shows as '-':
#     MODELFILE   the program to measure           (build/modelfile)
#     BUILD       where the helpers were built     (build)
#     GGUF_TOOLS  antirez/gguf-tools               (runs: gguf-tools show FILE)
#     GGUF_INIT   a program that calls ggml's gguf_init_from_file with no_alloc
#                 on FILE and exits                (runs: gguf_init FILE)
#     TMPDIR      where the files go: about 40 MB of disk at a time, on a file
#                 system that has sparse files of 6 TB            (/tmp)
set -eu

runs=31
json=0
all="7b-32k 7b-150k 70b 5t huge-tokens many-gguf many-safetensors many-apr"

fail() {
    echo "bench.sh: $1" >&2
    exit 2
}

kinds=
while [ $# -gt 0 ]; do
    case $1 in
    -n)
        [ $# -gt 1 ] || fail "-n wants a number of runs"
        runs=$2
        shift
        ;;
    --json) json=1 ;;
    -*) fail "no option '$1'; usage: bench.sh [-n RUNS] [--json] [KIND...]" ;;
    *) kinds="$kinds $1" ;;
    esac
    shift
done

# The absolute path of a program that exists, or nothing.
program() {
    [ -n "$1" ] || return 0
    [ -x "$1" ] || fail "'$1' is not a program"
    echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
}

gguf_tools=$(program "${GGUF_TOOLS:-}")
gguf_init=$(program "${GGUF_INIT:-}")
. "$(dirname "$0")/lib-bench.sh"
for helper in big timeit empty; do
    [ -x "$tests/$helper" ] || fail "'$tests/$helper' is not built"
done
link modelfile empty
[ -z "$gguf_tools" ] || ln -s "$gguf_tools" gguf-tools
[ -z "$gguf_init" ] || ln -s "$gguf_init" gguf-init

# Two rows of numbers for one kind of file, for the printers below.
measure() {
    case $1 in
    *safetensors | *apr) peers= ;;
    *) peers=gguf ;;
    esac
    set -- "$1" "./modelfile info model" "./modelfile tensors info model" \
        "./empty"
    [ -z "$peers" ] || [ ! -e gguf-tools ] ||
        set -- "$@" "./gguf-tools show model"
    [ -z "$peers" ] || [ ! -e gguf-init ] || set -- "$@" "./gguf-init model"
    kind=$1
    shift
    "$tests/timeit" "$runs" "$@" >times.txt
    for command in "info" "tensors info"; do
        # shellcheck disable=SC2086 # the command is words
        ./modelfile $command --json model >run.json 2>/dev/null
        echo "$kind;$command;$tensors;$names;$header;$size;$(
            timeit_median "./modelfile $command");$(
            timeit_median ./gguf-tools);$(
            timeit_median ./gguf-init);$(timeit_median ./empty);$(
            run_number bytes_read <run.json);$(
            run_number peak_heap_bytes <run.json);$(
            run_number heap_allocations <run.json);$(
            run_number peak_rss_bytes <run.json)"
    done
}

for kind in ${kinds:-$all}; do
    if ! made=$("$tests/big" "$kind" model); then
        echo "bench.sh: '$kind' is left out" >&2
        continue
    fi
    # shellcheck disable=SC2086 # "tensors 291 names 6166 header ... size ..."
    set -- $made
    tensors=$2 names=$4 header=$6 size=$8
    measure "$kind"
    rm -f model
done >rows.txt

# Targets, once for both printers.  Lower is better for every figure.
#   of_tools  time over that of gguf-tools, which maps the file and prints
#   of_init   time over that of ggml, which keeps every string and compares
#             each tensor name with all before it
#   read      bytes: the header (that of safetensors twice: it has no count),
#             and at most 256 KiB after it
#   heap      bytes: must not grow with the vocabulary
#   each      heap bytes per tensor: a record of fixed size, and its name
cat >targets.awk <<'AWK'
function set_targets(kind, tensors, names, header) {
    split("", target) # empties it
    target["of_tools"] = 1.2
    if (kind == "7b-150k" || kind == "many-gguf")
        target["of_init"] = 1 / 3
    target["read"] = header * (kind ~ /safetensors/ ? 2 : 1) + 256 * 1024
    if (kind == "7b-150k")
        target["heap"] = 512 * 1024
    if (kind ~ /^many-/)
        target["each"] = 160 + names / tensors
}
function ratio(a, b) { return a == "-" || b == "-" ? "-" : a / b }
function set_values() {
    value["of_tools"] = ratio($7, $8)
    value["of_init"] = ratio($7, $9)
    value["read"] = $11
    value["heap"] = $12
    value["each"] = ratio($12, $3)
}
function missed(what) {
    return (what in target) && value[what] != "-" && value[what] > target[what]
}
BEGIN { FS = ";" }
{
    set_targets($1, $3, $4, $5)
    set_values()
}
AWK

cat >table.awk <<'AWK'
function ms(microseconds) {
    return microseconds == "-" ? "-" : sprintf("%.2f", microseconds / 1000)
}
function cell(what, format, unit) {
    if (value[what] == "-")
        return "-"
    if (!(what in target))
        return sprintf(format, value[what] / unit)
    known++
    over += missed(what)
    return sprintf(format "%s" format, value[what] / unit,
        missed(what) ? ">" : "<=", target[what] / unit)
}
function line(a, b, c, d, e, f, g, h, i, j, k, l) {
    printf "%-16s %-12s %9s %10s %9s %6s %11s %10s %15s %13s %6s %10s\n",
        a, b, c, d, e, f, g, h, i, j, k, l
}
NR == 1 {
    line("", "", "modelfile", "gguf-tools", "gguf_init", "empty", "times",
        "times", "read", "peak heap", "heap", "heap bytes")
    line("file", "command", "ms", "ms", "ms", "ms", "gguf-tools",
        "gguf_init", "KiB", "KiB", "blocks", "per tensor")
}
{
    line($1, $2, ms($7), ms($8), ms($9), ms($10),
        cell("of_tools", "%.2f", 1), cell("of_init", "%.2f", 1),
        cell("read", "%.0f", 1024), cell("heap", "%.0f", 1024), $13,
        cell("each", "%.0f", 1))
}
END {
    printf "\n%d of %d targets kept; medians of %d runs each\n",
        known - over, known, runs
}
AWK

cat >json.awk <<'AWK'
function number(x) { return x == "-" ? "null" : sprintf("%.15g", x) }
function member(name, x) { printf ",\n    \"%s\": %s", name, number(x) }
function figure(name, what) {
    printf ",\n    \"%s\": {\"value\": %s, \"target\": %s}", name,
        number(value[what]), number((what in target) ? target[what] : "-")
}
BEGIN { printf "{\"runs\": %d, \"rows\": [", runs }
{
    printf "%s\n  {\n    \"file\": \"%s\"", (NR > 1 ? "," : ""), $1
    printf ",\n    \"command\": \"%s\"", $2
    member("tensors", $3)
    member("header_bytes", $5)
    member("file_bytes", $6)
    member("modelfile_us", $7)
    member("gguf_tools_us", $8)
    member("gguf_init_us", $9)
    member("empty_us", $10)
    figure("times_gguf_tools", "of_tools")
    figure("times_gguf_init", "of_init")
    figure("bytes_read", "read")
    figure("peak_heap_bytes", "heap")
    member("heap_allocations", $13)
    member("peak_rss_bytes", $14)
    figure("heap_bytes_per_tensor", "each")
    printf "\n  }"
}
END { print "\n]}" }
AWK

[ -s rows.txt ] || fail "nothing was measured"
if [ "$json" = 1 ]; then
    awk -v runs="$runs" -f targets.awk -f json.awk rows.txt
else
    awk -v runs="$runs" -f targets.awk -f table.awk rows.txt
fi
