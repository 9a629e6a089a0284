# SPDX-License-Identifier: MIT
"""Indexes of a part of a tensor: whole numbers, slices, one "..."."""

from __future__ import annotations

import operator
from typing import Any

from ._errors import SafetensorError

_SIZE_MAX = 2**64 - 1


def _unsigned(value: Any) -> int | None:
    """A bound of a slice, which cannot count from the end."""
    if value is None:
        return None
    number = operator.index(value)
    if number < 0:
        raise OverflowError(f"the bound {number} of a slice is below zero")
    if number > _SIZE_MAX:
        raise OverflowError(f"the bound {number} of a slice is too large")
    return number


def _slice(value: slice) -> slice:
    start, stop = _unsigned(value.start), _unsigned(value.stop)
    step = 1 if value.step is None else operator.index(value.step)
    if step <= 0:
        raise SafetensorError(f"Slice step must be a positive integer, got {step}")
    return slice(start, stop, step)


def _number(value: Any, dimension: int, shape: list[int]) -> int:
    size = shape[dimension] if dimension < len(shape) else 0
    try:
        number = operator.index(value)
    except TypeError:
        number = 2**31
    if not -(2**31) <= number < 2**31:
        raise SafetensorError(
            f"the index of dimension {dimension} is neither int nor slice"
        )
    if number < -size:
        raise SafetensorError(
            f"Invalid index {number} for dimension {dimension} of size {size}"
        )
    return number + size if number < 0 else number


def parse(index: Any, shape: list[int]) -> list[int | slice]:
    """One for each dimension that is named."""
    if isinstance(index, list):
        if index:
            raise SafetensorError("Non empty lists are not implemented")
        return [slice(0, 0, 1)]
    items = index if isinstance(index, tuple) else (index,)
    dots = sum(item is Ellipsis for item in items)
    if dots > 1:
        raise SafetensorError('an index has at most one "..."')
    out: list[int | slice] = []
    for item in items:
        if item is Ellipsis:
            out += [slice(None, None, 1)] * max(len(shape) - len(items) + 1, 0)
        elif isinstance(item, slice):
            out.append(_slice(item))
        else:
            out.append(_number(item, len(out), shape))
    return out


def _shown(item: int | slice) -> str:
    if isinstance(item, int):
        return f"{item}"
    start = "" if item.start is None else item.start
    stop = "" if item.stop is None else item.stop
    return f"{start}:{stop}" + (f":{item.step}" if item.step > 1 else "")


def check(index: list[int | slice], shape: list[int]) -> None:
    """Refuses what is not within the shape; of several the last one is named."""
    problem = ""
    if len(index) > len(shape):
        problem = "more slicing indexes than dimensions in tensor"
    for dimension, (item, size) in enumerate(zip(index, shape)):
        if isinstance(item, int):
            outside = item if item >= size else None
        else:
            # Of a dimension of size 0 no slice is within, as in safetensors.
            first = item.start or 0
            last = -1 if item.stop is None else item.stop - 1
            outside = first if first >= size else last if last >= size else None
        if outside is not None and len(index) <= len(shape):
            problem = (
                f"index {outside} out of bounds for tensor dimension "
                f"#{dimension} of size {size}"
            )
    if problem:
        shown = ", ".join(_shown(item) for item in index)
        raise SafetensorError(
            f"Error during slicing [{shown}] with shape {shape}: {problem}"
        )
