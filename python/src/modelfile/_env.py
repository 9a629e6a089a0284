# SPDX-License-Identifier: MIT
"""An environment of the library: its memory, its threads, its last error.

Each model, writer and edit has one of its own, so that they are independent.
Calls with one environment take turns by its lock; a long call lets go of
Python's own lock, and asks now and then whether to go on: so Ctrl-C ends it.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from typing import Any, Callable, Optional

from . import _abi
from ._errors import Error, from_struct
from ._library import count, lib, sized, text, word

#: called with the bytes that are done, those there are, and the tensor in work;
#: returns False to stop
Progress = Callable[[int, int, str], Optional[bool]]

_ASK = dict(_abi.mf_options._fields_)["progress"]
_all: weakref.WeakSet[Env] = weakref.WeakSet()


def _after_fork() -> None:
    """Another thread of the parent may have had a lock, and is not here."""
    for env in list(_all):
        env.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Watch:
    """What is told of a call, and the exception that ended it."""

    __slots__ = ("progress", "error")

    def __init__(self) -> None:
        self.progress: Progress | None = None
        self.error: BaseException | None = None

    def asked(self, _user: Any, progress: Any) -> bool:
        # An exception must not leave a callback: it goes on after the call.
        try:
            if self.progress is None:
                return True
            now = progress.contents
            if not now.total:
                return True
            return self.progress(now.done, now.total, text(now.tensor)) is not False
        except BaseException as error:
            self.error = error
            return False


class Env:
    __slots__ = ("handle", "lock", "source", "_watch", "_ask", "__weakref__")

    def __init__(
        self,
        *,
        heap_limit: int | None = None,
        threads: int | None = None,
        isa: str | None = None,
        scratch_folder: str | None = None,
    ) -> None:
        self.handle: int | None = None
        self.lock = threading.RLock()
        self.source: Any = None  # of a program's own bytes
        self._watch = _Watch()
        self._ask = _ASK(self._watch.asked)
        options = sized(
            _abi.mf_options,
            heap_limit=count("heap_limit", heap_limit, ctypes.c_size_t(-1).value),
            threads=count("threads", threads, 2**31 - 1),
            isa=word(isa),
            scratch_folder=word(scratch_folder),
            progress=self._ask,
        )
        self.handle = lib.mf_env_new(ctypes.byref(options))
        if not self.handle:
            raise MemoryError("no memory for an environment of the library")
        _all.add(self)

    def __del__(self) -> None:
        if self.handle:
            lib.mf_env_free(self.handle)
            self.handle = None

    def error(self, status: int) -> Error:
        return from_struct(status, lib.mf_env_error(self.handle).contents)

    def check(self, status: int) -> None:
        """Raises what a call with the lock ended with."""
        if status == _abi.MF_OK:
            return
        error, self._watch.error = self._watch.error, None
        if error is not None:
            raise error
        if self.source is not None:
            self.source.raise_own()
        raise self.error(status)

    def call(self, function: Any, *arguments: Any, progress: Progress | None = None) -> None:
        """A call that can fail; raises what it ended with."""
        with self.lock:
            self._watch.error = None
            self._watch.progress = progress
            try:
                self.check(function(*arguments))
            finally:
                self._watch.progress = None

    @property
    def heap(self) -> Any:
        out = _abi.mf_heap_stats()
        lib.mf_env_heap(self.handle, ctypes.byref(out))
        return out

    @property
    def io(self) -> Any:
        out = _abi.mf_io_stats()
        lib.mf_env_io(self.handle, ctypes.byref(out))
        return out
