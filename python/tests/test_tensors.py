# SPDX-License-Identifier: MIT
"""Numbers of tensors, against numpy, torch, gguf and safetensors of PyPI."""

import io
import os
import struct
import unittest
import warnings

import modelfile
from support import InFolder, fixture, good, needs_numpy, needs_torch, numpy, torch

try:
    import gguf
except ImportError:
    gguf = None
try:
    import safetensors
except ImportError:
    safetensors = None
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None


def bits(array):
    """The bytes of an array, whatever its type."""
    return numpy.ascontiguousarray(array).tobytes()


@needs_numpy
class Arrays(InFolder):
    def test_a_view_of_the_file(self):
        path = fixture("good-llama.gguf")
        with modelfile.open(path) as m, open(path, "rb") as file:
            for tensor in m.tensors.values():
                file.seek(tensor.offset)
                data = file.read(tensor.nbytes)
                self.assertTrue(tensor.mappable)
                array = tensor.numpy(copy=False)
                self.assertFalse(array.flags.writeable)
                self.assertEqual(bits(array), data)
                self.assertEqual(bytes(tensor.data), data)
                self.assertEqual(tensor.tobytes(), data)
                mine = tensor.numpy(copy=True)
                self.assertTrue(mine.flags.writeable)
                self.assertEqual(bits(mine), data)
                self.assertEqual(array.dtype, tensor.dtype)
        self.assertEqual(bits(array), data)  # the model is closed

    def test_a_view_of_the_file_that_was_opened(self):
        path = self.copy("good-llama.gguf")
        with modelfile.open(path) as m:
            tensor = m.tensors["output_norm.weight"]
            before = tensor.tobytes()
            with open(self.path("other"), "wb") as file:
                file.write(bytes(os.path.getsize(path)))
            os.replace(self.path("other"), path)
            self.assertEqual(bits(tensor.numpy(copy=False)), before)

    def test_a_file_that_was_cut_off(self):
        path = self.copy("good-llama.gguf")
        with modelfile.open(path) as m:
            os.truncate(path, os.path.getsize(path) - 1)
            with self.assertRaises(modelfile.Error):
                list(m.tensors.values())[-1].numpy()

    def test_touches_nothing(self):
        path = self.path("large.safetensors")
        size = 1 << 30
        header = b'{"w":{"dtype":"F32","shape":[268435456],"data_offsets":[0,1073741824]}}'
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            file.truncate(8 + len(header) + size)

        def resident():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * 4096

        with modelfile.open(path) as m:
            m.tensors["w"].dtype
            before = resident()
            array = m.tensors["w"].numpy()
            self.assertEqual((array.shape, array.dtype), ((268435456,), numpy.float32))
            self.assertLess(resident() - before, 1 << 20)
            self.assertEqual(m.usage.bytes_read, m.data_offset)

    def test_type_of_each(self):
        for name, kind in (("f32", "float32"), ("i8", "int8"), ("u16", "uint16")):
            self.assertEqual(modelfile._arrays.dtype(name), numpy.dtype(kind))
        for row in modelfile.types():
            kind = modelfile._arrays.dtype(row.name)
            if row.block == 1 and row.name != "apr_q8":
                self.assertEqual(kind.itemsize, row.size, row.name)
            else:
                self.assertEqual(kind, numpy.uint8)

    def test_bits_come_with_a_word(self):
        with modelfile.open(fixture("good-dtypes.safetensors")) as m:
            found = [t for t in m.tensors.values() if t.type == "bf16"]
            self.assertTrue(found)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                array = found[0].numpy()
            words = [str(each.message) for each in caught]
            if ml_dtypes:
                self.assertEqual(words, [])
                self.assertEqual(array.dtype.name, "bfloat16")
            else:
                self.assertEqual(array.dtype, numpy.uint16)
                self.assertRegex(words[0], "bits of bf16")

    def test_protocols(self):
        with modelfile.open(fixture("good-llama.gguf")) as m:
            tensor = m.tensors["output_norm.weight"]
            array = tensor.numpy()
            self.assertTrue((numpy.asarray(tensor) == array).all())
            self.assertEqual(numpy.asarray(tensor, "float64").dtype, numpy.float64)
            self.assertTrue((numpy.from_dlpack(tensor) == array).all())
            if hasattr(memoryview, "_from_flags") or __import__("sys").version_info >= (3, 12):
                self.assertEqual(bytes(memoryview(tensor)), array.tobytes())
            self.assertEqual(len(tensor), tensor.shape[0])

    def test_numbers_of_another_type(self):
        with modelfile.open(fixture("good-llama.gguf")) as m:
            tensor = m["blk.0.attn_q.weight"]
            self.assertEqual(bits(numpy.asarray(tensor, "f4")), bits(tensor.dequantize()))
            self.assertEqual(bits(numpy.asarray(tensor)), tensor.tobytes())

    def test_wrong_use(self):
        with modelfile.open(fixture("good-llama.gguf")) as m:
            tensor = m.tensors["blk.0.attn_q.weight"]
            for error, use in (
                (ValueError, lambda: tensor.rows(0, 33)),
                (ValueError, lambda: tensor.rows(-1, 3)),
                (ValueError, lambda: tensor.rows(3, 2)),
                (TypeError, lambda: tensor.dequantize("int32")),
                (TypeError, lambda: tensor.dequantize("no type")),
                (TypeError, lambda: tensor.read_into(bytes(10))),
                (ValueError, lambda: tensor.read_into(bytearray(10), 10**9)),
                (ValueError, lambda: tensor.read_into(bytearray(10), -1)),
                (modelfile.UnsupportedError, lambda: tensor.dequantize("int64")),
                (KeyError, lambda: m.tensors["none"]),
                (TypeError, lambda: m.tensors[1]),
                (IndexError, lambda: m.tensors.at(21)),
                (IndexError, lambda: m.tensors.at(-1)),
            ):
                with self.assertRaises(error):
                    use()
            self.assertNotIn("none", m.tensors)
            self.assertNotIn(1, m.tensors)

    def test_an_unknown_type(self):
        with open(fixture("good-v2.gguf"), "rb") as file:
            data = bytearray(file.read())
        with modelfile.open_memory(bytes(data)) as m:
            self.assertEqual(m["b.weight"].type, "f32")
        at = data.index(b"b.weight") + 8
        data[at + 4 : at + 16] = struct.pack("<QI", 8796093022214, 127)
        with modelfile.open_memory(data) as m:
            self.assertEqual(m["b.weight"].type, "type_127")
            for use in (m["b.weight"].dequantize, lambda: m["b.weight"].rows(0, 9)):
                with self.assertRaises(modelfile.UnsupportedError):
                    use()

    def test_rows(self):
        with modelfile.open(fixture("good-llama.gguf")) as m:
            tensor = m.tensors["blk.0.attn_q.weight"]
            whole = tensor.dequantize()
            for first, last in ((0, 32), (0, 0), (5, 7), (31, 32)):
                self.assertEqual(bits(tensor.rows(first, last)), bits(whole[first:last]))
            half = tensor.dequantize("F16")
            self.assertEqual(bits(tensor.dequantize("f32")), bits(whole))
            self.assertEqual(bits(half), bits(whole.astype("float16")))

    def test_dequantize_is_exact(self):
        for path in good(".gguf", ".safetensors", ".apr", ".npz", ".npy", ".pt"):
            with modelfile.open(path) as m:
                for tensor in m.tensors.values():
                    if tensor.type not in modelfile._arrays.PLAIN or tensor.damaged:
                        continue
                    if tensor.type in ("c64",):
                        continue
                    array = tensor.numpy()
                    kind = "int64" if tensor.type[0] in "ui" else "float64"
                    if tensor.type == "u64":
                        continue
                    with numpy.errstate(all="ignore"):
                        there = array.astype(kind)
                    self.assertEqual(bits(tensor.dequantize(kind)), bits(there), path)

    def test_empty_and_scalar(self):
        for path in good(".gguf", ".safetensors", ".npz", ".npy"):
            with modelfile.open(path) as m:
                for tensor in m.tensors.values():
                    array = tensor.numpy()
                    if tensor.type in modelfile._arrays.PLAIN:
                        self.assertEqual(array.shape, tensor.shape)
                        self.assertEqual(array.size, tensor.size)
                    self.assertEqual(array.nbytes, tensor.nbytes)


@needs_numpy
class AsOthers(unittest.TestCase):
    @unittest.skipIf(gguf is None, "no gguf of PyPI")
    def test_gguf(self):
        seen = 0
        for path in good(".gguf"):
            try:
                theirs = gguf.GGUFReader(path)
            except Exception:
                continue  # big-endian types and the like that it does not read
            with modelfile.open(path, shards="alone") as m:
                self.assertEqual([t.name for t in theirs.tensors], m.tensors.names(), path)
                for each in theirs.tensors:
                    mine = m.tensors[each.name]
                    self.assertEqual(mine.type, each.tensor_type.name.lower(), path)
                    if mine.size and m.byte_order == "little":
                        seen += 1
                        self.assertEqual(bits(mine.numpy(True)), bits(each.data), path)
        self.assertGreater(seen, 300)

    @unittest.skipIf(gguf is None, "no gguf of PyPI")
    def test_metadata_of_gguf(self):
        def same(a, b):
            if isinstance(b, (list, modelfile.Array)):
                return len(a) == len(b) and all(map(same, a, b))
            return a == b or (a != a and b != b)

        seen = 0
        for path in good(".gguf"):
            try:
                theirs = gguf.GGUFReader(path)
            except Exception:
                continue
            with modelfile.open(path, shards="alone") as m:
                for key, field in theirs.fields.items():
                    if key.startswith("GGUF."):
                        continue
                    if len(field.types) > 2 or (
                        field.types[0] == gguf.GGUFValueType.ARRAY and not len(field.data)
                    ):
                        continue  # it has no contents of these
                    try:
                        value = field.contents()
                    except UnicodeDecodeError:
                        continue
                    mine = m.metadata[key]
                    mine = mine.tolist() if isinstance(mine, modelfile.Array) else mine
                    seen += 1
                    self.assertTrue(same(mine, value), f"{path} {key}: {mine} {value}")
        self.assertGreater(seen, 200)

    @unittest.skipIf(safetensors is None, "no safetensors of PyPI")
    def test_safetensors(self):
        from safetensors.numpy import load_file

        seen = 0
        for path in good(".safetensors"):
            try:
                theirs = load_file(path)
            except Exception:
                continue  # types that numpy lacks
            with modelfile.open(path) as m:
                self.assertEqual(set(theirs), set(m.tensors), path)
                for name, array in theirs.items():
                    seen += 1
                    mine = m.tensors[name].numpy(True)
                    self.assertEqual((mine.shape, bits(mine)), (array.shape, bits(array)))
        self.assertGreater(seen, 20)

    def test_numpy(self):
        seen = 0
        for path in good(".npz", ".npy"):
            try:
                theirs = numpy.load(path)
            except ValueError:
                continue  # a header of Python 2
            theirs = dict(theirs) if path.endswith("z") else {None: theirs}
            with modelfile.open(path) as m:
                for name, array in theirs.items():
                    mine = m.tensors[name] if name else m.tensors.at(0)
                    if mine.type not in modelfile._arrays.PLAIN:
                        continue
                    seen += 1
                    found = mine.numpy()
                    self.assertEqual(found.shape, array.shape, path)
                    self.assertEqual(bits(found), bits(array.astype(found.dtype)), path)
        self.assertGreater(seen, 10)

    @needs_torch
    def test_torch(self):
        seen = 0
        for path in good(".pt", ".pth", ".bin"):
            try:
                theirs = torch.load(path, map_location="cpu", weights_only=True)
            except Exception:
                continue  # pickles that name classes
            if not isinstance(theirs, dict):
                continue
            with modelfile.open(path) as m:
                for name, tensor in theirs.items():
                    if not isinstance(tensor, torch.Tensor) or name not in m.tensors:
                        continue
                    if tensor.is_sparse or tensor.is_quantized:
                        continue
                    mine = m.tensors[name].torch()
                    seen += 1
                    self.assertEqual(mine.dtype, tensor.dtype, path)
                    self.assertEqual(mine.shape, tensor.shape, path)
                    view = torch.uint8
                    self.assertTrue(
                        torch.equal(
                            mine.contiguous().reshape(-1).view(view),
                            tensor.contiguous().reshape(-1).view(view),
                        ),
                        f"{path} {name}",
                    )
        self.assertGreater(seen, 5)

    @needs_torch
    def test_torch_views(self):
        with modelfile.open(fixture("good-llama.gguf")) as m:
            tensor = m.tensors["output_norm.weight"]
            mine = tensor.torch()
            before = mine[0].item()
            mine[0] = before + 1  # in memory alone
            self.assertEqual(tensor.numpy()[0], before)
            self.assertTrue(torch.equal(torch.from_dlpack(tensor)[1:], mine[1:]))


@needs_numpy
class Codecs(unittest.TestCase):
    def rows(self, *shape, seed=1):
        return numpy.random.default_rng(seed).standard_normal(shape, "float32")

    def test_as_the_library_quantizes(self):
        """Row by row by the kernel of one row, whatever the threads."""
        import ctypes

        from modelfile import _abi
        from modelfile._library import lib

        rows = self.rows(6, 512)
        weights = abs(self.rows(512, seed=2))
        for row in modelfile.types():
            kernel = _abi.mf_kernel()
            name = row.name.encode()
            if not lib.mf_kernel_find(name, b"portable", ctypes.byref(kernel)):
                continue
            if not kernel.encode or kernel.prefix:
                continue
            expected = numpy.empty((6, 512 // row.block * row.size), "uint8")
            for i in range(6):
                kernel.encode(
                    rows[i].ctypes.data_as(ctypes.POINTER(ctypes.c_float))
                    if not isinstance(rows[i].ctypes.data, int)
                    else rows[i].ctypes.data,
                    weights.ctypes.data,
                    expected[i].ctypes.data,
                    512,
                )
            for threads in (1, 2, 3):
                mine = modelfile.quantize_array(rows, row.name, weights, threads=threads)
                self.assertEqual(bits(mine), bits(expected), row.name)

    @unittest.skipIf(gguf is None, "no gguf of PyPI")
    def test_as_gguf(self):
        rows = self.rows(4, 3, 256)
        for kind in gguf.GGMLQuantizationType:
            name = kind.name.lower()
            if modelfile.find_type(name) is None:
                continue
            try:
                theirs = gguf.quants.quantize(rows, kind)
            except NotImplementedError:
                continue
            if name in ("f32", "f16", "f64", "bf16", "i8", "i16", "i32", "i64"):
                continue
            data = numpy.frombuffer(bits(theirs), "uint8").reshape(4, 3, -1)
            back = gguf.quants.dequantize(data, kind)
            self.assertEqual(bits(modelfile.dequantize_array(data, name)), bits(back), name)

    def test_shapes(self):
        rows = self.rows(2, 5, 64)
        blocks = modelfile.quantize_array(rows, "q8_0")
        self.assertEqual(blocks.shape, (2, 5, 68))
        back = modelfile.dequantize_array(blocks, "q8_0")
        self.assertEqual(back.shape, rows.shape)
        again = modelfile.dequantize_array(blocks.tobytes(), "Q8_0", (2, 5, 64))
        self.assertEqual(bits(again), bits(back))
        self.assertEqual(modelfile.quantize_array(rows[:, ::2], "q8_0").shape, (2, 3, 68))
        self.assertEqual(modelfile.quantize_array(rows[:0], "q8_0").shape, (0, 5, 68))
        self.assertEqual(modelfile.dequantize_array(b"", "q8_0", (0, 32)).shape, (0, 32))
        one = modelfile.quantize_array(rows[0, 0], "q8_0")
        self.assertEqual(one.shape, (68,))
        there = numpy.zeros_like(blocks)
        self.assertIs(modelfile.quantize_array(rows, "q8_0", out=there), there)
        self.assertEqual(bits(there), bits(blocks))
        whole = modelfile.quantize_array(self.rows(4, 8), "apr_q8")
        self.assertEqual(whole.shape, (36,))
        self.assertEqual(
            modelfile.dequantize_array(whole, "apr_q8", (4, 8)).shape, (4, 8)
        )

    def test_wrong_arguments(self):
        rows = self.rows(2, 64)
        blocks, wide = numpy.empty((2, 68), "u1"), numpy.empty((2, 136), "u1")
        memory = numpy.empty(128, "f4")
        blocks, over = memory.view("u1")[:136].reshape(2, 68), memory.reshape(2, 64)
        fixed = blocks.copy()
        fixed.flags.writeable = False
        for error, use in (
            (TypeError, lambda: modelfile.quantize_array([1.0], "q8_0")),
            (TypeError, lambda: modelfile.quantize_array(rows.astype("f8"), "q8_0")),
            (TypeError, lambda: modelfile.quantize_array(rows, 8)),
            (ValueError, lambda: modelfile.quantize_array(rows, "q9_9")),
            (ValueError, lambda: modelfile.quantize_array(rows[:, :33], "q8_0")),
            (ValueError, lambda: modelfile.quantize_array(numpy.array(1, "f4"), "q8_0")),
            (ValueError, lambda: modelfile.quantize_array(self.rows(2, 256), "iq2_xxs")),
            (ValueError, lambda: modelfile.quantize_array(rows, "q8_0", rows[0, :3])),
            (ValueError, lambda: modelfile.quantize_array(rows, "q8_0", isa="mmx")),
            (ValueError, lambda: modelfile.quantize_array(rows, "q8_0", threads=-1)),
            (TypeError, lambda: modelfile.dequantize_array(rows, "q8_0")),
            (ValueError, lambda: modelfile.dequantize_array(b"123", "q8_0")),
            (ValueError, lambda: modelfile.dequantize_array(b"123", "q8_0", (32,))),
            (ValueError, lambda: modelfile.dequantize_array(bytes(34), "q8_0", (33,))),
            (ValueError, lambda: modelfile.dequantize_array(bytes(34), "q8_0", (-1, 32))),
            (TypeError, lambda: modelfile.dequantize_array("text", "q8_0", (32,))),
            (TypeError, lambda: modelfile.quantize_array(rows, "q8_0", out=rows)),
            (ValueError, lambda: modelfile.quantize_array(rows, "q8_0", out=blocks[1:])),
            (ValueError, lambda: modelfile.quantize_array(rows, "q8_0", out=wide[:, ::2])),
            (ValueError, lambda: modelfile.quantize_array(rows, "q8_0", out=fixed)),
            (ValueError, lambda: modelfile.dequantize_array(blocks, "q8_0", out=over)),
            (ValueError, lambda: modelfile.dequantize_array(b"xx", "q8_0", (0,))),
        ):
            with self.assertRaises(error):
                use()


if __name__ == "__main__":
    unittest.main()
