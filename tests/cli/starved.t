#!/bin/sh
# SPDX-License-Identifier: MIT
#
# starved.t - whichever request for memory is refused, a command ends well
#
# modelfile-starved refuses the Nth request of the whole process, or that and
# all later ones, for every N there is.  Each time a command either does its
# work, all of it, or ends with 4 or 5; its files are then as before, nothing is
# left next to them, and nothing stays allocated that is not without a refusal.
# QUICK=1 leaves out most commands.
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

starved=$build/modelfile-starved
f=$fixtures
# A sanitizer has a malloc of its own.
if ! counts_memory; then
    echo "1..0 # SKIP this build leaves malloc alone"
    exit 0
fi

mkdir "$dir/begin" "$dir/tmp"
export TMPDIR="$dir/tmp" STARVED_LOG="$dir/log"
"$build/tests/filled" f16 1 "$dir/begin/f16.gguf" >/dev/null
cp "$f/good-base.gguf" "$f/good-llama.gguf" "$f/good-base.apr" \
    "$f/good-base.safetensors" "$f"/good-split-0000*.gguf "$dir/begin"
cp "$f/llama/llama-wide.gguf" "$dir/begin/wide.gguf"
cp "$f/llama/llama-wide.imatrix.dat" "$dir/begin/wide.dat"
echo attn_q=3 >"$dir/begin/factors"
echo attn_q=q8_0 >"$dir/begin/recipe"
for name in o.gguf o.apr o.safetensors o.npy o-00001-of-00002.gguf; do
    echo old >"$dir/begin/$name"
done
cp -r "$dir/begin" "$dir/work"
cd "$dir/work" || exit
: >"$dir/documents"

# Whatever a run has changed.
restore() {
    rm -rf "$dir/tmp/"* "$dir/record"
    diff -rq "$dir/begin" . >"$dir/diff" 2>&1 && return
    rm -rf "$dir/work/"* "$dir/work/".[!.]*
    cp -r "$dir/begin/." .
}
# run N COMMAND...: sets code, requests and live.
run() {
    : >"$dir/log"
    code=0
    refuse=$1
    shift
    STARVED=$refuse "$starved" "$@" >"$dir/out" 2>"$dir/err" || code=$?
    [ -s "$dir/log" ] || echo 0 0 >"$dir/log" # it was killed
    read -r requests live <"$dir/log"
}
complain() {
    echo "request $refuse refused: $*; exit code $code"
    head -n 3 "$dir/err"
    cat "$dir/diff" 2>/dev/null
    wrong=$((wrong + 1))
}
# judged: the run was right in every respect.
judged() {
    case $code in
    0)
        cmp -s "$dir/out" "$dir/good" || [ "$json" = yes ] ||
            complain "other output"
        diff -rq "$dir/end" . >"$dir/diff" 2>&1 || complain "other files"
        ;;
    4 | 5)
        diff -rq "$dir/begin" . >"$dir/diff" 2>&1 || complain "files changed"
        [ -s "$dir/err" ] || complain "without a word"
        ;;
    *)
        complain "neither 0, 4 nor 5"
        ;;
    esac
    [ "${live:-0}" -le "$kept" ] || complain "$live bytes are left, not $kept"
    [ -z "$(ls -A "$dir/tmp")" ] || complain "$(ls -A "$dir/tmp") is left"
    [ $json = no ] || cat "$dir/out" >>"$dir/documents"
}
# all_refused "" or +, COMMAND...
all_refused() {
    after=$1 wrong=0 n=0 past=0
    shift
    restore
    run 0 "$@"
    [ $code = 0 ] || { complain "already"; return 1; }
    rm -rf "$dir/end"
    cp -r . "$dir/end"
    cp "$dir/out" "$dir/good"
    kept=$live
    # Threads do not always ask in the same order, nor as often.
    while [ $past -lt 2 ] && [ $wrong -lt 5 ] && [ $n -lt "${most:-1000}" ]; do
        n=$((n + 1))
        restore
        run $n$after "$@"
        judged
        [ "$requests" -ge $n ] || past=$((past + 1))
    done
    echo "$n requests"
    restore
    [ $wrong = 0 ] && [ $n -gt 2 ] && { [ $past = 2 ] || [ $n = "${most:-}" ]; }
}
starve() {
    json=no
    check "each refused: $*" all_refused "" "$@" --quiet
    json=yes
    check "all from there on: $*" all_refused + "$@" --json --quiet
}

starve detect good-llama.gguf
starve info good-llama.gguf
starve validate --data --threads 1 good-llama.gguf
starve hash --algo sha256 --threads 2 f16.gguf
starve quantize --force --threads 1 f16.gguf o.gguf Q4_K_M
starve convert --force --threads 2 good-base.gguf o.apr
json=no
check "each refused: report" all_refused "" report --force --threads 1 \
    -o o.npy good-base.gguf --quiet
json=yes
check "all from there on: report --json" all_refused + report --json --quiet \
    --threads 1 good-base.gguf
check "all from there on: report --errors" all_refused + report --json --quiet \
    --threads 1 f16.gguf --errors q4_0,iq4_nl
starve quantize --force --threads 1 --effort 3 f16.gguf o.gguf Q4_K_M
starve quantize --force --threads 1 wide.gguf o.gguf --target-size 9k
if [ -z "${QUICK:-}" ]; then
    starve quantize --force --threads 2 --effort 3 wide.gguf o.gguf IQ4_XS \
        --imatrix wide.dat
    starve quantize --force --threads 2 --effort 3 wide.gguf o.gguf \
        --target-size 14k --types q4_0,q6_k,q8_0 --imatrix wide.dat \
        --tie attn_q --like Q4_0
    starve quantize --force --threads 1 wide.gguf o.gguf --target-size 14k \
        --types q4_0,q6_k,q8_0 --importance factors --min-type attn_v=q6_k \
        --tensor-type attn_k=q8_0
    starve quantize --dry-run --force --threads 1 wide.gguf o.gguf \
        --target-bpw 6 --types q4_0,q6_k,q8_0
    starve quantize --force --threads 1 wide.gguf o.gguf --recipe recipe
    json=no
    check "each refused: report --errors" all_refused "" report --force --quiet \
        --threads 1 -o o.npy f16.gguf --errors q4_0,iq4_nl
    check "each refused: report of two" all_refused "" report --force --quiet \
        --data --threads 1 -o o.npy good-llama.gguf good-base.gguf
    json=yes
    check "all from there on: report --json of two" all_refused + report \
        --json --quiet --data --threads 1 good-llama.gguf good-base.gguf
    starve tensors info good-llama.gguf --sort size
    starve tensors stats --threads 1 f16.gguf
    starve tensors export --force --threads 1 f16.gguf t0.weight o.npy
    starve meta list good-llama.gguf
    starve meta get good-base.apr architecture
    starve meta set good-base.gguf general.name=x
    starve meta set good-base.gguf general.name=far_longer_than_it_was
    starve meta unset good-llama.gguf general.name
    starve meta recover good-base.gguf
    starve validate --threads 1 "$f/good-hf-llama"
    starve validate --data --threads 2 "$f/good-tokens-spm.gguf"
    starve hash --threads 1 good-base.apr
    starve hash --duplicates --threads 1 good-llama.gguf
    starve diff --values --threads 1 good-base.gguf good-base.gguf
    starve diff --threads 2 good-base.gguf good-base.gguf
    starve verify --threads 1 good-llama.gguf --from good-llama.gguf
    starve verify --threads 2 --force --statement o.json good-base.gguf \
        --from good-base.gguf
    starve convert --force --threads 1 good-base.gguf o.safetensors --lossy
    starve convert --force --threads 1 good-base.safetensors o.gguf
    starve dequantize --force --threads 2 good-llama.gguf o.gguf
    starve quantize --force --threads 2 --report f16.gguf o.gguf IQ4_XS
    starve quantize --force --threads 2 --report f16.gguf --output Q4_0=o.gguf \
        --output Q8_0=good-base.gguf
    starve split --force --max-tensors 1 --threads 1 good-base.gguf o
    starve merge --force --threads 2 good-split-00001-of-00003.gguf o.gguf
    starve hash --threads 1 "$f/good-sharded"
    starve validate --threads 1 "$f/good-sharded"
    starve info "$f/good-folder"
    mkdir -p "$dir/begin/hf/additional_chat_templates"
    cp "$f"/good-hf-llama/* "$dir/begin/hf"
    echo '{{ messages }}' >"$dir/begin/hf/chat_template.jinja"
    echo '{{ tools }}' >"$dir/begin/hf/additional_chat_templates/tool.jinja"
    starve convert --names gguf --force --threads 1 hf o.gguf
    # Resident memory is other output each time.
    json=yes most=400
    check "the first 400, and all from there on: bench" all_refused + bench --json --quiet \
        --leak-check --rounds 8 --threads 1 good-llama.gguf
    most=
    starve meta get "$f/good-template.gguf" tokenizer.chat_template
    starve meta list --full "$f/good-arrays.gguf"
    starve info --timings good-llama.gguf
    starve hash --timings --threads 2 f16.gguf
    starve convert --resume --force --threads 1 f16.gguf o.gguf
    starve quantize --resume --force --threads 2 f16.gguf o.gguf Q4_K_M
    json=yes
    check "all from there on: hash --record" all_refused + hash --json \
        --quiet --record "$dir/record" --threads 2 f16.gguf
    starve info --dhat="$dir/profile" good-llama.gguf
    starve hash --dhat="$dir/profile" --threads 1 f16.gguf
    starve help
    starve version
fi
valid_documents() {
    node -e '
        const lines = require("fs").readFileSync(0, "utf8").split("\n");
        const bad = lines.filter((line) => {
            try { return line && !JSON.parse(line); } catch { return true; }
        });
        console.log(bad.slice(0, 5).join("\n"));
        process.exit(bad.length || lines.length < 50 ? 1 : 0);
    ' <"$dir/documents"
}
if command -v node >/dev/null 2>&1; then
    check "each prints JSON" valid_documents
else
    skip "each prints JSON" "node is not installed"
fi
finish
