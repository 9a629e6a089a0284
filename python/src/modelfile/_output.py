# SPDX-License-Identifier: MIT
"""Where a program takes what is written: objects with write."""

from __future__ import annotations

import ctypes
import errno
import io
from typing import Any

from . import _abi
from ._env import Env
from ._library import lib, sized

_PIECE = 2**20
_FIELDS = dict(_abi.mf_output_ops._fields_)


def output_of(env: Env, file: Any) -> Any:
    """A struct mf_output_ops for an object with write.  It gets all bytes from
    the first to the last, and is not closed."""

    def write(_user: Any, _file: Any, _offset: int, at: int, count: int) -> int:
        end = at + count
        while at < end:
            data = ctypes.string_at(at, min(end - at, _PIECE))
            done = file.write(data)
            if done is None and not isinstance(file, io.RawIOBase):
                done = len(data)  # of an object that says nothing
            if not done or not 0 < done <= len(data):
                raise BlockingIOError(errno.EAGAIN, "write() does not take the bytes")
            at += done
        return 0

    return sized(
        _abi.mf_output_ops, write=env.guard(_FIELDS["write"], write, errno.ECANCELED)
    )


class InOrder:
    """Pieces of tensors in the order of the file; those that are early wait."""

    def __init__(self, env: Env, writer: int, count: int) -> None:
        self._env = env
        self._writer = writer
        self._waiting: dict[int, dict[int, Any]] = {}
        span = _abi.mf_span()
        places = []
        for index in range(count):
            lib.mf_writer_place(writer, index, ctypes.byref(span))
            if span.size:
                places.append((span.offset, index, span.size))
        self._left = [(index, size) for _, index, size in sorted(places, reverse=True)]
        self._at = 0  # in the last of them

    def write(self, index: int, offset: int, data: Any) -> None:
        pieces = self._waiting.setdefault(index, {})
        if offset in pieces:
            raise ValueError(f"tensor {index}: bytes at {offset} were given before")
        pieces[offset] = data
        while self._left:
            index, size = self._left[-1]
            piece = self._waiting.get(index, {}).pop(self._at, None)
            if piece is None:
                return
            self._push(piece)
            self._at += len(piece)
            if self._at >= size:
                self._left.pop()
                self._waiting.pop(index)
                self._at = 0

    def _push(self, piece: Any) -> None:
        from ._source import pinned

        address, size, _keep = pinned(piece)
        self._env.call(lib.mf_writer_push, self._writer, address, size)
