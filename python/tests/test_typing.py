# SPDX-License-Identifier: MIT
"""Checkers of types find nothing in the package, and know what it returns.

MYPY and PYRIGHT name their commands; without these they are modules of the Python
that runs the tests, or the test is skipped."""

import importlib.util
import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import modelfile
from support import numpy

HERE = Path(__file__).resolve().parent
PACKAGE = Path(modelfile.__file__).parent
OLDEST, NEWEST = "3.9", "3.14"
#: what may be missing
OTHERS = ("gguf", "ml_dtypes", "numpy", "safetensors", "torch", "tqdm")


def command(name):
    """The words of a checker's command; None if there is none."""
    if name.upper() in os.environ:
        return shlex.split(os.environ[name.upper()])
    there = importlib.util.find_spec(name)
    return [sys.executable, "-m", name] if there else None


def files(arrays):
    out = [PACKAGE, HERE / "expected_types.py"]
    return [str(each) for each in out + [HERE / "expected_arrays.py"] * arrays]


def run(words):
    return subprocess.run(
        words, cwd=PACKAGE.parent, capture_output=True, text=True, check=False
    )


class Mypy(unittest.TestCase):
    def setUp(self):
        self.command = command("mypy")
        if not self.command:
            self.skipTest("no mypy")

    def found(self, version, *options, arrays=False):
        with tempfile.TemporaryDirectory() as cache:
            return run(
                [
                    *(*self.command, "--config-file", str(HERE / "mypy.ini")),
                    *("--cache-dir", cache, "--python-version", version),
                    *(*options, *files(arrays)),
                ]
            )

    def test_oldest_python(self):
        """Without packages, whose newest versions have newer syntax."""
        out = self.found(OLDEST, "--no-site-packages")
        if "is not supported" in out.stderr:
            out = self.found("3.10", "--no-site-packages")
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)

    @unittest.skipIf(numpy is None, "no numpy")
    def test_newest_python(self):
        out = self.found(NEWEST, "--python-executable", sys.executable, arrays=True)
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)


class Pyright(unittest.TestCase):
    def test_both(self):
        words = command("pyright")
        if not words:
            self.skipTest("no pyright")
        for version in (OLDEST, NEWEST):
            out = run(
                [
                    *(*words, "--outputjson", "--pythonversion", version),
                    *("--pythonpath", sys.executable, *files(numpy is not None)),
                ]
            )
            self.assertIn("{", out.stdout, out.stderr)
            said = json.loads(out.stdout)
            self.assertGreater(said["summary"]["filesAnalyzed"], 15, version)
            found = [
                f"{each['file']}:{each['range']['start']['line'] + 1}: {each['message']}"
                for each in said["generalDiagnostics"]
                if not missing(each)
            ]
            self.assertEqual(found, [], version)


def missing(found):
    """Whether that is about a package which is not installed."""
    return found.get("rule") in ("reportMissingImports", "reportMissingModuleSource") and (
        found["message"].split('"')[1].split(".")[0] in OTHERS
    )


if __name__ == "__main__":
    unittest.main()
