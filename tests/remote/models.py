#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# models.py - models with long headers, for tests of reading over a network
#
#     models.py BIG.safetensors VOCAB.gguf [TWO.safetensors|SHARDS]
#
# SHARDS is a folder: 90,000 tensors in 163 files with an index.json.  Prints how
# many bytes that and the headers have.
import json
import os
import random
import struct
import sys


def safetensors(path):
    header, at = {}, 0
    for i in range(7000):
        name = f"model.layers.{i}.mlp.down_proj.with_a_long_name.weight"
        header[name] = {
            "dtype": "F32",
            "shape": [6, 50],
            "data_offsets": [at, at + 1200],
        }
        at += 1200
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    data = struct.pack("<300f", *(random.Random(1).random() for _ in range(300)))
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data * 7000)


def two(path):
    """The larger tensor comes second."""
    header = {
        "a": {"dtype": "F32", "shape": [512, 512], "data_offsets": [0, 1 << 20]},
        "b": {"dtype": "F32", "shape": [1024, 1024], "data_offsets": [1 << 20, 5 << 20]},
    }
    data = struct.pack("<1024f", *(random.Random(2).random() for _ in range(1024)))
    with open(path, "wb") as out:
        name = json.dumps(header).encode().ljust(256)
        out.write(struct.pack("<Q", len(name)) + name + data * 1280)


def text(value):
    return struct.pack("<Q", len(value)) + value


def gguf(path):
    words = b"".join(text(b"token%06d" % i) for i in range(330000))
    with open(path, "wb") as out:
        out.write(b"GGUF" + struct.pack("<IQQ", 3, 0, 2))
        out.write(text(b"general.architecture") + struct.pack("<I", 8) + text(b"toy"))
        out.write(text(b"tokenizer.ggml.tokens"))
        out.write(struct.pack("<IIQ", 9, 8, 330000) + words)


def shards(folder):
    count, tensors, listed, size = 163, 90000, {}, 0
    os.mkdir(folder)
    for shard in range(count):
        name = f"model-{shard + 1:05}-of-{count:05}.safetensors"
        header = {"__metadata__": {"format": "pt"}}
        first, end = (tensors * i // count for i in (shard, shard + 1))
        for i in range(first, end):
            # layers of other sizes: headers differ
            key = f"model.layers.{i // 900}.mlp.experts.{i}.down_proj.weight"
            header[key] = {
                "dtype": "F32",
                "shape": [512],
                "data_offsets": [2048 * (i - first), 2048 * (i - first + 1)],
            }
            listed[key] = name
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with open(os.path.join(folder, name), "wb") as out:
            out.write(struct.pack("<Q", len(text)) + text)
            size += out.tell()
            out.truncate(out.tell() + 2048 * (end - first))
    index = {"metadata": {"total_size": 2048 * tensors}, "weight_map": listed}
    with open(
        os.path.join(folder, "model.safetensors.index.json"), "w", encoding="ascii"
    ) as out:
        json.dump(index, out)
        print(size + out.tell())


safetensors(sys.argv[1])
gguf(sys.argv[2])
if len(sys.argv) > 3:
    (two if sys.argv[3].endswith(".safetensors") else shards)(sys.argv[3])
