#!/bin/sh
# SPDX-License-Identifier: MIT
#
# errors_plot.t - tensors stats --errors --plot: a map of errors
#
# Python reads the picture and compares it with the JSON answer.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

cd "$dir" || exit 1
"$build/tests/kinds" dense 3 256 dense.gguf
stats() {
    "$modelfile" tensors stats --quiet "$@" >printed 2>said
}

# cells FILE.svg ANSWER: "NAME TYPE X Y FILL" of each cell, which has what the
# JSON answer says of the tensor in its title.
cat >cells.py <<'PROGRAM'
import json, sys, xml.etree.ElementTree as tree

picture, answer = tree.parse(sys.argv[1]), json.load(open(sys.argv[2]))
at = "{http://www.w3.org/2000/svg}"
tensors = answer["files"][0]["tensors"]
want = {}
for tensor in tensors:
    for type, error in tensor["errors"].items():
        want["%s, %s: %s bytes, error %.6g, %.3g %%" % (
            tensor["name"], type, format(error["bytes"], ","), error["error"],
            100 * error["relative_error"])] = (tensor["name"], type)
cells = []
for rect in picture.iter(at + "rect"):
    title = rect.findtext(at + "title")
    if not title:
        continue
    name, type = want.pop(title)
    cells.append((name, type, int(rect.get("x")), int(rect.get("y")),
                  rect.get("fill")))
assert not want, want
places = [cell[2:4] for cell in cells]
assert len(set(places)) == len(places), "two cells in one place"
width = int(picture.getroot().get("width"))
assert all(0 < x < width for x, y in places)
for cell in cells:
    print(*cell)
PROGRAM
cells() {
    python3 cells.py "$1" "$2" >cells
}

mapped() {
    stats dense.gguf --errors q4_k,q8_0 --json --plot a.svg && cp printed json &&
        cells a.svg json && [ "$(wc -l <cells)" = $((2 * (3 * 7 + 2))) ] &&
        grep -q '"plot":"a.svg"' json
}
check "a cell for each tensor and type, with its numbers" mapped

# rows NAME: how many rows the cells with such names are in, columns NAME.
rows() {
    grep "$1" cells | cut -d ' ' -f 4 | sort -u | wc -l
}
columns() {
    grep "$1" cells | cut -d ' ' -f 3 | sort -u | wc -l
}
placed() {
    [ "$(rows '^blk.1.')" = 1 ] && [ "$(rows '^blk')" = 3 ] &&
        [ "$(columns '^blk.*attn_q.weight q4_k')" = 1 ] &&
        [ "$(columns 'attn_q.weight')" = 2 ] && [ "$(rows '^output')" = 1 ] &&
        [ "$(rows .)" = 5 ]
}
check "a row for each block, a column for each kind" placed

# The least and the largest error have the ends of the scale.
coloured() {
    python3 - json cells <<'PROGRAM'
import json, sys
fill = {tuple(line.split()[:2]): line.split()[4] for line in open(sys.argv[2])}
errors = sorted((error["relative_error"], tensor["name"], type)
                for tensor in json.load(open(sys.argv[1]))["files"][0]["tensors"]
                for type, error in tensor["errors"].items())
assert fill[errors[0][1:]] == "#1d3b6f", fill[errors[0][1:]]
assert fill[errors[-1][1:]] == "#d4492f", fill[errors[-1][1:]]
PROGRAM
}
check "colours follow the relative error" coloured

same_bytes() {
    for threads in 1 2 7; do
        stats dense.gguf --errors q4_k,q8_0 --plot b.svg --force \
            --threads $threads && cmp a.svg b.svg || return
    done
}
check "the same bytes for any number of threads" same_bytes

chosen() {
    stats dense.gguf 'blk.2.*' --errors q6_k --json --plot b.svg --force &&
        cells b.svg printed && [ "$(wc -l <cells)" = 7 ]
}
check "PATTERN chooses tensors" chosen

# ---- names

cat >named.py <<'PROGRAM'
import json, struct, sys

names, columns = json.load(sys.stdin), int(sys.argv[2])
header, at = {}, 0
for name in names:
    header[name] = {"dtype": "F32", "shape": [2, columns],
                    "data_offsets": [at, at + 8 * columns]}
    at += 8 * columns
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text)
    for i in range(2 * columns * len(names)):
        file.write(struct.pack("<f", (i * 37 % 101 - 50) / 64))
PROGRAM
named() {
    python3 named.py "$1" "$2"
}

names() {
    named names.safetensors 32 <<'NAMES' || return
["a<b&\"]]>c'weight", "blk.10.w.weight", "blk.9.w.weight", "blk.9.v.weight",
 "v.blk.9.w.weight", "0weight", "1.w.weight", "x.12345678901234567890.weight",
 "layers.1.experts.7.w.weight", "ünïcode.3.größe.weight", "a\u0001b.weight",
 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaäaaaaaaaaaaaaaaaaaa.weight"]
NAMES
    stats names.safetensors --errors q8_0,q4_k --plot names.svg --json || return
    python3 - names.svg <<'PROGRAM'
import sys, xml.etree.ElementTree as tree
at = "{http://www.w3.org/2000/svg}"
place, none = {}, 0
for rect in tree.parse(sys.argv[1]).iter(at + "rect"):
    title = rect.findtext(at + "title")
    if title and ", q8_0: " in title:
        place[title.split(", q8_0: ")[0]] = (int(rect.get("x")),
                                             int(rect.get("y")))
    elif title:
        assert title.endswith(" cannot be q4_k"), title
        assert rect.get("fill") == "none"
        none += 1
assert len(place) == none == 12, (len(place), none)
x = {name: at[0] for name, at in place.items()}
y = {name: at[1] for name, at in place.items()}
assert y["blk.9.w.weight"] == y["blk.9.v.weight"] < y["blk.10.w.weight"]
assert y["v.blk.9.w.weight"] != y["blk.9.w.weight"] != y["1.w.weight"]
assert len({x[name + "w.weight"] for name in
            ("blk.9.", "blk.10.", "v.blk.9.", "1.")}) == 1
assert x["0weight"] == x["x.12345678901234567890.weight"]
assert "a<b&\"]]>c'weight" in place and "ünïcode.3.größe.weight" in place
PROGRAM
}
check "names of all kinds, and tensors without a block" names
plain() {
    ! grep -qE '<script|<foreignObject|href=|url\(|@import|<image' names.svg
}
check "a picture loads and runs nothing" plain

too_many() {
    seq 513 | sed 's/.*/"x.0.&.weight"/' | paste -sd , | sed 's/.*/[&]/' |
        named many.safetensors 32 || return
    stats many.safetensors --errors q8_0 --plot many.svg
    [ $? -eq 2 ] && grep -q '512 columns' said && [ ! -e many.svg ] &&
        stats many.safetensors 'x.0.1*' --errors q8_0 --plot many.svg
}
check "too many columns to draw" too_many

# ---- the file

kept() {
    cp a.svg before.svg
    stats dense.gguf --errors q4_k --plot a.svg --json
    [ $? -eq 4 ] && grep -q 'use --force to overwrite' said &&
        cmp a.svg before.svg && ! grep -q measured_rows printed &&
        stats dense.gguf --errors q4_k --plot a.svg --force &&
        ! cmp -s a.svg before.svg
}
check "one that exists is refused before all work, without --force" kept
stays() {
    cp dense.gguf input.gguf
    stats input.gguf --errors q4_k --plot input.gguf --force
    [ $? -eq 4 ] && cmp dense.gguf input.gguf
}
check "the model is never replaced" stays
alone() {
    stats dense.gguf --errors q4_k --plot - && [ "$(head -c 4 printed)" = "<svg" ] &&
        [ "$(tail -n 1 printed)" = "</svg>" ]
}
check "on standard output it is alone" alone
check "a full device" expect 4 "No space left" tensors stats dense.gguf \
    --errors q4_k --plot /dev/full --force
check "a folder that is missing" expect 4 "none/p.svg" tensors stats \
    dense.gguf --errors q4_k --plot none/p.svg
check "--plot alone" expect 2 "requires '--errors'" tensors stats dense.gguf \
    --plot p.svg
check "no name" expect 2 "needs the name of a file" tensors stats dense.gguf \
    --errors q4_k --plot ''
check "JSON and the picture on standard output" expect 2 "cannot" tensors \
    stats dense.gguf --errors q4_k --json --plot -

finish
