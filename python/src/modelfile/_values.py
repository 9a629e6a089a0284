# SPDX-License-Identifier: MIT
"""Values of metadata: from the library, and to it.

A value of Python says less than a file holds: a number has no width there.  A
plain value becomes the type that an existing key has, and in a new key

- bool: bool;  str: string
- int: u32, or the first of i32, u64 and i64 that holds it
- float: f32 where the number has no more digits than that keeps (0.5, 1e-5),
  else f64
- a list or tuple, an Array, a numpy array: an array of one of these for all

Typed names the type: Typed("u64", 3), Typed("f32[]", [0.1, 2]).
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Union, overload

from . import _abi
from ._env import Owner
from ._library import lib, text, utf8

INTEGERS = {
    "u8": (0, 2**8 - 1),
    "i8": (-(2**7), 2**7 - 1),
    "u16": (0, 2**16 - 1),
    "i16": (-(2**15), 2**15 - 1),
    "u32": (0, 2**32 - 1),
    "i32": (-(2**31), 2**31 - 1),
    "u64": (0, 2**64 - 1),
    "i64": (-(2**63), 2**63 - 1),
}
#: by the number of enum mf_value_type
TYPES = (
    *("u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array"),
    *("u64", "i64", "f64", "null", "object", "mixed"),
)
NUMBER_OF = {name: number for number, name in enumerate(TYPES)}

_CTYPE = {
    "u8": ctypes.c_uint8,
    "i8": ctypes.c_int8,
    "u16": ctypes.c_uint16,
    "i16": ctypes.c_int16,
    "u32": ctypes.c_uint32,
    "i32": ctypes.c_int32,
    "u64": ctypes.c_uint64,
    "i64": ctypes.c_int64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
    "bool": ctypes.c_bool,
}

#: what a value of metadata is
Value = Union[bool, int, float, str, None, "Array", "list[Any]", "dict[str, Any]"]


class Typed(NamedTuple):
    """A value with the type that a file gives it: "u8" to "u64", "i8" to "i64",
    "f32", "f64", "bool", "string", or one of these with "[]" for an array.

    >>> import modelfile
    >>> modelfile.Typed("u64", 3)
    Typed(type='u64', value=3)
    """

    type: str  # "u8" .. "f64", "bool", "string", with "[]" an array
    value: Any


# ---- from the library


def number(kind: int, value: Any) -> bool | int | float:
    """One of a union mf_number."""
    name = TYPES[kind]
    if name == "bool":
        return bool(value.boolean)
    if name[0] == "u":
        return int(value.u64)
    if name[0] == "i":
        return int(value.i64)
    return float(value.f64)


class Events(Owner):
    """The events of a value, in bounded memory."""

    kind = "value"

    def __init__(self, model: Any, index: int) -> None:
        self.env = model.env
        self._handle = None
        self.now = _abi.mf_value()
        handle = ctypes.c_void_p()
        self.env.call(lib.mf_values_open, model, index, ctypes.byref(handle))
        self._handle = handle.value

    def __del__(self) -> None:
        if self._handle:
            self.release(lib.mf_values_close)

    def next(self) -> Any:
        self.env.call(lib.mf_values_next, self, ctypes.byref(self.now))
        return self.now

    def string(self) -> str:
        """A text that may come in several pieces."""
        pieces = [text(self.now.text)]
        while self.now.more:
            pieces.append(text(self.next().text))
        return "".join(pieces)

    def value(self) -> Any:
        """The value that begins at the next event; END and DONE are themselves."""
        now = self.next()
        if now.event == _abi.MF_EVENT_BEGIN:
            return self.members() if now.type == _abi.MF_VALUE_OBJECT else self.items()
        if now.event != _abi.MF_EVENT_ITEM:
            return _END
        if now.type == _abi.MF_VALUE_STRING:
            return self.string()
        if now.type == _abi.MF_VALUE_NULL:
            return None
        return number(now.type, now.number)

    def items(self) -> list[Any]:
        out = []
        while (item := self.value()) is not _END:
            out.append(item)
        return out

    def members(self) -> dict[str, Any]:
        out = {}
        while self.next().event == _abi.MF_EVENT_KEY:
            key = self.string()
            out[key] = self.value()
        return out


_END = object()


def _strings(elements: Any, size: int) -> list[str]:
    """Texts that lie one after the other, with a NUL after each."""
    pieces = ctypes.cast(elements, ctypes.POINTER(_abi.mf_str))
    first, last = pieces[0], pieces[size - 1]
    whole = ctypes.string_at(first.at, last.at + last.size - first.at)
    out = whole.decode("utf-8", "surrogateescape").split("\0")
    if len(out) == size:
        return out
    return [text(pieces[i]) for i in range(size)]  # one has a NUL of its own


class Array(Sequence[Any]):
    """An array of metadata, which is read when an element is asked for.

    It compares equal to a list or tuple with the same elements.

    >>> import modelfile
    >>> with modelfile.open("fixtures/good-llama.gguf") as m:
    ...     tokens = m.metadata["tokenizer.ggml.tokens"]
    ...     print(tokens.type, len(tokens), tokens[0], tokens[:2])
    string 16 <unk> ['<unk>', '<s>']
    """

    __slots__ = ("_model", "_index", "type", "_count", "_elements")

    def __init__(self, model: Any, index: int, meta: Any) -> None:
        self._model = model
        self._index = index
        #: of the elements: "u32", "string", ...; "mixed" where each has its own
        self.type: str = TYPES[meta.of]
        self._count: int = meta.count
        self._elements: list[Any] | None = None

    def _read(self) -> Any:
        """All elements as the library gives them, to be freed."""
        out = ctypes.POINTER(_abi.mf_array)()
        model = self._model
        model.env.call(
            lib.mf_values_read, model, self._index, ctypes.byref(out)
        )
        return out

    def tolist(self) -> list[Any]:
        """All elements; they are kept for the next time."""
        if self._elements is None:
            self._elements = self._list()
        return list(self._elements)

    def _list(self) -> list[Any]:
        if self.type in ("array", "object", "mixed", "null"):
            events = Events(self._model, self._index)
            out = events.value()
            assert isinstance(out, list)
            return out
        array = self._read()
        try:
            found = array.contents
            if not found.count:
                return []
            if found.of == _abi.MF_VALUE_STRING:
                return _strings(found.elements, found.count)
            kind = _CTYPE[TYPES[found.of]] * found.count
            return list(kind.from_address(found.elements))
        finally:
            with self._model.env.lock:
                lib.mf_array_free(array)

    def numpy(self) -> Any:
        """The numbers as a numpy array of their type."""
        from ._arrays import numpy

        if self.type not in _CTYPE:
            raise TypeError(f"elements are {self.type}: no numbers of one type")
        array = self._read()
        try:
            found = array.contents
            kind = _CTYPE[TYPES[found.of]]
            if not found.count:
                return numpy().empty(0, kind)
            there = (kind * found.count).from_address(found.elements)
            return numpy().array(there, copy=True)
        finally:
            with self._model.env.lock:
                lib.mf_array_free(array)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> list[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if self._elements is None:
            self._elements = self._list()
        return self._elements[at]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Array, list, tuple)):
            return len(self) == len(other) and self.tolist() == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<modelfile.Array of {len(self)} {self.type}>"


def value(model: Any, index: int, meta: Any) -> Value:
    """The value of a struct mf_meta."""
    if meta.type == _abi.MF_VALUE_STRING:
        if meta.text.at:
            return text(meta.text)
        out: str = Events(model, index).value()
        return out
    if meta.type == _abi.MF_VALUE_ARRAY:
        return Array(model, index, meta)
    if meta.type == _abi.MF_VALUE_OBJECT:
        members: dict[str, Any] = Events(model, index).value()
        return members
    if meta.type == _abi.MF_VALUE_NULL:
        return None
    return number(meta.type, meta.number)


# ---- to the library


def _f32_keeps(value: float) -> bool:
    """Whether an f32 is the same number, or one that is written with the same
    digits: 0.1 is not exactly either's, but means the same in both."""
    try:
        rounded = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return False
    if rounded == value or value != value:
        return True
    return any(float(f"{rounded:.{digits}g}") == value for digits in range(6, 10))


def _scalar_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if hasattr(value, "__index__"):
        number = value.__index__()
        for name in ("u32", "i32", "u64", "i64"):
            least, most = INTEGERS[name]
            if least <= number <= most:
                return name
        raise ValueError(f"{number} fits into no integer of 64 bits")
    if isinstance(value, float):
        return "f32" if _f32_keeps(value) else "f64"
    raise TypeError(f"metadata cannot be a {type(value).__name__}")


def _element_type(values: Sequence[Any]) -> str:
    """One type for all elements."""
    if not values:
        raise ValueError('an empty list has no type: Typed("string[]", []) has one')
    names = {_scalar_type(value) for value in values}
    if len(names) == 1:
        return names.pop()
    if names <= {"f32", "f64"}:
        return "f64"
    if names <= set(INTEGERS):
        for name in ("i32", "u64", "i64"):
            least, most = INTEGERS[name]
            if all(least <= value <= most for value in values):
                return name
    raise ValueError(f"the elements have no type in common: {', '.join(sorted(names))}")


def plain(value: Any) -> Any:
    """Python's numbers, lists and tuples in place of numpy's."""
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        kind = f"{value.dtype}"
        name = _OF_NUMPY.get(kind)
        if name is None:
            raise TypeError(f"metadata cannot be numpy's {kind}")
        if getattr(value, "ndim", 0) > 1:
            raise ValueError("an array of metadata has one dimension")
        many = getattr(value, "ndim", 0) == 1
        return Typed(f"{name}[]" if many else name, value.tolist())
    if isinstance(value, Array):
        return Typed(f"{value.type}[]", value.tolist())
    if isinstance(value, Typed) and value.type.endswith("[]"):
        # Kept as it is now; a generator gives its elements once.
        return value if isinstance(value.value, str) else _kept(value)
    if isinstance(value, (list, tuple)) and not isinstance(value, Typed):
        return [each.item() if hasattr(each, "dtype") else each for each in value]
    return value


def _kept(value: Typed) -> Typed:
    try:
        return Typed(value.type, list(value.value))
    except TypeError:
        raise TypeError(f"a list is needed, not {value.value!r}") from None


_OF_NUMPY = {
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    "float32": "f32",
    "float64": "f64",
    "bool": "bool",
}


def typed(value: Any, usual: str = "") -> Typed:
    """A value with its type; `usual` is the type that the key has now."""
    value = plain(value)
    if isinstance(value, Typed):
        name = value.type[:-2] if value.type.endswith("[]") else value.type
        if name not in _CTYPE and name != "string":
            raise ValueError(f"{value.type!r} is not a type of metadata")
        return value
    if isinstance(value, (list, tuple)):
        if usual.endswith("[]") and usual[:-2] in (*_CTYPE, "string"):
            return Typed(usual, list(value))
        return Typed(f"{_element_type(value)}[]", list(value))
    if usual in _CTYPE or usual == "string":
        return Typed(usual, value)
    return Typed(_scalar_type(value), value)


def _set_number(out: Any, name: str, value: Any, key: str) -> None:
    """Fills in a union mf_number; a value out of the type's range is refused."""
    if name == "bool":
        if not isinstance(value, bool):
            raise TypeError(f"{key}: a bool is needed, not {value!r}")
        out.boolean = value
    elif name in INTEGERS:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"{key}: a whole number is needed, not {value!r}")
        number = value.__index__()
        least, most = INTEGERS[name]
        if not least <= number <= most:
            raise ValueError(f"{key}: {number} is not a {name}, from {least} to {most}")
        if name[0] == "u":
            out.u64 = number
        else:
            out.i64 = number
    else:
        if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
            raise TypeError(f"{key}: a number is needed, not {value!r}")
        out.f64 = float(value)
        if hasattr(value, "__index__") and out.f64 != value.__index__():
            raise ValueError(f"{key}: {value} has more digits than {name} holds")
        if name == "f32" and abs(out.f64) > _F32_MAX and out.f64 - out.f64 == 0:
            raise ValueError(f"{key}: {value} is too large for f32")


_F32_MAX = 3.4028235677973366e38  # from here on numbers round to infinity


class Edits:
    """An array of struct mf_edit, and what it points to."""

    def __init__(self) -> None:
        self._edits: list[Any] = []
        self._keep: list[Any] = []

    def __len__(self) -> int:
        return len(self._edits)

    def _text(self, value: Any, key: str) -> Any:
        if not isinstance(value, str):
            raise TypeError(f"{key}: a str is needed, not {value!r}")
        data = utf8(value)
        self._keep.append(data)
        at = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value
        return _abi.mf_str(at=at, size=len(data))

    def _key(self, key: str) -> bytes:
        data = utf8(key)
        if b"\0" in data or not data:
            raise ValueError(f"{key!r} is not a key of metadata")
        return data

    def unset(self, key: str) -> None:
        self._edits.append(_abi.mf_edit(key=self._key(key), unset=True))

    def set(self, key: str, value: Any, usual: str = "") -> None:
        name, given = typed(value, usual)
        edit = _abi.mf_edit(key=self._key(key))
        if name.endswith("[]"):
            self._array(edit, name[:-2], given, key)
        else:
            edit.type = NUMBER_OF[name]
            if name == "string":
                edit.text = self._text(given, key)
            else:
                _set_number(edit.number, name, given, key)
        self._edits.append(edit)

    def _array(self, edit: Any, name: str, values: Iterable[Any], key: str) -> None:
        if isinstance(values, (str, bytes)):
            raise TypeError(f"{key}: a list is needed, not {values!r}")
        values = list(values)
        edit.type, edit.of = _abi.MF_VALUE_ARRAY, NUMBER_OF[name]
        edit.count = len(values)
        elements: Any
        if name == "string":
            elements = (_abi.mf_str * len(values))()
            for i, value in enumerate(values):
                elements[i] = self._text(value, key)
        else:
            elements = (_abi.mf_number * len(values))()
            for i, value in enumerate(values):
                _set_number(elements[i], name, value, key)
        self._keep.append(elements)
        edit.elements = ctypes.cast(elements, ctypes.c_void_p)

    def array(self) -> Any:
        return (_abi.mf_edit * len(self._edits))(*self._edits)


def edits_of(changes: Any) -> Edits:
    """A mapping of keys to values; None removes a key."""
    out = Edits()
    for key, value in dict(changes or {}).items():
        if value is None:
            out.unset(key)
        else:
            out.set(key, value)
    return out
