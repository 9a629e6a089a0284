# SPDX-License-Identifier: MIT
"""Inspect, check, convert and quantize model files: GGUF, safetensors, APR,
folders of Hugging Face, PyTorch checkpoints, npz and npy.

    with modelfile.open("model.gguf") as m:
        print(m.metadata["general.architecture"])
        for name, tensor in m.tensors.items():
            print(name, tensor.type, tensor.shape)

Nothing but Python is needed; arrays need numpy, or torch.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, which takes a while to import
if TYPE_CHECKING:
    from ._abi import MF_VERSION_STRING as __version__
    from ._arrays import BitsWarning
    from ._codecs import dequantize_array, quantize_array
    from ._edit import Edit, edit, recover
    from ._env import Progress
    from ._errors import (
        ArgumentError,
        CorruptError,
        Error,
        FormatError,
        LimitError,
        NeedMoreError,
        NotFoundError,
        OutOfMemoryError,
        OutputError,
        ReadError,
        StoppedError,
        UnsupportedError,
    )
    from ._metadata import Metadata
    from ._model import Model, open, open_memory
    from ._plan import plan
    from ._results import (
        Adapter,
        Column,
        Converted,
        Coverage,
        Detection,
        Difference,
        Edited,
        Finding,
        Fit,
        FitContext,
        FitMix,
        FitOffload,
        Format,
        ImatrixCoverage,
        ImatrixTensor,
        Merged,
        Missing,
        Mix,
        Plan,
        PlanCache,
        PlanDevice,
        PlannedTensor,
        Quantized,
        QuantizedType,
        Recovered,
        Rule,
        Shard,
        Stats,
        Table,
        Type,
        Usage,
        ValueErrors,
        Verification,
        VerifiedKey,
        VerifiedTensor,
    )
    from ._tables import find_type, formats, isas, mixes, rules, types
    from ._tensor import Tensor, Tensors
    from ._values import Array, Typed, Value
    from ._work import (
        convert,
        dequantize,
        detect,
        diff,
        hash_file,
        imatrix_coverage,
        merge_imatrix,
        quantize,
        quantize_many,
        report,
        report_document,
        verify,
    )
    from ._writer import Writer

# Where each name comes from: a program that only opens files does not load what
# quantizes them.
_MODULES = {
    "_arrays": "BitsWarning",
    "_codecs": "dequantize_array quantize_array",
    "_edit": "Edit edit recover",
    "_env": "Progress",
    "_errors": "ArgumentError CorruptError Error FormatError LimitError "
    "NeedMoreError NotFoundError OutOfMemoryError OutputError ReadError "
    "StoppedError UnsupportedError",
    "_metadata": "Metadata",
    "_model": "Model open open_memory",
    "_plan": "plan",
    "_results": "Adapter Column Converted Coverage Detection Difference Edited "
    "Finding Fit FitContext FitMix FitOffload Format ImatrixCoverage ImatrixTensor "
    "Merged Missing Mix Plan PlanCache PlanDevice PlannedTensor Quantized "
    "QuantizedType Recovered Rule Shard Stats Table Type Usage ValueErrors "
    "Verification VerifiedKey VerifiedTensor",
    "_tables": "find_type formats isas mixes rules types",
    "_tensor": "Tensor Tensors",
    "_values": "Array Typed Value",
    "_work": "convert dequantize detect diff hash_file imatrix_coverage "
    "merge_imatrix quantize quantize_many report report_document verify",
    "_writer": "Writer",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

# Checkers of types want the names themselves.
__all__ = [
    "__version__",
    "Adapter",
    "ArgumentError",
    "Array",
    "BitsWarning",
    "Column",
    "Converted",
    "CorruptError",
    "Coverage",
    "Detection",
    "Difference",
    "Edit",
    "Edited",
    "Error",
    "Finding",
    "Fit",
    "FitContext",
    "FitMix",
    "FitOffload",
    "Format",
    "FormatError",
    "ImatrixCoverage",
    "ImatrixTensor",
    "LimitError",
    "Merged",
    "Metadata",
    "Missing",
    "Mix",
    "Model",
    "NeedMoreError",
    "NotFoundError",
    "OutOfMemoryError",
    "OutputError",
    "Plan",
    "PlanCache",
    "PlanDevice",
    "PlannedTensor",
    "Progress",
    "Quantized",
    "QuantizedType",
    "ReadError",
    "Recovered",
    "Rule",
    "Shard",
    "Stats",
    "StoppedError",
    "Table",
    "Tensor",
    "Tensors",
    "Type",
    "Typed",
    "UnsupportedError",
    "Usage",
    "Value",
    "ValueErrors",
    "Verification",
    "VerifiedKey",
    "VerifiedTensor",
    "Writer",
    "convert",
    "dequantize",
    "dequantize_array",
    "detect",
    "diff",
    "edit",
    "find_type",
    "formats",
    "hash_file",
    "imatrix_coverage",
    "isas",
    "merge_imatrix",
    "mixes",
    "open",
    "open_memory",
    "plan",
    "quantize",
    "quantize_array",
    "quantize_many",
    "recover",
    "report",
    "report_document",
    "rules",
    "types",
    "verify",
]


if not TYPE_CHECKING:  # for checkers, each name is above

    def __getattr__(name):
        from importlib import import_module

        if name == "__version__":
            value = import_module("._abi", __name__).MF_VERSION_STRING
        elif name in _HOME:
            value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
