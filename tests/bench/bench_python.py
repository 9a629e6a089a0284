# SPDX-License-Identifier: MIT
"""bench_python.py - what the Python package costs, as ratios in one run

    python3 tests/bench/bench_python.py build/modelfile

Times are the processor's (user and system), the least of several rounds.  Peers
that are not installed (gguf, safetensors, numpy) are named, and left out.
"""

import array
import json
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time


def spent(who=resource.RUSAGE_SELF):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def least(work, rounds):
    """Milliseconds of the processor."""
    best = float("inf")
    for _ in range(rounds):
        before = spent()
        work()
        best = min(best, spent() - before)
    return best * 1000


def interpreter(code, rounds=20):
    """Milliseconds of a process that runs the code."""
    best = float("inf")
    for _ in range(rounds):
        before = spent(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        best = min(best, spent(resource.RUSAGE_CHILDREN) - before)
    return best * 1000


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def vocabulary(path, count=150000, tensors=300):
    """A GGUF file of many tokens."""
    keys = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("tokenizer.ggml.tokens")
        + struct.pack("<IIQ", 9, 8, count)
        + b"".join(text(f"token{i}") for i in range(count)),
        text("tokenizer.ggml.scores")
        + struct.pack("<IIQ", 9, 6, count)
        + struct.pack(f"<{count}f", *range(count)),
    ]
    rows = [
        text(f"blk.{i}.weight") + struct.pack("<IQQIQ", 2, 32, 32, 0, i * 4096)
        for i in range(tensors)
    ]
    head = b"GGUF" + struct.pack("<IQQ", 3, tensors, len(keys)) + b"".join(keys + rows)
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32) + bytes(tensors * 4096))


def many(path, count=20000):
    """A safetensors file of many tensors."""
    header = {
        f"model.layers.{i // 200}.mlp.experts.{i % 200}.down_proj.weight": {
            "dtype": "F32",
            "shape": [2, 4],
            "data_offsets": [i * 32, i * 32 + 32],
        }
        for i in range(count)
    }
    data = json.dumps(header, separators=(",", ":")).encode()
    data += b" " * (-len(data) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(data)) + data + bytes(count * 32))


def anonymous():
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("RssAnon"):
                return int(line.split()[1])
    return 0


def line(name, value, note=""):
    print(f"  {name:46s} {value:>12s}  {note}".rstrip(), flush=True)


def importing():
    empty = interpreter("pass")
    for code in ("import modelfile", "import modelfile; modelfile.open"):
        line(code, f"{interpreter(code) - empty:.1f} ms", "over an empty interpreter")


def listing(folder):
    import modelfile

    path = f"{folder}/vocabulary.gguf"
    vocabulary(path)

    def ours():
        with modelfile.open(path) as m:
            return list(m.tensors)

    ours()
    mine = least(ours, 20)
    before = anonymous()
    m = modelfile.open(path)
    list(m.tensors)
    grown = anonymous() - before
    m.close()
    line("list a GGUF file of 150,000 tokens", f"{mine:.2f} ms", f"memory {grown} KiB")
    try:
        import gguf

        theirs = least(lambda: [t.name for t in gguf.GGUFReader(path).tensors], 2)
        line("  gguf.GGUFReader / modelfile", f"{theirs / mine:.0f}", f"{theirs:.0f} ms")
    except ImportError:
        line("  gguf.GGUFReader", "-", "not installed")
    path = f"{folder}/many.safetensors"
    many(path)

    def names():
        with modelfile.open(path) as m:
            return list(m.tensors)

    mine = least(names, 10)
    line("list safetensors of 20,000 tensors", f"{mine:.2f} ms")
    try:
        from safetensors import safe_open

        def theirs():
            with safe_open(path, "np") as file:
                return list(file.keys())

        ratio = least(theirs, 10) / mine
        line("  safe_open / modelfile", f"{ratio:.2f}")
    except ImportError:
        line("  safe_open", "-", "not installed")


def quantizing(folder, program):
    """The package and the command in turn, on one thread."""
    import modelfile

    source, out = f"{folder}/source.gguf", f"{folder}/out.gguf"
    chance = random.Random(1)
    piece = array.array("f", (chance.gauss(0, 1) for _ in range(1 << 18))).tobytes()
    with modelfile.Writer(source, metadata={"general.architecture": "llama"}) as w:
        for i in range(8):
            w.add(f"blk.{i}.ffn_down.weight", (1024, 4096), "f32")
        for i in range(8):
            w.write(f"blk.{i}.ffn_down.weight", piece * 16)

    def command():
        words = ["quantize", source, out, "Q4_0", "-t", "1", "--force", "-q"]
        words += ["--pure", "--progress", "never"]
        subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL)

    def ours():
        modelfile.quantize(source, out, "Q4_0", pure=True, threads=1, replace=True)

    mine = theirs = float("inf")
    for _ in range(7):
        before = spent()
        ours()
        mine = min(mine, spent() - before)
        before = spent(resource.RUSAGE_CHILDREN)
        command()
        theirs = min(theirs, spent(resource.RUSAGE_CHILDREN) - before)
    line("quantize 128 MiB: package / command", f"{mine / theirs:.3f}")


def coding():
    """An array of 4 MiB against the codec itself, on one thread."""
    import ctypes

    import numpy

    import modelfile
    from modelfile import _abi
    from modelfile._env import Env
    from modelfile._library import lib

    env = Env(threads=1)
    rows = numpy.random.default_rng(1).standard_normal((1024, 1024), "float32")
    for name in ("q8_0", "q4_k", "f16", "q6_k"):
        kernel = _abi.mf_kernel()
        lib.mf_kernel_find(name.encode(), None, ctypes.byref(kernel))
        size = 1024 // kernel.block * kernel.size
        blocks = numpy.empty((1024, size), "uint8")
        at, to = rows.ctypes.data, blocks.ctypes.data
        back = numpy.empty_like(rows)

        def direct(kernel=kernel, to=to, back=back):
            kernel.decode(to, back.ctypes.data, rows.size)

        def ours(name=name, blocks=blocks, back=back):
            modelfile.dequantize_array(blocks, name, out=back, threads=1)

        def encode(kernel=kernel, to=to, size=size):
            for i in range(0, 1024, 64):  # few calls, of rows that fit a cache
                lib.mf_env_encode_rows(
                    env.handle, ctypes.byref(kernel), at + i * 4096, 64, 1024, None,
                    to + i * size,
                )

        def our_encode(name=name, blocks=blocks):
            modelfile.quantize_array(rows, name, out=blocks, threads=1)

        for word, one, other in (
            ("encode", our_encode, encode),
            ("decode", ours, direct),
        ):
            mine = theirs = float("inf")
            for _ in range(25):
                mine, theirs = min(mine, timed(one)), min(theirs, timed(other))
            speed = f"{rows.nbytes / mine / 1e9:.2f} GB/s of f32"
            line(f"{word} 4 MiB of {name}: call / codec", f"{mine / theirs:.3f}", speed)


def timed(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main():
    program = sys.argv[1]
    print(f"Python {sys.version.split()[0]}")
    importing()
    with tempfile.TemporaryDirectory() as folder:
        listing(folder)
        quantizing(folder, program)
    try:
        coding()
    except ImportError:
        line("arrays", "-", "no numpy")


if __name__ == "__main__":
    main()
