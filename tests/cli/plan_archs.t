#!/bin/sh
# SPDX-License-Identifier: MIT
#
# plan_archs.t - the compute memory of each architecture, as llama.cpp has it
#
# Small models are made of each architecture that has rows about loading,
# without and with the tensors that may be missing ("-full", not if QUICK=1).  A
# row of plan_archs.tsv has what llama.cpp v0.5.0 reserves for them on the CPU,
# in MiB:
#
#     context 1024, ubatch 512, with flash attention
#     the same without
#     context 2048, ubatch 256, caches of q8_0, 2 sequences
#     the same with caches of f16, one for both sequences
#     context 4096, ubatch 512, with flash attention
#     context 8192, ubatch 512, without
#     context 16384, ubatch 256, caches of q8_0, 4 sequences
#
# "-": llama.cpp does not take this setting, or has no figure.  Architectures
# without a paragraph `graph`, or with one that leaves something out, are
# estimated, and say so:
without="bailingmoe3 deepseek32 deepseek4 dflash dots3note eagle3 \
    ernie4_5-moe gemma4-assistant glm-dsa graniteswitch hy_v4 kimi-k3 \
    minimax-01 minimax-m3 qwen4exp wavtokenizer-dec"
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh

build=${BUILD:-build}
modelfile=${MODELFILE:-$build/modelfile}
table=tests/data/plan_archs.tsv
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-graphs.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

# plan SETTING...: what computing takes, and "estimated" if it is.
plan() {
    "$modelfile" plan --quiet --json "$@" 2>"$dir/err" |
        awk '
            match($0, /"compute_bytes":[0-9]+/) {
                bytes = substr($0, RSTART + 16, RLENGTH - 16)
            }
            /"estimated":\[[^]]*"compute"/ { word = " estimated" }
            END { printf "%.4f%s\n", bytes / 1048576, word }'
}
row() { # FILE
    plan "$1" --ctx 1024 --fa on
    plan "$1" --ctx 1024 --fa off
    plan "$1" --ctx 2048 --ubatch 256 --type-k q8_0 --type-v q8_0 --parallel 2 \
        --fa on
    plan "$1" --ctx 2048 --ubatch 256 --parallel 2 --kv-unified --fa on
    plan "$1" --ctx 4096 --fa on
    plan "$1" --ctx 8192 --fa off
    plan "$1" --ctx 16384 --ubatch 256 --type-k q8_0 --type-v q8_0 \
        --parallel 4 --fa on
}

# Plans a small model of each architecture.  SUFFIX: how its name ends; OPTION:
# of make_arch.
models() { # SUFFIX OPTION...
    suffix=$1
    shift
    for architecture in $("$build/tests/make_arch"); do
        name=$architecture$suffix
        "$build/tests/make_arch" "$@" "$architecture" "$dir/$name.gguf" ||
            exit 1
        row "$dir/$name.gguf" | awk -v name="$name" '
            { line = line "\t" $0 }
            END { print name line }'
        rm "$dir/$name.gguf"
    done
}

compare() { # SUFFIX OPTION...
    models "$@" >"$dir/planned"
    awk -F '\t' -v without=" $without " -v suffix="$1" '
        FNR == NR {
            if (($1 ~ /-full$/) == (suffix != ""))
                expected[$1] = $0
            next
        }
        !($1 in expected) { print $1 " has no row"; next }
        { seen[$1] = 1 }
        /estimated/ {
            name = $1
            sub(/-full$/, "", name)
            if (!index(without, " " name " ") &&
                !index(without, " " $1 " "))
                print $1 " is estimated"
            next
        }
        {
            split(expected[$1], real)
            for (i = 2; i <= 8; i++)
                if (real[i] != "-" && real[i] != $i)
                    print $1 ", setting " i - 1 ": " $i ", not " real[i]
        }
        END {
            for (name in expected)
                if (!(name in seen))
                    print name " is not an architecture"
        }' "$table" "$dir/planned"
}
check_empty "compute buffers of all graphs match llama.cpp" compare ""
if [ "${QUICK:-}" = 1 ]; then
    skip "and of models with all tensors" "make check does this"
else
    check_empty "and of models with all tensors" compare -full --full
fi
finish
