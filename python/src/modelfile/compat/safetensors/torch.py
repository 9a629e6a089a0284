# SPDX-License-Identifier: MIT
"""Tensors and models of torch in files of safetensors."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from ..._arrays import torch as import_torch
from . import TensorSpec, deserialize, safe_open, serialize, serialize_file

torch: Any = import_torch()

# ---- tensors that share memory


def storage_ptr(tensor: Any) -> int:
    """Where the memory begins that the tensor lies in."""
    return int(tensor.untyped_storage().data_ptr())


def storage_size(tensor: Any) -> int:
    """The bytes of that memory."""
    return int(tensor.untyped_storage().nbytes())


def _end_ptr(tensor: Any) -> int:
    """The address after the last byte of the tensor."""
    start = int(tensor.data_ptr())
    if not tensor.nelement():
        return start
    steps: int = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride()))
    end: int = start + (steps + 1) * int(tensor.element_size())
    return end


def _is_complete(tensor: Any) -> bool:
    """Whether it is all of the memory that it lies in."""
    size = tensor.nelement() * tensor.element_size()
    return bool(
        tensor.data_ptr() == storage_ptr(tensor) and size == storage_size(tensor)
    )


def _overlapping(names: Iterable[str], tensors: Mapping[str, Any]) -> list[set[str]]:
    """Tensors in the same memory, together where their bytes are the same ones."""
    places = sorted((tensors[n].data_ptr(), _end_ptr(tensors[n]), n) for n in names)
    out: list[set[str]] = []
    end = -1
    for start, stop, name in places:
        if start < end:
            out[-1].add(name)
        else:
            out.append({name})
        end = max(end, stop)
    return out


def _find_shared_tensors(state_dict: Mapping[str, Any]) -> list[set[str]]:
    """Groups of names of tensors that have bytes in common."""
    memories: dict[Any, list[str]] = {}
    for name, tensor in state_dict.items():
        if tensor.device.type == "meta":
            continue
        start, size = storage_ptr(tensor), storage_size(tensor)
        if start and size:
            memories.setdefault((tensor.device, start, size), []).append(name)
    return [
        group
        for names in memories.values()
        for group in (
            [{*names}] if len(names) == 1 else _overlapping(names, state_dict)
        )
    ]


def _remove_duplicate_names(
    state_dict: Mapping[str, Any],
    *,
    preferred_names: Iterable[str] | None = None,
    discard_names: Iterable[str] | None = None,
) -> dict[str, list[str]]:
    """Of tensors that are the same one, the name to keep, with the others."""
    preferred, discarded = set(preferred_names or ()), set(discard_names or ())
    out = {}
    for group in _find_shared_tensors(state_dict):
        whole = {name for name in group if _is_complete(state_dict[name])}
        if not whole:
            raise RuntimeError(
                f"{sorted(group)} share memory, and none of them is all of it: clone() "
                "the ones to save"
            )
        kept = min(whole & preferred or whole - discarded or whole)
        others = sorted(group - {kept})
        if others:
            out[kept] = others
    return out


# ---- files


def _specs(tensors: Any) -> tuple[dict[str, TensorSpec], list[Any]]:
    """What to write, and the tensors that have it."""
    _check(tensors)
    specs, keep = {}, []
    for name, tensor in tensors.items():
        if not tensor.is_contiguous():
            raise ValueError(
                f"tensor `{name}` is not contiguous: call .contiguous() before it is "
                "saved; or, if it is a part of another tensor, save that one"
            )
        dtype = f"{tensor.dtype}".split(".")[-1]
        tensor = tensor.detach().to("cpu")
        if sys.byteorder == "big" and tensor.element_size() > 1:
            tensor = _swapped(tensor)
        keep.append(tensor)
        specs[name] = TensorSpec(
            dtype=dtype,
            shape=tensor.shape,
            data_ptr=tensor.data_ptr(),
            data_len=tensor.nelement() * tensor.element_size(),
        )
    return specs, keep


def _swapped(tensor: Any) -> Any:
    """A copy with the bytes of each number in the other order."""
    size = tensor.element_size() // (2 if tensor.is_complex() else 1)
    pieces = tensor.reshape(-1).view(torch.uint8).reshape(-1, size).flip(1)
    return pieces.reshape(-1).view(tensor.dtype).reshape(tensor.shape)


def _check(tensors: Any) -> None:
    if not isinstance(tensors, dict):
        raise ValueError(
            f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}"
        )
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(
                f"Key `{name}` is invalid, expected torch.Tensor but received "
                f"{type(tensor)}"
            )
    sparse = [name for name, each in tensors.items() if each.layout != torch.strided]
    if sparse:
        raise ValueError(f"{sparse} are sparse: .to_dense() makes tensors to be saved")
    shared = [group for group in _find_shared_tensors(tensors) if len(group) > 1]
    if shared:
        raise RuntimeError(
            "tensors share memory, and would not do so when they are loaded: "
            f"{shared}; save_model() saves each once"
        )


def save(tensors: dict[str, Any], metadata: dict[str, str] | None = None) -> bytes:
    """The bytes of a file with these tensors."""
    specs, _keep = _specs(tensors)
    return serialize(specs, metadata=metadata)


def save_file(
    tensors: dict[str, Any],
    filename: str | os.PathLike[str],
    metadata: dict[str, str] | None = None,
) -> None:
    """Writes these tensors to a file."""
    specs, _keep = _specs(tensors)
    serialize_file(specs, filename, metadata=metadata)


def load(data: bytes) -> dict[str, Any]:
    """The tensors in the bytes of a file."""
    out = {}
    for name, each in deserialize(data):
        kind, shape = _dtype(each["dtype"]), each["shape"]
        if each["dtype"] == "F4" and shape:
            shape = [*shape[:-1], shape[-1] // 2]
        if each["data"]:
            tensor = torch.frombuffer(each["data"], dtype=torch.uint8).view(kind)
            out[name] = tensor.reshape(shape)
        else:
            out[name] = torch.empty(shape, dtype=kind)
        if sys.byteorder == "big" and out[name].element_size() > 1:
            out[name] = _swapped(out[name])
    return out


def _dtype(name: str) -> Any:
    from ..._arrays import torch_dtype

    if name == "F4":
        return torch.float4_e2m1fn_x2
    found = torch_dtype(name.lower())
    if found == torch.uint8 and name != "U8":
        raise KeyError(name)
    return found


def load_file(
    filename: str | os.PathLike[str],
    device: str | int = "cpu",
    *,
    backend: str = "mmap",
) -> dict[str, Any]:
    """The tensors of a file."""
    with safe_open(filename, framework="pt", device=device, backend=backend) as file:
        return file.get_tensors()


# ---- models


def save_model(
    model: Any,
    filename: str | os.PathLike[str],
    metadata: dict[str, str] | None = None,
    force_contiguous: bool = True,
) -> None:
    """Writes the tensors of a module; of those that are the same one, one, and
    metadata says which the others are."""
    tensors = dict(model.state_dict())
    for kept, others in _remove_duplicate_names(tensors).items():
        for name in others:
            metadata = {name: kept, **(metadata or {})}
            del tensors[name]
    if force_contiguous:
        tensors = {name: each.contiguous() for name, each in tensors.items()}
    try:
        save_file(tensors, filename, metadata)
    except ValueError as error:
        advice = "use save_model(..., force_contiguous=True)"
        raise ValueError(f"{error}; or {advice}") from None


def load_model(
    model: Any,
    filename: str | os.PathLike[str],
    strict: bool = True,
    device: str | int = "cpu",
    *,
    backend: str = "mmap",
) -> tuple[Any, list[str]]:
    """Loads a file into a module; gives the names that the file lacks, and those
    that the module does.  strict: these are errors."""
    found = load_file(filename, device=device, backend=backend)
    same = _remove_duplicate_names(model.state_dict(), preferred_names=found)
    result = model.load_state_dict(found, strict=False)
    missing, unexpected = set(result.missing_keys), list(result.unexpected_keys)
    for name in (each for others in same.values() for each in others):
        if name in missing:
            missing.remove(name)  # it is there by another name
        else:
            unexpected.append(name)
    if strict and (missing or unexpected):
        lines = [f"the file does not fit {model.__class__.__name__}:"]
        for what, names in (("Missing", missing), ("Unexpected", unexpected)):
            listed = ", ".join(f'"{name}"' for name in sorted(names))
            lines += [f"{what} key(s) in state_dict: {listed}"] if names else []
        raise RuntimeError("\n    ".join(lines))
    return missing, unexpected
