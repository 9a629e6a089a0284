# SPDX-License-Identifier: MIT
"""Where a program takes what is written: objects with write."""

from __future__ import annotations

import ctypes
import errno
import io
from typing import Any

from . import _abi
from ._env import Env, Owner
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

    def __init__(self, env: Env, writer: Owner, count: int) -> None:
        self._env = env
        self._writer = writer
        self._waiting: dict[int, dict[int, bytes]] = {}
        span = _abi.mf_span()
        places = []
        for index in range(count):
            lib.mf_writer_place(writer.handle, index, ctypes.byref(span))
            places.append((span.offset, index, span.size))
        self._size = {index: size for _, index, size in places}
        self._pushed = dict.fromkeys(self._size, 0)
        places.sort(reverse=True)
        self._left = [index for _, index, size in places if size]

    def _check(self, index: int, offset: int, end: int) -> None:
        if end > self._size[index]:
            raise ValueError(f"a tensor has {self._size[index]} bytes, and not {end}")
        pieces = self._waiting.get(index, {})
        if offset < self._pushed[index] or any(
            start < end and offset < start + len(piece)
            for start, piece in pieces.items()
        ):
            raise ValueError(f"bytes of a tensor from {offset} on are there already")

    def write(self, index: int, offset: int, data: Any) -> None:
        self._check(index, offset, offset + len(data))
        if self._left[-1] != index or self._pushed[index] != offset:
            # The caller may use the memory again.
            self._waiting.setdefault(index, {})[offset] = bytes(data)
            return
        self._push(index, data)
        while self._left:
            index = self._left[-1]
            if self._pushed[index] == self._size[index]:
                self._waiting.pop(index, None)
                self._left.pop()
                continue
            piece = self._waiting.get(index, {}).pop(self._pushed[index], None)
            if piece is None:
                return
            self._push(index, piece)

    def _push(self, index: int, piece: Any) -> None:
        from ._source import pinned

        address, size, _keep = pinned(piece)
        self._env.call(lib.mf_writer_push, self._writer, address, size)
        self._pushed[index] += size
