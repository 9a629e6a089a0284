# SPDX-License-Identifier: MIT
"""Arrays of numbers to blocks of a type and back, by the library's codecs."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ... import _abi
from ..._arrays import numpy
from ..._codecs import dequantize_array, quantize_array
from ..._library import lib, word
from .constants import GGML_QUANT_SIZES, GGMLQuantizationType


class QuantError(Exception):
    """A tensor whose rows are not whole blocks."""


def quant_shape_to_byte_shape(shape: Sequence[int], quant_type: Any) -> tuple[int, ...]:
    """The shape of the blocks in bytes, of a shape of numbers."""
    block, size = GGML_QUANT_SIZES[quant_type]
    if shape[-1] % block:
        raise ValueError(
            f"rows of {shape[-1]} numbers are not whole blocks of {quant_type.name}, "
            f"which have {block}"
        )
    return (*shape[:-1], shape[-1] // block * size)


def quant_shape_from_byte_shape(
    shape: Sequence[int], quant_type: Any
) -> tuple[int, ...]:
    """The shape of the numbers, of a shape of blocks in bytes."""
    block, size = GGML_QUANT_SIZES[quant_type]
    if shape[-1] % size:
        raise ValueError(
            f"rows of {shape[-1]} bytes are not whole blocks of {quant_type.name}, "
            f"which have {size}"
        )
    return (*shape[:-1], shape[-1] // size * block)


class Quant:
    """One type: a class for each, which needs no instance."""

    qtype: Any
    block_size: int
    type_size: int
    _encodes: bool

    @classmethod
    def can_quantize(cls, tensor: Any) -> bool:
        return bool(tensor.shape[-1] % cls.block_size == 0)

    @classmethod
    def quantize(cls, tensor: Any) -> Any:
        if not cls.can_quantize(tensor):
            raise QuantError(
                f"a tensor of shape {tensor.shape} is not whole blocks of "
                f"{cls.qtype.name}"
            )
        if not cls._encodes:
            raise NotImplementedError(
                f"{cls.qtype.name} needs the importance of each column: "
                "modelfile.quantize_array() takes it"
            )
        numbers = numpy().asarray(tensor, "float32")
        return quantize_array(numbers, cls.qtype.name.lower())

    quantize_rows = quantize_blocks = quantize

    @classmethod
    def dequantize(cls, tensor: Any) -> Any:
        data = numpy().ascontiguousarray(tensor)
        return dequantize_array(
            data.view("uint8"),
            cls.qtype.name.lower(),
            quant_shape_from_byte_shape(data.view("uint8").shape, cls.qtype),
        )

    dequantize_rows = dequantize_blocks = dequantize


def _quant(qtype: Any) -> Any:
    """The class of a type; None if the library has no codec for it."""
    kernel, weights = _abi.mf_kernel(), ctypes.c_bool()
    if not lib.mf_kernel_find(word(qtype.name.lower()), None, ctypes.byref(kernel)):
        return None
    encodes = lib.mf_kernel_encodes(ctypes.byref(kernel), ctypes.byref(weights))
    block, size = GGML_QUANT_SIZES[qtype]
    return type(
        qtype.name,
        (Quant,),
        {
            "__module__": __name__,
            "qtype": qtype,
            "block_size": block,
            "type_size": size,
            "_encodes": bool(encodes) and not weights.value,
        },
    )


_PLAIN = ("F32", "F16", "F64", "I8", "I16", "I32", "I64")
_type_traits: dict[Any, Any] = {
    each: found
    for each in GGMLQuantizationType
    if each.name not in _PLAIN and (found := _quant(each)) is not None
}
globals().update({each.name: found for each, found in _type_traits.items()})


def quantize(data: Any, qtype: Any) -> Any:
    """Numbers as blocks; K-quants, too, which gguf of PyPI only decodes."""
    np = numpy()
    if qtype == GGMLQuantizationType.F32:
        return data.astype(np.float32, copy=False)
    if qtype == GGMLQuantizationType.F16:
        with np.errstate(over="ignore"):
            return data.astype(np.float16, copy=False)
    if qtype not in _type_traits:
        raise NotImplementedError(f"{qtype.name} has no codec")
    return _type_traits[qtype].quantize(data)


def dequantize(data: Any, qtype: Any) -> Any:
    """Blocks, an array of bytes, as float32."""
    np = numpy()
    if qtype == GGMLQuantizationType.F32:
        return data.view(np.float32)
    if qtype == GGMLQuantizationType.F16:
        return data.view(np.float16).astype(np.float32)
    if qtype not in _type_traits:
        raise NotImplementedError(f"{qtype.name} has no codec")
    return _type_traits[qtype].dequantize(data)


def __getattr__(name: str) -> Any:  # checkers of types do not see the classes
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
