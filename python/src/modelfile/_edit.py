# SPDX-License-Identifier: MIT
"""Changing the metadata of a file, in place where that fits."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, MutableMapping
from typing import Any, cast

from . import _abi
from ._env import Env, Owner
from ._library import count, lib, path, sized
from ._model import Model
from ._results import Edited, Recovered, take
from ._values import Edits, plain

_GONE = object()

_RECOVERY = ("none", "unbegun", "complete", "finished", "foreign")


class EditedMetadata(MutableMapping[str, Any]):
    """Metadata as it will be: changes are collected, and made at the end."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._changes: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        change = self._changes.get(key)
        if change is _GONE:
            raise KeyError(key)
        return self._model.metadata[key] if change is None else change

    def __setitem__(self, key: str, value: Any) -> None:
        if value is None:
            raise TypeError("metadata cannot be None: del removes a key")
        value = plain(value)
        # A mistake shows in this line of the program, not at the end.
        Edits().set(key, value, self._usual(key))
        self._changes.pop(key, None)
        self._changes[key] = value

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._changes.pop(key, None)
        if key in self._model.metadata:
            self._changes[key] = _GONE

    def __iter__(self) -> Iterator[str]:
        before = self._model.metadata
        for key in before:
            if self._changes.get(key) is not _GONE:
                yield key
        yield from (key for key in self._changes if key not in before)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _usual(self, key: str) -> str:
        metadata = self._model.metadata
        return metadata.type(key) if key in metadata else ""

    def edits(self) -> Edits:
        out = Edits()
        for key, value in self._changes.items():
            if value is _GONE:
                out.unset(key)
            else:
                out.set(key, value, self._usual(key))
        return out


class Edit(Owner):
    """An edit of a file: modelfile.edit() makes it."""

    kind = "edit"

    def __init__(self, file: Any, reserve: int, dry_run: bool, force: bool) -> None:
        self.env = Env()
        self._handle: int | None = None
        #: how the edit was made, once it is
        self.result: Edited | None = None
        options = sized(
            _abi.mf_edit_options, reserve=reserve, dry_run=dry_run, force=force
        )
        handle = ctypes.c_void_p()
        self.env.call(
            *(lib.mf_editor_open, self.env.handle, path(file)),
            *(ctypes.byref(options), ctypes.byref(handle)),
        )
        self._handle = cast(int, handle.value)
        self.model = _Borrowed(self.env, lib.mf_editor_model(self._handle))
        self.metadata: MutableMapping[str, Any] = EditedMetadata(self.model)

    def apply(self) -> Edited:
        """Makes the edit now, which can be done once; else the end of the block
        does it."""
        self.handle  # or ValueError
        if self.result is not None:
            raise ValueError("the edit was made already")
        edits = cast(EditedMetadata, self.metadata).edits()
        out = _abi.mf_edit_result()
        if not len(edits):
            self.result = Edited(True, False, 0)
            return self.result
        self.env.call(
            *(lib.mf_editor_apply, self, edits.array(), len(edits)),
            ctypes.byref(out),
        )
        self.result = take(Edited, out)
        return self.result

    def close(self) -> None:
        """Ends it and unlocks the file; without apply() nothing was changed."""
        with self.env.lock:
            if self._handle:
                self.model.close()
                self.release(lib.mf_editor_close)

    def __enter__(self) -> Edit:
        return self

    def __exit__(self, kind: Any, *_error: Any) -> None:
        try:
            if kind is None and self.result is None:
                self.apply()
        finally:
            self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()


class _Borrowed(Model):
    """The model of an editor, which closes it."""

    def close(self) -> None:
        with self.env.lock:
            self._handle = None
            self._maps.clear()


def edit(
    file: str | os.PathLike[str],
    *,
    reserve: int = 0,
    dry_run: bool = False,
    force: bool = False,
) -> Edit:
    """Changes metadata of a file:

        with modelfile.edit(path) as e:
            e.metadata["tokenizer.chat_template"] = text
            del e.metadata["general.url"]

    Nothing is changed before the end of the block, nor after an exception in
    it.  The file is locked meanwhile; where the new header fits into the place
    of the old one, only that is written, with a journal against a crash.

    reserve: if the file is rewritten, free bytes for later edits.  dry_run: only
    fills in result.  force: also an edit that adds errors, which is refused with
    UnsupportedError otherwise.  A value keeps the type that its key has; Typed
    gives another one.  TypeError and ValueError are raised where the value is
    assigned.

    >>> import modelfile, shutil, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = shutil.copy("fixtures/good-llama.gguf", folder)
    ...     with modelfile.edit(path) as e:
    ...         e.metadata["general.license"] = "mit"
    ...     e.result.in_place
    True
    """
    return Edit(file, count("reserve", reserve), dry_run, force)


def recover(file: str | os.PathLike[str], *, force: bool = False) -> Recovered:
    """Completes an edit that a crash interrupted; found says what was there.

    Reading needs no recovery: a file with a journal is read as it will be (see
    Model.pending_edit).  force: also uses a journal whose owner cannot be
    trusted.

    >>> import modelfile, shutil, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = shutil.copy("fixtures/good-llama.gguf", folder)
    ...     modelfile.recover(path).found
    'none'
    """
    env = Env()
    options = sized(_abi.mf_recover_options, force=force)
    out = _abi.mf_recover_result()
    env.call(
        *(lib.mf_file_recover, env.handle, path(file)),
        *(ctypes.byref(options), ctypes.byref(out)),
    )
    return take(Recovered, out, found=_RECOVERY[out.found])
