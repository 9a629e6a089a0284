# SPDX-License-Identifier: MIT
"""Blocks of Python in the pages are run, and print what the pages say.

Each section is a session of its own, in an empty folder with the fixtures. A
block that imports a missing package is left out, and what follows it, too: the
test of that section is skipped if nothing else was wrong."""

import doctest
import os
import re
import unittest

import modelfile
from support import TOP, InFolder, is_here

PAGES = ("README.md", "docs/python.md")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)


def sections(page):
    """("Open and read", line, [(line, block), ...]) for each with blocks."""
    text = (TOP / page).read_text(encoding="utf-8")
    parts = re.split(r"(?m)^#+ (.*)$", text)
    at = 0
    for title, body in zip(parts[1::2], parts[2::2]):
        start = text.index(body, at)
        at = start + len(body)
        blocks = [
            (text[: start + found.start(1)].count("\n"), found[1])
            for found in BLOCK.finditer(body)
        ]
        if blocks:
            yield title, blocks


def missing(block):
    names = re.findall(r"(?m)^(?:>>> )?(?:import|from) (\w+)", block)
    return [name for name in names if not is_here(name)]


class Pages(InFolder):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        os.symlink(TOP / "fixtures", "fixtures")

    def session(self, page, blocks):
        names = {"modelfile": modelfile}
        for line, block in blocks:
            lacking = missing(block)
            if lacking:
                self.skipTest(f"no {', '.join(lacking)}")
            if not block.startswith(">>>"):
                exec(compile("\n" * line + block, page, "exec"), names)
                continue
            test = doctest.DocTestParser().get_doctest(block, {}, page, page, line)
            test.globs = names
            said = []
            runner = doctest.DocTestRunner()
            runner.run(test, out=said.append, clear_globs=False)
            self.assertEqual(runner.failures, 0, "".join(said))


def method(page, blocks):
    return lambda self: self.session(page, blocks)


for page in PAGES:
    if (TOP / page).exists():
        for title, blocks in sections(page):
            name = re.sub(r"\W+", "_", f"test_{page}_{title}")
            setattr(Pages, name, method(page, blocks))


class All(unittest.TestCase):
    def test_blocks_are_found(self):
        found = [name for name in dir(Pages) if "docs_python" in name]
        self.assertGreater(len(found), 8)


if __name__ == "__main__":
    unittest.main()
