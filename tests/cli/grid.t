#!/bin/sh
# SPDX-License-Identifier: MIT
#
# grid.t - bench MODEL --record DIR: a table, a chain and a line of results for
# each setting; bench --verify DIR finds whatever was changed
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

"$build/tests/filled" f16 1 "$dir/model.gguf"
mkdir "$dir/tmp"
cd "$dir" || exit 1
export TMPDIR="$dir/tmp"
unset MODELFILE_LLAMA_QUANTIZE MODELFILE_GGUF_TOOLS

bench() {
    code=0
    "$modelfile" bench "$@" >out 2>err || code=$?
}

# ---- what is measured

whole() {
    bench model.gguf --record whole --quantize Q8_0 --quantize Q4_K_M \
        --threads 1,2 --rounds 5 --power mock:10
    [ "$code" = 0 ] && [ -z "$(ls -A tmp)" ] || return 1
    awk '{ print $1, $2, $3 }' out | tail -n +2 >rows
    printf 'read %s\n' '- 1' 'Q8_0 1' 'Q8_0 2' 'Q4_K_M 1' 'Q4_K_M 2' |
        diff - rows
}
check "the unchanged model, then each setting" whole

files() {
    (cd whole && find . -type f | LC_ALL=C sort) >have
    {
        for each in SHA256SUMS baseline.csv latency.csv memory.csv \
            results.csv run.json figs/energy.svg figs/error.svg \
            figs/latency.svg figs/memory.svg figs/size.svg \
            witness/baseline.jsonl; do
            echo "./$each"
        done
        for each in Q8_0_t1 Q8_0_t2 Q4_K_M_t1 Q4_K_M_t2; do
            echo "./csv/$each.csv"
            echo "./witness/$each.jsonl"
        done
    } | LC_ALL=C sort | diff - have
}
check "with files for each" files
check "sha256sum -c" sh -c \
    'cd whole && sha256sum --quiet --strict -c SHA256SUMS'

# The error of the whole model equals diff --values.
python_agrees() {
    "$modelfile" quantize --quiet model.gguf q8.gguf Q8_0 || return 1
    python3 - whole <<'END'
import csv, hashlib, json, math, os, statistics, sys

folder = sys.argv[1]
run = json.load(open(folder + "/run.json"))

def table(name):
    with open(os.path.join(folder, name), newline="") as file:
        return list(csv.DictReader(file, strict=True))

results = {row["setting"]: row for row in table("results.csv")}
settings = {each["setting"]: each for each in run["settings"]}
assert list(results) == list(settings)
assert list(results)[0] == "baseline" and len(results) == 5
every = []
for name, each in settings.items():
    rows = table("baseline.csv" if name == "baseline" else "csv/%s.csv" % name)
    times = [int(row["wall_time_us"]) for row in rows]
    for row in rows:
        assert 0 < int(row["kernel_time_us"]) <= int(row["wall_time_us"]), row
    assert len(times) == 5 == each["latency"]["samples"]
    every += times
    assert each["latency"]["p50_us"] == sorted(times)[2]
    assert each["latency"]["p95_us"] == max(times)
    assert float(results[name]["p95_latency_us"]) == max(times)
    assert math.isclose(each["latency"]["mean_us"], statistics.fmean(times))
    assert math.isclose(each["latency"]["std_us"], statistics.pstdev(times),
                        rel_tol=1e-12, abs_tol=1e-12)
    assert math.isclose(each["energy"]["joules"],
                        10 * each["energy"]["seconds"])
    assert each["energy"]["seconds"] >= sum(times) / 1e6 * 0.99

    previous = b"0" * 64
    lines = open("%s/witness/%s.jsonl" % (folder, name), "rb").read()
    for number, line in enumerate(lines.splitlines()):
        assert json.loads(line)["previous"].encode() == previous
        previous = hashlib.sha256(line).hexdigest().encode()
        if 0 < number <= 5:
            row = ",".join(rows[number - 1].values())
            assert json.loads(line)["row"] == row
    assert number == 6
    assert json.loads(lines.splitlines()[0])["fingerprint"] == run["fingerprint"]

assert [int(row["wall_time_us"]) for row in table("latency.csv")] == every
base = settings["baseline"]
for name, row in results.items():
    got = {key: float(value) for key, value in row.items() if key != "setting"}
    each = settings[name]
    def reduction(of, to):
        return 0 if name == "baseline" else 1 - of / to
    assert math.isclose(got["peak_mem_reduction"], abs_tol=1e-12,
        b=reduction(each["peak_heap_bytes"], base["peak_heap_bytes"]))
    assert math.isclose(got["energy_reduction"], abs_tol=1e-12,
        b=reduction(each["energy"]["joules"], base["energy"]["joules"]))
    assert got["coherence_delta"] == -each["relative_error"]
    assert got["accuracy"] == 1 - each["relative_error"]
    assert got["kv_cache_reduction"] == 0
q8, q4 = (settings[name]["relative_error"] for name in ("Q8_0_t1", "Q4_K_M_t1"))
assert 0 < q8 < 0.02 < q4 < 0.2, (q8, q4)
assert q8 == settings["Q8_0_t2"]["relative_error"]

def numbers(name):
    stats = json.loads(os.popen("%s tensors stats --json %s" %
                                (os.environ["MODELFILE"], name)).read())
    return stats["files"][0]["tensors"]

diff = json.loads(os.popen("%s diff --json --values model.gguf q8.gguf" %
                           os.environ["MODELFILE"]).read())
norm = sum(each["l2"] ** 2 for each in numbers("model.gguf"))
squares = 0
for each in diff["tensors"]:
    values = each.get("values")
    if values:
        squares += values["rmse"] ** 2 * values["finite"]
assert squares > 0 and math.isclose(q8, math.sqrt(squares / norm), rel_tol=1e-5), (
    q8, math.sqrt(squares / norm))
END
}
if command -v python3 >/dev/null 2>&1; then
    MODELFILE=$modelfile
    export MODELFILE
    check "python3 agrees: tables, chains, reductions, error" python_agrees
else
    skip "python3 agrees" "python3 is not installed"
fi

svg() {
    for each in whole/figs/*.svg; do
        xmllint --noout "$each" && ! grep -qi 'script\|href' "$each" &&
            [ "$(grep -c 'fill="#47a"' "$each")" = 5 ] || return 1
    done
}
if command -v xmllint >/dev/null 2>&1; then
    check "the figures are XML, without scripts" svg
else
    skip "the figures are XML" "xmllint is not installed"
fi

defaults() {
    bench model.gguf --record defaults --rounds 1 --csv --power none
    [ "$code" = 0 ] && [ "$(wc -l <out)" = 5 ] &&
        [ "$(cut -d, -f2 defaults/results.csv | wc -l)" = 5 ] &&
        grep -q '^baseline,0,0,0,NaN,' defaults/results.csv &&
        [ ! -e defaults/figs/energy.svg ]
}
check "without types and threads; no energy, no figure of it" defaults

partly() {
    bench model.gguf --json --record partly --rounds 1 --quantize IQ2_XXS \
        --quantize Q8_0
    [ "$code" = 2 ] && grep -q '"code":2' out && grep -q 'iq2_xxs' err &&
        grep -q '^Q8_0_t' partly/results.csv &&
        "$modelfile" bench --verify partly >/dev/null || return 1
    ! command -v python3 >/dev/null 2>&1 || python3 -c '
import json, sys
rows = json.load(sys.stdin)["files"][0]["model"]
assert [row.get("type") for row in rows] == [None, "IQ2_XXS", "Q8_0"], rows
assert rows[1]["error"]["code"] == 2' <out
}
check "a type that cannot be had is left out" partly

usage() {
    want=$1
    shift
    bench "$@"
    [ "$code" = 2 ] && grep -qF -- "$want" err
}
check "a list of threads without --record" usage "requires '--record'" \
    model.gguf --threads 1,2
check "a list of threads without MODEL" usage "requires the argument MODEL" \
    --record alone --threads 1,2
check "a list of threads without both" usage "requires MODEL and '--record'" \
    --threads 1,2
check "an invalid list" usage "invalid value '1,,2'" --threads 1,,2
check "no threads" usage "invalid value '0'" --threads 0
check "a number twice" usage "has a number twice" model.gguf --record no \
    --threads 2,2
check "a type twice" usage "has a type twice" model.gguf --record no2 \
    --quantize Q8_0 --quantize 7
check "MODEL with --verify" usage "remove MODEL" model.gguf --verify whole

# ---- --verify

verified() {
    bench --verify whole
    [ "$code" = 0 ] && grep -q 'whole: all 19 files are' out
}
check "--verify of what is as it was" verified

# changed WANT: the folder "copy" is not what it was.
changed() {
    bench --verify copy
    [ "$code" = 1 ] && grep -qx -- "$1" out || { cat out && return 1; }
}
copy() {
    rm -rf copy && cp -r whole copy
}

# One bit of the first, of a middle and of the last byte of each file.
every_file() {
    (cd whole && find . -type f) | sed 's|^\./||' >names
    [ "$(wc -l <names)" = 20 ] || return 1
    while read -r name; do
        size=$(wc -c <"whole/$name")
        for at in 0 $((size / 2)) $((size - 1)); do
            copy
            byte=$(od -An -tu1 -j $at -N 1 "whole/$name")
            # shellcheck disable=SC2059 # an octal escape
            printf "\\$(printf %o $((byte ^ 1)))" |
                dd of="copy/$name" bs=1 seek=$at conv=notrunc 2>/dev/null
            bench --verify copy
            [ "$code" = 1 ] && grep -q "^copy/\($name\|SHA256SUMS\): " out ||
                { echo "$name at $at" && return 1; }
        done
    done <names
}
check "a bit of any file" every_file

line_of_table() {
    copy && sed -i '3s/^1,/2,/' copy/csv/Q8_0_t1.csv &&
        changed "copy/csv/Q8_0_t1.csv: line 3 was changed"
}
check "a line of a table" line_of_table
line_of_chain() {
    copy && sed -i '4s/"row":"2,/"row":"3,/' copy/witness/baseline.jsonl &&
        changed "copy/witness/baseline.jsonl: line 4 was changed" &&
        copy && sed -i '$s/"samples":5/"samples":6/' \
        copy/witness/baseline.jsonl &&
        changed "copy/witness/baseline.jsonl: line 7 was changed" &&
        copy && sed -i 2d copy/witness/baseline.jsonl &&
        changed "copy/witness/baseline.jsonl: line 1 was changed"
}
check "a line of a chain" line_of_chain
missing() {
    copy && rm copy/csv/Q8_0_t1.csv &&
        changed "copy/csv/Q8_0_t1.csv: is missing"
}
check "a file that is missing" missing
listed_no_more() {
    copy && rm copy/csv/Q8_0_t1.csv &&
        sed -i '/csv\/Q8_0_t1/d' copy/SHA256SUMS &&
        changed "copy/SHA256SUMS: line [0-9]* is not the seal .*"
}
check "with its line in SHA256SUMS" listed_no_more
added() {
    copy && echo >copy/csv/more.csv && changed "copy/csv/more.csv: was added" &&
        copy && mkdir copy/dir && changed "copy/dir: was added" &&
        copy && echo >>copy/SHA256SUMS &&
        changed "copy/SHA256SUMS: line [0-9]* is after the seal"
}
check "something that was added" added
unsealed() {
    copy && sed -i '$d' copy/SHA256SUMS &&
        changed "copy/SHA256SUMS: has no seal.*" &&
        rm copy/SHA256SUMS && changed "copy/SHA256SUMS: is missing.*"
}
check "without its seal" unsealed

# A link to the very bytes, and names that lead out of the folder.
links() {
    copy && mv copy/run.json away && ln -s ../away copy/run.json &&
        changed "copy/run.json: cannot be read as a file" &&
        copy && mv copy/csv far && ln -s ../far copy/csv &&
        changed "copy/csv/Q8_0_t1.csv: cannot be read as a file" &&
        copy && rm copy/run.json && mkfifo copy/run.json &&
        changed "copy/run.json: cannot be read as a file"
}
check "links and pipes in place of files" links
names() {
    for name in ../model.gguf /etc/passwd csv/../run.json figs/a/b .x csv/ \
        other/x "$(printf '%0200d' 0)"; do
        copy
        zeros=$(printf '%064d' 0)
        sed -i "1i $zeros  $name" copy/SHA256SUMS
        changed "copy/SHA256SUMS: line 1 is not a digest and a file's name" ||
            return 1
    done
}
check "names that a record cannot have" names

json() {
    copy && rm copy/run.json && bench --json --verify copy
    [ "$code" = 1 ] && grep -qF '"problems":[{"file":"run.json",' out &&
        grep -qF '"same":false' out
}
check "as JSON" json
no_record() {
    bench --verify nothing
    [ "$code" = 3 ] && mkdir empty && bench --verify empty && [ "$code" = 1 ]
}
check "a missing folder, and one without a record" no_record

finish
