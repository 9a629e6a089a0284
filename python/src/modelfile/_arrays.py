# SPDX-License-Identifier: MIT
"""Tensors as arrays of numpy and torch, which are imported when they are needed.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

#: types of tensors that numpy has
PLAIN = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "bool": "bool",
    "c64": "complex64",
}
#: and those that ml_dtypes has, with what stands for them without it
SMALL = {
    "bf16": ("bfloat16", "uint16"),
    "f8_e4m3": ("float8_e4m3fn", "uint8"),
    "f8_e5m2": ("float8_e5m2", "uint8"),
    "f8_e8m0": ("float8_e8m0fnu", "uint8"),
    "f8_e4m3fnuz": ("float8_e4m3fnuz", "uint8"),
    "f8_e5m2fnuz": ("float8_e5m2fnuz", "uint8"),
}


class BitsWarning(UserWarning):
    """An array has the bits of numbers, since numpy lacks their type."""


_modules: dict[str, Any] = {}


def _import(name: str, package: str, purpose: str) -> Any:
    if name not in _modules:
        import importlib

        try:
            _modules[name] = importlib.import_module(name)
        except ImportError as error:
            raise ImportError(
                f"{purpose} needs {name}: pip install {name}, or Debian's {package}",
                name=name,
            ) from error
    return _modules[name]


def numpy() -> Any:
    return _import("numpy", "python3-numpy", "an array")


def torch() -> Any:
    return _import("torch", "python3-torch", "a torch tensor")


def _named(name: str) -> np.dtype[Any]:
    found: np.dtype[Any] = numpy().dtype(name)
    return found


def _small(name: str, warn: bool) -> np.dtype[Any]:
    its, bits = SMALL[name]
    try:
        import ml_dtypes

        found: np.dtype[Any] = numpy().dtype(getattr(ml_dtypes, its))
        return found
    except (ImportError, AttributeError):
        if warn:
            warnings.warn(
                f"the array has the bits of {name} as {bits}: numpy has no such "
                "type without ml_dtypes (pip install ml_dtypes)",
                BitsWarning,
                stacklevel=5,
            )
        return _named(bits)


def dtype(name: str, warn: bool = False) -> np.dtype[Any]:
    """numpy's type for one of tensors; of blocks uint8."""
    if name in PLAIN:
        return _named(PLAIN[name])
    if name in SMALL:
        return _small(name, warn)
    return _named("uint8")


def number_type(kind: Any) -> np.dtype[Any]:
    """numpy's type for one of its own, of torch's, or of tensors ("bf16")."""
    name = str(kind).lower() if isinstance(kind, str) else str(kind)
    if name.startswith("torch."):
        name = name[len("torch.") :]
    if name in SMALL or name == "bfloat16":
        found = _small("bf16" if name == "bfloat16" else name, False)
        if found.kind in "ui":
            raise TypeError(f"numbers of {name} need ml_dtypes: pip install ml_dtypes")
        return found
    return _named(PLAIN.get(name, name) if name != str(kind) or name in PLAIN else kind)


def type_of(kind: Any) -> str | None:
    """The type of tensors for one of numpy or torch; None if there is none."""
    name = f"{kind}"
    name = name[6:] if name.startswith("torch.") else numpy().dtype(kind).name
    for table in (PLAIN, {key: its for key, (its, _) in SMALL.items()}):
        for key, its in table.items():
            if its == name:
                return key
    return None


def torch_dtype(name: str) -> Any:
    """torch's type for one of tensors; of blocks uint8."""
    module = torch()
    its = PLAIN.get(name) or SMALL.get(name, ("uint8",))[0]
    found = getattr(module, its, None)
    if found is None:
        raise TypeError(f"this torch has no type for {name}")
    return found


def shape_of(shape: tuple[int, ...], name: str, nbytes: int) -> tuple[int, ...]:
    """The shape of the array: of blocks, bytes in place of the last dimension;
    where a row does not fill whole bytes, one dimension has all of them."""
    if name in PLAIN or name in SMALL:
        return shape
    rows = 1
    for size in shape[:-1]:
        rows *= size
    if not shape or not rows or nbytes % rows:
        return (nbytes,)
    from ._tables import block_of

    block = block_of(name)
    if block is None or shape[-1] % block[0]:
        return (nbytes,)
    if shape[-1] // block[0] * block[1] * rows != nbytes:
        return (nbytes,)
    return (*shape[:-1], nbytes // rows)


def address(array: Any) -> int:
    """Of the first byte of a numpy array."""
    at: int = array.__array_interface__["data"][0]
    return at
