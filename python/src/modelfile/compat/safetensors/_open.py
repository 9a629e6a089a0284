# SPDX-License-Identifier: MIT
"""safe_open: the tensors of a file, read when they are asked for."""

from __future__ import annotations

import errno
import os
from typing import Any

from ..._errors import Error, NotFoundError, ReadError
from ..._model import Model
from ..._model import open as open_model
from ..._tensor import Tensor
from ._errors import SafetensorError, checked
from ._frameworks import framework_of
from ._slices import check, parse

_BACKENDS = {"mmap": False, "pread": True}  # whether a tensor is read, not mapped


class PySafeSlice:
    """Part of a tensor, which [] reads: of numbers, slices and "..."."""

    def __init__(self, file: safe_open, tensor: Tensor) -> None:
        self._file = file
        self._tensor = tensor

    def get_shape(self) -> list[int]:
        return list(self._tensor.shape)

    def get_dtype(self) -> str:
        return self._tensor.type.upper()

    def __getitem__(self, index: Any) -> Any:
        file, shape = self._file, self.get_shape()
        # A map is a tensor of torch, which takes all that torch does.
        if not file._framework.own_index or file._copy:
            named = parse(index, shape)
            check(named, shape)
            if self._tensor.type == "f4":
                named = _of_pairs(named, shape)
            index = tuple(named)
        return file._framework.part(self._tensor, index)


def _of_pairs(index: list[int | slice], shape: list[int]) -> list[int | slice]:
    """Indexes of bytes, each of which has two numbers of the last dimension."""
    if len(index) < len(shape):
        return index
    last = index[-1]
    if isinstance(last, slice) and last.step == 1:
        start, stop = last.start or 0, last.stop
        stop = shape[-1] if stop is None else stop
        if start % 2 == 0 and stop % 2 == 0:
            return [*index[:-1], slice(start // 2, stop // 2)]
    raise SafetensorError("a part of f4 has to begin and to end between two bytes")


class safe_open:
    """Opens a file by its header.

    framework: "np" or "pt"; device: of torch's tensors; backend: "mmap", which
    maps the file, or "pread", which reads each tensor."""

    def __init__(
        self,
        filename: str | os.PathLike[str],
        framework: str,
        device: Any = "cpu",
        *,
        backend: str = "mmap",
    ) -> None:
        if isinstance(filename, bytes):
            raise TypeError("filename is a str or a path, not bytes")
        path = os.fspath(filename)
        if backend not in _BACKENDS:
            raise SafetensorError(
                f'backend "{backend}" is invalid (expected one of: "mmap", "pread")'
            )
        self._copy = _BACKENDS[backend]
        self._framework = framework_of(framework, device)
        self._model: Model | None = checked(_opened(path), path)

    def _open(self) -> Model:
        if self._model is None:
            raise SafetensorError("File is closed")
        return self._model

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *_error: Any) -> None:
        # A slice that the program has goes on.
        self._model = None

    def keys(self) -> list[str]:
        """The names of all tensors, sorted."""
        return sorted(self._open().tensors.names())

    def offset_keys(self) -> list[str]:
        """The names of all tensors, in the order of their data."""
        tensors = self._open().tensors.all()
        places = sorted((each.offset, each.nbytes, each.name) for each in tensors)
        return [name for _, _, name in places]

    def metadata(self) -> dict[str, str] | None:
        """The texts of __metadata__; None if there is none."""
        found = {key: f"{value}" for key, value in self._open().metadata.items()}
        return found or None

    def _tensor(self, name: str) -> Tensor:
        if not isinstance(name, str):
            raise TypeError(f"a name is a str, not {name!r}")
        try:
            return self._open().tensors[name]
        except KeyError:
            raise SafetensorError(f"File does not contain tensor {name}") from None

    def get_tensor(self, name: str) -> Any:
        return self._framework.whole(self._tensor(name), self._copy)

    def get_tensors(self) -> dict[str, Any]:
        """All tensors by name."""
        return {
            each.name: self._framework.whole(each, self._copy)
            for each in self._open().tensors.all()
        }

    def get_slice(self, name: str) -> PySafeSlice:
        """A tensor of which [] reads a part."""
        return PySafeSlice(self, self._tensor(name))


class _safe_open_handle(safe_open):
    """The same for an open file, by its name."""

    def __init__(
        self, f: Any, framework: str, device: Any = "cpu", *, backend: str = "mmap"
    ) -> None:
        super().__init__(f.name, framework, device, backend=backend)


def _opened(path: Any) -> Model:
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    try:
        return open_model(path, shards="alone")
    except NotFoundError:
        raise FileNotFoundError(f"No such file or directory: {path}") from None
    except (ReadError, MemoryError):
        raise
    except Error as error:
        raise SafetensorError(f"Error while deserializing header: {error}") from error
