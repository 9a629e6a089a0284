# SPDX-License-Identifier: MIT
"""Converting, quantizing and comparing whole models."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace as replaced
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Union

from . import _abi
from ._env import Env, Progress
from ._library import count, lib, member, path, sized, string, text, word
from ._model import Model, choice, digest_kind, open
from ._plan import Size, size
from ._progress import shown
from ._results import (
    Converted,
    Detection,
    Difference,
    ImatrixCoverage,
    ImatrixTensor,
    Merged,
    PlannedTensor,
    Quantized,
    QuantizedType,
    Verification,
    VerifiedKey,
    VerifiedTensor,
    errors,
    take,
)
from ._values import Edits

if TYPE_CHECKING:
    from typing_extensions import Literal

    Names = Literal["keep", "gguf", "hf", "auto"]

File = Union[str, "os.PathLike[str]"]

_NAMES = {
    "keep": _abi.MF_NAMING_KEEP,
    "gguf": _abi.MF_NAMING_GGUF,
    "hf": _abi.MF_NAMING_HF,
    "auto": _abi.MF_NAMING_AUTO,
}
_WHAT = {
    "only_a": _abi.MF_ONLY_A,
    "only_b": _abi.MF_ONLY_B,
    "type": _abi.MF_DIFFERS_TYPE,
    "shape": _abi.MF_DIFFERS_SHAPE,
    "data": _abi.MF_DIFFERS_DATA,
}
_COVER = ("none", "all", "part", "unused", "mismatch", "no_tensor")


@contextlib.contextmanager
def _opened(model: Any, **options: Any) -> Iterator[Model]:
    """A model that is open already, or one of that path."""
    if isinstance(model, Model):
        model.check_open()
        for name in ("threads", "heap_limit", "allow_missing", "tensors_only"):
            if options.get(name):
                word = "max_memory" if name == "heap_limit" else name
                raise ValueError(f"{word} is for open(), as the model is open already")
        yield model
    else:
        with open(model, **options) as out:
            yield out


def _changes(model: Model, metadata: Mapping[str, Any] | None) -> Edits:
    """Changes of the metadata; None removes a key."""
    out = Edits()
    before = model.metadata
    for key, value in (metadata or {}).items():
        if value is None:
            out.unset(key)
        else:
            out.set(key, value, before.type(key) if key in before else "")
    return out


def _paths(value: File | None) -> bytes | None:
    return None if value is None else path(value)


# ---- converting


def _how(edits: Edits, **options: Any) -> Any:
    """A struct mf_convert_options."""
    for name in ("lora", "base", "metadata"):
        options[name] = _paths(options.get(name))
    for name in ("format", "type", "byte_order", "model_name"):
        options[name] = word(options.get(name))
    if len(edits):
        options["edits"] = edits.array()
        options["edit_count"] = len(edits)
    return sized(_abi.mf_convert_options, **options)


def convert(
    source: Model | File,
    target: File,
    *,
    format: str | None = None,
    type: str | None = None,
    names: Names = "auto",
    dequantize: bool = False,
    metadata: Mapping[str, Any] | None = None,
    replace: bool = False,
    lossy: bool = False,
    allow_nonfinite: bool = False,
    allow_missing: bool = False,
    tensors_only: bool = False,
    shard_size: Size | None = None,
    shard_tensors: int | None = None,
    empty_first: bool = False,
    reserve: int | None = None,
    format_version: int | None = None,
    byte_order: str | None = None,
    lora: File | None = None,
    lora_scale: float | None = None,
    base: File | None = None,
    model_name: str | None = None,
    metadata_file: File | None = None,
    vocab_only: bool = False,
    without_mtp: bool = False,
    only_mtp: bool = False,
    fuse_qkv: bool = False,
    fuse_gate_up: bool = False,
    fp8_as_q8: bool = False,
    projector: bool = False,
    big_endian: bool = False,
    mistral_format: bool = False,
    no_community_template: bool = False,
    delete_inputs: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    threads: int | None = None,
    max_memory: Size | None = None,
    progress: Progress | bool | None = None,
) -> Converted:
    """Writes a model in another format, with other names, types or shards.

    A folder of Hugging Face becomes a GGUF file that llama.cpp loads.  Until it
    is complete nothing is at the path of the target.

    source: a path or an open model.  format: None: by the suffix of target.
    type: of tensors of floats, "f32", "f16" or "bf16"; None: as they are;
    dequantize: quantized tensors become it, too.  names: "gguf" or "hf" renames
    the tensors, and does what depends on names; "keep" does not; "auto" does for
    a folder that becomes GGUF.  metadata: changes; None removes a key.
    lossy: drops what the format cannot carry, instead of UnsupportedError.
    replace: overwrites.  shard_size, shard_tensors: several files with at most so
    much each.  reserve: free bytes in the header, for later edits.
    allow_nonfinite: writes NaN and infinity.  lora: an adapter that is added to
    the model, by lora_scale; base: of an adapter that becomes GGUF, the folder of
    its model.  metadata_file: JSON, as llama.cpp's converter has it.  resume:
    keeps what is written if the work is stopped, and goes on with it.  dry_run:
    says what would be written.  max_memory: "512M", for the library.  progress:
    True shows a bar, a function is called with bytes done, bytes in all and the
    tensor, and returns False to stop.  The others are llama.cpp's, for folders.

    Raises OutputError (OUTPUT-EXISTS), UnsupportedError, StoppedError, and what
    open() raises.  After an exception, also KeyboardInterrupt, nothing is left
    unless resume is set.

    >>> import modelfile, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = f"{folder}/model.safetensors"
    ...     modelfile.convert("fixtures/good-llama.gguf", out, dequantize=True,
    ...                       type="f32", lossy=True).file_count
    1
    """
    whole = "by_name" if delete_inputs else "auto"
    if lora_scale is not None and not lora_scale:
        raise ValueError("lora_scale=0 would add nothing")
    if dequantize and type is None:
        raise ValueError("dequantize=True needs type=: f32, f16 or bf16")
    with _opened(
        source,
        threads=threads,
        heap_limit=size("max_memory", max_memory or 0),
        allow_missing=allow_missing,
        tensors_only=tensors_only,
        shards=whole,
    ) as model:
        edits = _changes(model, metadata)
        options = _how(
            edits,
            format=format,
            type=type,
            names=choice("names", names, _NAMES),
            dequantize=dequantize,
            replace=replace,
            lossy=lossy,
            allow_nonfinite=allow_nonfinite,
            shard_size=size("shard_size", shard_size or 0),
            shard_tensors=count("shard_tensors", shard_tensors),
            empty_first=empty_first,
            reserve=count("reserve", reserve),
            version=count("format_version", format_version, 2**32 - 1),
            byte_order=byte_order,
            lora=lora,
            lora_scale=lora_scale or 0,  # 0 is 1, the default
            base=base,
            model_name=model_name,
            metadata=metadata_file,
            vocab_only=vocab_only,
            without_mtp=without_mtp,
            only_mtp=only_mtp,
            fuse_qkv=fuse_qkv,
            fuse_gate_up=fuse_gate_up,
            fp8_as_q8=fp8_as_q8,
            projector=projector,
            big_endian=big_endian,
            mistral_format=mistral_format,
            no_community_template=no_community_template,
            delete_inputs=delete_inputs,
            resume=resume,
            dry_run=dry_run,
        )
        out = _abi.mf_convert_result()
        with shown(progress, "convert") as report:
            model.env.call(
                *(lib.mf_model_convert, model, path(target)),
                *(ctypes.byref(options), ctypes.byref(out)),
                progress=report,
            )
        assumed = tuple(text(each) for each in out.assumed[: out.assumed_count])
        return take(Converted, out, assumed=assumed)


def dequantize(
    source: Model | File, target: File, *, type: str = "f32", **options: Any
) -> Converted:
    """convert() of quantized tensors to f32, f16 or bf16, too; options as there.

    >>> import modelfile
    >>> modelfile.dequantize("fixtures/good-llama.gguf", "floats.gguf").file_size
    81440
    """
    return convert(source, target, type=type, dequantize=True, **options)


# ---- quantizing


def _planned(found: Any) -> PlannedTensor:
    shape = tuple(found.dim[: found.rank]) if found.rank else ()
    return take(
        PlannedTensor,
        found,
        shape=shape,
        from_type=string(getattr(found, "from")),
    )


def _collect(env: Env, into: list[list[PlannedTensor]]) -> Any:
    """A function that adds the list of a struct mf_quantize_plan."""

    def planned(_user: Any, plan: int) -> None:
        row = _abi.mf_quantized_tensor()
        tensors: list[PlannedTensor] = []
        while lib.mf_quantize_plan_at(plan, len(tensors), ctypes.byref(row)):
            tensors.append(_planned(row))
        into.append(tensors)

    return env.guard(member(_abi.mf_quantize_options, "planned"), planned)


def _words(values: Iterable[str]) -> Any:
    """An array of texts; None if there is none."""
    listed = [word(value) for value in values]
    return (ctypes.c_char_p * len(listed))(*listed) if listed else None


def _type_errors(row: Any, report: bool) -> QuantizedType:
    known = {} if report and row.measured else dict(rmse=None, worst=None, cosine=None)
    return take(QuantizedType, row, **known)


def quantize(
    source: Model | File,
    target: File,
    type: str,
    *,
    imatrix: File | None = None,
    include_weights: Sequence[str] = (),
    exclude_weights: Sequence[str] = (),
    tensor_types: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    output_type: str | None = None,
    embedding_type: str | None = None,
    pure: bool = False,
    leave_output: bool = False,
    allow_requantize: bool = False,
    effort: int = 1,
    metadata: Mapping[str, Any] | None = None,
    prune_layers: Sequence[int] = (),
    keep_split: bool = False,
    report: bool = False,
    format: str | None = None,
    names: Names = "auto",
    byte_order: str | None = None,
    reserve: int | None = None,
    replace: bool = False,
    lossy: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    allow_missing: bool = False,
    tensors_only: bool = False,
    threads: int | None = None,
    max_memory: Size | None = None,
    progress: Progress | bool | None = None,
) -> Quantized:
    """Quantizes a model: the file that llama-quantize writes, byte for byte.

    type is one of its mixes ("Q4_K_M"), or a type for all tensors ("q4_k").
    source is a path, also of a folder of Hugging Face, or an open model.

    imatrix: a file of llama-imatrix; include_weights, exclude_weights: only its
    entries whose name contains one of these texts, or contains none of them.
    tensor_types: a type for tensors whose name a pattern (a regular expression)
    matches; the first that does counts.  output_type, embedding_type: of these
    tensors.  pure: one type for all.  leave_output: output.weight stays as it is.
    allow_requantize: also tensors that are quantized already.  effort: 2 to 4
    search better scales in the same types.  prune_layers: blocks to remove.
    keep_split: as many shards as the source has.  report: also
    measures the error.  Other options are as in convert(), and so is what is
    raised.

    >>> import modelfile
    >>> q = modelfile.quantize("fixtures/good-llama.gguf", "out.gguf", "Q5_0",
    ...                        allow_requantize=True, dry_run=True)
    >>> q.changed, q.types["q5_0"].tensors
    (15, 15)
    """
    return _quantize(source, [(type, target)], locals())[0]


def quantize_many(
    source: Model | File, outputs: Mapping[str, File], **options: Any
) -> dict[str, Quantized]:
    """quantize() to several files at once, {type: target}, options as there.

    The source is read once, and each file has the bytes of a quantize() of its own.
    They get their names when all are complete: if one fails, none is there.
    keep_split is not possible, and all files have one format.  matched
    counts the tensors of all files together.

    >>> import modelfile
    >>> q = modelfile.quantize_many("fixtures/good-llama.gguf",
    ...                             {"Q5_0": "a.gguf", "Q8_0": "b.gguf"},
    ...                             allow_requantize=True, dry_run=True)
    >>> {type: each.file_size for type, each in q.items()}
    {'Q5_0': 17184, 'Q8_0': 24288}
    """
    known = quantize.__kwdefaults__ or {}
    for name in options.keys() - known.keys():
        raise TypeError(f"quantize_many() has no option {name!r}")
    pairs = list(outputs.items())
    return dict(zip(outputs, _quantize(source, pairs, {**known, **options}, True)))


def _quantize(
    source: Model | File,
    outputs: Sequence[tuple[str, File]],
    options: Mapping[str, Any],
    many: bool = False,
) -> list[Quantized]:
    given = SimpleNamespace(**options)  # those of quantize()
    with _opened(
        source,
        threads=given.threads,
        heap_limit=size("max_memory", given.max_memory or 0),
        allow_missing=given.allow_missing,
        tensors_only=given.tensors_only,
    ) as model:
        pairs = list(
            given.tensor_types.items()
            if isinstance(given.tensor_types, Mapping)
            else given.tensor_types
        )
        rows = (_abi.mf_tensor_type * len(pairs))(
            *(_abi.mf_tensor_type(word(at), word(each)) for at, each in pairs)
        )
        matched = (ctypes.c_size_t * len(pairs))()
        prune = (ctypes.c_uint32 * len(given.prune_layers))(
            *(count("prune_layers", each, 2**32 - 1) for each in given.prune_layers)
        )
        edits = _changes(model, given.metadata)
        plans: list[list[PlannedTensor]] = []
        what = sized(
            _abi.mf_quantize_options,
            type=None if many else word(outputs[0][0]),
            pure=given.pure,
            leave_output=given.leave_output,
            allow_requantize=given.allow_requantize,
            effort=count("effort", given.effort, 2**32 - 1),
            keep_split=given.keep_split,
            report=given.report,
            output_type=word(given.output_type),
            embedding_type=word(given.embedding_type),
            tensor_types=rows if pairs else None,
            tensor_type_count=len(pairs),
            tensor_type_tensors=matched if pairs else None,
            imatrix=_paths(given.imatrix),
            prune=prune if given.prune_layers else None,
            prune_count=len(given.prune_layers),
            edits=edits.array() if len(edits) else None,
            edit_count=len(edits),
            planned=_collect(model.env, plans),
        )
        _give_texts(what, "include", given.include_weights)
        _give_texts(what, "exclude", given.exclude_weights)
        how = _how(
            Edits(),
            format=given.format,
            names=choice("names", given.names, _NAMES),
            byte_order=given.byte_order,
            reserve=count("reserve", given.reserve),
            replace=given.replace,
            lossy=given.lossy,
            resume=given.resume,
            dry_run=given.dry_run,
        )
        named = (_abi.mf_quantize_output * len(outputs))(
            *(_abi.mf_quantize_output(word(at), path(to)) for at, to in outputs)
        )
        out = (_abi.mf_quantize_result * len(outputs))()
        function = (
            (lib.mf_model_quantize_many, model, named, len(outputs))
            if many
            else (lib.mf_model_quantize, model, path(outputs[0][1]))
        )
        with shown(given.progress, "quantize") as reported:
            model.env.call(
                *function,
                *(ctypes.byref(what), ctypes.byref(how), out),
                progress=reported,
            )
        counts = {pattern: matched[i] for i, (pattern, _) in enumerate(pairs)}
        return [
            _quantized(each, tensors, given.report, counts)
            for each, tensors in zip(out, plans)
        ]


def _quantized(
    out: Any, tensors: list[PlannedTensor], report: bool, matched: dict[str, int]
) -> Quantized:
    if string(out.format) == "gguf":  # which has the fastest dimension first
        tensors = [replaced(each, shape=each.shape[::-1]) for each in tensors]
    return take(
        Quantized,
        out,
        types={
            string(row.name): _type_errors(row, report)
            for row in out.type
            if row.tensors
        },
        tensors=tuple(tensors),
        matched=matched,
    )


def _give_texts(options: Any, name: str, values: Sequence[str]) -> None:
    if isinstance(values, str):
        raise TypeError(f"{name}_weights has to be a list of texts")
    listed = _words(values)
    if listed is not None:
        field = member(_abi.mf_quantize_options, name)
        setattr(options, name, ctypes.cast(listed, field))
        setattr(options, f"{name}_count", len(listed))


# ---- importance matrices


def merge_imatrix(
    sources: Sequence[File],
    target: File,
    *,
    chunk_size: int | None = None,
    old: bool = False,
    replace: bool = False,
    dry_run: bool = False,
) -> Merged:
    """Adds importance matrices of llama-imatrix, as its --in-file does.

    chunk_size: tokens of a chunk, in which files of the old format count (512).
    old: writes that format."""
    env = Env()
    paths = [path(each) for each in sources]
    options = sized(
        _abi.mf_imatrix_merge_options,
        chunk_size=count("chunk_size", chunk_size, 2**32 - 1),
        old=old,
        replace=replace,
        dry_run=dry_run,
    )
    out = _abi.mf_imatrix_merge_result()
    env.call(
        *(lib.mf_imatrix_merge, env.handle, (ctypes.c_char_p * len(paths))(*paths)),
        *(len(paths), path(target), ctypes.byref(options), ctypes.byref(out)),
    )
    return take(Merged, out)


def imatrix_coverage(model: Model | File, imatrix: File) -> ImatrixCoverage:
    """What an importance matrix has for the tensors of a model: before quantize()
    refuses one that belongs to another model."""
    rows: list[ImatrixTensor] = []

    def each(_user: Any, row: Any) -> None:
        found = row.contents
        rows.append(take(ImatrixTensor, found, cover=_COVER[found.cover]))

    with _opened(model) as opened:
        out = _abi.mf_imatrix_coverage()
        kind = _abi.function("mf_model_imatrix_coverage")[1][2]
        opened.env.call(
            *(lib.mf_model_imatrix_coverage, opened, path(imatrix)),
            *(opened.env.guard(kind, each), None, ctypes.byref(out)),
        )
    return take(ImatrixCoverage, out, tensors=tuple(rows), quantized=out.tensors)


# ---- comparing


def _shared_env(a: Any, b: Any, **options: Any) -> Any:
    """Two models of one environment: what is open is opened again."""
    missing = options.pop("allow_missing")
    env = Env(**options)
    return tuple(_again(env, each, missing) for each in (a, b))


def _again(env: Env, model: Any, missing: bool) -> Model:
    """A model as it was opened, or one of that path, in another environment."""
    if isinstance(model, Model):
        if model.again is None:
            raise ValueError("a model without a path cannot be opened once more")
        model.unchanged()
        name, how = model.again
        options = type(how).from_buffer_copy(how)
    else:
        name, options = path(model), sized(_abi.mf_open_options)
    options.allow_missing |= missing
    handle = ctypes.c_void_p()
    env.call(
        *(lib.mf_model_open, env.handle, name),
        *(ctypes.byref(options), ctypes.byref(handle)),
    )
    return Model(env, handle.value or 0)


def _difference(found: Any, a: Model, b: Model, names: Any) -> Difference:
    missing = _abi.MF_NO_STORAGE
    at_a = None if found.a == missing else found.a
    at_b = None if found.b == missing else found.b
    name = names(a, at_a) if at_a is not None else names(b, at_b)
    return Difference(
        name=name,
        is_tensor=found.is_tensor,
        what=tuple(word for word, bit in _WHAT.items() if found.what & bit),
        a=at_a,
        b=at_b,
        first=found.first,
        values=errors(found.values),
        no_values=string(found.no_values),
    )


def _key_at(model: Model, index: int) -> str:
    row = _abi.mf_meta()
    lib.mf_meta_at(model.handle, index, ctypes.byref(row))
    return text(row.key)


def _tensor_at(model: Model, index: int) -> str:
    row = _abi.mf_tensor()
    lib.mf_tensor_at(model.handle, index, ctypes.byref(row))
    return text(row.name)


def diff(
    a: Model | File,
    b: Model | File,
    *,
    data: bool = True,
    values: bool = False,
    allow_missing: bool = False,
    threads: int | None = None,
    max_memory: Size | None = None,
    progress: Progress | bool | None = None,
) -> list[Difference]:
    """What two models do not have alike; an empty list: nothing.

    data: the bytes of tensors, too.  values: also how far numbers are apart,
    of tensors whose types may differ.  The two may have different formats.

    >>> import modelfile
    >>> modelfile.diff("fixtures/good-llama.gguf", "fixtures/good-llama.gguf")
    []
    >>> _ = modelfile.dequantize("fixtures/good-llama.gguf", "floats.gguf")
    >>> d = modelfile.diff("fixtures/good-llama.gguf", "floats.gguf")[-1]
    >>> d.name, d.what
    ('output.weight', ('type',))
    """
    found: list[Difference] = []
    limit = size("max_memory", max_memory or 0)
    first, second = _shared_env(
        a, b, threads=threads, heap_limit=limit, allow_missing=allow_missing
    )
    with first, second:

        def each(_user: Any, row: Any) -> None:
            row = row.contents
            names = _tensor_at if row.is_tensor else _key_at
            found.append(_difference(row, first, second, names))

        options = sized(_abi.mf_diff_options, no_data=not data, values=values)
        kind = _abi.function("mf_model_diff")[1][3]
        with shown(progress, "diff") as report:
            first.env.call(
                *(lib.mf_model_diff, first, second),
                *(ctypes.byref(options), first.env.guard(kind, each), None),
                progress=report,
            )
    return found


def _verified(found: Any) -> VerifiedTensor:
    verdict = string(lib.mf_verdict_name(found.verdict))
    return take(
        VerifiedTensor, found, verdict=verdict, errors=errors(found.errors)
    )


def verify(
    model: Model | File,
    source: Model | File,
    *,
    imatrix: File | None = None,
    strict: bool = False,
    statement: File | None = None,
    replace: bool = False,
    allow_missing: bool = False,
    threads: int | None = None,
    max_memory: Size | None = None,
    progress: Progress | bool | None = None,
) -> Verification:
    """Whether a quantized model was made from a source: each tensor of that is
    encoded again, and the bytes are compared.  The answer is true if so.

    imatrix: that it was quantized with.  strict: metadata that changed and
    tensors that the model lacks count, too.  statement: where to write an in-toto
    statement about it, to be signed; replace: overwrites that.

    >>> import modelfile
    >>> _ = modelfile.dequantize("fixtures/good-llama.gguf", "floats.gguf")
    >>> _ = modelfile.quantize("floats.gguf", "q.gguf", "Q8_0")
    >>> bool(modelfile.verify("q.gguf", "floats.gguf"))
    True
    """
    tensors: list[VerifiedTensor] = []
    keys: list[VerifiedKey] = []
    words = {
        _abi.MF_ONLY_A: "only_source",
        _abi.MF_ONLY_B: "only_model",
        _abi.MF_DIFFERS_DATA: "data",
    }

    def tensor(_user: Any, row: Any) -> None:
        tensors.append(_verified(row.contents))

    def key(_user: Any, row: Any) -> None:
        found = row.contents
        keys.append(VerifiedKey(text(found.key), words[found.what]))

    limit = size("max_memory", max_memory or 0)
    first, second = _shared_env(
        model, source, threads=threads, heap_limit=limit, allow_missing=allow_missing
    )
    kind, guard = _abi.mf_verify_options, first.env.guard
    options = sized(
        kind,
        imatrix=_paths(imatrix),
        strict=strict,
        replace=replace,
        statement=_paths(statement),
        tensor=guard(member(kind, "tensor"), tensor),
        key=guard(member(kind, "key"), key),
    )
    out = _abi.mf_verify_result()
    with first, second, shown(progress, "verify") as report:
        first.env.call(
            *(lib.mf_verify, first, second),
            *(ctypes.byref(options), ctypes.byref(out)),
            progress=report,
        )
    return Verification(out.follows, out.stated, tuple(keys), tuple(tensors))


# ---- reports


def _report(
    models: Any,
    call: Any,
    progress: Any,
    *,
    threads: int | None,
    max_memory: Size | None,
    allow_missing: bool,
    compare: bool,
    imatrix: File | None,
    errors: str | None,
    run: File | None,
    **options: Any,
) -> None:
    """Calls a function for a report with models of one environment."""
    single = isinstance(models, (Model, str, bytes, os.PathLike))
    several = [models] if single else list(models)
    if not several:
        raise ValueError("a report is about at least one model")
    env = Env(threads=threads, heap_limit=size("max_memory", max_memory or 0))
    how = sized(
        _abi.mf_report_options,
        no_compare=not compare,
        imatrix=_paths(imatrix),
        errors=word(errors),
        recorded=_paths(run),
        **options,
    )
    with contextlib.ExitStack() as stack:
        opened = [
            stack.enter_context(_again(env, each, allow_missing)) for each in several
        ]
        rows = (ctypes.c_void_p * len(opened))(*(each.handle for each in opened))
        shows = stack.enter_context(shown(progress, "report"))
        call(env, rows, len(opened), ctypes.byref(how), shows)


def report(
    models: Model | File | Iterable[Model | File],
    target: File,
    *,
    data: bool = False,
    compare: bool = True,
    imatrix: File | None = None,
    errors: str | None = None,
    run: File | None = None,
    fit: Size | None = None,
    paths: bool = False,
    replace: bool = False,
    allow_missing: bool = False,
    threads: int | None = None,
    max_memory: Size | None = None,
    progress: Progress | bool | None = None,
) -> None:
    """Writes a page in HTML about a model, or about several side by side.

    data: reads all tensor data, for findings about it and histograms.  compare:
    of several models, reads it to say how far they are apart.  imatrix: what it
    covers.  errors: measures each tensor in types such as "q4_k,q6_k" ("all": in
    all), with imatrix if it is given.  run: a folder that --record of the command
    wrote, a heap profile, or what it printed as JSON.  fit: the limit of memory
    that the page begins with.  paths: the page names the files.  replace: overwrites an existing file.

    >>> import modelfile
    >>> modelfile.report("fixtures/good-llama.gguf", "page.html")
    """
    name = path(target)

    def call(env: Any, rows: Any, count: int, how: Any, shows: Any) -> None:
        env.call(lib.mf_report, rows, count, name, how, progress=shows)

    _report(
        models,
        call,
        progress,
        threads=threads,
        max_memory=max_memory,
        allow_missing=allow_missing,
        compare=compare,
        imatrix=imatrix,
        errors=errors,
        run=run,
        data=data,
        paths=paths,
        replace=replace,
        limit=size("fit", fit or 0),
    )


def report_document(
    models: Model | File | Iterable[Model | File],
    *,
    data: bool = False,
    compare: bool = True,
    imatrix: File | None = None,
    errors: str | None = None,
    run: File | None = None,
    paths: bool = False,
    allow_missing: bool = False,
    threads: int | None = None,
    max_memory: Size | None = None,
    progress: Progress | bool | None = None,
) -> dict[str, Any]:
    """What the page of report() draws, as docs/report.md describes it.

    >>> import modelfile
    >>> document = modelfile.report_document("fixtures/good-llama.gguf")
    >>> document["models"][0]["verdict"]["valid"]
    True
    """
    pieces: list[bytes] = []

    def write(_user: Any, at: int, count: int) -> None:
        pieces.append(ctypes.string_at(at, count))

    def call(env: Any, rows: Any, count: int, how: Any, shows: Any) -> None:
        put = env.guard(lib.mf_report_json.argtypes[3], write)
        env.call(lib.mf_report_json, rows, count, how, put, None, progress=shows)

    _report(
        models,
        call,
        progress,
        threads=threads,
        max_memory=max_memory,
        allow_missing=allow_missing,
        compare=compare,
        imatrix=imatrix,
        errors=errors,
        run=run,
        data=data,
        paths=paths,
    )
    document: dict[str, Any] = json.loads(b"".join(pieces))
    return document


# ---- files


def detect(file: File) -> Detection:
    """The format of a file, from its first and last bytes, whatever its name.

    Files of other known kinds (zip, HTML, a Git LFS pointer) have supported
    False, and note says what to do.  FormatError: the bytes are not known.

    >>> import modelfile
    >>> modelfile.detect("fixtures/good-llama.gguf").format
    'gguf'
    """
    env = Env()
    out = _abi.mf_detection()
    env.call(lib.mf_file_detect, env.handle, path(file), ctypes.byref(out))
    return take(Detection, out, byte_order="big" if out.byte_order else "little")


def hash_file(
    file: File, algorithm: str = "sha256", progress: Progress | bool | None = None
) -> str:
    """The digest of all bytes of a file, as sha256sum has it.  Model.hash()
    digests the tensors, whatever the format."""
    env = Env()
    kind, length = digest_kind(algorithm)
    out = (ctypes.c_uint8 * _abi.MF_DIGEST_MAX)()
    with shown(progress, "hash") as report:
        env.call(
            *(lib.mf_file_hash, env.handle, path(file), kind, out), progress=report
        )
    return bytes(out[:length]).hex()
