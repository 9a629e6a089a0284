# SPDX-License-Identifier: MIT
"""A new file: metadata and tensors are declared, then their bytes are given."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from typing import Any, cast

from . import _abi
from ._env import Env, Owner
from ._library import count, lib, path, sized, utf8, word
from ._model import Model
from ._output import InOrder, output_of
from ._tables import find_type
from ._values import Edits

_SUFFIXES = {".gguf": "gguf", ".safetensors": "safetensors", ".apr": "apr"}


class Writer(Owner):
    """Writes a model file.

    Tensors are declared with add(), then given with write(), in any order, whole
    or in pieces.  Nothing is at the path before close() has found every byte
    there, and a block that ends with an exception leaves what was there before.

    file may be an object with write(), which gets the bytes from the first to the
    last: tensors that are given before their turn wait in memory.

    format: None: by the suffix of the path (.gguf, .safetensors, .apr).  metadata:
    a number gets the smallest usual type that holds it, or the one of Typed.
    replace: overwrites a file.  version: of the format.  reserve: free bytes in
    the header for later edits.

    An array of float32 is encoded if its tensor has a type of blocks, such as
    q8_0, or f16; other arrays have to have the tensor's type.

    >>> import modelfile, numpy, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/small.gguf"
    ...     metadata = {"general.architecture": "llama"}
    ...     with modelfile.Writer(path, metadata=metadata) as w:
    ...         w.add("w", (2, 3), "f32")
    ...         w.write("w", numpy.ones((2, 3), "float32"))
    ...     with modelfile.open(path) as m:
    ...         m.tensors["w"].numpy().tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """

    kind = "writer"

    def __init__(
        self,
        file: Any,
        *,
        format: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        replace: bool = False,
        version: int | None = None,
        big_endian: bool = False,
        reserve: int | None = None,
    ) -> None:
        self.env = Env()
        self._handle = None
        self._file: Any = None  # an object with write()
        self._in_order: InOrder | None = None
        if hasattr(file, "write"):
            own = getattr(file, "name", None)
            self._file, file = file, own if isinstance(own, str) else "file"
        self._path = path(file)
        self._open = False
        self._index: dict[str, int] = {}
        self._types: dict[str, tuple[str, tuple[int, ...], int]] = {}
        self._later: dict[str, Any] = {}
        if format is None:
            suffix = os.path.splitext(os.fsdecode(file))[1].lower()
            if suffix not in _SUFFIXES:
                raise ValueError(f"which format has {os.fsdecode(file)!r}? format=")
            format = _SUFFIXES[suffix]
        ops = None
        if self._file is not None:
            ops = output_of(self.env, self._file)
        options = sized(
            _abi.mf_writer_options,
            output=ctypes.pointer(ops) if ops else None,
            format=word(format),
            version=count("version", version, 2**32 - 1),
            reserve=count("reserve", reserve),
            replace=replace,
            big_endian=big_endian,
        )
        handle = ctypes.c_void_p()
        self.env.call(
            *(lib.mf_writer_new, self.env.handle, ctypes.byref(options)),
            ctypes.byref(handle),
        )
        self._handle = cast(int, handle.value)
        self._ops = ops  # its function is called until the end
        #: path of the file
        self.path = os.fsdecode(file)
        self.big_endian = big_endian
        for key, value in (metadata or {}).items():
            self.set(key, value)

    # ---- declaring

    def _declaring(self) -> None:
        self.handle  # or ValueError
        if self._open:
            raise ValueError("the header is written: declare before the first write()")

    def set(self, key: str, value: Any) -> None:
        """Adds a value of metadata; ValueError after the first write()."""
        self._declaring()
        edits = Edits()
        edits.set(key, value)
        self.env.call(lib.mf_writer_set, self, edits.array())

    def copy_metadata(self, model: Model, skip: Iterable[str] = ()) -> None:
        """Adds all metadata of an open model with its types, but for keys in skip."""
        from ._values import Typed

        self._declaring()
        without = set(skip)
        for key, value in model.metadata.items():
            if key not in without:
                self.set(key, Typed(model.metadata.type(key), value))

    def add(
        self,
        name: str,
        shape: Iterable[int] | None = None,
        type: str | None = None,
        *,
        array: Any = None,
    ) -> None:
        """Declares a tensor: its shape, slowest dimension first, and its type
        ("f32", "q4_k").  An array in place of the shape, or array=, has both, and
        is written at the end.
        """
        self._declaring()
        if array is None and hasattr(shape, "dtype") and hasattr(shape, "shape"):
            array, shape = shape, None
        if array is not None:
            from ._arrays import type_of

            shape = array.shape if shape is None else shape
            type = type or type_of(array.dtype)
            if type is None:
                raise TypeError(f"no type of tensors is {array.dtype}: name one")
        if shape is None or type is None:
            raise TypeError("a tensor needs a shape and a type, or an array")
        dims = tuple(count("shape", each) for each in shape)
        found = find_type(type)
        if found is None:
            raise ValueError(f"{type!r} is not a type of tensors")
        if name in self._index:
            raise ValueError(f"{name!r} is there already")
        data = utf8(name)
        text = _abi.mf_str(
            at=ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value,
            size=len(data),
        )
        row = _abi.mf_new_tensor(
            name=text,
            type=word(found.name),
            rank=len(dims),
            dim=(ctypes.c_uint64 * len(dims))(*dims) if dims else None,
        )
        index = ctypes.c_size_t()
        self.env.call(
            lib.mf_writer_add, self, ctypes.byref(row), ctypes.byref(index)
        )
        self._index[name] = index.value
        size = 1
        for each in dims:
            size *= each
        self._types[name] = (found.name, dims, size // found.block * found.size)
        if array is not None:
            self._later[name] = array

    # ---- writing

    def _begin(self) -> None:
        self.handle  # or ValueError
        if not self._open:
            self.env.call(lib.mf_writer_open, self, self._path)
            self._open = True
            if self._file is not None:
                self._in_order = InOrder(self.env, self, len(self._index))

    def write(self, name: str, data: Any, offset: int = 0) -> None:
        """Gives a tensor: an array of numpy or torch of its shape, or bytes from
        an offset on, each byte once.

        Raises KeyError if add() did not declare it, TypeError or ValueError if
        the array has another type or shape.  The first call ends declaring."""
        self._begin()
        if name not in self._index:
            raise KeyError(name)
        view = self._bytes(name, data, offset)
        if not len(view):
            return
        if self._in_order is not None:
            self._in_order.write(self._index[name], offset, view)
            return
        from ._source import pinned

        address, size, _keep = pinned(view)
        self.env.call(
            *(lib.mf_writer_write_at, self, self.env.handle, self._index[name]),
            *(offset, address, size),
        )

    def _bytes(self, name: str, data: Any, offset: int) -> Any:
        """The bytes of an array in the type of its tensor."""
        count("offset", offset)
        if not hasattr(data, "dtype") or not hasattr(data, "shape"):
            return memoryview(data).cast("B")
        from ._arrays import PLAIN, numpy

        if hasattr(data, "detach") and hasattr(data, "cpu"):  # torch
            data = _from_torch(data)
        np = numpy()
        type, shape, nbytes = self._types[name]
        data = np.asarray(data)
        if not data.dtype.isnative:
            data = data.astype(data.dtype.newbyteorder("="))
        whole = not offset and data.nbytes == nbytes and data.shape == shape
        fits = data.dtype.name == PLAIN.get(type) or _same(data.dtype, type)
        if fits and not whole and data.dtype != np.uint8:
            raise ValueError(
                f"{name!r} has the shape {shape}, and the array {data.shape}; pieces "
                "are given as bytes"
            )
        if not fits and data.dtype != np.uint8:
            if data.dtype != np.float32 or data.shape != shape or offset:
                raise TypeError(
                    f"{name!r} is {type} of shape {shape}: an array of {data.dtype} "
                    f"of shape {data.shape} does not become that"
                )
            data = self._encoded(name, data)
        data = np.ascontiguousarray(data)
        if self.big_endian and data.dtype.itemsize > 1:
            data = data.byteswap()
        return data.reshape(-1).view(np.uint8)

    def _encoded(self, name: str, data: Any) -> Any:
        """Numbers of f32 in the type of a tensor."""
        from ._arrays import SMALL, numpy
        from ._codecs import quantize_array

        np = numpy()
        type = self._types[name][0]
        if not np.isfinite(data).all():
            raise ValueError(f"{name!r} has numbers that are NaN or infinite")
        if type == "f16" and data.size and abs(data).max() >= 65520:
            raise ValueError(f"{name!r} has numbers that are infinite in f16")
        out = quantize_array(data, type)
        if self.big_endian and out.size:
            if type != "f16" and type not in SMALL:
                raise ValueError(f"{type} of a big-endian file is given as bytes")
            out = out.view("uint16") if type in ("f16", "bf16") else out
        return out

    # ---- the end

    def commit(self) -> None:
        """Puts the complete file at its path, as close() and the end of a block
        do.  Raises ArgumentError if bytes of a tensor are missing."""
        self._begin()
        for name, array in self._later.items():
            self.write(name, array)
        self._later.clear()
        self.env.call(lib.mf_writer_commit, self)
        self.discard()

    def discard(self) -> None:
        """Ends it; without commit() no file is left."""
        self.release(lib.mf_writer_free)

    def close(self) -> None:
        """commit(); nothing where that, or discard(), was before."""
        if self._handle is not None:
            self.commit()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: Any, *_error: Any) -> None:
        try:
            if kind is None and self._handle is not None:
                self.commit()
        finally:
            self.discard()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.discard()


def _same(dtype: Any, type: str) -> bool:
    """Whether numpy's type has the bits of a type of tensors."""
    from ._arrays import SMALL

    return type in SMALL and dtype.name in SMALL[type]


def _from_torch(tensor: Any) -> Any:
    """A tensor of torch as an array with the same bits."""
    import torch

    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view("uint16")
    if "float8" in str(tensor.dtype):
        return tensor.view(torch.uint8).numpy()
    return tensor.numpy()
