# SPDX-License-Identifier: MIT
"""Attributes of modules that are made when they are asked for, or left out."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Callable


def getter(
    module: str, homes: dict[str, str], left_out: dict[str, str]
) -> Callable[[str], Any]:
    """A __getattr__ for a module: of names that other modules have (name: module,
    or a module of the package), and of those that are left out (name: why)."""

    def get(name: str) -> Any:
        if name in homes:
            home = import_module(f"{module}.{homes[name]}")
            return home if homes[name] == name else getattr(home, name)
        if name in left_out:
            raise AttributeError(f"{module} leaves out {name}: {left_out[name]}")
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get
