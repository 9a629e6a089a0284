# SPDX-License-Identifier: MIT
#
# metadata.py - the digest of a model's metadata, computed as docs/cli.md says
#
#     metadata.py make FOLDER      GGUF files with the same metadata
#     metadata.py digest FILE...   the SHA-256 of each file's metadata
#
# Nothing here is the program's: it reads the files by itself.

import hashlib
import json
import os
import struct
import sys

FORMS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?",
         10: "Q", 11: "q", 12: "d"}
STRING, ARRAY, NULL, OBJECT, FILE = 8, 9, 13, 14, 16
LAYOUT = (b"general.alignment", b"split.no", b"split.count",
          b"split.tensors.count")
FILES = """config.json adapter_config.json tokenizer.json tokenizer_config.json
generation_config.json preprocessor_config.json processor_config.json
chat_template.jinja chat_template.json params.json special_tokens_map.json
added_tokens.json merges.txt vocab.json tokenizer.model tokenizer.model.v1
tokenizer.model.v2 tokenizer.model.v3 tokenizer.model.v3m1 tokenizer.model.v7
tokenizer.model.v7m1 spiece.model sentencepiece.bpe.model hf_quant_config.json
modules.json 1_Pooling/config.json tekken.json""".split()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def little(kind, value):
    """A value as GGUF 3 has it, without its type."""
    if kind == STRING:
        return struct.pack("<Q", len(value)) + value
    if kind == ARRAY:
        of, elements = value
        return struct.pack("<IQ", of, len(elements)) + b"".join(
            little(of, element) for element in elements)
    return struct.pack("<" + FORMS[kind], value)


def text(value):
    """Compact JSON, but a number with a fraction as its bits."""
    if isinstance(value, dict):
        return "{" + ",".join(text(key) + ":" + text(member)
                              for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(text(element) for element in value) + "]"
    if isinstance(value, float):
        return "0x" + struct.pack(">d", value).hex()
    return json.dumps(value, ensure_ascii=False)


def combine(entries):
    lines = [(key, sha256(struct.pack("<I", kind) + data))
             for key, kind, data in entries]
    return sha256(b"".join(digest.encode() + b"  " + key + b"\n"
                           for key, digest in sorted(lines)))


# ---- GGUF

class Reader:
    def __init__(self, data):
        self.data = data
        self.at = 4
        self.order = "<"
        if struct.unpack_from("<I", data, 4)[0] >= 1 << 16:
            self.order = ">"
        self.version = self.number(4)
        assert self.version in (2, 3)

    def number(self, kind):
        form = self.order + FORMS[kind]
        value = struct.unpack_from(form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def value(self, kind):
        if kind == STRING:
            size = self.number(10)
            self.at += size
            return self.data[self.at - size:self.at]
        if kind == ARRAY:
            of, count = self.number(4), self.number(10)
            return of, [self.value(of) for _ in range(count)]
        return self.number(kind)


def gguf(data):
    reader = Reader(data)
    reader.number(10)
    for _ in range(reader.number(10)):
        key = reader.value(STRING)
        kind = reader.number(4)
        value = reader.value(kind)
        if key not in LAYOUT:
            yield key, kind, little(kind, value)


# ---- JSON

def member(key, value):
    key = key.encode()
    if value is None:
        return key, NULL, b""
    if isinstance(value, bool):
        return key, 7, little(7, value)
    if isinstance(value, int):
        kind = 10 if value >= 0 else 11
        return key, kind, little(kind, value)
    if isinstance(value, float):
        return key, 12, little(12, value)
    if isinstance(value, str):
        return key, STRING, little(STRING, value.encode())
    kind = ARRAY if isinstance(value, list) else OBJECT
    return key, kind, text(value).encode()


def apr(data):
    offset, = struct.unpack_from("<Q", data, 12)
    size, = struct.unpack_from("<I", data, 20)
    for key, value in json.loads(data[offset:offset + size]).items():
        yield member(key, value)


def safetensors(data, folder):
    size, = struct.unpack_from("<Q", data, 0)
    header = json.loads(data[8:8 + size])
    for key, value in header.get("__metadata__", {}).items():
        yield member(key, value)
    names = list(FILES)
    more = "additional_chat_templates"
    if os.path.isdir(os.path.join(folder, more)):
        names += [more + "/" + name
                  for name in os.listdir(os.path.join(folder, more))
                  if name.endswith(".jinja")]
    for name in names:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                yield name.encode(), FILE, file.read()


def entries(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] == b"GGUF":
        return gguf(data)
    if data[:4] == b"APR\0":
        return apr(data)
    return safetensors(data, os.path.dirname(path))


# ---- files

def make(folder):
    rows = [
        (b"general.architecture", STRING, b"tiny"),
        (b"general.name", STRING, b"A name\n\xc3\xa4\xf0\x9f\x8e\x89"),
        (b"tiny.context_length", 4, 4096),
        (b"tiny.u8", 0, 200), (b"tiny.i8", 1, -3), (b"tiny.u16", 2, 60000),
        (b"tiny.i16", 3, -300), (b"tiny.i32", 5, -70000), (b"tiny.f32", 6, 1.5),
        (b"tiny.bool", 7, True), (b"tiny.u64", 10, 1 << 63),
        (b"tiny.i64", 11, -1 << 40), (b"tiny.f64", 12, 0.1),
        (b"tokenizer.chat_template", STRING, b"{{ x }}" * 5000),
        (b"tokenizer.ggml.tokens", ARRAY,
         (STRING, [b"<s>", b"", b"t" * 20000, b"\xe4\xb8\x89"] * 500)),
        (b"tokenizer.ggml.scores", ARRAY, (6, [i / 8 for i in range(2000)])),
        (b"tiny.flags", ARRAY, (7, [True, False, True])),
        (b"tiny.nested", ARRAY, (ARRAY, [(5, [1, -2]), (STRING, [b"a"]),
                                         (0, [])])),
        (b"tiny.empty", ARRAY, (STRING, [])),
    ]
    alignment = (b"general.alignment", 4, 64)
    split = [(b"split.no", 2, 0), (b"split.count", 2, 1),
             (b"split.tensors.count", 5, 1)]
    variants = {
        "v3": ("<", 3, rows), "v2": ("<", 2, rows), "big": (">", 3, rows),
        "reversed": ("<", 3, rows[::-1]),
        "aligned": ("<", 3, [alignment] + rows),
        "split": ("<", 3, rows + split),
        "changed": ("<", 3, rows[:-1] + [(b"tiny.empty", ARRAY, (0, []))]),
        "renamed": ("<", 3, rows[:-1] + [(b"tiny.nil",) + rows[-1][1:]]),
    }
    for name, (order, version, some) in variants.items():
        with open(os.path.join(folder, name + ".gguf"), "wb") as file:
            file.write(written(order, version, some))


def number(order, kind, value):
    return struct.pack(order + FORMS[kind], value)


def encoded(order, kind, value):
    if kind == STRING:
        return number(order, 10, len(value)) + value
    if kind == ARRAY:
        return number(order, 4, value[0]) + number(
            order, 10, len(value[1])) + b"".join(
                encoded(order, value[0], element) for element in value[1])
    return number(order, kind, value)


def written(order, version, rows):
    alignment = 64 if rows[0][0] == b"general.alignment" else 32
    out = b"GGUF" + number(order, 4, version) + number(order, 10, 1)
    out += number(order, 10, len(rows))
    for key, kind, value in rows:
        out += encoded(order, STRING, key) + number(order, 4, kind)
        out += encoded(order, kind, value)
    out += encoded(order, STRING, b"a.weight") + number(order, 4, 1)
    out += number(order, 10, 4) + number(order, 4, 0) + number(order, 10, 0)
    return out + b"\0" * (-len(out) % alignment) + b"\0" * alignment


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    for path in sys.argv[2:]:
        print(combine(entries(path)))
