#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scale.t - bench --scale: terms that add up, options that are in them, a
# picture, and no files left over
#
# test_scale_model.c has the arithmetic, tests/bench/bench_scale.sh what it is
# worth.
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

filled=$(realpath "${BUILD:-build}/tests/filled")
mkdir "$dir/tmp"
export TMPDIR="$dir/tmp"
"$filled" f16 2 "$dir/model.gguf"

scale() {
    code=0
    "$modelfile" bench --scale "$@" >"$dir/out" 2>"$dir/err" || code=$?
}

nothing_left() {
    [ -z "$(ls -A "$dir/tmp")" ] || { ls -lA "$dir/tmp"; return 1; }
}

# ---- the table and the picture

table() {
    scale --threads 1 --ranks 5 --size 1G --type q4_k --type q8_0 \
        --plot "$dir/out.svg"
    [ "$code" = 0 ] && nothing_left || { cat "$dir/err"; return 1; }
    grep -qx '953.7 MiB of bf16 in 2 tensors and 1 files, threads of a rank: 1' \
        "$dir/out" || return 1
    grep -E '^ +[0-9]' "$dir/out" | awk '{ print $1 }' | xargs >"$dir/ranks"
    [ "$(cat "$dir/ranks")" = "1 2 4 5 1 2 4 5" ] || return 1
    grep -q '^q4_k: 268.2 MiB to write' "$dir/out" &&
        grep -q '^q8_0: 506.6 MiB to write' "$dir/out"
}
check "a row for 1, 2, 4 ... ranks and the last, for each type" table
sources() {
    grep -E ' (measured|given|assumed)$' "$dir/out" | awk '{ print $NF }' |
        sort | uniq -c | xargs
}
check "what is measured and what is assumed" \
    eval '[ "$(sources)" = "5 assumed 7 measured" ]'
wide() { # a run in which threads are the bound has the longest lines
    scale --threads 1 --ranks 2 --disk 1T --shared 1T
    awk 'length($0) > 80' "$dir/out"
}
check_empty "in 80 columns" wide

picture() {
    [ "$(grep -c '<polyline class="line l[01]"' "$dir/out.svg")" = 2 ] &&
        [ "$(grep -c '<circle' "$dir/out.svg")" = 8 ] &&
        grep -q '5 ranks: .* bound: ' "$dir/out.svg" &&
        [ "$(tail -n 1 "$dir/out.svg")" = "</svg>" ]
}
check "a picture with a line for each type" picture
if command -v xmllint >/dev/null 2>&1; then
    check "which is well-formed" xmllint --noout "$dir/out.svg"
else
    skip "which is well-formed" "xmllint is not installed"
fi

# ---- JSON

# Every sum and every option, by a program that is not ours.
document() {
    scale --json --threads 2 --ranks 3 --size 10T --disk 2G --shared 50G \
        --type q8_0 "$dir/model.gguf"
    [ "$code" = 0 ] && nothing_left || { cat "$dir/err"; return 1; }
    node -e '
        const { files: [{ scale: s }] } = JSON.parse(
            require("fs").readFileSync(0, "utf8"));
        const ok = (fits, what) => { if (!fits) throw new Error(what); };
        const near = (a, b, what) =>
            ok(Math.abs(a - b) <= 1e-9 * Math.abs(b), `${what}: ${a}, ${b}`);
        const cost = Object.fromEntries(
            s.costs.map((row) => [row.cost, row]));
        ok(s.source === "f16" && s.bytes_read === 1e13 && s.threads >= 1 &&
            s.gather_ranks === 0, "work");
        const size = require("fs").statSync(process.argv[1]).size;
        ok(s.tensors === Math.ceil(1e13 * 8 / size), "tensors");
        ok(s.files === Math.ceil(1e13 / size), "files");
        near(cost["disk of a node, read"].seconds, 0.5e-9, "disk");
        near(cost["shared file system"].seconds, 0.02e-9, "shared");
        ok(cost["disk, written"].from === "given", "given");
        const [type] = s.types, written = 1e13 / 2 * 34 / 32;
        ok(type.type === "q8_0" && type.bytes_written === written, "type");
        near(type.times.length, 3, "times");
        for (const t of type.times) {
            const terms = ["encoder", "disk", "shared", "waiting", "plan",
                           "gather", "metadata"];
            const [e, d, f, ...others] = terms.map((name) => t[name]);
            near(t.seconds, others.reduce((a, b) => a + b, Math.max(e, d, f)),
                 "sum");
            ok(t[t.bound] === Math.max(e, d, f, ...others), "bound");
            near(d, (1e13 + written) / 2e9 / t.ranks, "disk");
            near(f, (1e13 + written) / 50e9, "shared");
            near(t.metadata, t.ranks * (s.files + 1) / 1e5, "metadata");
            near(e, (1e13 * (cost["thread reads"].seconds +
                             cost["thread decodes"].seconds +
                             type.encode_seconds) +
                     written * cost["thread writes"].seconds) / s.threads /
                     t.ranks, "encoder");
        }
        ok(type.times[0].gather === 0 && type.times[1].gather > 0, "gather");
    ' "$dir/model.gguf" <"$dir/out"
}
if command -v node >/dev/null 2>&1; then
    check "terms that add up to the time, in JSON" document
else
    skip "terms that add up to the time, in JSON" "node is not installed"
fi

least() {
    scale --threads 1 --ranks 1 --size 1 --type iq2_xs --plot -
    [ "$code" = 0 ] && nothing_left && head -n 1 "$dir/out" | grep -q '^<svg' &&
        grep -q '>iq2_xs: ' "$dir/out" && ! grep -q 'nan\|inf' "$dir/out"
}
check "a byte for one rank, and only a picture" least

# ---- refusals

refused() { # CODE TEXT ARGUMENT...
    want=$1
    text=$2
    shift 2
    code=0
    "$modelfile" bench "$@" >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" = "$want" ] && [ ! -s "$dir/out" ] &&
        grep -qF -- "$text" "$dir/err" && nothing_left ||
        { cat "$dir/err"; return 1; }
}
for option in '--ranks 2' '--disk 1G' '--shared 1G' "--plot $dir/a.svg"; do
    # shellcheck disable=SC2086 # two words
    check "$option needs --scale" refused 2 "requires '--scale'" $option
done
for option in --csv --alloc --leak-check '--quantize Q8_0' '--rounds 3' \
    "--record $dir/r"; do
    # shellcheck disable=SC2086 # two words
    check "$option is something else" refused 2 'cannot both be given' \
        --scale $option
done
check "a type that has no encoder" refused 2 'can be encoded' --scale \
    --type f64
check "too many types" refused 2 'at most 4 types' --scale --type f16 \
    --type q8_0 --type q4_0 --type q4_1 --type q5_0
check "too many ranks" refused 2 'at most 1000000' --scale --ranks 1000001
check "an unknown instruction set" refused 2 "instruction set 'mmx'" --scale \
    --isa mmx
check "no rate" refused 2 "'fast' for '--disk'" --scale --disk fast
check "a picture that exists" refused 4 'exists already' --scale \
    --plot "$dir/out.svg"
check "a model that is missing" refused 3 'No such file' --scale \
    "$dir/nothing.gguf"

# ---- signals

stopped() {
    "$modelfile" bench --scale >"$dir/out" 2>"$dir/err" &
    child=$!
    for _ in $(seq 200); do
        [ -z "$(ls -A "$dir/tmp")" ] || break
        sleep 0.01
    done
    kill -TERM "$child"
    code=0
    wait "$child" || code=$?
    [ "$code" = 143 ] && nothing_left
}
check "SIGTERM ends it, and nothing is left" stopped
finish
