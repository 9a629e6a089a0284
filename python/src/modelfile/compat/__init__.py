# SPDX-License-Identifier: MIT
"""What programs import today, over this library: gguf and safetensors.

    from modelfile.compat import gguf
    from modelfile.compat.safetensors.torch import load_file

Programs that are not to be changed find them under the usual names after

    import modelfile.compat
    modelfile.compat.install("gguf", "safetensors")

docs/python-compat.md lists what is different, and what is left out.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

PACKAGES = ("gguf", "safetensors")


class _SameModule(Loader):
    """Gives a module of this package under another name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # of its own name, which is loaded


class _Finder(MetaPathFinder):
    def __init__(self) -> None:
        self.packages: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.split(".")[0] not in self.packages:
            return None
        own = f"{__name__}.{name}"
        try:
            found = import_module(own)
        except ModuleNotFoundError as error:
            if error.name != own:
                raise
            raise ModuleNotFoundError(
                f"{own} is left out: see docs/python-compat.md", name=name
            ) from None
        return ModuleSpec(name, _SameModule(own), is_package=hasattr(found, "__path__"))


_finder = _Finder()


def install(*packages: str) -> None:
    """From now on `import gguf` and `import safetensors` mean the modules here."""
    for name in packages:
        if name not in PACKAGES:
            raise ValueError(f"{name!r} is not one of {', '.join(PACKAGES)}")
        loaded = sys.modules.get(name)
        if loaded is not None and not loaded.__name__.startswith(__name__):
            raise ImportError(f"{name} is imported already, from {loaded.__file__}")
    _finder.packages.update(packages)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
