#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# turned.py - a model of 72 MB that lists its last tensor first, for tests of
# reading in order
#
#     turned.py OUT.safetensors
import json
import struct
import sys

SIZE = 24 * 1024 * 1024
header = {
    f"tensor.{number}": {
        "dtype": "F32",
        "shape": [SIZE // 4096, 1024],
        "data_offsets": [SIZE * (2 - number), SIZE * (3 - number)],
    }
    for number in range(3)
}
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<Q", len(text)) + text)
    out.truncate(out.tell() + 3 * SIZE)
