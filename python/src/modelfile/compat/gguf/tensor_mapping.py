# SPDX-License-Identifier: MIT
"""What the tensors of Hugging Face's models are called in GGUF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ._names import NAMES, ONLY, TENSORS
from .constants import MODEL_ARCH_NAMES, MODEL_TENSOR, MODEL_TENSORS, TENSOR_NAMES


def _meanings(arch: Any) -> Iterator[tuple[str, str]]:
    """(a name, the id of what it means in this architecture)"""
    has = {each.name.lower() for each in MODEL_TENSORS[arch]}
    only = ONLY.get(MODEL_ARCH_NAMES[arch], {})
    instead = set(only.values())
    for name, ids in NAMES.items():
        for each in ids:
            if each in has and each not in instead:
                yield name, each
                break
    yield from only.items()


class TensorNameMap:
    """For one architecture: names without ".weight" to (tensor, name in GGUF)."""

    def __init__(self, arch: Any, n_blocks: int) -> None:
        self.mapping: dict[str, tuple[Any, str]] = {}
        rows = [(TENSOR_NAMES[each], each) for each in MODEL_TENSORS[arch]]
        rows += [(name, MODEL_TENSOR[each.upper()]) for name, each in _meanings(arch)]
        for name, tensor in rows:
            own = TENSORS[tensor.name.lower()]
            for block in range(n_blocks) if "{bid}" in own else (None,):
                self.mapping[name.replace("{bid}", f"{block}")] = (
                    tensor,
                    own.replace("{bid}", f"{block}"),
                )

    def get_type_and_name(
        self, key: str, try_suffixes: Sequence[str] = ()
    ) -> tuple[Any, str] | None:
        for suffix in ("", *try_suffixes):
            if key.endswith(suffix):
                found = self.mapping.get(key[: len(key) - len(suffix)])
                if found is not None:
                    return found[0], found[1] + suffix
        return None

    def get_name(self, key: str, try_suffixes: Sequence[str] = ()) -> str | None:
        found = self.get_type_and_name(key, try_suffixes)
        return found[1] if found else None

    def get_type(self, key: str, try_suffixes: Sequence[str] = ()) -> Any:
        found = self.get_type_and_name(key, try_suffixes)
        return found[0] if found else None

    def __getitem__(self, key: str) -> str:
        return self.mapping[key][1]

    def __contains__(self, key: str) -> bool:
        return key in self.mapping

    def __repr__(self) -> str:
        return f"<TensorNameMap of {len(self.mapping)} names>"


def get_tensor_name_map(arch: Any, n_blocks: int) -> TensorNameMap:
    return TensorNameMap(arch, n_blocks)
