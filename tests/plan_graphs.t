#!/bin/sh
# SPDX-License-Identifier: MIT
#
# plan_graphs.t - what llama.cpp computes with, of every architecture
#
# A small model of each architecture is made of its rows in lib/arch/tables.
# plan_graphs.tsv has the size of the compute buffer that llama.cpp v0.5.0
# prints for it, in MiB, in three settings; plan says the same, and does not
# call it estimated.  "-": no figure, or plan only estimates.  "full" models
# have the tensors that may be missing, too.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

build=${BUILD:-build}
modelfile=${MODELFILE:-$build/modelfile}
table=tests/plan_graphs.tsv
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-graphs.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

# All three settings of a model.
settings() { # FILE
    for setting in "--ctx 4096 --fa on" "--ctx 8192 --fa off" \
        "--ctx 16384 --ubatch 256 --type-k q8_0 --type-v q8_0 --fa on \
            --parallel 4"; do
        # shellcheck disable=SC2086 # the words of a setting
        "$modelfile" plan --json --quiet $setting "$1" 2>/dev/null |
            sed 's/"contexts"/\n&/; s/"output_bytes"/\n&/; s/"estimated"/\n&/'
        echo end
    done | awk '
        /^"contexts"/ { sub(/.*"compute_bytes":/, ""); bytes = $0 + 0 }
        /^"estimated":\[[^]]*"compute"/ { bytes = -1 }
        /^end/ { printf "\t%s", bytes < 0 ? "?" : sprintf("%.4f",
                 bytes / 1048576); bytes = -1 }'
}

# Compares the models of one kind with the table.
compare() { # KIND OPTION...
    kind=$1
    shift
    grep -v '^#' "$table" | while read -r name which figures; do
        [ "$which" = "$kind" ] || continue
        "$build/tests/make_arch" "$@" "$name" "$dir/model.gguf" || continue
        printf '%s\t%s%s\n' "$name" "$kind" "$(settings "$dir/model.gguf")"
        printf '%s\t%s\t%s\n' "$name" "$kind" "$figures" >>"$dir/expected"
    done >"$dir/planned"
    awk -F '\t' '
        NR == FNR { for (i = 3; i <= 5; i++) want[$1, i] = $i; next }
        { for (i = 3; i <= 5; i++)
              if (want[$1, i] != "-" && want[$1, i] != $i)
                  print $1 ": setting " i - 2 ": " $i " instead of " \
                        want[$1, i] " MiB" }
        END { if (FNR < 100) print "only " FNR " models were planned" }
    ' "$dir/expected" "$dir/planned"
}

# Every architecture has a row.
missing_rows() {
    "$build/tests/make_arch" | while read -r name; do
        grep -q "^$name	lean	" "$table" || echo "$name has no row"
    done
}

check_empty "every architecture has a row" missing_rows
check_empty "small models need what llama.cpp allocates" compare lean
if [ "${QUICK:-}" = 1 ]; then
    skip "so do models with all tensors" "QUICK"
else
    : >"$dir/expected"
    check_empty "so do models with all tensors" compare full --full
fi
finish
