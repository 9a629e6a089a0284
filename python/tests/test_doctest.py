# SPDX-License-Identifier: MIT
"""Examples in docstrings are run, from the top folder, as they open fixtures.

An example that needs a package says so by importing it: where that is missing,
the test of its docstring is skipped.  Files that examples write with no folder
in their name go to a temporary one."""

import doctest
import importlib
import importlib.util
import os
import re
import unittest
from pathlib import Path

import modelfile
from support import TOP, InFolder

OPTIONAL = ("gguf", "ml_dtypes", "numpy", "pandas", "safetensors", "torch")


def modules():
    """All of the package, those of it that import a missing package left out."""
    top = Path(modelfile.__file__).parent
    for path in sorted(top.rglob("*.py")):
        name = ".".join(path.relative_to(top.parent).with_suffix("").parts)
        if path.stem == "__main__":
            continue
        try:
            yield importlib.import_module(re.sub(r"\.__init__$", "", name))
        except ImportError as error:
            if error.name not in OPTIONAL:
                raise


def examples():
    """Each docstring with examples, once."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    seen = set()
    for module in modules():
        for test in finder.find(module, module.__name__):
            if test.examples and test.name not in seen:
                seen.add(test.name)
                yield test


def missing(test):
    """The packages that an example imports and that are not here."""
    text = "".join(each.source for each in test.examples)
    named = {
        name.split(".")[0]
        for line in re.findall(r"^(?:from|import) (.+)$", text, re.M)
        for name in re.split(r", ?| import.*", line)
    }
    return sorted(
        name for name in named & set(OPTIONAL) if not importlib.util.find_spec(name)
    )


class Examples(InFolder):
    def setUp(self):
        super().setUp()
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        os.symlink(TOP / "fixtures", "fixtures")


def method(test):
    def run(self):
        lacking = missing(test)
        if lacking:
            self.skipTest(f"no {', '.join(lacking)}")
        said = []
        # Own names, as each example stands alone.
        test.globs = {"__name__": "__main__"}
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        runner.run(test, out=said.append)
        self.assertEqual(runner.failures, 0, "".join(said))

    return run


for found in examples():
    setattr(Examples, f"test_{found.name.replace('.', '_')}", method(found))


class Docstrings(unittest.TestCase):
    def test_public_names_have_one(self):
        lacking = []
        for name in modelfile.__all__:
            value = getattr(modelfile, name)
            if not callable(value) or getattr(value, "__module__", "") == "typing":
                continue
            if not value.__doc__ or value.__doc__.startswith(f"{name}("):
                lacking.append(name)
            for member, its in vars(value).items() if isinstance(value, type) else ():
                if member.startswith("_") or not value.__module__.startswith("modelfile"):
                    continue
                if isinstance(its, property):
                    its = its.fget
                if callable(its) and not its.__doc__:
                    lacking.append(f"{name}.{member}")
        self.assertEqual(lacking, [])

    def test_there_are_examples(self):
        self.assertGreater(len([n for n in dir(Examples) if n.startswith("test_")]), 15)


if __name__ == "__main__":
    unittest.main()
