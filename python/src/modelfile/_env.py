# SPDX-License-Identifier: MIT
"""An environment of the library: its memory, its threads, its last error.

Each model, writer and edit has one of its own, so that they are independent.
Calls with one environment take turns by its lock; a long call lets go of
Python's own lock, and asks now and then whether to go on: so Ctrl-C ends it.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import weakref
from typing import Any, Callable, Optional

from . import _abi
from ._errors import Error, LimitError, OutOfMemoryError, from_struct
from ._library import count, lib, member, sized, text, word

#: called with the bytes that are done, those there are, and the tensor in work;
#: returns False to stop
Progress = Callable[[int, int, str], Optional[bool]]

_ASK = member(_abi.mf_options, "progress")
_all: weakref.WeakSet[Env] = weakref.WeakSet()


def _after_fork() -> None:
    """Another thread of the parent may have had a lock, and is not here."""
    global _unraisable_lock
    _unraisable_lock = threading.Lock()
    for env in list(_all):
        env.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Guard:
    """A function that the library calls.  What it raises cannot pass through the
    library: the call is stopped where it can be, and raises it at its end."""

    __slots__ = ("function", "box", "failed")

    def __init__(self, function: Callable[..., Any], box: list[Any], failed: Any) -> None:
        self.function = function
        self.box = box  # where the exception goes
        self.failed = failed  # what the library gets then

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self.function(*arguments)
        except BaseException as error:
            self.box.append(error)
            return self.failed


# A signal's exception, such as KeyboardInterrupt, is raised when a guard begins
# and before its "try": Python gives it to this hook.
_unraisable_lock = threading.Lock()
_hooks: list[Any] = []  # one for each call that runs; the first is Python's


def _unraisable(found: Any) -> None:
    where = found.exc_traceback
    if where is not None and where.tb_frame.f_code is Guard.__call__.__code__:
        where.tb_frame.f_locals["self"].box.append(found.exc_value)
    else:
        _hooks[0](found)


def _hook() -> None:
    with _unraisable_lock:
        _hooks.append(sys.unraisablehook)
        sys.unraisablehook = _unraisable


def _unhook() -> None:
    with _unraisable_lock:
        before = _hooks.pop()
        if not _hooks and sys.unraisablehook is _unraisable:
            sys.unraisablehook = before


def _asker(box: list[Any], told: list[Progress]) -> Callable[..., bool]:
    def asked(_user: Any, progress: Any) -> bool:
        if box:
            return False
        now = progress.contents
        if not told or not now.total:
            return True
        if told[0](now.done, now.total, text(now.tensor)) is False:
            told.append(told[0])  # it has asked to stop
            return False
        return True

    return asked


class Env:
    __slots__ = ("handle", "lock", "box", "progress", "busy", "_ask", "__weakref__")

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
        self.busy = False
        #: exceptions of functions that the library called
        self.box: list[BaseException] = []
        #: what is told how far the call is; it must not refer to the env
        self.progress: list[Progress] = []
        self._ask = _ASK(Guard(_asker(self.box, self.progress), self.box, False))
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
            kind = LimitError if heap_limit else OutOfMemoryError
            raise kind("there is no memory for an environment of the library")
        _all.add(self)

    def __del__(self) -> None:
        if self.handle:
            lib.mf_env_free(self.handle)
            self.handle = None

    def guard(self, kind: Any, function: Callable[..., Any], failed: Any = None) -> Any:
        """A function for the library, of a type of _abi."""
        return kind(Guard(function, self.box, failed))

    def error(self, status: int) -> Error:
        return from_struct(status, lib.mf_env_error(self.handle).contents)

    def check(self, status: int) -> None:
        """Raises what a call with the lock ended with."""
        if self.box:
            raise self.box[0]
        if status == _abi.MF_ERR_STOPPED and len(self.progress) < 2:
            raise KeyboardInterrupt  # another hook than ours has had it
        if status != _abi.MF_OK:
            raise self.error(status)

    def call(
        self, function: Any, *arguments: Any, progress: Progress | None = None
    ) -> None:
        """A call that can fail; raises what it ended with."""
        with self.lock:
            if self.busy:  # the lock lets the thread in that has it
                raise RuntimeError("a progress function cannot use the same model")
            self.busy = True
            self.box.clear()
            self.progress[:] = [] if progress is None else [progress]
            _hook()
            try:
                self.check(function(*arguments))
            finally:
                _unhook()
                self.busy = False
                self.progress.clear()
                self.box.clear()

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
