# SPDX-License-Identifier: MIT
"""Opening models, and what their headers say."""

import copy
import io
import os
import pickle
import subprocess
import json
import sys
import threading
import time
import unittest

import modelfile
from support import FIXTURES, TOP, InFolder, fixture, good, here

PROGRAM = str(TOP / os.environ.get("BUILD", "build") / "modelfile")


def program(*arguments):
    """The JSON that the command prints: written in C, over the same library, but
    by other code than the package."""
    out = subprocess.run(
        [PROGRAM, *arguments, "--json"], capture_output=True, text=True, check=False
    )
    return json.loads(out.stdout)


class Opening(InFolder):
    def test_a_path_of_any_kind(self):
        path = fixture("good-llama.gguf")
        for each in (path, os.fsencode(path), FIXTURES / "good-llama.gguf"):
            with modelfile.open(each) as m:
                self.assertEqual(m.format, "gguf")
                self.assertEqual(m.path, path)

    def test_a_descriptor(self):
        with open(fixture("good-llama.gguf"), "rb") as file:
            with modelfile.open(file.fileno()) as m:
                self.assertEqual(len(m.tensors), 21)

    def test_an_object_with_read_and_seek(self):
        with open(fixture("good-llama.gguf"), "rb") as file:
            data = file.read()
        for file in (io.BytesIO(data), open(fixture("good-llama.gguf"), "rb")):
            with file, modelfile.open(file) as m:
                self.assertEqual(m.validate(data=True), [])
                self.assertFalse(m.tensors["output_norm.weight"].mappable)

    def test_what_such_an_object_raises(self):
        class Torn(io.BytesIO):
            def read(self, count=-1):
                raise RuntimeError("torn")

        with self.assertRaisesRegex(RuntimeError, "torn"):
            modelfile.open(Torn(b"GGUF" * 100))
        with self.assertRaisesRegex(TypeError, "text"):
            modelfile.open(open(fixture("README.md"), encoding="utf-8"))

        class Late(io.BytesIO):
            ready = True

            def read(self, count=-1):
                if not self.ready:
                    raise RuntimeError("late")
                return super().read(count)

        with open(fixture("good-llama.gguf"), "rb") as file:
            late = Late(file.read())
        with modelfile.open(late) as m:
            late.ready = False
            with self.assertRaisesRegex(RuntimeError, "late"):
                m.validate(data=True)

    def test_memory(self):
        with open(fixture("good-llama.gguf"), "rb") as file:
            data = file.read()
        for each in (data, bytearray(data), memoryview(data)):
            with modelfile.open_memory(each) as m:
                self.assertEqual(len(m.tensors), 21)
                self.assertEqual(m.validate(data=True), [])
        with self.assertRaises(modelfile.FormatError):
            modelfile.open_memory(b"")
        with self.assertRaises(modelfile.NeedMoreError) as caught:
            modelfile.open_memory(data[:100], file_size=len(data))
        self.assertGreater(caught.exception.needed, 100)

    def test_wrong_arguments(self):
        path = fixture("good-llama.gguf")
        for error, arguments, options in (
            (TypeError, (None,), {}),
            (TypeError, (1.5,), {}),
            (ValueError, ("",), {}),
            (ValueError, ("a\0b",), {}),
            (ValueError, (-1,), {}),
            (ValueError, (path,), {"shards": "some"}),
            (ValueError, (path,), {"threads": -1}),
            (TypeError, (path,), {"threads": "4"}),
            (TypeError, (path,), {"heap_limit": 1.5}),
            (TypeError, (path,), {"heep_limit": 1}),
        ):
            with self.assertRaises(error):
                modelfile.open(*arguments, **options)

    def test_closed(self):
        m = modelfile.open(fixture("good-llama.gguf"))
        tensor = m.tensors["output_norm.weight"]
        tokens = m.metadata["tokenizer.ggml.tokens"]
        tensors, metadata = m.tensors, m.metadata
        m.close()
        m.close()
        self.assertTrue(m.closed)
        for use in (
            lambda: m.tensors,
            lambda: m.path,
            lambda: m.hash(),
            lambda: m.validate(),
            lambda: list(tensors),
            lambda: tensors["x"],
            lambda: metadata["x"],
            lambda: len(metadata),
            lambda: tensor.tobytes(),
            lambda: tensor.mappable,
            lambda: tensor.stats(),
            lambda: tokens[0],
            lambda: m.__enter__(),
            lambda: modelfile.plan(m),
            lambda: modelfile.convert(m, "x.gguf"),
        ):
            with self.assertRaisesRegex(ValueError, "closed"):
                use()
        self.assertEqual(repr(m), "<modelfile.Model, closed>")

    def test_heap_limit(self):
        with self.assertRaises(modelfile.LimitError):
            modelfile.open(fixture("good-llama.gguf"), heap_limit=1000)

    def test_shards(self):
        with modelfile.open(fixture("good-split-00001-of-00003.gguf")) as m:
            self.assertEqual(len(m.shards), 3)
            names = [os.path.basename(t.path) for t in m.tensors.values()]
            self.assertGreater(len(set(names)), 1)
        one = fixture("good-split-00001-of-00003.gguf")
        with modelfile.open(one, shards="alone") as m:
            self.assertEqual(len(m.shards), 1)

    def test_a_damaged_file_can_be_looked_at(self):
        for path in sorted(FIXTURES.glob("bad-*")):
            try:
                m = modelfile.open(path)
            except modelfile.Error as error:
                self.assertTrue(error.status, path)
                self.assertTrue(str(error), path)
                continue
            with m:
                for tensor in m.tensors.all():
                    if tensor.damaged:
                        with self.assertRaises(ValueError):
                            tensor.tobytes()
                        break
                m.validate()

    def test_findings_that_are_not_kept(self):
        with modelfile.open(fixture("bad-adapter-half.gguf"), findings_max=1) as m:
            found = m.validate()
            self.assertEqual(len(found), 1)
            with modelfile.open(fixture("bad-adapter-half.gguf")) as whole:
                every = whole.validate()
            self.assertEqual(m.findings_left_out, len(every) - 1)

    def test_as_a_mapping_of_tensors(self):
        with modelfile.open(fixture("good-llama.gguf")) as m:
            self.assertEqual(list(m), list(m.tensors))
            self.assertIn("output_norm.weight", m)
            self.assertEqual(m["output_norm.weight"], m.tensors["output_norm.weight"])
            self.assertIn(m["output_norm.weight"], m.tensors.values())
            self.assertEqual(m.facts["vocab_size"], 16)
            self.assertEqual(list(m.stats("output_norm.weight")), ["output_norm.weight"])

    def test_no_pickle(self):
        with modelfile.open(fixture("good-llama.gguf")) as m:
            with self.assertRaises(TypeError):
                pickle.dumps(m)


@unittest.skipUnless(os.path.exists(PROGRAM), "the program is not built")
class AsTheProgram(unittest.TestCase):
    """Both say the same of every fixture."""

    def test_tensors(self):
        for path in good(".gguf", ".safetensors", ".apr", ".pt", ".npz", ".npy"):
            said = program("tensors", path, "-q")
            with modelfile.open(path) as m:
                mine = [
                    (t.name, t.type, list(t.shape), t.offset, t.nbytes)
                    for t in m.tensors.values()
                ]
                order = reversed if m.fastest_first else list
                theirs = [
                    (t["name"], t["type"], list(order(t["shape"])), t["offset"], t["bytes"])
                    for t in said["files"][0]["tensors"]
                ]
                self.assertEqual(mine, theirs, path)

    def test_findings(self):
        for path in sorted(FIXTURES.glob("*")):
            if not path.is_file() or path.suffix not in (".gguf", ".apr", ".safetensors"):
                continue
            said = program("validate", str(path), "-q", "--data")
            said = said["files"][0]
            try:
                with modelfile.open(path) as m:
                    mine = sorted((f.rule, f.severity, f.message) for f in m.validate(data=True))
            except modelfile.Error as error:
                mine = [(error.rule, "error", None)]
            theirs = sorted(
                (f["id"], f["severity"], f["message"]) for f in said["findings"]
            )
            if mine and mine[0][2] is None:
                theirs = [(rule, severity, None) for rule, severity, _ in theirs[:1]]
            self.assertEqual(mine, theirs, path)


class Errors(InFolder):
    def test_a_class_for_each_status(self):
        from modelfile import _abi, _errors

        statuses = {
            value
            for name, value in vars(_abi).items()
            if name.startswith("MF_ERR_") and not name.startswith("MF_ERROR_IN")
        }
        statuses |= {_abi.MF_NEED_MORE}
        self.assertEqual(set(_errors.CLASSES), statuses)
        self.assertEqual(len(set(_errors.CLASSES.values())), len(statuses))

    def test_of_python(self):
        with self.assertRaises(FileNotFoundError) as caught:
            modelfile.open(self.path("none.gguf"))
        self.assertEqual(caught.exception.filename, self.path("none.gguf"))
        self.assertEqual(caught.exception.errno, 2)
        self.assertRegex(str(caught.exception), "none.gguf: cannot be opened: No such")
        with open(self.path("x.gguf"), "wb") as file:
            file.write(b"no model at all")
        with self.assertRaises(modelfile.FormatError):
            modelfile.open(self.path("x.gguf"))

    def test_members(self):
        with self.assertRaises(modelfile.CorruptError) as caught:
            modelfile.open(fixture("bad-count-metadata.gguf"))
        error = caught.exception
        self.assertEqual(error.status, "corrupt")
        self.assertTrue(error.rule)
        self.assertIsInstance(error.offset, int)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), str(again), again.rule), (type(error), str(error), error.rule))

    def test_output_exists(self):
        path = self.copy("good-llama.gguf")
        with self.assertRaises(modelfile.OutputError) as caught:
            modelfile.convert(fixture("good-llama.gguf"), path)
        self.assertEqual(caught.exception.rule, "OUTPUT-EXISTS")
        self.assertIsInstance(caught.exception, OSError)
        self.assertRegex(str(caught.exception), "already exists")


class Threads(unittest.TestCase):
    def test_a_model_is_shared(self):
        with modelfile.open(fixture("good-llama.gguf")) as m:
            expected = m.hash()
            found, problems = [], []

            def work():
                try:
                    for _ in range(20):
                        found.append(m.hash())
                        list(m.tensors.values())
                        m.metadata["tokenizer.ggml.tokens"].tolist()
                except BaseException as error:
                    problems.append(error)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            self.assertEqual(problems, [])
            self.assertEqual(set(found), {expected})

    def test_closing_while_others_read(self):
        for _ in range(30):
            m = modelfile.open(fixture("good-llama.gguf"))
            problems = []

            def work():
                try:
                    while True:
                        list(m.tensors)
                except ValueError:
                    pass
                except BaseException as error:
                    problems.append(error)

            threads = [threading.Thread(target=work) for _ in range(3)]
            for each in threads:
                each.start()
            m.close()
            for each in threads:
                each.join()
            self.assertEqual(problems, [])

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_fork(self):
        with modelfile.open(fixture("good-llama.gguf")) as m:
            expected = m.hash()
            stop = threading.Event()

            def busy():
                while not stop.is_set():
                    m.metadata["general.name"]

            other = threading.Thread(target=busy)
            other.start()
            try:
                for _ in range(5):
                    child = os.fork()
                    if not child:
                        os._exit(0 if m.hash() == expected else 1)
                    self.assertEqual(os.waitpid(child, 0)[1], 0)
            finally:
                stop.set()
                other.join()
            self.assertEqual(m.hash(), expected)


class Owners(InFolder):
    """What is freed once, whoever asks for it and when."""

    def large(self):
        path = self.path("large.gguf")
        with modelfile.Writer(path, metadata={"general.architecture": "x"}) as w:
            for i in range(8):
                w.add(f"t.{i}", (1 << 20,), "f32")
            for i in range(8):
                w.write(f"t.{i}", bytes(1 << 22))
        return path

    def test_close_while_others_wait(self):
        for _ in range(5):
            m = modelfile.open(self.large(), threads=1)
            started = threading.Event()
            ended = []

            def slow(*_):
                started.set()
                time.sleep(0.01)

            def work(use):
                try:
                    use()
                except ValueError as error:
                    ended.append(str(error))

            uses = [lambda: m.hash(progress=slow)]
            uses += [m.hash_data, m.validate, lambda: m.file_size, m.uuid]
            threads = [threading.Thread(target=work, args=(use,)) for use in uses]
            threads[0].start()
            started.wait(5)
            for each in threads[1:]:
                each.start()
            m.close()
            for each in threads:
                each.join()
            self.assertTrue(all("closed" in words for words in ended), ended)
            os.unlink(self.path("large.gguf"))

    def test_close_in_a_progress_function(self):
        for use in (
            lambda m, close: m.hash(progress=close),
            lambda m, close: m.validate(data=True, progress=close),
            lambda m, close: modelfile.convert(
                m, self.path("out.gguf"), replace=True, progress=close
            ),
        ):
            m = modelfile.open(self.large() if not self.names() else self.path("large.gguf"))
            try:
                use(m, lambda *_: m.close())
            except ValueError as error:  # of a second step
                self.assertIn("closed", str(error))
            with self.assertRaisesRegex(ValueError, "closed"):
                m.hash()

    def test_discard_in_write(self):
        class Ends(io.BytesIO):
            def write(self, data):
                w.discard()
                return super().write(data)

        w = modelfile.Writer(Ends(), format="gguf")
        w.add("a", (2,), "f32")
        try:
            w.write("a", bytes(8))
            w.commit()
        except (ValueError, modelfile.Error):
            pass

    def test_no_copies(self):
        path = self.copy("good-llama.gguf")
        with modelfile.open(path) as m, modelfile.edit(path, dry_run=True) as e:
            w = modelfile.Writer(self.path("x.gguf"))
            for each in (m, e, w, m.env):
                for copy_of in (copy.copy, copy.deepcopy, pickle.dumps):
                    with self.assertRaises(TypeError):
                        copy_of(each)
            w.discard()

    def test_a_file_that_uses_its_model(self):
        class Curious(io.BytesIO):
            model = None

            def read(self, count=-1):
                if self.model is not None:
                    self.model.validate()
                return super().read(count)

        with open(fixture("good-llama.gguf"), "rb") as file:
            curious = Curious(file.read())
        with modelfile.open(curious) as m:
            curious.model = m
            with self.assertRaises(RuntimeError):
                m.hash()

    def test_a_hook_that_was_kept(self):
        with modelfile.open(fixture("good-llama.gguf")) as m:
            before, kept = sys.unraisablehook, []
            path = self.large()
            with modelfile.open(path) as large:
                large.hash(progress=lambda *_: kept.append(sys.unraisablehook))
            sys.unraisablehook = kept[0]
            try:
                m.hash()
                self.assertTrue(m.path)
            finally:
                sys.unraisablehook = before

    def test_memory_is_let_go_of(self):
        with open(fixture("good-llama.gguf"), "rb") as file:
            data = bytearray(file.read())
        m = modelfile.open_memory(data)
        m.close()
        data.append(0)

    def test_no_names_of_surrogates(self):
        with modelfile.open(fixture("good-llama.gguf")) as m:
            self.assertNotIn("\ud800", m.tensors)
            self.assertIsNone(m.metadata.get("\ud800"))
            with self.assertRaises(IndexError):
                m.tensors.at(2**64)
        with open(fixture("good-llama.gguf"), "rb") as file:
            with self.assertRaises(ValueError):
                modelfile.open(file.fileno() + 2**32)

    def test_an_error_in_another_process(self):
        with self.assertRaises(FileNotFoundError) as caught:
            modelfile.open(self.path("none"))
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((again.errno, again.filename), (2, self.path("none")))


class Names(unittest.TestCase):
    def test_every_name_is_there(self):
        for name in modelfile.__all__:
            self.assertIsNotNone(getattr(modelfile, name))
            self.assertIn(name, dir(modelfile))
        with self.assertRaises(AttributeError):
            modelfile.nonsense

    def test_the_checker_sees_the_same(self):
        import ast

        text = (TOP / "python/src/modelfile/__init__.py").read_text(encoding="utf-8")
        names = {
            each.asname or each.name
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.ImportFrom) and node.level
            for each in node.names
        }
        self.assertEqual(names, set(modelfile.__all__))

    def test_importing_needs_nothing(self):
        code = (
            "import sys, modelfile\n"
            f"with modelfile.open({fixture('good-llama.gguf')!r}) as m:\n"
            "    m.validate(); list(m.tensors.values()); dict(m.metadata)\n"
            "print(sorted({'numpy', 'torch', 'tqdm', 'ml_dtypes'} & set(sys.modules)))"
        )
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=here()
        )
        self.assertEqual((out.stdout, out.stderr), ("[]\n", ""))


if __name__ == "__main__":
    unittest.main()
