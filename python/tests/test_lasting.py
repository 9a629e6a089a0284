# SPDX-License-Identifier: MIT
"""Nothing grows, and no file of strangers ends the interpreter."""

import gc
import os
import random
import subprocess
import sys
import unittest

import modelfile
from support import FIXTURES, TOP, fixture, good, here, needs_numpy, numpy

#: a tenth of the rounds, and of the files
QUICK = bool(os.environ.get("QUICK"))
#: files that are changed at random; 100000 takes some minutes
MUTATED = int(os.environ.get("MUTATED", "200" if QUICK else "2000"))

try:
    import tracemalloc
except ImportError:
    tracemalloc = None

linux = unittest.skipUnless(os.path.exists("/proc/self/status"), "no /proc")


def anonymous():
    """Bytes of the process that are in no file."""
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("RssAnon"):
                return int(line.split()[1]) * 1024
    return 0


def grown(work, rounds, warm_up):
    """Bytes of Python and of the process that each quarter of the rounds has
    left, whichever left the least: what is kept once, or dropped now and then,
    does not count."""
    rounds = rounds // 10 if QUICK else rounds
    for _ in range(warm_up):
        work()
    tracemalloc.start()
    for _ in range(20):
        work()
    seen = []
    for quarter in range(5):
        gc.collect()
        seen.append((tracemalloc.get_traced_memory()[0], anonymous()))
        for _ in range(rounds // 4 if quarter < 4 else 0):
            work()
    tracemalloc.stop()
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(seen, seen[1:])]
    return min(python for python, _ in steps), min(process for _, process in steps)


@linux
@unittest.skipIf(tracemalloc is None, "no tracemalloc")
class Growth(unittest.TestCase):
    def test_opening_10000_times(self):
        def work():
            with modelfile.open(fixture("good-llama.gguf")) as m:
                m.tensors["output_norm.weight"]
                m.metadata["tokenizer.ggml.tokens"].tolist()

        python, process = grown(work, 10000, 200)
        self.assertLess(python, 5000)
        self.assertLess(process, 1 << 18)

    def test_without_close(self):
        def work():
            m = modelfile.open(fixture("good-llama.gguf"))
            m.validate()
            list(m.tensors.values())

        python, process = grown(work, 500, 100)
        self.assertLess(python, 5000)
        self.assertLess(process, 1 << 18)

    def test_errors(self):
        def work():
            try:
                modelfile.open(fixture("bad-count-tensors.gguf"))
            except modelfile.CorruptError:
                pass

        python, process = grown(work, 1000, 100)
        self.assertLess(python, 5000)
        self.assertLess(process, 1 << 18)

    @needs_numpy
    def test_arrays_1000_times(self):
        rows = numpy.ones((64, 1024), "float32")

        def work():
            blocks = modelfile.quantize_array(rows, "q4_k")
            modelfile.dequantize_array(blocks, "q4_k")

        python, process = grown(work, 1000, 50)
        self.assertLess(python, 5000)
        self.assertLess(process, 1 << 18)

    @needs_numpy
    def test_views(self):
        def work():
            with modelfile.open(fixture("good-llama.gguf")) as m:
                kept = [t.numpy() for t in m.tensors.values()]
            return kept[0].sum()

        python, process = grown(work, 300, 50)
        self.assertLess(python, 5000)
        self.assertLess(process, 1 << 18)


def look(data):
    """All that a program might ask of a model."""
    try:
        m = modelfile.open_memory(data, heap_limit=1 << 28)
    except modelfile.Error as error:
        assert error.status and str(error)
        return
    with m:
        for tensor in m.tensors.all():
            if not tensor.damaged and tensor.nbytes < 1 << 20:
                try:
                    tensor.tobytes()
                    if numpy is not None:
                        tensor.numpy()
                        tensor.dequantize()
                except (modelfile.Error, ValueError):
                    pass
        for key in m.metadata:
            try:
                value = m.metadata[key]
                if isinstance(value, modelfile.Array) and len(value) < 1 << 16:
                    value.tolist()
            except modelfile.Error:
                pass
        try:
            m.validate(data=True)
        except modelfile.Error:
            pass
        m.facts, m.missing, m.table, m.coverage  # noqa: B018
        try:
            modelfile.plan(m, fit="1G")
        except modelfile.Error:
            pass


def changed(data, chance):
    """A copy with some bytes changed, or cut off."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at = chance.randrange(min(len(out), chance.choice((64, 512, 1 << 30))))
        out[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    if not chance.randrange(8):
        del out[chance.randrange(len(out)) :]
    return bytes(out)


class Strangers(unittest.TestCase):
    def test_hostile_fixtures(self):
        for path in sorted(FIXTURES.glob("*")):
            if path.is_file() and path.stat().st_size < 1 << 22:
                look(path.read_bytes())

    def test_changed_files(self):
        """In a process of its own: a crash is a failure, not the end."""
        code = f"import test_lasting; test_lasting.work({MUTATED})"
        env = here()
        env["PYTHONPATH"] += os.pathsep + str(TOP / "python/tests")
        out = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            capture_output=True,
            text=True,
            env=env,
        )
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        self.assertEqual(out.stdout, f"{MUTATED} files\n")


def work(count):
    chance = random.Random(1)
    files = [path for path in good(".gguf", ".safetensors", ".apr", ".npz", ".pt")]
    texts = [data for data in (open(path, "rb").read() for path in files) if data]
    texts = [data for data in texts if len(data) < 1 << 17]
    for _ in range(count):
        look(changed(chance.choice(texts), chance))
    print(f"{count} files")


if __name__ == "__main__":
    unittest.main()
