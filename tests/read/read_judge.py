# SPDX-License-Identifier: MIT
#
# read_judge.py - compares what the library reads with what others do
#
#     read_judge.py numpy|torch|gguf|safetensors DUMP FOLDER FILE...
#
# DUMP is build/tests/dump.  Prints a line for each tensor that differs, and in
# the end how many were compared.
import os
import subprocess
import sys

import numpy as np


def from_numpy(path):
    if path.endswith(".npy"):
        return {"arr_0": np.load(path)}
    with np.load(path) as file:
        found = {}
        for name in file.files:
            try:
                found[name] = file[name]
            except ValueError:  # of objects
                pass
        return found


def tensors_in(value, name, found):
    import torch

    if isinstance(value, torch.Tensor):
        found[name] = value
    elif isinstance(value, dict):
        for key, inner in value.items():
            tensors_in(inner, f"{name}.{key}" if name else str(key), found)
    elif isinstance(value, (list, tuple)):
        for key, inner in enumerate(value):
            tensors_in(inner, f"{name}.{key}" if name else str(key), found)


def from_torch(path):
    import torch

    found = {}
    tensors_in(torch.load(path, weights_only=True, map_location="cpu"), "",
               found)
    wide = {}
    for name, tensor in found.items():
        if tensor.is_sparse or tensor.is_quantized or tensor.is_complex():
            continue
        if tensor.is_floating_point():
            tensor = tensor.to(torch.float64)
        wide[name] = tensor.detach().resolve_neg().contiguous().numpy()
    return wide


def from_safetensors(path):
    import torch  # of safetensors' readers the one that knows all types
    from safetensors import safe_open

    found = {}
    with safe_open(path, "pt") as file:
        for name in file.keys():
            tensor = file.get_tensor(name)
            if tensor.is_floating_point():
                tensor = tensor.to(torch.float64)
            found[name] = tensor.numpy()
    return found


def from_gguf(path):
    from gguf import GGUFReader
    from gguf.quants import dequantize

    found = {}
    file = GGUFReader(path)
    for tensor in file.tensors:
        try:
            data = tensor.data
            if tensor.tensor_type.name not in (
                    "F32", "F16", "F64", "I8", "I16", "I32", "I64"):
                if file.endianess.name == "BIG":
                    continue  # taken for little-endian blocks
                data = dequantize(data, tensor.tensor_type)
            found[tensor.name] = np.asarray(data)
        except NotImplementedError:
            pass
    return found


def main():
    readers = {"numpy": from_numpy, "torch": from_torch, "gguf": from_gguf,
               "safetensors": from_safetensors}
    kind, dump, folder, *paths = sys.argv[1:]
    compared = 0
    for path in paths:
        try:
            theirs = readers[kind](path)
        except Exception as error:  # it does not read the file at all
            print(f"# {path}: {error}", file=sys.stderr)
            continue
        lines = subprocess.run([dump, path, folder], capture_output=True,
                               text=True, check=False)
        ours = {}
        for number, line in enumerate(lines.stdout.splitlines()):
            what, count, name = line.split(" ", 2)
            if what != "none":
                ours[name] = np.fromfile(
                    os.path.join(folder, str(number)), dtype=
                    np.int64 if what == "i64" else np.float64)
        for name, values in theirs.items():
            if values.dtype.kind not in "biuf":
                continue
            if name not in ours:
                print(f"{path}: {name} is not read: {lines.stderr}")
                continue
            mine = ours[name]
            flat = values.reshape(-1)
            if mine.dtype == np.int64 and flat.dtype.kind in "biu":
                same = np.array_equal(mine, flat.astype(np.int64))
            else:
                same = np.array_equal(mine, flat.astype(np.float64),
                                      equal_nan=True)
            compared += 1
            if not same:
                print(f"{path}: {name} differs")
    print(f"{compared} tensors")


main()
