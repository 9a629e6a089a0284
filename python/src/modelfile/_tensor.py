# SPDX-License-Identifier: MIT
"""Tensors of an open model."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from . import _abi, _arrays
from ._library import lib, text, utf8

if TYPE_CHECKING:
    import os

    import numpy as np
    import numpy.typing as npt
    import torch as pytorch
    from typing_extensions import Buffer, Literal

    from ._results import Stats

    Scalar = TypeVar("Scalar", bound=np.generic)

_CHUNK = 256  # tensors that are asked for at once
#: of a struct mf_tensor where its name is, and the rest of it
_NAME = struct.Struct(
    f"PN{ctypes.sizeof(_abi.mf_tensor) - ctypes.sizeof(_abi.mf_str)}x"
)
_NO_STORAGE = _abi.MF_NO_STORAGE
_WIDE = ("f64", "i32", "u32", "i64", "u64")
_AS = {
    "float32": _abi.MF_READ_F32,
    "float64": _abi.MF_READ_F64,
    "int64": _abi.MF_READ_I64,
}


class Tensor:
    """A tensor: what the header says of it, and its numbers when asked.

    >>> import modelfile
    >>> with modelfile.open("fixtures/good-llama.gguf") as m:
    ...     t = m.tensors["blk.0.attn_q.weight"]
    ...     print(t.type, t.shape, t.nbytes)
    q8_0 (32, 32) 1088
    """

    __slots__ = (
        *("_model", "index", "name", "type", "shape", "offset", "nbytes", "size"),
        *("shard", "flags"),
    )

    def __init__(self, model: Any, index: int, found: Any) -> None:
        self._model = model
        self.index: int = index  #: among the tensors of the model
        self.name: str = text(found.name)
        self.type: str = found.type.decode()  #: "f32", "q4_k"
        shape = found.dim[: found.rank] if found.rank else []
        #: slowest dimension first, as numpy has it, in every format
        self.shape: tuple[int, ...] = tuple(
            reversed(shape) if model.fastest_first else shape
        )
        self.offset: int = found.data.offset  #: in the file of the shard
        self.nbytes: int = found.data.size  #: of its data, unpacked
        self.size: int = found.parameters  #: elements
        self.shard: int = found.shard  #: which file of the model
        self.flags: int = found.flags

    def __eq__(self, other: object) -> bool:
        """Whether both are the same tensor of the same open model."""
        if not isinstance(other, Tensor):
            return NotImplemented
        return self._model is other._model and self.index == other.index

    def __hash__(self) -> int:
        return hash((id(self._model), self.index))

    def __repr__(self) -> str:
        return f"<modelfile.Tensor {self.name!r} {self.type} {self.shape}>"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        """True: it is there."""
        return True

    @property
    def damaged(self) -> bool:
        """A finding says that its offset or size is wrong."""
        return bool(self.flags & _abi.MF_TENSOR_DAMAGED)

    @property
    def path(self) -> str:
        """The file that it lies in."""
        return cast(str, self._model.shards[self.shard].path)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of numpy() as numpy has it; uint8 of blocks."""
        return _arrays.dtype(self.type)

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return len(self.shape)

    # ---- bytes

    @property
    def mappable(self) -> bool:
        """Whether the file has its bytes as they are, so that numpy() is a view:
        not if they are packed, strided, big-endian or in no file."""
        return self._place() is not None

    def _place(self) -> Any:
        out = _abi.mf_file_span()
        model = self._model
        with model.env.lock:
            if lib.mf_tensor_place(model.handle, self.index, ctypes.byref(out)):
                return out
        return None

    def _map(self, private: bool) -> memoryview | None:
        """The bytes in a map of the file."""
        place = self._place()
        if place is None:
            return None
        whole = self._model.mapped(place.shard, private)
        if whole is None or place.data.offset + place.data.size > len(whole):
            return None
        first = place.data.offset
        return memoryview(whole)[first : first + place.data.size]

    def _usable(self) -> None:
        if self.damaged:
            raise ValueError(f"{self.name!r} is damaged: see the model's findings")

    def read_into(
        self, buffer: Buffer | npt.NDArray[Any], offset: int = 0
    ) -> int:
        """Reads bytes from offset on into a writable buffer; returns how many.

        Bytes are as in a little-endian file without packing and strides.  Raises
        ValueError if offset is beyond the tensor, or the tensor is damaged.

        >>> import modelfile
        >>> with modelfile.open("fixtures/good-llama.gguf") as m:
        ...     block = bytearray(34)  # the second of q8_0
        ...     m.tensors["blk.0.attn_q.weight"].read_into(block, 34)
        34
        """
        self._usable()
        given: Any = buffer
        view = memoryview(given).cast("B")
        if view.readonly:
            raise TypeError("the buffer is read-only")
        size = min(len(view), self.nbytes - offset)
        if offset < 0 or size < 0:
            raise ValueError(f"offset {offset} is not within {self.nbytes} bytes")
        if size:
            there = (ctypes.c_char * size).from_buffer(view)
            self._model.env.call(
                *(lib.mf_tensor_bytes, self._model, self.index, offset, size),
                ctypes.addressof(there),
            )
        return size

    def tobytes(self) -> bytes:
        """A copy of its bytes."""
        self._usable()
        out = bytearray(self.nbytes)
        self.read_into(out)
        return bytes(out)

    @property
    def data(self) -> memoryview:
        """Its bytes, read-only: a view of the file where that has them."""
        self._usable()
        if not self.nbytes:
            self._model.check_open()
            return memoryview(b"")
        found = self._map(False)
        return memoryview(self.tobytes()) if found is None else found

    def __buffer__(self, flags: int) -> memoryview:  # from Python 3.12 on
        return self.data

    # ---- arrays

    def _array(self, private: bool, copy: bool | None, warn: bool) -> Any:
        """Its bytes as an array; a view of the file where that can be."""
        self._usable()
        np = _arrays.numpy()
        kind = _arrays.dtype(self.type, warn)
        shape = _arrays.shape_of(self.shape, self.type, self.nbytes)
        if not self.nbytes:
            self._model.check_open()
            return np.empty(shape, kind)
        view: Any = None if copy else self._map(private)
        if view is None:
            if copy is False:
                raise ValueError(
                    f"the file does not have {self.name!r} as it is in memory: "
                    "a copy is needed"
                )
            view = bytearray(self.nbytes)
            self.read_into(view)
        return np.frombuffer(view, kind).reshape(shape)

    def numpy(self, copy: bool | None = None) -> npt.NDArray[Any]:
        """An array of its numbers, or of its bytes where it is quantized: then
        the last dimension is the bytes of a row.

        None: a read-only view of the file where that can be, which costs no
        memory until it is read, else a copy. True: a copy of one's own. False:
        a view, or ValueError.  It stays valid when the model is closed.  A file
        that is cut off meanwhile ends the program, as with any map.

        bf16 and 8-bit floats have the types of ml_dtypes; without it an array has
        their bits, and a BitsWarning says so.

        >>> import modelfile, numpy
        >>> with modelfile.open("fixtures/good-llama.gguf") as m:
        ...     norm = m.tensors["output_norm.weight"].numpy()
        ...     blocks = m.tensors["blk.0.attn_q.weight"].numpy()
        >>> norm.dtype, norm.shape, blocks.dtype, blocks.shape
        (dtype('float32'), (32,), dtype('uint8'), (32, 34))
        """
        out: npt.NDArray[Any] = self._array(False, copy, True)
        if copy is not True and out.flags.writeable:
            out.flags.writeable = False
        return out

    def __array__(
        self, dtype: Any = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if dtype is not None and self.dtype != dtype:
            if copy is False:
                raise ValueError("another type needs a copy")
            if self.type not in _arrays.PLAIN:  # an array of bits is no numbers
                return self.dequantize(dtype)
            return self.numpy().astype(dtype)
        return self.numpy(copy)

    def torch(self) -> pytorch.Tensor:
        """A torch tensor of the same; its memory is a private view of the file
        where that can be: what is written there stays in this process.

        bf16 and 8-bit floats are torch's types; a quantized tensor is its bytes,
        as with numpy(), and torch.from_numpy(t.dequantize()) its numbers.  Two
        of the same tensor share that memory, until the model is closed."""
        torch = _arrays.torch()
        out: pytorch.Tensor
        kind = _arrays.torch_dtype(self.type)
        shape = _arrays.shape_of(self.shape, self.type, self.nbytes)
        self._usable()
        if not self.nbytes:
            self._model.check_open()
            out = torch.empty(shape, dtype=kind)
            return out
        view: Any = self._map(True)
        if view is None or self.offset % _alignment(self.type):
            view = bytearray(self.nbytes)
            self.read_into(view)
        out = torch.frombuffer(view, dtype=kind).reshape(shape)
        return out

    def __dlpack__(self, **options: Any) -> Any:
        """For numpy.from_dlpack and the like, as torch() has it."""
        if self.type in _arrays.SMALL:  # which numpy cannot give away
            return self.torch().__dlpack__(**options)
        out = self._array(True, None, False)
        if not out.flags.aligned:
            out = out.copy()
        return out.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the processor's memory

    def _decode(self, first: int, count: int, dtype: Any) -> Any:
        """Elements as numbers of a type."""
        from ._errors import UnsupportedError
        from ._tables import block_of

        np = _arrays.numpy()
        kind = _arrays.number_type(dtype)
        # Halves of numbers of more digits than f32 has are rounded once.
        wide = "float64" if self.type in _WIDE else "float32"
        name = kind.name if kind.name in _AS else wide
        if name != kind.name and kind.name not in ("float16", "bfloat16"):
            raise TypeError(
                f"numbers can be float32, float64, float16, bfloat16 or int64, "
                f"not {kind.name}"
            )
        self._usable()
        if block_of(self.type) is None:  # its shape may be any
            raise UnsupportedError(f"{self.name!r} has the unknown type {self.type}")
        out = np.empty(count, name)
        self._model.env.call(
            *(lib.mf_tensor_read, self._model, self.index, first, count),
            *(_AS[name], _arrays.address(out)),
        )
        if name == kind.name:
            return out
        with np.errstate(over="ignore"):
            return out.astype(kind)

    @overload
    def dequantize(
        self, dtype: Literal["float32"] = "float32"
    ) -> npt.NDArray[np.float32]: ...
    @overload
    def dequantize(self, dtype: type[Scalar]) -> npt.NDArray[Scalar]: ...
    @overload
    def dequantize(self, dtype: npt.DTypeLike) -> npt.NDArray[Any]: ...
    def dequantize(self, dtype: Any = "float32") -> npt.NDArray[Any]:
        """All numbers as an array of float32, float64, float16, bfloat16 (with
        ml_dtypes) or int64 (of integers alone), whatever the tensor's type.

        float64 is exact but for integers of more than 53 bits, int64 always;
        float32 is what convert() makes of them.  TypeError: not
        one of these.  UnsupportedError: int64 of a tensor that has fractions.

        >>> import modelfile, numpy
        >>> with modelfile.open("fixtures/good-llama.gguf") as m:
        ...     m.tensors["blk.0.attn_q.weight"].dequantize().shape
        (32, 32)
        """
        out: npt.NDArray[Any] = self._decode(0, self.size, dtype)
        return out.reshape(self.shape)

    @overload
    def rows(
        self, first: int, last: int, dtype: Literal["float32"] = "float32"
    ) -> npt.NDArray[np.float32]: ...
    @overload
    def rows(
        self, first: int, last: int, dtype: type[Scalar]
    ) -> npt.NDArray[Scalar]: ...
    @overload
    def rows(
        self, first: int, last: int, dtype: npt.DTypeLike
    ) -> npt.NDArray[Any]: ...
    def rows(
        self, first: int, last: int, dtype: Any = "float32"
    ) -> npt.NDArray[Any]:
        """Part of dequantize(): from first up to last, without it, of the
        slowest dimension, which are all that is read.  So a program takes a large
        tensor in pieces.

        >>> import modelfile, numpy
        >>> with modelfile.open("fixtures/good-llama.gguf") as m:
        ...     m.tensors["token_embd.weight"].rows(0, 2).shape
        (2, 32)
        """
        if not self.shape:
            raise TypeError("a scalar has no rows")
        if not 0 <= first <= last <= self.shape[0]:
            raise ValueError(
                f"rows {first} to {last} are not within {self.shape[0]} rows"
            )
        each = self.size // self.shape[0] if self.shape[0] else 0
        shape = (last - first, *self.shape[1:])
        out: npt.NDArray[Any]
        out = self._decode(first * each, (last - first) * each, dtype)
        return out.reshape(shape)

    def stats(self) -> Stats:
        """Minimum, maximum, mean and more of its numbers."""
        return cast("Stats", self._model.stats([self.name])[self.name])

    def export(
        self,
        path: str | bytes | os.PathLike[Any],
        raw: bool = False,
        replace: bool = False,
    ) -> None:
        """Writes its numbers to a file of numpy (.npy); raw: only its bytes as they
        are in the file.  replace: overwrites a file; without it, OutputError."""
        from ._library import path as path_of
        from ._library import sized

        options = sized(_abi.mf_export_options, raw=raw, replace=replace)
        self._model.env.call(
            *(lib.mf_tensor_export, self._model, self.index, path_of(path)),
            ctypes.byref(options),
        )


def _alignment(name: str) -> int:
    kind = _arrays.PLAIN.get(name) or _arrays.SMALL.get(name, ("", "uint8"))[1]
    return int(_arrays.numpy().dtype(kind).alignment)


def stats_of(found: Any) -> Stats:
    """From a struct mf_tensor_stats."""
    from ._results import Stats, take
    from ._values import number

    whole = found.kind not in (_abi.MF_VALUE_F64, _abi.MF_VALUE_F32)
    return take(
        Stats,
        found,
        min=number(found.kind, found.least) if whole else found.min,
        max=number(found.kind, found.greatest) if whole else found.max,
    )


class Tensors(Mapping[str, Tensor]):
    """The tensors of a model by name, in the order of the file.

    Where a damaged file has a name twice, the name is the first one's; all() has
    all of them.

    >>> import modelfile
    >>> with modelfile.open("fixtures/good-llama.gguf") as m:
    ...     len(m.tensors), "output.weight" in m.tensors, next(iter(m.tensors))
    (21, True, 'token_embd.weight')
    """

    __slots__ = ("_model",)

    def __init__(self, model: Any) -> None:
        self._model = model

    def __len__(self) -> int:
        return sum(1 for _ in self) if self._model.repeats else len(self._model)

    def _chunks(self) -> Iterator[tuple[int, int, Any]]:
        model = self._model
        room = (_abi.mf_tensor * _CHUNK)()
        first = 0
        while True:
            with model.env.lock:
                got = lib.mf_tensors_at(model.handle, first, _CHUNK, room)
            if not got:
                return
            yield first, got, room
            first += got

    def names(self) -> list[str]:
        """All names in a list, also those that are there twice."""
        out: list[str] = []
        read = ctypes.string_at
        for _, got, room in self._chunks():
            data = memoryview(room).cast("B")[: got * _NAME.size]
            with self._model.env.lock:
                self._model.check_open()
                out += [
                    read(at, size).decode("utf-8", "surrogateescape")
                    for at, size in _NAME.iter_unpack(data)
                ]
        return out

    def __iter__(self) -> Iterator[str]:
        names = self.names()
        return iter(dict.fromkeys(names) if self._model.repeats else names)

    def at(self, index: int) -> Tensor:
        """The tensor with an index, from 0 on; IndexError: there is none."""
        out = _abi.mf_tensor()
        model = self._model
        with model.env.lock:
            at = (model.handle, index, ctypes.byref(out))
            if not 0 <= index < 2**32 or not lib.mf_tensor_at(*at):
                raise IndexError(f"{index} is not the index of a tensor")
            return Tensor(model, index, out)

    def all(self) -> Iterator[Tensor]:
        """All tensors, also those whose name is there twice."""
        for first, got, room in self._chunks():
            with self._model.env.lock:
                self._model.check_open()
                some = [Tensor(self._model, first + i, room[i]) for i in range(got)]
            yield from some

    def __getitem__(self, name: str) -> Tensor:
        try:
            key = utf8(name)
        except UnicodeEncodeError:  # of surrogates that stand for no byte
            raise KeyError(name) from None
        out = _abi.mf_tensor()
        at = ctypes.c_size_t()
        model = self._model
        with model.env.lock:
            if not lib.mf_tensor_find(
                model.handle, key, len(key), ctypes.byref(out), ctypes.byref(at)
            ):
                raise KeyError(name)
            return Tensor(model, at.value, out)

    def __contains__(self, name: object) -> bool:
        try:
            self[name]  # type: ignore[index]
        except (KeyError, TypeError):
            return False
        return True

    def values(self) -> ValuesView[Tensor]:
        """All tensors; faster than name by name."""
        return _All(self)

    def items(self) -> ItemsView[str, Tensor]:
        """All names with their tensors; faster than name by name."""
        return _Pairs(self)

    def __repr__(self) -> str:
        return f"<modelfile.Tensors of {self._model!r}>"


def _each(tensors: Tensors) -> Iterator[Tensor]:
    """Made in chunks, not one by one by name."""
    if not tensors._model.repeats:
        return tensors.all()
    return (tensors[name] for name in tensors)


class _All(ValuesView[Tensor]):
    """What values() gives."""

    _mapping: Tensors

    def __iter__(self) -> Iterator[Tensor]:
        return _each(self._mapping)


class _Pairs(ItemsView[str, Tensor]):
    """What items() gives."""

    _mapping: Tensors

    def __iter__(self) -> Iterator[tuple[str, Tensor]]:
        return ((tensor.name, tensor) for tensor in _each(self._mapping))
