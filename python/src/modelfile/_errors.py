# SPDX-License-Identifier: MIT
"""Exceptions: one class for each status of the library."""

from __future__ import annotations

import errno
from typing import Any

from . import _abi
from ._library import lib, string


class Error(Exception):
    """What the library could not do: the base of all its exceptions.

    Several are exceptions of Python, too: NotFoundError is a FileNotFoundError,
    CorruptError a ValueError.  A wrong argument that this package finds by itself
    is a plain TypeError or ValueError.

    >>> import modelfile
    >>> try:
    ...     modelfile.open("fixtures/bad-count-metadata.gguf")
    ... except modelfile.CorruptError as error:
    ...     print(error.status, error.rule, error.offset)
    corrupt FILE-COUNT 24
    """

    #: the library's word for it, such as "corrupt"
    status: str = ""
    #: where in the file, or None
    offset: int | None = None
    #: the rule that the file breaks ("TENSOR-BOUNDS"), or the reason for which
    #: the request was refused ("OUTPUT-EXISTS"); or ""
    rule: str = ""
    #: the path of the file
    path: str = ""
    #: whether that is another file of the model than the one that was named
    shard: bool = False
    #: of NeedMoreError, how many bytes from the start of the file are needed
    needed: int = 0
    #: the number of the system's error (errno); else 0
    system: int = 0

    def __str__(self) -> str:
        # OSError, a base of some classes, would print another text.
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> Any:
        members = self.__dict__.copy()
        if isinstance(self, OSError):
            members.update(errno=self.errno, filename=self.filename)
        return (_again, (type(self), str(self), members))


class ArgumentError(Error, ValueError):
    """An argument that the library refuses."""


class ReadError(Error, OSError):
    """A file that cannot be read."""


class NotFoundError(ReadError, FileNotFoundError):
    """A file that is not there."""


class OutOfMemoryError(Error, MemoryError):
    """There is no memory."""


class LimitError(Error):
    """Above max_memory or heap_limit, or a limit of the library, such as the
    length of a key."""


class FormatError(Error, ValueError):
    """A file of an unknown format."""


class CorruptError(Error, ValueError):
    """A file of a known format that is invalid."""


class UnsupportedError(Error):
    """Something valid that the library does not do, or not with these options:
    rule often says which one would let it."""


class OutputError(Error, OSError):
    """A file that cannot be written; rule is OUTPUT-EXISTS where replace=True
    would help."""


class StoppedError(Error):
    """The progress function returned False."""


class NeedMoreError(Error):
    """Of open_memory() with file_size: the bytes are too few, and `needed` says
    how many will do."""


CLASSES: dict[int, type[Error]] = {
    _abi.MF_ERR_ARGUMENT: ArgumentError,
    _abi.MF_ERR_IO: ReadError,
    _abi.MF_ERR_MEMORY: OutOfMemoryError,
    _abi.MF_ERR_LIMIT: LimitError,
    _abi.MF_ERR_FORMAT: FormatError,
    _abi.MF_ERR_CORRUPT: CorruptError,
    _abi.MF_ERR_UNSUPPORTED: UnsupportedError,
    _abi.MF_ERR_OUTPUT: OutputError,
    _abi.MF_ERR_STOPPED: StoppedError,
    _abi.MF_NEED_MORE: NeedMoreError,
}


def _again(kind: type[Error], message: str, members: dict[str, Any]) -> Error:
    out = kind(message)
    for name, value in members.items():
        setattr(out, name, value)
    return out


def from_struct(status: int, found: Any) -> Error:
    """The exception for a struct mf_error."""
    kind = CLASSES[status]
    if status == _abi.MF_ERR_IO and found.system == errno.ENOENT:
        kind = NotFoundError
    message = found.message.decode("utf-8", "replace")
    path = string(found.path)
    out = kind(f"{path}: {message}" if path else message)
    out.status = lib.mf_status_name(status).decode()
    out.offset = None if found.offset == _abi.MF_NO_OFFSET else found.offset
    out.rule = string(found.rule)
    out.path = path
    out.shard = found.file == _abi.MF_ERROR_IN_SHARD
    out.needed = found.needed
    out.system = found.system
    if isinstance(out, OSError):
        out.errno = found.system or None
        out.filename = path or None
    return out
