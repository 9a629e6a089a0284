# SPDX-License-Identifier: MIT
"""abi.py - what ctypes has to know of the library, from its header

    python3 python/abi.py lib/modelfile.h build/python/modelfile/_abi.py

Reads the declarations of lib/modelfile.h, which has all of the interface, and of
the preprocessor only constants, and writes a module that has a class
for each struct and union, a number for each constant, and the types of each
function.  A declaration that this program does not know is an error.

In the module:

- a struct that the header does not define is a void pointer: a handle;
- text that ends with a NUL is c_char_p, but `at` of struct mf_str is a pointer,
  since its text may have any byte;
- parameters that point to numbers are void pointers, which take an address, an
  array, or byref(); members of structs that do are pointers to these numbers.
"""

import re
import sys

NUMBERS = {
    "bool": "c_bool",
    "char": "c_char",
    "double": "c_double",
    "float": "c_float",
    "int": "c_int",
    "int32_t": "c_int32",
    "int64_t": "c_int64",
    "size_t": "c_size_t",
    "uint8_t": "c_uint8",
    "uint32_t": "c_uint32",
    "uint64_t": "c_uint64",
    "unsigned": "c_uint",
}

# What the values of constants are made of.
KNOWN = {"UINT32_MAX": 2**32 - 1, "UINT64_MAX": 2**64 - 1, "SIZE_MAX": "c_size_t(-1).value"}

TOKEN = re.compile(r'\s*(?:(\w+)|("[^"]*")|(.))', re.S)


class HeaderError(Exception):
    """The header has something that this program does not know."""


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def split_preprocessor(text):
    """The declarations, and the constants by name."""
    lines, constants, skipping = [], {}, 0
    for line in text.split("\n"):
        directive = re.match(r"#\s*(\w+)\s*(.*)", line)
        if not directive:
            if not skipping:
                lines.append(line)
            continue
        word, rest = directive.groups()
        if word in ("if", "ifdef", "ifndef"):
            # The guard and the choice of MF_API have declarations inside.
            skipping += bool(skipping) or "__cplusplus" in rest
        elif word == "endif":
            skipping -= bool(skipping)
        elif word == "define" and not skipping:
            name, _, value = rest.partition(" ")
            if value.strip() and name != "MF_API":
                constants[name] = value.strip()
        elif word not in ("include", "else", "define"):
            raise HeaderError(f"#{word} is not known")
    return "\n".join(lines), constants


class Header:
    """Declarations, in their order."""

    def __init__(self, text):
        text, defines = split_preprocessor(without_comments(text))
        self.tokens = [m.group().strip() for m in TOKEN.finditer(text)]
        self.tokens = [token for token in self.tokens if token]
        self.at = 0
        self.constants = {}  # name: a number, or text of Python
        self.records = {}  # name: (kind, [(member, type)])
        self.callbacks = {}  # name of a typedef: type
        self.functions = {}  # name: (result, [types])
        for name, value in defines.items():
            self.constants[name] = self.constant(value)
        while self.at < len(self.tokens):
            self.declaration()

    def constant(self, text):
        names = {
            name: value
            for name, value in {**self.constants, **KNOWN}.items()
            if isinstance(value, int)
        }
        if text in KNOWN:
            return KNOWN[text]
        if text.startswith('"'):
            return text
        if not re.fullmatch(r"[\w\s()+*-]+", text):
            raise HeaderError(f"the constant {text!r} is not known")
        return eval(text, {"__builtins__": {}}, names)  # numbers and + - *

    # ---- tokens

    def next(self):
        if self.at == len(self.tokens):
            raise HeaderError("the header ends within a declaration")
        self.at += 1
        return self.tokens[self.at - 1]

    def peek(self, offset=0):
        at = self.at + offset
        return self.tokens[at] if at < len(self.tokens) else ""

    def take(self, token):
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def expect(self, token):
        found = self.next()
        if found != token:
            near = " ".join(self.tokens[max(0, self.at - 8) : self.at])
            raise HeaderError(f"expected '{token}' at the end of: {near}")

    # ---- declarations

    def declaration(self):
        if self.take("typedef"):
            base = self.base()
            name, of = self.declarator(base)
            self.callbacks[name] = of
        elif self.take("MF_API"):
            base = self.base()
            name, of = self.declarator(base)
            if of[0] != "function":
                raise HeaderError(f"{name} is not a function")
            self.functions[name] = of[1:]
        elif self.peek() == "enum":
            self.enumeration()
        elif self.peek() in ("struct", "union"):
            kind, name = self.next(), self.next()
            if self.take("{"):
                self.records[name] = (kind, self.members())
        else:
            raise HeaderError(f"a declaration begins with {self.peek()!r}")
        self.expect(";")

    def enumeration(self):
        self.expect("enum")
        self.next()
        self.expect("{")
        value = 0
        while not self.take("}"):
            name = self.next()
            if self.take("="):
                value = self.constant(self.next())
            self.constants[name] = value
            value += 1
            if self.peek() != "}":
                self.expect(",")

    def members(self):
        out = []
        while not self.take("}"):
            base = self.base()
            while True:
                name, of = self.declarator(base)
                out.append((name, of))
                if not self.take(","):
                    break
            self.expect(";")
        return out

    def base(self):
        """A type without what a declarator adds."""
        while self.take("const"):
            pass
        word = self.next()
        if word in ("struct", "union"):
            of = ("record", self.next())
        elif word == "enum":
            self.next()
            of = ("number", "int")
        elif word == "void":
            of = ("void",)
        elif word in NUMBERS:
            of = ("number", word)
        else:
            of = ("callback", word)
        while self.take("const"):
            pass
        return of

    def declarator(self, of):
        """(name, type); the name may be missing."""
        while self.take("*"):
            of = ("pointer", of)
            while self.take("const"):
                pass
        if self.peek() == "(" and self.peek(1) == "*":  # to a function
            self.at += 2
            name = self.next()
            self.expect(")")
            return name, ("pointer", self.parameters(of))
        name = self.next() if re.match(r"\w", self.peek()) else ""
        if self.peek() == "(":
            return name, self.parameters(of)
        while self.take("["):
            count = self.tokens[self.at : self.tokens.index("]", self.at)]
            self.at += len(count) + 1
            of = ("array", of, self.constant(" ".join(count)))
        return name, of

    def parameters(self, result):
        self.expect("(")
        out = []
        if self.peek() == "void" and self.peek(1) == ")":
            self.at += 1
        while not self.take(")"):
            _, of = self.declarator(self.base())
            out.append(("pointer", of[1]) if of[0] == "array" else of)
            if self.peek() != ")":
                self.expect(",")
        return ("function", result, out)


class Module:
    """The text of the module."""

    def __init__(self, header):
        self.header = header
        self.written = set()
        self.lines = []

    def type(self, of, member=False):
        kind = of[0]
        if kind == "void":
            return "None"
        if kind == "number":
            return NUMBERS[of[1]]
        if kind == "array":
            return f"{self.type(of[1], member)} * {of[2]}"
        if kind == "record":
            if of[1] not in self.written:
                raise HeaderError(f"struct {of[1]} is used before it is defined")
            return of[1]
        if kind == "callback":
            return self.type(self.header.callbacks[of[1]])
        if kind == "function":
            return self.function(of)
        return self.pointer(of[1], member)

    def pointer(self, of, member):
        kind = of[0]
        if kind == "function" or kind == "callback":
            return self.type(of)
        if of == ("number", "char"):
            return "c_char_p"
        if kind == "record" and of[1] in self.written:
            return f"POINTER({of[1]})"
        if member and kind != "record" and kind != "void":
            return f"POINTER({self.type(of, member)})"
        return "c_void_p"

    def function(self, of):
        types = ", ".join(self.type(each) for each in [of[1], *of[2]])
        return f"CFUNCTYPE({types})"

    def record(self, name):
        kind, members = self.header.records[name]
        self.written.add(name)  # it may point to itself
        base = "Structure" if kind == "struct" else "Union"
        types = []
        for member, of in members:
            text = self.type(of, True)
            if (name, member) == ("mf_str", "at"):
                text = "c_void_p"
            types.append(f'("{member}", {text}), ')
        self.lines += [f'    "{name}": ({base}, """{"".join(types).rstrip()}"""),']

    def text(self):
        for name, value in self.header.constants.items():
            self.lines.append(f"{name} = {value}")
        self.lines += ["", "RECORDS = {"]
        for name in self.header.records:
            self.record(name)
        self.lines += ["}", "", "FUNCTIONS = {"]
        for name, (result, parameters) in self.header.functions.items():
            types = "".join(self.type(each) + ", " for each in parameters)
            self.lines.append(f'    "{name}": """{self.type(result)}, ({types})""",')
        self.lines.append("}")
        used = sorted(set(re.findall(r"\bc_\w+", "\n".join(self.lines))))
        names = ["CFUNCTYPE", "POINTER", "Structure", "Union", *used]
        return HEAD % "".join(f"    {name},\n" for name in names) + "\n".join(
            [*self.lines, TAIL]
        )


HEAD = '''\
# Made by abi.py from lib/modelfile.h.
# mypy: ignore-errors
"""Structs and functions of the library.  A class is made when it is first asked
for, as a program uses few of them: RECORDS has what they are made of."""

from ctypes import (
%s)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

'''

TAIL = '''

class _Names(dict):
    """Where types look for the names in them."""

    def __missing__(self, name):
        return globals()[name] if name in globals() else __getattr__(name)


def _types(text):
    return eval(text, {"__builtins__": {}}, _Names())


def __getattr__(name):
    if name not in RECORDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    base, members = RECORDS[name]
    made = globals()[name] = type(base)(name, (base,), {"__module__": __name__})
    made._fields_ = _types(members)
    return made


def function(name: str) -> "Any":
    """What a function returns, and its parameters."""
    return _types(FUNCTIONS[name])
'''


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__.split("\n\n")[1].strip())
    with open(arguments[1], encoding="utf-8") as file:
        header = file.read()
    try:
        text = Module(Header(header)).text()
    except HeaderError as error:
        sys.exit(f"{arguments[1]}: {error}")
    with open(arguments[2], "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main(sys.argv)
