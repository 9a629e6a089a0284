# SPDX-License-Identifier: MIT
"""Bytes that a program brings: objects with read and seek, and memory."""

from __future__ import annotations

import ctypes
import errno
from typing import Any, Protocol

from . import _abi
from ._arrays import address
from ._env import Env
from ._library import member, sized, utf8


class Seekable(Protocol):
    """A file that is open for reading bytes, such as one of fsspec."""

    def read(self, size: int, /) -> bytes: ...
    def seek(self, offset: int, whence: int = ..., /) -> Any: ...


def source_of(env: Env, file: Any, name: str | None) -> Any:
    """A struct mf_byte_source for an object with read and seek."""
    if not hasattr(file, "read") or not hasattr(file, "seek"):
        raise TypeError(
            "expected a path, a descriptor or an object with read and seek, "
            f"not {type(file).__name__}"
        )
    own = getattr(file, "name", None)
    size = file.seek(0, 2)

    def read(_user: Any, offset: int, buffer: int, count: int) -> int:
        file.seek(offset)
        data = file.read(count)
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError("read() does not give bytes: is it open as text?")
        if len(data) > count:
            raise ValueError("read() gives more than it was asked for")
        if not data:
            return -errno.EIO
        ctypes.memmove(buffer, bytes(data), len(data))
        return len(data)

    return sized(
        _abi.mf_byte_source,
        name=utf8(name or (own if isinstance(own, str) else "") or "file"),
        bytes=file.tell() if size is None else size,
        read=env.guard(member(_abi.mf_byte_source, "read"), read, -errno.ECANCELED),
        one_at_a_time=True,
    )


def pinned(data: Any) -> tuple[int, int, Any]:
    """The address and size of bytes in memory, and what keeps them there."""
    if isinstance(data, bytes):
        at = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
        return at, len(data), data
    view = memoryview(data)
    if not view.c_contiguous:
        raise ValueError("the bytes are not in one piece")
    view = view.cast("B")
    if view.readonly or not len(view):
        try:
            import numpy
        except ImportError:
            return pinned(bytes(view))  # a copy: ctypes takes no read-only view
        array = numpy.frombuffer(view if len(view) else b"\0", "uint8")
        return address(array), len(view), (view, array)
    there = (ctypes.c_char * len(view)).from_buffer(view)
    return ctypes.addressof(there), len(view), (view, there)
