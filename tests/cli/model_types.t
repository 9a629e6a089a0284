#!/bin/sh
# SPDX-License-Identifier: MIT
#
# model_types.t - validate knows the models that convert knows, by class and type
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

mkdir "$dir/m"
cp fixtures/good-base.safetensors "$dir/m/model.safetensors"

# rules CLASS TYPE [OPTION...]: the ids of what is found about such a folder.
rules() {
    printf '{"architectures":["%s"],"model_type":"%s"}\n' "$1" "$2" \
        >"$dir/m/config.json"
    shift 2
    "$modelfile" validate --json "$@" "$dir/m" >"$dir/out"
    grep -o '"id":"MODEL-[A-Z]*"' "$dir/out" | cut -d '"' -f 4 | sort -u
}
# Rows that end with a backslash go on in the next.
classes() {
    sed -e ':more' -e '/\\$/{N;s/\\\n//;b more' -e '}' lib/families/*.txt \
        lib/families/*/*.txt |
        awk '/^[a-z]/ { kind = $1 }
            $1 == "class" && kind ~ /^(family|projector)$/ {
                for (i = 2; i <= NF; i++) print $i
            }' | sort -u
}
types() {
    sed -En 's/^(ARCHITECTURE|TYPE)\("([^"]*)".*/\2/p' \
        lib/arch/names.def lib/folder/families.def
    sed -n 's/^ *field model_type "\([^"]*\)"$/\1/p' lib/families/*.txt
    cat lib/families/*.txt lib/families/*/*.txt |
        sed -n 's/^config //p' | tr ' ' '\n'
}

classes >"$dir/classes"
types | sort -u >"$dir/types"
unknown_classes() {
    while read -r class; do
        ! rules "$class" other | grep -qx MODEL-UNKNOWN || echo "$class"
    done <"$dir/classes"
}
unknown_types() {
    while read -r type; do
        ! rules Other "$type" | grep -qx MODEL-UNKNOWN || echo "$type"
    done <"$dir/types"
}
check "there are classes" [ "$(wc -l <"$dir/classes")" -ge 200 ]
check "and types" [ "$(wc -l <"$dir/types")" -ge 100 ]
check_empty "no class that convert knows is unknown to validate" unknown_classes
check_empty "no model type either" unknown_types

check "BERT is known, and what was not checked is said" \
    [ "$(rules BertModel bert)" = MODEL-GENERIC ]
check "it is not an unknown architecture" \
    [ "$(rules BertModel bert --require-known)" = MODEL-GENERIC ]
check "and not an error" grep -q '"valid":true' "$dir/out"
check "rules of architectures were not applied to it" sh -c "
    '$modelfile' validate --json --coverage '$dir/m' |
        grep -q '\"id\":\"MODEL-SHAPE\",\"reason\"'"
check "another type is unknown" \
    [ "$(rules Other other)" = MODEL-UNKNOWN ]
check "and an error if wanted" \
    [ "$(rules Other other --require-known)" = MODEL-UNKNOWN ]
check "which ends the check" grep -q '"valid":false' "$dir/out"

finish
