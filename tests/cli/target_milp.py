# SPDX-License-Identifier: MIT
#
# target_milp.py - whether scipy finds a better choice for the same costs
#
#     target_milp.py JSON     of quantize --target-size ... --json
#
# One variable for each tensor and type; each tensor has one type, tied tensors
# the same one, and all together at most the bytes of the target.
import json
import sys

import numpy
import scipy.optimize
import scipy.sparse

target = json.load(open(sys.argv[1]))["files"][0]["target"]
tensors = target["tensors"]
columns = [(i, name) for i, tensor in enumerate(tensors)
           for name in tensor["types"]]
at = {column: k for k, column in enumerate(columns)}
error = numpy.array([tensors[i]["types"][name]["error"]
                     for i, name in columns])
size = numpy.array([tensors[i]["types"][name]["bytes"] for i, name in columns])
rows, limits = [], []


def row(entries, low, high):
    line = numpy.zeros(len(columns))
    for column, number in entries:
        line[column] = number
    rows.append(line)
    limits.append((low, high))


row(enumerate(size), 0, target["limit"] - target["rest"])
for i, tensor in enumerate(tensors):
    row([(at[i, name], 1) for name in tensor["types"]], 1, 1)
first = {}
for i, tensor in enumerate(tensors):
    if "tied" in tensor:
        other = first.setdefault(tensor["tied"], i)
        names = set(tensor["types"]) | set(tensors[other]["types"])
        for name in names if other != i else ():
            row([(at[k, name], sign) for k, sign in ((i, 1), (other, -1))
                 if (k, name) in at], 0, 0)
low, high = zip(*limits)
found = scipy.optimize.milp(
    error / target["error"], integrality=numpy.ones(len(columns)),
    bounds=scipy.optimize.Bounds(0, 1),
    constraints=scipy.optimize.LinearConstraint(
        scipy.sparse.csr_matrix(numpy.array(rows)), low, high),
    options={"mip_rel_gap": 1e-5, "time_limit": 60})
assert found.success, found.message
least = found.fun * target["error"]
ours = sum(tensor["types"][tensor["type"]]["error"] for tensor in tensors)
bound = found.mip_dual_bound * target["error"]
print("ours", ours, "scipy", least, "its bound", bound)
assert abs(ours - target["error"]) <= 1e-9 * ours
assert ours <= least * 1.001, "there is a better choice"
assert target["bound"] <= least * (1 + 1e-6), "the bound is wrong"
assert target["linear_bound"] <= target["bound"]
if len(tensors) >= 100:
    assert ours - target["linear_bound"] <= 0.005 * ours
