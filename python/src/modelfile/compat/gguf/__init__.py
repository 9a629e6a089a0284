# SPDX-License-Identifier: MIT
"""gguf of PyPI (0.19.0), over this library: readers, writers, quants, names.

from modelfile.compat import gguf

reader = gguf.GGUFReader("model.gguf")
print(reader.get_field("general.architecture").contents())
"""

from __future__ import annotations

from .._absent import getter
from .constants import *

_HOMES = {
    name: module
    for module, names in {
        "constants": "constants",
        "gguf_reader": "gguf_reader GGUFReader ReaderField ReaderTensor "
        "READER_SUPPORTED_VERSIONS",
        "gguf_writer": "gguf_writer GGUFWriter GGUFValue TensorInfo WriterState "
        "SHARD_NAME_FORMAT",
        "quants": "quants quantize dequantize quant_shape_to_byte_shape "
        "quant_shape_from_byte_shape QuantError BF16 Q1_0 Q2_0 Q4_0 Q4_1 Q5_0 Q5_1 "
        "Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K TQ1_0 TQ2_0 MXFP4 NVFP4 IQ1_S IQ1_M IQ2_XXS "
        "IQ2_XS IQ2_S IQ3_XXS IQ3_S IQ4_NL IQ4_XS",
        "tensor_mapping": "tensor_mapping TensorNameMap get_tensor_name_map",
        "metadata": "metadata Metadata",
        "utility": "utility fill_templated_filename naming_convention size_label "
        "model_weight_count_rounded_notation",
    }.items()
    for name in names.split()
}

_VOCAB = "it makes a vocabulary of a tokenizer's files, as modelfile.convert() does"
_LAZY = "tensors of modelfile.open() are read when they are asked for"
_REMOTE = "this library opens no connection"
_LOCAL = "modelfile.open() reads safetensors"
_LEFT_OUT = {
    "vocab": _VOCAB,
    "SpecialVocab": _VOCAB,
    "BaseVocab": _VOCAB,
    "Vocab": _VOCAB,
    "NoVocab": _VOCAB,
    "BpeVocab": _VOCAB,
    "SentencePieceVocab": _VOCAB,
    "LlamaHfVocab": _VOCAB,
    "MistralVocab": _VOCAB,
    "MistralTokenizerType": _VOCAB,
    "bytes_to_unicode": _VOCAB,
    "lazy": _LAZY,
    "LazyBase": _LAZY,
    "LazyMeta": _LAZY,
    "LazyNumpyTensor": _LAZY,
    "RemoteTensor": _REMOTE,
    "SafetensorRemote": _REMOTE,
    "LocalTensor": _LOCAL,
    "LocalTensorRange": _LOCAL,
    "SafetensorsLocal": _LOCAL,
    "VisionProjectorType": "only converters of images' encoders use it",
    "VISION_PROJECTOR_TYPE": "only converters of images' encoders use it",
    "VISION_PROJECTOR_TYPE_NAMES": "only converters of images' encoders use it",
    "scripts": "the command modelfile does what they do",
}

_others = getter(__name__, _HOMES, _LEFT_OUT)


def __getattr__(name: str) -> object:
    if name.startswith("KEY_"):
        from . import constants

        return getattr(constants, name)
    return _others(name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
