# SPDX-License-Identifier: MIT
"""The programs of examples/python run, are short, and say what they should."""

import importlib.util
import json
import os
import subprocess
import sys
import unittest

import modelfile
from support import TOP, InFolder, here, needs_numpy, needs_torch, torch

EXAMPLES = TOP / "examples/python"
LONGEST = 40
SMALL = "fixtures/llama/llama-small.gguf"


def needs(*names):
    lacking = [name for name in names if not importlib.util.find_spec(name)]
    return unittest.skipIf(lacking, f"no {', '.join(lacking)}")


class Programs(InFolder):
    def setUp(self):
        super().setUp()
        os.symlink(TOP / "fixtures", self.path("fixtures"))

    def run_python(self, *words, code=0, **environment):
        out = subprocess.run(
            [sys.executable, *map(str, words)],
            cwd=self.folder,
            env={**here(), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(out.returncode, code, out.stdout + out.stderr)
        return out

    def example(self, name, *words, code=0, **environment):
        return self.run_python(EXAMPLES / name, *words, code=code, **environment)

    def base(self):
        """A folder of Hugging Face."""
        modelfile.convert(TOP / SMALL, self.path("base/"), names="hf", lossy=True)
        return self.path("base")

    def test_tensors(self):
        out = self.example("tensors.py", SMALL, "blk.*.attn_?.weight", "f16")
        self.assertEqual(
            out.stdout.splitlines()[0].split(),
            ["blk.0.attn_q.weight", "f16", "32x32", "2,048"],
        )
        self.assertIn("f16: 4,096 bytes\n3 of 12 tensors of llama-small\n", out.stdout)
        out = self.example("tensors.py", "none.gguf", code=1)
        self.assertIn("none.gguf: cannot be opened", out.stderr)

    @needs_numpy
    def test_finetune(self):
        out = self.example("finetune.py", self.base(), "out.gguf", "Q8_0")
        self.assertRegex(out.stdout, r"^out.gguf: \d+ tensors quantized, [\d,]+ bytes\n")
        self.assertEqual(self.names(), ["base", "fixtures", "out.gguf"])
        differ = modelfile.diff(TOP / SMALL, self.path("out.gguf"), values=True)
        found = {d.name: d.values for d in differ if d.is_tensor}
        self.assertAlmostEqual(found["output_norm.weight"].max_relative, 0.01, 3)
        self.assertGreater(found["blk.0.attn_q.weight"].cosine, 0.9999)

    @needs_torch
    @needs_numpy
    def test_finetune_of_torch(self):
        base = self.base()
        with modelfile.open(base) as m:
            state = {
                name: torch.from_numpy(t.dequantize()).to(torch.bfloat16)
                for name, t in m.tensors.items()
            }
        spec = importlib.util.spec_from_file_location("finetune", EXAMPLES / "finetune.py")
        finetune = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(finetune)
        done = finetune.export(state, base, self.path("out.gguf"), "Q8_0")
        self.assertEqual(done.types["q8_0"].tensors, 9)

    @needs("pandas", "numpy")
    def test_compare(self):
        modelfile.quantize(TOP / SMALL, self.path("q.gguf"), "Q8_0")
        out = self.example("compare.py", SMALL, "q.gguf")
        self.assertIn("rmse  max_absolute  cosine", out.stdout)
        self.assertTrue(out.stdout.endswith("\n9 tensors differ\n"), out.stdout)

    @needs("pytest")
    def test_models(self):
        words = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
        words += ("--rootdir", self.folder, EXAMPLES / "test_models.py")
        out = self.run_python(*words, MODELS=f"{SMALL} fixtures/good-llama.gguf")
        self.assertRegex(out.stdout, r"(?m)^4 passed")
        out = self.run_python(*words, MODELS="fixtures/bad-data-nan.gguf", code=1)
        self.assertRegex(out.stdout, r"(?s)assert not .*DATA-NOT-FINITE.*1 failed")

    @needs("nbclient", "ipykernel", "matplotlib", "pandas")
    def test_notebook(self):
        import nbformat
        from nbclient import NotebookClient

        book = nbformat.read(EXAMPLES / "look.ipynb", as_version=4)
        before = dict(os.environ)
        os.environ.update(here())  # for the kernel
        try:
            NotebookClient(book, resources={"metadata": {"path": self.folder}}).execute()
        finally:
            os.environ.clear()
            os.environ.update(before)
        outputs = [each for cell in book.cells for each in cell.get("outputs", ())]
        pictures = [o for o in outputs if "image/png" in o.get("data", {})]
        self.assertEqual(len(pictures), 2)
        self.assertRegex(outputs[-1]["text"], r"^21,440 bytes become [\d,]+\n$")


class Files(unittest.TestCase):
    def test_are_short(self):
        for path in sorted(EXAMPLES.glob("*.py")):
            lines = path.read_text(encoding="utf-8").splitlines()
            self.assertLessEqual(len(lines), LONGEST, path)

    def test_notebooks_have_no_outputs(self):
        for path in EXAMPLES.glob("*.ipynb"):
            book = json.loads(path.read_text(encoding="utf-8"))
            code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
            self.assertLessEqual(sum(len(cell["source"]) for cell in code), LONGEST)
            for cell in code:
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))


if __name__ == "__main__":
    unittest.main()
