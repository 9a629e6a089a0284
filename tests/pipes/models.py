#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# models.py - models that are larger than what is read of a pipe for a header
#
#     models.py FOLDER
#
# Writes good and bad ones of a megabyte, and copies of each that were cut off or
# have more bytes at the end.
import json
import os
import struct
import sys

folder = sys.argv[1]


def save(name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def floats(count, first=1, step=0.25):
    return struct.pack(f"<{count}f", *(first + step * (i % 977) for i in range(count)))


NAN = struct.pack("<f", float("nan"))
ONES = struct.pack("<f", 1.0)
ROW = floats(150000)  # longer than what is scanned at once

# Name, shape with the contiguous dimension last, numbers.
GOOD = [
    ("first.weight", (64, 500), floats(32000)),
    ("long.rows", (2, 150000), ROW + floats(150000, 2)),
    ("odd.bias", (5,), floats(5)),
    ("last.weight", (50, 700), floats(35000, 3)),
]
BAD = [
    ("first.weight", (64, 500), floats(16000) + NAN * 3 + floats(15997)),
    ("long.rows.same", (2, 150000), ROW + ROW),
    ("same.weight", (64, 500), floats(500) * 64),
    ("nearly.same.weight", (64, 500), floats(500) * 63 + floats(499) + NAN),
    ("zero.weight", (40, 100), bytes(16000)),
    ("odd.bias", (5,), floats(4) + NAN),
    ("last.weight", (50, 700), ONES * 34999 + NAN),
]


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def gguf(tensors, padding=b"\0", end=True, move=0):
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1)
    head += text("general.architecture") + struct.pack("<I", 8) + text("toy")
    data = b""
    for name, shape, numbers in tensors:
        head += text(name) + struct.pack("<I", len(shape))
        for size in reversed(shape):
            head += struct.pack("<Q", size)
        last = name == tensors[-1][0]
        head += struct.pack("<IQ", 0, len(data) - (move if last else 0))
        data += numbers + (padding * (-len(numbers) % 32) if end or not last else b"")
    return head + b"\0" * (-len(head) % 32) + data


def safetensors(tensors, gap=0):
    header, data = {}, b""
    for name, shape, numbers in tensors:
        end = len(data) + len(numbers)
        header[name] = {
            "dtype": "F32",
            "shape": shape,
            "data_offsets": [len(data), end],
        }
        data += numbers + b"x" * gap
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + data


def npy(shape, data, order="False"):
    head = f"{{'descr': '<f4', 'fortran_order': {order}, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data


def cut(name, data, header):
    suffix = name[name.rindex(".") :]
    stem = name[: -len(suffix)]
    places = [header // 2, header, header + 70000, 200000, len(data) // 2]
    places += [len(data) - 70000, len(data) - 33, len(data) - 8, len(data) - 1]
    for at in places:
        save(f"{stem}-cut-{at}{suffix}", data[:at])
    for more in (b"\0", b"\0" * 40, b"x", b"x" * 5000, b"x" * 100000):
        save(f"{stem}-and-{len(more)}-{more[0]}{suffix}", data + more)


MODELS = {
    "good.gguf": (gguf(GOOD), 300),
    "bad.gguf": (gguf(BAD), 500),
    "bare-end.gguf": (gguf(GOOD[:3], end=False), 300),
    "dirty.gguf": (gguf(BAD[:6], padding=b"p"), 500),
    "overlap.gguf": (gguf(GOOD, move=64), 300),
    "good.safetensors": (safetensors(GOOD), 300),
    "bad.safetensors": (safetensors(BAD), 500),
    "gaps.safetensors": (safetensors(GOOD, 3), 300),
    "array.npy": (npy((300, 500), floats(150000)), 128),
    "bad.npy": (npy((300, 500), floats(149999) + NAN), 128),
    "columns.npy": (npy((300, 500), floats(150000), "True"), 128),
}

for name, (data, header) in MODELS.items():
    save(name, data)
    cut(name, data, header)
