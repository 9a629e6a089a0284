#!/bin/sh
# SPDX-License-Identifier: MIT
#
# report_sections.t - what a report says of memory, of an importance matrix and
# of two models is what plan, imatrix coverage, diff and verify print
#
# python3's own JSON compares the documents.
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

if ! command -v python3 >/dev/null 2>&1; then
    skip "the sections of a report" "python3 is not installed"
    finish
fi
make_arch=$(realpath "$build/tests/make_arch")
filled=$(realpath "$build/tests/filled")
cd "$dir" || exit

cat >common.py <<'END'
import json, os, subprocess, sys

def run(*words):
    done = subprocess.run([os.environ["MODELFILE"], *words, "--json", "-q"],
                          capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout.strip() else {}

def report(*words):
    return run("report", *words)["report"]

def number(value):  # more than 53 bits are text
    return int(value) if isinstance(value, str) and value.isdigit() else value

def same(found, expected, *where):
    assert found == expected, (*where, found, expected)
END
PYTHONPATH=$dir MODELFILE=$modelfile
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH MODELFILE PYTHONDONTWRITEBYTECODE

# ---- plan ----

# Each curve is what plan prints for its context, and a mix changes the weights
# alone.
cat >plan.py <<'END'
from common import *

LINES = ("weights", "kv", "state", "compute", "output")

def planned(path, *words):
    return run("plan", path, *words)["files"][0]

def amount(value):
    return None if value == "more than 16 EiB" else value

def curves(path, plan):
    contexts = plan["contexts"]
    for curve in plan["curves"]:
        types = "--type-k", curve["type_k"], "--type-v", curve["type_v"]
        for i in {0, len(contexts) // 2, len(contexts) - 1}:
            one = planned(path, "--ctx", str(contexts[i]), *types)
            for line in (*LINES, "total"):
                same(number(curve[line][i]),
                     amount(one["contexts"][0][line + "_bytes"]),
                     path, types, contexts[i], line)
        for line in (*LINES, "total"):
            same(len(curve[line]), len(contexts), path, line)

def mixes(path, plan, names):
    curve = plan["curves"][0]
    for mix in plan["mixes"]:
        if None in (mix["weights"],) or mix["name"] not in names:
            continue
        for i in {0, len(plan["contexts"]) - 1}:
            one = planned(path, "--ctx", str(plan["contexts"][i]),
                          "--as", mix["name"])["contexts"][0]
            same(mix["weights"], one["weights_bytes"], path, mix)
            if one["total_bytes"] is not None:
                same(curve["total"][i] - curve["weights"][i] + mix["weights"],
                     one["total_bytes"], path, mix)

def offloads(path, plan):
    if "offloads" not in plan:
        return
    context = "--ctx", str(plan["contexts"][-1])
    def devices(blocks):
        return planned(path, *context, "--offload",
                       str(blocks))["contexts"][0]["devices"]
    for row in plan["offloads"]:
        totals = [amount(each["total_bytes"]) for each in devices(row["blocks"])]
        same([row["host"], row["devices"]],
             totals if len(totals) > 1 else totals + [0], path, row)
    for found, one in zip(plan["devices"],
                          devices(plan["offloads"][0]["blocks"]), strict=True):
        same(found["name"], one["name"], path)
        for line in (*LINES, "total"):
            same(found[line], amount(one[line + "_bytes"]), path, line)

def fit(path, plan):
    fits = planned(path, "--fit", "1T")["fit"]["mixes"]
    same([(m["name"], m["file_bytes"], m["bits_per_weight"],
           m["needs_imatrix"]) for m in plan["mixes"]],
         [(m["name"], m["bytes"], m["bits_per_weight"],
           m["needs_imatrix"]) for m in fits], path)

names = os.environ["MIXES"].split()
for path in sys.argv[1:]:
    plan = report(path)["models"][0]["plan"]
    base = planned(path)
    same(plan["ubatch"], base["ubatch"], path)
    same(plan["sequences"], base["sequences"], path)
    same(plan["context"], base["contexts"][0]["ctx_asked"], path)
    same(plan.get("reason"), base["contexts"][0]["not_known"], path)
    same(sorted(plan["contexts"]), plan["contexts"], path)
    assert 1 <= len(plan["contexts"]) <= 56, path
    curves(path, plan)
    mixes(path, plan, names)
    offloads(path, plan)
    fit(path, plan)
END
plans() { # MIX,... FILE...
    MIXES=$(echo "$1" | tr , ' ')
    export MIXES
    shift
    python3 plan.py "$@"
}

# Grouped heads; experts; MLA; windows; none but recurrent blocks, and hybrids;
# an encoder.
architectures="llama qwen3moe deepseek2 gemma3 gpt-oss mamba jamba falcon-h1 bert"
for architecture in $architectures; do
    "$make_arch" --full "$architecture" "$architecture.gguf" || exit 1
done
for architecture in $architectures; do
    check "$architecture: curves, devices and mixes are what plan says" \
        plans Q4_K_M,IQ3_XXS,Q8_0 "$architecture.gguf"
done
mixes=$("$modelfile" plan --json -q llama.gguf --fit 1T | python3 -c '
import json, sys
print(",".join(m["name"] for m in
      json.load(sys.stdin)["files"][0]["fit"]["mixes"]))')
check "there are mixes" [ "$(echo "$mixes" | tr , '\n' | wc -l)" -gt 30 ]
cp "$fixtures/llama/llama-wide.gguf" .
check "every mix" plans "$mixes" llama-wide.gguf
cp -r "$fixtures/good-hf-llama" .
check "of a folder of Hugging Face" plans "$mixes" good-hf-llama
check "of an APR file" plans "" "$fixtures/good-mixtral.apr"

# without KEY FILE COPY
without() {
    cp "$2" "$3" && "$modelfile" meta rm --force "$3" "$1" -q >/dev/null
}
check "make a model without a context" \
    without llama.context_length llama-wide.gguf no-context.gguf
check "its curves are known, and the reason why nothing else is" \
    plans Q4_K_M no-context.gguf
check "make a model without blocks" \
    without llama.block_count llama-wide.gguf no-blocks.gguf
check "its lines are null, and there is a reason" plans Q4_K_M no-blocks.gguf

no_plan() {
    for each; do
        "$modelfile" report --json -q "$each" >document || return
        if grep -q '"plan":' document; then
            echo "$each has a plan"
            return 1
        fi
    done
}
check "what is not run has none: matrices, tables, arrays" no_plan \
    "$fixtures/good-imatrix.gguf" "$fixtures/good-imatrix.dat" \
    "$fixtures/good-table.parquet" "$fixtures/good-array.npy" \
    "$fixtures/good-empty.safetensors"

# ---- imatrix ----

cat >imatrix.py <<'END'
from common import *

model, matrix = sys.argv[1:]
part = report(model, "--imatrix", matrix)["models"][0]["imatrix"]
said = run("imatrix", "coverage", matrix, model)["files"][0]
for found, one in zip(part["entries"], said["tensors"], strict=True):
    for key in "name", "cover", "columns", "experts", "used":
        same(found.get(key), one.get(key), found)
    uses = one.get("uses", [])
    same(found.get("least"), min(uses, default=None), found)
    same(found.get("most"), max(uses, default=None), found)
listed = run("tensors", model)["files"][0]["tensors"]
for found in part["entries"]:
    if found["cover"] != "no_tensor":
        same(listed[found["tensor"]]["name"], found["name"])
of = part["of"]
same(of.get("all", 0) + of.get("part", 0) + of.get("unused", 0),
     said["covered"])
for cover, key in (("part", "partial"), ("unused", "unused"),
                   ("none", "uncovered"), ("mismatch", "mismatched"),
                   ("no_tensor", "entries_without_tensor")):
    same(of.get(cover, 0), said[key], cover)
same(part["tensors"], said["tensor_count"])
same(part["experts"], said["experts"])
same(part["experts_used"], said["experts_used"])
same(part.get("chunks", 0), said["chunk_count"])
END
wide=$fixtures/llama/llama-wide.gguf
matrix=$fixtures/llama/llama-wide.imatrix.dat
check "a matrix covers what coverage says" \
    python3 imatrix.py "$wide" "$matrix"
check "experts, too" \
    python3 imatrix.py "$fixtures/good-experts.gguf" "$fixtures/good-imatrix.gguf"
check "one of another model" python3 imatrix.py "$wide" "$fixtures/good-imatrix.gguf"
check "another file than a matrix is an error" \
    expect 3 "good-base.gguf" report --json "$wide" --imatrix "$fixtures/good-base.gguf"
check "a model without tensors does not fail" \
    ends 0 report --json "$fixtures/good-table.parquet" --imatrix "$matrix"

# ---- errors of types ----

# What tensors stats --errors says, and each tensor once: measured or not.
cat >errors.py <<'END'
from common import *

model, types, *matrix = sys.argv[1:]
part = report(model, "--errors", types, *matrix)["models"][0]["type_errors"]
said = run("tensors", "stats", model, "--errors", types, *matrix)
listed = [one["name"] for one in run("tensors", model)["files"][0]["tensors"]]
for found, one in zip(part["tensors"], said["files"][0]["tensors"], strict=True):
    for key in "name", "type", "elements", "rows", "measured_rows", "errors":
        same(found[key], one[key], found)
    same(set(found["errors"]) - set(part["types"]), set())
    same(found.get("weighted", False), bool(matrix) and found["name"] in covered(
        matrix[1], model), found)
if types != "all":
    same(sorted(part["types"]), sorted(types.split(",")))
everything = part["tensors"] + part["others"]
if "--renamed" not in os.environ.get("MODE", ""):
    same(sorted(one["name"] for one in everything), sorted(listed))
    for one in everything:
        same(listed[one["tensor"]], one["name"])
assert part["tensors"] and part["others"], part
END
cat >>common.py <<'END'

def covered(matrix, model):
    return {one["name"] for one in
            run("imatrix", "coverage", matrix, model)["files"][0]["tensors"]
            if one["cover"] == "all"}
END
check "errors of types are what tensors stats says" \
    python3 errors.py "$wide" q4_k,q8_0,iq2_xs
check "with a matrix" python3 errors.py "$wide" q4_k,iq2_xs --imatrix "$matrix"
check "in all types" python3 errors.py "$wide" all
check "of a quantized model" \
    python3 errors.py "$fixtures/llama/llama-wide-Q4_K_M.gguf" q6_k,q4_k
check "of shards" python3 errors.py "$fixtures/good-split-00001-of-00003.gguf" q8_0
check "of a folder, under the names of the file that it would be" \
    env MODE=--renamed python3 errors.py "$fixtures/good-hf-llama" q8_0
differ() { # the matrix counts
    "$modelfile" report --json -q "$wide" --errors q4_k >plain &&
        "$modelfile" report --json -q "$wide" --errors q4_k --imatrix "$matrix" \
            >with && grep -o '"type_errors.*' plain >plain.part &&
        grep -o '"type_errors.*' with >with.part && ! cmp -s plain.part with.part
}
check "a matrix changes them" differ
many_threads() {
    for threads in 1 2 7; do
        "$modelfile" report -q "$wide" --errors q4_k,q8_0 --threads $threads \
            --force -o page.html && { [ -f first.html ] || cp page.html first.html; } &&
            cmp page.html first.html || return
    done
}
check "the same page for any number of threads" many_threads
# left REASON FILE [OPTION...]: nothing is measured, and the document says why.
left() {
    left_reason=$1
    shift
    "$modelfile" report --json -q --errors q4_k "$@" >document || return
    python3 - "$left_reason" <<'END'
import json, sys
part = json.load(open("document"))["report"]["models"][0]["type_errors"]
assert list(part) == ["reason"] and sys.argv[1] in part["reason"], part
END
}
check "a damaged model has a reason" left "error" "$fixtures/bad-offset-past-end.gguf"
check "which names no file" sh -c '! sed "s/.*\"report\"://" document | grep -q bad-offset'
check "so has one of which a shard is here" left "only shard 2 of 3" \
    "$fixtures/bad-split-foreign-00002-of-00002.gguf"
check "and one that GGUF cannot carry" left "cannot carry" "$fixtures/good-dtypes.apr"
check "or with a matrix of another model" left "matrix" "$wide" \
    --imatrix "$fixtures/good-imatrix.gguf"
no_errors() {
    for each; do
        "$modelfile" report --json -q --errors q4_k "$each" >document || return
        ! grep -q '"type_errors"' document || return
    done
}
check "what has no weights has no errors" no_errors \
    "$fixtures/good-imatrix.gguf" "$fixtures/good-table.parquet"
check "nor has a report without the option" sh -c '
    "$1" report --json -q "$2" >document && ! grep -q type_errors document' - \
    "$modelfile" "$wide"
check "a type that is not known is refused" expect 2 "q4_q" \
    report "$wide" --errors q4_k,q4_q -o none.html
check "a type that no file for llama.cpp has is refused" expect 3 "apr_q4" \
    report "$wide" --errors q4_k,apr_q4 -o none.html
check "by tensors stats, too" expect 3 "apr_q4" \
    tensors stats "$wide" --errors q4_k,apr_q4
check "and by quantize" expect 3 "apr_q4" quantize "$wide" none.gguf \
    --target-bpw 5 --types q4_k,apr_q4
check "no page is left" [ ! -e none.html ]
check "a matrix without errors is refused by tensors stats" expect 2 "--errors" \
    tensors stats "$wide" --imatrix "$matrix"

# ---- two models ----

cat >pair.py <<'END'
import struct
from common import *

VALUES = {"count": "finite", "rmse": "rmse", "cosine": "cosine",
          "max_absolute": "max_abs", "max_relative": "max_rel",
          "from_zero": "zero_a", "nan_a": "nan_a", "nan_b": "nan_b",
          "inf_a": "inf_a", "inf_b": "inf_b"}

def values(found, one):
    if not one:
        assert "values" not in found and "no_values" not in found, found
    elif "refused" in one:
        same(found["no_values"], one["refused"])
    else:
        for key, other in VALUES.items():
            same(number(found["values"][key]), one[other], found, key)

def tensors(found, one, names):
    for side, index in enumerate("ab"):
        if None in (one[index],):
            assert index not in found, found
        else:
            same(names[side][found[index]], one["name"])
    values(found, one.get("values"))

def plain(entry):  # an f32 may have the digits of the same double
    value = number(entry["value"])
    if entry["type"] == "f32" and not isinstance(value, str):
        return struct.pack("f", value)
    return value

def entries(found, one):
    for index in "ab":
        assert (index in found) == (one[index] is not None), (found, one)
        if index in found:
            same(found[index]["key"], found["key"])
            same(found[index]["type"], one[index]["type"])
            if not isinstance(one[index]["value"], (list, dict)):
                same(plain(found[index]), plain(one[index]))

def differences(pair, said, names):
    for kind, compare in (("metadata", entries),
                          ("tensors", lambda x, y: tensors(x, y, names))):
        for found, one in zip(pair[kind], said[kind], strict=True):
            for key, other in (("key", "key"), ("name", "name"),
                               ("what", "differs"), ("first", "first")):
                same(found.get(key), one.get(other), found)
            compare(found, one)
    same(pair["same"], said["same"])

def verdicts(verify, said, names):
    same(verify["follows"], said["same"])
    same(verify["counts"], said["verdicts"])
    listed = [one for one in verify["tensors"] if one["verdict"] != "missing"]
    same([one["name"] for one in verify["tensors"]
          if one["verdict"] == "missing"], said["missing"])
    for found, one in zip(listed, said["tensors"], strict=True):
        same(names[found["tensor"]], one["name"])
        same(found.get("weighted", False), one["weighted"], found)
        for key in ("name", "verdict", "version", "reason", "blocks", "differ",
                    "block", "offset"):
            same(found.get(key), one[key], found)
        same("errors" in found, one["errors"] is not None, found)
        for key, other in (("max_absolute", "max_abs"), ("rmse", "rmse"),
                           ("cosine", "cosine"), ("nan_b", "nan"),
                           ("inf_b", "inf")):
            if "errors" in found:
                same(found["errors"][key], one["errors"][other], found)

expected, paths = sys.argv[1], sys.argv[2:4]
matrix = ["--imatrix", sys.argv[4]] if len(sys.argv) > 4 else []
pair = report(*paths, *matrix)["compare"][0]
same((pair["a"], pair["b"], pair["data"]), (0, 1, True))
names = [[one["name"] for one in run("tensors", path)["files"][0]["tensors"]]
         for path in paths]
differences(pair, run("diff", "--values", *paths), names)
same("verify" in pair, expected != "none", pair.get("verify"))
if "verify" in pair:
    verify = pair["verify"]
    model, source = verify["model"], verify["source"]
    same(model + source, 1)
    said = run("verify", paths[model], "--from", paths[source], *matrix)
    verdicts(verify, said, names[model])
    same("follows" if verify["follows"] else "differs", expected)
END
small=$fixtures/llama/llama-small.gguf
q4=$fixtures/llama/llama-small-Q4_0.gguf
check "a quantized model and its source are compared, and verified" \
    python3 pair.py follows "$small" "$q4"
check "in the other order as well" python3 pair.py follows "$q4" "$small"
check "a model of a mix" \
    python3 pair.py follows "$wide" "$fixtures/llama/llama-wide-Q4_K_M.gguf"
"$modelfile" quantize -q --force "$wide" weighted.gguf IQ4_XS \
    --imatrix "$matrix" >/dev/null
check "with an importance matrix" \
    python3 pair.py follows "$wide" weighted.gguf "$matrix"
check "without the one that made it, it does not follow" \
    python3 pair.py differs "$wide" weighted.gguf
check "two of one kind are not verified" python3 pair.py none "$wide" "$wide"
check "nor two that are quantized" python3 pair.py none "$q4" weighted.gguf
check "models that have nothing in common" \
    python3 pair.py none "$wide" "$fixtures/good-names.gguf"
check "of two formats" \
    python3 pair.py none "$fixtures/good-base.safetensors" "$fixtures/good-base.gguf"
"$filled" f32 1 odd.gguf && cp odd.gguf other.gguf &&
    printf '\377\377\377\377' |
    dd of=other.gguf bs=1 seek=$(($(wc -c <odd.gguf) - 4)) conv=notrunc 2>/dev/null
check "a number that is NaN in one" python3 pair.py none odd.gguf other.gguf

# told LINE: what python3 says of the first pair of a report, `pair`.
told() {
    line=$1
    shift
    python3 - "$line" "$@" <<'END'
from common import *
pair = report(*sys.argv[2:])["compare"][0]
assert eval("(" + sys.argv[1] + ")"), pair
END
}
check "without data if it is not wanted" \
    told 'not pair["data"] and not pair["same"] and "verify" not in pair
         and not any("values" in one for one in pair["tensors"])' \
    "$wide" "$fixtures/llama/llama-wide-Q4_K_M.gguf" --no-compare
check "tables are a reason" \
    told '"is a table" in pair["reason"] and "same" not in pair' \
    "$fixtures/good-table.parquet" "$wide"
cp "$small" damaged.gguf
truncate -s -2000 damaged.gguf
check "damaged data are a reason, and the rest is compared" \
    told 'pair["reason"] and pair["data"] is False and not pair["metadata"]
         and "same" not in pair' "$small" damaged.gguf
check "and a reason why nothing is verified" \
    told 'pair["verify"]["reason"] and not pair["verify"]["tensors"]' \
    "$q4" damaged.gguf
check "what is not read is counted, and makes two models different" \
    told 'pair["unread"] == {"a": pair["unread"]["b"], "b": pair["unread"]["a"]}
         and pair["unread"]["a"] > 0 and pair["same"] is False' \
    "$fixtures/bad-torch-unread.pt" "$fixtures/bad-torch-unread.pt"
check "three models are two pairs" sh -c '
    "$1" report --json -q "$2" "$2" "$3" | python3 -c "
import json, sys
assert [(p[\"a\"], p[\"b\"]) for p in
        json.load(sys.stdin)[\"report\"][\"compare\"]] == [(0, 1), (0, 2)]"' - \
    "$modelfile" "$small" "$q4"

finish
