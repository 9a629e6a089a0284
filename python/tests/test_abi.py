# SPDX-License-Identifier: MIT
"""What was made from the header is what the compiler makes of it.

lib/modelfile.abi is written by abidw from the debug information of the library:
it has every function, struct, member and number, with sizes and offsets."""

import ctypes
import re
import unittest
import xml.etree.ElementTree as tree
from pathlib import Path

from modelfile import _abi

TOP = Path(__file__).resolve().parents[2]
KINDS = {"class-decl": ctypes.Structure, "union-decl": ctypes.Union}


@unittest.skipUnless(ctypes.sizeof(ctypes.c_void_p) == 8, "the description is of 64 bits")
class Interface(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.abi = tree.parse(TOP / "lib/modelfile.abi").getroot()

    def test_every_function_is_there(self):
        symbols = {each.get("name") for each in self.abi.iter("elf-symbol")}
        self.assertGreater(len(symbols), 150)
        self.assertEqual(symbols, set(_abi.FUNCTIONS))

    def test_functions_have_their_parameters(self):
        seen = 0
        for function in self.abi.iter("function-decl"):
            name = function.get("name")
            if name not in _abi.FUNCTIONS:
                continue
            seen += 1
            _, parameters = _abi.function(name)
            self.assertEqual(len(function.findall("parameter")), len(parameters), name)
        self.assertEqual(seen, len(_abi.FUNCTIONS))

    def test_parameters_have_their_sizes(self):
        types = {each.get("id"): each for each in self.abi.iter() if each.get("id")}

        def size(id):
            found = types[id]
            while found.tag in ("qualified-type-def", "typedef-decl"):
                found = types[found.get("type-id")]
            if found.tag in ("pointer-type-def", "reference-type-def"):
                return 8
            if found.tag == "enum-decl":
                return 4
            if found.get("name") == "void":
                return 0
            return int(found.get("size-in-bits")) // 8

        def given(kind):
            return ctypes.sizeof(kind) if kind is not None else 0

        for function in self.abi.iter("function-decl"):
            name = function.get("name")
            if name not in _abi.FUNCTIONS:
                continue
            result, parameters = _abi.function(name)
            self.assertEqual(size(function.find("return").get("type-id")), given(result), name)
            there = [size(each.get("type-id")) for each in function.findall("parameter")]
            self.assertEqual(there, [given(each) for each in parameters], name)

    def test_every_member_is_where_it_is(self):
        seen = 0
        for tag, base in KINDS.items():
            for record in self.abi.iter(tag):
                name = record.get("name", "")
                if not name.startswith("mf_") or record.get("is-declaration-only"):
                    continue
                kind = getattr(_abi, name)
                self.assertTrue(issubclass(kind, base), name)
                if not record.get("size-in-bits"):
                    continue
                seen += 1
                self.assertEqual(
                    ctypes.sizeof(kind) * 8, int(record.get("size-in-bits")), name
                )
                there = {
                    member.find("var-decl").get("name"): int(
                        member.get("layout-offset-in-bits", "0")
                    )
                    for member in record.iter("data-member")
                }
                given = {
                    member: getattr(kind, member).offset * 8
                    for member, _ in kind._fields_
                }
                self.assertEqual(given, there, name)
        self.assertGreater(seen, 80)

    def test_every_number_of_an_enum(self):
        seen = 0
        for each in self.abi.iter("enumerator"):
            if each.get("name").startswith("MF_"):
                seen += 1
                self.assertEqual(
                    getattr(_abi, each.get("name")), int(each.get("value")), each.get("name")
                )
        self.assertGreater(seen, 80)

    def test_every_constant_of_the_header(self):
        header = (TOP / "lib/modelfile.h").read_text(encoding="utf-8")
        names = set(re.findall(r"^#define (MF_\w+) +\S", header, re.M)) - {"MF_API"}
        names |= set(re.findall(r"^ +(MF_[A-Z0-9_]+)(?: = \d+)?[,\n ]", header, re.M))
        self.assertGreater(len(names), 150)
        self.assertEqual([name for name in sorted(names) if not hasattr(_abi, name)], [])


class Generator(unittest.TestCase):
    """abi.py refuses what it does not know, rather than leave it out."""

    def text(self, header):
        import importlib.util

        spec = importlib.util.spec_from_file_location("abi_maker", TOP / "python/abi.py")
        maker = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(maker)
        try:
            return maker.Module(maker.Header(header)).text()
        except maker.HeaderError as error:
            return f"error: {error}"

    def test_refused(self):
        for header, words in (
            ("#pragma once\n", "#pragma is not known"),
            ("static int x;\n", "begins with 'static'"),
            ("#define MF_X sizeof(int)[1]\n", "is not known"),
            ("struct a { int x };\n", "expected ';'"),
            ("MF_API int f(struct b, int);\n", "used before it is defined"),
        ):
            self.assertIn(words, self.text(header), header)

    def test_made(self):
        text = self.text(
            "enum e { A = 3, B };\n"
            "#define N 4\n"
            "struct s { const uint64_t *p; char t[N], u; int (*f)(void *, struct s *); };\n"
            "MF_API const char *g(const struct s *s, const double *numbers);\n"
        )
        for line in (
            "B = 4",
            '    "s": (Structure, """("p", POINTER(c_uint64)), ("t", c_char * 4), '
            '("u", c_char), ("f", CFUNCTYPE(c_int, c_void_p, POINTER(s))),"""),',
            '    "g": """c_char_p, (POINTER(s), c_void_p, )""",',
        ):
            self.assertIn(line, text.split("\n"))


if __name__ == "__main__":
    unittest.main()
