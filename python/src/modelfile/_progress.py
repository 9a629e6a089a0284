# SPDX-License-Identifier: MIT
"""How far long work is: a bar of tqdm, a plain line, or the caller's function."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

from ._env import Progress


class _Line:
    """A line on standard error, about once a second."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._next = time.monotonic() + 1
        self._shown = False

    def __call__(self, done: int, total: int, _tensor: str) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 1
        self._shown = True
        share = 100 * done // total
        end = "\r" if sys.stderr.isatty() else "\n"
        print(f"{self._title} {share:3d} %", end=end, file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._shown and sys.stderr.isatty():
            print(file=sys.stderr)


class _Bar:
    """A bar of tqdm."""

    def __init__(self, title: str, tqdm: Any) -> None:
        self._bar = tqdm(desc=title, unit="B", unit_scale=True, unit_divisor=1024)

    def __call__(self, done: int, total: int, _tensor: str) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


@contextlib.contextmanager
def shown(progress: Progress | bool | None, title: str) -> Iterator[Progress | None]:
    """What `progress=` of a function means: a function that is called, or True
    for something to look at."""
    if progress is None or progress is False:
        yield None
        return
    if progress is not True:
        if not callable(progress):
            raise TypeError("progress has to be True, or a function")
        yield progress
        return
    shows: Any
    try:
        from tqdm.auto import tqdm

        shows = _Bar(title, tqdm)
    except ImportError:
        shows = _Line(title)
    try:
        yield shows
    finally:
        shows.close()
