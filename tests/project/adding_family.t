#!/bin/sh
# SPDX-License-Identifier: MIT
#
# adding_family.t - a family is a file: the command with the one in docs/adding.md
#
# modelfile-added is the command with that file in lib/families.
# Nothing else was changed for it.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

added=$build/modelfile-added
awk -v first="folder wren" -f tests/project/example.awk docs/adding.md >"$dir/fixture"

# The fixture's rows as a folder, with a tokenizer of 16 tokens.  Each number of
# a tensor is two digits: as bf16, all are small and above 0.
write_folder() {
    cp -r fixtures/hub/options/fp8 "$1" || return
    sed -n 's/^config //p' "$dir/fixture" >"$1/config.json"
    awk '$1 == "in" {
            size = 2
            for (i = split($4, dim, "x"); i > 0; i--)
                size *= dim[i]
            gsub("x", ",", $4)
            printf "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s]," \
                "\"data_offsets\":[%d,%d]}", end ? "," : "{", $2, toupper($3),
                $4, end, end + size
            end += size
        }
        END { print "}\n" end }' "$dir/fixture" >"$dir/header"
    header=$(head -n 1 "$dir/header")
    {
        # shellcheck disable=SC2059 # its length, in eight bytes
        printf "\\$(printf %o $((${#header} % 256)))\\$(printf %o \
            $((${#header} / 256)))\\0\\0\\0\\0\\0\\0"
        printf %s "$header"
        seq 100000 99999999 | tr -d '\n' | head -c "$(tail -n 1 "$dir/header")"
    } >"$1/model.safetensors"
}

run() {
    "$added" "$@" --quiet >"$dir/out" 2>"$dir/err" || { cat "$dir/err"; return 1; }
}

check "the page has a family and its fixture" \
    [ "$(grep -c '^section ' "$build/added/wren.txt")" -eq 4 ]
check "which no other file knows" \
    sh -c '! grep -rqi wren lib/families lib/hf/hub lib/arch lib/plan lib/rows'
check "its fixture becomes a folder" write_folder "$dir/Wren"
cd "$dir" || exit

unknown() {
    "$modelfile" convert Wren w.gguf --quiet >out 2>&1
    [ $? -eq 3 ] && grep -q WrenForCausalLM out && [ ! -e w.gguf ]
}
check "without it the class is unknown" unknown
check "with it the folder becomes GGUF" run convert Wren w.gguf
is_wren() {
    [ "$("$added" meta get --quiet w.gguf general.architecture)" = wren ] &&
        [ "$("$added" meta get --quiet w.gguf wren.logit_scale)" = 0.5 ] &&
        run tensors w.gguf && grep -q 'blk.0.ffn_up.weight' out
}
check "with the keys and tensors of its rows" is_wren
check "which is valid" run validate --data --strict --require-known w.gguf
fault() {
    cp w.gguf k.gguf && run meta unset --force k.gguf wren.logit_scale || return
    "$added" validate k.gguf --quiet >out
    [ $? -eq 1 ] && grep -q "missing key 'wren.logit_scale'" out
}
check "and is not without a key that its loader reads" fault
planned() {
    run plan --json w.gguf && grep -q '"estimated":\[\]' out &&
        grep -o '"contexts":.*"fit"' out >of_file
}
check "what computing takes is known exactly" planned
same_plan() {
    run plan --json Wren && grep -o '"contexts":.*"fit"' out | cmp - of_file
}
check "of the folder, too" same_plan

check "it becomes a folder again" run convert w.gguf back/
# Norms have become f32.
same_files() {
    for folder in Wren back; do
        run convert $folder/model.safetensors $folder.safetensors --type f32 &&
            "$added" hash --quiet $folder.safetensors >$folder.all || return
        grep -v 'safetensors$' $folder.all >$folder.sums
    done
    [ "$(grep -c mlp Wren.sums)" -eq 2 ] && cmp Wren.sums back.sums &&
        grep -q '"architectures": *\["WrenForCausalLM"\]' back/config.json &&
        grep -q '"logit_scale": *0.5' back/config.json
}
check "with the same tensors and fields" same_files
again() {
    run convert back again.gguf && run diff w.gguf again.gguf
}
check "and that the same file" again
check "the folder is valid" run validate --data --strict --require-known back
finish
