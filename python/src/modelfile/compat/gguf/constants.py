# SPDX-License-Identifier: MIT
"""Numbers and names of GGUF files, as the library has them."""

from __future__ import annotations

import re
from enum import Enum, IntEnum
from typing import Any

from ... import _tables
from ._keys import Keys
from ._names import ARCHS, TENSORS

GGUF_MAGIC = 0x46554747  # "GGUF" as a little-endian number
GGUF_VERSION = 3
GGUF_DEFAULT_ALIGNMENT = 32
GGML_QUANT_VERSION = 2
GGML_MAX_DIMS = 4
QK_K = 256  # elements of a super-block


class GGUFValueType(IntEnum):
    UINT8 = 0
    INT8 = 1
    UINT16 = 2
    INT16 = 3
    UINT32 = 4
    INT32 = 5
    FLOAT32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    UINT64 = 10
    INT64 = 11
    FLOAT64 = 12

    @staticmethod
    def get_type(val: Any) -> GGUFValueType:
        """The type that a value of Python gets if nothing says another."""
        for kinds, type in (
            ((str, bytes, bytearray), GGUFValueType.STRING),
            ((list,), GGUFValueType.ARRAY),
            ((float,), GGUFValueType.FLOAT32),
            ((bool,), GGUFValueType.BOOL),  # before int, which it is, too
            ((int,), GGUFValueType.INT32),
        ):
            if isinstance(val, kinds):
                return type
        raise ValueError(f"metadata cannot be a {val.__class__.__name__}")


class GGUFEndian(IntEnum):
    LITTLE = 0
    BIG = 1


class TokenType(IntEnum):
    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class RopeScalingType(Enum):
    NONE = "none"
    LINEAR = "linear"
    YARN = "yarn"
    LONGROPE = "longrope"


class PoolingType(IntEnum):
    NONE = 0
    MEAN = 1
    CLS = 2
    LAST = 3
    RANK = 4


class ExpertGatingFuncType(IntEnum):
    SOFTMAX = 1
    SIGMOID = 2
    SQRTSOFTPLUS = 4


class GGUFType:
    MODEL = "model"
    ADAPTER = "adapter"
    IMATRIX = "imatrix"
    MMPROJ = "mmproj"


def _enum(name: str, values: dict[str, int]) -> Any:
    return IntEnum(name, values, module=__name__)


_types = {each.name.upper(): each for each in _tables.types() if each.ggml is not None}

GGMLQuantizationType: Any = _enum(
    "GGMLQuantizationType",
    dict(
        sorted(
            ((name, each.ggml or 0) for name, each in _types.items()),
            key=lambda row: row[1],
        )
    ),
)
#: of a type: elements and bytes of a block
GGML_QUANT_SIZES: dict[Any, tuple[int, int]] = {
    each: (_types[each.name].block, _types[each.name].size)
    for each in GGMLQuantizationType
}

# A mix has the name that llama-quantize knows, with MOSTLY_ before it.
_file_types = {
    f"MOSTLY_{mix.name}": mix.file_type
    for mix in _tables.mixes()
    if mix.name not in ("F32", "COPY")
}
LlamaFileType: Any = _enum(
    "LlamaFileType",
    {
        "ALL_F32": 0,
        **dict(
            sorted({**_file_types, "MOSTLY_NVFP4": 39}.items(), key=lambda row: row[1])
        ),
        "GUESSED": 1024,
    },
)

# ---- architectures and tensors

# Where it is not the name in a file with its letters made large.
_ARCH_IDS = {
    "clip": "MMPROJ",
    "deepseek2-ocr": "DEEPSEEK2OCR",
    "glm4moe": "GLM4_MOE",
    "granitemoe": "GRANITE_MOE",
    "granitehybrid": "GRANITE_HYBRID",
    "graniteswitch": "GRANITE_SWITCH",
    "minimax-01": "MINIMAX01",
    "minimax-m2": "MINIMAXM2",
    "minimax-m3": "MINIMAXM3",
    "pangu-embedded": "PANGU_EMBED",
}


def _arch_id(name: str) -> str:
    return _ARCH_IDS.get(name) or re.sub("[^A-Z0-9]", "_", name.upper())


MODEL_ARCH: Any = _enum(
    "MODEL_ARCH", {_arch_id(name): number for number, name in enumerate(ARCHS, 1)}
)
MODEL_ARCH_NAMES: dict[Any, str] = dict(zip(MODEL_ARCH, ARCHS))
MODEL_TENSOR: Any = _enum(
    "MODEL_TENSOR", {name.upper(): number for number, name in enumerate(TENSORS, 1)}
)
TENSOR_NAMES: dict[Any, str] = dict(zip(MODEL_TENSOR, TENSORS.values()))
_of_id = dict(zip(TENSORS, MODEL_TENSOR))
MODEL_TENSORS: dict[Any, list[Any]] = {
    arch: [_of_id[each] for each in ARCHS[name]]
    for arch, name in MODEL_ARCH_NAMES.items()
}
#: what converters leave out, since it is computed
MODEL_TENSOR_SKIP: dict[Any, list[Any]] = {
    MODEL_ARCH[name]: [MODEL_TENSOR.ROPE_FREQS, MODEL_TENSOR.ATTN_ROT_EMBD]
    for name in (
        "LLAMA DECI BAICHUAN QWEN CODESHELL ORION STARCODER2 XVERSE DEEPSEEK "
        "DEEPSEEK2 DEEPSEEK2OCR NEMOTRON PANGU_EMBED"
    ).split()
}
for _name in ("CHATGLM", "BAILINGMOE"):
    MODEL_TENSOR_SKIP[MODEL_ARCH[_name]] = [MODEL_TENSOR.ROPE_FREQS]

# ---- old names of keys


def __getattr__(name: str) -> Any:
    """KEY_CONTEXT_LENGTH for Keys.LLM.CONTEXT_LENGTH, and the like."""
    rest = name[4:] if name.startswith("KEY_") else ""
    group, _, last = rest.partition("_")
    for cls, key in (("LLM", rest), (group, last), (group.capitalize(), last)):
        found = getattr(getattr(Keys, cls, None), key, None) if key else None
        if isinstance(found, str):
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
