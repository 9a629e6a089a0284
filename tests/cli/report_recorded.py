# SPDX-License-Identifier: MIT
"""Compares what a report says of a recorded run with the files themselves.

report_recorded.py KIND REPORT PATH, where KIND is folder, heap or answer: the
files are read with Python's own json and csv, and each number that the report
may have is computed of them again.  Prints what differs.
"""

import csv
import json
import math
import os
import re
import sys

POINTS = 2048
SITES = 200
FRAMES = 64


def whole(value):
    """An integer, which is a string if a double has not all of its digits."""
    return int(value) if isinstance(value, str) else value


def check(what, found, expected):
    if found != expected:
        print(f"{what}: {found!r}, not {expected!r}")


def known(value):
    return value is not None and value == value


def check_members(what, found, expected, left_out=()):
    """All members of expected that are numbers or texts, and are known."""
    for key, value in expected.items():
        if key in left_out or isinstance(value, dict) or not known(value):
            check(f"{what}.{key}", found.get(key), None)
        else:
            check(f"{what}.{key}", found.get(key), value)


# ---- a folder ----


def table(folder, name):
    with open(os.path.join(folder, name), newline="") as file:
        return list(csv.DictReader(file))


def buckets(values):
    every = 1
    while math.ceil(len(values) / every) > POINTS:
        every *= 2
    return every, [values[i : i + every] for i in range(0, len(values), every)]


def check_series(found, rows, columns):
    check("samples", found["samples"], len(rows))
    for key, column in columns.items():
        every, parts = buckets([int(row[column]) for row in rows])
        check("every", found["every"], every)
        check(key, found[key], [max(part) for part in parts])


def check_memory(found, rows):
    times = [int(row["timestamp_us"]) for row in rows]
    _, parts = buckets(times)
    check("time", found["time"], [part[0] - times[0] for part in parts])
    check_series(
        found,
        rows,
        {
            "resident": "peak_rss_bytes",
            "library": "activation_bytes",
            "other": "temp_buffer_bytes",
        },
    )


def check_results(found, rows):
    check("result_count", found["result_count"], len(rows))
    for result, row in zip(found["results"], rows):
        check("setting", result.pop("setting"), row.pop("setting"))
        numbers = {key: float(value) for key, value in row.items()}
        check("result", result, {k: v for k, v in numbers.items() if v == v})


def check_run(found, run):
    for key in ("version", "command", "sub_command", "exit_code", "fingerprint"):
        check(key, found.get(key), run.get(key))
    check("seconds", found["seconds"], (run["ended_us"] - run["started_us"]) / 1e6)
    check_members("host", found["host"], run["host"], ("release",))
    check_members("latency", found["latency"], run["latency"])
    check_members("totals", found["totals"], run["memory"], ("samples",))
    check_members("energy", found["energy"], run["energy"])
    found["configuration"]["model_commit"] = run["configuration"]["model_commit"]
    check("configuration", found["configuration"], run["configuration"])
    check("settings", len(found.get("settings", [])), len(run.get("settings", [])))
    for one, other in zip(found.get("settings", []), run.get("settings", [])):
        check_members("setting", {**one, "latency": None, "energy": None}, other)
        check_members("setting.latency", one["latency"], other["latency"])
        check_members("setting.energy", one["energy"], other["energy"])


def check_folder(found, path):
    check("problems", found["problems"], [])
    with open(os.path.join(path, "run.json")) as file:
        check_run(found, json.load(file))
    check_memory(found["memory"], table(path, "memory.csv"))
    check_series(
        found["samples"],
        table(path, "latency.csv"),
        {"wall": "wall_time_us", "kernel": "kernel_time_us", "elements": "seq_len"},
    )
    check_results(found, table(path, "results.csv"))


# ---- a heap profile ----

MEMBERS = {
    "tb": "bytes",
    "tbk": "blocks",
    "gb": "at_peak",
    "gbk": "peak_blocks",
    "eb": "left",
    "ebk": "left_blocks",
    "mb": "most",
    "mbk": "most_blocks",
    "tl": "lifetime",
    "rb": "read",
    "wb": "written",
}
SUMS = {
    "peak": "gb",
    "peak_blocks": "gbk",
    "total": "tb",
    "blocks": "tbk",
    "left": "eb",
    "left_blocks": "ebk",
    "read": "rb",
    "written": "wb",
}


def frame_text(frame):
    """Without the address, if there is a name, and without folders."""
    text = re.sub(r"^0x[0-9A-Fa-f]+: (?!\?\?\?)", "", frame)
    return re.sub(r"\((in )?[^()]*/([^/()]*)\)$", r"(\1\2)", text)


def site_of(row, frames):
    site = {name: row[key] for key, name in MEMBERS.items() if key in row}
    site["stack"] = [frame_text(frames[i]) for i in row["fs"][:FRAMES]]
    if len(row["fs"]) > FRAMES:
        site["depth"] = len(row["fs"])
    return site


def check_heap(found, path):
    heap = found["heap"]
    with open(path) as file:
        profile = json.load(file)
    rows = profile["pps"]
    for key, name in {"mode": "mode", "tu": "unit", "tg": "at", "te": "end"}.items():
        check(name, heap[name], profile[key])
    check("site_count", heap["site_count"], len(rows))
    for name, key in SUMS.items():
        if rows and key in rows[0]:
            check(name, whole(heap[name]), sum(row[key] for row in rows))
    at_peak = sorted(rows, key=lambda row: -row["gb"])[:SITES]
    in_all = sorted(rows, key=lambda row: -row["tb"])[:SITES]
    expected = at_peak + [row for row in in_all if row not in at_peak]
    for site in heap["sites"]:
        site["stack"] = [heap["frames"][i] for i in site["stack"]]
        for key, value in site.items():
            site[key] = value if key == "stack" else whole(value)
    check("sites", heap["sites"], [site_of(row, profile["ftbl"]) for row in expected])


# ---- what a command printed ----


def check_answer(found, path):
    with open(path) as file:
        run = json.load(file)["run"]
    timings = run.get("timings")
    check("seconds", found["seconds"], run["seconds"])
    check_members("totals", found["totals"], run, ("seconds",))
    if not timings:
        check("phases", found.get("phases"), None)
        return
    check("wall_seconds", found["wall_seconds"], timings["wall_ns"] / 1e9)
    total = sum(phase["total_ns"] for phase in timings["phases"])
    expected = []
    for phase in timings["phases"]:
        row = {k: v for k, v in phase.items() if k not in ("phase", "total_ns")}
        row["name"] = phase["phase"]
        row["seconds"] = phase["total_ns"] / 1e9
        row["share"] = phase["total_ns"] / total
        expected.append(row)
    check("phases", found["phases"], expected)


def main():
    kind, report, path = sys.argv[1:]
    with open(report) as file:
        found = json.load(file)["report"]["recorded"]
    check("kind", found["kind"], kind)
    {"folder": check_folder, "heap": check_heap, "answer": check_answer}[kind](
        found, path
    )


main()
