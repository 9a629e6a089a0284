# SPDX-License-Identifier: MIT
"""The exception of this package."""

from __future__ import annotations

from ..._model import Model


class SafetensorError(Exception):
    """A file, an index or a request that is invalid."""


def checked(model: Model, path: str | None = None) -> Model:
    """A model that is sound, and of that file alone; else it is closed."""
    if model.format != "safetensors" or path not in (None, model.path):
        model.close()
        raise SafetensorError("invalid header: this is not a safetensors file itself")
    if model.error_count:
        message = next(
            (each.message for each in model.findings if each.severity == "error"),
            "it has errors",
        )
        model.close()
        raise SafetensorError(f"invalid header: {message}")
    return model


def converted(what: str, error: Exception) -> SafetensorError:
    return SafetensorError(f"Error while {what}: {error}")
