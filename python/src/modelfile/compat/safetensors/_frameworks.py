# SPDX-License-Identifier: MIT
"""Tensors of a model as arrays of numpy and tensors of torch."""

from __future__ import annotations

from typing import Any

from ... import _arrays
from ..._tensor import Tensor
from ._errors import SafetensorError


class Numpy:
    own_index = False  # whether slices are what it takes itself

    def __init__(self, device: Any) -> None:
        _arrays.numpy()
        if device not in (None, "cpu"):
            raise SafetensorError(
                f"Device {_device_name(device)} is not supported for framework numpy"
            )

    def whole(self, tensor: Tensor, copy: bool) -> Any:
        """An array of the program's own."""
        np = _arrays.numpy()
        shape = _arrays.shape_of(tensor.shape, tensor.type, tensor.nbytes)
        out = np.empty(shape, tensor.dtype)
        if out.size:
            tensor.read_into(out.reshape(-1).view(np.uint8))
        return out

    def part(self, tensor: Tensor, index: tuple[Any, ...]) -> Any:
        """Only what is asked for is read, where the file can be mapped."""
        return tensor.numpy()[index + (...,)].copy()


class Torch:
    own_index = True

    def __init__(self, device: Any) -> None:
        torch = _arrays.torch()
        self._device = None
        if device not in (None, "cpu"):
            self._device = torch.device(device)

    def _type(self, tensor: Tensor) -> Any:
        torch = _arrays.torch()
        if tensor.type == "f4":
            found = getattr(torch, "float4_e2m1fn_x2", None)
        else:
            found = _arrays.torch_dtype(tensor.type)
        if found is None or (found == torch.uint8 and tensor.type != "u8"):
            raise SafetensorError(f"torch has no type for {tensor.type}")
        return found

    def whole(self, tensor: Tensor, copy: bool) -> Any:
        """A private view of the file; copy: memory of its own."""
        torch = _arrays.torch()
        kind = self._type(tensor)
        shape = _arrays.shape_of(tensor.shape, tensor.type, tensor.nbytes)
        if not tensor.nbytes:
            out = torch.empty(shape, dtype=kind, device="cpu")
        elif copy:
            out = torch.empty(tensor.nbytes, dtype=torch.uint8, device="cpu")
            tensor.read_into(out.numpy())
            out = out.view(kind).reshape(shape)
        elif tensor.type == "f4":
            out = tensor.torch().view(kind)
        else:
            out = tensor.torch()
        return out if self._device is None else out.to(self._device)

    def part(self, tensor: Tensor, index: Any) -> Any:
        torch = _arrays.torch()
        kind = self._type(tensor)
        # As integers of the same size, which all can be copied.
        bits = getattr(torch, f"int{8 * kind.itemsize}", kind)
        if not tensor.nbytes:
            return self.whole(tensor, False)[index]
        out = tensor.torch().view(bits)[index].clone().view(kind)
        return out if self._device is None else out.to(self._device)


def _device_name(device: Any) -> str:
    """As it is shown: "cuda" is "cuda:0"."""
    text = f"{device}"
    return f"{text}:0" if text.isalpha() and text not in ("cpu", "mps") else text


_DEVICES = ("cuda", "musa", "npu", "xpu", "xla", "mlu", "hpu", "mps")


def check_device(device: Any) -> None:
    """Refuses what is not the name or number of a device."""
    if device is None or device == "cpu":
        return
    if isinstance(device, str):
        kind, colon, number = device.partition(":")
        if kind in _DEVICES and not (colon and int(number) and kind == "mps"):
            return
    elif isinstance(device, int) and device >= 0:
        return
    raise SafetensorError(f"device {device} is invalid")


_KINDS = {
    **{name: Torch for name in ("pt", "torch", "pytorch")},
    **{name: Numpy for name in ("np", "numpy")},
}
_LEFT_OUT = ("tf", "tensorflow", "jax", "flax", "mlx", "paddle")


def framework_of(name: Any, device: Any) -> Any:
    if not isinstance(name, str):
        raise TypeError(f"framework is a str such as 'np', not {name!r}")
    if name in _LEFT_OUT:
        raise SafetensorError(
            f"framework {name} is left out: there are {', '.join(_KINDS)}"
        )
    if name not in _KINDS:
        raise SafetensorError(f"framework {name} is invalid")
    check_device(device)
    return _KINDS[name](device)
