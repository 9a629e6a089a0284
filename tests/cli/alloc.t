#!/bin/sh
# SPDX-License-Identifier: MIT
#
# alloc.t - bench --alloc: what single operations allocate, and how that grows
#
# The counts are promises, of docs/guarantees.md among others: no tolerance.
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

mkdir "$dir/tmp"
export TMPDIR="$dir/tmp"
unset MODELFILE_LLAMA_QUANTIZE MODELFILE_GGUF_TOOLS

alloc() {
    code=0
    "$modelfile" bench --alloc --rounds 1 "$@" >"$dir/out" 2>"$dir/err" ||
        code=$?
}
nothing_left() {
    [ -z "$(ls -A "$dir/tmp")" ]
}

# Every type that has a kernel, in both directions where it has two.
types=$(sed -n 's/^CODEC([A-Z0-9_]*, *\([a-z0-9_]*\).*/--type \1/p' \
    lib/codec/codecs.def)
complete() {
    # shellcheck disable=SC2086 # one word each
    alloc --csv $types
    cat "$dir/err"
    cp "$dir/out" "$dir/costs"
    [ -n "$types" ] && [ "$code" = 0 ] && nothing_left &&
        [ "$(head -1 "$dir/out")" = \
            operation,of,unit,n,allocations,bytes,live,ns ]
}
check "all operations on all formats, and rows of all types" complete

# rows UNIT OPERATION...: each has these n and terms, for everything that it is
# of; OF counts those.
rows() {
    unit=$1
    of=$2
    shift 2
    for operation; do
        awk -F, -v unit="$unit" -v operation="$operation" -v of="$of" '
            $3 == unit && $1 == operation {
                seen[$2] = seen[$2] " " $4
                if (NF != 8 || !(/^[^,]*,[^,]*,[^,]*,[0-9]/ ? $8 > 0 : 1)) print
            }
            END {
                want = unit == "shards" ? " 1 2 4 8" : " 16 64 256 1024 4096"
                for (name in seen) {
                    count++
                    if (seen[name] != want " a b n c log2 n") print operation, name, seen[name]
                }
                if (count != of) print operation ": of " count + 0
            }' "$dir/costs"
    done
}
check_empty "8 operations on models of 16 to 4096 tensors" \
    rows tensors 3 open find iterate "meta get" plan validate close write
check_empty "2 on models of 1 to 8 shards" rows shards 2 open close
check_empty "rows are decoded" rows rows "$(echo "$types" | wc -l)" decode

# never OPERATION...: lines on which it allocates.
never() {
    for operation; do
        awk -F, -v operation="$operation" '
            $1 == operation && ($5 != 0 || $6 != 0)' "$dir/costs"
    done
}
check_empty "looking up, closing and rows allocate nothing" \
    never find iterate "meta get" close encode decode

# With metadata every format takes 10.
constant() {
    awk -F, '
        /,tensors,[0-9]/ {
            if ($1 == "open" && $5 != 10) print
            if ($1 == "plan" && $5 != ($2 == "gguf" ? 4 : 5)) print
            if ($1 == "validate" && $5 != 4) print
            if ($1 == "open") live[$2, $4] = $7
            if ($1 == "close" && $7 != -live[$2, $4]) print
            if ($1 ~ /plan|write/ && $7 != 0) print
        }' "$dir/costs"
}
check_empty "opening, planning and validating: the same for any n" constant

shards() {
    awk -F, '
        $1 == "open" && $3 == "shards" && $4 ~ /^[0-9]/ {
            if ($4 > 1 && $7 > live + 8192 * ($4 - before)) print
            live = $7
            before = $4
        }' "$dir/costs"
}
check_empty "a further shard keeps at most 8 KiB" shards

same_again() {
    # shellcheck disable=SC2086 # one word each
    alloc --csv --threads 2 --rounds 3 $types
    cut -d, -f1-7 "$dir/costs" >"$dir/first"
    cut -d, -f1-7 "$dir/out" | diff "$dir/first" -
}
check "the same counts in every run" same_again

# The least squares again, by elimination.
fitted() {
    awk -F, '
        function fit(   i, j, k, m, f) {
            for (i = 0; i < 3; i++)
                for (j = 0; j < 4; j++) m[i, j] = 0
            for (k = 1; k <= count; k++) {
                x[0] = 1; x[1] = n[k]; x[2] = log(n[k]) / log(2); x[3] = y[k]
                for (i = 0; i < 3; i++)
                    for (j = 0; j < 4; j++) m[i, j] += x[i] * x[j]
            }
            for (k = 0; k < 3; k++)
                for (i = 0; i < 3; i++) {
                    if (i == k) continue
                    f = m[i, k] / m[k, k]
                    for (j = 0; j < 4; j++) m[i, j] -= f * m[k, j]
                }
            for (i = 0; i < 3; i++) want[i] = m[i, 3] / m[i, i]
        }
        function near(a, b, size) {
            return a - b <= 1e-6 * size && b - a <= 1e-6 * size
        }
        $4 == "n" { next }
        $4 ~ /^[0-9]/ {
            if (last !~ /^[0-9]/) count = 0
            count++
            n[count] = $4
            for (c = 5; c <= 8; c++) value[c, count] = $c
        }
        $4 ~ /^[abc]/ {
            for (c = 5; c <= 8; c++) {
                size = 0
                for (k = 1; k <= count; k++) {
                    y[k] = value[c, k]
                    if (y[k] > size) size = y[k]
                    if (-y[k] > size) size = -y[k]
                }
                fit()
                which = $4 == "a" ? 0 : $4 == "b n" ? 1 : 2
                if (!near($c, want[which], size)) print $0 " column " c ": " want[which]
                fits++
            }
        }
        { last = $4 }
        END { if (fits < 300) print "only " fits " figures" }' "$dir/costs"
}
check_empty "the growth matches least squares" fitted

table() {
    alloc
    [ "$code" = 0 ] && nothing_left &&
        grep -qE '^open +gguf +4096 +10 ' "$dir/out" &&
        grep -qE '^open +gguf +b n +0 ' "$dir/out" &&
        grep -qE '^operation of +shards +allocations ' "$dir/out" &&
        grep -qE '^decode +q4_k +16 +0 +0 +0 ' "$dir/out" &&
        grep -qE '^peak heap .* wrote ' "$dir/err"
}
check "a table, and a closing line" table
wide() {
    awk 'length($0) > 80' "$dir/out"
}
check_empty "which fits 80 columns" wide

document() {
    alloc --json
    [ "$code" = 0 ] && node -e '
        const d = JSON.parse(require("fs").readFileSync(0, "utf8"));
        const ok = (fits, what) => { if (!fits) throw new Error(what); };
        const open = d.alloc.find((row) => row.operation === "open" &&
            row.of === "gguf" && row.unit === "tensors");
        ok(open.costs.map((cost) => cost.n).join() === "16,64,256,1024,4096");
        ok(open.costs.every((cost) => cost.allocations === 10 &&
            cost.bytes > cost.live && cost.live > 0 && cost.ns > 0), "costs");
        ok(open.growth.allocations.a === 10 && open.growth.allocations.b === 0 &&
            open.growth.allocations.c === 0, "growth");
        for (const row of d.alloc)
            ok(Object.keys(row.growth).join() === "allocations,bytes,live,ns");
        ok(d.run.bytes_written > 0, "run");
    ' <"$dir/out"
}
if command -v node >/dev/null 2>&1; then
    check "one JSON document" document
else
    skip "one JSON document" "node is not installed"
fi

refused() {
    alloc "$@"
    [ "$code" = 2 ] && [ ! -s "$dir/out" ] && nothing_left
}
check "no model: it makes its own" refused "$fixtures/good-llama.gguf"
check "not with a leak check" refused --leak-check
check "a type without a kernel" refused --type q8_9

no_folder() {
    code=0
    TMPDIR=$dir/nothing "$modelfile" bench --alloc >"$dir/out" 2>"$dir/err" ||
        code=$?
    [ "$code" = 4 ] && grep -q 'nothing: No such file' "$dir/err"
}
check "no place for models" no_folder

# stopped_after SECONDS: whatever is in work then.
stopped_after() {
    "$modelfile" bench --alloc --rounds 1000 >"$dir/out" 2>"$dir/err" &
    child=$!
    sleep "$1"
    kill -TERM "$child"
    code=0
    wait "$child" || code=$?
    [ "$code" = 143 ] && nothing_left
}
check "SIGTERM at once" stopped_after 0.2
check "and later" stopped_after 0.7

finish
