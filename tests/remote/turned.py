#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# turned.py - a model of 72 MB whose largest tensors are the last, for tests of
# reading in order
#
#     turned.py OUT.gguf
import struct
import sys


def text(value):
    return struct.pack("<Q", len(value)) + value


sizes = [5 * 1024 * 1024, 6 * 1024 * 1024, 7 * 1024 * 1024]
with open(sys.argv[1], "wb") as out:
    out.write(b"GGUF" + struct.pack("<IQQ", 3, len(sizes), 1))
    out.write(text(b"general.architecture") + struct.pack("<I", 8) + text(b"toy"))
    at = 0
    for number, size in enumerate(sizes):
        out.write(text(b"tensor.%d" % number) + struct.pack("<IQIQ", 1, size, 0, at))
        at += 4 * size
    out.write(bytes(-out.tell() % 32))
    out.truncate(out.tell() + at)
