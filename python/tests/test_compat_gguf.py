# SPDX-License-Identifier: MIT
"""modelfile.compat.gguf against gguf of PyPI, which writes and reads the same."""

import contextlib
import dataclasses
import inspect
import json
import os
import random
import struct
import time
import unittest
from pathlib import Path

from support import FIXTURES, InFolder, fixture, needs_numpy, numpy

try:
    import gguf as real

    real.GGUFReader  # a folder of that name does not have it
except (ImportError, AttributeError):
    real = None
if numpy is not None:
    from modelfile.compat import gguf as ours

needs_real = unittest.skipIf(numpy is None or real is None, "no numpy, or no gguf")


def ended(function, *arguments):
    """What a function gives, or the class of what it raises."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def same_array(a, b):
    return (type(a), a.dtype, a.shape, a.tobytes()) == (
        *(type(b), b.dtype, b.shape, b.tobytes()),
    )


def number_of(enum):
    return {each.name: each.value for each in enum}


# ---- reading


@needs_real
class Reader(InFolder):
    def compare_field(self, a, b):
        self.assertEqual((a.offset, a.name), (b.offset, b.name))
        self.assertEqual(list(a.data), list(b.data), a.name)
        self.assertEqual([int(t) for t in a.types], [int(t) for t in b.types], a.name)
        self.assertEqual(len(a.parts), len(b.parts), a.name)
        for x, y in zip(a.parts, b.parts):
            self.assertTrue(same_array(x, y), a.name)
        self.assertEqual(repr(ended(a.contents)), repr(ended(b.contents)), a.name)
        if not a.types or a.types[0].name != "ARRAY":
            return
        for at in (0, -1, 10**6, slice(1, 3), slice(None, None, -2)):
            x, y = ended(a.contents, at), ended(b.contents, at)
            self.assertEqual(repr(x), repr(y), (a.name, at))

    def compare(self, a, b):
        self.assertEqual(list(a.fields), list(b.fields))
        self.assertEqual(len(a.fields), len(b.fields))
        for name in a.fields:
            self.compare_field(a.fields[name], b.fields[name])
            self.assertIn(name, b.fields)
        self.assertEqual(len(a.tensors), len(b.tensors))
        for i, (x, y) in enumerate(zip(a.tensors, b.tensors)):
            for name in ("name", "n_elements", "n_bytes", "data_offset"):
                self.assertEqual(getattr(x, name), getattr(y, name))
            self.assertEqual(x.tensor_type.name, y.tensor_type.name)
            self.assertTrue(same_array(x.shape, y.shape), x.name)
            self.assertTrue(same_array(x.data, y.data), x.name)
            self.compare_field(x.field, y.field)
            self.assertIs(b.get_tensor(i), y)
        for name in ("byte_order", "alignment", "data_offset", "endianess"):
            self.assertEqual(getattr(a, name), getattr(b, name), name)

    def test_fixtures(self):
        """Every file that gguf reads."""
        compared, refused = 0, set()
        for path in sorted(FIXTURES.glob("**/*.gguf")):
            if path.name.startswith("bad-") or not path.is_file():
                continue
            try:
                expected = real.GGUFReader(path)
            except Exception:
                refused.add(path.name)
                continue
            with self.subTest(path.name):
                self.compare(expected, ours.GGUFReader(path))
                compared += 1
        self.assertGreater(compared, 35)
        # Types, or a version, that it does not know.
        for name in refused:
            self.assertRegex(
                name, "^(good-(blocks-big|blocks-little|types)|unsupported-)"
            )

    def test_bad_files(self):
        """What gguf refuses is refused, as ValueError where it is the file."""
        mild = {"bad-dimension-0-huge.gguf"}
        for path in sorted(FIXTURES.glob("bad-*.gguf")):
            if "array" in path.name:  # it takes all memory for some
                continue
            expected = ended(real.GGUFReader, path)
            found = ended(ours.GGUFReader, path)
            with self.subTest(path.name):
                if isinstance(expected, type) and path.name not in mild:
                    self.assertIsInstance(found, type)
                    if issubclass(expected, (KeyError, OSError)):
                        self.assertEqual(found, expected)
                if isinstance(found, type):
                    self.assertTrue(issubclass(found, (ValueError, KeyError)), found)

    def test_opening_is_fast(self):
        path = self.path("vocabulary.gguf")
        writer = ours.GGUFWriter(path, "llama")
        writer.add_token_list([f"token {i}" for i in range(20_000)])
        writer.add_token_scores([float(i) for i in range(20_000)])
        write(writer)
        seconds = []
        for module in (ours, real):
            start = time.perf_counter()
            reader = module.GGUFReader(path)
            seconds.append(time.perf_counter() - start)
            field = reader.get_field("tokenizer.ggml.tokens")
            self.assertEqual(field.contents(-1), "token 19999")
        self.assertLess(seconds[0], seconds[1])


@needs_numpy
class Views(InFolder):
    def test_nothing_is_made_before_it_is_asked_for(self):
        reader = ours.GGUFReader(fixture("good-llama.gguf"))
        self.assertEqual(reader.fields._made, {})
        self.assertEqual(reader.tensors._made, {})
        field = reader.get_field("tokenizer.ggml.tokens")
        self.assertEqual(field.contents(slice(0, 2)), ["<unk>", "<s>"])
        self.assertIs(reader.fields["tokenizer.ggml.tokens"], field)
        self.assertIsNone(reader.get_field("none"))
        self.assertRaises(KeyError, lambda: reader.fields["none"])
        self.assertRaises(IndexError, lambda: reader.tensors[1000])
        self.assertIs(reader.tensors[-1], reader.tensors[len(reader.tensors) - 1])
        self.assertEqual(len(reader.tensors[2:4]), 2)

    def test_modes(self):
        """r+ changes the file, c what this reader sees, r nothing."""
        for mode, changes in (("r", False), ("c", False), ("r+", True)):
            with self.subTest(mode):
                path = self.copy("good-llama.gguf")
                reader = ours.GGUFReader(path, mode)
                part = reader.get_field("llama.context_length").parts[-1]
                if mode == "r":
                    with self.assertRaises(ValueError):
                        part[0] = 7
                    continue
                part[0] = 7
                reader.data.flush()
                self.assertEqual(reader.fields["llama.context_length"].contents(), 7)
                again = ours.GGUFReader(path)
                value = again.fields["llama.context_length"].contents()
                self.assertEqual(value == 7, changes)

    def test_dimensions(self):
        """Of gguf of llama.cpp v0.5.0: more than four, or more than fit."""
        for dims, text in (
            ([1] * 5, "exceeds GGML_MAX_DIMS"),
            ([2**32, 2**32], "b"),
            ([2**62, 4], "b"),
        ):
            data = b"GGUF" + struct.pack("<IQQ", 3, 1, 0)
            data += struct.pack("<Q", 1) + b"b" + struct.pack("<I", len(dims))
            data += struct.pack(f"<{len(dims)}Q", *dims) + struct.pack("<IQ", 0, 0)
            with open(self.path("bad.gguf"), "wb") as file:
                file.write(data + bytes(100))
            with self.assertRaisesRegex(ValueError, text):
                ours.GGUFReader(self.path("bad.gguf"))

    def test_other_files(self):
        for name in ("good-apr.apr", "good-index.safetensors", "digests.txt"):
            if (FIXTURES / name).exists():
                self.assertRaises(ValueError, ours.GGUFReader, fixture(name))
        self.assertRaises(FileNotFoundError, ours.GGUFReader, self.path("none"))


# ---- writing


def write(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def filled(module, path, **options):
    """A writer with values and tensors of all types."""
    if "endianess" in options:
        options["endianess"] = module.GGUFEndian[options["endianess"]]
    w = module.GGUFWriter(path, "llama", **options)
    w.add_name("a name")
    w.add_string("none", "")
    w.add_context_length(128)
    w.add_rope_scaling_type(module.RopeScalingType.YARN)
    w.add_pooling_type(module.PoolingType.MEAN)
    w.add_expert_gating_func(module.ExpertGatingFuncType.SIGMOID)
    w.add_head_count([1, 2, 3])
    w.add_head_count_kv(4)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_sliding_window_pattern([True, False])
    for name, value in (
        *(("uint8", 255), ("int8", -128), ("uint16", 1), ("int16", -1)),
        *(("uint32", 2**32 - 1), ("int32", -(2**31)), ("uint64", 2**64 - 1)),
        *(("int64", -(2**63)), ("float32", 0.1), ("float64", 0.1), ("bool", True)),
    ):
        getattr(w, f"add_{name}")(f"of.{name}", value)
    w.add_array("x.texts", ["a", "\u00fc", ""])
    w.add_array("x.numbers", (1.5, -0.0))
    w.add_token_list([b"\xff\xfe", b"abc"])
    w.add_precompiled_charsmap(b"\x00\x01\xff")
    w.add_base_model_name(3, "base")
    w.add_dense_features_dims("d", 3, 4)
    w.add_chat_template(
        [{"name": "default", "template": "T"}, {"name": "tool use", "template": "U"}]
    )
    rng = numpy.random.default_rng(3)
    w.add_tensor("a.weight", rng.standard_normal((4, 64)).astype("f4"))
    w.add_tensor("b.weight", rng.standard_normal((3, 5)).astype("f2"))
    blocks = rng.integers(0, 255, (2, 68), dtype="u1")
    w.add_tensor("c.weight", blocks, raw_dtype=module.GGMLQuantizationType.Q8_0)
    halves = rng.integers(0, 255, (2, 6), dtype="u1")
    w.add_tensor("d.weight", halves, raw_dtype=module.GGMLQuantizationType.BF16)
    for kind in ("f8", "i1", "i2", "i4", "i8"):
        w.add_tensor(f"{kind}.weight", numpy.arange(9, dtype=kind).reshape(3, 3).T)
    return w


@needs_real
class Writing(InFolder):
    def both(self, work):
        """The files that each of the two leaves, or what it raises."""
        out = []
        for module in (real, ours):
            found = ended(work, module)
            files = {name: content(self.path(name)) for name in self.names()}
            for name in files:
                os.remove(self.path(name))
            out.append(found if isinstance(found, type) else files)
        return out

    def test_byte_for_byte(self):
        for options in (
            {},
            {"use_temp_file": True},
            {"endianess": "BIG"},
            {"split_max_tensors": 2},
            {"split_max_size": 300},
            {"split_max_tensors": 3, "small_first_shard": True},
        ):
            with self.subTest(options):
                expected, found = self.both(
                    lambda g, o=options: write(filled(g, self.path("w.gguf"), **o))
                )
                self.assertIsInstance(expected, dict)
                self.assertEqual(expected, found)

    def test_tensor_by_tensor(self):
        def work(module):
            w = filled(module, None)
            w.add_custom_alignment(64)
            w.write_header_to_file(Path(self.path("w.gguf")))
            w.write_kv_data_to_file()
            w.write_ti_data_to_file()
            for info in [*w.tensors[0].values()]:
                w.write_tensor_data(info.tensor)
            w.close()

        expected, found = self.both(work)
        self.assertEqual(expected, found)

    def test_each_reads_what_the_other_writes(self):
        for writes, reads in ((real, ours), (ours, real)):
            write(filled(writes, self.path("w.gguf")))
            reader = reads.GGUFReader(self.path("w.gguf"))
            self.assertEqual(reader.fields["of.uint64"].contents(), 2**64 - 1)
            self.assertEqual(reader.tensors[1].data.dtype, numpy.float16)

    def test_metadata_alone(self):
        w = ours.GGUFWriter(self.path("w.gguf"), "llama")
        w.write_header_to_file()
        w.write_kv_data_to_file()
        w.close()
        reader = real.GGUFReader(self.path("w.gguf"))
        self.assertEqual(reader.fields["general.architecture"].contents(), "llama")

    def test_values_that_are_refused(self):
        def work(name, value):
            def add(module):
                w = module.GGUFWriter(self.path("w.gguf"), "llama")
                getattr(w, name)("k", value)
                write(w)

            return add

        for name, value in (
            *(("add_uint8", 256), ("add_uint8", -1), ("add_int8", 1.5)),
            *(("add_uint32", "x"), ("add_float32", 1e39), ("add_float32", "x")),
            *(("add_bool", "x"), ("add_bool", 0), ("add_string", 5)),
            *(("add_string", "\ud800"), ("add_string", b"xyz")),
            *(("add_array", [1, "x"]), ("add_array", [2**31]), ("add_array", [None])),
            *(("add_array", numpy.arange(3)), ("add_array", [numpy.int32(3)])),
            *(("add_array", (1, 2)), ("add_array", "abc"), ("add_array", [True, 1])),
            *(("add_array", b"ab"), ("add_array", bytearray(b"ab"))),
            *(("add_array", range(3)), ("add_uint32", numpy.uint32(7))),
            *(("add_float32", numpy.float32(7)), ("add_uint32", True)),
        ):
            with self.subTest(name, value=value):
                expected, found = self.both(work(name, value))
                self.assertEqual(expected, found)

    def test_wrong_use(self):
        def begun(module, *steps, path="w.gguf"):
            w = module.GGUFWriter(self.path(path), "llama")
            for step in steps:
                getattr(w, step)()
            return w

        def twice(module):
            w = begun(module)
            for _ in range(2):
                w.add_tensor("a", numpy.zeros(3, "f4"))

        def typed(module, kind, name):
            options = {"raw_dtype": module.GGMLQuantizationType[name]} if name else {}
            begun(module).add_tensor("a", numpy.zeros(30, kind), **options)

        def late(module):
            begun(module, "write_header_to_file").add_tensor("a", numpy.zeros(3, "f4"))

        def without_data(module):
            w = begun(module)
            w.add_tensor_info("a", (3,), numpy.dtype("f4"), 12)
            write(w)

        def other_size(module):
            w = begun(module)
            w.add_tensor_info("a", (3,), numpy.dtype("f4"), 12)
            w.write_header_to_file()
            w.write_kv_data_to_file()
            w.write_ti_data_to_file()
            w.write_tensor_data(numpy.zeros(4, "f4"))

        for work in (
            twice,
            late,
            without_data,
            other_size,
            lambda g: typed(g, "u4", None),
            lambda g: typed(g, "u1", "Q4_0"),
            lambda g: begun(g, "write_kv_data_to_file"),
            lambda g: begun(g, "write_ti_data_to_file"),
            lambda g: begun(g, "write_tensors_to_file"),
            lambda g: begun(g, "write_header_to_file", "write_header_to_file"),
            lambda g: begun(g, "write_header_to_file", path="none/w.gguf"),
            lambda g: begun(g, "flush"),
            lambda g: begun(g).add_custom_alignment(33),
            lambda g: g.GGUFWriter(None, "llama").write_header_to_file(),
        ):
            expected, found = ended(work, real), ended(work, ours)
            with self.subTest(inspect.getsource(work).strip()[:60]):
                self.assertIsInstance(expected, type)
                self.assertEqual(expected, found)

    def test_all_methods(self):
        """Each that gguf has adds the same key, with the same type."""
        enums = {
            "add_rope_scaling_type": ("RopeScalingType", "YARN"),
            "add_pooling_type": ("PoolingType", "CLS"),
            "add_expert_gating_func": ("ExpertGatingFuncType", "SIGMOID"),
        }
        apart = ("add_tensor", "add_chat_template", "add_custom_alignment")
        seen = 0
        for name, method in vars(real.GGUFWriter).items():
            if not name.startswith("add_") or name in apart:
                continue
            parameters = list(inspect.signature(method).parameters)[1:]
            if parameters == ["key", "val"]:
                first = ["key"]
            elif len(parameters) == 2:
                first = [3]  # of base models
            elif len(parameters) == 1:
                first = []
            else:
                continue
            for value in (5, "x", 0.5, True, [1, 2]):
                added = []
                for module in (real, ours):
                    given = value
                    if name in enums:
                        enum, member = enums[name]
                        given = getattr(module, enum)[member]
                    w = module.GGUFWriter(None, "other")
                    ended(getattr(w, name), *first, given)
                    added.append(
                        {
                            key: (each.value, each.type.name, each.sub_type)
                            for key, each in w.kv_data[0].items()
                        }
                    )
                self.compare_added(name, value, *added)
            seen += 1
        self.assertGreater(seen, 190)

    def compare_added(self, name, value, expected, found):
        """Where the value is of the type that the method is for."""
        kind = [row[1] for row in expected.values()][-1]
        wanted = {"STRING": str, "ARRAY": list, "BOOL": bool, "FLOAT32": float}
        if type(value) is wanted.get(kind, int):
            self.assertEqual(expected, found, name)

    def test_parameter_count(self):
        for names in (
            {"a": (3, 4), "x_exps.weight": (8, 3, 4), "x_exps.bias": (8, 3)},
            {"a.lora_a": (4, 64), "a.lora_b": (32, 4)},
            {"a.lora_b": (32, 4)},
            {"y_exps.weight": (8, 3)},
        ):
            counts = []
            for module in (real, ours):
                w = module.GGUFWriter(None, "llama")
                for name, shape in names.items():
                    w.add_tensor(name, numpy.zeros(shape, "f4"))
                counts.append(w.get_total_parameter_count())
            self.assertEqual(*counts)


@needs_numpy
class Appearing(InFolder):
    def test_a_file_is_whole_or_not_there(self):
        path = self.path("w.gguf")
        with open(path, "wb") as file:
            file.write(b"before")
        w = ours.GGUFWriter(path, "llama")
        w.add_tensor_info("a", (3,), numpy.dtype("f4"), 12)
        w.write_header_to_file()
        w.write_kv_data_to_file()
        w.write_ti_data_to_file()
        with self.assertLogs("modelfile.compat.gguf.gguf_writer", "WARNING"):
            w.close()
        self.assertEqual(content(path), b"before")

    def test_dry_run(self):
        w = ours.GGUFWriter(self.path("w.gguf"), "llama", dry_run=True)
        with contextlib.redirect_stdout(None), self.assertRaises(SystemExit):
            w.write_header_to_file()
        self.assertEqual(self.names(), [])

    def test_arguments(self):
        w = ours.GGUFWriter(None, "llama")
        w.add_block_count(length=4)
        self.assertEqual(w.kv_data[0]["llama.block_count"].value, 4)
        self.assertRaises(TypeError, w.add_block_count)
        self.assertRaises(TypeError, w.add_block_count, 1, 2)
        self.assertRaises(TypeError, w.add_base_model_name, "x")


# ---- quants


@needs_real
class Quants(unittest.TestCase):
    def test_encodes_the_same(self):
        rng = numpy.random.default_rng(1)
        x = rng.standard_normal((3, 8, 1024)).astype("f4")
        x[0, 0], x[1], x[2, 3] = 0, x[1] * 1e-6, x[2, 3] * 1e4
        x[0, 1, :5] = -0.0
        seen = []
        for kind in real.GGMLQuantizationType:
            expected = ended(real.quantize, x.copy(), kind)
            if isinstance(expected, type):
                self.assertEqual(expected, NotImplementedError)
                continue
            found = ours.quantize(x, ours.GGMLQuantizationType[kind.name])
            self.assertTrue(same_array(expected, found), kind.name)
            seen.append(kind.name)
        self.assertGreater(len(seen), 9)

    def test_decodes_the_same(self):
        rng = numpy.random.default_rng(2)
        seen = []
        for kind in real.GGMLQuantizationType:
            size = real.GGML_QUANT_SIZES[kind][1]
            data = rng.integers(0, 256, (4, size * 8), dtype="u1")
            with numpy.errstate(all="ignore"):
                expected = ended(real.dequantize, data, kind)
            if isinstance(expected, type):
                self.assertEqual(expected, NotImplementedError)
                continue
            found = ours.dequantize(data, ours.GGMLQuantizationType[kind.name])
            self.assertEqual(
                (found.dtype, found.shape), (expected.dtype, expected.shape)
            )
            # Which NaN a scale that is NaN gives is not said.
            numbers = ~numpy.isnan(expected)
            self.assertTrue((numpy.isnan(found) == ~numbers).all(), kind.name)
            equal = found.view("u4") == expected.view("u4")
            self.assertTrue(equal[numbers].all(), kind.name)
            seen.append(kind.name)
        self.assertGreater(len(seen), 24)

    def test_shapes_and_errors(self):
        for shape in ((64,), (3, 32), (2, 33), (0, 32)):
            for name in ("quant_shape_to_byte_shape", "quant_shape_from_byte_shape"):
                for kind in ("Q4_0", "F32", "Q4_K"):
                    a, b = (
                        ended(getattr(g, name), shape, g.GGMLQuantizationType[kind])
                        for g in (real, ours)
                    )
                    self.assertEqual(a, b, (name, shape, kind))
        odd = numpy.zeros((2, 33), "f4")
        for g in (real, ours):
            with self.assertRaises(g.QuantError):
                g.quantize(odd, g.GGMLQuantizationType.Q8_0)
            with self.assertRaises(ValueError):
                g.dequantize(odd.view("u1"), g.GGMLQuantizationType.Q8_0)
            self.assertEqual(g.quants.Q8_0.block_size, 32)
            self.assertIs(g.quants.Q8_0, g.Q8_0)

    @needs_numpy
    def test_what_needs_weights(self):
        numbers = numpy.zeros((1, 256), "f4")
        with self.assertRaisesRegex(NotImplementedError, "importance"):
            ours.quantize(numbers, ours.GGMLQuantizationType.IQ2_XXS)
        self.assertEqual(
            ours.quantize(numbers, ours.GGMLQuantizationType.Q4_K).shape, (1, 144)
        )


# ---- names and numbers


@needs_real
class Names(unittest.TestCase):
    def test_enums(self):
        for name in (
            *("GGUFValueType", "GGUFEndian", "TokenType", "PoolingType"),
            *("RopeScalingType", "ExpertGatingFuncType", "GGMLQuantizationType"),
            "LlamaFileType",
        ):
            expected, found = (
                number_of(getattr(real, name)),
                number_of(getattr(ours, name)),
            )
            self.assertEqual({**found, **expected}, found, name)
        sizes = {kind.name: size for kind, size in ours.GGML_QUANT_SIZES.items()}
        for kind, size in real.GGML_QUANT_SIZES.items():
            if kind.name == "Q8_1":  # a half more than its block has
                size = (32, 36)
            self.assertEqual(sizes[kind.name], size, kind)

    def test_keys(self):
        def walk(cls, path=()):
            for name, value in vars(cls).items():
                if isinstance(value, type):
                    yield from walk(value, (*path, name))
                elif not name.startswith("_"):
                    yield (*path, name), value

        seen = 0
        for path, value in walk(real.Keys):
            found = ours.Keys
            for name in path:
                found = getattr(found, name)
            self.assertEqual(found, value, path)
            seen += 1
        self.assertGreater(seen, 260)
        for name in dir(real):
            if name.startswith("KEY_"):
                self.assertEqual(getattr(ours, name), getattr(real, name))

    def test_tensors(self):
        for tensor, name in real.TENSOR_NAMES.items():
            self.assertEqual(ours.TENSOR_NAMES[ours.MODEL_TENSOR[tensor.name]], name)
        for arch, name in real.MODEL_ARCH_NAMES.items():
            own = ours.MODEL_ARCH[arch.name]
            self.assertEqual(ours.MODEL_ARCH_NAMES[own], name)
            had = {each.name for each in ours.MODEL_TENSORS[own]}
            expected = {each.name for each in real.MODEL_TENSORS[arch]}
            self.assertEqual(expected - had, set(), name)
            skipped = [each.name for each in real.MODEL_TENSOR_SKIP.get(arch, [])]
            own_skipped = [each.name for each in ours.MODEL_TENSOR_SKIP.get(own, [])]
            self.assertEqual(own_skipped, skipped, name)

    def test_names_of_hugging_face(self):
        seen = 0
        # What gguf has for arctic alone, it has for all that come after it.
        for arch in sorted(real.MODEL_ARCH, key=lambda arch: arch.name == "ARCTIC"):
            expected = real.get_tensor_name_map(arch, 3)
            found = ours.get_tensor_name_map(ours.MODEL_ARCH[arch.name], 3)
            for key, (tensor, name) in expected.mapping.items():
                # What is computed has no row; the second has two meanings.
                if key.endswith("rotary_emb.inv_freq") or "conv.batch_norm" in key:
                    continue
                self.assertIn(key, found, arch)
                kind, own = found.get_type_and_name(key)
                self.assertEqual((kind.name, own), (tensor.name, name), (arch, key))
                seen += 1
        self.assertGreater(seen, 80_000)
        # The last one has names of its own for two tensors, and no others.
        for kind in ("FFN_NORM", "FFN_NORM_EXP"):
            keys = [
                {key for key, (each, _) in names.mapping.items() if each.name == kind}
                for names in (expected, found)
            ]
            self.assertEqual(*keys)
        names = found.get_name("lm_head.weight", (".weight", ".bias"))
        self.assertEqual(
            names, expected.get_name("lm_head.weight", (".weight", ".bias"))
        )
        self.assertIsNone(found.get_name("none"))
        self.assertRaises(KeyError, lambda: found["none"])


@needs_real
class Metadata(InFolder):
    def test_names(self):
        words = (
            "Llama llama Meta 3 3.1 v2 V1.5 8B 7b 1_5b 7b1 8x7B A3B 0.5B 128k 1m "
            "small mini XL Instruct chat vision LoRA lora Q4_K_M f16 bf16 iter3 it DPO "
            "2dpo x7 "
            "-- \u00e9 \u00dcn 2407 hf GGUF 70B 405b a 7bb 3x 1e5"
        ).split()
        rng = random.Random(5)
        for _ in range(4000):
            name = "-".join(rng.choices(words, k=rng.randint(1, 6)))
            if rng.random() < 0.3:
                name = rng.choice(["org/", "./", "a b/", "x/y/", "/"]) + name
            total = rng.choice([0, 0, 8 * 10**9, -(10**7), 7 * 10**9, 5 * 10**5])
            for function, *arguments in (
                ("get_model_id_components", name, total),
                ("id_to_title", name),
            ):
                expected = getattr(real.Metadata, function)(*arguments)
                found = getattr(ours.Metadata, function)(*arguments)
                self.assertEqual(expected, found, (name, total))

    def test_a_folder(self):
        folder = Path(self.path("My-7B-chat"))
        folder.mkdir()
        config = {"_name_or_path": "org/Base-8x7B-Instruct-v0.1"}
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "generation_config.json").write_text(
            json.dumps({"temperature": 0.5, "top_k": 40, "penalty_repeat": 1.1})
        )
        (folder / "README.md").write_text(
            "---\nlicense: mit\nlanguage:\n- en\n- no\ntags:\n\t- a\n"
            "base_model: x/Y-3B\ndatasets:\n  - name: q\n    uuid: z\n---\nbody\n---\n"
        )
        keys = folder / "keys.json"
        keys.write_text(
            json.dumps(
                {
                    "general.name": "Other",
                    "general.license": "L",
                    "general.tags": None,
                    "general.sampling.temp": 0.25,
                    "general.base_models": [{"name": "b"}],
                }
            )
        )
        for options in (
            {},
            {"model_name": "Given", "total_params": 8 * 10**9},
            {"metadata_override_path": keys},
        ):
            expected, found = (
                self.loaded(module, model_path=folder, **options)
                for module in (real, ours)
            )
            self.assertEqual(expected, found)
        (folder / "generation_config.json").write_text("{not JSON")
        (folder / "README.md").unlink()
        expected, found = (self.loaded(g, model_path=folder) for g in (real, ours))
        self.assertEqual(expected, found)

    def loaded(self, module, **options):
        metadata = module.Metadata.load(**options)
        writer = module.GGUFWriter(None, "llama")
        metadata.set_gguf_meta_model(writer)
        values = [(k, v.value, int(v.type)) for k, v in writer.kv_data[0].items()]
        return dataclasses.asdict(metadata), values

    def test_sizes_and_files(self):
        for count in (
            1,
            5,
            999,
            1000,
            12345,
            949999,
            10**6,
            9500000,
            10**9,
            3 * 10**12,
        ):
            for digits in (1, 2, 3):
                a, b = (
                    g.model_weight_count_rounded_notation(count, digits)
                    for g in (real, ours)
                )
                self.assertEqual(a, b)
            for counts in ((count, count // 2, count // 3, 8), (-count, count, 0, 0)):
                self.assertEqual(real.size_label(*counts), ours.size_label(*counts))
        for parts in (
            ("a b", None, None, None, None, None),
            ("x", "Base x", "it", "v1", "7B", "F16", "LoRA"),
            (None, None, "it", None, "7B", None),
        ):
            self.assertEqual(
                real.naming_convention(*parts), ours.naming_convention(*parts)
            )
        for name in ("a-{ftype}.gguf", "{outtype}{OUTTYPE}{FTYPE}x", "plain"):
            for kind in ("F16", None):
                self.assertEqual(
                    real.fill_templated_filename(name, kind),
                    ours.fill_templated_filename(name, kind),
                )


if __name__ == "__main__":
    unittest.main()
