# SPDX-License-Identifier: MIT
"""Arrays of numpy in files of safetensors."""

from __future__ import annotations

import os
from typing import Any

from ..._arrays import dtype as dtype_of
from ..._arrays import numpy
from . import TensorSpec, deserialize, safe_open, serialize, serialize_file


def _specs(tensors: Any) -> tuple[dict[str, TensorSpec], list[Any]]:
    """What to write, and the arrays that have it, little-endian and in a piece."""
    np, specs, keep = numpy(), {}, []
    for name, array in tensors.items():
        little = array.dtype.newbyteorder("<") if array.dtype.kind in "iufc" else None
        array = np.require(array, little, ["C"]).reshape(array.shape)
        keep.append(array)
        specs[name] = TensorSpec(
            dtype=array.dtype.name,
            shape=array.shape,
            data_ptr=array.__array_interface__["data"][0],
            data_len=array.nbytes,
        )
    return specs, keep


def save(tensor_dict: dict[str, Any], metadata: dict[str, str] | None = None) -> bytes:
    """The bytes of a file with these arrays."""
    specs, _keep = _specs(tensor_dict)
    return serialize(specs, metadata=metadata)


def save_file(
    tensor_dict: dict[str, Any],
    filename: str | os.PathLike[str],
    metadata: dict[str, str] | None = None,
) -> None:
    """Writes these arrays to a file."""
    specs, _keep = _specs(tensor_dict)
    serialize_file(specs, filename, metadata=metadata)


def load(data: bytes) -> dict[str, Any]:
    """The arrays in the bytes of a file."""
    out = {}
    for name, each in deserialize(data):
        kind = dtype_of(each["dtype"].lower(), warn=True)
        shape = each["shape"]
        if each["dtype"] == "F4":
            shape = [*shape[:-1], shape[-1] // 2] if shape else shape
        out[name] = numpy().frombuffer(each["data"], kind).reshape(shape)
    return out


def load_file(
    filename: str | os.PathLike[str], *, backend: str = "mmap"
) -> dict[str, Any]:
    """The arrays of a file."""
    with safe_open(filename, framework="np", backend=backend) as file:
        return file.get_tensors()
