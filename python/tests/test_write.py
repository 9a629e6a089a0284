# SPDX-License-Identifier: MIT
"""What writes: convert, quantize, Writer, edit."""

import dataclasses
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import modelfile
from modelfile import Typed
from support import TOP, InFolder, fixture, here, needs_numpy, needs_torch, numpy, torch

PROGRAM = str(TOP / os.environ.get("BUILD", "build") / "modelfile")


def content(path):
    with open(path, "rb") as file:
        return file.read()


class Converting(InFolder):
    def base(self):
        """A model of f32, outside the folder."""
        folder = tempfile.mkdtemp(prefix="modelfile-py-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "base.gguf")
        modelfile.dequantize(fixture("good-llama.gguf"), path)
        return path

    def by_program(self, *arguments):
        subprocess.run([PROGRAM, *arguments, "-q"], check=True, capture_output=True)

    @unittest.skipUnless(os.path.exists(PROGRAM), "the program is not built")
    def test_the_files_of_the_program(self):
        source, base = fixture("good-llama.gguf"), self.base()
        mine, theirs = self.path("mine"), self.path("theirs")
        modelfile.convert(base, mine + ".apr")
        self.by_program("convert", base, theirs + ".apr")
        self.assertEqual(content(mine + ".apr"), content(theirs + ".apr"))
        for suffix, options, words in (
            (".safetensors", {"lossy": True, "dequantize": True, "type": "f16"},
             ["--lossy", "--type", "f16"]),
            (".gguf", {"metadata": {"general.name": "new"}, "reserve": 100},
             ["--reserve", "100"]),
        ):
            modelfile.convert(source, mine + suffix, **options)
            if "metadata" in options:
                self.by_program("convert", source, theirs + suffix, *words)
                with modelfile.open(mine + suffix) as m:
                    self.assertEqual(m.metadata["general.name"], "new")
                continue
            verb = "dequantize" if "dequantize" in options else "convert"
            self.by_program(verb, source, theirs + suffix, *words)
            self.assertEqual(content(mine + suffix), content(theirs + suffix), suffix)
        for kind in ("Q8_0", "Q4_K_M", "q5_1"):
            out = f"{mine}-{kind}.gguf"
            result = modelfile.quantize(base, out, kind, threads=2, report=True)
            self.by_program("quantize", base, f"{theirs}-{kind}.gguf", kind)
            self.assertEqual(content(out), content(f"{theirs}-{kind}.gguf"), kind)
            self.assertEqual(result.file_size, os.path.getsize(out))
            with modelfile.open(out) as m:
                self.assertEqual(
                    [(t.name, t.type, t.shape) for t in result.tensors],
                    [(t.name, t.type, t.shape) for t in m.tensors.values()],
                )
            measured = [each for each in result.types.values() if each.measured]
            self.assertTrue(measured and all(each.rmse > 0 for each in measured))

    def test_options_of_quantize(self):
        base, out = self.base(), self.path("q.gguf")
        result = modelfile.quantize(
            base,
            out,
            "Q8_0",
            tensor_types={"attn_q": "q5_1", "no_such": "q4_0"},
            metadata={"general.name": "changed", "general.license": None},
            output_type="f16",
        )
        self.assertGreater(result.matched["attn_q"], 0)
        self.assertEqual(result.matched["no_such"], 0)
        with modelfile.open(out) as m:
            self.assertEqual(m.metadata["general.name"], "changed")
            self.assertNotIn("general.license", m.metadata)
            self.assertTrue(any(t.type == "q5_1" for t in m.tensors.values()))
        with self.assertRaises(modelfile.OutputError):
            modelfile.quantize(base, out, "Q8_0")
        with self.assertRaises(TypeError):
            modelfile.quantize(base, out, "Q8_0", include_weights="x")
        with self.assertRaises(ValueError):
            modelfile.quantize(base, out, "Q99", replace=True)
        with self.assertRaises(TypeError):
            modelfile.quantize(base, out)

    @unittest.skipUnless(os.path.exists(PROGRAM), "the program is not built")
    def test_effort(self):
        base = self.base()
        errors = []
        for effort in (1, 2, 3, 4):
            mine, theirs = self.path(f"m{effort}.gguf"), self.path(f"t{effort}.gguf")
            result = modelfile.quantize(base, mine, "Q4_0", effort=effort, report=True)
            self.by_program("quantize", base, theirs, "Q4_0", "--effort", str(effort))
            self.assertEqual(content(mine), content(theirs), effort)
            errors.append(result.types["q4_0"].rmse)
            with modelfile.open(mine) as m:
                found = m.metadata.get("modelfile.effort")
                self.assertEqual(found, None if effort == 1 else effort)
        self.assertEqual(sorted(errors, reverse=True), errors)
        self.assertEqual(len(set(errors)), 4)
        both = {"Q4_0": self.path("a.gguf"), "Q8_0": self.path("b.gguf")}
        modelfile.quantize_many(base, both, effort=3)
        self.assertEqual(content(both["Q4_0"]), content(self.path("m3.gguf")))
        self.assertTrue(modelfile.verify(both["Q4_0"], base).follows)
        with self.assertRaisesRegex(ValueError, "effort"):
            modelfile.quantize(base, self.path("x.gguf"), "Q4_0", effort=5)
        with self.assertRaises((TypeError, ValueError)):
            modelfile.quantize(base, self.path("x.gguf"), "Q4_0", effort="3")
        self.assertFalse(os.path.exists(self.path("x.gguf")))

    def test_errors_of_types(self):
        wide, matrix = fixture("llama/llama-wide.gguf"), fixture(
            "llama/llama-wide.imatrix.dat"
        )
        found = []
        for options in {}, {"imatrix": matrix}:
            document = modelfile.report_document(wide, errors="q4_k,q8_0", **options)
            part = document["models"][0]["type_errors"]
            self.assertEqual(sorted(part["types"]), ["q4_k", "q8_0"])
            self.assertEqual(len(part["tensors"]) + len(part["others"]), 17)
            found.append(part["tensors"][0]["errors"])
        self.assertNotEqual(*found)
        with self.assertRaisesRegex(modelfile.ArgumentError, "apr_q4"):
            modelfile.report_document(wide, errors="apr_q4")
        document = modelfile.report_document(wide)
        self.assertNotIn("type_errors", document["models"][0])

    def test_several_outputs(self):
        base = self.base()
        paths = {"Q8_0": self.path("a.gguf"), "Q4_0": self.path("b.gguf")}
        options = {"tensor_types": {"attn_v": "q5_0"}, "report": True}
        results = modelfile.quantize_many(base, paths, **options)
        self.assertEqual(list(results), list(paths))
        for kind, path in paths.items():
            alone = self.path("alone.gguf")
            found = modelfile.quantize(base, alone, kind, replace=True, **options)
            self.assertEqual(results[kind].matched, {"attn_v": 4})
            self.assertEqual(
                dataclasses.replace(results[kind], matched=found.matched), found
            )
            self.assertEqual(content(path), content(alone), kind)
        with self.assertRaisesRegex(modelfile.OutputError, "already exists"):
            modelfile.quantize_many(base, {**paths, "Q5_0": self.path("c.gguf")})
        self.assertFalse(os.path.exists(self.path("c.gguf")))
        before = [content(path) for path in paths.values()]
        modelfile.quantize_many(
            base, paths, resume=True, replace=True, tensor_types=options["tensor_types"]
        )
        self.assertEqual([content(path) for path in paths.values()], before)
        with self.assertRaisesRegex(TypeError, "no option 'threds'"):
            modelfile.quantize_many(base, paths, threds=1)
        with self.assertRaisesRegex(modelfile.ArgumentError, "no output"):
            modelfile.quantize_many(base, {})

    def test_dry_run_writes_nothing(self):
        result = modelfile.convert(self.base(), self.path("x.apr"), dry_run=True)
        self.assertGreater(result.file_size, 0)
        self.assertEqual(self.names(), [])

    def test_shards(self):
        result = modelfile.convert(
            self.base(), self.path("m.gguf"), shard_tensors=4
        )
        self.assertEqual(result.file_count, len(self.names()))
        found = modelfile.diff(self.base(), self.path(self.names()[0]))
        self.assertTrue(all(d.name.startswith("split.") for d in found), found)

    def test_diff_and_verify(self):
        base, out = self.base(), self.path("q.gguf")
        modelfile.quantize(base, out, "Q4_0")
        found = modelfile.diff(base, out, values=True)
        self.assertTrue(any(d.values and d.values.rmse > 0 for d in found))
        self.assertTrue(any("type" in d.what and d.is_tensor for d in found))
        self.assertTrue(any(not d.is_tensor and d.name == "general.file_type" for d in found))
        verified = modelfile.verify(out, source=base)
        self.assertTrue(verified)
        self.assertEqual({t.verdict for t in verified.tensors}, {"same"})
        self.assertFalse(modelfile.verify(fixture("good-llama.gguf"), base))

    def test_open_models_are_compared_as_they_were_opened(self):
        shards = fixture("good-split-00001-of-00003.gguf")
        with modelfile.open(shards, shards="alone") as a, modelfile.open(shards) as b:
            self.assertGreater(len(b.tensors), len(a.tensors))
            self.assertEqual(modelfile.diff(b, b), [])
            only = {d.name for d in modelfile.diff(a, b) if d.is_tensor}
            self.assertEqual(only, set(b.tensors) - set(a.tensors))
        with open(shards, "rb") as file, modelfile.open_memory(file.read()) as m:
            with self.assertRaisesRegex(ValueError, "path"):
                modelfile.diff(m, shards)

    def test_a_folder_is_compared_whole(self):
        folders = [p for p in (TOP / "fixtures").iterdir() if (p / "config.json").exists()]
        for folder in folders[:3]:
            with modelfile.open(folder) as m:
                self.assertEqual(modelfile.diff(m, m), [])
                self.assertEqual(len(modelfile.diff(m, folder)), 0)

    def test_a_file_that_was_replaced_is_not_compared(self):
        path, other = self.copy("good-llama.gguf"), self.path("other")
        shutil.copy(fixture("good-arrays.gguf"), other)
        with modelfile.open(path) as m:
            os.replace(other, path)
            with self.assertRaises(modelfile.ReadError):
                modelfile.diff(m, fixture("good-arrays.gguf"))

    def test_options_of_an_open_model(self):
        with modelfile.open(self.base()) as m:
            for option in ({"threads": 1}, {"max_memory": "1G"}, {"tensors_only": True}):
                with self.assertRaisesRegex(ValueError, "open"):
                    modelfile.convert(m, self.path("x.gguf"), **option)
            with self.assertRaises(ValueError):
                modelfile.convert(m, self.path("x.gguf"), lora="y", lora_scale=0)
        with self.assertRaises(ValueError):
            modelfile.plan(fixture("good-llama.gguf"), fit="inf")

    def test_dequantize_needs_a_type(self):
        with self.assertRaisesRegex(ValueError, "type"):
            modelfile.convert(self.base(), self.path("x.gguf"), dequantize=True)

    def test_progress(self):
        seen = []
        out = self.path("q.gguf")

        def progress(done, total, tensor):
            seen.append((done, total, tensor))

        modelfile.quantize(self.base(), out, "Q8_0", progress=progress)
        self.assertTrue(all(done <= total for done, total, _ in seen))
        with self.assertRaises(modelfile.StoppedError):
            self.stopped(lambda *_: False)
        with self.assertRaisesRegex(RuntimeError, "mine"):
            self.stopped(self.raises)
        with self.assertRaises(TypeError):
            modelfile.quantize(self.base(), out, "Q8_0", progress=3)
        self.assertEqual(self.names(), ["q.gguf"])

    def test_a_progress_function_of_the_same_model(self):
        with modelfile.open(self.large()) as m:
            with self.assertRaisesRegex(RuntimeError, "same model"):
                m.hash(progress=lambda *_: m.validate())
            self.assertTrue(m.hash())

    def raises(self, *_):
        raise RuntimeError("mine")

    def stopped(self, progress):
        modelfile.quantize(
            self.large(), self.path("out.gguf"), "Q8_0", progress=progress
        )

    def large(self):
        """A model of 64 MiB that takes a moment."""
        folder = tempfile.mkdtemp(prefix="modelfile-py-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "large.gguf")
        with modelfile.Writer(
            path, metadata={"general.architecture": "llama"}
        ) as w:
            for i in range(4):
                w.add(f"blk.{i}.attn_q.weight", (2048, 2048), "f32")
            for i in range(4):
                w.write(f"blk.{i}.attn_q.weight", bytes(2048 * 2048 * 4))
        return path

    def test_progress_that_is_shown(self):
        code = (
            "import modelfile\n"
            f"modelfile.quantize({self.base()!r}, {self.path('q.gguf')!r},"
            " 'Q8_0', progress=True)"
        )
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=here()
        )
        self.assertEqual(out.returncode, 0, out.stderr)


class Interrupts(InFolder):
    def test_control_c(self):
        """Ends quantize at once, as KeyboardInterrupt, and leaves nothing."""
        source = Converting.large(self)
        code = (
            "import modelfile, sys\n"
            "def shown(done, total, tensor):\n"
            "    print('on', flush=True)\n"
            "try:\n"
            "    for i in range(100):\n"
            f"        modelfile.quantize({source!r}, {self.path('q.gguf')!r}, 'IQ3_S',\n"
            "                           progress=shown, threads=1, replace=True)\n"
            "except KeyboardInterrupt:\n"
            "    sys.exit(7)\n"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=here()
        )
        self.assertEqual(child.stdout.readline(), "on\n")
        child.send_signal(signal.SIGINT)
        started = time.monotonic()
        child.stdout.read()
        self.assertEqual(child.wait(), 7)
        child.stdout.close()
        self.assertLess(time.monotonic() - started, 10)  # of a hundred times as long
        self.assertIn(self.names(), ([], ["q.gguf"]))  # one may have been complete

    def test_another_thread_runs_meanwhile(self):
        source = Converting.large(self)
        count = 0
        stop = threading.Event()

        def work():
            nonlocal count
            while not stop.is_set():
                count += 1

        other = threading.Thread(target=work)
        other.start()
        try:
            before = count
            modelfile.quantize(source, self.path("q.gguf"), "Q4_K_M", threads=1)
            after = count
        finally:
            stop.set()
            other.join()
        self.assertGreater(after - before, 1000)


class Values(InFolder):
    def written(self, metadata, suffix=".gguf"):
        path = self.path("values" + suffix)
        with modelfile.Writer(path, metadata=metadata, replace=True):
            pass
        return modelfile.open(path)

    def test_types(self):
        cases = (
            (True, "bool"),
            (0, "u32"),
            (2**32 - 1, "u32"),
            (2**32, "u64"),
            (-1, "i32"),
            (-(2**31) - 1, "i64"),
            (2**64 - 1, "u64"),
            (0.5, "f32"),
            (1e-05, "f32"),
            (0.1, "f32"),
            (0.1234567890123, "f64"),
            (1e300, "f64"),
            (float("inf"), "f32"),
            ("", "string"),
            ("text \U0001f600 \0 \udcff", "string"),
            ("x" * 5000, "string"),
            ([1, 2], "u32[]"),
            ([1, -2], "i32[]"),
            ([1.0, 0.1234567890123], "f64[]"),
            (["a", ""], "string[]"),
            ([True, False], "bool[]"),
            (Typed("u8", 255), "u8"),
            (Typed("i64[]", []), "i64[]"),
            (Typed("string[]", ["a\0b", "c"]), "string[]"),
            (Typed("f64[]", [0.1, float("nan")]), "f64[]"),
        )
        with self.written({f"k.{i}": value for i, (value, _) in enumerate(cases)}) as m:
            for i, (value, type) in enumerate(cases):
                key = f"k.{i}"
                self.assertEqual(m.metadata.type(key), type, value)
                found = m.metadata[key]
                if isinstance(value, Typed):
                    value = value.value
                if isinstance(value, list):
                    self.assertEqual(len(found), len(value))
                    found, value = repr(list(found)), repr(value)
                if type == "f32" and value in (0.1, 1e-05):
                    self.assertAlmostEqual(found, value)
                else:
                    self.assertEqual(found, value)
            self.assertEqual(len(m.metadata), len(cases) + ("general.alignment" in m.metadata))

    def test_refused(self):
        for error, value in (
            (TypeError, object()),
            (TypeError, b"bytes"),
            (TypeError, None),
            (TypeError, {"a": 1}),
            (TypeError, [[1]]),
            (ValueError, []),
            (ValueError, 2**64),
            (ValueError, [1, "a"]),
            (ValueError, Typed("u8", 256)),
            (ValueError, Typed("u8", -1)),
            (TypeError, Typed("u8", 1.5)),
            (TypeError, Typed("u8", True)),
            (TypeError, Typed("bool", 1)),
            (TypeError, Typed("string", 1)),
            (TypeError, Typed("string[]", "abc")),
            (TypeError, Typed("f32", "1")),
            (ValueError, Typed("f32", 1e39)),
            (ValueError, Typed("u7", 1)),
            (ValueError, Typed("f64", 2**53 + 1)),
        ):
            with self.assertRaises(error, msg=repr(value)):
                self.written({"k": value})
        for key in ("", "a\0b", "k" * 70000):
            with self.assertRaises((ValueError, modelfile.Error), msg=key[:10]):
                self.written({key: 1})
        self.assertEqual(self.names(), [])

    @needs_numpy
    def test_of_numpy(self):
        with self.written(
            {
                "a": numpy.arange(3, dtype="int16"),
                "b": numpy.float64(0.1),
                "c": numpy.float32(0.1),
                "d": numpy.array([True]),
            }
        ) as m:
            types = [m.metadata.type(key) for key in "abcd"]
            self.assertEqual(types, ["i16[]", "f64", "f32", "bool[]"])
            self.assertEqual(m.metadata["a"].numpy().dtype, numpy.int16)
            self.assertEqual(m.metadata["a"].numpy().tolist(), [0, 1, 2])
        with self.assertRaises(ValueError):
            self.written({"a": numpy.zeros((2, 2))})
        with self.assertRaises(TypeError):
            self.written({"a": numpy.zeros(2, "complex64")})


@needs_numpy
class Writing(InFolder):
    def test_in_any_order(self):
        a = numpy.arange(6, dtype="float32").reshape(2, 3)
        b = numpy.arange(4, dtype="int8")
        for suffix in (".gguf", ".safetensors", ".apr"):
            path = self.path("w" + suffix)
            with modelfile.Writer(path) as w:
                w.add("a", (2, 3), "f32")
                w.add("b", array=b)
                w.write("a", a.tobytes()[8:], 8)
                self.assertNotIn("w" + suffix, self.names())
                w.write("a", a.tobytes()[:8])
            with modelfile.open(path) as m:
                self.assertEqual(m.tensors["a"].numpy().tolist(), a.tolist())
                self.assertEqual(m.tensors["b"].numpy().tolist(), b.tolist())
                self.assertEqual(m.error_count, 0)

    def test_encodes(self):
        a = numpy.random.default_rng(1).standard_normal((4, 64), "float32")
        path = self.path("w.gguf")
        with modelfile.Writer(path) as w:
            w.add("a", a.shape, "q8_0")
            w.add("h", a.shape, "f16")
            w.write("a", a)
            w.write("h", a.astype("float16"))
        with modelfile.open(path) as m:
            blocks = modelfile.quantize_array(a, "q8_0")
            self.assertEqual(m.tensors["a"].numpy().tolist(), blocks.tolist())
            self.assertEqual(m.tensors["h"].numpy().tolist(), a.astype("float16").tolist())

    @needs_torch
    def test_of_torch(self):
        path = self.path("w.safetensors")
        numbers = torch.arange(6).reshape(2, 3)
        kinds = (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool)
        with modelfile.Writer(path) as w:
            for kind in kinds:
                w.add(f"{kind}", array=numbers.to(kind))
            w.add("t", array=numbers.t())
        with modelfile.open(path) as m:
            for kind in kinds:
                found = m.tensors[f"{kind}"].torch()
                self.assertEqual(found.dtype, kind)
                self.assertTrue(torch.equal(found, numbers.to(kind)), kind)
            self.assertTrue(torch.equal(m.tensors["t"].torch(), numbers.t()))

    def test_big_endian(self):
        a = numpy.arange(6, dtype="float32")
        path = self.path("w.gguf")
        with modelfile.Writer(path, big_endian=True) as w:
            w.add("a", array=a)
        with modelfile.open(path) as m:
            self.assertEqual(m.byte_order, "big")
            self.assertEqual(m.tensors["a"].numpy().tolist(), a.tolist())

    def test_orders_of_bytes(self):
        a = numpy.arange(4, dtype="float32")
        for big in (False, True):
            for kind in ("f32", "f16", "bf16"):
                for given in (a, a.astype(">f4"), a.astype("<f4")):
                    path = self.path("w.gguf")
                    with modelfile.Writer(path, replace=True, big_endian=big) as w:
                        w.add("a", (4,), kind)
                        w.write("a", given)
                    with modelfile.open(path) as m:
                        self.assertEqual(m["a"].dequantize().tolist(), a.tolist())
        with self.assertRaisesRegex(ValueError, "bytes"):
            with modelfile.Writer(self.path("v.gguf"), big_endian=True) as w:
                w.add("a", (32,), "q8_0")
                w.write("a", numpy.ones(32, "float32"))

    def test_what_cannot_be_encoded(self):
        for kind, number in (("q8_0", numpy.nan), ("f16", 1e6), ("q4_0", numpy.inf)):
            with self.assertRaises(ValueError):
                with modelfile.Writer(self.path("w.gguf")) as w:
                    w.add("a", (32,), kind)
                    w.write("a", numpy.full(32, number, "float32"))
        self.assertEqual(self.names(), [])

    def test_pieces_to_an_object(self):
        import io

        file = io.BytesIO()
        buffer = numpy.empty(2, "float32")
        with modelfile.Writer(file, format="gguf") as w:
            for name in "abc":
                w.add(name, (2,), "f32")
            for name, number in (("c", 3), ("b", 2)):
                buffer[:] = number
                w.write(name, buffer)
            for offset, size in ((0, 16), (4, 8)):
                with self.assertRaises(ValueError):
                    w.write("a", bytes(size), offset)
            w.write("a", buffer.tobytes()[:4])
            with self.assertRaises(ValueError):
                w.write("a", bytes(4))
            with self.assertRaises(ValueError):
                w.write("c", bytes(4), 4)
            w.write("a", buffer.tobytes()[4:], 4)
        with modelfile.open_memory(file.getvalue()) as m:
            found = [t.numpy().tolist() for t in m.tensors.values()]
        self.assertEqual(found, [[2, 2], [2, 2], [3, 3]])

    def test_nothing_before_the_end(self):
        path = self.path("w.gguf")
        with self.assertRaisesRegex(RuntimeError, "mine"):
            with modelfile.Writer(path) as w:
                w.add("a", (2,), "f32")
                w.write("a", bytes(8))
                raise RuntimeError("mine")
        self.assertEqual(self.names(), [])
        with self.assertRaises(modelfile.Error):  # a tensor is missing
            with modelfile.Writer(path) as w:
                w.add("a", (2,), "f32")
        self.assertEqual(self.names(), [])
        w = modelfile.Writer(path)
        w.add("a", (2,), "f32")
        w.write("a", bytes(8))
        del w
        self.assertEqual(self.names(), [])

    def test_wrong_use(self):
        with modelfile.Writer(self.path("w.gguf")) as w:
            w.add("a", (2, 32), "f32")
            w.add("q", (2, 32), "q8_0")
            for error, use in (
                (ValueError, lambda: w.add("a", (2,), "f32")),
                (ValueError, lambda: w.add("b", (2,), "f33")),
                (ValueError, lambda: w.add("b", (-2,), "f32")),
                (TypeError, lambda: w.add("b", (1.5,), "f32")),
                (TypeError, lambda: w.add("b", (2,))),
                (TypeError, lambda: w.add("b", array=numpy.zeros(2, "U1"))),
            ):
                with self.assertRaises(error):
                    use()
            w.write("q", numpy.zeros((2, 34), "uint8"))
            for error, use in (
                (KeyError, lambda: w.write("none", b"")),
                (ValueError, lambda: w.write("a", numpy.zeros((32, 2), "float32"))),
                (TypeError, lambda: w.write("a", numpy.zeros((2, 32), "int32"))),
                (TypeError, lambda: w.write("a", "text")),
                (ValueError, lambda: w.write("a", bytes(8), -1)),
                (modelfile.Error, lambda: w.write("a", bytes(1000))),
                (ValueError, lambda: w.set("k", 1)),
                (ValueError, lambda: w.add("z", (1,), "f32")),
            ):
                with self.assertRaises(error):
                    use()
            w.write("a", numpy.zeros((2, 32), "float32"))
        with self.assertRaisesRegex(ValueError, "closed"):
            w.write("a", b"")
        with self.assertRaises(ValueError):
            modelfile.Writer(self.path("w.bin"))
        with self.assertRaises(modelfile.OutputError):
            with modelfile.Writer(self.path("w.gguf")):
                pass

    def write_to(self, file, **options):
        """A file of several tensors, in another order than theirs."""
        with modelfile.Writer(file, metadata={"a": "b"}, **options) as w:
            w.add("x", (3, 5), "f32")
            w.add("empty", (0, 4), "f32")
            w.add("y", (7,), "u8" if options["format"] == "safetensors" else "i8")
            w.add("z", (1, 64), "f32")
            w.write("z", bytes(range(100, 156)), 200)
            w.write("y", b"1234567")
            w.write("x", bytes(range(60)))
            w.write("z", bytes(range(200)))

    def test_to_an_object(self):
        class Slow:
            """Takes some of the bytes, as a raw file may."""

            data = b""

            def write(self, data):
                some = data[: max(1, len(data) // 2)]
                self.data += some
                return len(some)

        class Silent(Slow):
            def write(self, data):
                self.data += data

        for form in ("gguf", "safetensors", "apr"):
            with self.subTest(form):
                self.write_to(self.path("file"), format=form)
                with open(self.path("file"), "rb") as file:
                    expected = file.read()
                os.remove(self.path("file"))
                memory, slow, silent = io.BytesIO(), Slow(), Silent()
                for file in (memory, slow, silent):
                    self.write_to(file, format=form)
                self.assertEqual(memory.getvalue(), expected)
                self.assertEqual(slow.data, expected)
                self.assertEqual(silent.data, expected)
        self.assertEqual(self.names(), [])

    def test_an_object_that_fails(self):
        class Full:
            def write(self, _data):
                raise KeyError("full")

        class None_(io.RawIOBase):
            def write(self, _data):
                return None

        with self.assertRaisesRegex(KeyError, "full"):
            self.write_to(Full(), format="gguf")
        with self.assertRaises(BlockingIOError):
            self.write_to(None_(), format="gguf")
        with self.assertRaisesRegex(modelfile.ArgumentError, "of tensor 'x'"):
            with modelfile.Writer(io.BytesIO(), format="gguf") as w:
                w.add("x", (8,), "f32")
                w.write("x", bytes(8), 8)
        with self.assertRaises(ValueError):
            with modelfile.Writer(io.BytesIO(), format="gguf") as w:
                w.add("x", (8,), "f32")
                w.write("x", bytes(8), 8)
                w.write("x", bytes(8), 8)
        with self.assertRaisesRegex(ValueError, "format"):
            modelfile.Writer(io.BytesIO())

    def test_copies_metadata(self):
        with modelfile.open(fixture("good-arrays.gguf")) as m:
            with modelfile.Writer(self.path("w.gguf")) as w:
                w.copy_metadata(m, skip=["general.alignment"])
        self.assertEqual(
            [d for d in modelfile.diff(fixture("good-arrays.gguf"), self.path("w.gguf"))
             if not d.is_tensor and d.name != "general.alignment"],
            [],
        )


class Editing(InFolder):
    def test_in_place(self):
        path = self.copy("good-llama.gguf")
        with modelfile.edit(path) as e:
            self.assertEqual(e.metadata["general.license"], "mit")
            e.metadata["general.license"] = "mpl"
            e.metadata["llama.rope.freq_base"] = 20000
            del e.metadata["general.name"]
            e.metadata["new.key"] = 7
            self.assertEqual(e.metadata["new.key"], 7)
            self.assertNotIn("general.name", e.metadata)
            self.assertIn("new.key", list(e.metadata))
        with modelfile.open(path) as m:
            self.assertEqual(m.metadata["general.license"], "mpl")
            self.assertEqual(m.metadata["new.key"], 7)
            self.assertEqual(m.metadata.type("llama.rope.freq_base"), "f32")
            self.assertNotIn("general.name", m.metadata)
            self.assertEqual(m.validate(data=True), [])

    def test_values_are_kept_as_they_were(self):
        path = self.copy("good-llama.gguf")
        words = ["a"]
        with modelfile.edit(path) as e:
            e.metadata["k.numbers"] = Typed("u32[]", (i for i in range(3)))
            e.metadata["k.words"] = words
            words.append("b")
        with modelfile.open(path) as m:
            self.assertEqual(m.metadata["k.numbers"], [0, 1, 2])
            self.assertEqual(m.metadata["k.words"], ["a"])

    def test_nothing_after_an_exception(self):
        path = self.copy("good-llama.gguf")
        before = content(path)
        with self.assertRaisesRegex(RuntimeError, "mine"):
            with modelfile.edit(path) as e:
                e.metadata["general.license"] = "mpl"
                raise RuntimeError("mine")
        with modelfile.edit(path) as e:
            pass
        self.assertEqual(content(path), before)
        self.assertEqual(self.names(), ["good-llama.gguf"])

    def test_refused_where_it_is_written(self):
        path = self.copy("good-llama.gguf")
        with modelfile.edit(path) as e:
            for error, key, value in (
                (TypeError, "llama.block_count", "two"),
                (ValueError, "llama.block_count", -1),
                (TypeError, "general.name", 3),
                (TypeError, "general.name", None),
            ):
                with self.assertRaises(error):
                    e.metadata[key] = value
            with self.assertRaises(KeyError):
                del e.metadata["none"]
        with self.assertRaises(modelfile.UnsupportedError):
            with modelfile.edit(path) as e:
                e.metadata["llama.block_count"] = 99
        with modelfile.edit(path, force=True) as e:
            e.metadata["llama.block_count"] = 99
        with modelfile.open(path) as m:
            self.assertEqual(m.metadata["llama.block_count"], 99)

    def test_two_at_once(self):
        path = self.copy("good-llama.gguf")
        with modelfile.edit(path) as e:
            e.metadata["general.license"] = "mpl"
            stopped = []

            def other():
                try:
                    with modelfile.edit(path):
                        pass
                except modelfile.Error as error:
                    stopped.append(error)

            thread = threading.Thread(target=other)
            thread.start()
            time.sleep(0.3)
        thread.join()
        self.assertEqual(stopped, [])

    def test_recover(self):
        path = self.copy("good-llama.gguf")
        self.assertEqual(modelfile.recover(path).found, "none")


if __name__ == "__main__":
    unittest.main()
