#!/bin/sh
# SPDX-License-Identifier: MIT
#
# torch.t - checkpoints as PyTorch reads them
#
# TORCH_PYTHON is a Python with torch, and perhaps safetensors.  What
# torch.load(weights_only=True) reads has to be the same here, and what it
# refuses has to be an error.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

python=${TORCH_PYTHON:-python3}
# The top folder has a folder of that name, which Python takes for a package.
if ! "$python" -c 'import torch.serialization' >"$dir/out" 2>&1; then
    skip "checkpoints as PyTorch reads them" "no torch (TORCH_PYTHON)"
    finish
fi

cat >"$dir/write.py" <<'END'
import collections, copyreg, os, pickle, subprocess, sys, zipfile
import torch
from torch import nn

os.chdir(sys.argv[1])
torch.manual_seed(0)
whole = torch.randn(4, 6)
kinds = {
    "whole": whole, "turned": whole.t(), "part": whole[1:3, 2:], "column": whole[:, 1],
    "every_second": torch.arange(10.)[::2], "again": whole, "row": torch.ones(1, 5).expand(3, 5),
    "half": torch.randn(5).half(), "bf16": torch.randn(3, 3).bfloat16(),
    "double": torch.randn(2, 2).double(), "i64": torch.arange(7), "i8": torch.arange(7, dtype=torch.int8),
    "i32": torch.arange(7, dtype=torch.int32), "i16": torch.arange(7, dtype=torch.int16),
    "u8": torch.arange(5, dtype=torch.uint8), "bool": torch.tensor([True, False]),
    "scalar": torch.tensor(3.5), "empty": torch.empty(0, 3), "nothing": torch.empty(2, 0, 4),
    "parameter": nn.Parameter(torch.randn(2, 3)), "grad": torch.randn(2, requires_grad=True),
    "rank5": torch.randn(2, 1, 3, 1, 2).permute(4, 2, 0, 1, 3),
}
module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Embedding(5, 2))
optimizer = torch.optim.Adam(module.parameters())
module[1](module[0](torch.randn(5, 3))).sum().backward()
optimizer.step()
good = {
    "kinds": kinds,
    "training": {"model": module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3,
                 "rate": 0.5, "name": "a run", "losses": [1.5, 2.5], "best": None, "done": True},
    "one": torch.arange(3.),
    "list": [torch.ones(2), (torch.full((3,), 2.), {"x": torch.ones(1)})],
    "none": {},
    "bytes": {"some": b"abc", "array": bytearray(b"abc"), "none": bytearray(), "x": torch.ones(2)},
    "keys": {0: torch.ones(1), "a.b": torch.ones(2), True: torch.ones(3), None: torch.ones(4)},
    "ordered": collections.OrderedDict(b=torch.ones(2), a=torch.ones(3)),
    "large": {"l.%d.weight" % i: torch.full((3,), float(i + 1)) for i in range(3000)},
}
for name, value in good.items():
    torch.save(value, f"good-{name}.pt")
    torch.save(value, f"good-{name}-legacy.pt", _use_new_zipfile_serialization=False)
if hasattr(torch, "float8_e4m3fn"): # the older format cannot have it
    torch.save({"f8": torch.randn(8).to(torch.float8_e4m3fn)}, "good-f8.pt")

class Call:
    def __init__(self, function, *arguments):
        self.call = function, arguments
    def __reduce__(self):
        return self.call

bad = {
    "module": module,
    "system": {"w": whole, "x": Call(os.system, "true")},
    "eval": {"x": Call(eval, "1")},
    "popen": [Call(subprocess.Popen, ["true"])],
    "getattr": Call(getattr, 1, "real"),
    "load": Call(pickle.loads, pickle.dumps(1)),
    "class": {"x": collections.Counter("aab"), "y": object()},
}
for name, value in bad.items():
    torch.save(value, f"bad-{name}.pt")
    torch.save(value, f"bad-{name}-legacy.pt", _use_new_zipfile_serialization=False)

def archive(name, body):
    with zipfile.ZipFile(f"bad-{name}.pt", "w", zipfile.ZIP_STORED) as file:
        file.writestr("x/data.pkl", body)
        file.writestr("x/version", "3\n")
archive("inst", b"\x80\x02(S'true'\nios\nsystem\n.")
archive("obj", b"\x80\x02(cos\nsystem\nS'true'\no.")
archive("extension", b"\x80\x02\x82\x01.")
archive("global", b"\x80\x02cos\nsystem\n.")
archive("dotted", b"\x80\x04\x8c\x05torch\x8c\x0bos.system_x\x93.")
archive("newobj", b"\x80\x02cos\nsystem\n)\x81.")
archive("build", b"\x80\x02ctorch\nSize\n(K\x01tR}U\x01aK\x01sb.")
archive("persistent", b"\x80\x02Pstorage\n.")
archive("subclass", b"\x80\x02ctorch._utils\n_rebuild_wrapper_subclass\n(tR.")
END

cat >"$dir/same.py" <<'END'
import json, os, struct, subprocess, sys
import torch

program, path, work = sys.argv[1:]
def ask(*words):
    return json.loads(subprocess.run([program, *words, "--json", "--quiet"], check=True,
                                     capture_output=True).stdout)["files"][0]
def walk(value, name):
    def under(key):
        return f"{name}.{key}" if name else str(key)
    if isinstance(value, torch.Tensor):
        yield name or "tensor", value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from walk(item, under(key))
    elif isinstance(value, (list, tuple)):
        for at, item in enumerate(value):
            yield from walk(item, under(at))
def load(path):
    try:
        return torch.load(path, weights_only=True)
    except Exception: # 1.13 does not read its own optimizers so; these files are ours
        return torch.load(path, weights_only=False)
real = dict(walk(load(path), ""))
ours = {t["name"]: t for t in ask("tensors", "info", path)["tensors"]}
assert list(real) == list(ours), set(real) ^ set(ours)
short = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u"}
for name, tensor in real.items():
    kind = str(tensor.dtype).replace("torch.", "").replace("bfloat", "bf").replace("float", "f")
    kind = kind.replace("uint", "u").replace("int", "i").replace("e4m3fn", "e4m3")
    assert ours[name]["type"] == kind, (name, ours[name], kind)
    assert ours[name]["shape"] == list(tensor.shape), (name, ours[name])
out = os.path.join(work, "o.safetensors")
subprocess.run([program, "convert", "--force", "--quiet", path, out], check=True)
with open(out, "rb") as file:
    bytes_ = file.read()
size = struct.unpack("<Q", bytes_[:8])[0]
head = json.loads(bytes_[8:8 + size])
head.pop("__metadata__", None)
assert set(head) == set(real)
for name, tensor in real.items():
    begin, end = head[name]["data_offsets"]
    flat = tensor.detach().contiguous().reshape(-1)
    told = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    assert bytes_[8 + size + begin:8 + size + end] == told, name
for name in list(real)[:25]:
    raw = os.path.join(work, "o.raw")
    subprocess.run([program, "tensors", "export", "--raw", "--force", "--quiet", path, name, raw],
                   check=True)
    flat = real[name].detach().contiguous().reshape(-1)
    told = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    with open(raw, "rb") as file:
        assert file.read() == told, name
END

cat >"$dir/refused.py" <<'END'
import sys, torch
try:
    torch.load(sys.argv[1], weights_only=True)
except Exception:
    sys.exit(0)
sys.exit("torch.load reads it")
END

mkdir "$dir/files"
check "checkpoints are written" "$python" "$dir/write.py" "$dir/files"
for file in "$dir"/files/good-*.pt; do
    name=$(basename "$file" .pt)
    check "$name: nothing is wrong" "$modelfile" validate --strict --data --quiet "$file"
    check "$name: as PyTorch reads it" "$python" "$dir/same.py" "$modelfile" "$file" "$dir"
done

# refuses FILE: validate ends with 1, and convert writes nothing.
refuses() {
    code=0
    "$modelfile" validate --quiet "$1" >"$dir/out" 2>&1 || code=$?
    cat "$dir/out"
    [ "$code" = 1 ] && grep -q ' error PICKLE-' "$dir/out" &&
        ! "$modelfile" convert --force --quiet "$1" "$dir/o.safetensors" >"$dir/out" 2>&1
}
for file in "$dir"/files/bad-*.pt; do
    name=$(basename "$file" .pt)
    check "$name: PyTorch refuses it" "$python" "$dir/refused.py" "$file"
    check "$name: an error" refuses "$file"
done

# Zip archives and older files have the same tensors.
same_digest() {
    [ "$("$modelfile" hash --quiet "$1" | sed 's,  [^ ]*$,,' | sort)" = \
        "$("$modelfile" hash --quiet "$2" | sed 's,  [^ ]*$,,' | sort)" ]
}
check "the container does not matter" same_digest \
    "$dir/files/good-kinds.pt" "$dir/files/good-kinds-legacy.pt"

# A folder of Hugging Face becomes the same GGUF file, whatever its weights are.
cat >"$dir/weights.py" <<'END'
import glob, json, os, struct, sys
import torch
folder, shards = sys.argv[1], int(sys.argv[2])
types = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64}
tensors = {}
for path in sorted(glob.glob(folder + "/*.safetensors")):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    for name, row in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + at for at in row["data_offsets"])
            tensors[name] = torch.frombuffer(bytearray(data[begin:end]),
                                             dtype=types[row["dtype"]]).reshape(row["shape"])
    os.remove(path)
for path in glob.glob(folder + "/*.index.json"):
    os.remove(path)
if shards == 1:
    torch.save(tensors, folder + "/pytorch_model.bin")
else:
    names = [f"pytorch_model-{i + 1:05}-of-{shards:05}.bin" for i in range(shards)]
    where = {name: names[i * shards // len(tensors)] for i, name in enumerate(tensors)}
    for shard in names:
        torch.save({k: v for k, v in tensors.items() if where[k] == shard}, f"{folder}/{shard}")
    with open(folder + "/pytorch_model.bin.index.json", "w") as file:
        json.dump({"metadata": {}, "weight_map": where}, file)
END
same_gguf() { # FOLDER SHARDS
    rm -rf "$dir/model" && cp -R "$1" "$dir/model" &&
        "$modelfile" convert --quiet --force --names gguf "$dir/model" "$dir/a.gguf" &&
        "$python" "$dir/weights.py" "$dir/model" "$2" &&
        "$modelfile" convert --quiet --force --names gguf "$dir/model" "$dir/b.gguf" &&
        cmp "$dir/a.gguf" "$dir/b.gguf"
}
shared=$(realpath -m "${CONFORMANCE:-../shared}")
if [ -f "$shared/tools/hf_models.py" ]; then
    python3 "$shared/tools/hf_models.py" "$dir/folders" /nowhere llama-spm gemma2 mixtral \
        >"$dir/out" 2>&1
    for folder in "$dir"/folders/*; do
        check "$(basename "$folder"): weights of PyTorch give the same GGUF file" \
            same_gguf "$folder" 1
        check "$(basename "$folder"): so do three shards" same_gguf "$folder" 3
    done
else
    skip "folders with weights of PyTorch" "no conformance data"
fi

if command -v strace >"$dir/out"; then
    traced() {
        strace -f -o "$dir/trace" -e trace=open,openat,connect,execve,fork,vfork,socket \
            "$modelfile" "$@" >"$dir/out" 2>&1
        # What the loader and the C library open comes first.
        sed -n '/files\//,$p' "$dir/trace" | grep -v 'files/\|exited\|+++\|SIG' >"$dir/others"
        cat "$dir/others"
        [ ! -s "$dir/others" ]
    }
    check "nothing else is opened or run" traced validate --data --threads 1 \
        "$dir/files/bad-system.pt"
else
    skip "nothing else is opened or run" "no strace"
fi
finish
