# SPDX-License-Identifier: MIT
"""names.py - names of tensors, from the rows that the library has them in

    python3 python/names.py lib/hf/hub/names build/python/.../_names.py

Reads 1-tensors.txt, 2-names.txt and 3-archs.txt, which say themselves how their
rows are written, and writes a module with:

    TENSORS   id: name in a GGUF file, with {bid} for the number of a block
    ARCHS     architecture: the ids of its tensors
    NAMES     name in a model of Hugging Face: the ids that it can mean
    ONLY      architecture: {name: the id that it means there alone}
"""

import sys
from pathlib import Path


class RowError(Exception):
    """A file has something that this program does not know."""


def paragraphs(folder):
    """(the words at the margin, the rows below them), in the order of the files."""
    out = []
    for path in sorted(Path(folder).glob("*.txt")):
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
            words = line.split()
            if not words or line.startswith("#") or line == "section names":
                continue
            if line[0] != " ":
                out.append((words, []))
            elif out:
                out[-1][1].append(words)
            else:
                raise RowError(f"{path}:{number}: a row without a paragraph")
    return out


def arch_rows(rows, ids, has):
    """Adds to the set of ids; the names that only this architecture has."""
    only = {}
    for word, *rest in rows:
        if word == "only":
            name, meant = rest
            only[with_bid(name)] = known(meant, ids)
        elif word in ("with", "without"):
            change = has.add if word == "with" else has.discard
            for each in rest:
                change(known(each, ids))
        else:
            raise RowError(f"the row '{word}' of an architecture is not known")
    return only


def known(name, ids):
    if name not in ids:
        raise RowError(f"tensor '{name}' is not known")
    return name


def with_bid(name):
    return name.replace("#", "{bid}")


def read(folder):
    tensors, names, archs, only = {}, {}, {}, {}
    later = []
    for (kind, *words), rows in paragraphs(folder):
        if kind == "tensor":
            tensors[words[0]] = with_bid(words[1])
        elif kind in ("at", "arch"):
            later.append((kind, words, rows))
        else:
            raise RowError(f"the paragraph '{kind}' is not known")
    for kind, words, rows in later:
        if kind == "at":
            prefix = "" if words[0] == '""' else words[0]
            for rest, *ids in rows:
                names[with_bid(prefix + rest)] = [known(each, tensors) for each in ids]
            continue
        has = set(archs[words[2]]) if words[1:2] == ["like"] else set()
        mine = arch_rows(rows, tensors, has)
        archs[words[0]] = [each for each in tensors if each in has]
        if mine:
            only[words[0]] = mine
    return {"TENSORS": tensors, "ARCHS": archs, "NAMES": names, "ONLY": only}


def text(found):
    lines = [
        "# Made by names.py from lib/hf/hub/names.",
        "from typing import Dict, List",
        "",
    ]
    kinds = {"TENSORS": "str", "ARCHS": "List[str]", "NAMES": "List[str]"}
    for name, table in found.items():
        lines.append(f"{name}: Dict[str, {kinds.get(name, 'Dict[str, str]')}] = {{")
        lines += [f"    {key!r}: {value!r}," for key, value in table.items()]
        lines += ["}", ""]
    return "\n".join(lines)


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__.split("\n\n")[1].strip())
    try:
        out = text(read(arguments[1]))
    except (RowError, OSError) as error:
        sys.exit(f"{arguments[1]}: {error}")
    with open(arguments[2], "w", encoding="utf-8") as file:
        file.write(out)


if __name__ == "__main__":
    main(sys.argv)
