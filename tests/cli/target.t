#!/bin/sh
# SPDX-License-Identifier: MIT
#
# target.t - types for a size: quantize --target-size and its options
#
# MILP_PYTHON is a Python with scipy, whose solver of integer programs gets the
# same costs.  MODELFILE_LLAMA_QUANTIZE is llama-quantize of llama.cpp v0.5.0,
# which gets the same recipe.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

kinds=$(realpath "${BUILD:-build}/tests/kinds")

code_of() {
    code=0
    "$@" >"$dir/out" 2>"$dir/err" || code=$?
}

quantize() {
    "$modelfile" quantize --quiet "$@"
}

# Values of the JSON of the last run.
value() {
    python3 -c 'import json, sys
answer = json.load(open(sys.argv[1]))["files"][0]
for name in sys.argv[2].split("."):
    answer = answer[name]
print(answer)' "$dir/json" "$1"
}

size_of() {
    wc -c <"$1"
}

"$kinds" dense 4 256 "$dir/dense.gguf" "$dir/dense.dat"
"$kinds" experts 3 256 "$dir/experts.gguf" "$dir/experts.dat"
"$kinds" dense 1 512 "$dir/other.gguf" "$dir/other.dat"
"$kinds" tied 3 256 "$dir/tied.gguf"
"$kinds" tiny 1 256 "$dir/tiny.gguf"
"$kinds" giant 2 256 "$dir/giant.gguf"
dense=$dir/dense.gguf

# ---- sizes

# At most the target, and the plan is what is written.
fits() {
    quantize "$dense" "$dir/out.gguf" --target-size "$1" --force --json \
        >"$dir/json" || return 1
    size=$(size_of "$dir/out.gguf")
    [ "$size" -le "$1" ] && [ "$size" = "$(value target.bytes)" ] &&
        "$modelfile" validate --quiet --data "$dir/out.gguf" >/dev/null
}
for size in 1800000 2500000 3333333 5000000; do
    check "a file of at most $size bytes" fits $size
done

# Whatever would still fit does not lower the error.
left() {
    next=$(value target.next_bytes)
    [ "$next" -gt $((5000000 - $(value target.bytes))) ]
}
check "what is left is less than the cheapest better type takes" left

bits() {
    quantize "$dense" "$dir/out.gguf" --target-bpw 4.5 --force --json \
        >"$dir/json" || return 1
    python3 - "$dir/json" <<'PROGRAM'
import json, sys
answer = json.load(open(sys.argv[1]))["files"][0]
bits = sum(type["bytes"] for type in answer["types"].values()) * 8 / \
    sum(type["parameters"] for type in answer["types"].values())
assert 4.4 < bits <= 4.5, bits
assert abs(answer["target"]["bits_per_weight"] - bits) < 1e-9
PROGRAM
}
check "bits per weight count all tensors" bits

same_threads() {
    quantize --threads 1 "$dense" "$dir/one.gguf" --target-size 2500000 \
        --save-recipe "$dir/one" >/dev/null || return 1
    for threads in 2 7; do
        quantize --threads "$threads" "$dense" "$dir/more.gguf" --force \
            --target-size 2500000 --save-recipe "$dir/more" >/dev/null &&
            cmp "$dir/one.gguf" "$dir/more.gguf" &&
            cmp "$dir/one.json" "$dir/more.json" || return 1
    done
    MODELFILE_ISA=portable quantize "$dense" "$dir/more.gguf" --force \
        --target-size 2500000 --save-recipe "$dir/more" >/dev/null &&
        cmp "$dir/one.json" "$dir/more.json" && cmp "$dir/one" "$dir/more"
}
check "the same for any number of threads, and portably" same_threads

memory() {
    "$modelfile" quantize "$dense" - --target-size 2500000 --dry-run \
        --max-memory 16M >"$dir/out" 2>"$dir/err"
}
check "in 16 MB of memory" memory

# ---- the choice is the best one

python=${MILP_PYTHON:-python3}
if "$python" -c 'import scipy.optimize' 2>/dev/null; then
    best() {
        name=$1
        shift
        quantize "$dir/$name.gguf" - --dry-run --json "$@" >"$dir/json" &&
            "$python" tests/cli/target_milp.py "$dir/json"
    }
    for size in 2000000 4200000 6500000; do
        check "experts, $size bytes: scipy finds nothing better" \
            best experts --target-size $size
    done
    for size in 1800000 2500000 3333333 5000000; do
        check "dense, $size bytes: scipy finds nothing better" \
            best dense --target-size $size
        check "dense with a matrix, $size bytes" \
            best dense --target-size $size --imatrix "$dir/dense.dat"
    done
    check "a tied model" best tied --target-bpw 4
    check "a tiny one" best tiny --target-bpw 4.7
    check "a giant tensor" best giant --target-bpw 3.3
    check "tensors that are tied by hand" best dense --target-bpw 4 \
        --tie 'attn_q|attn_k' --tie ffn_up
    check "with a smallest type" best dense --target-bpw 5 \
        --min-type attn_v=q6_k --like Q4_K_M
else
    skip "the choice is the best one" "no scipy (MILP_PYTHON)"
fi

# ---- what options say

of_tensor() {
    sed -n "s/^^$1\$=//p" "$dir/recipe" | sort -u
}
chosen() {
    quantize "$dense" - --dry-run --force --save-recipe "$dir/recipe" "$@" \
        >"$dir/out"
}
minimum() {
    chosen --target-bpw 4 --min-type 'attn_v=q8_0' &&
        case $(of_tensor '.*attn_v.*') in
        *q[2-6]* | *iq* | *tq*) return 1 ;;
        esac
}
check "--min-type" minimum
fixed() {
    chosen --target-bpw 4 --tensor-type 'attn_k=q5_1' &&
        [ "$(of_tensor '.*attn_k.*')" = q5_1 ]
}
check "--tensor-type stays as it is" fixed
listed() {
    chosen --target-bpw 4.6 --types q4_k,q6_k,q3_k &&
        [ "$(of_tensor '.*' | tr '\n' ' ')" = "q3_k q4_k q6_k " ]
}
check "--types" listed
tied() {
    chosen --target-bpw 4 --tie ffn &&
        [ "$(of_tensor '.*ffn.*' | wc -l)" = 1 ]
}
check "--tie" tied
like() {
    chosen --target-bpw 6 --like Q4_K_M &&
        case $(of_tensor 'output\\.weight') in
        q6_k | q8_0 | f16) ;;
        *) return 1 ;;
        esac
}
check "--like" like
matters() {
    echo 'attn_q=1000000' >"$dir/factors"
    chosen --target-bpw 4 --importance "$dir/factors" &&
        [ "$(of_tensor '.*attn_q.*')" = f16 ]
}
check "--importance" matters
# Of relative errors, as tensors stats has them.
by_default() {
    quantize "$dir/$1.gguf" - --dry-run --json --target-bpw 5 >"$dir/json" &&
        "$modelfile" tensors stats --quiet "$dir/$1.gguf" --errors q8_0 \
            --json >"$dir/stats.json" || return 1
    python3 - "$dir/json" "$dir/stats.json" "$2" <<'PROGRAM'
import json, re, sys
target, stats = [json.load(open(path))["files"][0] for path in sys.argv[1:3]]
factors = [("^token_embd", float(sys.argv[3])), ("^output", 64),
           ("attn_[qk]", 0.5), ("attn_v", 4), ("ffn_(up|down)", 3), ("", 1)]
stats = {tensor["name"]: tensor["errors"]["q8_0"]
         for tensor in stats["tensors"] if "q8_0" in tensor["errors"]}
found = 0
for tensor in target["target"]["tensors"]:
    name = tensor["name"]
    if name not in stats:
        continue
    wanted = next(factor for pattern, factor in factors
                  if re.search(pattern, name))
    is_now = tensor["types"]["q8_0"]["error"]
    wanted *= stats[name]["relative_error"] ** 2
    assert abs(is_now / wanted - 1) < 1e-6, (name, is_now, wanted)
    found += 1
assert found > 5, found
PROGRAM
}
check "factors of relative errors" by_default dense 2
check "a tied embedding is the output" by_default tied 64
sampled() {
    quantize "$dense" - --dry-run --json --target-bpw 4 --samples all \
        >"$dir/json" || return 1
    python3 - "$dir/json" <<'PROGRAM'
import json, sys
target = json.load(open(sys.argv[1]))["files"][0]["target"]
assert target["standard_error"] == 0
for tensor in target["tensors"]:
    assert tensor["rows"] == tensor["measured_rows"]
PROGRAM
}
check "--samples all leaves nothing open" sampled

# Every expert has rows among those that are measured, and the estimate is near.
near() {
    for name in dense experts; do
        quantize "$dir/$name.gguf" - --dry-run --json --target-bpw 4 \
            >"$dir/some.json" &&
            quantize "$dir/$name.gguf" - --dry-run --json --target-bpw 4 \
                --samples all >"$dir/all.json" || return 1
        python3 - "$dir/some.json" "$dir/all.json" <<'PROGRAM' || return 1
import json, sys
some, all = [json.load(open(path))["files"][0]["target"] for path in sys.argv[1:]]
far = total = 0
for a, b in zip(some["tensors"], all["tensors"]):
    assert a["measured_rows"] >= 32 and a["rows"] == b["rows"]
    for name, type in b["types"].items():
        if type["error"] > 0:
            apart = abs(a["types"][name]["error"] - type["error"])
            far += apart > 4 * a["types"][name]["standard_error"]
            total += 1
assert far < total / 20, (far, total)
PROGRAM
    done
}
check "the estimate is as near as its standard error says" near

# ---- compared with mixes

# Never above a mix of the same size, by all rows and factors of 1.
mixes() {
    quantize "$dense" - --dry-run --json --target-bpw 5 --samples all \
        --importance none >"$dir/json" || return 1
    python3 - "$dir/json" <<'PROGRAM'
import json, sys
mixes = json.load(open(sys.argv[1]))["files"][0]["target"]["mixes"]
assert len(mixes) > 10
for mix in mixes:
    assert mix["least_error"] <= mix["error"] * (1 + 1e-9), mix
PROGRAM
}
check "never above the error of a mix of that size" mixes

# ---- recipes

recipe() {
    rm -f "$dir/a.gguf" "$dir/b.gguf" "$dir/recipe"*
    quantize "$dense" "$dir/a.gguf" --target-size 2500000 \
        --save-recipe "$dir/recipe" >/dev/null &&
        quantize "$dense" "$dir/b.gguf" --recipe "$dir/recipe" >/dev/null &&
        cmp "$dir/a.gguf" "$dir/b.gguf" &&
        ! grep -v '^^[a-z0-9_\\.]*$=[a-z0-9_]*$' "$dir/recipe" &&
        python3 -c 'import json, sys; json.load(open(sys.argv[1]))' \
            "$dir/recipe.json"
}
check "a recipe gives the same file" recipe

base=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["base"])' "$dir/recipe.json")
by_hand() {
    quantize "$dense" "$dir/b.gguf" "$base" --force \
        --tensor-type-file "$dir/recipe" >/dev/null &&
        cmp "$dir/a.gguf" "$dir/b.gguf"
}
check "so does --tensor-type-file with the base mix" by_hand

if [ -n "${MODELFILE_LLAMA_QUANTIZE:-}" ]; then
    reference() {
        "$MODELFILE_LLAMA_QUANTIZE" --tensor-type-file "$dir/recipe" "$dense" \
            "$dir/b.gguf" "$base" >"$dir/out" 2>&1 &&
            cmp "$dir/a.gguf" "$dir/b.gguf"
    }
    check "and llama-quantize with it" reference
else
    skip "and llama-quantize with it" "no MODELFILE_LLAMA_QUANTIZE"
fi

other_recipe() {
    code_of quantize "$dir/tiny.gguf" "$dir/no.gguf" --recipe "$dir/recipe"
    [ "$code" = 3 ] && [ ! -e "$dir/no.gguf" ] &&
        grep -q 'may belong to another model' "$dir/err"
}
check "a recipe of another model is refused" other_recipe

# It is there from above: nothing is measured, nor written.
old_recipe() {
    code_of quantize "$dense" "$dir/no.gguf" --target-bpw 5 \
        --save-recipe "$dir/recipe"
    [ "$code" = 4 ] && [ ! -e "$dir/no.gguf" ] &&
        grep -q 'exists already' "$dir/err"
}
check "a recipe that is there is refused before all work" old_recipe
both_types() {
    code_of quantize "$dense" "$dir/no.gguf" --recipe "$dir/recipe" \
        --tensor-type "a=q8_0"
    [ "$code" = 2 ] && [ ! -e "$dir/no.gguf" ]
}
check "a recipe has all types" both_types

# ---- --fit, --plot, stats --errors

fit() {
    quantize "$dense" - --fit 1028MiB --ctx 256 --dry-run --json \
        >"$dir/json" || return 1
    [ "$(value target.counts)" = tensors ] || return 1
    quantize "$dense" "$dir/fit.gguf" --fit 1028MiB --ctx 256 --force \
        >/dev/null && "$modelfile" plan --quiet "$dir/fit.gguf" --fit 1028MiB \
        --ctx 256 >"$dir/out"
}
check "--fit: plan says that the result fits" fit
plot() {
    quantize "$dense" - --target-bpw 4 --dry-run --plot "$dir/a.svg" \
        >/dev/null && python3 -c 'import sys, xml.dom.minidom as dom
picture = dom.parse(sys.argv[1])
assert picture.getElementsByTagName("polyline")
assert len(picture.getElementsByTagName("circle")) > 10' "$dir/a.svg"
}
check "--plot" plot
errors() {
    "$modelfile" tensors stats --quiet "$dense" --errors q4_k,q8_0 --json \
        >"$dir/json" || return 1
    python3 - "$dir/json" <<'PROGRAM'
import json, sys
tensors = json.load(open(sys.argv[1]))["files"][0]["tensors"]
assert len(tensors) == 4 * 7 + 2
for tensor in tensors:
    types = tensor["errors"]
    assert sorted(types) == ["q4_k", "q8_0"]
    assert types["q8_0"]["error"] < types["q4_k"]["error"] / 50
PROGRAM
    "$modelfile" tensors stats --quiet "$dense" 'blk.0.*' --errors all \
        >"$dir/out" && grep -q '^blk.0.attn_v.weight: f16' "$dir/out"
}
check "tensors stats --errors" errors

# ---- what is refused, with nothing written

refused() {
    words=$1
    shift
    rm -rf "$dir/no" "$dir/no.json"
    code_of "$modelfile" quantize --quiet "$dense" "$dir/no" --to gguf "$@"
    [ ! -e "$dir/no" ] && [ ! -e "$dir/no.json" ] &&
        grep -q -e "$words" "$dir/err"
}
fails() {
    wanted=$1
    shift
    refused "$@" && [ "$code" = "$wanted" ]
}
check "a target below the least names both ends" \
    fails 2 'can have [0-9,]* to [0-9,]* bytes with these types, not 1,000' \
    --target-size 1000
check "a target above the largest, too" \
    fails 2 'can have [0-9,]* to [0-9,]* bytes' --target-size 1G
check "two targets" fails 2 'cannot be given together' --target-size 2M \
    --target-bpw 4
check "a mix as well" fails 2 'there is no TYPE' Q4_K_M --target-size 2M
no_out() {
    code_of "$modelfile" quantize --quiet "$dense" "$@" --target-size 2M
    [ "$code" = 2 ] && grep -q "$words" "$dir/err"
}
words='missing argument OUT'
check "no OUT" no_out
words='there is no TYPE'
check "a mix in place of OUT" no_out Q4_K_M
check "APR as output" fails 3 'GGUF files only' --target-bpw 4 --to apr
check "two outputs of one name" fails 2 'two outputs are called' \
    --target-bpw 4 --save-recipe "$dir/no"
check "bits that cannot be read" fails 2 'invalid value' --target-bpw 4x
check "NaN as bits" fails 2 'invalid value' --target-bpw nan
check "an option that is for a size" fails 2 "'--types' requires" Q4_K_M \
    --types q4_k
check "a type that does not exist" fails 2 "q9_k" --target-bpw 4 --types q9_k
check "a type that needs a matrix" fails 2 'no importance matrix' \
    --target-bpw 2.5 --types iq2_xs
check "a pattern that matches nothing" fails 1 'applies to no tensor' \
    --target-bpw 4 --tie nothing
check "an invalid pattern" fails 2 'tie' --target-bpw 4 --tie '('
check "a factor of 0" fails 3 'not a number above 0' --target-bpw 4 \
    --importance /dev/stdin <<'FACTORS'
attn_v=0
FACTORS
check "a matrix of another model" fails 3 'numbers for tensor' \
    --target-bpw 4 --imatrix "$dir/other.dat"

finish
