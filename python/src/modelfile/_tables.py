# SPDX-License-Identifier: MIT
"""What the library knows: types, formats, mixes, rules."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

from . import _abi
from ._library import lib, string, word
from ._results import Format, Mix, Rule, Type, severity, take


def _rows(function: Any, kind: Any) -> Iterator[Any]:
    """The rows of a table, each in the same struct."""
    row = kind()
    index = 0
    while function(index, ctypes.byref(row)):
        yield row
        index += 1


def _type(row: Any) -> Type:
    return take(Type, row, ggml=None if row.ggml < 0 else row.ggml)


def types() -> list[Type]:
    """All types of tensors.

    >>> import modelfile
    >>> [t.name for t in modelfile.types() if t.block == 64]
    ['nvfp4', 'q2_0']
    """
    return [_type(row) for row in _rows(lib.mf_type_at, _abi.mf_type_info)]


def find_type(name: str) -> Type | None:
    """The type of that name, in upper or lower case; None if there is none.

    >>> import modelfile
    >>> modelfile.find_type("Q4_K")
    Type(name='q4_k', block=256, size=144, ggml=12)
    """
    row = _abi.mf_type_info()
    return _type(row) if lib.mf_type_find(word(name), ctypes.byref(row)) else None


def formats() -> list[Format]:
    """All formats, a row for each dialect.

    >>> import modelfile
    >>> sorted({f.name for f in modelfile.formats() if f.can_write})
    ['apr', 'gguf', 'safetensors']
    """
    return [take(Format, row) for row in _rows(lib.mf_format_at, _abi.mf_format_info)]


def mixes() -> list[Mix]:
    """The mixes of llama-quantize, such as Q4_K_M.

    >>> import modelfile
    >>> [m.name for m in modelfile.mixes() if m.needs_imatrix][:3]
    ['Q2_K_S', 'IQ1_S', 'IQ1_M']
    """
    return [take(Mix, row) for row in _rows(lib.mf_mix_at, _abi.mf_mix_info)]


def rules() -> list[Rule]:
    """What validate() looks for.

    >>> import modelfile
    >>> next(r for r in modelfile.rules() if r.id == "TENSOR-BOUNDS").severity
    'error'
    """
    return [
        take(Rule, row, severity=severity(row.severity))
        for row in _rows(lib.mf_rule_at, _abi.mf_rule_info)
    ]


def isas() -> list[str]:
    """Instruction sets that this processor has, the fastest last."""
    out: list[str] = []
    while name := lib.mf_isa_at(len(out)):
        out.append(string(name))
    return out


_blocks: dict[str, tuple[int, int] | None] = {}


def block_of(name: str) -> tuple[int, int] | None:
    """Elements and bytes of a block of a type; None if it is unknown."""
    if name not in _blocks:
        found = find_type(name)
        _blocks[name] = (found.block, found.size) if found else None
    return _blocks[name]
