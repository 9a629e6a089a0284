#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pictures.t - bars of characters: info --tree, tensors stats --histogram
#
# What is expected of the bytes and counts is computed by Python, from the file.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

modelfile=$(realpath "${MODELFILE:-${BUILD:-build}/modelfile}")
fixtures=$(realpath "${FIXTURES:-fixtures}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-pictures.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# Which locale, then arguments of the program.
utf8() { LC_ALL=C.UTF-8 "$modelfile" "$@" 2>"$dir/err"; }
ascii() { LC_ALL=C "$modelfile" "$@" 2>"$dir/err"; }

# make FILE: a safetensors file of the tensors that Python yields from standard
# input: name, dtype, shape, and the bytes.
make() {
    { cat <<'PYTHON' && cat; } >"$dir/make.py"
import json, struct, sys
def write(tensors):
    head, data = {}, b""
    for name, dtype, shape, some in tensors:
        head[name] = {"dtype": dtype, "shape": shape,
                      "data_offsets": [len(data), len(data) + len(some)]}
        data += some
    head = json.dumps(head).encode()
    with open(sys.argv[1], "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + data)
def zeros(name, count, dtype="F32", size=4):
    return name, dtype, [count], bytes(count * size)
def floats(name, shape, numbers):
    return name, "F32", shape, struct.pack("<%df" % len(numbers), *numbers)
PYTHON
    python3 "$dir/make.py" "$1"
}

# ---- info --tree

make "$dir/blocks.safetensors" <<'PYTHON'
write([zeros("embd.weight", 64)] +
      [zeros("blk.%d.%s.weight" % (i, part), 16 if i != 4 else 24)
       for i in range(12) for part in ("up", "down")] +
      [zeros("blk.7.extra", 2, "F16", 2), zeros("head", 8)])
PYTHON
cat >"$dir/want" <<EOF
$dir/blocks.safetensors
  part                                   bytes tensors  types
  embd         ##########                256 B       1  f32
  blk.0-3      ####################      512 B       8  f32
  blk.4        ########                  192 B       2  f32
  blk.5-6      ##########                256 B       4  f32
  blk.7        ######                    132 B       3  f32 f16
  blk.8-11     ####################      512 B       8  f32
  head         ##                         32 B       1  f32
EOF
ascii info --tree "$dir/blocks.safetensors" >"$dir/got"
check "equal blocks in a row are one line, others have their own" \
    diff "$dir/want" "$dir/got"
utf8 info --tree "$dir/blocks.safetensors" >"$dir/got"
check "in UTF-8 bars have eighths" grep -q "^  head  *█▎  *32 B" "$dir/got"
sed 's/[█▏▎▍▌▋▊▉]/#/g' "$dir/got" >"$dir/plain"
check "which differ in nothing else" diff "$dir/want" "$dir/plain"
LC_ALL='' LC_CTYPE=de_DE.utf8 LANG=C "$modelfile" info --tree \
    "$dir/blocks.safetensors" >"$dir/again" 2>/dev/null
check "LC_CTYPE counts if LC_ALL is empty" cmp "$dir/got" "$dir/again"
COLUMNS=20 utf8 info --tree "$dir/blocks.safetensors" >"$dir/again"
check "in a pipe no width counts" cmp "$dir/got" "$dir/again"

ascii info --tree --depth 1 "$dir/blocks.safetensors" | sed 1,2d |
    awk '{ print $1 }' | paste -sd ' ' - >"$dir/got"
check "a number counts with the part before it" \
    [ "$(cat "$dir/got")" = "embd blk.0-3 blk.4 blk.5-6 blk.7 blk.8-11 head" ]
ascii info --tree --depth 2 "$dir/blocks.safetensors" | sed 1,2d |
    awk '{ print $1 }' | head -n 4 | paste -sd ' ' - >"$dir/got"
check "--depth goes further" \
    [ "$(cat "$dir/got")" = "embd.weight blk.0.up blk.0.down blk.1.up" ]
ascii info --depth 2 "$dir/blocks.safetensors" >/dev/null
check "--depth needs --tree" [ $? -eq 2 ]

cat >"$dir/tree.py" <<'PYTHON'
import json, sys
file = json.load(sys.stdin)["files"][0]
def walk(node):
    nodes = node.get("nodes", [])
    for part in nodes:
        walk(part)
        assert part["name"].startswith(node["name"]), part
    for key in ("tensors", "parameters", "bytes"):
        assert not nodes or node[key] == sum(n[key] for n in nodes), node
        assert node[key] == sum(t[key] for t in node["types"].values()), node
    return 1
walk(file["tree"])
assert file["tree"]["bytes"] == sum(t["bytes"] for t in file["types"].values())
assert file["tree"]["tensors"] == file["tensor_count"], file["tensor_count"]
print(" ".join(n["name"] for n in file["tree"]["nodes"]))
PYTHON
utf8 info --tree --json "$dir/blocks.safetensors" | python3 "$dir/tree.py" \
    >"$dir/got"
check "--json has nodes whose sums are right" \
    grep -q "^blk.0 blk.1 blk.10 blk.11 .*embd head$" "$dir/got"
for depth in 1 3 100; do
    utf8 info --tree --json --depth $depth "$fixtures/good-llama.gguf" |
        python3 "$dir/tree.py" >/dev/null 2>"$dir/err"
    check "at depth $depth, too" [ ! -s "$dir/err" ]
done

make "$dir/hostile.safetensors" <<'PYTHON'
names = ["", ".", "..", "a..b", "0", "1.2.3", "blk.01", "blk.1", "blk.1.", "blk.1.x", "blk.1-x",
         "blk.18446744073709551617.x", "blk.1000000000.x", "blk.999999.x",
         "e.999998.x", "e.999999.x", "\n", "\x1b[31mred", "x" * 300, "." * 200, "1." * 200,
         "漢字.0.重み", "漢字.1.重み"]
write([zeros(name, 1 + i) for i, name in enumerate(names)])
PYTHON
utf8 info --tree "$dir/hostile.safetensors" >"$dir/got"
check "names of any kind are shown" [ $? -eq 0 ]
check "and escaped" [ "$(tr -d '\n' <"$dir/got" | tr -dc '\000-\037' | wc -c)" -eq 0 ]
check "all of their tensors are counted" [ "$(sed 1,2d "$dir/got" |
    sed 's/.* B  *\([0-9]*\)  f32$/\1/' | paste -sd + - | bc)" -eq 23 ]
utf8 info --tree --json "$dir/hostile.safetensors" |
    python3 "$dir/tree.py" >/dev/null 2>"$dir/err"
check "in JSON, too" [ ! -s "$dir/err" ]

make "$dir/none.safetensors" <<'PYTHON'
write([])
PYTHON
check "a model without tensors says so" \
    [ "$(utf8 info --tree "$dir/none.safetensors" | sed 1d)" = "  no tensors" ]
utf8 info --tree --json "$dir/none.safetensors" | python3 -c '
import json, sys
assert "tree" not in json.load(sys.stdin)["files"][0]' 2>"$dir/err"
check "and has no tree" [ ! -s "$dir/err" ]
make "$dir/empty.safetensors" <<'PYTHON'
write([zeros("a.0.x", 0), zeros("a.1.x", 0)])
PYTHON
check "tensors without bytes have no bar" [ "$(utf8 info --tree \
    "$dir/empty.safetensors" | tail -n 1 | tr -s ' ')" = " a.0-1 0 B 2 f32" ]

make "$dir/many.safetensors" <<'PYTHON'
head = [zeros("model.layers.%d.experts.%d.%s" % (i, k, part), 1)
        for i in range(60) for k in range(500) for part in ("a", "b", "c")]
write([(name, "F32", [0], b"") for name, dtype, shape, data in head])
PYTHON
check "of 90,000 tensors there is one line" [ "$(utf8 info --tree \
    "$dir/many.safetensors" | tail -n 1 | tr -s ' ')" = \
    " model.layers.0-59 0 B 90,000 f32" ]
check "or one for each" [ "$(utf8 info --tree --depth 9 \
    "$dir/many.safetensors" | wc -l)" -eq 90002 ]

# ---- tensors stats --histogram

make "$dir/numbers.safetensors" <<'PYTHON'
write([floats("rows", [4, 2], [1, -1, 0, -0.0, 3, 3, 4, 1.5]),
       floats("far", [1, 100], [0.5, -0.5] * 49 + [64, 0]),
       floats("one", [1], [-0.25]), floats("none", [0], []),
       floats("odd", [2], [float("nan"), float("inf")])])
PYTHON
ascii tensors stats --histogram "$dir/numbers.safetensors" | grep '^    ' \
    >"$dir/got"
cat >"$dir/want" <<'EOF'
    -2^3 [  .] 2^0 [##.] 2^3
    zero rows: 1 of 4; constant rows: 1 of 4
    -2^7 [       #] 2^-1 [#      .] 2^7
    outliers from 2^6 on: 1
    -2^-1 [#] 2^-2 [ ] 2^-1
    constant rows: 1 of 1
EOF
check "lines of blocks, outliers and equal rows" diff "$dir/want" "$dir/got"
utf8 tensors stats --histogram "$dir/numbers.safetensors" | grep '^    ' \
    >"$dir/got"
check "in UTF-8" grep -q '^    -2^7 \[       █\] 2^-1 \[█      ▁\] 2^7$' \
    "$dir/got"
utf8 tensors stats "$dir/numbers.safetensors" >"$dir/stats"
utf8 tensors stats --histogram "$dir/numbers.safetensors" |
    grep -v '^    ' | sed '/^Below each/,$d' >"$dir/got"
check "the other lines are those without" diff "$dir/stats" "$dir/got"

cat >"$dir/histogram.py" <<'PYTHON'
import json, math, struct, sys
raw = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", raw[:8])[0]
head = json.loads(raw[8:8 + size])
for tensor in json.load(sys.stdin)["files"][0]["tensors"]:
    info = head[tensor["name"]]
    begin, end = info["data_offsets"]
    numbers = struct.unpack("<%df" % ((end - begin) // 4),
                            raw[8 + size + begin:8 + size + end])
    first, negative, positive = tensor["histogram"]["bins"]
    def counts(sign):
        all = [math.frexp(x)[1] - 1 - first for x in numbers
               if math.isfinite(x) and x * sign > 0]
        return [all.count(i) for i in range(len(negative))], len(all)
    assert counts(-1) == (negative, sum(negative)), tensor
    assert counts(1) == (positive, sum(positive)), tensor
    beyond = tensor["histogram"]["beyond"]
    assert tensor["histogram"]["outliers"] == (sum(
        abs(x) >= beyond for x in numbers if math.isfinite(x))
        if beyond else 0), tensor
    columns = info["shape"][-1]
    rows = [numbers[i:i + columns] for i in range(0, len(numbers), columns or 1)]
    same = [all(x == row[0] for x in row) for row in rows]
    assert tensor["rows"] == len(rows), tensor
    assert tensor["zero_rows"] == sum(
        s and r[0] == 0 for s, r in zip(same, rows)), tensor
    assert tensor["constant_rows"] == sum(
        s and r[0] != 0 for s, r in zip(same, rows)), tensor
    print(tensor["name"])
PYTHON
utf8 tensors stats --histogram --json "$dir/numbers.safetensors" |
    python3 "$dir/histogram.py" "$dir/numbers.safetensors" \
        >"$dir/got" 2>"$dir/err"
check "--json has what Python counts" \
    [ "$(paste -sd ' ' "$dir/got")" = "rows far one none odd" ]
utf8 tensors stats --histogram --tsv "$dir/numbers.safetensors" >"$dir/got"
check "--tsv has further columns" [ "$(sed -n 2p "$dir/got" | cut -f 12-)" = \
    "$(printf '4\t1\t1\t0\t16\t0\t1,0,0\t2,2,1')" ] ||
    note <"$dir/got"
check "of each line as many" [ "$(awk -F '\t' '{ print NF }' "$dir/got" |
    sort -u)" = 19 ]
for threads in 1 2 5; do
    utf8 tensors stats --histogram --json --threads $threads \
        "$fixtures/good-llama.gguf" | sed 's/"run":.*//' >"$dir/with.$threads"
done
check "threads change nothing" \
    [ "$(cat "$dir"/with.* | sort -u | wc -l)" -eq 1 ]
if counts_memory; then # a sanitizer takes too long for it
    check "of 90,000 tensors there is a line of each" [ "$(utf8 tensors stats \
        --histogram "$dir/many.safetensors" | grep -c '^model')" -eq 90000 ]
fi

# ---- terminals

on_terminal() {
    printf '%s\n' "stty cols $1 rows 24 -onlcr" "$2" >"$dir/commands"
    script -qec "sh $dir/commands" "$dir/typescript" </dev/null >"$dir/said" \
        2>"$dir/err"
}
if ! on_terminal 72 "stty size" || ! grep -q '24 72' "$dir/said"; then
    skip "narrow terminals" "script (of bsdutils) makes no terminal here"
    finish
fi
make "$dir/wide.safetensors" <<'PYTHON'
write([floats("model.language_model.layers.%d.attention" % i, [600],
              [2.0 ** (k % 250 - 125) * (-1) ** k for k in range(599)] + [i])
       for i in range(3)] + [zeros("w" * 70 + ".%d.x" % i, 1) for i in (999998, 999999)] + [zeros("x" * 90 + ".y", 3)])
PYTHON
for columns in 40 60 80 132; do
    for what in "info --tree" "info --tree --depth 4" \
        "tensors stats --histogram"; do
        on_terminal $columns "LC_ALL=C.UTF-8 $modelfile $what \
            $dir/wide.safetensors 2>$dir/err"
        python3 -c '
import re, sys
for line in open(sys.argv[2], encoding="utf-8"):
    line = re.sub("\033\\[[0-9]*m", "", line.rstrip("\r\n"))
    if len(line) > int(sys.argv[1]) and not line.startswith("/"):
        print(len(line), line)' "$columns" "$dir/said" >"$dir/over"
        # Statistics themselves need 80 columns.
        [ "$columns" -ge 80 ] || [ "$what" != "tensors stats --histogram" ] ||
            sed -i '/^[0-9]*     *-2^/!d' "$dir/over"
        check_empty "$what fits $columns columns" cat "$dir/over"
    done
done

finish
