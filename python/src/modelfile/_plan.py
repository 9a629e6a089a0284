# SPDX-License-Identifier: MIT
"""The memory that a model needs, and what fits."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _abi
from ._library import count, lib, sized, string, word
from ._model import Model, choice, open
from ._results import (
    Fit,
    FitContext,
    FitMix,
    FitOffload,
    Plan,
    PlanCache,
    PlanDevice,
    amount,
    take,
)

if TYPE_CHECKING:
    from typing_extensions import Literal

_FLASH = {"auto": _abi.MF_FLASH_AUTO, "on": _abi.MF_FLASH_ON, "off": _abi.MF_FLASH_OFF}
_ANSWER = {_abi.MF_FIT_UNKNOWN: None, _abi.MF_FIT_NO: False, _abi.MF_FIT_YES: True}
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

Size = Union[int, str]


def size(name: str, value: Size) -> int:
    """Bytes: a number of them, or "24G", "24GB", "24GiB", "512M"."""
    if not isinstance(value, str):
        return count(name, value)
    text = value.strip().upper()
    for end in ("IB", "B"):
        if text.endswith(end):
            text = text[: -len(end)]
            break
    unit = _UNITS.get(text[-1:], 0)
    try:
        digits = text[:-1] if unit else text
        number = int(digits) if digits.isdigit() else float(digits)
        number = int(number * (unit or 1))
    except (ValueError, OverflowError):
        raise ValueError(
            f"{name} is {value!r}, and has to be like 24G or 512M"
        ) from None
    return count(name, number)


def _amounts(kind: Any, found: Any, **other: Any) -> Any:
    """A dataclass whose whole numbers may be unknown."""
    out = take(kind, found, **other)
    for name, value in vars(out).items():
        if isinstance(value, int) and not isinstance(value, bool):
            object.__setattr__(out, name, amount(value))
    return out


def _lines(bits: int) -> tuple[str, ...]:
    return tuple(
        string(lib.mf_plan_line_name(line))
        for line in range(_abi.MF_PLAN_LINE_COUNT)
        if bits >> line & 1
    )


def _plan(found: Any, fit: Fit | None) -> Plan:
    devices = found.device[: found.device_count]
    return _amounts(  # type: ignore[no-any-return]
        Plan,
        found,
        caches=tuple(
            _amounts(PlanCache, each) for each in found.cache[: found.cache_count]
        ),
        lines={
            string(lib.mf_plan_line_name(line)): amount(found.line[line])
            for line in range(_abi.MF_PLAN_LINE_COUNT)
        },
        devices=tuple(
            _amounts(PlanDevice, each, limit=each.limit or None) for each in devices
        ),
        estimated=_lines(found.estimated),
        unknown=_lines(found.unknown),
        fit=fit,
    )


def _fit(found: Any) -> Fit:
    def answer(kind: Any, each: Any) -> Any:
        return _amounts(kind, each, fits=_ANSWER[each.fits])

    return _amounts(  # type: ignore[no-any-return]
        Fit,
        found,
        fits=_ANSWER[found.fits],
        longest=_amounts(FitContext, found.longest),
        contexts=tuple(
            _amounts(FitContext, each) for each in found.context if each.type
        ),
        mixes=tuple(answer(FitMix, each) for each in found.mix[: found.mix_count]),
        offloads=tuple(
            answer(FitOffload, each) for each in found.offload[: found.offload_count]
        ),
    )


def plan(
    model: Model | str | os.PathLike[str],
    *,
    ctx: int | None = None,
    fit: Size | None = None,
    margin: Size | None = None,
    type_k: str | None = None,
    type_v: str | None = None,
    sequences: int | None = None,
    ubatch: int | None = None,
    flash: Literal["auto", "on", "off"] = "auto",
    full_windows: bool = False,
    unified: bool = False,
    cpu_experts: bool = False,
    offload: int | None = None,
    devices: Sequence[Size] = (),
    as_type: str | None = None,
) -> Plan:
    """The memory that llama.cpp needs to run a model, from its header alone.

    ctx: tokens; None: as many as the model was trained for.  fit: what fits
    into so many bytes ("24G"), with margin left free (1 GiB).  type_k, type_v:
    types of the cache ("q8_0").  sequences: that run at once, sharing ctx.
    ubatch: tokens that are computed at once (512).  flash: flash attention.
    full_windows: blocks with a sliding window keep every token.  unified: one
    cache for all sequences.  cpu_experts: experts stay on the host.  offload:
    blocks on devices; devices: the memory of each, 0 for no limit.  as_type: as
    if it were quantized to "Q4_K_M".

    A folder with only a config.json will do.  Numbers are bytes; None: unknown.

    >>> import modelfile
    >>> p = modelfile.plan("fixtures/good-llama.gguf", ctx=256, fit="2G")
    >>> p.context, p.lines["kv"], p.fit.fits
    (256, 32768, True)
    """
    if not isinstance(model, Model):
        # A folder with config.json alone will do, and so will one with a model.
        with open(model, bare=True) as opened:
            return plan(
                opened,
                ctx=ctx,
                fit=fit,
                margin=margin,
                type_k=type_k,
                type_v=type_v,
                sequences=sequences,
                ubatch=ubatch,
                flash=flash,
                full_windows=full_windows,
                unified=unified,
                cpu_experts=cpu_experts,
                offload=offload,
                devices=devices,
                as_type=as_type,
            )
    limits = [size("devices", each) for each in devices]
    options = sized(
        _abi.mf_plan_options,
        context=count("ctx", ctx),
        sequences=count("sequences", sequences),
        ubatch=count("ubatch", ubatch),
        type_k=word(type_k),
        type_v=word(type_v),
        flash=choice("flash", flash, _FLASH),
        full_windows=full_windows,
        unified=unified,
        cpu_experts=cpu_experts,
        offloaded=offload is not None,
        offload=count("offload", offload),
        device_limits=(ctypes.c_uint64 * len(limits))(*limits) if limits else None,
        device_count=len(limits),
    )
    setattr(options, "as", word(as_type))
    found = _abi.mf_plan()
    env = model.env
    env.call(lib.mf_plan, model, ctypes.byref(options), ctypes.byref(found))
    fitted = None
    if fit is not None or margin is not None:
        room = sized(_abi.mf_fit_options, limit=size("fit", fit or 0))
        if margin is not None:
            room.margin = ctypes.pointer(ctypes.c_uint64(size("margin", margin)))
        out = _abi.mf_fit()
        env.call(
            *(lib.mf_plan_fit, model, ctypes.byref(options)),
            *(ctypes.byref(room), ctypes.byref(out)),
        )
        fitted = _fit(out)
    return _plan(found, fitted)
