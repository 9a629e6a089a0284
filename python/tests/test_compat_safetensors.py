# SPDX-License-Identifier: MIT
"""modelfile.compat.safetensors against safetensors of PyPI."""

import ctypes
import os
import random
import threading
import unittest
from pathlib import Path

from support import FIXTURES, InFolder, needs_numpy, needs_torch, numpy, torch

try:
    import safetensors as real

    real.safe_open  # a folder of that name does not have it
    import safetensors.numpy as real_numpy
except (ImportError, AttributeError):
    real = None
import modelfile
import modelfile.compat.safetensors as ours

if numpy is not None:
    import modelfile.compat.safetensors.numpy as ours_numpy
if torch is not None:
    import modelfile.compat.safetensors.torch as ours_torch

    if real is not None:
        import safetensors.torch as real_torch

needs_real = unittest.skipIf(
    numpy is None or real is None, "no numpy, or no safetensors"
)


def ended(function, *arguments, **options):
    """What a function gives, or the class of what it raises, and what is said of
    a wrong index, which programs show."""
    try:
        return function(*arguments, **options)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        shown = any(text in str(error) for text in ("out of bounds", "Invalid index"))
        return type(error).__name__, str(error) if shown else ""


def bits(array):
    """All of an array or a tensor."""
    if isinstance(array, tuple):
        return array
    if hasattr(array, "tobytes"):
        return type(array).__name__, array.shape, str(array.dtype), array.tobytes()
    flat = array.reshape(-1).clone(memory_format=torch.contiguous_format)
    data = bytes(flat.view(torch.uint8).numpy()) if flat.numel() else b""
    return "Tensor", tuple(array.shape), str(array.dtype), data


def frameworks():
    return ["np"] + ["pt"] * (torch is not None)


@needs_real
class Opening(InFolder):
    def compare(self, path, framework):
        expected = ended(real.safe_open, path, framework)
        found = ended(ours.safe_open, path, framework)
        if isinstance(expected, tuple) or isinstance(found, tuple):
            return expected, found
        for name in ("keys", "offset_keys", "metadata"):
            self.assertEqual(getattr(expected, name)(), getattr(found, name)(), name)
        for name in expected.keys():
            a, b = expected.get_slice(name), found.get_slice(name)
            self.assertEqual(a.get_shape(), b.get_shape())
            self.assertEqual(a.get_dtype(), b.get_dtype())
            # Types that numpy lacks, of most of which safetensors has no arrays.
            if framework == "np" and a.get_dtype()[:2] in ("F4", "F6", "F8", "BF"):
                continue
            x = bits(ended(expected.get_tensor, name))
            self.assertEqual(x, bits(ended(found.get_tensor, name)), (path, name))
        return None

    def test_fixtures(self):
        compared = 0
        for path in sorted(FIXTURES.glob("**/*.safetensors")):
            for framework in frameworks():
                with self.subTest(path.name, framework=framework):
                    ends = self.compare(str(path), framework)
                    compared += ends is None
                    if ends is not None and not isinstance(ends[0], tuple):
                        # What only this library refuses.
                        self.assertIn(
                            path.name,
                            (
                                "bad-metadata-duplicate.safetensors",
                                "bad-rank-65.safetensors",
                            ),
                        )
                    elif ends is not None:
                        self.assertEqual(ends[0][0], ends[1][0])
        self.assertGreater(compared, 80)

    def saved(self):
        path = self.path("a.safetensors")
        arrays = {
            "a": numpy.arange(120, dtype="i2").reshape(4, 5, 6),
            "t": numpy.arange(120, dtype="f4").reshape(4, 5, 6),
            "e": numpy.zeros((3, 0, 2), "u1"),
            "s": numpy.array(7, "i8"),
        }
        ours_numpy.save_file(arrays, path, {"k": "v"})
        return path

    def index(self, rng):
        """One dimension's part of an index."""
        draw = rng.random()
        if draw < 0.3:
            return rng.randint(-8, 8)
        if draw < 0.4:
            return Ellipsis
        if draw < 0.45:
            return rng.choice([None, "x", 1.5, True, [], [1], numpy.int8(2), 2**31])
        start, stop = (rng.choice([None, *range(8)]) for _ in range(2))
        if None not in (start, stop) and start > stop:
            start, stop = stop, start  # safetensors aborts
        if stop is None and start is not None:
            start = min(start, 2)
        step = rng.choice([None, 1, 2, 3, 0, -1]) if rng.random() < 0.3 else None
        return slice(-1 if rng.random() < 0.05 else start, stop, step)

    def test_slices(self):
        path, rng = self.saved(), random.Random(3)
        options = [
            ("np", {}),
            *[("pt", {}), ("pt", {"backend": "pread"})] * (torch is not None),
        ]
        files = [
            (real.safe_open(path, f, **more), ours.safe_open(path, f, **more))
            for f, more in options
        ]
        for _ in range(3000):
            index = tuple(self.index(rng) for _ in range(rng.randint(0, 4)))
            if len(index) == 1 and rng.random() < 0.5:
                index = index[0]
            for (a, b), option in zip(files, options):
                for name in "ates":
                    x, y = (
                        bits(ended(f.get_slice(name).__getitem__, index))
                        for f in (a, b)
                    )
                    if x[0] in ("PanicException", "SystemError"):
                        continue
                    if x[0] == "ValueError" and name == "e":
                        continue
                    self.assertEqual(x, y, (index, name, option))

    def test_wrong_use(self):
        path = self.saved()

        def opened(module, *arguments, **options):
            return module.safe_open(*arguments, **options) and None

        for arguments, options in (
            *(((path, framework), {}) for framework in ("x", None, 5, "numpy", "np")),
            *(
                ((path, "np", device), {})
                for device in ("cpu", "cuda", "cuda:x", "mps:1", "x", "0", 0, -1, None)
            ),
            ((path, "np"), {"backend": "x"}),
            ((path, "np", "cpu", "mmap"), {}),
            ((path,), {}),
            ((path.encode(), "np"), {}),
            ((5, "np"), {}),
            ((Path(path), "np"), {}),
            ((self.path("none"), "np"), {}),
        ):
            a, b = (
                ended(opened, module, *arguments, **options) for module in (real, ours)
            )
            self.assertEqual(a, b, (arguments, options))
        for module in (real, ours):
            with self.assertRaises(FileNotFoundError) as caught:
                module.safe_open("none", "np")
            self.assertEqual(str(caught.exception), "No such file or directory: none")
            with self.assertRaises(OSError):
                module.safe_open(self.folder, "np")
            file = module.safe_open(path, framework="np")
            self.assertEqual(ended(file.get_tensor, "none")[0], "SafetensorError")
            self.assertEqual(ended(file.get_slice, "none")[0], "SafetensorError")
            self.assertEqual(ended(file.get_tensor, 5)[0], "TypeError")
            part, whole = file.get_slice("a"), file.get_tensor("a")
            with file as entered:
                self.assertIs(entered, file)
            for work in (file.keys, file.metadata, lambda f=file: f.get_tensor("a")):
                self.assertEqual(ended(work)[0], "SafetensorError")
            self.assertEqual(part[0].shape, (5, 6))
            whole[0] = 1  # it is the program's own
        self.assertEqual(ours.safe_open(path, "np").get_tensor("a")[0, 0, 1], 1 - 0)

    def test_an_index_is_not_a_file(self):
        index = next(FIXTURES.glob("good-sharded/*.index.json"))
        for module in (real, ours):
            self.assertEqual(ended(module.safe_open, index, "np")[0], "SafetensorError")


@needs_real
class Serializing(InFolder):
    def spec(self, rng, address):
        kind = rng.choice([*ours._serialize._TYPES])
        shape = [rng.randint(0, 4) for _ in range(rng.randint(0, 3))]
        if kind == "float4_e2m1fn_x2" and not shape:
            shape = [2]
        size = modelfile.find_type(ours._serialize._TYPES[kind]).size
        for each in shape:
            size *= each
        return {"dtype": kind, "shape": shape, "data_ptr": address, "data_len": size}

    def test_the_same_bytes(self):
        rng, memory = random.Random(4), ctypes.create_string_buffer(4096)
        memory.raw = bytes(rng.randrange(256) for _ in range(4096))
        for _ in range(200):
            specs = {
                "".join(rng.choices('ab\u00dc.0"\\\n', k=5)): self.spec(
                    rng, ctypes.addressof(memory) + rng.randint(0, 9)
                )
                for _ in range(rng.randint(0, 9))
            }
            metadata = rng.choice([None, {"format": "pt"}, {"x y": '"\n\\\u00e9'}])
            expected, found = (
                module.serialize(
                    {name: module.TensorSpec(**each) for name, each in specs.items()},
                    metadata,
                )
                for module in (real, ours)
            )
            self.assertEqual(expected, found, specs)
            a, b = (dict(module.deserialize(found)) for module in (real, ours))
            self.assertEqual(a, b)
            ours.serialize_file(
                {name: ours.TensorSpec(**each) for name, each in specs.items()},
                self.path("x"),
                metadata,
            )
            self.assertEqual(Path(self.path("x")).read_bytes(), found)

    def test_arrays(self):
        arrays = {
            "little": numpy.arange(6, dtype="<i4").reshape(2, 3),
            "big": numpy.arange(6, dtype=">f8").reshape(2, 3),
            "scalar": numpy.asarray(True),
            "empty": numpy.zeros((2, 0), "c8"),
        }
        data = real_numpy.save(arrays, {"a": "b"})
        self.assertEqual(ours_numpy.save(arrays, {"a": "b"}), data)
        for loads in (ours_numpy.load, real_numpy.load):
            found = loads(data)
            for name, array in arrays.items():
                self.assertEqual(found[name].shape, array.shape)
                self.assertTrue((found[name] == array).all())
                self.assertTrue(found[name].flags.writeable)
        # safetensors writes what lies in memory there.
        part = numpy.arange(6, dtype="f4").reshape(2, 3).T
        (found,) = ours_numpy.load(ours_numpy.save({"x": part})).values()
        self.assertTrue((found == part).all())

    def test_wrong_use(self):
        array = numpy.zeros(6, "f4")
        there = {"data_ptr": array.ctypes.data, "data_len": 24}

        def spec(module, **changes):
            return module.TensorSpec(
                **{"dtype": "float32", "shape": [2, 3], **there, **changes}
            )

        def serialized(*arguments):
            return lambda module: module.serialize(
                *(each(module) if callable(each) else each for each in arguments)
            )

        for work in (
            lambda g: spec(g, dtype="x"),
            lambda g: spec(g, dtype="F32"),
            lambda g: spec(g, dtype=5),
            lambda g: spec(g, shape=[-1]),
            lambda g: spec(g, shape=5),
            lambda g: g.TensorSpec("float32", [1], 0, 0),
            lambda g: setattr(spec(g), "shape", [1]),
            serialized({"a": 5}),
            serialized([]),
            serialized(lambda g: {"a": spec(g, data_len=23)}),
            serialized(lambda g: {"a": spec(g, shape=[2, 4])}),
            serialized(lambda g: {5: spec(g)}),
            serialized(lambda g: {"a": spec(g)}, {"a": 5}),
            serialized(lambda g: {"a": spec(g)}, []),
            lambda g: g.deserialize(b""),
            lambda g: g.deserialize(b"x" * 20),
            lambda g: g.deserialize(bytearray(8)),
            lambda g: g.deserialize("x"),
            lambda g: g.serialize_file({"a": spec(g)}, self.path("none/x")),
            lambda g: g.serialize_file({"a": spec(g)}, self.folder),
            lambda g: g.serialize_file({"a": spec(g)}, 5),
        ):
            expected, found = ended(work, real), ended(work, ours)
            self.assertIsInstance(expected, tuple)
            self.assertEqual(expected, found)
        for module in (real_numpy, ours_numpy):
            for given in (
                {"a": numpy.zeros(2, "c16")},
                {"a": numpy.array(["x"])},
                {"a": numpy.zeros(2, "O")},
            ):
                self.assertEqual(ended(module.save, given)[0], "SafetensorError")
            self.assertEqual(ended(module.save, {"a": [1, 2]})[0], "AttributeError")
            self.assertEqual(ended(module.save, [array])[0], "AttributeError")
        self.assertEqual(repr(spec(real)), repr(spec(ours)))
        self.assertEqual(spec(ours, dtype="float4_e2m1fn_x2").shape, [2, 6])


@needs_torch
class Torch(InFolder):
    def both(self, name, *arguments, **options):
        out = []
        for module in [real_torch, ours_torch] if real else [ours_torch]:
            out.append(ended(getattr(module, name), *arguments, **options))
        self.assertEqual(out[0], out[-1])
        return out[-1]

    def test_refused(self):
        a = torch.arange(6.0).reshape(2, 3)
        for tensors, expected in (
            ({"a": a, "b": a[:1]}, "RuntimeError"),
            ({"a": a.T}, "ValueError"),
            ({"a": torch.sparse_coo_tensor(size=(2, 3))}, "ValueError"),
            ({"a": [1]}, "ValueError"),
            ([a], "ValueError"),
        ):
            path = self.path("x")
            self.assertEqual(self.both("save_file", tensors, path)[0], expected)
            self.assertEqual(self.both("save", tensors)[0], expected)
        self.assertEqual(self.names(), [])

    def test_the_same_bytes(self):
        kinds = [
            *(
                "bool",
                "uint8",
                "int8",
                "int16",
                "int32",
                "int64",
                "float16",
                "bfloat16",
            ),
            *("float32", "float64", "complex64", "float8_e4m3fn", "float8_e5m2"),
        ]
        tensors = {
            kind: torch.arange(24, dtype=torch.uint8)
            .remainder(2 if kind == "bool" else 100)
            .view(getattr(torch, kind))
            for kind in kinds
            if hasattr(torch, kind)
        }
        tensors["parameter"] = torch.nn.Parameter(torch.ones(2, 3))
        tensors["scalar"] = torch.tensor(1.5)
        tensors["empty"] = torch.zeros(0, 4)
        data = self.both("save", tensors, {"a": "b"})
        path = self.path("x")
        ours_torch.save_file(tensors, path, {"a": "b"})
        self.assertEqual(Path(path).read_bytes(), data)
        for found in (
            ours_torch.load(data),
            ours_torch.load_file(path),
            ours_torch.load_file(Path(path), backend="pread"),
        ):
            for name, tensor in tensors.items():
                self.assertEqual(bits(found[name]), bits(tensor.detach()), name)
            found["scalar"].add_(1)  # a private view, or memory of its own
        self.assertEqual(Path(path).read_bytes(), data)

    def test_tensors_stay(self):
        path = self.path("x")
        ours_torch.save_file({"a": torch.ones(1000)}, path)
        with ours.safe_open(path, "pt") as file:
            tensor = file.get_tensor("a")
        os.remove(path)
        self.assertEqual(tensor.sum(), 1000)

    def test_shared_memory(self):
        a = torch.zeros(4)
        for tensors in (
            {"a": a, "b": a[:2], "c": a[2:]},
            {"b": a[:2], "c": a[2:]},
            {"b": a[:2], "c": a[2:], "d": a[:1]},
            {"x": a, "y": torch.zeros(4)},
            {"m": torch.zeros(2, device="meta")},
        ):
            groups = ours_torch._find_shared_tensors(tensors)
            if real is not None:
                self.assertEqual(real_torch._find_shared_tensors(tensors), groups)
        # In the memory of one, without being in each other's.
        groups = ours_torch._find_shared_tensors({"a": a, "b": a[1:2], "c": a[2:3]})
        self.assertEqual(groups, [{"a", "b", "c"}])

    def test_models(self):
        class Tied(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = torch.nn.Linear(3, 3)
                self.b = self.a

        model, other, path = Tied(), Tied(), self.path("x")
        before = {"mine": "yes"}
        ours_torch.save_model(model, path, metadata=before)
        self.assertEqual(before, {"mine": "yes"})
        with ours.safe_open(path, "pt") as file:
            self.assertEqual(file.keys(), ["a.bias", "a.weight"])
            self.assertEqual(
                file.metadata(),
                {"mine": "yes", "b.weight": "a.weight", "b.bias": "a.bias"},
            )
        self.assertEqual(ours_torch.load_model(other, path), (set(), []))
        self.assertTrue(torch.equal(other.b.weight, model.a.weight))
        other.extra = torch.nn.Linear(1, 1)
        with self.assertRaisesRegex(RuntimeError, 'Missing key.*"extra.bias"'):
            ours_torch.load_model(other, path)
        missing, unexpected = ours_torch.load_model(other, path, strict=False)
        self.assertEqual(missing, {"extra.bias", "extra.weight"})
        with self.assertRaisesRegex(RuntimeError, 'Unexpected key.*"a.bias"'):
            ours_torch.load_model(torch.nn.Sequential(), path)

    def test_four_bits(self):
        if not hasattr(torch, "float4_e2m1fn_x2"):
            self.skipTest("this torch has no float4_e2m1fn_x2")
        packed = torch.arange(8, dtype=torch.uint8).reshape(2, 4)
        tensors = {"x": packed.view(torch.float4_e2m1fn_x2)}
        path = self.path("x")
        ours_torch.save_file(tensors, path)
        self.assertEqual(bits(ours_torch.load_file(path)["x"]), bits(tensors["x"]))
        found = ours_torch.load(Path(path).read_bytes())
        self.assertEqual(bits(found["x"]), bits(tensors["x"]))
        part = ours.safe_open(path, "np").get_slice("x")
        self.assertEqual(part.get_shape(), [2, 8])
        self.assertEqual(part[1:, 2:4].tolist(), [[5]])
        self.assertEqual(ended(lambda: part[:, 1:4])[0], "SafetensorError")


@needs_numpy
class Threads(InFolder):
    def test_at_once(self):
        array = numpy.arange(10_000, dtype="f4")
        failed = []

        def work(number):
            try:
                path = self.path(f"{number}")
                for _ in range(20):
                    ours_numpy.save_file({"x": array}, path)
                    assert (ours_numpy.load_file(path)["x"] == array).all()
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])


if __name__ == "__main__":
    unittest.main()
