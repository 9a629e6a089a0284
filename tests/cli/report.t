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
import json, os, re, subprocess, sys

program, path = sys.argv[1], sys.argv[2]

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

report = run("report", path)
if "report" not in report:
    sys.exit(report["files"][0]["error"]["message"] !=
             run("info", path)["files"][0]["error"]["message"])
model = report["report"]["models"][0]
info = run("info", path)["files"][0]
head, facts = model["head"], model["head"]["facts"]
for key in ("format", "version", "parameters", "file_bytes", "data_offset",
            "data_bytes", "alignment", "tensor_count", "metadata_count"):
    assert str(head[key]) == str(info[key]), key
for key, value in facts.items():
    if isinstance(value, list):
        assert value == info[key][:64], key
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
# The command prints the worst ones first.
key = lambda x: (x["id"], x["message"], int(x.get("offset") or 0))
assert sorted(map(key, verdict["findings"])) == sorted(map(key, judged["findings"]))
for finding in verdict["findings"]:
    if "tensor" in finding:
        assert finding["about"] == found[finding["tensor"]]["name"]

listed = run("meta", "list", path)["files"][0]["metadata"]
assert [x["key"] for x in model["metadata"]] == [x["key"] for x in listed]
for ours, theirs in zip(model["metadata"], listed):
    assert ours["type"] == theirs["type"], ours
    if ours["type"] == "array":
        assert ours["count"] == theirs["count"], ours
    elif ours["type"] == "string" and "bytes" not in ours:
        whole = run("meta", "get", path, ours["key"])
        if "value" in theirs and isinstance(theirs["value"], str):
            assert ours["value"].startswith(theirs["value"][:20]), ours
text = json.dumps(report["report"])
assert os.path.abspath(path) not in text and "/tmp" not in text
PY
agrees() {
    python3 "$dir/compare.py" "$modelfile" "$1"
}
for path in "$fixtures"/good-*.gguf "$fixtures"/good-*.safetensors \
    "$fixtures"/good-*.apr "$fixtures"/good-hf-llama; do
    check "${path##*/}: as info, tensors, validate and meta have it" agrees "$path"
done
many() {
    for path in "$fixtures"/bad-*.gguf "$fixtures"/bad-*.safetensors \
        "$fixtures"/bad-*.apr; do
        python3 "$dir/compare.py" "$modelfile" "$path" 2>err ||
            { echo "$path"; tail -n 3 err; }
    done
}
check_empty "so it is for damaged files" many

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
check "and are as the other commands have them" agrees many.safetensors
finish
