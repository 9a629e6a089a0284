# SPDX-License-Identifier: MIT
"""Metadata of an open model."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any

from . import _abi
from ._library import lib, text, utf8
from ._values import TYPES, value

_CHUNK = 64


def _type(meta: Any) -> str:
    name = TYPES[meta.type]
    return f"{TYPES[meta.of]}[]" if name == "array" else name


class Metadata(Mapping[str, Any]):
    """Keys and values, in the order of the file.

    Numbers, bools and strings are Python's; an array is a lazy sequence, an Array,
    which is read when an element of it is asked for.  Value has all that a value
    can be; for type checkers it is Any.  KeyError: there is no such key.

    >>> import modelfile
    >>> with modelfile.open("fixtures/good-llama.gguf") as m:
    ...     m.metadata["llama.block_count"], m.metadata.type("llama.block_count")
    (2, 'u32')
    """

    __slots__ = ("_model",)

    def __init__(self, model: Any) -> None:
        self._model = model

    def _keys(self) -> list[str]:
        model = self._model
        room = (_abi.mf_meta * _CHUNK)()
        out: list[str] = []
        while True:
            with model.env.lock:
                got = lib.mf_metas_at(model.handle, len(out), _CHUNK, room)
                if not got:
                    return out
                out += [text(room[i].key) for i in range(got)]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._keys()))

    def _find(self, key: str) -> tuple[int, Any]:
        try:
            name = utf8(key)
        except UnicodeEncodeError:  # of surrogates that stand for no byte
            raise KeyError(key) from None
        out = _abi.mf_meta()
        at = ctypes.c_size_t()
        if not lib.mf_meta_find(
            self._model.handle, name, len(name), ctypes.byref(out), ctypes.byref(at)
        ):
            raise KeyError(key)
        return at.value, out

    def __getitem__(self, key: str) -> Any:
        with self._model.env.lock:
            index, meta = self._find(key)
            return value(self._model, index, meta)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        with self._model.env.lock:
            try:
                self._find(key)
            except KeyError:
                return False
            return True

    def type(self, key: str) -> str:
        """The type that a value has in the file: "u32", "string[]".  KeyError: there
        is no such key."""
        with self._model.env.lock:
            return _type(self._find(key)[1])

    def __repr__(self) -> str:
        return f"<modelfile.Metadata of {self._model!r}>"
