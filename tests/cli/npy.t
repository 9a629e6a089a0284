#!/bin/sh
# SPDX-License-Identifier: MIT
#
# npy.t - arrays as NumPy reads them
#
# NUMPY_PYTHON is a Python with numpy: it writes arrays of all types, orders and
# versions, and what it reads of them has to be the same here.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

python=${NUMPY_PYTHON:-${TORCH_PYTHON:-python3}}
if ! "$python" -c 'import numpy' >"$dir/out" 2>&1; then
    skip "arrays as NumPy reads them" "no numpy (NUMPY_PYTHON)"
    finish
fi

cat >"$dir/write.py" <<'END'
import os, sys
import numpy as np

os.chdir(sys.argv[1])
rng = np.random.default_rng(0)
kinds = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "c8"]
arrays = {}
for kind in kinds:
    for order in "<>":
        whole = (rng.integers(0, 100, (3, 5, 7)) + 1).astype(order + kind)
        for name, array in (("c", whole), ("f", np.asfortranarray(whole)),
                            ("row", whole[0, 0]), ("one", whole[:1, :1, :1]),
                            ("scalar", np.array(whole[1, 2, 3])), ("none", whole[:0])):
            arrays[f"{'le' if order == '<' else 'be'}-{kind}-{name}"] = array
arrays["bool"] = np.array([[True, False], [False, True]])
arrays["bool-f"] = np.asfortranarray(np.ones((2, 3), bool))
for name, array in arrays.items():
    np.save(name + ".npy", array)
np.savez("all.npz", **arrays)
np.savez_compressed("packed.npz", **arrays)
np.savez("names.npz", np.ones(2), np.full(3, 2.), **{"a b/c": np.ones(4), "\u00e9": np.ones(5)})
np.savez_compressed("large.npz", noise=rng.integers(1, 9, (500, 1000)).astype("<f4"))
with open("version-2.npy", "wb") as file:
    np.lib.format.write_array(file, np.ones(3), version=(2, 0))
with open("version-3.npy", "wb") as file:
    np.lib.format.write_array(file, np.ones(3), version=(3, 0))

np.save("object.npy_", np.array([{}, None], object), allow_pickle=True)
os.rename("object.npy_.npy", "object.bad")
np.savez("objects", a=np.ones(2), b=np.array([[], {}], object))
os.rename("objects.npz", "objects.bad")
END

cat >"$dir/same.py" <<'END'
import json, os, struct, subprocess, sys
import numpy as np

program, path, work = sys.argv[1:]
def ask(*words):
    return json.loads(subprocess.run([program, *words, "--json", "--quiet"], check=True,
                                     capture_output=True).stdout)["files"][0]
real = np.load(path, allow_pickle=False)
real = {"arr_0": real} if isinstance(real, np.ndarray) else {name: real[name] for name in real.files}
ours = {t["name"]: t for t in ask("tensors", "info", path)["tensors"]}
assert list(real) == list(ours), set(real) ^ set(ours)
out = os.path.join(work, "o.safetensors")
subprocess.run([program, "convert", "--force", "--quiet", path, out], check=True)
with open(out, "rb") as file:
    data = file.read()
size = struct.unpack("<Q", data[:8])[0]
head = json.loads(data[8:8 + size])
for name, array in real.items():
    kind = array.dtype
    told = "bool" if kind == bool else \
        f"{'c' if kind.kind == 'c' else kind.kind}{kind.itemsize * 8}"
    assert ours[name]["type"] == told, (name, ours[name], told)
    assert ours[name]["shape"] == list(array.shape), (name, ours[name])
    little = np.ascontiguousarray(array).astype(kind.newbyteorder("<")).tobytes()
    begin, end = head[name]["data_offsets"]
    assert data[8 + size + begin:8 + size + end] == little, name
END

mkdir "$dir/files"
check "arrays are written" "$python" "$dir/write.py" "$dir/files"
for file in "$dir"/files/*.npy "$dir"/files/*.npz; do
    name=$(basename "$file")
    check "$name: nothing is wrong" "$modelfile" validate --data --quiet "$file"
    check "$name: as NumPy reads it" "$python" "$dir/same.py" "$modelfile" "$file" "$dir"
done

objects() {
    code=0
    "$modelfile" validate --quiet "$1" >"$dir/out" 2>&1 || code=$?
    cat "$dir/out"
    [ "$code" = 1 ] && grep -q ' error NPY-OBJECT' "$dir/out"
}
check "an array of objects is an error" objects "$dir/files/object.bad"
check "so it is in an archive" objects "$dir/files/objects.bad"

# Figures of arrays that floats of 32 bits cannot hold.
cat >"$dir/figures.py" <<'END'
import json, math, os, subprocess, sys
from fractions import Fraction
import numpy as np

program, work = sys.argv[1:]
rng = np.random.default_rng(1)
noise = rng.standard_normal(300007)
arrays = {
    "far": noise * 1e-3 + 1e9, "huge": noise * 1e300, "tiny": noise[:999] * 1e-200,
    "near": np.array([3.0, 3.0 + 1e-9]), "f4": (1e6 + noise * 3).astype("<f4"),
    "f2": noise.astype("<f2"), "be": noise.astype(">f8"),
    "bool": rng.integers(0, 2, 100003).astype(bool),
    "fortran": np.asfortranarray(noise[:77 * 55].reshape(77, 55)),
    "edges": np.array([-2**63, 2**63 - 1, -172064161]), "top": np.full(99, 2**64 - 1, np.uint64),
}
for kind in ("i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8"):
    info = np.iinfo(kind)
    arrays["n-" + kind[-2:]] = rng.integers(info.min, info.max, 70001, kind, True)
path, other = os.path.join(work, "figures.npz"), os.path.join(work, "other.npz")
np.savez(path, **arrays)

def ask(*words):
    answer = subprocess.run([program, *words, "--json", "--quiet"], capture_output=True).stdout
    return json.loads(answer)

def close(name, what, got, wanted, scale):
    assert abs(got - wanted) <= 1e-14 * scale, (name, what, got, wanted)

def moments(array):
    if array.dtype.kind in "iub":
        numbers = [int(number) for number in array]
        count, total, squares = len(numbers), sum(numbers), sum(n * n for n in numbers)
        spread = Fraction(count * squares - total * total, count * count)
        return total / count, math.sqrt(spread), math.sqrt(squares)
    floats = array.astype(np.longdouble)
    return float(floats.mean()), float(floats.std()), float(np.sqrt((floats * floats).sum()))

for told in ask("tensors", "stats", path)["files"][0]["tensors"]:
    array = arrays[told["name"]].ravel()
    mean, std, l2 = moments(array)
    assert told["finite"] == array.size and told["zeros"] == np.count_nonzero(array == 0), told
    assert told["min"] == array.min().item() and told["max"] == array.max().item(), told
    close(told["name"], "mean", told["mean"], mean, l2 / math.sqrt(array.size))
    close(told["name"], "std", told["std"], std, std)
    close(told["name"], "l2", told["l2"], l2, l2)

changed = {}
for name, array in arrays.items():
    changed[name] = array.copy()
    changed[name].flat[0] = not array.flat[0] if array.dtype == bool else \
        np.nextafter(array.flat[0], array.dtype.type(0)) if array.dtype.kind == "f" else array.flat[0] ^ array.dtype.type(1)
np.savez(other, **changed)
different = ask("diff", "--values", path, other)["tensors"]
assert [t["name"] for t in different] == list(arrays)
for told in different:
    before, after = (side[told["name"]].flat[0].item() for side in (arrays, changed))
    assert told["values"]["max_abs"] == abs(before - after) > 0, told
    close(told["name"], "rmse", told["values"]["rmse"],
          abs(before - after) / math.sqrt(arrays[told["name"]].size), abs(before - after))

for name, array in arrays.items():
    out = os.path.join(work, "one.npy")
    subprocess.run([program, "tensors", "export", "--force", "--quiet", path, name, out], check=True)
    one = np.load(out)
    assert one.dtype == array.dtype.newbyteorder("<") and np.array_equal(one, array), name
END
check "figures match NumPy, and an export has all digits" \
    "$python" "$dir/figures.py" "$modelfile" "$dir"

# What export writes, NumPy reads.
exported() {
    "$modelfile" tensors export --force --quiet "$dir/files/packed.npz" le-f4-f "$dir/o.npy" &&
        "$python" - "$dir/files/packed.npz" "$dir/o.npy" <<'END'
import sys, numpy as np
assert np.array_equal(np.load(sys.argv[1])["le-f4-f"], np.load(sys.argv[2]))
END
}
check "an exported array is read by NumPy" exported
finish
