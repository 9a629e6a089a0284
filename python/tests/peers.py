# SPDX-License-Identifier: MIT
"""peers.py - the tests of gguf and safetensors, with modelfile.compat in their place

    python3 python/tests/peers.py

Fetches their sources into BUILD/peers (build), by pip and npm, and runs their
tests with pytest, where `import gguf` and `import safetensors` mean the modules
of modelfile.compat.  Says in TAP what they found, a line for each test; what is
left out is in peers.txt, with the reason.  Nothing that is fetched is kept in the
tree.

The interpreter is READ_PYTHON's, or this one; tests of safetensors need one with
torch.  numpy, pytest and fsspec are fetched if they are missing.  gguf's
test_quants compares with ggml itself, in a library of npm's package for x86-64;
PEERS_FULL=1 compares as many numbers as the test does, a minute more, and
not a 128th of them.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
BUILD = Path(os.environ.get("BUILD", "build")).resolve()
PEERS = BUILD / "peers"
PYTHON = os.environ.get("READ_PYTHON") or sys.executable

SAFETENSORS = "safetensors-0.8.0.tar.gz"
LLAMA = "node-llama-cpp-3.22.1.tgz"  # has the sources of llama.cpp v0.5.0
GGML = "node-llama-cpp-linux-x64-3.22.1.tgz"
DIGESTS = {
    SAFETENSORS: "fabaf3e0f18a6618d9b36560682562157f77c2b71fcffc7b432be2baed9d753d",
    LLAMA: "a0d9dd80eacd2ab1cfe71aee57ac8a806487fd70b3d2a38fbec637752d9e5c5f",
    GGML: "0d953e1503d5ab4608d8ed5b739132308c81ac05ffeb760d2a7f30e08a9f90e0",
}

# The module that pytest loads first.
HOOK = """
import modelfile.compat
modelfile.compat.install("gguf", "safetensors")
"""

# test_quants.py logs what it finds; here every line of it is a test.
QUANTS = """
import logging, pathlib, sys
import numpy, peers_hook, test_quants
if sys.argv[2] != "full":
    randn = numpy.random.randn
    numpy.random.randn = lambda *shape: randn(1, 64, 1024)
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
test_quants.do_test(pathlib.Path(sys.argv[1]))
"""


class Missing(Exception):
    """What cannot be had here."""


# ---- TAP


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def line(self, good, label, directive="", notes=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {label}{directive}")
        for text in notes.splitlines():
            print(f"# {text}")
        sys.stdout.flush()

    def skip(self, label, reason):
        self.line(True, label, " # SKIP " + " ".join(reason.split()))


# ---- fetching


def run(*words, **options):
    return subprocess.run(
        [str(word) for word in words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        errors="replace",
        **options,
    )


def fetched(name, *words, **options):
    """The path of an archive, by a command that puts it into PEERS."""
    path = PEERS / name
    if not path.exists():
        try:
            found = run(*words, cwd=PEERS, **options)
        except FileNotFoundError:
            raise Missing(f"there is no {words[0]}") from None
        if not path.exists():
            said = found.stdout.strip().split("\n")[-1]
            raise Missing(f"{name} cannot be fetched: {said}")
    if hashlib.sha256(path.read_bytes()).hexdigest() != DIGESTS[name]:
        raise SystemExit(f"{path}: other bytes than those that were tested")
    return path


def safetensors_sources():
    """pip wants to know the dependencies of a source before it is content with
    having it, and would build the builder for that: this one knows them."""
    builder = PEERS / "builder"
    builder.mkdir(exist_ok=True)
    (builder / "maturin.py").write_text(
        "import os\n"
        "def prepare_metadata_for_build_wheel(folder, settings=None):\n"
        "    name = 'safetensors-0.8.0.dist-info'\n"
        "    os.mkdir(os.path.join(folder, name))\n"
        "    with open(os.path.join(folder, name, 'METADATA'), 'w') as file:\n"
        "        file.write('Metadata-Version: 2.1\\nName: safetensors\\n')\n"
        "        file.write('Version: 0.8.0\\n')\n"
        "    return name\n"
    )
    archive = fetched(
        SAFETENSORS,
        *(PYTHON, "-m", "pip", "-q", "download", "--no-deps", "--no-binary", ":all:"),
        *("--no-build-isolation", "safetensors==0.8.0"),
        env={**os.environ, "PYTHONPATH": str(builder)},
    )
    folder = PEERS / "safetensors"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.unpack_archive(archive, folder)
    return next(folder.glob("*/bindings/python"))


def npm(name, package):
    archive = fetched(name, "npm", "pack", "-s", package)
    folder = PEERS / name.replace(".tgz", "")
    if not folder.exists():
        shutil.unpack_archive(archive, folder)
    return folder / "package"


def gguf_sources():
    package = npm(LLAMA, "node-llama-cpp@3.22.1")
    folder = PEERS / "llama.cpp"
    if not (folder / "gguf-py/tests").exists():
        shutil.rmtree(folder, ignore_errors=True)
        git = ("git", "-C", folder)
        for words in (
            ("git", "clone", "-q", "-n", package / "llama/gitRelease.bundle", folder),
            (*git, "checkout", "-q", "HEAD", "--", "gguf-py/tests"),
        ):
            try:
                found = run(*words)
            except FileNotFoundError:
                raise Missing("there is no git") from None
            if found.returncode:
                raise SystemExit(f"{words}: {found.stdout}")
    return folder / "gguf-py"


def python(*words):
    """The interpreter, in a folder where it finds no modules by chance."""
    return run(PYTHON, *words, cwd=PEERS / "lib", env=environment())


def has(module):
    return python("-c", f"import {module}").returncode == 0


def library():
    """Where packages for the interpreter go."""
    tag = run(PYTHON, "-c", "import sys; print(sys.implementation.cache_tag)").stdout
    return PEERS / "lib" / tag.strip()


def environment():
    """The package that is tested, what was fetched, and the hook."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [Path(path).resolve() for path in given if path] or [BUILD / "python"]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, [*paths, PEERS, library()])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_LOCAL_GGUF": "1",  # else gguf's tests import their own gguf
    }


def need_packages():
    missing = [name for name in ("numpy", "pytest", "fsspec") if not has(name)]
    if missing:
        run(PYTHON, "-m", "pip", "-q", "install", "-t", library(), *missing)
    for name in missing:
        if not has(name):
            raise Missing(f"{name} is not installed, and cannot be fetched")


# ---- running


def left_out(peer):
    """{a file, or a test of it: why}"""
    out = {}
    for line in (HERE / "peers.txt").read_text("utf-8").split("\n"):
        if line and not line.startswith("#"):
            name, test, reason = line.split(None, 2)
            if name == peer:
                out[test] = reason
    return out


def cases(report):
    """(file::class::test, "ok", "skipped" or "failed", text) of a JUnit report."""
    for case in ElementTree.parse(report).iter("testcase"):
        path = case.get("classname", "").split(".")
        path = path[path.index("tests") + 1 :] if "tests" in path else path
        name = "::".join([*(path[:1] or [""]), *path[1:], case.get("name", "")])
        name = re.sub(r"^(\w+)", r"\1.py", name)
        ended, text = "ok", ""
        for child in case:
            if child.tag in ("failure", "error"):
                ended, text = "failed", child.text or child.get("message", "")
            elif child.tag == "skipped":
                ended, text = "skipped", child.get("message", "")
        yield name, ended, text


def run_pytest(tap, peer, folder):
    """The tests in a folder, those that are left out as such."""
    without = left_out(peer)
    for test, reason in without.items():
        file = folder / "tests" / test.split("::")[0]
        parts = test.split("::")[1:]
        if not file.exists() or not all(part in file.read_text() for part in parts):
            tap.line(False, f"{peer}: peers.txt names a test that is not there: {test}")
        else:
            tap.skip(f"{peer}: {test}", f"left out: {reason}")
    options = [
        f"--deselect=tests/{test}" if "::" in test else f"--ignore=tests/{test}"
        for test in without
    ]
    report = PEERS / f"{peer}.xml"
    if report.exists():
        report.unlink()
    said = run(
        *(PYTHON, "-m", "pytest", "-q", "-p", "peers_hook", "-p", "no:cacheprovider"),
        *(f"--junitxml={report}", "-W", "ignore", *options, "tests"),
        cwd=folder,
        env=environment(),
    ).stdout
    if not report.exists():
        tap.line(False, f"{peer}: pytest ends with a report", notes=said)
        return
    for name, ended, text in cases(report):
        if ended == "skipped":
            tap.skip(f"{peer}: {name}", text)
        else:
            tap.line(ended == "ok", f"{peer}: {name}", notes=text)
    print(f"# {peer}: {said.strip().split(chr(10))[-1].strip('= ')}")


def exchanged(tap):
    """That the hook does what the rest relies on."""
    code = """
import peers_hook, gguf, safetensors.numpy
print(gguf.__name__, safetensors.numpy.__name__)
"""
    said = python("-c", code).stdout
    wanted = "modelfile.compat.gguf modelfile.compat.safetensors.numpy"
    good = said.strip() == wanted
    tap.line(good, "both imports mean modelfile.compat", notes="" if good else said)


def run_quants(tap, folder):
    """gguf's test_quants: each type against the library of ggml."""
    label = "gguf: test_quants.py"
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        tap.skip(label, "npm has ggml for Linux on x86-64 alone, as this test takes it")
        return
    try:
        package = npm(GGML, "@node-llama-cpp/linux-x64@3.22.1")
    except Missing as missing:
        tap.skip(label, f"{missing}")
        return
    environ = environment()
    environ["PYTHONPATH"] += os.pathsep + str(folder / "tests")
    size = "full" if os.environ.get("PEERS_FULL") else "part"
    library = package / "bins/linux-x64/libggml-base.so"
    said = run(PYTHON, "-W", "ignore", "-c", QUANTS, library, size, env=environ)
    lines = [line for line in said.stdout.split("\n") if " match" in line]
    for line in lines:
        name = re.sub(r" (matches exactly|does not match).*", "", line)
        tap.line("matches exactly" in line, f"{label}: {name} as ggml")
    good = said.returncode == 0 and len(lines) > 40
    tap.line(good, f"{label} ends", notes="" if good else said.stdout)


def main():
    tap = Tap()
    (PEERS / "lib").mkdir(parents=True, exist_ok=True)
    (PEERS / "peers_hook.py").write_text(HOOK)
    try:
        need_packages()
    except Missing as missing:
        tap.skip("tests of gguf and safetensors", f"{missing}")
        print(f"1..{tap.count}")
        return 0
    exchanged(tap)
    try:
        folder = gguf_sources()
        run_pytest(tap, "gguf", folder)
        run_quants(tap, folder)
    except Missing as missing:
        tap.skip("tests of gguf", f"{missing}")
    try:
        if not has("torch"):
            raise Missing(f"{PYTHON} has no torch")
        run_pytest(tap, "safetensors", safetensors_sources())
    except Missing as missing:
        tap.skip("tests of safetensors", f"{missing}")
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
