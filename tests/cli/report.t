#!/bin/sh
# SPDX-License-Identifier: MIT
#
# report.t - the page about models: where it goes, what it may do, what it says
#
# What the document says is compared with what other commands print, by
# python3's own JSON; tests/web looks at the page itself.
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

cp "$fixtures/good-llama.gguf" "$fixtures/good-base.gguf" "$dir"
cd "$dir" || exit

# ---- the file ----

check "a page has the name of its model" ends 0 report good-llama.gguf
check "with .report.html" [ -s good-llama.gguf.report.html ]
cp good-llama.gguf.report.html first.html
check "an existing file stays" \
    expect 4 "exists" report good-llama.gguf
check "as it was" cmp first.html good-llama.gguf.report.html
check "but with --force" ends 0 report good-llama.gguf --force
check "the same model makes the same page" \
    cmp first.html good-llama.gguf.report.html
mkdir other
cp good-llama.gguf other/renamed.bin
check "under any name" ends 0 report other/renamed.bin -o other.html
check "the same" cmp first.html other.html
check "-o - is standard output" ends 0 report good-llama.gguf -o -
check "with the same page" cmp first.html out
check "no input is replaced" \
    expect 4 "input" report good-llama.gguf -o good-llama.gguf --force
check "a link to it neither" sh -c 'ln -s good-llama.gguf link'
check "as it says" expect 4 "input" report good-llama.gguf -o link --force
check "nor a second one" expect 4 "input" report good-llama.gguf \
    good-base.gguf -o good-base.gguf --force
check "which both are whole" cmp good-base.gguf "$fixtures/good-base.gguf"
cp "$fixtures/good-imatrix.gguf" matrix.gguf
check "nor an importance matrix" expect 4 "importance matrix" \
    report good-llama.gguf --imatrix matrix.gguf -o matrix.gguf --force
check "nor one by a link" sh -c 'ln -s matrix.gguf to-matrix'
check "as it says" expect 4 "importance matrix" \
    report good-llama.gguf --imatrix to-matrix -o matrix.gguf --force
check "which is whole" cmp matrix.gguf "$fixtures/good-imatrix.gguf"
"$modelfile" info good-llama.gguf --record rec --quiet >/dev/null 2>&1
cp -r rec kept
for file in run.json memory.csv latency.csv results.csv SHA256SUMS; do
    check "nor $file of a record" expect 4 "recorded run" \
        report good-llama.gguf --run rec -o "rec/$file" --force
done
check "all of which are whole" diff -r rec kept
check "but a page may be among them" \
    ends 0 report good-llama.gguf --run rec -o rec/page.html
check "twice" ends 0 report good-llama.gguf --run rec -o rec/page.html --force
if counts_memory; then # a sanitizer has no profile
    "$modelfile" info good-llama.gguf --dhat=heap.json --quiet >/dev/null 2>&1
    check "nor a heap profile" expect 4 "recorded run" \
        report good-llama.gguf --run heap.json -o heap.json --force
fi
rm -r rec kept
check "standard input gives the page no name" \
    expect 2 "use '--output'" report -
check "nor does an address" \
    expect 2 "use '--output'" report http://127.0.0.1:1/good-llama.gguf
check "nor does the folder one is in" expect 2 "use '--output'" report .
check "nor the one above" expect 2 "use '--output'" report other/..//
check "an empty name of a matrix is refused" \
    expect 2 "--imatrix" report good-llama.gguf --imatrix ''
check "a folder that is missing" \
    expect 4 "nowhere" report good-llama.gguf -o nowhere/a.html
check "--json writes no file" \
    expect 2 "--output" report --json good-llama.gguf -o b.html
check "an empty name is refused" expect 2 "--output" report good-llama.gguf -o ''
check "so is a run without a name" expect 2 "--run" report good-llama.gguf --run ''
check "a missing matrix is an error" \
    expect 3 "none" report good-llama.gguf --imatrix none -o c.html
check "a missing run as well" \
    expect 3 "none" report good-llama.gguf --run none -o c.html
check "a missing model as well" \
    expect 3 "none.gguf" report good-llama.gguf none.gguf -o c.html
check "and no file is made" [ ! -e c.html ]
check "nor is any left" [ -z "$(ls -A | grep -v '^[a-z]')" ]
full_disk() {
    [ -e /dev/full ] || return 0
    "$modelfile" report good-llama.gguf -o - >/dev/full 2>err
    [ $? -eq 4 ]
}
check "a full disk is exit code 4" full_disk
cp -r "$fixtures/good-hf-llama" folder
check "a folder's page is next to it" ends 0 report folder/
check "under its name" [ -s folder.report.html ]

# ---- what it may do ----

# The policy allows the style and the script that are there, and nothing else.
section() { # TAG FILE: what is between its tags, which are on lines of their own
    awk -v tag="$1" '
        $0 == "</" tag ">" { inside = 0 }
        inside { print }
        $0 == "<" tag ">" { inside = 1 }' "$2"
}
digest() {
    printf 'sha256-%s' "$(openssl dgst -sha256 -binary | base64)"
}
policy=$(grep -o "content=\"default-src 'none'[^\"]*\"" first.html)
if command -v openssl >/dev/null 2>&1; then
    for tag in style script; do
        # The element's text begins and ends with the ends of these lines.
        text=$({ echo; section $tag first.html; } | digest)
        check "the policy has the digest of the $tag" \
            sh -c 'case $1 in *"$2"*) ;; *) echo "$1: $2"; exit 1 ;; esac' - \
            "$policy" "$text"
    done
else
    skip "the policy has the digest of style and script" "no openssl"
fi
check "of one of each" [ "$(grep -o "sha256-" first.html | wc -l)" = 2 ]
asks() {
    section style first.html | grep -nE 'url\(|@import'
    section script first.html |
        grep -nE 'fetch\(|XMLHttpRequest|WebSocket|sendBeacon|import\(|innerHTML|document\.write|eval\('
    grep -nE '<(link|img|iframe|object|embed|base)[ >]' first.html
}
check_empty "it loads no other file, and writes no markup" asks
check "without a model it has at most 400 KB" \
    [ "$(($(wc -c <first.html)))" -le 409600 ]

hostile='</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>'
cp good-llama.gguf hostile.gguf
"$modelfile" meta set hostile.gguf "general.name=$hostile" \
    "tokenizer.chat_template=$hostile" --quiet
check "text that ends the script" ends 0 report hostile.gguf
ends_of() {
    grep -o '</script' "$1" | wc -l
}
check "does not" [ "$(ends_of hostile.gguf.report.html)" = "$(ends_of first.html)" ]
check_empty "its text is not markup" \
    grep -F 'alert(1)</' hostile.gguf.report.html

# ---- what it says ----

if ! command -v python3 >/dev/null 2>&1; then
    skip "the document says what other commands do" "python3 is not installed"
    finish
    exit
fi
cat >compare.py <<'PY'
import json, os, subprocess, sys, traceback

program = sys.argv[1]

def run(*words):
    done = subprocess.run([program, *words, "--json", "--quiet"],
                          capture_output=True, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout)

def names(tensors):
    before = ""
    flat = tensors["names"]
    for shared, rest in zip(flat[::2], flat[1::2]):
        before = before[:shared] + rest
        yield before

def place(tensors, shards):
    run_of = [shard for shard, count in tensors["shards"] for _ in range(count)]
    end, now = 0, None
    for i, gap in enumerate(tensors["gap"]):
        shape = tensors["shapes"][tensors["shape"][i]]
        kind = tensors["types"][tensors["type"][i]]
        if now != run_of[i]:
            now = run_of[i]
            end = int(shards[now]["data_offset"])
        if str(i) in tensors["size"]:
            size = int(tensors["size"][str(i)])
        else:
            size = 1
            for dim in shape:
                size *= int(dim)
            size = size // kind["elements"] * kind["bytes"]
        if str(i) in tensors["offset"]:
            yield int(tensors["offset"][str(i)]), size
        else:
            yield end + gap, size
            end += gap + size

def compare(path):
    report = run("report", path)
    if "report" not in report:
        assert (report["files"][0]["error"]["message"] ==
                run("info", path)["files"][0]["error"]["message"])
        return
    model = report["report"]["models"][0]
    info = run("info", path)["files"][0]
    head, facts = model["head"], model["head"]["facts"]
    for key in ("format", "version", "parameters", "file_bytes", "data_offset",
                "data_bytes", "alignment", "tensor_count", "metadata_count"):
        assert str(head[key]) == str(info[key]), key
    for key, value in facts.items():
        if isinstance(value, list):
            assert value == info[key], key
        else:
            assert str(value) == str(info[key]), key
    assert len(facts) == sum(info[key] is not None for key in facts)
    assert len(head["shards"]) == len(info["shards"])

    found = [x for x in run("tensors", "info", path)["files"][0].get("tensors", [])]
    table = model["tensors"]
    assert list(names(table)) == [x["name"] for x in found]
    for i, (offset, size) in enumerate(place(table, head["shards"])):
        assert offset == found[i]["offset"], (i, offset, found[i])
        assert size == found[i]["bytes"], (i, size, found[i])
        assert table["types"][table["type"][i]]["name"] == found[i]["type"]
        assert [int(x) for x in table["shapes"][table["shape"][i]]] == found[i]["shape"]

    judged = run("validate", path)["files"][0]
    verdict = model["verdict"]
    assert verdict["valid"] == judged["valid"]
    assert verdict["errors"] == judged["errors"]
    assert verdict["warnings"] == judged["warnings"]
    # The command prints the worst ones first, and names the file.
    key = lambda x: (x["id"], x["message"] if x["id"] != "FILE-NAME" else "",
                     int(x.get("offset") or 0))
    assert sorted(map(key, verdict["findings"])) == sorted(map(key, judged["findings"]))
    for finding in verdict["findings"]:
        if "tensor" in finding:
            assert finding["about"] == found[finding["tensor"]]["name"]

    listed = run("meta", "list", "--full", path)["files"][0]["metadata"]
    assert [x["key"] for x in model["metadata"]] == [x["key"] for x in listed]
    for ours, theirs in zip(model["metadata"], listed):
        assert ours["type"] == theirs["type"], ours
        if ours["type"] == "array":
            assert ours["count"] == theirs["count"], ours
        elif ours["type"] == "string" and isinstance(theirs["value"], str):
            cut = "bytes" in ours
            assert cut or ours["value"] == theirs["value"], ours
            assert theirs["value"].startswith(ours["value"].rstrip("…")), ours
    text = json.dumps(report["report"])
    assert os.path.abspath(path) not in text and "/tmp" not in text
    assert os.path.basename(path) not in text

for path in sys.argv[2:]:
    try:
        compare(path)
    except Exception:
        print(path + ":", traceback.format_exc())
PY
agrees() {
    python3 "$dir/compare.py" "$modelfile" "$@"
}
check_empty "as info, tensors, validate and meta have it" agrees \
    "$fixtures"/good-*.gguf "$fixtures"/good-*.safetensors \
    "$fixtures"/good-*.apr "$fixtures"/good-hf-llama
check_empty "so it is for damaged files" agrees "$fixtures"/bad-*.gguf \
    "$fixtures"/bad-*.safetensors "$fixtures"/bad-*.apr

# ---- what is cut, and odd ----

cat >odd.py <<'PY'
import json, struct, subprocess, sys

U32, I32, F32, STRING, ARRAY, I64 = 4, 5, 6, 8, 9, 11
FORMS = {U32: "<I", I32: "<i", F32: "<f", I64: "<q"}

def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(value)) + value

def coded(kind, value):
    if kind == STRING:
        return text(value)
    if kind == ARRAY:
        of, values = value
        return struct.pack("<IQ", of, len(values)) + b"".join(
            coded(of, x) for x in values)
    return struct.pack(FORMS[kind], value)

pairs = [
    ("general.architecture", STRING, "llama"),
    ("llama.attention.head_count_kv", ARRAY, (U32, list(range(80)))),
    ("x.least", I64, -2**63),
    ("x.texts", ARRAY, (STRING, [b"\x80" * 2000, b"x" * 999 + "\u00e9".encode(),
                                 b"x" * 1000, b"x" * 997 + "\U0001f600".encode()])),
    ("x.nested", ARRAY, (ARRAY, [(U32, [1, 2, 3])])),
    ("tokenizer.ggml.tokens", ARRAY, (STRING, [f"t{i}" for i in range(300)])),
    ("tokenizer.ggml.token_type", ARRAY, (I32, [1] * 200)),
    ("tokenizer.ggml.scores", ARRAY, (F32, [2.5] * 100)),
    ("tokenizer.ggml." + "n" * 80 + "a_token_id", U32, 0),
    ("tokenizer.ggml." + "n" * 80 + "b_token_id", U32, 299),
]
with open("odd.gguf", "wb") as file:
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(
        text(key) + struct.pack("<I", kind) + coded(kind, value)
        for key, kind, value in pairs)
    file.write(head + bytes(-len(head) % 32))
done = subprocess.run([sys.argv[1], "report", "--json", "odd.gguf"],
                      capture_output=True)
model = json.loads(done.stdout)["report"]["models"][0]
value = {x["key"]: x["value"] for x in model["metadata"]}
assert model["head"]["facts"]["head_count_kv"] == list(range(80))
assert value["llama.attention.head_count_kv"] == list(range(64))
assert value["x.least"] == "-9223372036854775808"
assert value["x.texts"] == [
    {"value": "\\x80" * 997, "bytes": 2000}, {"value": "x" * 999, "bytes": 1001},
    "x" * 1000, {"value": "x" * 997, "bytes": 1001}], value["x.texts"]
assert value["x.nested"] == [{"type": "array", "count": 3}]
tokenizer = model["tokenizer"]
assert [x["name"] for x in tokenizer["special"]] == ["n" * 80 + "a", "n" * 80 + "b"]
assert tokenizer["kinds"] == {"normal": 200}
for token in tokenizer["samples"]:
    assert ("kind" in token) == (token["id"] < 200), token
    assert ("score" in token) == (token["id"] < 100), token
PY
check "what is cut says so, and what is missing is not made up" \
    python3 odd.py "$modelfile"
cp -r "$fixtures/bad-hf-value" no-plan
reason_of() {
    "$modelfile" report --json no-plan --quiet | python3 -c '
import json, sys
plan = json.load(sys.stdin)["report"]["models"][0]["plan"]
sys.exit(list(plan) != ["reason"] or "num_hidden_layers" not in plan["reason"])'
}
check "a config.json with a fault has no plan, and a reason" reason_of
other_matrix() {
    "$modelfile" report --json --quiet "$fixtures/llama/llama-wide.gguf" \
        "$fixtures/llama/llama-wide-Q4_K_M.gguf" --imatrix matrix.gguf >out ||
        return 1
    python3 -c '
import json, sys
verify = json.load(open("out"))["report"]["compare"][0]["verify"]
sys.exit("follows" in verify or "another model" not in verify["reason"])'
}
check "a matrix of another model is a reason not to verify" other_matrix

# Errors begin with the file: the page says which of the models it is instead.
cp "$fixtures/bad-offset-past-end.gguf" secret.gguf
reasons() { # WHICH FILE...
    reasons_which=$1
    shift
    "$modelfile" report --json --quiet "$@" | sed 's/.*"report"://' >out
    grep -q "\"reason\":\"the $reasons_which model: tensor" out &&
        ! grep -q secret out
}
check "what cannot be compared is not named by its file" \
    reasons first "$dir/secret.gguf" good-base.gguf
check "nor if it is the other one" \
    reasons other good-base.gguf "$dir/secret.gguf"

# ---- a large one ----

python3 - >many.txt <<'PY'
import json, struct

tensors, offset = {}, 0
for i in range(20000):
    name = f"model.layers.{i // 768}.mlp.experts.{i % 768 // 3}.{('down', 'gate', 'up')[i % 3]}_proj.weight"
    tensors[name] = {"dtype": "BF16", "shape": [7168, 2048],
                     "data_offsets": [offset, offset + 7168 * 2048 * 2]}
    offset += 7168 * 2048 * 2
header = json.dumps(tensors).encode()
with open("many.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header)
    file.truncate(8 + len(header) + offset)
PY
check "20,000 tensors" ends 0 report many.safetensors
check "have a page of at most 1.5 MB" \
    [ "$(($(wc -c <many.safetensors.report.html)))" -le 1572864 ]
check_empty "and are as the other commands have them" agrees many.safetensors
finish
