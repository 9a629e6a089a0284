#!/bin/sh
# SPDX-License-Identifier: MIT
#
# differential.t - validate and llama.cpp agree about thousands of faulty models
#
# Small models are made of each architecture that has rows about loading;
# validate accepts them.  Models of some (ARCHITECTURES=all: of each) get FAULTS
# single faults each, which validate and LLAMA_JUDGE judge: a program that is
# given the path of a model and exits with 0 if the model runs.  docs/verdicts.md
# says how to make one.  What the two disagree about must have a row in
# differential.tsv.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

build=${BUILD:-build}
modelfile=${MODELFILE:-$build/modelfile}
architectures=${ARCHITECTURES:-llama qwen2 qwen2moe qwen3 qwen3moe qwen3next \
    qwen35 gemma2 gemma3 gemma4 phi3 gpt2 starcoder2 command-r bert mamba \
    mamba2 jamba rwkv7 deepseek2 gpt-oss lfm2 nemotron_h falcon-h1 kimi-linear}
if [ "$architectures" = all ]; then
    # llama.cpp v0.5.0 aborts on every PLM.
    architectures=$("$build/tests/make_arch" | grep -v '^plm$')
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-judged.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/all" "$dir/some"
tab=$(printf '\t')

# Without and with the tensors that may be missing.
make_models() { # FOLDER ARCHITECTURE...
    folder=$1
    shift
    for architecture; do
        "$build/tests/make_arch" "$architecture" \
            "$folder/$architecture.gguf" &&
            "$build/tests/make_arch" --full "$architecture" \
                "$folder/$architecture-full.gguf" || return 1
    done
}

# shellcheck disable=SC2046 # words
check "make a small model of each architecture" \
    make_models "$dir/all" $("$build/tests/make_arch")
"$modelfile" validate --quiet "$dir/all" >"$dir/said" 2>&1
check_empty "validate finds no error in them" grep ': error' "$dir/said"
rm -rf "$dir/all"

if [ -z "${LLAMA_JUDGE:-}" ]; then
    skip "validate and llama.cpp agree" \
        "no LLAMA_JUDGE; docs/verdicts.md explains it"
    finish
fi

# shellcheck disable=SC2086 # words
check "make models to be judged" make_models "$dir/some" $architectures
judge_all() {
    FAULTS=${FAULTS:-100} sh tests/cli/differential.sh "$dir/some"/*.gguf \
        >"$dir/lines"
}
check "make faulty models, and judge them" judge_all
awk -F "$tab" -f tests/cli/differential.awk tests/data/differential.tsv "$dir/lines" \
    >"$dir/sums"
sed '/^[a-z]* [^ ]*: /d' "$dir/sums" | note

check_empty "both accept the good models" grep '^good' "$dir/sums"
check_empty "what does not run is an error, or explained" \
    grep '^passes' "$dir/sums"
check_empty "what runs is not an error, or explained" grep '^alarm' "$dir/sums"
check_empty "98 % of what does not run are errors, whatever the architecture" \
    awk '$4 ~ /^[0-9.]+$/ && $4 < 98 && $2 - $3 > 1' "$dir/sums"
finish
