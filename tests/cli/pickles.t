#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pickles.t - pickles as PyTorch understands them, and what they may take
#
# TORCH_PYTHON is a Python with torch.  What is read here without an error,
# torch.load(weights_only=True) reads as well, and it finds the same tensors.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

# ---- memory

# lists N: a file of before PyTorch 1.6 whose object is N empty lists, and a last
# one on which the pickle ends.
lists() {
    printf '\200\2\212\nl\374\234F\371 j\250P\031.\200\2M\351\3.\200\2}.\200\2'
    head -c "$1" /dev/zero | tr '\0' ']'
    printf '}.\200\2].'
}
run_of() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$dir/out"; }
# A list takes 28 bytes: 64 MiB, without what else is there while it is read.
fits() {
    lists 2380000 >"$dir/lists.pt"
    "$modelfile" validate --json "$dir/lists.pt" >"$dir/out" 2>"$dir/err"
    cat "$dir/out" "$dir/err"
    ! grep -q PICKLE-MEMORY "$dir/out" &&
        [ "$(run_of peak_heap_bytes)" -le $((66 << 20)) ]
}
check "a pickle may take 64 MiB" fits
too_large() {
    lists 2400000 >"$dir/lists.pt"
    "$modelfile" validate --json "$dir/lists.pt" >"$dir/out" 2>"$dir/err"
    [ $? -eq 1 ] && grep -q '"id":"PICKLE-MEMORY"' "$dir/out" &&
        [ "$(run_of peak_heap_bytes)" -le $((1 << 20)) ] && return
    cat "$dir/out" "$dir/err"
    return 1
}
check "not more, which is known before any of it is taken" too_large
budget() {
    "$modelfile" validate --quiet --max-memory 80M "$dir/lists.pt" >"$dir/out"
    cat "$dir/out"
    ! grep -q PICKLE-MEMORY "$dir/out"
}
check "unless --max-memory says more" budget
says_so() {
    "$modelfile" info --quiet "$dir/lists.pt" >"$dir/out" 2>&1
    cat "$dir/out"
    grep -q 'more than [0-9]* bytes of memory.*; --max-memory' "$dir/out"
}
check "as the error says" says_so
rm "$dir/lists.pt"

# ---- tensors of foreign classes

module=$fixtures/bad-pickle-module.pt
refused() {
    ! "$modelfile" convert --quiet "$module" "$dir/o.safetensors" 2>"$dir/out" &&
        [ ! -e "$dir/o.safetensors" ] && grep -q -- --tensors-only "$dir/out"
}
check "a whole module is refused, and the error says how to read it" refused
names_of() { "$modelfile" tensors info --quiet --json "$@" |
    grep -o '{"name":"[^"]*","type"' | cut -d '"' -f 4; }
only_tensors() {
    "$modelfile" convert --quiet --tensors-only "$module" "$dir/o.safetensors" ||
        return
    names_of "$dir/o.safetensors" | tr '\n' ' ' >"$dir/out"
    names_of --tensors-only "$module" | tr '\n' ' ' >"$dir/other"
    cat "$dir/out" "$dir/other"
    [ "$(cat "$dir/out")" = "model.weight model.part.counts " ] &&
        cmp "$dir/out" "$dir/other"
}
check "its tensors are read with --tensors-only" only_tensors
no_metadata() {
    "$modelfile" info --quiet --tensors-only "$module" >"$dir/out"
    cat "$dir/out"
    ! grep -q epoch "$dir/out"
}
check "and nothing else" no_metadata
still_found() {
    "$modelfile" validate --quiet "$dir/o.safetensors" >"$dir/out" &&
        ! "$modelfile" validate --quiet "$module" >"$dir/out"
}
check "what is written is valid, the module is not" still_found
other_errors() {
    for file in bad-tensor-negated bad-pickle-key bad-pickle-call bad-pickle-inst; do
        "$modelfile" convert --quiet --force --tensors-only "$fixtures/$file.pt" \
            "$dir/x.safetensors" 2>"$dir/err" && echo "$file is converted"
    done
}
check_empty "other errors are not passed over" other_errors

# ---- PyTorch

python=${TORCH_PYTHON:-python3}
# The top folder has a folder of that name, which Python takes for a package.
if ! "$python" -c 'import torch.serialization' >"$dir/out" 2>&1; then
    skip "pickles as PyTorch understands them" "no torch (TORCH_PYTHON)"
    skip "modules as PyTorch has them" "no torch (TORCH_PYTHON)"
    finish
fi

cat >"$dir/compare.py" <<'PY'
# compare.py PROGRAM FOLDER: prints what differs.
import json, os, subprocess, sys, warnings
import torch
import pickles
from pickles import data, make, values, whole, write_old, write_zip

warnings.simplefilter("ignore")
torch.set_num_threads(1)
program, folder = sys.argv[1:]
# Whether PyTorch reads these, depends on the devices of the machine.
machine = {"storage-place", "class-cuda"}

def flat(value, name, out):
    under = lambda key: f"{name}.{key}" if name else str(key)
    if isinstance(value, torch.Tensor):
        out.append((name or "tensor", value))
    elif isinstance(value, (torch.storage.TypedStorage, torch.UntypedStorage)):
        dtype = value.dtype if isinstance(value, torch.storage.TypedStorage) else torch.uint8
        untyped = value._untyped_storage if dtype != torch.uint8 else value
        out.append((name or "tensor", torch.empty(0, dtype=dtype).set_(untyped)))
    elif isinstance(value, dict):
        for at, (key, item) in enumerate(value.items()):
            plain = isinstance(key, (str, int, float, type(None)))
            flat(item, under(key if plain else f"key {at}"), out)
    elif isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        for at, item in enumerate(value):
            flat(item, under(at), out)
    return out
def bytes_of(tensor):
    flat_one = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return flat_one.view(torch.uint8).numpy().tobytes() if flat_one.numel() else b""
def run(*words):
    return subprocess.run([program, *words], capture_output=True)
def judge(path):
    refused = run("validate", "--quiet", path).returncode
    if refused not in (0, 1):
        return f"validate ends with {refused}"
    written = run("convert", "--force", "--quiet", path, path + ".safetensors").returncode == 0
    try:
        real = flat(torch.load(path, weights_only=True), "", [])
    except Exception as error:
        return None if refused and not written else f"PyTorch refuses it: {error!r}"[:200]
    if refused and not written:
        return None
    answer = json.loads(run("tensors", "info", "--json", "--quiet", path).stdout)
    answer = answer["files"][0] if "files" in answer else answer
    listed = [(one["name"], one["shape"]) for one in answer["tensors"]]
    if listed != [(name, list(tensor.shape)) for name, tensor in real]:
        return f"tensors are {listed}"
    for name, tensor in real:
        if "\0" in name: # no argument can have it
            continue
        raw = path + ".raw"
        run("tensors", "export", "--raw", "--force", "--quiet", path, name, raw)
        with open(raw, "rb") as file:
            if file.read() != bytes_of(tensor):
                return f"values of {name}"
    return None

big = ("plain", "v3", "v3-half", "complex", "storage-as", "v2-untyped", "turned", "kind-Double")
count = 0
for name, value in values.items():
    if name in machine:
        continue
    path, body = os.path.join(folder, name + ".pt"), whole(make(value))
    for order in (None,) if pickles.old or name not in big else (None, "big"):
        if pickles.old:
            write_old(path, body)
        else:
            write_zip(path, body, order)
        count += 1
        wrong = judge(path)
        if wrong:
            print(f"{name}{' (big-endian)' if order else ''}: {wrong}")
if count < 300:
    print(f"{count} pickles were compared")
PY

mkdir "$dir/files"
compare() {
    env "$@" PYTHONPATH="$PWD/tests" PYTHONDONTWRITEBYTECODE=1 \
        "$python" "$dir/compare.py" "$modelfile" "$dir/files"
}
check_empty "pickles as PyTorch understands them" compare
check_empty "and as it did before 1.6" compare OLD=1

# The list of globals is PyTorch's, also by the names of Python 2.
cat >"$dir/globals.py" <<'PY'
import re, sys
import torch
from torch import _weights_only_unpickler as unpickler
rows = re.findall(r'^GLOBAL\("([^"]*)",\s*"([^"]*)",\s*(\w+),', open(sys.argv[1]).read(), re.M)
real = unpickler._get_allowed_globals()
if tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 11):
    for module, name, makes in rows:
        module = unpickler.IMPORT_MAPPING.get(module, module)
        if f"{module}.{name}" not in real and makes not in ("WRAPPED", "UNREAD"):
            print(f"PyTorch does not have {module}.{name}")
PY
check_empty "no global is accepted that PyTorch does not" \
    "$python" "$dir/globals.py" torch/globals.def

cat >"$dir/modules.py" <<'PY'
# modules.py PROGRAM FOLDER: prints what differs.
import json, os, struct, subprocess, sys, warnings
import torch
from torch import nn
warnings.simplefilter("ignore")
program, folder = sys.argv[1:]
torch.manual_seed(0)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.layers = nn.ModuleList([nn.Linear(4, 4, bias=False), nn.Conv1d(1, 2, 3)])
        self.several = nn.ParameterList([nn.Parameter(torch.randn(2)), nn.Parameter(torch.randn(3))])
        self.named = nn.ParameterDict({"a": nn.Parameter(torch.randn(2))})
        self.register_buffer("mask", torch.ones(3).bool())
        self.register_buffer("passing", torch.arange(3), persistent=False)
        self.register_parameter("none", None)
        self.note, self.own, self.plain = "a text", [self.norm, {"x": self.layers}], torch.randn(2)
        self.tied = self.again = nn.Linear(2, 2)
class Scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        self.own = nn.Parameter(torch.randn(2))
        self.register_buffer("buffer", torch.randn(3))
    def forward(self, x):
        return self.inner(x) + 1

modules = {"block": Block(), "rnn": nn.LSTM(3, 4, 2), "transformer": nn.Transformer(8, 2, 1, 1, 16),
           "run": {"model": nn.Linear(2, 3), "epoch": 3, "steps": [torch.ones(2)]}}
for name, module in modules.items():
    torch.save(module, f"{folder}/{name}.pt")
    torch.save(module, f"{folder}/{name}-old.pt", _use_new_zipfile_serialization=False)
torch.jit.script(Scripted()).save(f"{folder}/script.pt")
torch.jit.trace(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), torch.ones(1, 3)).save(f"{folder}/trace.pt")

def state(value, prefix=""):
    if isinstance(value, nn.Module):
        value = value.state_dict()
    if isinstance(value, torch.Tensor):
        yield prefix, value
    elif isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from state(item, f"{prefix}.{key}" if prefix else str(key))
for file in sorted(os.listdir(folder)):
    path, out = f"{folder}/{file}", f"{folder}/out"
    jit = file in ("script.pt", "trace.pt")
    real = dict(state(torch.jit.load(path) if jit else torch.load(path, weights_only=False)))
    command = [program, "convert", "--force", "--quiet", path, out, "--to", "safetensors"]
    if subprocess.run(command, capture_output=True).returncode == 0:
        print(f"{file} is converted without --tensors-only")
    # Newer versions of PyTorch keep the inputs that a module was traced with.
    command += ["--tensors-only"] + ["--allow-missing"] * (file == "trace.pt")
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        print(f"{file}: {done.stderr.decode()}")
        continue
    with open(out, "rb") as made:
        data = made.read()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    more = set(head) - set(real) - {"__metadata__"}
    if more != ({"passing", "plain"} if file.startswith("block") else set()):
        print(f"{file}: also {more}")
    for name, tensor in real.items():
        begin, end = head.get(name, {"data_offsets": (0, 0)})["data_offsets"]
        told = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        if name not in head or data[8 + size + begin:8 + size + end] != told:
            print(f"{file}: {name} differs")
PY
mkdir "$dir/modules"
check_empty "modules as PyTorch has them" \
    "$python" "$dir/modules.py" "$modelfile" "$dir/modules"
finish
