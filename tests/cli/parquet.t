#!/bin/sh
# SPDX-License-Identifier: MIT
#
# parquet.t - footers of Parquet as other readers see them
#
# PARQUET_PYTHON is a Python with pyarrow, and perhaps DuckDB and fastparquet:
# they write tables, and pyarrow and DuckDB say what is in their footers.
# PARQUET_NODE is a folder in which npm installed hyparquet and parquet-wasm:
# the one says all that is in a footer, the other some, and it writes tables.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

python=${PARQUET_PYTHON:-python3}
if ! "$python" -c 'import pyarrow.parquet' >"$dir/out" 2>&1; then
    skip "footers as pyarrow reads them" "no pyarrow (PARQUET_PYTHON)"
    finish
fi

cat >"$dir/write.py" <<'END'
import datetime, decimal, os, sys
import pyarrow as pa, pyarrow.parquet as pq

os.chdir(sys.argv[1])
n = 3000
table = pa.table({
    "i": pa.array(range(n), pa.int32()),
    "l": pa.array([None if k % 3 == 0 else k for k in range(n)], pa.int64()),
    "f": pa.array([k / 3 for k in range(n)], pa.float32()),
    "d": pa.array([k / 7 for k in range(n)], pa.float64()),
    "h": pa.array([1.0] * n, pa.float16()),
    "s": pa.array(["s%d" % (k % 100) for k in range(n)]),
    "b": pa.array([k % 2 == 0 for k in range(n)]),
    "bytes": pa.array([b"\0\1" * (k % 3) for k in range(n)]),
    "fixed": pa.array([b"abcd"] * n, pa.binary(4)),
    "decimal": pa.array([decimal.Decimal(k) / 100 for k in range(n)],
                        pa.decimal128(10, 2)),
    "date": pa.array([datetime.date(2020, 1, 1)] * n),
    "utc": pa.array([datetime.datetime(2020, 1, 1)] * n, pa.timestamp("us", "UTC")),
    "local": pa.array([datetime.datetime(2020, 1, 1)] * n, pa.timestamp("ns")),
    "time": pa.array([1] * n, pa.time32("ms")),
    "u8": pa.array([k % 256 for k in range(n)], pa.uint8()),
    "i16": pa.array([k % 256 for k in range(n)], pa.int16()),
    "u64": pa.array([k for k in range(n)], pa.uint64()),
    "null": pa.array([None] * n, pa.null()),
    "list": pa.array([[1, 2, None]] * n, pa.list_(pa.int32())),
    "struct": pa.array([{"x": 1, "y": {"z": "z"}}] * n),
    "map": pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int32())),
    "a.b": pa.array([k % 100 for k in range(n)], pa.int8()),
}).replace_schema_metadata({"key": "value", "long": "x" * 5000, "\u00e9": "\u00fc", "": ""})
for codec in "none", "snappy", "gzip", "zstd", "lz4", "brotli":
    pq.write_table(table, f"{codec}.parquet", compression=codec, row_group_size=1000)
pq.write_table(table, "pages.parquet", data_page_version="2.0", use_dictionary=False,
               write_page_index=True, row_group_size=100)
pq.write_table(table, "encodings.parquet", use_dictionary=False, write_statistics=False,
               column_encoding={"f": "BYTE_STREAM_SPLIT", "i": "DELTA_BINARY_PACKED",
                                "s": "DELTA_BYTE_ARRAY"})
pq.write_table(table.slice(0, 0), "rows-0.parquet")
pq.write_table(table, "old.parquet", version="1.0", use_deprecated_int96_timestamps=True)
pq.ParquetWriter("groups-0.parquet", table.schema).close()
wide = pa.table({f"c{k}": [k] for k in range(2000)})
pq.write_table(wide, "wide.parquet")
try:
    import duckdb
    con = duckdb.connect()
    con.execute("create table t as select i::int as i, i::bigint as l, i/3.0::double as d,"
                " 'x'||i as s, [i,i+1] as lst, {'a':i,'b':'q'} as st, (i%2=0) as b,"
                " i::decimal(12,3) as dec, i::hugeint as hg, date '2020-01-01' as dt,"
                " timestamp '2020-01-01' as ts, uuid() as u, '{}'::json as js,"
                " nullif(i%5,0) as n from range(50000) r(i)")
    con.execute("copy t to 'duck.parquet' (format parquet, row_group_size 20000, compression zstd)")
    con.execute("copy t to 'duck-2.parquet' (format parquet, parquet_version 'v2',"
                " kv_metadata {a:'b', c:'d'})")
except ImportError:
    pass
try:
    import fastparquet, pandas
    frame = pandas.DataFrame({"a": range(1000), "b": [f"x{k}" for k in range(1000)],
                              "c": [k / 3 for k in range(1000)],
                              "d": pandas.date_range("2020", periods=1000)})
    fastparquet.write("fast.parquet", frame, row_group_offsets=300, compression="GZIP")
except ImportError:
    pass
END

cat >"$dir/arrow.py" <<'END'
import json, subprocess, sys
import pyarrow.parquet as pq

program, path = sys.argv[1:]
def ask(*words):
    return json.loads(subprocess.run([program, *words, "--json", "--quiet"], check=True,
                                     capture_output=True).stdout)["files"][0]
def logical(of):
    text = json.loads(of.logical_type.to_json())
    kind = text["Type"]
    unit = {"milliseconds": "MILLIS", "microseconds": "MICROS", "nanoseconds": "NANOS"}
    if kind == "None":
        return None
    if kind == "Decimal":
        return f"DECIMAL({text['precision']},{text['scale']})"
    if kind in ("Timestamp", "Time"):
        utc = ",UTC" if text["isAdjustedToUTC"] else ""
        return f"{kind.upper()}({unit[text['timeUnit']]}{utc})"
    if kind == "Int":
        return ("INT" if text["isSigned"] else "UINT") + f"({text['bitWidth']})"
    return {"String": "STRING", "Null": "UNKNOWN"}.get(kind, kind.upper())
# What DuckDB states in the older way only.
old = {"UTF8": "STRING", "INT_8": "INT(8)", "INT_16": "INT(16)", "INT_32": "INT(32)",
       "INT_64": "INT(64)", "TIMESTAMP_MICROS": "TIMESTAMP(MICROS,UTC)"}

real = pq.read_metadata(path)
info = ask("info", path)["table"]
ours = ask("tensors", "info", path)
meta = {m["key"]: m["value"] for m in ask("meta", "list", path)["metadata"]}
assert (info["rows"], info["row_groups"], info["columns"]) == \
    (real.num_rows, real.num_row_groups, len(real.schema)), info
assert info["created_by"] == real.created_by, info["created_by"]
theirs = {k.decode(): v.decode() for k, v in (real.metadata or {}).items()}
assert meta.keys() == theirs.keys(), (meta.keys(), theirs.keys())
for key, value in meta.items():
    if not isinstance(value, str):
        value = value["value"]
    assert theirs[key] == value, key
for i, column in enumerate(ours["columns"]):
    of = real.schema.column(i)
    told = column["logical"]
    assert column["column"] == of.path, (column, of)
    assert column["type"] == of.physical_type, (column, of)
    assert old.get(told, told) == logical(of), (column, of)
    assert column["optional"] == (of.max_definition_level > of.max_repetition_level), (column, of)
    assert column["repeated"] == (of.max_repetition_level > 0), (column, of)
at = 0
for g in range(real.num_row_groups):
    for c in range(len(real.schema)):
        mine, of = ours["chunks"][at], real.row_group(g).column(c)
        nulls = of.statistics.null_count if of.statistics and of.statistics.has_null_count else None
        start = of.data_page_offset
        if of.has_dictionary_page and 0 < of.dictionary_page_offset:
            start = min(start, of.dictionary_page_offset) if start > 0 else of.dictionary_page_offset
        codec = {"LZ4": ("LZ4", "LZ4_RAW")}.get(of.compression, (of.compression,))
        assert mine["codec"] in codec, (mine, of)
        assert (mine["column"], mine["group"], mine["type"], mine["values"], mine["bytes"],
                mine["unpacked_bytes"], mine["offset"]) == \
            (of.path_in_schema, g, of.physical_type, of.num_values, of.total_compressed_size,
             of.total_uncompressed_size, start), (mine, of)
        assert nulls is None or mine["nulls"] == nulls, (mine, of)
        assert set(mine["encodings"]) == set(of.encodings), (mine, of)
        at += 1
assert at == len(ours["chunks"]) == info["chunks"]
END

cat >"$dir/duck.py" <<'END'
import json, subprocess, sys
import duckdb

program, path = sys.argv[1:]
def ask(*words):
    return json.loads(subprocess.run([program, *words, path, "--json", "--quiet"], check=True,
                                     capture_output=True).stdout)["files"][0]
info, listed = ask("info"), ask("tensors", "info")
table, ours = info["table"], listed["chunks"]
assert (table["created_by"], table["rows"], table["row_groups"], info["version"],
        info["file_bytes"]) == duckdb.execute(
            "select created_by, num_rows, num_row_groups, format_version, file_size_bytes"
            " from parquet_file_metadata(?)", [path]).fetchone(), info
columns = duckdb.execute("select name, type from parquet_schema(?) where type is not null"
                         " order by column_id", [path]).fetchall()
assert len(columns) == len(listed["columns"])
for mine, (name, kind) in zip(listed["columns"], columns):
    assert ("." + mine["column"]).endswith("." + name) and mine["type"] == kind, (mine, name)
rows = duckdb.execute(
    "select row_group_id, path_in_schema, type, compression, encodings, num_values,"
    " stats_null_count, dictionary_page_offset, data_page_offset, total_compressed_size,"
    " total_uncompressed_size, column_id from parquet_metadata(?) order by row_group_id, column_id",
    [path]).fetchall()
assert len(rows) == len(ours)
for mine, row in zip(ours, rows):
    start = min(o for o in row[7:9] if o) if any(row[7:9]) else 0
    assert mine["column"].replace(".", ", ") == row[1].replace(".", ", "), (mine, row)
    assert (mine["group"], mine["type"], mine["codec"], mine["values"], mine["offset"],
            mine["bytes"], mine["unpacked_bytes"]) == \
        (row[0], row[2], row[3], row[5], start, row[9], row[10]), (mine, row)
    assert row[6] is None or mine["nulls"] == row[6], (mine, row)
    assert set(mine["encodings"]) == set(row[4].split(", ")), (mine, row)
END

mkdir "$dir/tables"
check "tables are written" "$python" "$dir/write.py" "$dir/tables"
node=${PARQUET_NODE:-}
for package in hyparquet parquet-wasm; do
    [ -d "$node/node_modules/$package" ] || node=
done
[ -z "$node" ] ||
    check "tables of parquet-wasm are written" node tests/cli/parquet.mjs "$node" \
        write "$dir/tables/none.parquet" "$dir/tables/wasm-"
# Of a field of another type, readers see nothing.
cp fixtures/good-stray-fields.parquet "$dir/tables"
duckdb=true
"$python" -c 'import duckdb' >"$dir/out" 2>&1 || duckdb=false

for file in "$dir"/tables/*.parquet; do
    name=$(basename "$file" .parquet)
    check "$name: nothing is wrong" "$modelfile" validate --strict --quiet "$file"
    check "$name: as pyarrow reads it" "$python" "$dir/arrow.py" "$modelfile" "$file"
    if "$duckdb"; then
        check "$name: as DuckDB reads it" "$python" "$dir/duck.py" "$modelfile" "$file"
    else
        skip "$name: as DuckDB reads it" "no duckdb"
    fi
    for package in ${node:+hyparquet parquet-wasm}; do
        check "$name: as $package reads it" node tests/cli/parquet.mjs "$node" \
            "$package" "$file"
    done
done
[ -n "$node" ] ||
    skip "tables as node reads them" "no hyparquet and parquet-wasm (PARQUET_NODE)"
finish
