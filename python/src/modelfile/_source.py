# SPDX-License-Identifier: MIT
"""Bytes that a program brings: objects with read and seek, and memory."""

from __future__ import annotations

import ctypes
import errno
import threading
from typing import Any

from . import _abi
from ._env import Env
from ._library import sized, utf8

_FIELDS = dict(_abi.mf_byte_source._fields_)


class Source:
    """An object with read and seek as a struct mf_byte_source."""

    def __init__(self, file: Any, name: str | None) -> None:
        if not hasattr(file, "read") or not hasattr(file, "seek"):
            raise TypeError(
                "expected a path, a descriptor or an object with read and seek, "
                f"not {type(file).__name__}"
            )
        self._file = file
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        own = getattr(file, "name", None)
        size = file.seek(0, 2)
        if not isinstance(size, int):
            size = file.tell()
        self._read = _FIELDS["read"](self._bytes)
        self._struct = sized(
            _abi.mf_byte_source,
            name=utf8(name or (own if isinstance(own, str) else "") or "file"),
            bytes=size,
            read=self._read,
            one_at_a_time=True,
        )

    def _bytes(self, _user: Any, offset: int, buffer: int, count: int) -> int:
        try:
            with self._lock:
                self._file.seek(offset)
                data = self._file.read(count)
            if not isinstance(data, (bytes, bytearray, memoryview)):
                raise TypeError("read() does not give bytes: is it open as text?")
            if len(data) > count:
                raise ValueError("read() gives more than it was asked for")
            if not data:
                return -errno.EIO
            ctypes.memmove(buffer, bytes(data), len(data))
            return len(data)
        except BaseException as error:
            self._error = error
            return -errno.ECANCELED

    def call(self, env: Env, function: Any, *rest: Any) -> None:
        """Opens it; what the object raises, then or later, goes on."""
        env.source = self
        env.call(function, env.handle, ctypes.byref(self._struct), *rest)

    def raise_own(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error


def pinned(data: Any) -> tuple[int, int, Any]:
    """The address and size of bytes in memory, and what keeps them there."""
    if isinstance(data, bytes):
        return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0, len(data), data
    view = memoryview(data)
    if not view.c_contiguous:
        raise ValueError("the bytes are not in one piece")
    view = view.cast("B")
    if view.readonly or not len(view):
        try:
            import numpy
        except ImportError:
            return pinned(bytes(view))  # a copy: ctypes takes no read-only view
        array = numpy.frombuffer(view, "uint8") if len(view) else numpy.empty(1, "uint8")
        return array.__array_interface__["data"][0], len(view), (view, array)
    there = (ctypes.c_char * len(view)).from_buffer(view)
    return ctypes.addressof(there), len(view), (view, there)
