# SPDX-License-Identifier: MIT
"""compare.py - how far two checkpoints are apart, as a table of pandas

    python3 examples/python/compare.py A B

A and B may differ in format and types, not in names: a model and its quantized
file, two steps of training.  Tensors that are equal are not in the table.
"""

import sys

import modelfile
import pandas


def table(a: str, b: str) -> pandas.DataFrame:
    rows = [
        {
            "tensor": d.name,
            "what": "+".join(d.what),
            **({} if d.values is None else vars(d.values)),
        }
        for d in modelfile.diff(a, b, values=True)
        if d.is_tensor
    ]
    columns = ["tensor", "what", "rmse", "max_absolute", "cosine"]
    return pandas.DataFrame(rows, columns=columns).set_index("tensor")


if __name__ == "__main__":
    found = table(*sys.argv[1:3])
    worst = found.sort_values("rmse", ascending=False)
    print(worst.head(5).to_string(float_format="{:.5f}".format))
    print(f"{len(found)} tensors differ")
