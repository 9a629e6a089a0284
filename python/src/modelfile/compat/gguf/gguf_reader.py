# SPDX-License-Identifier: MIT
"""GGUFReader: fields and tensors of a GGUF file as views of a map of it.

The library reads the header; fields and tensors are made when they are asked
for, so that a vocabulary costs nothing before its tokens are.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

from ... import _abi
from ..._arrays import numpy
from ..._errors import Error
from ..._library import lib
from ..._model import Model
from ..._model import open as open_model
from .constants import (
    GGML_MAX_DIMS,
    GGML_QUANT_SIZES,
    GGUF_DEFAULT_ALIGNMENT,
    GGUF_VERSION,
    GGMLQuantizationType,
    GGUFEndian,
    GGUFValueType,
)
from .quants import quant_shape_to_byte_shape

READER_SUPPORTED_VERSIONS = [2, GGUF_VERSION]

_DTYPES = {
    GGUFValueType.UINT8: "uint8",
    GGUFValueType.INT8: "int8",
    GGUFValueType.UINT16: "uint16",
    GGUFValueType.INT16: "int16",
    GGUFValueType.UINT32: "uint32",
    GGUFValueType.INT32: "int32",
    GGUFValueType.FLOAT32: "float32",
    GGUFValueType.UINT64: "uint64",
    GGUFValueType.INT64: "int64",
    GGUFValueType.FLOAT64: "float64",
    GGUFValueType.BOOL: "bool",
}
#: types of tensors whose data is an array of numbers; of others it is bytes
_NUMBERS = {
    GGMLQuantizationType[name]: dtype
    for name, dtype in {
        "F16": "float16",
        "F32": "float32",
        "F64": "float64",
        "I8": "int8",
        "I16": "int16",
        "I32": "int32",
        "I64": "int64",
    }.items()
}


class ReaderField(NamedTuple):
    """A key of metadata, or what the header says of a tensor."""

    offset: int  #: in the file
    name: str
    parts: Sequence[Any] = ()  #: all of its bytes, as arrays
    data: Sequence[int] = (-1,)  #: which of the parts are the value
    types: list[GGUFValueType] = []  #: of an array, that of its elements, too

    def contents(self, index_or_slice: int | slice = slice(None)) -> Any:
        """The value as Python's; of an array an element, or a list of some."""
        if not self.types:
            return None
        if self.types[0] == GGUFValueType.STRING:
            return _text(self.parts[-1])
        if self.types[0] != GGUFValueType.ARRAY:
            return self.parts[-1].tolist()[0]
        strings = self.types[-1] == GGUFValueType.STRING
        if isinstance(index_or_slice, int):
            part = self.parts[self.data[index_or_slice]]
            return _text(part) if strings else part.tolist()[0]
        if isinstance(self.parts, _Parts):
            return self.parts.values(index_or_slice)
        some = [self.parts[each] for each in self.data[index_or_slice]]
        if strings:
            return [_text(each) for each in some]
        return [value for each in some for value in each.tolist()]


def _text(part: Any) -> str:
    return str(part.tobytes(), "utf-8")


class ReaderTensor(NamedTuple):
    """A tensor: `data` is a view of the file, of bytes where it is quantized."""

    name: str
    tensor_type: Any
    shape: Any  #: fastest dimension first, as the file has it
    n_elements: int
    n_bytes: int
    data_offset: int
    data: Any
    field: ReaderField


class _Parts(Sequence[Any]):
    """Parts of an array: those before its elements, then one for each number, or
    two for each string: its length and its bytes."""

    def __init__(self, reader: GGUFReader, head: list[Any], at: int, type: Any) -> None:
        self._reader = reader
        self._head = head
        self._at = at  # of the first element
        self._type = type
        self._count = int(head[-1][0])
        self._spans: list[tuple[int, int]] | None = None
        self._whole: Any = None

    @property
    def strings(self) -> bool:
        return bool(self._type == GGUFValueType.STRING)

    def spans(self) -> list[tuple[int, int]]:
        """Offset and size of each string."""
        if self._spans is None:
            unpack = struct.Struct(self._reader.order + "Q").unpack_from
            memory, at, spans = self._reader.memory, self._at, []
            for _ in range(self._count):
                (size,) = unpack(memory, at)
                spans.append((at + 8, size))
                at += 8 + size
            self._spans = spans
        return self._spans

    def values(self, some: slice) -> list[Any]:
        """Elements as Python's values, at once."""
        if not self.strings:
            out: list[Any] = self._numbers()[some].tolist()
            return out
        memory = self._reader.memory
        return [str(memory[at : at + size], "utf-8") for at, size in self.spans()[some]]

    def _numbers(self) -> Any:
        if self._whole is None:
            self._whole = self._reader._get(self._at, _DTYPES[self._type], self._count)
        return self._whole

    def __len__(self) -> int:
        return len(self._head) + self._count * (2 if self.strings else 1)

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> list[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self[each] for each in range(len(self))[at]]
        at = range(len(self))[at]  # below zero, too; IndexError past the end
        if at < len(self._head):
            return self._head[at]
        at -= len(self._head)
        if not self.strings:
            return self._numbers()[at : at + 1]
        start, size = self.spans()[at // 2]
        if at % 2:
            return self._reader._get(start, "uint8", size)
        return self._reader._get(start - 8, "uint64")

    def __iter__(self) -> Iterator[Any]:
        return (self[at] for at in range(len(self)))


class _Row(NamedTuple):
    """Of a key of metadata."""

    offset: int
    type: GGUFValueType
    of: GGUFValueType
    length: int  # elements of an array


class _Fields(Mapping[str, ReaderField]):
    """Fields by name, in the order of the file, made when they are asked for."""

    def __init__(self, reader: GGUFReader, rows: dict[str, _Row]) -> None:
        self._reader = reader
        self._rows = rows
        self._made: dict[str, ReaderField] = {}

    def __getitem__(self, name: str) -> ReaderField:
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = self._reader._field(name, self._rows[name])
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __reversed__(self) -> Iterator[str]:
        return iter([*self._rows][::-1])


class _TensorRow(NamedTuple):
    offset: int  # of the field
    name: str
    name_size: int
    rank: int


class _Tensors(Sequence[ReaderTensor]):
    """Tensors in the order of the file, made when they are asked for."""

    def __init__(self, reader: GGUFReader, rows: list[_TensorRow]) -> None:
        self._reader = reader
        self._rows = rows
        self._made: dict[int, ReaderTensor] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> ReaderTensor: ...
    @overload
    def __getitem__(self, at: slice) -> list[ReaderTensor]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self[each] for each in range(len(self))[at]]
        at = range(len(self))[at]
        if at not in self._made:
            self._made[at] = self._reader._tensor(self._rows[at])
        return self._made[at]

    def __iter__(self) -> Iterator[ReaderTensor]:
        return (self[at] for at in range(len(self)))


def _opened(path: Any) -> Model:
    try:
        return open_model(path, shards="alone")
    except Error as error:
        if isinstance(error, (OSError, MemoryError)):
            raise
        reason = str(error)
        if error.rule == "FILE-RANK":
            reason += f", so it exceeds GGML_MAX_DIMS ({GGML_MAX_DIMS})"
        raise ValueError(reason) from error


def _raw(text: Any) -> bytes:
    """The bytes of a struct mf_str."""
    return ctypes.string_at(text.at, text.size) if text.size else b""


class GGUFReader:
    """Reads a file; mode "r+" changes it where a part is written to, and "c" only
    what the program sees of it."""

    byte_order: str = "I"  #: "S": not this machine's
    alignment: int = GGUF_DEFAULT_ALIGNMENT
    data_offset: int

    @property
    def gguf_scalar_to_np(self) -> dict[GGUFValueType, Any]:
        """numpy's types of values."""
        return {each: numpy().dtype(name).type for each, name in _DTYPES.items()}

    def __init__(self, path: str | os.PathLike[str], mode: str = "r") -> None:
        self.data = numpy().memmap(path, mode=mode)
        self.memory = memoryview(self.data)
        with _opened(path) as model:
            self._begin(model)
            rows, end = self._rows(model)
            self.fields = _Fields(self, rows)
            tensors = self._tensor_rows(model, end)
            self.data_offset = model.data_offset
            self._check_alignment()
        self.tensors: Sequence[ReaderTensor] = _Tensors(self, tensors)

    def _begin(self, model: Model) -> None:
        if model.format != "gguf":
            raise ValueError(f"the file is {model.format}, not GGUF")
        if model.version not in READER_SUPPORTED_VERSIONS:
            raise ValueError(f"version {model.version} of GGUF is not supported")
        if model.pending_edit:
            raise ValueError("an edit was interrupted: modelfile.recover() ends it")
        if model.byte_order != sys.byteorder:
            self.byte_order = "S"
        big = model.byte_order == "big"
        self.endianess = GGUFEndian.BIG if big else GGUFEndian.LITTLE
        self.order = ">" if big else "<"

    # ---- bytes

    def _get(
        self, offset: int, dtype: Any, count: int = 1, override_order: str | None = None
    ) -> Any:
        """An array of numbers that is a view of the file."""
        kind = numpy().dtype(dtype)
        if count and not 0 <= offset + kind.itemsize * count <= len(self.memory):
            raise ValueError(f"{count} {kind} at {offset} pass the end of the file")
        order = self.byte_order if override_order is None else override_order
        view = self.data[offset : offset + kind.itemsize * count].view(kind)
        return view if order == "I" else view.view(kind.newbyteorder(order))

    def _string(self, offset: int) -> list[Any]:
        size = self._get(offset, "uint64")
        return [size, self._get(offset + 8, "uint8", int(size[0]))]

    # ---- fields

    def _rows(self, model: Model) -> tuple[dict[str, _Row], int]:
        """Where the fields are, and where the last one ends."""
        none = GGUFValueType.UINT8
        rows = {
            "GGUF.version": _Row(4, GGUFValueType.UINT32, none, 1),
            "GGUF.tensor_count": _Row(8, GGUFValueType.UINT64, none, 1),
            "GGUF.kv_count": _Row(16, GGUFValueType.UINT64, none, 1),
        }
        end, count = 24, model.info.metadata_count
        found = (_abi.mf_meta * count)()
        lib.mf_metas_at(model.handle, 0, count, found)
        for row in found:
            name = str(_raw(row.key), "utf-8")
            if name in rows:
                raise KeyError(f"the key {name!r} is there twice, again at {end}")
            rows[name] = _Row(
                end, GGUFValueType(row.type), GGUFValueType(row.of), row.count
            )
            end = row.span.offset + row.span.size
        return rows, end

    def _field(self, name: str, row: _Row) -> ReaderField:
        if name.startswith("GGUF.") and row.offset < 24:
            part = self._get(row.offset, _DTYPES[row.type])
            return ReaderField(row.offset, name, [part], [0], [row.type])
        parts = self._string(row.offset)
        at = row.offset + 8 + len(parts[1])
        parts.append(self._get(at, "uint32"))
        at += 4
        if row.type == GGUFValueType.STRING:
            parts += self._string(at)
            return ReaderField(row.offset, name, parts, [4], [row.type])
        if row.type != GGUFValueType.ARRAY:
            parts.append(self._get(at, _DTYPES[row.type]))
            return ReaderField(row.offset, name, parts, [3], [row.type])
        if row.of == GGUFValueType.ARRAY:
            types: list[GGUFValueType] = [row.type]
            data, _ = self._nested(at, parts, types)
            return ReaderField(row.offset, name, parts, data, types)
        parts += [self._get(at, "uint32"), self._get(at + 4, "uint64")]
        return self._array(name, row, parts, at + 12)

    def _array(self, name: str, row: _Row, head: list[Any], at: int) -> ReaderField:
        parts = _Parts(self, head, at, row.of)
        data = range(6, len(parts), 2) if parts.strings else range(5, len(parts))
        types = [row.type, row.of] if row.length else [row.type]
        return ReaderField(row.offset, name, parts, data, types)

    def _nested(
        self, at: int, parts: list[Any], types: list[GGUFValueType]
    ) -> tuple[list[int], int]:
        """Adds the parts of an array of arrays, all in one list; gives which are
        values, and where it ends."""
        kind, count = self._get(at, "uint32"), self._get(at + 4, "uint64")
        parts += [kind, count]
        of, at, data = GGUFValueType(int(kind[0])), at + 12, []
        for number in range(int(count[0])):
            if number == 0:
                types.append(of)
            if of == GGUFValueType.ARRAY:
                inner: list[GGUFValueType] = []
                some, at = self._nested(at, parts, inner)
                data += some
                types += inner if number == 0 else []
                continue
            new = self._string(at) if of == GGUFValueType.STRING else None
            new = new or [self._get(at, _DTYPES[of])]
            parts += new
            data.append(len(parts) - 1)
            at += sum(part.nbytes for part in new)
        return data, at

    def get_field(self, key: str) -> ReaderField | None:
        return self.fields.get(key)

    def _check_alignment(self) -> None:
        field = self.fields.get("general.alignment")
        if field is None:
            return
        if field.types != [GGUFValueType.UINT32]:
            raise ValueError("general.alignment is not a u32")
        self.alignment = field.parts[-1][0]
        if not self.alignment or self.alignment & (self.alignment - 1):
            raise ValueError(f"the alignment {self.alignment} is not a power of two")

    # ---- tensors

    def _tensor_rows(self, model: Model, at: int) -> list[_TensorRow]:
        out, names, size = [], set(), len(self.memory)
        count = model.info.tensor_count
        found = (_abi.mf_tensor * count)()
        lib.mf_tensors_at(model.handle, 0, count, found)
        for row in found:
            raw = _raw(row.name)
            name = str(raw, "utf-8")
            if name in names:
                raise ValueError(f"the tensor {name!r} is there twice")
            names.add(name)
            if row.rank > GGML_MAX_DIMS:
                raise ValueError(
                    f"tensor {name!r} has {row.rank} dimensions, which exceeds "
                    f"GGML_MAX_DIMS ({GGML_MAX_DIMS})"
                )
            block, each = GGML_QUANT_SIZES[GGMLQuantizationType(row.type_id)]
            dims = row.dim[: row.rank] if row.rank else []
            if block > 1:
                quant_shape_to_byte_shape(dims[:1], GGMLQuantizationType(row.type_id))
            elements = 1
            for dim in dims:
                elements *= dim
            if elements and row.data.offset + elements * each // block > size:
                raise ValueError(f"the data of tensor {name!r} passes the file's end")
            out.append(_TensorRow(at, name, len(raw), row.rank))
            at += 8 + len(raw) + 4 + 8 * row.rank + 4 + 8
        return out

    def _tensor(self, row: _TensorRow) -> ReaderTensor:
        parts = self._string(row.offset)
        at = row.offset + 8 + row.name_size
        parts.append(self._get(at, "uint32"))
        dims = self._get(at + 4, "uint64", row.rank)
        at += 4 + 8 * row.rank
        parts += [dims, self._get(at, "uint32"), self._get(at + 4, "uint64")]
        kind = GGMLQuantizationType(int(parts[4][0]))
        shape = tuple(reversed(dims.tolist()))
        elements = 1
        for dim in shape:
            elements *= dim
        block, each = GGML_QUANT_SIZES[kind]
        size = elements * each // block
        start = self.data_offset + int(parts[5][0])
        if kind in _NUMBERS:
            data = self._get(start, _NUMBERS[kind], elements)
        else:
            data = self._get(start, "uint8", size)
            shape = quant_shape_to_byte_shape(shape, kind)
        return ReaderTensor(
            name=row.name,
            tensor_type=kind,
            shape=dims,
            n_elements=elements,
            n_bytes=size,
            data_offset=start,
            data=data.reshape(shape),
            field=ReaderField(row.offset, row.name, parts, [1, 3, 4, 5]),
        )

    def get_tensor(self, idx: int) -> ReaderTensor:
        return self.tensors[idx]
