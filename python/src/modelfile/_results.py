# SPDX-License-Identifier: MIT
"""What functions answer: dataclasses, made from the library's structs."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, TypeVar

from . import _abi
from ._library import lib, string, text

T = TypeVar("T")


def take(kind: type[T], found: Any, /, **other: Any) -> T:
    """A dataclass from a struct: members of the same name, or those given."""
    members = {}
    for each in dataclasses.fields(kind):  # type: ignore[arg-type]
        if each.name in other:
            members[each.name] = other[each.name]
            continue
        value = getattr(found, each.name)
        if isinstance(value, _abi.mf_str):
            value = text(value)
        elif isinstance(value, bytes):
            value = string(value)
        elif value is None:
            value = ""
        members[each.name] = value
    return kind(**members)


# ---- models


@dataclass(frozen=True)
class Shard:
    """One of the files of a model."""

    path: str
    size: int
    data_offset: int
    tensor_count: int


@dataclass(frozen=True)
class Missing:
    """A tensor, or a member of an archive, that is not read."""

    name: str
    reason: str
    shard: int


@dataclass(frozen=True)
class Finding:
    """Something that a rule says of a model."""

    rule: str  #: "TENSOR-BOUNDS"
    severity: str  #: "error", "warning", "note"
    message: str
    tensor: str | None  #: that it is about
    subject: str | None  #: the tensor, or the key or member it is about
    offset: int | None  #: in the shard's file
    shard: int

    def __str__(self) -> str:
        return f"{self.severity}: {self.message} [{self.rule}]"


@dataclass(frozen=True)
class Coverage:
    """How much of a model was checked; the first five add up to file_bytes."""

    header_bytes: int
    tensor_bytes: int
    padding_bytes: int
    footer_bytes: int
    gap_bytes: int
    file_bytes: int
    checked_bytes: int
    rule_count: int
    applied_count: int


@dataclass(frozen=True)
class Stats:
    """Of the numbers of a tensor; min to l2 are of the finite ones.

    min and max are exact: an int of integers."""

    count: int
    min: int | float
    max: int | float
    mean: float
    std: float
    l2: float
    zeros: int
    nans: int
    infinities: int


@dataclass(frozen=True)
class Usage:
    """What an open model takes, and has read."""

    heap: int  #: bytes of the library's memory now
    peak: int  #: and at most
    bytes_read: int
    reads: int


@dataclass(frozen=True)
class Detection:
    """The format of a file, by its bytes."""

    format: str
    variant: str
    note: str
    version: int
    version_minor: int
    byte_order: str
    supported: bool  #: open() can read it
    size: int


@dataclass(frozen=True)
class Adapter:
    """What a LoRA adapter says about itself."""

    kind: str
    pairs: int  #: tensors that a pair of matrices changes
    whole: int  #: tensors that take the place of the model's
    rank_min: int
    rank_max: int
    alpha: float | None
    scale: tuple[float, float] | None  #: of the pairs' products: least, most
    base_model: str


@dataclass(frozen=True)
class Table:
    """A Parquet file, which has columns and no tensors."""

    rows: int
    group_count: int
    chunk_count: int
    bytes: int
    unpacked: int
    created_by: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Column:
    """A column of a Parquet file."""

    path: str  #: names from the outermost on, joined by dots
    physical: str  #: "INT64", "BYTE_ARRAY", ...
    logical: str  #: "STRING", "DECIMAL(10,2)", ..., or ""
    optional: bool
    repeated: bool


# ---- comparing


@dataclass(frozen=True)
class ValueErrors:
    """How far the numbers of two tensors are apart."""

    count: int  #: numbers that are finite in both; for these:
    max_absolute: float
    max_relative: float  #: relative to a's number, if that is not 0
    rmse: float  #: the root of the mean squared error
    cosine: float  #: similarity: 1 if they point the same way
    from_zero: int  #: numbers that are 0 in a but not in b
    nan_a: int  #: numbers that are NaN in a alone
    nan_b: int
    inf_a: int
    inf_b: int


@dataclass(frozen=True)
class Difference:
    """A metadata key or a tensor that two models do not have alike."""

    name: str
    is_tensor: bool
    what: tuple[str, ...]  #: "only_a", "only_b", "type", "shape", "data"
    a: int | None  #: index in a
    b: int | None
    first: int  #: the first byte of a tensor, or element of an array, that differs
    values: ValueErrors | None
    no_values: str  #: why the numbers cannot be compared


@dataclass(frozen=True)
class VerifiedTensor:
    """What verify() found for a tensor."""

    name: str
    verdict: str  #: "same", "differs", "other_version", "not_derivable", "missing"
    weighted: bool  #: encoded with the importance matrix
    version: str  #: of the encoder that made it, if it is not this one; else ""
    reason: str  #: why it is not derivable; else ""
    blocks: int  #: that it has
    differ: int  #: how many of them differ
    block: int  #: the first that does
    offset: int  #: where that begins in the shard's file
    errors: ValueErrors | None  #: from the numbers of the source


@dataclass(frozen=True)
class VerifiedKey:
    """A metadata key that the source and the model do not have alike."""

    key: str
    what: str  #: "only_source", "only_model", "data"


@dataclass(frozen=True)
class Verification:
    """Whether a model follows from its source."""

    follows: bool  #: all tensors are those that the source gives
    stated: bool  #: the statement was written
    keys: tuple[VerifiedKey, ...]
    tensors: tuple[VerifiedTensor, ...]

    def __bool__(self) -> bool:
        return self.follows


# ---- writing


@dataclass(frozen=True)
class Converted:
    """What convert() wrote, or would write."""

    format: str
    file_count: int
    file_size: int
    left_out: int  #: metadata that could not be carried
    tensors_left_out: int  #: tensors that got no new name
    # Of a GGUF file that became a folder of Hugging Face: whether converting back
    # gives keys or tensors in another order, how many more of them, and whether it
    # takes without_mtp=True.
    reordered: bool
    gained: int
    back_without_mtp: bool
    assumed: tuple[str, ...]  #: names in config.json whose values are the usual ones
    rescaled: int  #: pairs of an adapter with a scale of their own
    rounded: int  #: tensors that have fewer digits than before
    rounded_numbers: int


@dataclass(frozen=True)
class PlannedTensor:
    """What becomes of a tensor that is quantized, or copied."""

    name: str
    shape: tuple[int, ...]
    from_type: str
    type: str
    bytes: int
    shard: int
    intended: str  #: the type that its rows are no multiple of; else ""
    changed: bool  #: it gets another type
    weighted: bool  #: by an entry of the importance matrix
    needs_weights: bool  #: it is useless without an entry, and has none


@dataclass(frozen=True)
class QuantizedType:
    """Tensors of one type; errors where report=True was given, else None."""

    tensors: int
    parameters: int
    bytes: int
    measured: int  #: numbers that changed their type
    rmse: float | None
    worst: float | None  #: the largest error
    cosine: float | None


@dataclass(frozen=True)
class Quantized:
    """What quantize() wrote, or would write."""

    format: str
    file_count: int
    file_size: int
    changed: int  #: tensors whose type changed
    fallbacks: int  #: of another type than the mix says: see PlannedTensor.intended
    weighted: int  #: changed tensors with an entry in the importance matrix
    unweighted: int  #: of a dry run: tensors that are refused without such an entry
    left_out: int  #: metadata that could not be carried
    types: dict[str, QuantizedType]
    tensors: tuple[PlannedTensor, ...]
    #: for each pattern of tensor_types, how many tensors got their type by it
    matched: dict[str, int]


@dataclass(frozen=True)
class Merged:
    """What merge_imatrix() wrote, or would write."""

    format: str
    file_size: int
    entries: int
    partial: int  #: entries of which some experts were never used
    empty: int  #: of which none was
    datasets: int
    chunks: int  #: of text, all files together
    chunk_size: int


@dataclass(frozen=True)
class ImatrixTensor:
    """What an importance matrix has for a tensor."""

    name: str
    cover: str  #: "none", "all", "part", "unused", "mismatch", "no_tensor"
    columns: int
    experts: int
    used: int  #: of the experts, how many were used
    least: float  #: how often an expert was used, in tokens: the rarest
    most: float  #: and the most frequent


@dataclass(frozen=True)
class ImatrixCoverage:
    """What an importance matrix has for the tensors of a model."""

    tensors: tuple[ImatrixTensor, ...]
    quantized: int  #: tensors that are quantized, whatever the mix
    experts: int
    experts_used: int
    chunks: int


@dataclass(frozen=True)
class Edited:
    """How an edit was made."""

    in_place: bool
    journalled: bool
    changed: int  #: bytes written


@dataclass(frozen=True)
class Recovered:
    """What became of an interrupted edit."""

    found: str  #: "none", "unbegun", "complete", "finished", "foreign"
    changed: int


# ---- planning; None: it is unknown; infinite: more than 16 EiB


@dataclass(frozen=True)
class PlanCache:
    """A cache of keys and values."""

    name: str  #: "full", "window", "compressed", "indexer"
    cells: int | float | None  #: tokens
    layers: int | float | None
    k_bytes: int | float | None
    v_bytes: int | float | None
    window: bool


@dataclass(frozen=True)
class PlanDevice:
    """The memory of a device, in bytes."""

    name: str  #: "host", "device0", ...
    weights: int | float | None
    kv: int | float | None
    state: int | float | None
    compute: int | float | None
    output: int | float | None
    total: int | float | None
    limit: int | None


@dataclass(frozen=True)
class FitContext:
    """The longest context that fits."""

    type: str  #: of the cache: "f16"; "": keys and values differ in theirs
    context: int | float | None  #: in tokens; 0: not even the shortest fits
    exceeds_model: bool  #: it is longer than the model was trained for


@dataclass(frozen=True)
class FitMix:
    """Whether the model would fit if it were quantized so."""

    name: str  #: "Q4_K_M"
    needs_imatrix: bool
    fits: bool | None
    file_size: int | float | None
    data_size: int | float | None
    bits_per_weight: float


@dataclass(frozen=True)
class FitOffload:
    """Whether it fits with so many blocks on devices."""

    blocks: int
    fits: bool | None
    host: int | float | None
    devices: int | float | None
    context: int | float | None


@dataclass(frozen=True)
class Fit:
    """What fits into memory of a given size."""

    limit: int
    margin: int
    fits: bool | None
    needed: int | float | None
    longest: FitContext
    contexts: tuple[FitContext, ...]
    mixes: tuple[FitMix, ...]
    offloads: tuple[FitOffload, ...]


@dataclass(frozen=True)
class Plan:
    """The memory that llama.cpp needs to run a model, in bytes."""

    context: int | float | None
    asked: int | float | None
    model_context: int | float | None
    sequences: int
    ubatch: int
    flash: bool
    type_k: str
    type_v: str
    caches: tuple[PlanCache, ...]
    state_conv: int | float | None
    state_ssm: int | float | None
    lines: dict[str, int | float | None]  #: "weights", "kv", "state", ...
    mapped: int | float | None
    total: int | float | None
    devices: tuple[PlanDevice, ...]
    estimated: tuple[str, ...]  #: lines that are estimates
    unknown: tuple[str, ...]
    full_attention: bool
    reason: str  #: why a line is unknown
    fit: Fit | None = field(default=None)


def amount(value: int) -> int | float | None:
    """A number of a plan."""
    if value == _abi.MF_PLAN_UNKNOWN:
        return None
    return math.inf if value == _abi.MF_PLAN_HUGE else value


def errors(pointer: Any) -> ValueErrors | None:
    return take(ValueErrors, pointer.contents) if pointer else None


# ---- tables of the library


@dataclass(frozen=True)
class Type:
    """A type of tensors."""

    name: str
    block: int  #: elements of a block
    size: int  #: bytes of a block
    ggml: int | None  #: its number in ggml and GGUF


@dataclass(frozen=True)
class Format:
    """A format of files, or a dialect of one."""

    name: str
    suffix: str
    description: str
    variant: str
    can_write: bool


@dataclass(frozen=True)
class Mix:
    """A mix of llama-quantize."""

    name: str
    file_type: int
    type: str
    needs_imatrix: bool
    available: bool


@dataclass(frozen=True)
class Rule:
    """What validate() finds."""

    id: str
    severity: str
    meaning: str


def severity(number: int) -> str:
    return string(lib.mf_severity_name(number))
