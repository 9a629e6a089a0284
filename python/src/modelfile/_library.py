# SPDX-License-Identifier: MIT
"""The shared library, loaded when something of it is first asked for."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from . import _abi

NAME = "libmodelfile.so"
SERIES = f"{_abi.MF_VERSION_MAJOR}.{_abi.MF_VERSION_MINOR}"


def _open() -> ctypes.CDLL:
    """The library that lies beside this file, as in a wheel, or the system's."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), NAME)
    if os.path.exists(beside):
        return ctypes.CDLL(beside)
    try:
        return ctypes.CDLL(f"{NAME}.{SERIES}")
    except OSError as error:
        raise ImportError(
            f"there is no {NAME} beside this package, and the system has no "
            f"{NAME}.{SERIES}: install modelfile from a wheel, or Debian's "
            f"package libmodelfile{SERIES} ({error})"
        ) from None


class _Functions:
    """Its functions, with the types that the header gives them."""

    def __init__(self) -> None:
        self._library: ctypes.CDLL | None = None

    def __getattr__(self, name: str) -> Any:
        if name not in _abi.FUNCTIONS:
            raise AttributeError(f"the library has no function {name}")
        result, parameters = _abi.function(name)
        if self._library is None:
            library = _open()
            version = library.mf_version
            version.restype = ctypes.c_char_p
            found = version().decode()
            # What the package was made for; later ones of the series add to it.
            if not _at_least(found):
                raise ImportError(
                    f"the library is version {found}, and this package needs "
                    f"{_abi.MF_VERSION_STRING} or a later {SERIES}"
                )
            self._library = library
        function = getattr(self._library, name)
        function.restype = result
        function.argtypes = parameters
        setattr(self, name, function)
        return function


def _at_least(found: str) -> bool:
    major, minor, patch = (int(part) for part in found.split("."))
    return (major, minor) == (
        _abi.MF_VERSION_MAJOR,
        _abi.MF_VERSION_MINOR,
    ) and patch >= _abi.MF_VERSION_PATCH


lib: Any = _Functions()


# ---- what the library takes and gives


def text(value: Any) -> str:
    """A struct mf_str as text; bytes that are not UTF-8 become surrogates."""
    if not value.size:
        return ""
    return ctypes.string_at(value.at, value.size).decode("utf-8", "surrogateescape")


def utf8(value: str) -> bytes:
    """Text as it lies in a file, the way back of text()."""
    if not isinstance(value, str):
        raise TypeError(f"expected a str, not {type(value).__name__}")
    return value.encode("utf-8", "surrogateescape")


def word(value: str | None) -> bytes | None:
    """A name for the library, which ends at a NUL."""
    if value is None:
        return None
    out = utf8(value)
    if b"\0" in out:
        raise ValueError(f"{value!r} has a NUL in it")
    return out


def path(value: str | bytes | os.PathLike[Any]) -> bytes:
    """The path of a file."""
    out = os.fsencode(value)
    if b"\0" in out:
        raise ValueError(f"the path {value!r} has a NUL in it")
    if not out:
        raise ValueError("the path is empty")
    return out


def string(value: bytes | None) -> str:
    """Text of the library's own, or a path that it was given."""
    return os.fsdecode(value) if value else ""


def sized(kind: Any, **members: Any) -> Any:
    """A struct of options, which begins with its size."""
    return kind(size=ctypes.sizeof(kind), **members)


def member(kind: Any, name: str) -> Any:
    """The type of a member of a struct, such as that of a function."""
    return {each[0]: each[1] for each in kind._fields_}[name]


def count(name: str, value: int | None, most: int = 2**64 - 1) -> int:
    """A number that cannot be below zero; None is 0, the default."""
    if value is None:
        return 0
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} has to be a number, not {type(value).__name__}")
    number = value.__index__()
    if not 0 <= number <= most:
        raise ValueError(f"{name} is {number}, and has to be from 0 to {most}")
    return number
