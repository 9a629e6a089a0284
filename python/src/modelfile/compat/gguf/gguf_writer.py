# SPDX-License-Identifier: MIT
"""GGUFWriter: collects keys and tensors, and writes them by the library.

The steps are the same as in gguf of PyPI, in the same order; but a file appears at
its path when it is complete, and what was there before stays until then.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import struct
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..._arrays import numpy
from ..._progress import shown
from ..._values import Typed
from ..._writer import Writer
from ._keys import Keys, adds
from .constants import (
    GGUF_DEFAULT_ALIGNMENT,
    GGMLQuantizationType,
    GGUFEndian,
    GGUFValueType,
)
from .quants import quant_shape_from_byte_shape

logger = logging.getLogger(__name__)

SHARD_NAME_FORMAT = "{:s}-{:05d}-of-{:05d}.gguf"

# Types of numbers: as the library calls them, and as struct does.
_NUMBERS = {
    GGUFValueType.UINT8: ("u8", "B"),
    GGUFValueType.INT8: ("i8", "b"),
    GGUFValueType.UINT16: ("u16", "H"),
    GGUFValueType.INT16: ("i16", "h"),
    GGUFValueType.UINT32: ("u32", "I"),
    GGUFValueType.INT32: ("i32", "i"),
    GGUFValueType.FLOAT32: ("f32", "f"),
    GGUFValueType.UINT64: ("u64", "Q"),
    GGUFValueType.INT64: ("i64", "q"),
    GGUFValueType.FLOAT64: ("f64", "d"),
    GGUFValueType.BOOL: ("bool", "?"),
}
_TENSOR_TYPES = {
    "float16": GGMLQuantizationType.F16,
    "float32": GGMLQuantizationType.F32,
    "float64": GGMLQuantizationType.F64,
    "int8": GGMLQuantizationType.I8,
    "int16": GGMLQuantizationType.I16,
    "int32": GGMLQuantizationType.I32,
    "int64": GGMLQuantizationType.I64,
}
_PIECE = 2**20


@dataclass
class TensorInfo:
    shape: Sequence[int]
    dtype: Any
    nbytes: int
    tensor: Any = None


@dataclass
class GGUFValue:
    value: Any
    type: GGUFValueType
    sub_type: GGUFValueType | None = None


class WriterState(Enum):
    NO_FILE = 1
    EMPTY = 2
    HEADER = 3
    KV_DATA = 4
    TI_DATA = 5
    WEIGHTS = 6


def _numbers(kind: GGUFValueType, values: Sequence[Any]) -> list[Any]:
    """Numbers as a file has them; struct.error if one is out of range."""
    code = f"<{len(values)}{_NUMBERS[kind][1]}"
    return list(struct.unpack(code, struct.pack(code, *values)))


def _string(value: Any) -> str:
    if isinstance(value, str):
        value.encode("utf-8")  # what cannot be is refused here
        return value
    return bytes(memoryview(value)).decode("utf-8", "surrogateescape")


def _typed(given: GGUFValue) -> Typed:
    value, kind = given.value, given.type
    if kind in _NUMBERS:
        return Typed(_NUMBERS[kind][0], _numbers(kind, [value])[0])
    if kind == GGUFValueType.STRING:
        return Typed("string", _string(value))
    if kind != GGUFValueType.ARRAY:
        raise ValueError(f"{kind!r} is not a type of values")
    if not isinstance(value, Sequence):
        raise ValueError(
            f"an array has to be a sequence, not {value.__class__.__name__}"
        )
    if not len(value):
        raise ValueError("an array without elements has no type")
    of = given.sub_type
    if of is None:
        of = GGUFValueType.UINT8 if isinstance(value, bytes) else _common_type(value)
    if of == GGUFValueType.STRING:
        return Typed("string[]", [_string(each) for each in value])
    if of not in _NUMBERS:
        raise ValueError("arrays of arrays cannot be written")
    return Typed(f"{_NUMBERS[of][0]}[]", _numbers(of, value))


def _common_type(values: Sequence[Any]) -> GGUFValueType:
    kinds = {GGUFValueType.get_type(each) for each in values}
    if len(kinds) > 1:
        raise ValueError("the elements of an array have to be of one type")
    return kinds.pop()


def _native() -> GGUFEndian:
    return GGUFEndian.BIG if sys.byteorder == "big" else GGUFEndian.LITTLE


class GGUFWriter:
    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        arch: str,
        use_temp_file: bool = False,
        endianess: GGUFEndian = GGUFEndian.LITTLE,
        split_max_tensors: int = 0,
        split_max_size: int = 0,
        dry_run: bool = False,
        small_first_shard: bool = False,
    ) -> None:
        self.path = Path(path) if path else None
        self.arch = arch
        self.endianess = endianess
        self.data_alignment = GGUF_DEFAULT_ALIGNMENT
        self.use_temp_file = use_temp_file
        self.temp_file: Any = None
        self.split_max_tensors = split_max_tensors
        self.split_max_size = split_max_size
        self.dry_run = dry_run
        self.small_first_shard = small_first_shard
        #: of each file the tensors by name, and keys of metadata
        self.tensors: list[dict[str, TensorInfo]] = [{}]
        self.kv_data: list[dict[str, GGUFValue]] = [{}]
        self.state = WriterState.NO_FILE
        self.fout: list[Writer] | None = None
        self._paths: list[Path] = []
        self._values: list[dict[str, Typed]] = []
        if small_first_shard:
            self.tensors.append({})
        self.add_architecture()

    if TYPE_CHECKING:  # the methods of _keys.adds()

        def __getattr__(self, name: str) -> Any: ...

    def _expect(self, state: WriterState, *others: WriterState) -> None:
        if self.state not in (state, *others):
            raise ValueError(
                f"this is for a writer in the state {state.name}, not {self.state.name}"
            )

    # ---- metadata

    def add_key_value(
        self, key: str, val: Any, vtype: GGUFValueType, sub_type: Any = None
    ) -> None:
        if any(key in each for each in self.kv_data):
            logger.warning("%s is there already: the value %r replaces it", key, val)
        self.kv_data[0][key] = GGUFValue(val, vtype, sub_type)

    def remove_key(self, key: str) -> None:
        for each in self.kv_data:
            each.pop(key, None)

    def add_uint8(self, key: str, val: int) -> None:
        self.add_key_value(key, val, GGUFValueType.UINT8)

    def add_int8(self, key: str, val: int) -> None:
        self.add_key_value(key, val, GGUFValueType.INT8)

    def add_uint16(self, key: str, val: int) -> None:
        self.add_key_value(key, val, GGUFValueType.UINT16)

    def add_int16(self, key: str, val: int) -> None:
        self.add_key_value(key, val, GGUFValueType.INT16)

    def add_uint32(self, key: str, val: int) -> None:
        self.add_key_value(key, val, GGUFValueType.UINT32)

    def add_int32(self, key: str, val: int) -> None:
        self.add_key_value(key, val, GGUFValueType.INT32)

    def add_float32(self, key: str, val: float) -> None:
        self.add_key_value(key, val, GGUFValueType.FLOAT32)

    def add_uint64(self, key: str, val: int) -> None:
        self.add_key_value(key, val, GGUFValueType.UINT64)

    def add_int64(self, key: str, val: int) -> None:
        self.add_key_value(key, val, GGUFValueType.INT64)

    def add_float64(self, key: str, val: float) -> None:
        self.add_key_value(key, val, GGUFValueType.FLOAT64)

    def add_bool(self, key: str, val: bool) -> None:
        self.add_key_value(key, val, GGUFValueType.BOOL)

    def add_string(self, key: str, val: Any) -> None:
        """Nothing if the text is empty."""
        if val:
            self.add_key_value(key, val, GGUFValueType.STRING)

    def add_array(self, key: str, val: Sequence[Any]) -> None:
        """Nothing if it has no elements."""
        if len(val):
            self.add_key_value(key, val, GGUFValueType.ARRAY)

    def add_architecture(self) -> None:
        self.add_string(Keys.General.ARCHITECTURE, self.arch)

    def add_custom_alignment(self, alignment: int) -> None:
        if alignment <= 0 or alignment & (alignment - 1):
            raise ValueError(f"the alignment {alignment} is not a power of two")
        self.data_alignment = alignment
        self.add_uint32(Keys.General.ALIGNMENT, alignment)

    def add_dense_features_dims(self, dense: str, in_f: int, out_f: int) -> None:
        for key, value in (
            (Keys.LLM.DENSE_FEAT_IN_SIZE, in_f),
            (Keys.LLM.DENSE_FEAT_OUT_SIZE, out_f),
        ):
            self.add_uint32(key.format(arch=self.arch, dense=dense), value)

    def add_chat_template(
        self, value: str | Sequence[Mapping[str, str]] | None
    ) -> None:
        """A template; or several, each with a name."""
        if value is None:
            self.remove_key(Keys.Tokenizer.CHAT_TEMPLATE)
            return
        if not isinstance(value, str):
            value = self._chat_templates(value)
        if value is not None:
            self.add_string(Keys.Tokenizer.CHAT_TEMPLATE, value)

    def _chat_templates(self, templates: Sequence[Mapping[str, str]]) -> str | None:
        """Adds those with other names; gives the default one."""
        default, names = None, set()
        for each in templates:
            name = re.sub("[^A-Za-z0-9]", "_", each.get("name", ""))
            text = each.get("template")
            if not name or text is None:
                continue
            if name == "default":
                default = text
            else:
                names.add(name)
                self.add_string(Keys.Tokenizer.CHAT_TEMPLATE_N.format(name=name), text)
        if names:
            self.add_array(Keys.Tokenizer.CHAT_TEMPLATES, sorted(names))
        return default

    # ---- tensors

    @staticmethod
    def ggml_pad(x: int, n: int) -> int:
        return -(-x // n) * n

    def add_tensor_info(
        self,
        name: str,
        tensor_shape: Sequence[int],
        tensor_dtype: Any,
        tensor_nbytes: int,
        raw_dtype: Any = None,
    ) -> None:
        self._expect(WriterState.NO_FILE)
        if any(name in each for each in self.tensors):
            raise ValueError(f"the tensor {name!r} is there already")
        kind = numpy().dtype(tensor_dtype).name
        if raw_dtype is None:
            if kind not in _TENSOR_TYPES:
                raise ValueError(
                    f"tensor {name!r} is {kind}: raw_dtype= says what that is in a "
                    f"file, but for {', '.join(_TENSOR_TYPES)}"
                )
            raw_dtype = _TENSOR_TYPES[kind]
        elif kind == "uint8":
            tensor_shape = quant_shape_from_byte_shape(tensor_shape, raw_dtype)
        if self.tensors[-1] and self._is_full(tensor_nbytes):
            self.tensors.append({})
        self.tensors[-1][name] = TensorInfo(tensor_shape, raw_dtype, tensor_nbytes)

    def _is_full(self, more: int) -> bool:
        """Whether the next tensor goes to the next file."""
        last = self.tensors[-1].values()
        if self.split_max_tensors and len(last) >= self.split_max_tensors:
            return True
        size = sum(each.nbytes for each in last) + more
        return bool(self.split_max_size) and size > self.split_max_size

    def _in_order(self, tensor: Any, endianess: GGUFEndian | None) -> Any:
        """The tensor with its bytes in the order of the file."""
        if (_native() if endianess is None else endianess) != self.endianess:
            return tensor.byteswap(inplace=False)
        return tensor

    def add_tensor(
        self,
        name: str,
        tensor: Any,
        raw_shape: Sequence[int] | None = None,
        raw_dtype: Any = None,
        tensor_endianess: GGUFEndian | None = None,
    ) -> None:
        tensor = self._in_order(tensor, tensor_endianess)
        shape = tensor.shape if raw_shape is None else raw_shape
        self.add_tensor_info(name, shape, tensor.dtype, tensor.nbytes, raw_dtype)
        if not self.use_temp_file:
            self.tensors[-1][name].tensor = tensor
            return
        if self.temp_file is None:
            self.temp_file = tempfile.SpooledTemporaryFile(256 * 2**20)
        self.temp_file.write(_bytes(tensor))

    def get_total_parameter_count(self) -> tuple[int, int, int, int]:
        """Elements of all tensors, of those that all tokens share, of one expert,
        and how many experts there are; below zero for an adapter."""
        total = shared = expert = 0
        counts: list[int] = []
        lora_a: tuple[str, TensorInfo] | None = None
        for name, info in ((n, i) for each in self.tensors for n, i in each.items()):
            shape = tuple(info.shape)
            if name.endswith(".lora_a"):
                lora_a = name, info
                continue
            if name.endswith(".lora_b"):
                if lora_a is None or lora_a[0] != name[:-1] + "a":
                    logger.warning("%s does not follow its other half", name)
                    return 0, 0, 0, 0
                shape = (*shape[:-1], lora_a[1].shape[-1])
            size = prod(shape)
            total += size
            if "_exps." in name and len(shape) >= 3:
                counts.append(shape[-2 if ".bias" in name else -3])
                expert += size // counts[-1]
            else:
                shared += size
        experts = sum(counts) // len(counts) if counts else 0
        return -total if lora_a else total, shared, expert, experts

    # ---- files

    def format_shard_names(self, path: Path) -> list[Path]:
        count = len(self.tensors)
        if count == 1:
            return [path]
        return [
            path.with_name(SHARD_NAME_FORMAT.format(path.stem, number, count))
            for number in range(1, count + 1)
        ]

    def print_plan(self) -> list[Path]:
        assert self.path is not None
        names = self.format_shard_names(self.path)
        for name, tensors in zip(names, self.tensors):
            size = sum(each.nbytes for each in tensors.values())
            logger.info("%s: %d tensors, %d bytes", name, len(tensors), size)
        if self.dry_run:
            _print_and_end(names)
        return names

    def open_output_file(self, path: Path | None = None) -> None:
        if self.state is WriterState.EMPTY and path in (None, self.path):
            return
        self._expect(WriterState.NO_FILE)
        if path is not None:
            self.path = Path(path)
        if self.path is None:
            return
        self._paths = self.print_plan()
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                errno.ENOENT, os.strerror(errno.ENOENT), str(self.path)
            )
        self.fout = []
        self.state = WriterState.EMPTY

    def add_shard_kv_data(self) -> None:
        """Of several files each says which one it is."""
        if len(self.tensors) == 1:
            return
        count = len(self._paths)
        total = sum(len(each) for each in self.tensors)
        self.kv_data += [{} for _ in range(count - len(self.kv_data))]
        for number, values in enumerate(self.kv_data):
            for key, value, kind in (
                (Keys.Split.LLM_KV_SPLIT_NO, number, GGUFValueType.UINT16),
                (Keys.Split.LLM_KV_SPLIT_COUNT, count, GGUFValueType.UINT16),
                (Keys.Split.LLM_KV_SPLIT_TENSORS_COUNT, total, GGUFValueType.INT32),
            ):
                values[key] = GGUFValue(value, kind)

    def write_header_to_file(self, path: Path | None = None) -> None:
        if len(self.tensors) == 1 and (self.split_max_tensors or self.split_max_size):
            logger.warning("the model is small enough for one file")
        self.open_output_file(path)
        self._expect(WriterState.EMPTY)
        self.add_shard_kv_data()
        self.state = WriterState.HEADER

    def write_kv_data_to_file(self) -> None:
        self._expect(WriterState.HEADER)
        self._values = [
            {key: _typed(value) for key, value in each.items()} for each in self.kv_data
        ]
        self.state = WriterState.KV_DATA

    def write_ti_data_to_file(self) -> None:
        self._expect(WriterState.KV_DATA)
        assert self.fout is not None
        for path, values, tensors in zip(self._paths, self._values, self.tensors):
            writer = Writer(
                path,
                format="gguf",
                replace=True,
                big_endian=self.endianess == GGUFEndian.BIG,
            )
            self.fout.append(writer)
            for key, value in values.items():
                writer.set(key, value)
            for name, info in tensors.items():
                dims = [int(each) for each in info.shape]
                writer.add(name, dims, info.dtype.name.lower())
        self.state = WriterState.TI_DATA

    def write_tensor_data(
        self, tensor: Any, tensor_endianess: GGUFEndian | None = None
    ) -> None:
        """The data of the next tensor, in the order of add_tensor_info()."""
        self._expect(WriterState.TI_DATA, WriterState.WEIGHTS)
        assert self.fout is not None
        number = next(i for i, each in enumerate(self.tensors) if each)
        name = next(iter(self.tensors[number]))
        info = self.tensors[number].pop(name)
        assert info.nbytes == tensor.nbytes
        self.fout[number].write(name, _bytes(self._in_order(tensor, tensor_endianess)))
        self.state = WriterState.WEIGHTS
        if not any(self.tensors):
            self._commit()

    def write_tensors_to_file(self, *, progress: bool = False) -> None:
        self.write_ti_data_to_file()
        assert self.fout is not None
        total, done = sum(i.nbytes for each in self.tensors for i in each.values()), 0
        if self.temp_file is not None:
            self.temp_file.seek(0)
        with shown(progress, "Writing") as report:
            for writer, tensors in zip(self.fout, self.tensors):
                for name, info in tensors.items():
                    self._write(writer, name, info)
                    done += info.nbytes
                    if report:
                        report(done, total, name)
        self.state = WriterState.WEIGHTS
        self._commit()

    def _write(self, writer: Writer, name: str, info: TensorInfo) -> None:
        if self.temp_file is None:
            assert info.tensor is not None, f"tensor {name!r} has no data"
            writer.write(name, _bytes(info.tensor))
            info.tensor = None
            return
        for at in range(0, info.nbytes, _PIECE):
            size = min(_PIECE, info.nbytes - at)
            writer.write(name, self.temp_file.read(size), at)

    def _commit(self) -> None:
        """Puts all files at their paths."""
        for writer in self.fout or ():
            writer.commit()
        self.fout = []
        if self.temp_file is not None:
            self.temp_file.close()
            self.temp_file = None

    def flush(self) -> None:
        """Nothing: a file is whole, or not there."""
        assert self.fout is not None

    def close(self) -> None:
        if self.fout is None:
            return
        if self.state is WriterState.KV_DATA and not any(self.tensors):
            self.write_ti_data_to_file()
        if self.state is WriterState.TI_DATA and not any(self.tensors):
            self._commit()
        for writer in self.fout:
            logger.warning("%s is not written: its tensors have no data", writer.path)
            writer.discard()
        self.fout = None


def _print_and_end(names: list[Path]) -> NoReturn:
    """Of a dry run."""
    for name in names:
        print(name)
    sys.exit()


def _bytes(tensor: Any) -> Any:
    """The bytes of an array, without a copy where it is in one piece."""
    np = numpy()
    return memoryview(np.ascontiguousarray(tensor).reshape(-1).view(np.uint8))


def _plain(value: Any) -> Any:
    """The number or the text of an enum."""
    return value.value if isinstance(value, Enum) else value


def _method(name: str, kind: str, key: str) -> Any:
    """A method that adds the value of a key."""
    of = "id" if "{id}" in key else ""

    def add(self: GGUFWriter, *given: Any, **named: Any) -> None:
        values = [*given, *named.values()]
        if len(values) != 1 + bool(of):
            raise TypeError(f"{name}() takes {1 + bool(of)} arguments: {len(values)}")
        value = _plain(values[-1])
        full = key.format(arch=self.arch, **({of: values[0]} if of else {}))
        if kind == "u64[]":
            types = GGUFValueType.ARRAY, GGUFValueType.UINT64
            self.add_key_value(full, value, *types)
        elif kind == "array" or (kind == "u32|array" and not isinstance(value, int)):
            self.add_array(full, value)
        else:
            _ADD[kind](self, full, value)

    add.__name__ = add.__qualname__ = name
    add.__doc__ = f"Adds {key}."
    return add


_ADD: dict[str, Any] = {
    "u32": GGUFWriter.add_uint32,
    "u32|array": GGUFWriter.add_uint32,
    "i32": GGUFWriter.add_int32,
    "f32": GGUFWriter.add_float32,
    "bool": GGUFWriter.add_bool,
    "string": GGUFWriter.add_string,
}
for _name, _kind, _key in adds():
    setattr(GGUFWriter, _name, _method(_name, _kind, _key))
