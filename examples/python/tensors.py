# SPDX-License-Identifier: MIT
"""tensors.py - lists tensors, and filters them by name and type

    python3 examples/python/tensors.py MODEL [PATTERN [TYPE]]

PATTERN is one of shells: "blk.*.attn_*".  No tensor data is read.
"""

import sys
from collections import Counter
from fnmatch import fnmatchcase

import modelfile


def main(path: str, pattern: str = "*", type: str = "") -> None:
    with modelfile.open(path) as m:
        found = [
            t
            for name, t in m.tensors.items()
            if fnmatchcase(name, pattern) and type in ("", t.type)
        ]
        for t in found:
            shape = "x".join(map(str, t.shape))
            print(f"{t.name:32} {t.type:6} {shape:>12} {t.nbytes:12,}")
        sizes: Counter = Counter()
        for t in found:
            sizes[t.type] += t.nbytes
        for name, size in sizes.most_common():
            print(f"{name}: {size:,} bytes")
        print(f"{len(found)} of {len(m)} tensors of {m.facts.get('name', path)}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except modelfile.Error as error:
        sys.exit(str(error))
