# SPDX-License-Identifier: MIT
"""safetensors of PyPI (0.8.0), over this library, for numpy and torch.

from modelfile.compat.safetensors import safe_open

with safe_open("model.safetensors", framework="np") as f:
    for name in f.keys():
        print(name, f.get_tensor(name).shape)
"""

from __future__ import annotations

from .._absent import getter
from ._errors import SafetensorError
from ._open import _safe_open_handle, safe_open
from ._serialize import TensorSpec, deserialize, serialize, serialize_file

#: the release of safetensors that this is like
__version__ = "0.8.0"

__all__ = [
    "SafetensorError",
    "TensorSpec",
    "deserialize",
    "safe_open",
    "serialize",
    "serialize_file",
]

_OTHER = "of frameworks this package has numpy and torch"
_others = getter(
    __name__,
    {"numpy": "numpy", "torch": "torch"},
    {name: _OTHER for name in ("flax", "mlx", "paddle", "tensorflow")},
)


def __getattr__(name: str) -> object:
    return _others(name)


_safe_open_handle.__module__ = safe_open.__module__ = __name__
for _each in (SafetensorError, TensorSpec):
    _each.__module__ = __name__
