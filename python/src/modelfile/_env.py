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
    _unraisable_lock = threading.RLock()
    for env in list(_all):
        env.lock = Lock(env.box)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# In which callbacks this thread is: the boxes of their guards.
_inside = threading.local()


class Guard:
    """A function that the library calls.  What it raises cannot pass through the
    library: the call is stopped where it can be, and raises it at its end."""

    __slots__ = ("function", "box", "failed")

    def __init__(
        self, function: Callable[..., Any], box: list[Any], failed: Any
    ) -> None:
        self.function = function
        self.box = box  # where the exception goes
        self.failed = failed  # what the library gets then

    def __call__(self, *arguments: Any) -> Any:
        try:
            before = getattr(_inside, "boxes", ())
            _inside.boxes = (*before, self.box)
            try:
                return self.function(*arguments)
            finally:
                _inside.boxes = before
        except BaseException as error:
            self.box.append(error)
            return self.failed


# A signal's exception, such as KeyboardInterrupt, is raised when a guard begins
# and before its "try": Python gives it to this hook.
_unraisable_lock = threading.RLock()  # a signal's function may make a call, too
_hooks: list[Any] = []  # one for each call that runs; the first is Python's


def _unraisable(found: Any) -> None:
    where = found.exc_traceback
    if where is not None and where.tb_frame.f_code is Guard.__call__.__code__:
        where.tb_frame.f_locals["self"].box.append(found.exc_value)
    else:
        before = _hooks[0] if _hooks else sys.__unraisablehook__
        before(found)


def _hook() -> None:
    with _unraisable_lock:
        now = sys.unraisablehook
        # A program may have kept this one and put it back.
        known = now is not _unraisable or _hooks
        _hooks.append(now if known else sys.__unraisablehook__)
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
        goes_on = told[0](now.done, now.total, text(now.tensor))
        if goes_on is not None and not goes_on:
            told.append(told[0])  # it has asked to stop
            return False
        return True

    return asked


class Lock:
    """Of an env: one thread at a time makes calls.  A function that the library
    calls in another thread would wait for the call that waits for it."""

    __slots__ = ("_lock", "_box")

    def __init__(self, box: list[BaseException]) -> None:
        self._lock: Any = threading.RLock()
        self._box = box

    def __enter__(self) -> None:
        inside = getattr(_inside, "boxes", ())
        if any(box is self._box for box in inside) and not self._lock._is_owned():
            raise RuntimeError("read() of a file cannot use the model that reads it")
        self._lock.acquire()

    def __exit__(self, *_error: Any) -> None:
        self._lock.release()


class Env:
    __slots__ = (
        *("handle", "lock", "box", "progress", "busy", "_ask", "_later"),
        "__weakref__",
    )

    def __init__(
        self,
        *,
        heap_limit: int | None = None,
        threads: int | None = None,
        isa: str | None = None,
        scratch_folder: str | None = None,
    ) -> None:
        self.handle: int | None = None
        self.busy = False
        #: exceptions of functions that the library called
        self.box: list[BaseException] = []
        self.lock = Lock(self.box)
        self._later: list[tuple[Any, int]] = []  # what is freed after the call
        #: the progress function of the call; it must not refer to the env
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
        """A call that can fail; raises what it ended with.  An Owner among the
        arguments stands for its handle, which another thread may close until the
        lock is there."""
        with self.lock:
            if self.busy:  # the lock lets the thread in that has it
                raise RuntimeError("a progress function cannot use the same model")
            given = [
                each.handle if isinstance(each, Owner) else each for each in arguments
            ]
            hooked = False
            try:
                self.busy = True
                self.box.clear()
                self.progress[:] = [] if progress is None else [progress]
                _hook()
                hooked = True
                self.check(function(*given))
            finally:
                if hooked:
                    _unhook()
                self.busy = False
                self.progress.clear()
                self.box.clear()
                while self._later:
                    free, handle = self._later.pop(0)
                    free(handle)

    def free(self, function: Any, handle: int) -> None:
        """Frees something of the library, at once or when the call has ended that
        may be using it."""
        with self.lock:
            if self.busy:
                self._later.append((function, handle))
            else:
                function(handle)

    def __reduce__(self) -> Any:
        raise TypeError("an environment cannot be copied or pickled")

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


class Owner:
    """Has something of the library that is freed once: a model, a writer."""

    kind = "object"
    env: Env
    _handle: int | None

    @property
    def handle(self) -> int:
        if self._handle is None:
            raise ValueError(f"the {self.kind} is closed")
        return self._handle

    def release(self, function: Any) -> None:
        with self.env.lock:
            handle, self._handle = self._handle, None
            if handle:
                self.env.free(function, handle)

    def __reduce__(self) -> Any:
        raise TypeError(f"a {self.kind} cannot be copied or pickled")
