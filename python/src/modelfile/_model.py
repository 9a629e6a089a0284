# SPDX-License-Identifier: MIT
"""An open model."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar, cast

from . import _abi
from ._env import Env, Owner, Progress
from ._library import count, lib, path, sized, string, text, utf8
from ._metadata import Metadata
from ._tensor import Tensor, Tensors, stats_of
from ._values import Array, value

if TYPE_CHECKING:
    from uuid import UUID

    from typing_extensions import Buffer, Literal

    from . import _results as results
    from ._source import Seekable

    Reader = Literal["spec", "llama.cpp", "transformers"]

_Row = TypeVar("_Row")

_SHARDS = {
    "auto": _abi.MF_SHARDS_AUTO,
    "alone": _abi.MF_SHARDS_ALONE,
    "by_name": _abi.MF_SHARDS_BY_NAME,
}


def choice(name: str, value: Any, table: dict[str, int]) -> int:
    """The number of one of several words."""
    if value not in table:
        words = ", ".join(table)
        raise ValueError(f"{name} is {value!r}, and has to be one of {words}")
    return table[value]


def digest_kind(name: str) -> tuple[int, int]:
    """The number of an algorithm, and the bytes of its digests."""
    row = _abi.mf_digest_info()
    index, names = 0, []
    while lib.mf_digest_at(index, ctypes.byref(row)):
        names.append(string(row.name))
        if names[-1] == name:
            return row.kind, row.size
        index += 1
    raise ValueError(f"unknown digest {name!r}: use one of {', '.join(names)}")


class Model(Owner):
    """A model file, open: modelfile.open() makes it.

    Threads may share it: their calls take turns. It must not be used after
    close(), which raises ValueError. After a fork both processes may use it.

    While a long call runs in one thread, others wait for it, also those that ask
    for a name or a number; a progress function may ask for these, and nothing
    else."""

    kind = "model"

    def __init__(
        self, env: Env, handle: int, keep: Any = None, again: Any = None
    ) -> None:
        self.env = env
        self.again = again  # path and options, to open it once more
        self._handle: int | None = handle
        self._keep = keep  # bytes, or callbacks, that the library uses
        self._maps: dict[tuple[int, bool], mmap.mmap] = {}
        info = self.info
        #: of shapes: the file has the fastest dimension first
        self.fastest_first: bool = info.fastest_first
        self.format: str = string(info.format)  #: "gguf", "safetensors", ...
        self.variant: str = string(info.variant)  #: a dialect, or ""
        self.version: int = info.version  #: of the format
        big = bool(info.byte_order)
        self.byte_order: Literal["little", "big"] = "big" if big else "little"

    # ---- the handle

    def check_open(self) -> None:
        """Raises ValueError after close()."""
        self.handle

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._handle is None

    def close(self) -> None:
        """Closes the files. Arrays that numpy() gave stay valid."""
        with self.env.lock:
            self.release(lib.mf_model_close)
            self._maps.clear()
            if not self.env.busy:
                self._keep = None

    def __enter__(self) -> Model:
        self.check_open()
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<modelfile.Model, closed>"
        return f"<modelfile.Model {self.path!r}, {self.format}>"

    # ---- what the header says

    @property
    def info(self) -> Any:
        """The struct mf_model_info, for the package itself."""
        with self.env.lock:
            found = lib.mf_model_info(self.handle).contents
            return type(found).from_buffer_copy(found)  # it lives as the model does

    @property
    def path(self) -> str:
        """As it was opened; of several files, the first."""
        return self.shards[0].path

    @property
    def shards(self) -> tuple[results.Shard, ...]:
        """The files of the model."""
        from ._results import Shard, take

        return self._all(lib.mf_shard_at, _abi.mf_shard, lambda row: take(Shard, row))

    def _all(
        self, function: Any, kind: Any, make: Callable[[Any], _Row]
    ) -> tuple[_Row, ...]:
        out: list[_Row] = []
        row = kind()
        with self.env.lock:
            while function(self.handle, len(out), ctypes.byref(row)):
                out.append(make(row))
        return tuple(out)

    @property
    def file_size(self) -> int:
        """Of all files together."""
        return cast(int, self.info.file_size)

    @property
    def data_offset(self) -> int:
        """Where tensor data begins in the first file."""
        return cast(int, self.info.data_offset)

    @property
    def data_size(self) -> int:
        """Bytes of all tensors."""
        return cast(int, self.info.data_size)

    @property
    def parameters(self) -> int:
        """Elements of all tensors."""
        return cast(int, self.info.parameters)

    @property
    def alignment(self) -> int:
        """Offsets of tensors are multiples of this; 1 if the format has none."""
        return cast(int, self.info.alignment)

    @property
    def pending_edit(self) -> bool:
        """The file is read through the journal of an interrupted edit."""
        return cast(bool, self.info.pending_edit)

    def __len__(self) -> int:
        """How many tensors the index has."""
        return cast(int, self.info.tensor_count)

    def __bool__(self) -> bool:
        """True, also without tensors."""
        return True

    def __getitem__(self, name: str) -> Tensor:
        """The tensor of that name: tensors[name]."""
        return self.tensors[name]

    def __contains__(self, name: object) -> bool:
        return name in self.tensors

    def __iter__(self) -> Iterator[str]:
        """The names of the tensors."""
        return iter(self.tensors)

    @property
    def repeats(self) -> bool:
        """Whether a name of a tensor may be there twice."""
        return bool(self.info.error_count)

    @property
    def metadata(self) -> Metadata:
        """Keys and values, as a mapping: m.metadata["general.name"]."""
        self.check_open()
        return Metadata(self)

    @property
    def tensors(self) -> Tensors:
        """Tensors by name, as a mapping: m.tensors["output.weight"]."""
        self.check_open()
        return Tensors(self)

    @property
    def missing(self) -> tuple[results.Missing, ...]:
        """Tensors and members of the file that are not read, and why."""
        from ._results import Missing, take

        return self._all(
            lib.mf_missing_at, _abi.mf_missed, lambda row: take(Missing, row)
        )

    @property
    def facts(self) -> dict[str, Any]:
        """What people ask about a model, wherever its format keeps it, as far as
        it is there.

        >>> import modelfile
        >>> with modelfile.open("fixtures/good-llama.gguf") as m:
        ...     sorted(m.facts)[:4]
        ['architecture', 'block_count', 'context_length', 'embedding_length']
        """
        out: dict[str, Any] = {}
        meta, at = _abi.mf_meta(), ctypes.c_size_t()
        with self.env.lock:
            for fact in range(_abi.MF_FACT_COUNT):
                if lib.mf_model_fact(
                    self.handle, fact, ctypes.byref(meta), ctypes.byref(at)
                ):
                    found = value(self, at.value, meta)
                    if fact == _abi.MF_FACT_VOCAB_SIZE and isinstance(found, Array):
                        found = len(found)  # the vocabulary itself
                    out[string(lib.mf_fact_name(fact))] = found
        return out

    @property
    def table(self) -> results.Table | None:
        """Of a Parquet file its columns; None for models."""
        from ._results import Column, Table, take

        found = _abi.mf_table_info()
        with self.env.lock:
            if not lib.mf_model_table(self.handle, ctypes.byref(found)):
                return None
            columns = self._all(
                lib.mf_column_at, _abi.mf_column, lambda row: take(Column, row)
            )
            return take(Table, found, columns=columns)

    @property
    def adapter(self) -> results.Adapter | None:
        """What a LoRA adapter says about itself; None for other models."""
        from ._results import Adapter, take

        found = _abi.mf_adapter_info()
        self.env.call(lib.mf_model_adapter_info, self, ctypes.byref(found))
        if not found.found:
            return None
        scale = (found.scale_min, found.scale_max) if found.has_scale else None
        alpha = found.alpha if found.has_alpha else None
        return take(Adapter, found, alpha=alpha, scale=scale)

    @property
    def usage(self) -> results.Usage:
        """Memory of the library for this model, and what it has read."""
        from ._results import Usage

        with self.env.lock:
            heap, io = self.env.heap, self.env.io
        return Usage(heap.live, heap.peak, io.bytes_read, io.reads)

    # ---- checking

    @property
    def findings(self) -> list[results.Finding]:
        """What was found so far; validate() looks for more."""
        from ._results import Finding, severity, take

        def make(row: Any) -> results.Finding:
            subject = lib.mf_finding_subject(ctypes.byref(row))
            return take(
                Finding,
                row,
                severity=severity(row.severity),
                tensor=text(row.tensor) if row.tensor.at else None,
                subject=text(subject) if subject.at else None,
                offset=None if row.offset == _abi.MF_NO_OFFSET else row.offset,
                message=string(row.message),
            )

        return list(self._all(lib.mf_finding_at, _abi.mf_finding, make))

    def validate(
        self,
        data: bool = False,
        readers: Reader | Iterable[Reader] = (),
        require_known: bool = False,
        progress: Progress | bool | None = None,
    ) -> list[results.Finding]:
        """Checks all rules on what the header shows, and returns what they find:
        what opening found, too.  No finding is raised: see error_count.

        data: reads all tensors, too, to find NaN and impossible blocks.  readers:
        only what one of "spec", "llama.cpp" and "transformers" refuses is an
        error.  require_known: an architecture that is not known is one, too.

        >>> import modelfile
        >>> with modelfile.open("fixtures/good-llama.gguf") as m:
        ...     m.validate(data=True)
        []
        """
        from ._progress import shown

        wanted = 0
        listed: Iterable[str] = [readers] if isinstance(readers, str) else readers
        for name in listed:
            wanted |= choice("readers", name, _READERS)
        options = sized(
            _abi.mf_validate_options,
            readers=wanted,
            data=data,
            require_known=require_known,
        )
        with shown(progress, "validate") as report:
            self.env.call(
                *(lib.mf_model_validate_with, self, ctypes.byref(options)),
                progress=report,
            )
        return self.findings

    @property
    def error_count(self) -> int:
        """Findings that are errors, also those that are not kept."""
        return cast(int, self.info.error_count)

    @property
    def findings_left_out(self) -> int:
        """How many findings are not kept: see findings_max of open()."""
        info = self.info
        found = info.error_count + info.warning_count + info.note_count
        return cast(int, found - len(self.findings))

    @property
    def coverage(self) -> results.Coverage | None:
        """How much was checked by validate()."""
        from ._results import Coverage, take

        found = _abi.mf_coverage()
        with self.env.lock:
            if not lib.mf_model_coverage(self.handle, ctypes.byref(found)):
                return None
        return take(Coverage, found)

    def unchanged(self) -> None:
        """Raises ReadError if a file was written to since it was opened: what was
        read may then be of both versions."""
        self.env.call(lib.mf_model_unchanged, self)

    # ---- reading all

    def stats(
        self,
        names: Optional[Iterable[str]] = None,
        progress: Progress | bool | None = None,
    ) -> dict[str, results.Stats]:
        """Minimum, maximum, mean and more of tensors by name; names: None: of all,
        which reads the whole model once.  KeyError: there is no such tensor.

        >>> import modelfile
        >>> with modelfile.open("fixtures/good-llama.gguf") as m:
        ...     m.stats(["output_norm.weight"])["output_norm.weight"].count
        32
        """
        from ._progress import shown

        tensors = self.tensors
        if names is None:
            chosen = [(each.name, each.index) for each in tensors.values()]
        else:
            names = [names] if isinstance(names, str) else names
            chosen = [(name, tensors[name].index) for name in names]
        index = (ctypes.c_size_t * len(chosen))(*(at for _, at in chosen))
        out = (_abi.mf_tensor_stats * len(chosen))()
        with shown(progress, "stats") as report:
            self.env.call(
                *(lib.mf_tensor_stats, self, index, len(chosen), out),
                progress=report,
            )
        return {name: stats_of(out[i]) for i, (name, _) in enumerate(chosen)}

    def _digests(self, kind: int, size: int, progress: Progress | None) -> Any:
        out = (ctypes.c_uint8 * (size * len(self)))()
        self.env.call(
            lib.mf_model_hash_tensors, self, kind, out, progress=progress
        )
        return out

    def hash_tensors(
        self, algorithm: str = "xxh3", progress: Progress | bool | None = None
    ) -> dict[str, str]:
        """The digest of each tensor's bytes, by name.  algorithm: "sha256", "sha1",
        "xxh3", "xxh64", "xxh128" or "crc32"."""
        from ._progress import shown

        kind, size = digest_kind(algorithm)
        with shown(progress, "hash") as report:
            data = bytes(self._digests(kind, size, report))
        names = self.tensors.names()
        return {
            name: data[i * size : (i + 1) * size].hex()
            for i, name in reversed(list(enumerate(names)))
        }

    def hash(
        self, algorithm: str = "sha256", progress: Progress | bool | None = None
    ) -> str:
        """The digest of all tensors by name, the same in every format: for the
        question whether two files have the same weights.

        >>> import modelfile
        >>> with modelfile.open("fixtures/good-llama.gguf") as m:
        ...     m.hash()[:16]
        '12bee89a06de5367'
        """
        from ._progress import shown

        kind, size = digest_kind(algorithm)
        out = (ctypes.c_uint8 * _abi.MF_DIGEST_MAX)()
        with shown(progress, "hash") as report:
            digests = self._digests(kind, size, report)
            line = _abi.function("mf_model_hash")[1][4]()
            self.env.call(
                *(lib.mf_model_hash, self, kind, digests, out, line, None)
            )
        return bytes(out[:size]).hex()

    def _digest(self, function: Any, algorithm: str) -> str:
        kind, size = digest_kind(algorithm)
        out = (ctypes.c_uint8 * _abi.MF_DIGEST_MAX)()
        self.env.call(function, self, kind, out)
        return bytes(out[:size]).hex()

    def hash_metadata(self, algorithm: str = "sha256") -> str:
        """The digest of the metadata, whatever its order."""
        return self._digest(lib.mf_model_hash_metadata, algorithm)

    def hash_data(self, algorithm: str = "sha256") -> str:
        """The digest of all tensors' data in the order of the file, as
        llama-gguf-hash has it."""
        return self._digest(lib.mf_model_hash_data, algorithm)

    def uuid(self) -> UUID:
        """The uuid.UUID that llama-gguf-hash makes of the tensors' data."""
        import uuid

        out = (ctypes.c_uint8 * 16)()
        self.env.call(lib.mf_model_uuid, self, out)
        return uuid.UUID(bytes=bytes(out))

    def duplicates(self) -> list[list[str]]:
        """Groups of the names of tensors with equal bytes, whatever their types."""
        same = (ctypes.c_uint32 * len(self))()
        self.env.call(lib.mf_model_duplicates, self, same)
        names = self.tensors.names()
        groups: dict[int, list[str]] = {}
        for i, first in enumerate(same):
            groups.setdefault(first, []).append(names[i])
        return [group for group in groups.values() if len(group) > 1]

    def imatrix_coverage(
        self, imatrix: str | os.PathLike[str]
    ) -> results.ImatrixCoverage:
        """What an importance matrix has for the tensors."""
        from ._work import imatrix_coverage

        return imatrix_coverage(self, imatrix)

    # ---- maps

    def mapped(self, shard: int, private: bool) -> mmap.mmap | None:
        """The whole file of a shard; private: writable, and what is written stays
        in this process. None: it is not a file."""
        with self.env.lock:
            found = self._maps.get((shard, private))
            if found is not None:
                return found
            fd = lib.mf_shard_fd(self.handle, shard)
            if fd < 0:
                return None
            access = mmap.ACCESS_COPY if private else mmap.ACCESS_READ
            # Of a file that was cut off the rest would not be there.
            if os.fstat(fd).st_size < self.shards[shard].size:
                return None
            out = mmap.mmap(fd, self.shards[shard].size, access=access)
            self._maps[(shard, private)] = out
            return out


_READERS = {
    "spec": _abi.MF_READER_SPEC,
    "llama.cpp": _abi.MF_READER_LLAMA,
    "transformers": _abi.MF_READER_TRANSFORMERS,
}


def open(  # noqa: A001 # modelfile.open, as gzip.open
    file: str | bytes | os.PathLike[Any] | int | Seekable,
    *,
    shards: Literal["auto", "alone", "by_name"] = "auto",
    metadata_only: bool = False,
    tensors_only: bool = False,
    allow_missing: bool = False,
    findings_max: int | None = None,
    name: str | None = None,
    heap_limit: int | None = None,
    threads: int | None = None,
    isa: str | None = None,
    scratch_folder: str | None = None,
    bare: bool = False,
) -> Model:
    """Opens a model by its header; no tensor data is read.

    file is a path: of a file, of one of several shards, of an index.json, of a
    folder.  Or a descriptor, which stays the caller's; or an object with read and
    seek, open for reading bytes, which has to stay open.  Of these two only the
    one file is read, and no other shard.  open_memory() takes bytes.

    shards: "auto": all shards of a split GGUF file, an index.json or a folder;
    "alone": this file only; "by_name": also the neighbours that a safetensors
    shard's name or index lists.  metadata_only: skips the list of tensors where
    the format keeps it apart.  tensors_only: of a pickle that names classes, the
    tensors.  allow_missing: what needs all of a model goes on without tensors
    that cannot be read.  findings_max: how many findings are kept (1000).  name:
    what messages call a file that has no path.  heap_limit: bytes that the library
    may allocate.  threads: for long work; None: one per processor.  isa: one of
    isas(), in place of the fastest.  scratch_folder: for a temporary file, which
    few formats need (/var/tmp).  bare: a config.json alone is a model without
    tensors, for plan().

    Raises NotFoundError, ReadError, FormatError, CorruptError, UnsupportedError,
    LimitError.  A file that is damaged but readable opens: see Model.findings.

    >>> import modelfile
    >>> with modelfile.open("fixtures/good-llama.gguf") as m:
    ...     print(m.format, m.metadata["general.name"], len(m.tensors))
    gguf Tiny Llama of the Fixtures 21
    """
    env = Env(
        heap_limit=heap_limit, threads=threads, isa=isa, scratch_folder=scratch_folder
    )
    options = sized(
        _abi.mf_open_options,
        metadata_only=metadata_only,
        shards=choice("shards", shards, _SHARDS),
        findings_max=count("findings_max", findings_max, ctypes.c_size_t(-1).value),
        tensors_only=tensors_only,
        allow_missing=allow_missing,
        bare=bare,
    )
    handle = ctypes.c_void_p()
    rest = (ctypes.byref(options), ctypes.byref(handle))
    if isinstance(file, (str, bytes, os.PathLike)):
        env.call(lib.mf_model_open, env.handle, path(file), *rest)
        return Model(env, cast(int, handle.value), again=(os.path.abspath(path(file)), options))
    if isinstance(file, int) and not isinstance(file, bool):
        if not 0 <= file < 2**31:
            raise ValueError(f"{file} is not a descriptor")
        label = utf8(name or f"descriptor {file}")
        env.call(lib.mf_model_open_fd, env.handle, label, file, *rest)
        return Model(env, cast(int, handle.value))
    from ._source import source_of

    source = source_of(env, file, name)
    env.call(lib.mf_model_open_source, env.handle, ctypes.byref(source), *rest)
    return Model(env, cast(int, handle.value), source)


def open_memory(
    data: Buffer,
    *,
    name: str = "memory",
    tensors_only: bool = False,
    allow_missing: bool = False,
    heap_limit: int | None = None,
    threads: int | None = None,
    file_size: int | None = None,
) -> Model:
    """Opens a file that is in memory: bytes, a bytearray, an mmap.

    They must not change while the model is open, and are not copied.  name: what
    messages call it.  file_size: the bytes are only the beginning of a file of
    that size; NeedMoreError says how many it takes.  Other options are as in
    open(), and so is what is raised.

    >>> import modelfile
    >>> with open("fixtures/good-llama.gguf", "rb") as file:
    ...     m = modelfile.open_memory(file.read())
    >>> m.facts["architecture"]
    'llama'
    """
    from ._source import pinned

    env = Env(heap_limit=heap_limit, threads=threads)
    address, size, keep = pinned(data)
    options = sized(
        _abi.mf_open_options,
        tensors_only=tensors_only,
        allow_missing=allow_missing,
        file_size=count("file_size", file_size),
    )
    handle = ctypes.c_void_p()
    env.call(
        *(lib.mf_model_open_memory, env.handle, utf8(name), address, size),
        *(ctypes.byref(options), ctypes.byref(handle)),
    )
    return Model(env, cast(int, handle.value), keep)


