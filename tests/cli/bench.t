#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench.t - modelfile bench: a row for each item, figures that agree with each
# other, peers that fail, and no files left over
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

filled=$(realpath "${BUILD:-build}/tests/filled")
mkdir "$dir/tmp"
export TMPDIR="$dir/tmp"
unset MODELFILE_LLAMA_QUANTIZE MODELFILE_GGUF_TOOLS
"$filled" f16 1 "$dir/model.gguf"

bench() {
    code=0
    "$modelfile" bench "$@" >"$dir/out" 2>"$dir/err" || code=$?
}
quick() {
    bench --rounds 1 --size 1K "$@"
}

nothing_left() {
    [ -z "$(ls -A "$dir/tmp")" ]
}

# ---- kernels

tables() {
    quick --type q8_0 --type f16 --isa portable --threads 2
    [ "$code" = 0 ] && grep -q '^- *memset ' "$dir/out" &&
        grep -qE '^q8_0 +encode_weighted +portable +1 .* %' "$dir/out" &&
        grep -qE '^f16 +decode +portable ' "$dir/out" &&
        ! grep -q avx "$dir/out" && ! grep -q q4_k "$dir/out"
}
check "a table of what was asked for" tables
wide() {
    awk 'length($0) > 80' "$dir/out"
}
check_empty "which fits 80 columns" wide

closing() {
    grep -qE '^peak heap .* allocations\) · [0-9.]+ m?s$' \
        "$dir/err"
}
check "and a closing line" closing

# Every type that has a kernel, with its works; figures in their order.
every_type() {
    quick --isa portable --threads 1 --csv --quiet || return 1
    awk -F, '
        NR == 1 { columns = NF; next }
        NF != columns { print "line " NR ": " NF " columns" }
        { works[$2] = works[$2] " " $1 }
        !($10 > 0) { print $0 ": no rate" }
        !($7 > 0 && $7 <= $8 && $8 <= $9) { print $0 ": percentiles" }
        !($17 > 0 && $18 >= 0) { print $0 ": mean" }
        $1 == "memset" { set = $10 }
        $1 == "memcpy" { copy = $10 }
        $1 == "decode" { share = $10 / set }
        $1 ~ /^encode/ { share = $10 / copy }
        /code/ && ($11 - share > share / 1000 || share - $11 > share / 1000) {
            print $0 ": share"
        }
        END {
            for (type in works)
                print (type ? type : "-") works[type]
        }' "$dir/out" | sort >"$dir/works"
    grep -qx -- '- memset memcpy' "$dir/works" &&
        grep -qx 'q4_k encode encode_weighted decode' "$dir/works" &&
        grep -qx 'f64 decode' "$dir/works" &&
        grep -qx 'apr_q8 encode encode_weighted decode' "$dir/works" &&
        grep -qx 'iq2_xs encode_weighted decode' "$dir/works" &&
        ! grep -qvE '^(-|[a-z0-9_]+)(( encode)? encode_weighted)? (decode|memset memcpy)$' \
            "$dir/works" &&
        [ "$(wc -l <"$dir/works")" = \
            $(($(grep -c '^CODEC' lib/codec/codecs.def) + 1)) ]
}
check "each type of codecs.def, and figures that agree" every_type

every_isa() {
    quick --type q8_0 --threads 1 --csv || return 1
    grep -q '^decode,q8_0,portable,' "$dir/out" || return 1
    for isa in avx2 avx512; do
        "$modelfile" bench --quiet --type q8_0 --isa $isa --threads 1 \
            --rounds 1 --size 1K >"$dir/one" 2>&1 || [ $? = 2 ] || return 1
        runs=$(grep -c "^q8_0  *decode  *$isa" "$dir/one")
        [ "$(grep -c "^decode,q8_0,$isa," "$dir/out")" = "$runs" ] || return 1
    done
}
check "each instruction set that runs here" every_isa

# ---- a model

with_model() {
    bench --csv --rounds 1 --quantize q8_0 --quantize Q4_K_M "$dir/model.gguf"
    [ "$code" = 0 ] && nothing_left || return 1
    awk -F, 'NR > 1 { print $1 "," $2 ($12 > 0 && $13 > 0 ? "" : " no cost") }
        !/^open/ && NR > 1 && !($10 > 0) { print $0 ": no rate" }' \
        "$dir/out" >"$dir/works"
    printf 'open,\nconvert,\nquantize,q8_0\nquantize,Q4_K_M\n' |
        diff - "$dir/works"
}
check "a model is opened, converted and quantized" with_model

known_cost() {
    opened=$("$modelfile" info --json "$dir/model.gguf" |
        sed 's/.*"heap_allocations":\([0-9]*\).*/\1/')
    awk -F, -v opened="$opened" '
        $1 == "open" && $12 > 0 && $12 <= opened { fits = 1 }
        END { exit !fits }' "$dir/out"
}
check "opening costs no more allocations than info takes" known_cost
model_table() {
    bench --rounds 1 --quantize Q4_K_M "$dir/model.gguf"
    wide
}
check_empty "in a table of 80 columns, too" model_table

refused_type() {
    bench --csv --rounds 1 --quantize IQ2_XXS "$dir/model.gguf"
    [ "$code" = 2 ] && grep -q iq2_xxs "$dir/err" && nothing_left &&
        grep -q '^convert,' "$dir/out"
}
check "a type that needs a matrix is exit code 2, the rest goes on" refused_type

# ---- peers

# As llama-quantize is called: IN, OUT, the type, threads.
cat >"$dir/same" <<END
#!/bin/sh
[ "\$1" = --allow-requantize ] && [ \$# = 5 ] || exit 9
exec "$modelfile" quantize --quiet --to gguf "\$2" "\$3" "\$4" --threads "\$5"
END
cat >"$dir/other" <<END
#!/bin/sh
echo something else >"\$3"
: >"\${3%/*}/more"
END
chmod +x "$dir/same" "$dir/other"

peer() {
    MODELFILE_LLAMA_QUANTIZE=$1 bench --csv --rounds 3 --quantize Q8_0 \
        "$dir/model.gguf"
    [ "$code" = 0 ] && nothing_left
}
verdict() {
    grep "^quantize,Q8_0,,$1," "$dir/out" | cut -d, -f15,16
}
same() {
    peer "$dir/same" && [ "$(verdict llama-quantize)" = "same," ] &&
        [ "$(verdict modelfile)" = "," ]
}
check "a peer with the same bytes" same

ratio() {
    awk -F, '$4 == "modelfile" { ours = $7 }
        $4 == "llama-quantize" { off = $14 - $7 / ours }
        END { exit !(ours > 0 && off < 0.01 && off > -0.01) }' "$dir/out"
}
check "its ratio matches the medians" ratio

# An old importance matrix with one entry, for 4096 columns.
{
    printf '\001\000\000\000\011\000\000\000t0.weight\001\000\000\000\000\020\000\000'
    awk 'BEGIN { for (i = 0; i < 4096; i++) printf "@?@@" }'
} >"$dir/one.dat"
cat >"$dir/weighted" <<END
#!/bin/sh
[ "\$2" = --imatrix ] && [ \$# = 7 ] || exit 9
exec "$modelfile" quantize --quiet --to gguf "\$2" "\$3" "\$4" "\$5" "\$6" \
    --threads "\$7"
END
chmod +x "$dir/weighted"
weighted() {
    MODELFILE_LLAMA_QUANTIZE=$dir/weighted bench --csv --rounds 1 \
        --quantize Q4_0 --imatrix "$dir/one.dat" "$dir/model.gguf"
    [ "$code" = 0 ] && nothing_left &&
        grep -q "^quantize,Q4_0,,llama-quantize,.*,same," "$dir/out" || return
    bench --imatrix "$dir/one.dat"
    [ "$code" = 2 ]
}
check "both with an importance matrix" weighted

other() {
    peer "$dir/other" && [ "$(verdict llama-quantize)" = "different," ]
}
check "a peer with other bytes, and with files of its own" other

failing() {
    peer "$(command -v false)" &&
        [ "$(verdict llama-quantize)" = ",exit code 1" ] &&
        [ "$(verdict modelfile)" = "," ]
}
check "a peer that fails" failing

no_peer() {
    peer "$dir/nothing" &&
        [ "$(verdict llama-quantize)" = ",No such file or directory" ]
}
check "a peer that is not there" no_peer

show() {
    MODELFILE_GGUF_TOOLS=$(command -v true) bench --rounds 1 --quantize Q8_0 \
        "$dir/model.gguf"
    [ "$code" = 0 ] && grep -qE '^show +- +modelfile ' "$dir/out" &&
        grep -qE '^show +- +gguf-tools .* [0-9.]+$' "$dir/out"
}
check "gguf-tools takes turns with tensors info" show

# Its end may come at any moment, just before we wait for it as well.
ends_before_we_wait() {
    ASAN_OPTIONS=detect_leaks=0 MODELFILE_GGUF_TOOLS=$(command -v true) \
        timeout 60 strace -f -qq -o /dev/null -e trace=wait4 \
        -e inject=wait4:delay_exit=50000 \
        "$modelfile" bench --csv --rounds 1 --threads 2 --quantize Q8_0 \
        "$dir/model.gguf" >"$dir/out" 2>&1 &&
        grep -q '^show,,,gguf-tools,' "$dir/out"
}
if strace -qq -o /dev/null true 2>/dev/null; then
    check "a peer that ends before we wait for it" ends_before_we_wait
else
    skip "a peer that ends before we wait for it" "strace does not run here"
fi

# ---- JSON

document() {
    MODELFILE_GGUF_TOOLS=$(command -v false) quick --json --type q8_0 \
        --quantize Q8_0 --quantize IQ2_XXS "$dir/model.gguf"
    [ "$code" = 2 ] && node -e '
        const { files: [d], run } = JSON.parse(
            require("fs").readFileSync(0, "utf8"));
        const ok = (fits, what) => { if (!fits) throw new Error(what); };
        ok(d.kernels.length > 4 && d.kernels[0].work === "memset", "kernels");
        for (const row of d.kernels)
            ok(row.gb_per_second > 0 && row.p50_ms <= row.p99_ms &&
                row.mean_ms > 0 && row.std_ms >= 0 && row.operations > 0 && row.threads > 0, row.work);
        ok(d.model.map((row) => row.work).join() ===
            "open,convert,quantize,quantize", "model");
        ok(d.model[0].allocations > 0 && d.model[0].peak_heap_bytes > 0, "cost");
        ok(d.model[3].error.code === 2, "error");
        ok(d.peers[1].failed === "exit code 1", "peers");
        ok(run.seconds > 0 && d.file.endsWith("model.gguf"), "run");
    ' <"$dir/out"
}
if command -v node >/dev/null 2>&1; then
    check "one JSON document" document
else
    skip "one JSON document" "node is not installed"
fi

# ---- refusals

refused() {
    want=$1
    shift
    bench "$@"
    [ "$code" = "$want" ] && [ ! -s "$dir/out" ] && [ -s "$dir/err" ] &&
        nothing_left
}
check "a type without kernels" refused 2 --type q8_9
check "an unknown instruction set" refused 2 --isa mmx
check "no threads" refused 2 --threads 0
check "too many rounds" refused 2 --rounds 1001
check "an invalid size" refused 2 --size big
check "far too large a size" refused 2 --size 2T
check "two models" refused 2 a b
check "quantizing nothing" refused 2 --quantize Q8_0
check "a model that is missing" refused 3 "$dir/nothing.gguf"

two_forms() {
    bench --csv --json
    [ "$code" = 2 ] && grep -q "cannot both be given" "$dir/err"
}
check "two forms at once" two_forms

no_folder() {
    TMPDIR=$dir/nothing bench --rounds 1 "$dir/model.gguf"
    [ "$code" = 4 ] && grep -q 'nothing: No such file' "$dir/err"
}
check "no place for temporary files" no_folder

# ---- signals

# stopped SIGNAL CODE ARGUMENT...: sent as soon as something is said.
stopped() {
    signal=$1
    want=$2
    shift 2
    "$modelfile" bench --csv "$@" >"$dir/out" 2>"$dir/err" &
    child=$!
    for _ in $(seq 200); do
        [ "$(wc -l <"$dir/out")" -lt 2 ] || break
        sleep 0.01
    done
    kill -"$signal" "$child"
    code=0
    wait "$child" || code=$?
    [ "$code" = "$want" ] && nothing_left
}
check "SIGTERM ends kernels" stopped TERM 143 --type q4_k --rounds 20
check "SIGHUP ends quantizing, and nothing is left" stopped HUP 129 \
    --rounds 1000 --quantize Q4_K_M "$dir/model.gguf"

cat >"$dir/slow" <<END
#!/bin/sh
: >"\$3"
echo \$\$ >"$dir/pid"
exec sleep 60
END
chmod +x "$dir/slow"
slow_peer() {
    MODELFILE_LLAMA_QUANTIZE=$dir/slow "$modelfile" bench --rounds 1 \
        --quantize Q8_0 "$dir/model.gguf" >"$dir/out" 2>"$dir/err" &
    child=$!
    for _ in $(seq 300); do
        [ ! -s "$dir/pid" ] || break
        sleep 0.01
    done
    kill -TERM "$child"
    code=0
    wait "$child" || code=$?
    [ "$code" = 143 ] && nothing_left && ! kill -0 "$(cat "$dir/pid")" 2>&-
}
check "a signal ends the peer as well" slow_peer

finish
