# SPDX-License-Identifier: MIT
"""Files from memory, and back: serialize, deserialize."""

from __future__ import annotations

import ctypes
import io
import os
from collections.abc import Sequence
from typing import Any

from ..._errors import Error
from ..._model import open_memory
from ..._tables import block_of
from ..._writer import Writer
from ._errors import SafetensorError, checked, converted

#: numpy's and torch's names of types
_TYPES = {
    "bool": "bool",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "i32",
    "uint32": "u32",
    "int64": "i64",
    "uint64": "u64",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "bfloat16": "bf16",
    "complex64": "c64",
    "float8_e4m3fn": "f8_e4m3",
    "float8_e4m3fnuz": "f8_e4m3fnuz",
    "float8_e5m2": "f8_e5m2",
    "float8_e5m2fnuz": "f8_e5m2fnuz",
    "float8_e8m0fnu": "f8_e8m0",
    "float4_e2m1fn_x2": "f4",
}
# In a file larger types come first, and of the same size in this order.
_ORDER = (
    *("u64", "i64", "f64", "c64", "f32", "u32", "i32", "bf16", "f16", "u16", "i16"),
    *("f8_e5m2fnuz", "f8_e4m3fnuz", "f8_e8m0", "f8_e4m3", "f8_e5m2", "i8", "u8"),
    *("f4", "bool"),
)


class TensorSpec:
    """A tensor in memory: its type, its shape, the address and size of its bytes.

    They have to stay there until they are written."""

    __slots__ = ("_type", "_shape", "_data_ptr", "_data_len")

    def __init__(
        self, *, dtype: str, shape: Sequence[int], data_ptr: int, data_len: int
    ) -> None:
        if not isinstance(dtype, str):
            raise TypeError(f"dtype is a str such as 'float32', not {dtype!r}")
        if dtype not in _TYPES:
            raise SafetensorError(
                f"unknown type {dtype!r}: {', '.join(_TYPES)} are known"
            )
        if isinstance(shape, int):
            raise TypeError("shape is a sequence of numbers")
        self._type = _TYPES[dtype]
        self._shape = [_unsigned("shape", each) for each in shape]
        if self._type == "f4" and self._shape:
            self._shape[-1] *= 2  # of numbers, two in a byte
        self._data_ptr = _unsigned("data_ptr", data_ptr)
        self._data_len = _unsigned("data_len", data_len)

    @property
    def dtype(self) -> str:
        return self._type.upper()

    @property
    def shape(self) -> list[int]:
        return list(self._shape)

    @property
    def data_ptr(self) -> int:
        return self._data_ptr

    @property
    def data_len(self) -> int:
        return self._data_len

    def __repr__(self) -> str:
        return (
            f"TensorSpec(dtype={self.dtype!r}, shape={self._shape}, "
            f"data_ptr={self._data_ptr}, data_len={self._data_len})"
        )

    def _bytes(self) -> Any:
        kind = ctypes.c_char * self._data_len
        return memoryview(kind.from_address(self._data_ptr)) if self._data_len else b""

    def _check(self) -> None:
        block, size = block_of(self._type) or (1, 1)
        count = 1
        for each in self._shape:
            count *= each
        if count % block or count // block * size != self._data_len:
            raise SafetensorError(
                "Error while serializing: invalid shape, data type, or offset for "
                f"tensor: {self.dtype} of shape {self._shape} is not "
                f"{self._data_len} bytes"
            )


def _unsigned(name: str, value: Any) -> int:
    number: int = value.__index__()
    if not 0 <= number < 2**64:
        raise OverflowError(f"{name} cannot be {number}")
    return number


def _check(tensors: Any, metadata: Any) -> None:
    if not isinstance(tensors, dict):
        raise TypeError(f"expected a dict of tensors, not {tensors.__class__.__name__}")
    if metadata is not None and not isinstance(metadata, dict):
        raise TypeError(f"metadata is a dict, not {metadata.__class__.__name__}")
    for name, spec in tensors.items():
        if not isinstance(name, str) or not isinstance(spec, TensorSpec):
            raise TypeError(
                f"expected a TensorSpec for each name, not {name!r}: {spec!r}"
            )
        spec._check()
    for key, value in (metadata or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"metadata has texts alone, not {key!r}: {value!r}")


def _write(target: Any, tensors: Any, metadata: Any) -> None:
    _check(tensors, metadata)
    rows = sorted(tensors.items(), key=lambda row: (_ORDER.index(row[1]._type), row[0]))
    try:
        with Writer(
            target, format="safetensors", metadata=metadata, replace=True
        ) as writer:
            for name, spec in rows:
                writer.add(name, spec._shape, spec._type)
            for name, spec in rows:
                writer.write(name, spec._bytes())
    except (Error, ValueError) as error:
        raise converted("serializing", error) from error


def serialize(
    tensor_dict: dict[str, TensorSpec], metadata: dict[str, str] | None = None
) -> bytes:
    """The bytes of a file with these tensors."""
    target = io.BytesIO()
    _write(target, tensor_dict, metadata)
    return target.getvalue()


def serialize_file(
    tensor_dict: dict[str, TensorSpec],
    filename: str | os.PathLike[str],
    metadata: dict[str, str] | None = None,
) -> None:
    """Writes a file, which appears when it is whole."""
    _write(os.fspath(filename), tensor_dict, metadata)


def deserialize(data: bytes) -> list[tuple[str, dict[str, Any]]]:
    """Each tensor's name, with "shape", "dtype" and "data", in the order of the
    data; of a type that numpy or torch may lack, too."""
    if not isinstance(data, bytes):
        raise TypeError(f"expected bytes, not {data.__class__.__name__}")
    try:
        model = checked(open_memory(data))
    except Error as error:
        raise converted("deserializing", error) from error
    out = []
    with model:
        for each in sorted(model.tensors.all(), key=lambda each: each.offset):
            content = bytearray(each.nbytes)
            each.read_into(content)
            fields = {
                "shape": list(each.shape),
                "dtype": each.type.upper(),
                "data": content,
            }
            out.append((each.name, fields))
    return out
