#!/bin/sh
# SPDX-License-Identifier: MIT
#
# leak.t - bench --leak-check finds what grows, and nothing in what does not
#
# modelfile-leaky is the command with a leak of the kind that LEAKY names each
# time that a model is opened.  Many rounds of the command itself are in
# leak_rounds.sh, which `make check` runs.
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

leaky=$build/modelfile-leaky
model=$fixtures/good-llama.gguf
mkdir "$dir/tmp"
export TMPDIR="$dir/tmp"
unset MODELFILE_LLAMA_QUANTIZE MODELFILE_GGUF_TOOLS
# The leaks are wanted: no sanitizer needs to report them.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

# A sanitizer keeps what was freed: the process's memory says nothing there.
counted=yes
counts_memory || counted=no

# bench PROGRAM ARGUMENT...
bench() {
    program=$1
    shift
    code=0
    "$program" bench "$@" >"$dir/out" 2>"$dir/err" || code=$?
}
nothing_left() {
    [ -z "$(ls -A "$dir/tmp")" ]
}

# ---- leaks

# leaking KIND COUNT SLOPE: 50 rounds in all find it, and say how steep it is.
leaking() {
    LEAKY=$1 bench "$leaky" --csv --leak-check --rounds 47 --work open "$model"
    cat "$dir/out" "$dir/err"
    [ "$code" = 1 ] && nothing_left &&
        awk -F, -v count="$2" -v slope="$3" '
            $1 == count {
                good = $9 == "yes" && $6 == slope && $4 > $3 &&
                    ($8 == "" || $8 > 0)
            }
            END { exit !good }' "$dir/out" && grep -q "leak: " "$dir/err"
}
check "16 bytes of the env's heap" leaking env library_heap 16
check "an open file" leaking file open_files 1
check "a thread" leaking thread threads 1
if [ $counted = yes ]; then
    check "16 bytes of malloc" leaking malloc process_heap 16
    check "a page that malloc has not seen" leaking page resident 4096
else
    skip "memory of the process" "a sanitizer keeps what was freed"
fi

seldom() {
    LEAKY=rare bench "$leaky" --csv --leak-check --rounds 90 --work open \
        "$model"
    [ "$code" = 1 ] && grep -q '^process_heap,.*,yes$' "$dir/out"
}
[ $counted = no ] || check "16 bytes, once in nine rounds" seldom

# ---- no leaks

# sound KIND ROUNDS: it only looks like one.
sound() {
    LEAKY=$1 bench "$leaky" --csv --leak-check --rounds "$2" --work open \
        "$model"
    cat "$dir/out" "$dir/err"
    [ "$code" = 0 ] && ! grep -q ',yes$' "$dir/out" && ! grep -q leak "$dir/err"
}
check "what the first rounds keep" sound warm-up 50
check "one step" sound step 50
for rounds in 28 31 34 47 50; do
    check "a cache that is dropped now and then: $rounds rounds" \
        sound cache $rounds
done

# flat LOG: every slope is exactly 0, but the resident memory's, which is
# below 1 over as many rounds as show it.
flat() {
    awk -F, 'NR > 1 && ($1 == "resident" ? $2 > 999 && $6 >= 1 : $6 != 0) {
            print; bad = 1
        }
        END { exit bad || NR < 4 }' "$1"
}
# clean ROUNDS MODEL ARGUMENT...
clean() {
    rounds=$1
    shift
    bench "$modelfile" --csv --leak-check --rounds "$rounds" "$@"
    cat "$dir/out" "$dir/err"
    [ "$code" = 0 ] && nothing_left && flat "$dir/out"
}
many=10000 some=1000
[ -z "${QUICK:-}" ] || many=500 some=30
for file in good-llama.gguf good-metadata-large.apr good-dtypes.safetensors \
    good-folder; do
    check "$file opened $many times" clean $many "$fixtures/$file" --work open
done
check "validated and hashed $some times, on threads" clean $some "$model" \
    --threads 2 --work validate --work hash
check "written 30 times, on threads" clean 30 "$model" --threads 2
check "a split model, written 30 times" clean 30 \
    "$fixtures/good-split-00001-of-00003.gguf" --work convert --work validate
"$build/tests/filled" f16 2 "$dir/model.gguf"
check "2 MiB, on threads" clean 20 "$dir/model.gguf" --threads 3 --quantize Q4_K_M

# ---- forms

table() {
    bench "$modelfile" --leak-check --rounds 8 --work open "$model"
    awk 'length($0) > 80' "$dir/out"
    [ "$code" = 0 ] || echo "exit code $code"
    [ "$(grep -c . "$dir/out")" = 6 ] || cat "$dir/out"
    grep -qE '^library heap .* 0 +-$' "$dir/out" || echo "no slope of 0"
    grep -qE '^peak heap .* read ' "$dir/err" || echo "no closing line"
}
check_empty "a table of 80 columns" table

document() {
    LEAKY=file bench "$leaky" --json --leak-check --rounds 16 --work open \
        --work hash "$model"
    [ "$code" = 1 ] && node -e '
        const { files: [d], run } = JSON.parse(
            require("fs").readFileSync(0, "utf8"));
        const ok = (fits, what) => { if (!fits) throw new Error(what); };
        const c = d.leak_check;
        ok(c.rounds === 16 && c.warm_up === 3 && c.leaks === true, "head");
        ok(c.work.join() === "open,hash", "work");
        const files = c.counts.find((row) => row.count === "open_files");
        ok(files.leaks && files.per_round === 1, "slope");
        ok(files.last - files.first === 15, "15 more");
        ok(files.high_water === files.last, "high-water");
        ok(files.limit === null || files.rounds_left ===
            files.limit - files.last, "rounds left");
        const heap = c.counts.find((row) => row.count === "library_heap");
        ok(!heap.leaks && heap.per_round === 0 && heap.rounds_left === null,
            "heap");
        ok(heap.high_water > heap.last, "peak");
        ok(d.file.endsWith("good-llama.gguf") && run.seconds > 0, "run");
    ' <"$dir/out"
}
if command -v node >/dev/null 2>&1; then
    check "one JSON document" document
else
    skip "one JSON document" "node is not installed"
fi

limit() {
    (
        ulimit -n 300
        LEAKY=file bench "$leaky" --csv --leak-check --rounds 40 --work open \
            "$model"
        awk -F, '$1 == "open_files" && $7 == 300 && $8 == 300 - $5 { good = 1 }
            END { exit !good }' "$dir/out"
    )
}
check "rounds left to a limit of the system" limit
own_limit() {
    LEAKY=env bench "$leaky" --csv --leak-check --rounds 40 --work open \
        --max-memory 64MiB "$model"
    awk -F, '$1 == "library_heap" && $7 == 67108864 {
            good = $8 == int((67108864 - $5) / 16)
        }
        END { exit !good }' "$dir/out"
}
check "and to --max-memory" own_limit

# ---- refusals

refused() {
    want=$1
    shift
    bench "$modelfile" "$@"
    [ "$code" = "$want" ] && [ ! -s "$dir/out" ] && [ -s "$dir/err" ] &&
        nothing_left
}
check "without a model" refused 2 --leak-check
check "too few rounds" refused 2 --leak-check --rounds 7 "$model"
check "too many rounds" refused 2 --leak-check --rounds 1000001 "$model"
check "unknown work" refused 2 --leak-check --work dance "$model"
check "work without any" refused 2 --work open "$model"
check "several numbers of threads" refused 2 --leak-check --threads 1,2 "$model"
check "codecs" refused 2 --leak-check --type q8_0 "$model"
check "a model that is missing" refused 3 --leak-check "$dir/nothing.gguf"
check "a model that cannot be quantized" refused 3 --leak-check \
    "$fixtures/good-imatrix.gguf"
check "then it is said how to leave that out" \
    grep -q "'quantize', .* '--work' chooses" "$dir/err"

stopped() {
    "$modelfile" bench --leak-check --rounds 1000000 "$model" \
        >"$dir/out" 2>"$dir/err" &
    child=$!
    for _ in $(seq 300); do
        [ -z "$(ls -A "$dir/tmp")" ] || break
        sleep 0.01
    done
    sleep 0.1
    kill -TERM "$child"
    code=0
    wait "$child" || code=$?
    [ "$code" = 143 ] && nothing_left
}
check "a signal ends it, and nothing is left" stopped
finish
