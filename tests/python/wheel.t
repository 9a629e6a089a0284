#!/bin/sh
# SPDX-License-Identifier: MIT
#
# wheel.t - the wheel and the sdist are right, can be installed, and work
#
# AUDITWHEEL names the program auditwheel, which is asked for the wheel's tag,
# too.  tests/python/bare.t installs them in bare systems, and compiles there.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

. tests/lib-run.sh
. tests/lib-python.sh

if ! has_python; then
    skip "a wheel" "there is no python3 of version 3.9 or later"
    finish
fi
export SOURCE_DATE_EPOCH=1700000000 PYTHONDONTWRITEBYTECODE=1
check "make wheel-parts" made wheel-parts
[ "$tap_failed" -eq 0 ] || finish

# ---- what is in it

packs() { # FOLDER
    "$python" python/backend.py wheel "$build" "$1" >"$dir/name"
}
check "a wheel is packed" packs "$dir/one"
wheel=$(cat "$dir/name")
again() {
    (umask 077 && TZ=Asia/Tokyo LC_ALL=C packs "$dir/two") &&
        cmp "$wheel" "$dir/two/${wheel##*/}"
}
check "and again, with the same bytes" again

# Its parts are what is unpacked here.
mkdir "$dir/parts"
cat >"$dir/look.py" <<'PY'
import base64, email, hashlib, re, subprocess, sys, zipfile
wheel, version, folder = sys.argv[1:]
archive = zipfile.ZipFile(wheel)
archive.extractall(folder)
names = archive.namelist()
info = f"modelfile-{version}.dist-info"

def differ(what, found, expected):
    if found != expected:
        print(f"{what}: {found}, not {expected}")

# RECORD is last, and has the digest and the size of each file but itself.
differ("last", names[-1], f"{info}/RECORD")
lines = archive.read(f"{info}/RECORD").decode().splitlines()
expected = []
for name in names[:-1]:
    data = archive.read(name)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
    expected.append(f"{name},sha256={digest.rstrip('=')},{len(data)}")
differ("RECORD", lines, expected + [f"{info}/RECORD,,"])
differ("names that are there twice", len(names) - len(set(names)), 0)

elf = [name for name in names if archive.read(name)[:4] == b"\x7fELF"]
for entry in archive.infolist():
    mode = 0o100755 if entry.filename in elf else 0o100644
    differ(entry.filename, (entry.external_attr >> 16, entry.create_system), (mode, 3))
    differ(entry.filename, entry.date_time, (2023, 11, 14, 22, 13, 20))
differ("ELF files", [name for name in elf if "gomp" not in name],
       [f"modelfile-{version}.data/scripts/modelfile", "modelfile/libmodelfile.so"])
for name in ["modelfile/__init__.py", "modelfile/_abi.py",
             "modelfile/compat/gguf/_names.py", f"{info}/licenses/LICENSE",
             f"{info}/licenses/python/NOTICE"]:
    if name not in names:
        print("no", name)
for name in names:
    if "__pycache__" in name or name.rpartition("/")[2].startswith("."):
        print(name, "does not belong there")

# The tag, by what readelf says of the versions of symbols.
minors = [0]
for name in elf:
    said = subprocess.run(["readelf", "-VdW", f"{folder}/{name}"], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout
    minors += map(int, re.findall(r"Name: GLIBC_2\.(\d+)", said))
    needed = re.findall(r"Shared library: \[(.*?)\]", said)
    for library in needed:
        if not re.match(r"(lib(c|m|z|pthread|dl)|mf-gomp|ld-linux.*)\.so\.\d+$", library):
            print(name, "needs", library)
    if "GLIBC_ABI" in said:
        print(name, "needs a newer loader")
header = subprocess.run(["readelf", "-h", f"{folder}/{elf[0]}"], check=True,
                        stdout=subprocess.PIPE, universal_newlines=True).stdout
machine = {"X86-64": "x86_64", "AArch64": "aarch64"}
machine = machine.get(re.search(r"Machine: .* (\S+)$", header, re.M)[1])
tag = f"py3-none-manylinux_2_{max(minors)}_{machine}"
if machine and max(minors):
    differ("name", wheel.rpartition("/")[2], f"modelfile-{version}-{tag}.whl")
about = email.message_from_bytes(archive.read(f"{info}/WHEEL"))
differ("Tag", about.get_all("Tag"), [wheel.partition(f"-{version}-")[2][:-4]])
differ("Root-Is-Purelib", about["Root-Is-Purelib"], "false")

about = email.message_from_bytes(archive.read(f"{info}/METADATA"))
for field, value in [("Name", "modelfile"), ("Version", version),
                     ("License-Expression", "MIT"), ("Requires-Python", ">=3.9")]:
    differ(field, about[field], value)
differ("extras", about.get_all("Provides-Extra"), ["numpy", "torch", "ml-dtypes", "tqdm"])
for line in about.get_all("Requires-Dist"):
    if "; extra == " not in line:
        print("it requires", line)
differ("the description", about.get_payload(), open("python/README.md").read())
licences = [f"{info}/licenses/{name}" for name in about.get_all("License-File")]
differ("licences", sorted(licences), sorted(n for n in names if "/licenses/" in n))
if any("gomp" in name for name in elf) and f"{info}/licenses/GPL-3" not in names:
    print("no licence of libgomp")
PY
check_empty "RECORD, tag, names, modes, dates and metadata are right" \
    "$python" "$dir/look.py" "$wheel" "$version" "$dir/parts"
at_most() { # BYTES FILE
    [ "$(wc -c <"$2")" -le "$1" ] || ls -l "$2"
}
check_empty "it has at most 6 MB" at_most 6000000 "$wheel"
stripped() {
    readelf -SW "$dir/parts/modelfile/libmodelfile.so" \
        "$dir/parts/modelfile-$version.data/scripts/modelfile" | grep -E '\.(debug|symtab)'
    grep -ac "$PWD" "$dir/parts/modelfile/libmodelfile.so" | grep -vx 0
}
check_empty "it has no debugging information, and no names of folders" stripped
if [ -n "${AUDITWHEEL:-}" ]; then
    audited() {
        tag=${wheel##*-none-}
        "$AUDITWHEEL" show "$wheel" | tr '\n' ' ' |
            grep -F "is consistent with the following platform tag: \"${tag%.whl}\""
    }
    check "auditwheel shows its tag" audited
else
    skip "auditwheel shows its tag" "needs auditwheel (AUDITWHEEL)"
fi

# ---- the sdist

sdist() { # FOLDER
    "$python" python/backend.py sdist "$build" "$1"
}
check "an sdist is packed" sdist "$dir/one"
sdist=$dir/one/modelfile-$version.tar.gz
again_sdist() {
    (umask 077 && TZ=Asia/Tokyo LC_ALL=C sdist "$dir/two") &&
        cmp "$sdist" "$dir/two/${sdist##*/}"
}
check "and again, with the same bytes" again_sdist
mkdir "$dir/source"
tar -xf "$sdist" -C "$dir/source"
source=$dir/source/modelfile-$version
tops() {
    find "$dir/source" -mindepth 1 -maxdepth 1 ! -name "modelfile-$version"
    grep -qx "Version: $version" "$source/PKG-INFO" || echo "no version in PKG-INFO"
    grep -qx 'backend-path = \["python"\]' "$source/pyproject.toml" ||
        echo "pyproject.toml has another place of the backend"
    find "$source" -name __pycache__
}
check_empty "it has one folder, with PKG-INFO and pyproject.toml at the top" tops
# What an sdist of an unpacked one has, which is not a repository.
lists_differ() {
    tar -tf "$sdist" | sed "s|^modelfile-$version/||" | LC_ALL=C sort >"$dir/list"
    sh "$source/.ci/files" | tr '\0' '\n' | LC_ALL=C sort | diff "$dir/list" -
}
check_empty "it would give an sdist of the same files" lists_differ

# ---- pip

# An interpreter that other users can run, too; setpriv itself may still do more.
as_another() {
    setpriv --reuid 65534 --regid 65534 --clear-groups env "$@"
}
is_open() {
    [ "$(id -u)" -ne 0 ] || as_another "$1" -c '' 2>/dev/null
}
for interpreter in "$python" /usr/bin/python3; do
    ! is_open "$interpreter" || break
done
chmod 755 "$dir"
if ! "$interpreter" -m venv "$dir/venv" >"$dir/log" 2>&1; then
    note <"$dir/log"
    skip "pip installs it" "there is no venv (python3-venv)"
    finish
fi
# No index, and no settings of the caller's.
pip() { # ARGUMENT...
    env -u PYTHONPATH PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1 \
        "$dir/venv/bin/python" -m pip -q "$@"
}
cat >"$dir/try.py" <<'PY'
import ctypes, os, sys, threading, modelfile
assert modelfile.__version__ == sys.argv[1], modelfile.__version__
if len(sys.argv) > 2:
    # Counts threads while the library goes over tensor data, in one of Python's.
    library = ctypes.CDLL(os.path.dirname(modelfile.__file__) + "/libmodelfile.so")
    library.mf_env_new.restype = ctypes.c_void_p
    env = ctypes.c_void_p(library.mf_env_new(None))
    model = ctypes.c_void_p()
    assert not library.mf_model_open(env, sys.argv[2].encode(), None, ctypes.byref(model))
    work = threading.Thread(target=library.mf_model_validate_data, args=(model,))
    work.start()
    most = 0
    while work.is_alive():
        most = max(most, len(os.listdir("/proc/self/task")))
    assert most >= 5, most
PY
works() { # ARGUMENT...
    (cd / && "$@" "$dir/venv/bin/python" "$dir/try.py" "$version") &&
        "$@" "$dir/venv/bin/modelfile" info --quiet "$fixtures/good-llama.gguf" >"$dir/said" &&
        "$modelfile" info --quiet "$fixtures/good-llama.gguf" | cmp - "$dir/said"
}
check "pip installs the wheel" pip install --no-index "$wheel"
check "modules and the program work" works env
threads() {
    "$build/tests/filled" f32 512 "$dir/large.gguf" &&
        (cd / && OMP_NUM_THREADS=3 "$dir/venv/bin/python" "$dir/try.py" "$version" "$dir/large.gguf")
}
if [ -e /proc/self/task ]; then
    check "the library has threads" threads
fi
if [ "$(id -u)" -eq 0 ] && is_open "$dir/venv/bin/python"; then
    check "and for another user" works as_another
    mkdir -m 777 "$dir/home"
    installs() {
        as_another HOME="$dir/home" "$dir/venv/bin/python" -m pip -q install --no-index \
            --target "$dir/home/site" "$wheel" &&
            as_another PYTHONPATH="$dir/home/site" "$interpreter" "$dir/try.py" "$version" &&
            as_another "$dir/home/site/bin/modelfile" version --quiet
    }
    check "who can install it, too" installs
else
    skip "and for another user" "needs root, and an interpreter that others can run"
fi
goes() {
    pip uninstall -y modelfile 2>&1
    find "$dir/venv" -name '*modelfile*'
}
check_empty "pip removes all of it" goes

# From sources, with the objects that are there: compiling takes minutes.
objects() {
    mkdir "$1"
    for name in .compiler .found rows rows-made lib cli zip \
        $(sed -n 's/^FORMAT.\([a-z0-9_]*\),.*/\1/p' lib/model/formats.def | sort -u); do
        cp -Rp "$build/$name" "$1"
    done
}
objects "$dir/objects"
from_source() { # ARGUMENT...
    BUILD=$dir/objects CC="${CC:-cc}" pip install --no-index "$@" && works env
}
check "pip installs the sdist" from_source "$sdist"
check "pip installs ./python" from_source --force-reinstall ./python
check_empty "pip removes it" goes
check "pip install -e ./python" from_source -e ./python
is_link() {
    (cd / && "$dir/venv/bin/python" -c \
        'import modelfile, os; print(os.path.realpath(modelfile.__file__))') |
        grep -qxF "$(pwd -P)/python/src/modelfile/__init__.py"
}
check "has the modules of the tree" is_link
check_empty "pip removes it" goes

# What is missing, in one sentence at the end.
fails() { # SENTENCE SETTING...
    sentence=$1
    shift
    (cd "$source/python" && env "$@" "$python" -c \
        'import backend; backend.build_wheel(".")') >"$dir/said" 2>&1 && return 1
    tail -n 1 "$dir/said" | grep -qF "modelfile: $sentence" && return
    cat "$dir/said"
    return 1
}
check "without a compiler it says so" fails "Building needs (Debian's names): gcc" \
    CC=no-such-compiler
mkdir "$dir/empty"
ln -s "$(command -v "$python")" "$dir/empty/python3"
check "without make, too" fails "building from source needs GNU make" PATH="$dir/empty"

finish
