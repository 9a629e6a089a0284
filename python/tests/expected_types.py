# SPDX-License-Identifier: MIT
"""What checkers of types say about a program that uses the package.

test_typing.py gives them this file; nothing runs it.  A comment "type: ignore"
marks a mistake that they have to find: mypy reports one that has no effect."""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import ItemsView, ValuesView
from typing import Any, Union

import modelfile
from typing_extensions import assert_type

m = modelfile.open("model.gguf")
assert_type(m, modelfile.Model)
assert_type(m.tensors["x"], modelfile.Tensor)
assert_type(m.tensors["x"].shape, "tuple[int, ...]")
assert_type(m.tensors["x"].type, str)
assert_type(m.tensors["x"].nbytes, int)
assert_type(m.tensors["x"].data, memoryview)
assert_type(m.tensors["x"].tobytes(), bytes)
assert_type(m.tensors["x"].stats().max, Union[int, float])
assert_type(m.tensors.get("x"), Union[modelfile.Tensor, None])
assert_type(m.tensors.values(), ValuesView[modelfile.Tensor])
assert_type(m.tensors.items(), ItemsView[str, modelfile.Tensor])
assert_type([t.name for t in m.tensors.all()], "list[str]")
assert_type(m.metadata["general.name"], Any)
assert_type(m.metadata.type("general.name"), str)
assert_type(m.facts, "dict[str, Any]")
assert_type(m.shards[0].path, str)
assert_type(m.missing[0].reason, str)
assert_type(m.adapter, Union[modelfile.Adapter, None])
assert_type(m.validate(data=True)[0].rule, str)
assert_type(m.hash(), str)
assert_type(m.hash_tensors(), "dict[str, str]")
assert_type(m.uuid(), uuid.UUID)
assert_type(m.duplicates(), "list[list[str]]")
assert_type(m.stats(["x"])["x"], modelfile.Stats)
assert_type(m.imatrix_coverage("x.gguf").tensors[0].cover, str)
with modelfile.open(io.BytesIO(b""), shards="alone") as opened:
    assert_type(opened, modelfile.Model)
modelfile.open(os.open("model.gguf", os.O_RDONLY))
modelfile.open_memory(bytearray(10))

assert_type(modelfile.types()[0].ggml, Union[int, None])
assert_type(modelfile.find_type("q4_k"), Union[modelfile.Type, None])
assert_type(modelfile.detect("x").supported, bool)
assert_type(modelfile.hash_file("x"), str)
assert_type(modelfile.plan("x", fit="24G").fit, Union[modelfile.Fit, None])
assert_type(modelfile.plan(m).total, Union[int, float, None])
assert_type(modelfile.convert(m, "x.gguf", metadata={"k": 1}).file_size, int)
assert_type(modelfile.diff(m, "x")[0].values, Union[modelfile.ValueErrors, None])
assert_type(modelfile.verify("x", "y").follows, bool)
assert_type(modelfile.merge_imatrix(["x"], "y").entries, int)


def shown(done: int, total: int, tensor: str) -> None:
    print(done, total, tensor)


def stopping(done: int, total: int, tensor: str) -> bool:
    return done < total // 2


quantized = modelfile.quantize(m, "x.gguf", "Q4_K_M", progress=shown)
assert_type(quantized.tensors[0].shape, "tuple[int, ...]")
assert_type(quantized.types["q4_k"].rmse, Union[float, None])
several = modelfile.quantize_many(m, {"Q4_K_M": "x.gguf"}, pure=True)
assert_type(several["Q4_K_M"].file_size, int)
modelfile.convert(m, "x.gguf", progress=stopping)
modelfile.convert(m, "x.gguf", progress=True)

with modelfile.edit("x.gguf") as e:
    e.metadata["general.name"] = "new"
    del e.metadata["general.url"]
assert_type(e.result, Union[modelfile.Edited, None])
with modelfile.Writer("x.gguf", metadata={"a": modelfile.Typed("u64", 3)}) as w:
    w.add("x", (2, 3), "f32")
    w.write("x", bytes(24))
try:
    modelfile.recover("x.gguf")
except modelfile.CorruptError as error:
    assert_type(error.rule, str)
    assert_type(error.offset, Union[int, None])

# ---- mistakes

modelfile.open("x", shards="some")  # type: ignore[arg-type]
modelfile.open(1.5)  # type: ignore[arg-type]
modelfile.open(io.StringIO(""))  # type: ignore[arg-type]
modelfile.convert("x")  # type: ignore[call-arg]
modelfile.convert("x", "y", names="other")  # type: ignore[arg-type]
modelfile.plan("x", flash="maybe")  # type: ignore[arg-type]
modelfile.quantize("x", "y", "Q8_0", progress=len)  # type: ignore[arg-type]
m.validate(readers="ollama")  # type: ignore[arg-type]
m.tensors["x"].shapes  # type: ignore[attr-defined]
m.tensors["x"] = 1  # type: ignore[index]
modelfile.nonsense  # type: ignore[attr-defined]
