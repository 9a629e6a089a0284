# SPDX-License-Identifier: MIT
"""Arrays of numpy to blocks of quantized numbers, and back."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _abi
from ._arrays import address, numpy
from ._env import Env
from ._library import count, lib, word

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Buffer

_local = threading.local()  # two threads do not wait for each other


def _env(threads: int | None, isa: str | None) -> Env:
    """One for each number of threads: tables of the codecs are kept in it."""
    key = (count("threads", threads, 2**31 - 1), isa)
    envs: dict[Any, Env] = _local.__dict__.setdefault("envs", {})
    if key not in envs:
        envs[key] = Env(threads=key[0], isa=isa)
    return envs[key]


_kernels: dict[tuple[str, str | None], Any] = {}


def _kernel(name: str, isa: str | None) -> Any:
    found = _kernels.get((name, isa))
    if found is not None:
        return found
    if not isinstance(name, str):
        raise TypeError(f"a type is a str such as 'q4_k', not {name!r}")
    out = _abi.mf_kernel()
    if not lib.mf_kernel_find(word(name.lower()), word(isa), ctypes.byref(out)):
        raise ValueError(f"{name!r} has no codec" + (f" for {isa}" if isa else ""))
    _kernels[name, isa] = out
    return out


def _bytes_of(kernel: Any, columns: int) -> int:
    size: int = kernel.prefix + columns // kernel.block * kernel.size
    return size


def quantize_array(
    array: npt.NDArray[np.float32],
    type: str,
    weights: npt.ArrayLike | None = None,
    *,
    out: npt.NDArray[np.uint8] | None = None,
    threads: int | None = None,
    isa: str | None = None,
) -> npt.NDArray[np.uint8]:
    """Encodes the rows of an array of float32 in a type of tensors.

    Gives an array of uint8 whose last dimension is a row's bytes, as
    llama-quantize makes them of a row.  The last dimension of the input has to
    be whole blocks.  weights: the importance of each column, which every row
    shares; some types (iq2_xxs) need them.  out: an array of the result's shape and
    type, which is filled and returned.  threads: None: one for each processor, if
    there is work for them; other Python threads run meanwhile.  isa: one of isas();
    bytes are the same with each.

    Raises TypeError if the array is not float32, ValueError if rows are not
    whole blocks, or the type is unknown or can only be decoded.

    >>> import modelfile, numpy
    >>> modelfile.quantize_array(numpy.ones((2, 64), "float32"), "q8_0").shape
    (2, 68)
    """
    np = numpy()
    kernel = _kernel(type, isa)
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected an array of numpy, not {array.__class__.__name__}")
    if array.dtype != np.float32:
        raise TypeError(f"expected float32, not {array.dtype}: astype('float32')")
    if not array.ndim:
        raise ValueError("a scalar has no rows")
    columns = array.shape[-1]
    if columns % kernel.block:
        raise ValueError(
            f"rows have {columns} numbers, which is not a multiple of the "
            f"{kernel.block} of a block of {string_of(kernel)}"
        )
    needed = ctypes.c_bool()
    if not lib.mf_kernel_encodes(ctypes.byref(kernel), ctypes.byref(needed)):
        raise ValueError(f"{string_of(kernel)} can only be decoded")
    if weights is None and needed.value:
        raise ValueError(f"{string_of(kernel)} needs weights")
    importance = None
    # A NaN, or a number that the type cannot hold, makes its block one, too.
    if weights is not None:
        importance = np.ascontiguousarray(weights, np.float32)
        if importance.shape != (columns,):
            raise ValueError(f"weights have to be {columns} numbers")
    array = np.ascontiguousarray(array)
    lead: tuple[int, ...] = ()
    if kernel.prefix:  # one for the tensor
        rows, columns = 1, array.size
    else:
        rows, lead = array.size // columns if columns else 0, array.shape[:-1]
    into: npt.NDArray[Any]
    into = _target(out, (*lead, _bytes_of(kernel, columns)), np.uint8, array)
    if array.size:
        env = _env(threads, isa)
        env.call(
            *(lib.mf_env_encode_rows, env.handle, ctypes.byref(kernel)),
            *(address(array), rows, columns),
            *(None if importance is None else address(importance), address(into)),
        )
    return into


def _target(out: Any, shape: Sequence[int], kind: Any, given: Any) -> Any:
    """The array that the result goes to: a new one, or the caller's."""
    np = numpy()
    found = np.empty(shape, kind) if out is None else out
    if not isinstance(found, np.ndarray) or found.dtype != kind:
        raise TypeError(f"out has to be an array of {np.dtype(kind).name}")
    if found.shape != shape:
        raise ValueError(f"out has the shape {found.shape}, and has to have {shape}")
    if not found.flags.c_contiguous or not found.flags.writeable:
        raise ValueError("out has to be in one piece, and not read-only")
    if out is not None and np.may_share_memory(out, given):
        raise ValueError("out has memory in common with what is read")
    return found


def string_of(kernel: Any) -> str:
    name: bytes = kernel.type
    return name.decode()


def dequantize_array(
    data: Buffer | npt.NDArray[np.uint8],
    type: str,
    shape: Sequence[int] | None = None,
    *,
    out: npt.NDArray[np.float32] | None = None,
    threads: int | None = None,
    isa: str | None = None,
) -> npt.NDArray[np.float32]:
    """Decodes blocks to an array of float32.

    data: bytes, or an array of uint8, such as Tensor.numpy() of a quantized
    tensor.  shape: of the numbers; None: it follows from the array, whose last
    dimension is a row's bytes.  out: as in quantize_array().  Raises ValueError if
    there are not as many bytes as the shape needs.

    >>> import modelfile, numpy
    >>> a = numpy.linspace(-1, 1, 64, dtype="float32").reshape(2, 32)
    >>> b = modelfile.dequantize_array(modelfile.quantize_array(a, "q8_0"), "q8_0")
    >>> bool(abs(a - b).max() < 0.005)
    True
    """
    np = numpy()
    kernel = _kernel(type, isa)
    blocks: Any = data
    if not isinstance(data, np.ndarray):
        blocks = np.frombuffer(data, np.uint8)
    elif blocks.dtype != np.uint8:
        raise TypeError(f"expected bytes or uint8, not {blocks.dtype}")
    blocks = np.ascontiguousarray(blocks)
    if shape is None:
        shape = _shape(blocks, kernel)
    else:
        shape = tuple(count("shape", each) for each in shape)
    columns = shape[-1] if shape else 1
    size = 1
    for each in shape:
        size *= each
    if kernel.prefix:
        columns = size
    if columns % kernel.block:
        raise ValueError(
            f"rows of {columns} numbers are not a multiple of the {kernel.block} of a "
            f"block of {string_of(kernel)}"
        )
    rows = size // columns if columns else 0
    if blocks.size != (rows * _bytes_of(kernel, columns) if size else 0):
        raise ValueError(
            f"{shape} numbers of {string_of(kernel)} are "
            f"{rows * _bytes_of(kernel, columns)} bytes, and there are {blocks.size}"
        )
    into: npt.NDArray[Any] = _target(out, shape, np.float32, blocks)
    if size:
        env = _env(threads, isa)
        env.call(
            *(lib.mf_env_decode_rows, env.handle, ctypes.byref(kernel)),
            *(address(blocks), rows, columns, address(into)),
        )
    return into


def _shape(data: Any, kernel: Any) -> tuple[int, ...]:
    """Of the numbers in an array of blocks."""
    if not data.ndim:
        raise ValueError("a scalar has no blocks")
    row = data.shape[-1] - kernel.prefix
    if row < 0 or row % kernel.size:
        raise ValueError(
            f"rows of {data.shape[-1]} bytes are not a multiple of the "
            f"{kernel.size} of a block of {string_of(kernel)}"
        )
    return (*data.shape[:-1], row // kernel.size * kernel.block)
