# SPDX-License-Identifier: MIT
"""python -m modelfile: the program, as pip installed it beside this package."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig


def find() -> str:
    """The path of the program."""
    name = "modelfile" + (sysconfig.get_config_var("EXE") or "")
    schemes = [sysconfig.get_path("scripts")]
    user = f"{os.name}_user"
    if user in sysconfig.get_scheme_names():
        schemes.append(sysconfig.get_path("scripts", user))
    # pip install --target has it in a folder of its own.
    schemes.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin"))
    for folder in schemes:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    found = shutil.which(name)
    if found is None:
        sys.exit("the program modelfile is not installed: pip install modelfile")
    return found


if __name__ == "__main__":
    program = find()
    os.execv(program, [program, *sys.argv[1:]])
