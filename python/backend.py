# SPDX-License-Identifier: MIT
"""backend.py - makes wheels and the sdist, for pip and for make

    python3 python/backend.py wheel|sdist BUILD FOLDER

pip and its kin call the functions build_* (PEP 517, PEP 660), from a clone or
from an unpacked sdist; make calls this program when it has made what goes into
a wheel (`make wheel-parts`):

    BUILD/python/modelfile     the package, with the shared library
    BUILD/wheel/modelfile      the program

The same tree gives the same bytes, in any folder, at any time, with any umask:
names are sorted, owners and modes are fixed, and .ci/date says the date.
"""

import base64
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import tarfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent

# The e_machine of ELF, as Python calls the processor.
MACHINES = {
    3: "i686",
    21: "ppc64le",
    22: "s390x",
    40: "armv7l",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
    258: "loongarch64",
}

LICENCES = ("LICENSE", "python/NOTICE")
# Debian has the licence of what a wheel takes along of gcc's.
GPL = Path("/usr/share/common-licenses/GPL-3")


def version():
    text = (TOP / "lib/modelfile.h").read_text("utf-8")
    return re.search(r'^#define MF_VERSION_STRING "(.*)"', text, re.M)[1]


def date():
    """Seconds since 1970 that all files have; an archive begins in 1980."""
    said = subprocess.run(
        ["sh", ".ci/date"], cwd=TOP, stdout=subprocess.PIPE, check=True
    ).stdout
    return max(int(said), 315532800)


def build_folder():
    return Path(TOP, os.environ.get("BUILD", "build"))


# ---- what pyproject.toml says


def project():
    """pyproject.toml by sections: {"project": {"name": "modelfile", ...}, ...}"""
    sections, key, value = {}, None, ""
    for line in (HERE / "pyproject.toml").read_text("utf-8").split("\n"):
        if not key and line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
        elif not key and line and not line.startswith("#"):
            key, value = line.split(" = ", 1)
        elif key:
            value += line
        if key and value.count("[") == value.count("]"):
            section[key] = json.loads(value)
            key = None
    return sections


def metadata(licences, dynamic=()):
    """METADATA of a wheel, PKG-INFO of an sdist."""
    about = project()
    extras = about["project.optional-dependencies"]
    about = about["project"]
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {about['name']}",
        f"Version: {version()}",
        *(f"Dynamic: {field}" for field in dynamic),
        f"Summary: {about['description']}",
        f"Keywords: {','.join(about['keywords'])}",
        f"License-Expression: {about['license']}",
        *(f"License-File: {name}" for name in licences),
        *(f"Classifier: {name}" for name in about["classifiers"]),
        f"Requires-Python: {about['requires-python']}",
    ]
    for extra, packages in extras.items():
        extra = re.sub(r"[-_.]+", "-", extra)
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {name}; extra == "{extra}"' for name in packages]
    lines.append("Description-Content-Type: text/markdown")
    readme = (HERE / about["readme"]).read_text("utf-8")
    return ("\n".join(lines) + "\n\n" + readme).encode()


# ---- wheels


def platform_tag(programs):
    """The systems that can run all of these: manylinux_2_34_x86_64

    That is glibc's newest version among the names of its symbols' versions.  What
    has another library of C, or OpenMP's of the system, is for systems like this
    one.
    """
    if not all(data.startswith(b"\x7fELF") for data in programs):
        return re.sub(r"[-.]", "_", sysconfig.get_platform())
    data = programs[0]
    order = "<" if data[5] == 1 else ">"
    machine = MACHINES[struct.unpack_from(order + "H", data, 18)[0]]
    minors = [
        int(minor)
        for data in programs
        for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?:\.\d+)?(?=\0)", data)
    ]
    if not minors or any(b"\0libgomp.so.1\0" in data for data in programs):
        return f"linux_{machine}"
    return f"manylinux_2_{max(minors)}_{machine}"


def program_file(build):
    """The program as it lies in a wheel, from where it goes to bin."""
    name = f"modelfile-{version()}.data/scripts/modelfile"
    return {name: (build / "wheel/modelfile").read_bytes()}


def package_files(build):
    folder = build / "python"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in (folder / "modelfile").rglob("*")
        if path.is_file() and path.name[0] != "." and path.parent.name != "__pycache__"
    }


def licence_files(files):
    found = {name: (TOP / name).read_bytes() for name in LICENCES}
    if any(name.endswith("/mf-gomp.so.1") for name in files) and GPL.exists():
        found["GPL-3"] = GPL.read_bytes()
    return found


def info_files(files):
    """The folder modelfile-VERSION.dist-info but for RECORD; the wheel's tag"""
    elf = [data for data in files.values() if data.startswith(b"\x7fELF")]
    tag = f"py3-none-{platform_tag(elf)}"
    licences = licence_files(files)
    info = {f"licenses/{name}": data for name, data in licences.items()}
    info["METADATA"] = metadata(licences)
    info["WHEEL"] = (
        "Wheel-Version: 1.0\n"
        f"Generator: modelfile {version()}\n"
        "Root-Is-Purelib: false\n"
        f"Tag: {tag}\n"
    ).encode()
    folder = f"modelfile-{version()}.dist-info"
    return {f"{folder}/{name}": data for name, data in info.items()}, tag


def record(files, name):
    """RECORD, which is called name: each file with its digest and its size"""
    lines = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        lines.append(f"{path},sha256={digest.decode().rstrip('=')},{len(data)}\n")
    return "".join(lines + [f"{name},,\n"]).encode()


def pack_wheel(files, folder):
    """Writes the wheel with these files into folder; its name"""
    info, tag = info_files(files)
    files = {**dict(sorted(files.items())), **dict(sorted(info.items()))}
    listed = f"modelfile-{version()}.dist-info/RECORD"
    files[listed] = record(files, listed)
    when = time.gmtime(date())[:6]
    wheel = f"modelfile-{version()}-{tag}.whl"
    with zipfile.ZipFile(Path(folder, wheel), "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.create_system = 3  # Unix, which has modes
            mode = 0o755 if data.startswith(b"\x7fELF") else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


def make_parts():
    """Calls make.  What it needs and does not find, is the last line for pip."""
    if not shutil.which("make"):
        sys.exit("modelfile: building from source needs GNU make")
    missing = subprocess.run(
        ["sh", "tests/install_deps.sh", "missing"],
        cwd=TOP, stderr=subprocess.PIPE, universal_newlines=True,
    )
    if missing.returncode:
        sys.exit("modelfile: " + missing.stderr.strip().replace("\n", "; "))
    jobs = f"-j{os.cpu_count() or 1}"
    settings = [f"BUILD={build_folder()}", f"PYTHON3={sys.executable}"]
    made = subprocess.run(["make", jobs, *settings, "wheel-parts"], cwd=TOP)
    if made.returncode:
        sys.exit("modelfile: make failed; what it said is above")
    return build_folder()


# ---- what pip calls


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_wheel
get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = make_parts()
    return pack_wheel({**package_files(build), **program_file(build)}, wheel_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """BUILD/python is where Python looks: its modules are links into the tree."""
    build = make_parts()
    link = {"modelfile.pth": f"{build / 'python'}\n".encode()}
    return pack_wheel({**link, **program_file(build)}, wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    """The files of the tree, and the two that PEP 517 requires at the top."""
    name = f"modelfile-{version()}"
    listed = subprocess.run(
        ["sh", ".ci/files"], cwd=TOP, stdout=subprocess.PIPE, check=True
    ).stdout
    files = {os.fsdecode(path): None for path in listed.split(b"\0") if path}
    files["PKG-INFO"] = metadata(LICENCES, dynamic=("License-File",))
    files["pyproject.toml"] = project_at_top()
    when = date()
    target = Path(sdist_directory, name + ".tar.gz")
    packed = io.BytesIO()
    with tarfile.open(None, "w", packed, format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(files):
            entry, data = tar_entry(path, files[path])
            entry.name, entry.mtime = f"{name}/{path}", when
            archive.addfile(entry, io.BytesIO(data))
    with open(target, "wb") as file, gzip.GzipFile("", "wb", 6, file, 0) as out:
        out.write(packed.getvalue())
    return target.name


def tar_entry(path, data):
    """A file with this data, or as it is in the tree"""
    entry = tarfile.TarInfo()
    entry.mode = 0o644
    if data is None and (TOP / path).is_symlink():
        entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(TOP / path)
        entry.mode, data = 0o777, b""
    elif data is None:
        data = (TOP / path).read_bytes()
        if (TOP / path).stat().st_mode & 0o100:
            entry.mode = 0o755
    entry.size = len(data)
    return entry, data


def project_at_top():
    """pyproject.toml for an sdist, the top of which is the top of the tree"""
    text = (HERE / "pyproject.toml").read_text("utf-8")
    for old, new in (
        ('backend-path = ["."]', 'backend-path = ["python"]'),
        ('readme = "README.md"', 'readme = "python/README.md"'),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text.encode()


def main():
    what, build, folder = sys.argv[1:]
    build = Path(build).resolve()
    Path(folder).mkdir(parents=True, exist_ok=True)
    if what == "wheel":
        files = {**package_files(build), **program_file(build)}
        print(Path(folder, pack_wheel(files, folder)))
    else:
        print(Path(folder, build_sdist(folder)))


if __name__ == "__main__":
    main()
