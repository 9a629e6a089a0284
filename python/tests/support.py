# SPDX-License-Identifier: MIT
"""What the tests share."""

import importlib
import os
import shutil
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FIXTURES = TOP / "fixtures"

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

needs_numpy = unittest.skipIf(numpy is None, "no numpy")
needs_torch = unittest.skipIf(torch is None, "no torch")


def fixture(name):
    return str(FIXTURES / name)


def is_here(name):
    """PyPy finds CPython's packages, and cannot import them."""
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def here():
    """The environment of a process that imports the same package."""
    import modelfile

    return {**os.environ, "PYTHONPATH": str(Path(modelfile.__file__).parents[1])}


def good(*suffixes):
    """Fixtures that open without errors, folders left out."""
    return [
        str(path)
        for path in sorted(FIXTURES.glob("good-*"))
        if path.is_file() and path.suffix in suffixes
    ]


class InFolder(unittest.TestCase):
    """Each test has a folder of its own, which is empty again at the end."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="modelfile-py-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def copy(self, name):
        return shutil.copy(fixture(name), self.folder)

    def names(self):
        return sorted(os.listdir(self.folder))
