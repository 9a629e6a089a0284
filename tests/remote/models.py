#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# models.py - models with long headers, for tests of reading over a network
#
#     models.py BIG.safetensors VOCAB.gguf
import json
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


def text(value):
    return struct.pack("<Q", len(value)) + value


def gguf(path):
    words = b"".join(text(b"token%06d" % i) for i in range(330000))
    with open(path, "wb") as out:
        out.write(b"GGUF" + struct.pack("<IQQ", 3, 0, 2))
        out.write(text(b"general.architecture") + struct.pack("<I", 8) + text(b"toy"))
        out.write(text(b"tokenizer.ggml.tokens"))
        out.write(struct.pack("<IIQ", 9, 8, 330000) + words)


safetensors(sys.argv[1])
gguf(sys.argv[2])
