#!/bin/sh
# SPDX-License-Identifier: MIT
#
# plan.t - the memory that a model needs: what is printed, drawn and answered
#
# The examples of docs/plan.md are run, and its picture is drawn:
# `UPDATE=1 tests/cli/plan.t` writes both again.
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

page=$PWD/docs/plan.md
picture=$PWD/docs/plan.svg
unset NO_COLOR

# Headers of models as they are, their data a hole.
"$build/tests/big" 7b-32k "$dir/llama-2-7b-f16.gguf" >"$dir/made"
"$build/tests/big" 70b "$dir/llama-3-70b-q8_0.gguf" >>"$dir/made"
cp "$fixtures/good-llama.gguf" "$dir/small.gguf"
cd "$dir" || exit 1
big=llama-2-7b-f16.gguf

# code CODE ARGUMENT...: plan ends with that code.
code() {
    expected=$1 code=0
    shift
    "$modelfile" plan "$@" >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" = "$expected" ] && return
    echo "exit code $code"
    cat "$dir/err"
    return 1
}
# says TEXT ARGUMENT...: its output has a line that begins so, blanks squeezed.
says() {
    text=$1
    shift
    "$modelfile" plan --quiet "$@" 2>&1 | tr -s ' ' >"$dir/out"
    awk -v text="$text" '{ sub(/^ /, "") } index($0, text) == 1 { found = 1 }
        END { exit !found }' "$dir/out" && return
    cat "$dir/out"
    return 1
}

# ---- numbers as llama.cpp's log has them

check "weights to the byte and to the printed digit" \
    says "weights 13,477,363,712 12853.02" "$big"
check "keys, values and their cells" \
    says "keys 536,870,912 512.00 3.7 % 2,048 cells x 32 layers" "$big" \
    --ctx 2k --fa on
check "the output" says "output 128,000 0.12" "$big"
check "grouped heads" says "kv cache 2,684,354,560 2560.00" \
    llama-3-70b-q8_0.gguf --ctx 8192
check "a quantized cache" says "values 285,212,672 272.00" "$big" --ctx 2048 \
    --type-k f16 --type-v q8_0
check "a context is rounded up" says \
    "context 1,024 (rounded up from 1,000; the model's: 4,096)" "$big" \
    --ctx 1000
check "each sequence has its own cells" says \
    "keys 536,870,912 512.00 3.7 % 512 cells x 32 layers" "$big" --ctx 2k \
    --parallel 4 --fa off
check "k is 1024, M its square" says "context 1,048,576 (the model's" "$big" \
    --ctx 1M
check "what is mapped and what is not" says "own 1,177,168,896 1122.64 8.0 %" \
    "$big" --ctx 2k

table() {
    "$modelfile" plan --quiet "$big" --ctx 2k,4k,32768 | tr -s ' ' |
        grep -A 9 '^ context weights' | cut -d ' ' -f 2,4 | tail -n +2 |
        tr '\n' ' ' >"$dir/out"
    [ "$(cat "$dir/out")" = "2,048 1024.00 4,096 2048.00 32,768 16384.00 " ]
}
check "a table of several contexts" table
warned() {
    code 0 "$big" --ctx 8k && grep -q "warning: a context of 8,192 exceeds the \
model's, 4,096" "$dir/err" && code 0 "$big" --ctx 4k &&
        ! grep -q warning "$dir/err"
}
check "a context above the model's is computed, with a warning" warned
narrow() {
    for options in "" "--fit 16G" "--devices 8G,8G --offload 40" \
        "--formula zigllama" "--ctx 4k,1M --parallel 3" "--help"; do
        # shellcheck disable=SC2086
        "$modelfile" plan --quiet "$big" $options 2>"$dir/err"
    done | LC_ALL=C tr -d '\200-\277' | awk 'length($0) > 80'
}
check_empty "all of it fits 80 columns" narrow
header_only() {
    "$modelfile" plan "$big" --fit 16G 2>&1 >"$dir/out" |
        awk '/^peak heap/ { for (i = 1; i < NF; i++) if ($i == "read")
            exit !($(i + 2) == "MiB" && $(i + 1) < 2) }'
}
check "only the header is read" header_only

numbers_of() {
    "$modelfile" plan --quiet "$1" --ctx 4k | tail -n +2
}
in_shards() {
    "$modelfile" split --quiet small.gguf shards --max-tensors 5 >"$dir/out" &&
        numbers_of small.gguf >whole && [ "$(wc -l <whole)" -gt 8 ] &&
        numbers_of shards-00002-of-0000?.gguf | diff whole -
}
check "a shard stands for its model" in_shards
in_apr() {
    "$modelfile" dequantize --quiet --lossy small.gguf small.apr >"$dir/out" && numbers_of small.apr | tr -s ' ' >"$dir/out" &&
        numbers_of small.gguf | tr -s ' ' | grep '^ keys\|^kv' |
        cut -d ' ' -f 1-4 >same && cut -d ' ' -f 1-4 "$dir/out" |
        grep -xFf same | cmp - same
}
check "caches of APR match the same GGUF" in_apr
in_folder() {
    says "keys 4,096 0.00" "$fixtures/good-hf-llama" --ctx 256
}
check "a folder with config.json" in_folder

# ---- what fits

check "it fits: exit code 0" code 0 "$big" --fit 24G
check "it does not: exit code 1" code 1 "$big" --fit 15G
check "the margin counts" code 0 "$big" --fit 15G --margin 0 --ctx 3k
check "it says so" says "fits as asked: no; 15001.65 MiB needed, \
14336.00 available (limit less margin)" "$big" --fit 15G
check "one largest context" says "largest context 2,560 (cache of f16)" \
    "$big" --fit 15G
check "with the cache that is asked" says \
    "largest context 5,120 (cache of q8_0), above the model's own" "$big" \
    --fit 15G --type-k q8_0 --type-v q8_0
check "the best mix that fits" says "Q8_0 8.5" "$big" --fit 15G
check "none that does not" [ "$("$modelfile" plan -q "$big" --fit 15G |
    grep -c '^F16')" = 0 ]
check "ten mixes" [ "$("$modelfile" plan -q "$big" --fit 15G |
    grep -cE '^[A-Z0-9_]+ +[0-9.]+ ')" = 10 ]
check "how many more" says "and 2" "$big" --fit 15G
check "if none fits, the smallest" says \
    "no quantization fits; the smallest file, " "$big" --fit 2G
check "if none is known, what says why" says \
    "quantizations: unknown; plan --as Q4_K_M says why" \
    "$fixtures/good-imatrix.gguf" --fit 24G
check "which does" says \
    "modelfile: $fixtures/good-imatrix.gguf: this is an importance matrix" \
    "$fixtures/good-imatrix.gguf" --as Q4_K_M
check "of a list, the largest context" code 1 "$big" --fit 15G --ctx 2k,4k
each_context() {
    "$modelfile" plan --quiet "$big" --ctx 1k,2k,4k --fit 15G |
        awk '$8 == "yes" || $8 == "no" { print $1, $8 }' | tr '\n' ' ' \
            >"$dir/out"
    [ "$(cat "$dir/out")" = "1,024 yes 2,048 yes 4,096 no " ]
}
check "each of several contexts" each_context
check "a limit below the margin" code 1 "$big" --fit 1G --margin 2G --offload 0
device() {
    says "device1: fits, " "$big" --devices 6G,12G &&
        says "device0: does not fit, " "$big" --devices 4G,12G --fit 4G
}
check "each device" device
check "whose limit that of fewer layers is" says \
    "(the limit applies to one device; the host has none)" "$big" --fit 15G --offload 33
check "a host without a limit has room for any context" says \
    "0 15001.65 0.00 any yes" "$big" --gpu 12G
check "what fewer layers on devices change" says "33 270.14 14" "$big" \
    --fit 15G --offload 33

# ---- as if quantized

as_quantized() {
    for type in Q4_K_M Q8_0 Q5_0 COPY; do
        "$modelfile" quantize -q small.gguf as.gguf $type --force --allow-requantize \
            >"$dir/out" 2>&1 || return 1
        "$modelfile" plan -q small.gguf --as $type --ctx 512 | tail -n +2 >a
        "$modelfile" plan -q as.gguf --ctx 512 | tail -n +2 >b
        [ -s a ] && cmp a b || return 1
    done
}
check "a plan as if quantized matches the file" as_quantized
check "it is less than as it is" says "weights 4,080," "$big" --as Q4_K_M
near_mix() {
    code 2 "$big" --as Q4KM &&
        grep -q "type 'Q4KM'; did you mean 'Q4_K_M'?" "$dir/err"
}
check "a mistyped mix is asked back" near_mix
same_as() {
    "$modelfile" plan -q small.gguf --as q8_0 --ctx 512 | tail -n +2 >a
    "$modelfile" plan -q "$1" --as Q8_0 --ctx 512 | tail -n +2 >b
    [ -s a ] && cmp a b
}
split_as() {
    "$modelfile" split -q small.gguf as-shards --max-tensors 5 >"$dir/out" &&
        same_as as-shards-00002-of-0000?.gguf
}
check "a model in shards likewise" split_as
folder_as() {
    "$modelfile" convert -q "$fixtures/llama/llama-small.gguf" folder/ \
        >"$dir/out" 2>&1 &&
        "$modelfile" quantize -q folder as.gguf Q4_K_M --force \
            >"$dir/out" 2>&1 || return 1
    "$modelfile" plan -q folder --as Q4_K_M --ctx 512 2>"$dir/err" |
        tail -n +2 >a
    "$modelfile" plan -q as.gguf --ctx 512 2>"$dir/err" | tail -n +2 >b
    [ -s a ] && cmp a b
}
check "a folder likewise" folder_as
named_as() {
    "$modelfile" plan -q "$big" --json --as q4_k_m | grep -q '"as":"Q4_K_M"' &&
        "$modelfile" plan -q "$big" --json | grep -q '"as":null'
}
check "JSON says so" named_as

# ---- without weights

# bare [CLASS [EDIT]]: the folder's config.json alone, edited.
bare() {
    mkdir -p bare && sed "s/LlamaForCausalLM/${1:-LlamaForCausalLM}/
        ${2:-}" folder/config.json >bare/config.json
}
# The sizes of files that would be quantized lack the vocabulary, which
# config.json does not have.
bare_plan() {
    bare && "$modelfile" plan -q "$@" folder 2>"$dir/err" |
        sed '1d; s/^\([A-Z0-9_]* *[0-9.]*\) .*/\1/' >a
    for from in bare bare/config.json; do
        "$modelfile" plan -q "$@" $from 2>"$dir/err" |
            sed '1d; s/^\([A-Z0-9_]* *[0-9.]*\) .*/\1/' >b
        [ -s a ] && cmp a b || return 1
    done
}
check "a folder without weights, and config.json, are planned like it" \
    bare_plan --ctx 512
check "as if quantized, too" bare_plan --ctx 512 --as Q8_0
check "and what fits" bare_plan --ctx 512 --fit 2G
tied() {
    bare LlamaForCausalLM 's/\(tie_word_embeddings": \)false/\1true/'
    [ "$(weights folder)" -gt "$(weights bare)" ] &&
        [ "$(weights bare)" -gt 10000 ] &&
        ! grep -q estimated "$dir/out"
}
weights() {
    "$modelfile" plan -q "$1" --ctx 512 2>"$dir/err" >"$dir/out"
    awk '$1 == "weights" { gsub(/,/, ""); print $2 }' "$dir/out"
}
check "tied embeddings are counted once" tied
refused() {
    bare "$1" "$2" && code 3 bare && grep -q "$3" "$dir/err"
}
check "a family without rows is refused by name" refused NoSuchForCausalLM '' \
    "class 'NoSuchForCausalLM' cannot be converted"
check "compressed weights are refused by name" refused LlamaForCausalLM \
    's/"rms_norm_eps"/"quantization_config": {"quant_method": "fp8"}, &/' \
    "compressed by 'fp8'"
check "a number that is missing is named" refused LlamaForCausalLM \
    's/"hidden_size": [0-9]*,//' "hidden_size"
# Rows are repeated for 1024 blocks at most: no sum of a part of them.
layers() {
    bare LlamaForCausalLM "s/\"num_hidden_layers\": [0-9]*/\"num_hidden_layers\": $1/"
}
too_many() {
    layers 1024 && [ "$(weights bare)" -gt 10000 ] &&
        layers 1025 && code 3 bare &&
        grep -q "does not give the tensors of models of 'llama'" "$dir/err"
}
check "weights of a part of the layers are not a sum" too_many
estimated() {
    bare LlamaForCausalLM 's/"torch_dtype": "[a-z0-9]*",//' &&
        [ "$(weights bare)" -gt 10000 ] &&
        grep -q "^weights.*estimated" "$dir/out"
}
check "a type that config.json does not give is estimated" estimated
check "other commands want weights" [ "$("$modelfile" info -q bare 2>&1 |
    grep -c 'no model in this folder')" = 1 ]

# ---- sizes and GPUs

# limits OPTION...: what devices have, in MiB.
limits() {
    "$modelfile" plan -q "$big" --json "$@" | node -e '
        console.log(JSON.parse(require("fs").readFileSync(0, "utf8")).files[0]
            .contexts[0].devices.slice(1)
            .map((device) => device.limit_bytes / 2 ** 20).join(" "))'
}
same_size() {
    for size in 24 24G 24g 24GB 24GiB 24gb 25769803776 24576M 24576MiB; do
        for option in --gpu --vram --devices; do
            [ "$(limits $option "$size")" = 24576 ] || return 1
        done
    done
    [ "$(limits --gpu 8,1.5GB)" = "8192 1536" ]
}
if command -v node >/dev/null 2>&1; then
    check "a card of 24 GB has 24 GiB" same_size
else
    skip "a card of 24 GB has 24 GiB" "node is not installed"
fi
check "a GPU with room" code 0 "$big" --gpu 24GB
check "one without" code 1 "$big" --vram 8
check "two together" code 0 "$big" --gpu 9,9
check "what is left free of it" code 1 "$big" --gpu 15G --margin 2G
check "no size" code 2 "$big" --gpu 24X
check "one word for it" code 2 "$big" --gpu 24 --devices 24G

# ---- what is not known

# without KEY VALUE...: small.gguf, edited.
without() {
    cp small.gguf edited.gguf
    "$modelfile" meta unset --quiet --force edited.gguf "$1" >"$dir/out" 2>&1
}
set_to() {
    cp small.gguf edited.gguf
    "$modelfile" meta set --quiet --force edited.gguf "$1" >"$dir/out" 2>&1
}
missing() {
    without "$1"
    code 0 edited.gguf && grep -q "^not known: .*$1" "$dir/out" &&
        grep -q '^weights .*24,288\|^weights .*21,312' "$dir/out" &&
        code 3 edited.gguf --fit 1G && grep -q "$1" "$dir/err"
}
check "a missing key is named; the rest stays; --fit: 3" \
    missing llama.block_count
check "likewise" missing llama.attention.head_count
check "the architecture" missing general.architecture
zero() {
    set_to "$1" && code 0 edited.gguf && grep -q '^kv cache *not known$' "$dir/out" &&
        code 3 edited.gguf --fit 1G
}
check "zero heads" zero llama.attention.head_count:u32=0
check "more heads for keys than for queries" zero \
    llama.attention.head_count_kv:u32=4000000000
huge() {
    set_to llama.block_count:u32=4294967295 &&
        code 0 edited.gguf --ctx 99999999M && code 0 edited.gguf --ctx 4k
}
check "2^32 layers and 2^46 tokens take no time" huge
# A file and a config.json alone, with as many layers.
most_layers() {
    for layers in 512 513 1024; do
        set_to llama.block_count:u32=$layers && code 0 edited.gguf && mv "$dir/out" a &&
            layers $layers && code 0 bare && cat "$dir/out" a >b || return
        said=$(grep -c "^not known: 'llama.block_count' is $layers, llama.cpp takes at most 512\$" b)
        [ "$said" = $((layers > 512 ? 2 : 0)) ] || return
    done
}
check "more layers than llama.cpp loads are not planned" most_layers

# ---- JSON

if command -v node >/dev/null 2>&1; then
    as_promised() {
        code 1 "$big" --json --ctx 2k,4k --fit 16G --offload 40 \
            --devices 8G,8G && node -e '
            const answer = JSON.parse(
                require("fs").readFileSync(0, "utf8")).files[0];
            const keys = (what, ...names) => {
                for (const name of names)
                    if (!(name in what)) throw new Error("no " + name);
            };
            keys(answer, "file", "contexts", "fit", "estimated");
            for (const each of answer.contexts) {
                keys(each, "ctx", "kv", "state_bytes", "compute_bytes",
                    "output_bytes", "weights_bytes", "total_bytes");
                keys(each.kv[0], "name", "cells", "layers", "k_bytes", "v_bytes");
                for (const device of each.devices)
                    keys(device, "name", "weights_bytes", "kv_bytes",
                        "state_bytes", "compute_bytes", "total_bytes",
                        "limit_bytes");
            }
            const { fit, contexts } = answer;
            keys(fit, "limit_bytes", "margin_bytes", "ctx", "mixes");
            keys(fit.ctx, "f16", "q8_0", "q4_0");
            keys(fit.mixes[0], "name", "bytes", "bits_per_weight", "fits",
                "needs_imatrix");
            if (contexts.length !== 2 || contexts[1].ctx !== 4096 ||
                contexts[1].kv[0].k_bytes !== 2 ** 30 ||
                contexts[1].devices.length !== 3 || fit.limit_bytes !== 2 ** 34 ||
                fit.margin_bytes !== 2 ** 30 || fit.mixes.length < 20)
                throw new Error(JSON.stringify(answer));' <"$dir/out"
    }
    check "the keys that scripts rely on" as_promised
    nulls() {
        without llama.block_count
        code 3 edited.gguf --json --fit 1G && node -e '
            const { contexts: [context], fit, error } = JSON.parse(
                require("fs").readFileSync(0, "utf8")).files[0];
            if (context.kv !== null || context.total_bytes !== null ||
                !(context.weights_bytes > 0) || fit.fits !== null ||
                error.code !== 3)
                throw new Error(JSON.stringify(context));' <"$dir/out"
    }
    check "what is not known is null" nulls
else
    skip "the keys that scripts rely on" "no node"
    skip "what is not known is null" "no node"
fi

# ---- the picture

drawn() {
    code 0 "$big" --plot p.svg --fit 24G && [ "$(grep -c '<polyline' p.svg)" = 3 ] &&
        grep -q 'class="limit"' p.svg && grep -q 'limit: 24.00 GiB' p.svg &&
        grep -q '@media (prefers-color-scheme: dark)' p.svg &&
        ! grep -qE '<script|<foreignObject|href=|url\(|@import|<image' p.svg
}
check "a line for each type of the cache, and one for the limit" drawn
if command -v xmllint >/dev/null 2>&1; then
    well_formed() {
        cp small.gguf 'a<b&"]]>c.gguf'
        code 0 'a<b&"]]>c.gguf' --plot q.svg && xmllint --noout p.svg q.svg
    }
    check "the picture is well-formed" well_formed
else
    skip "the picture is well-formed" "no xmllint"
fi
kept() {
    cp p.svg before.svg
    code 4 "$big" --plot p.svg && grep -q 'use --force to overwrite' "$dir/err" &&
        cmp p.svg before.svg && code 0 "$big" --plot p.svg --force --type-k f32 &&
        [ "$(grep -c '<polyline' p.svg)" = 4 ]
}
check "one that exists is replaced only with --force" kept
input_stays() {
    cp small.gguf same.gguf
    code 4 same.gguf --plot same.gguf --force && cmp same.gguf small.gguf &&
        ln -s same.gguf other.svg && code 4 same.gguf --plot other.svg --force &&
        cmp same.gguf small.gguf
}
check "the model is never replaced" input_stays
check "a folder that is missing" code 4 "$big" --plot none/p.svg
alone() {
    code 0 "$big" --plot - && [ "$(head -c 4 "$dir/out")" = "<svg" ] &&
        [ "$(tail -n 1 "$dir/out")" = "</svg>" ]
}
check "to standard output, the picture alone" alone
nothing_left() {
    find . -name '.*' ! -name . | grep .
}
check_empty "no temporary file is left" nothing_left

# ---- a calculator that is often quoted

check "its cache matches f32" says "kv cache, f32 2 L n d_h H 4 2.15 GB 1.07 GB" \
    "$big" --ctx 2k --formula zigllama
check "with f16 it is half of it" says \
    "kv cache, f16 2 L n d_h H 2 1.07 GB 1.07 GB" \
    "$big" --ctx 2k --formula zigllama --kv f16
check "its parameters" says "parameters P = 12 L d^2 6.44 B 6.74 B" "$big" \
    --formula zigllama
without llama.embedding_length
check "a number that it needs is missing" code 3 edited.gguf --formula zigllama

# The caches in docs/plan.md: "| 7B (L 32, d 4096) | 2048 | 1.07 | 2.15 | 1.07 |".
wrong_caches() {
    sed -n 's/^| \([0-9]*B\)\( (L \([0-9]*\), d \([0-9]*\))\)* | \([0-9]*\) | \([0-9.]*\) | \([0-9.]*\) | \([0-9.]*\) |$/\1 \5 \6 \7 \8 \3 \4/p' \
        "$page" | awk '
        NF == 7 { layers = $6; length_ = $7 }
        {
            wide = sprintf("%.2f", 2 * layers * $2 * length_ * 4 / 1e9)
            half = sprintf("%.2f", 2 * layers * $2 * length_ * 2 / 1e9)
            if (wide != $4 || half != $5 || ($3 != half && $1 != "30B"))
                print $0 ": " wide ", " half
            count++
        }
        END { if (count != 8) print count + 0 " rows" }'
}
check_empty "its figures and the right ones in docs/plan.md" wrong_caches

# ---- docs/plan.md

# The page with each "$ modelfile plan ..." run again.
page_now() {
    awk '/^```$/ { code = !code; shown = 0 }
        !shown { print }
        code && /^\$ modelfile plan/ { shown = 1; print "@ " substr($0, 13) }' \
        "$page" | while IFS= read -r line; do
        case $line in
        "@ "*)
            eval "\"\$modelfile\" --quiet ${line#@ }" 2>/dev/null
            ;;
        *) printf '%s\n' "$line" ;;
        esac
    done
}
page_differs() {
    page_now >"$dir/page"
    diff "$page" "$dir/page" && return
    [ -n "${UPDATE:-}" ] || echo "run: UPDATE=1 sh tests/cli/plan.t"
    [ -z "${UPDATE:-}" ] || cp "$dir/page" "$page"
}
picture_differs() {
    "$modelfile" plan --quiet "$big" --ctx 4k --fit 24G --plot now.svg --force \
        >"$dir/out"
    diff "$picture" now.svg && return
    [ -n "${UPDATE:-}" ] || echo "run: UPDATE=1 sh tests/cli/plan.t"
    [ -z "${UPDATE:-}" ] || cp now.svg "$picture"
}
check_empty "its examples are what the program prints" page_differs
check_empty "its picture is what the program draws" picture_differs

finish
