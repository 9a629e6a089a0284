#!/bin/sh
# SPDX-License-Identifier: MIT
#
# timings.t - --timings says where the time of a command went, and --help with
# which exit codes it can end
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

# Large enough that the start of the program is not a large part.
"${BUILD:-build}/tests/filled" f16 48 "$dir/model.gguf" >/dev/null

# ---- the table ----

# sums COMMAND...: its phases add up to the time of the closing table, within
# 5 %, and what the library has no name for is at most 5 % of it.
sums() {
    "$modelfile" "$@" --timings --quiet >"$dir/out" 2>"$dir/err"
    awk '
        function ns(value, unit) {
            return value * (unit == "s" ? 1e9 : unit == "ms" ? 1e6 : \
                            unit == "us" ? 1e3 : 1)
        }
        $1 == "phase" { table = 1; next }
        $1 == "all" { all = ns($2, $3); wall = ns($5, $6); ended = 1; next }
        table {
            total = ns($3, $4); least = ns($5, $6); p50 = ns($7, $8)
            p99 = ns($9, $10); most = ns($11, $12); sum += total
            if ($1 == "rest") rest = total
            if ($2 == 0 || least > p50 || p50 > p99 || p99 > most || \
                most > total * 1.001) print "a row: " $0
            shares += $13
        }
        END {
            if (!ended) print "no table"
            if (sum < 0.95 * wall || sum > 1.05 * wall)
                print "phases take " sum " ns, the command " wall
            if (all < 0.99 * sum || all > 1.01 * sum)
                print "the sum is " all ", not " sum
            if (rest > 0.05 * wall) print "rest takes " rest " of " wall
            if (shares < 99 || shares > 101) print shares " %"
        }' "$dir/err" >"$dir/wrong"
    [ -s "$dir/wrong" ] || return 0
    echo "$*:"
    cat "$dir/wrong" "$dir/err"
}

# Another program may take the processor between two looks at the clock.
all_sums() {
    for command in "info $dir/model.gguf" "tensors info $dir/model.gguf" \
        "validate --data $dir/model.gguf -t1" "hash $dir/model.gguf -t1" \
        "convert $dir/model.gguf $dir/out.safetensors --force -t1" \
        "convert $dir/model.gguf $dir/out.apr --type bf16 --force -t1" \
        "quantize $dir/model.gguf $dir/out.gguf Q4_0 --report --force -t1" \
        "tensors stats $dir/model.gguf -t1" \
        "verify $dir/out.gguf --from $dir/model.gguf -t1" \
        "diff $dir/model.gguf $dir/out.gguf --values -t1"; do
        # shellcheck disable=SC2086 # its words
        wrong=$(sums $command)
        # shellcheck disable=SC2086
        [ -z "$wrong" ] || wrong=$(sums $command)
        [ -z "$wrong" ] || echo "$wrong"
    done
    rm -f "$dir"/out.*
}
if counts_memory; then
    check_empty "phases add up to the time of a command" all_sums
else
    skip "phases add up to the time of a command" \
        "the time of a sanitizer belongs to none"
fi

# names COMMAND...: the phases that a command passes through
names() {
    "$modelfile" "$@" --timings --quiet 2>&1 >/dev/null |
        awk '$1 != "phase" && $1 != "all" { printf "%s ", $1 }'
}
named() {
    [ "$(names info "$dir/model.gguf")" = "start open index read program " ] ||
        names info "$dir/model.gguf"
    names hash -t1 "$dir/model.gguf" | grep -q ' read digest ' || echo "hash"
    names validate -t1 --data "$dir/model.gguf" | grep -q ' read check scan ' ||
        echo "validate"
    names quantize -t1 "$dir/model.gguf" "$dir/q.gguf" q8_0 |
        grep -q ' plan scan decode encode write sync ' || echo "quantize"
    rm -f "$dir/q.gguf"
}
check_empty "a phase that was not entered is not shown" named

after() {
    "$modelfile" info fixtures/good-base.gguf --timings 2>&1 >/dev/null |
        sed -n '1s/ .*//p;2s/ .*//p' | tr '\n' ' '
}
check "the table is below the closing line" sh -c \
    "[ '$(after)' = 'peak phase ' ]"

everywhere() {
    for command in "detect $dir/model.gguf" "info $dir/model.gguf" \
        "tensors info $dir/model.gguf" "meta list $dir/model.gguf" \
        "meta get $dir/model.gguf general.architecture" \
        "hash --duplicates $dir/model.gguf" "version" "help info" \
        "convert $dir/model.gguf $dir/x.apr --dry-run" "info $dir/missing" \
        "bench --type f16 --size 1M --rounds 1"; do
        # shellcheck disable=SC2086 # its words
        "$modelfile" $command --timings 2>&1 >/dev/null |
            grep -q '^program  ' || echo "$command"
    done
}
check_empty "every command has it, after an error, too" everywhere

# ---- JSON ----

json() {
    "$modelfile" hash "$dir/model.gguf" --json --timings --threads 2 \
        >"$dir/json" 2>"$dir/err"
    [ ! -s "$dir/err" ] || cat "$dir/err"
    python3 - "$dir/json" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))["run"]
phases = run["timings"]["phases"]
names = "start open index read check plan scan decode encode measure digest" \
        " write sync wait threads rest program".split()
if [each["phase"] for each in phases] != names: print(phases)
for each in phases:
    values = [each[key] for key in ("min_ns", "p50_ns", "p99_ns", "max_ns")]
    if values != sorted(values) or values[-1] > each["total_ns"]: print(each)
    if (each["count"] == 0) != (each["total_ns"] == 0): print(each)
    if each["total_ns"] < each["count"] * each["min_ns"]: print(each)
    if each["total_ns"] > each["count"] * each["max_ns"]: print(each)
if not 0 < run["timings"]["wall_ns"] < 1e9 * run["seconds"] * 1.05 + 1e6:
    print(run)
PY
    "$modelfile" info fixtures/good-base.gguf --json | grep -c '"timings"' |
        grep -v '^0$'
}
if command -v python3 >/dev/null 2>&1; then
    check_empty "in JSON it is a part of run" json
else
    skip "in JSON it is a part of run" "python3 is not installed"
fi

# ---- threads, memory ----

# Two threads that work at once take more time than passes.
threads() {
    "$modelfile" tensors stats "$dir/model.gguf" --timings --quiet \
        --threads "$1" 2>&1 >/dev/null | grep '^measure' | sed 's/  */ /g' |
        cut -d ' ' -f 2
}
check "the same pieces are measured on any number of threads" sh -c \
    "[ -n '$(threads 1)' ] && [ '$(threads 1)' = '$(threads 3)' ]"

# peak OPTION...: of the heap
peak() {
    "$modelfile" validate --data "$dir/sized.gguf" --threads 1 --json "$@" |
        tr -d ' \n' | sed 's/.*"peak_heap_bytes":\([0-9]*\).*/\1/'
}
# costs SIZE: what --timings adds to it
costs() {
    "${BUILD:-build}/tests/filled" f16 "$1" "$dir/sized.gguf" >/dev/null
    echo $(($(peak --timings) - $(peak)))
    rm -f "$dir/sized.gguf"
}
constant() {
    small=$(costs 8)
    large=$(costs 160)
    if [ "$small" -gt 20000 ] || [ "$small" -ne "$large" ]; then
        echo "8 MiB: $small, 160 MiB: $large"
    fi
}
check_empty "its memory is the same for twenty times the work" constant

# ---- exit codes in the help ----

helps() {
    for command in detect info "tensors info" "tensors stats" \
        "tensors export" "meta list" "meta get" "meta set" "meta unset" \
        "meta recover" validate hash convert quantize dequantize split merge \
        diff verify bench help version; do
        # shellcheck disable=SC2086 # its words
        "$modelfile" $command --help --quiet | sed -n '/^exit codes:/,$p' |
            awk '/^  [0-9]/ { print $1 }' | tr '\n' ' ' >"$dir/codes"
        case $command in
        validate | hash | diff | verify | bench | tensors\ * | convert | quantize | \
            "meta list" | "meta get" | "meta unset") expected="0 1 2 3 4 5" ;;
        help | version) expected="0 2 4 5" ;;
        *) expected="0 2 3 4 5" ;;
        esac
        [ "$(cat "$dir/codes")" = "$expected 129, " ] ||
            echo "$command: $(cat "$dir/codes")"
    done
}
check_empty "every help lists the codes that the command can end with" helps

finish
