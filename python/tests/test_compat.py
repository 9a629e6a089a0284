# SPDX-License-Identifier: MIT
"""modelfile.compat: how its modules are found, and what is left out."""

import subprocess
import sys
import unittest

import modelfile.compat
from support import TOP, here, needs_numpy


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code],
        env=here(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )


class Installing(unittest.TestCase):
    def said(self, code):
        found = run(code)
        self.assertEqual(found.returncode, 0, found.stdout)
        return found.stdout.split()

    def test_other_names(self):
        code = """
import modelfile.compat, sys
modelfile.compat.install("safetensors")
modelfile.compat.install("gguf", "safetensors")
import gguf, gguf.constants
import gguf.tensor_mapping as mapping
from gguf.constants import Keys
from safetensors import safe_open
import modelfile.compat.gguf.constants as own
print(own.Keys is Keys, own is gguf.constants, own.__name__ in sys.modules)
print(safe_open.__module__, own.__spec__.name, gguf.__spec__.name)
"""
        self.assertEqual(
            self.said(code),
            [
                *("True", "True", "True", "modelfile.compat.safetensors"),
                *("modelfile.compat.gguf.constants", "modelfile.compat.gguf"),
            ],
        )

    @needs_numpy
    def test_of_a_program(self):
        code = f"""
import modelfile.compat
modelfile.compat.install("gguf", "safetensors")
import gguf.gguf_reader, safetensors.numpy, numpy
reader = gguf.gguf_reader.GGUFReader({str(TOP / "fixtures/good-llama.gguf")!r})
print(reader.fields["general.architecture"].contents())
print(len(safetensors.numpy.load(safetensors.numpy.save({{"a": numpy.ones(3)}}))))
"""
        self.assertEqual(self.said(code), ["llama", "1"])

    def test_not_before_it_is_asked_for(self):
        code = """
import modelfile.compat, sys
print(any(name.split(".")[0] in ("gguf", "safetensors") for name in sys.modules))
"""
        self.assertEqual(self.said(code), ["False"])

    def test_refused(self):
        self.assertRaises(ValueError, modelfile.compat.install, "numpy")
        code = """
import sys, types
sys.modules["gguf"] = types.ModuleType("gguf")
sys.modules["gguf"].__file__ = "there"
import modelfile.compat
modelfile.compat.install("gguf")
"""
        self.assertIn("imported already", run(code).stdout)


class LeftOut(unittest.TestCase):
    def test_attributes(self):
        from modelfile.compat import gguf, safetensors

        for module, name, reason in (
            (gguf, "SpecialVocab", "vocabulary"),
            (gguf, "LazyNumpyTensor", "asked for"),
            (gguf, "SafetensorRemote", "connection"),
            (safetensors, "flax", "numpy and torch"),
        ):
            with self.assertRaisesRegex(AttributeError, f"leaves out {name}.*{reason}"):
                getattr(module, name)
        for module in (gguf, safetensors):
            with self.assertRaisesRegex(AttributeError, "has no attribute 'none'"):
                module.none  # noqa: B018

    def test_modules(self):
        code = """
import modelfile.compat
modelfile.compat.install("gguf", "safetensors")
import safetensors.flax
"""
        self.assertIn("safetensors.flax is left out", run(code).stdout)

    def test_a_missing_package(self):
        code = """
import sys
sys.modules["torch"] = None
import modelfile.compat
modelfile.compat.install("safetensors")
import safetensors.torch
"""
        self.assertIn("needs torch", run(code).stdout)

    def test_names_that_gguf_has(self):
        from modelfile.compat import gguf

        for name in dir(gguf):
            if name.startswith("_"):
                continue
            try:
                getattr(gguf, name)
            except ImportError as error:
                self.assertEqual(error.name, "numpy")


if __name__ == "__main__":
    unittest.main()
