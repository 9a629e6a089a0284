// SPDX-License-Identifier: MIT
//
// parquet.mjs - footers of Parquet, as libraries of node see them
//
//     node tests/cli/parquet.mjs FOLDER hyparquet FILE      all of what is listed
//     node tests/cli/parquet.mjs FOLDER parquet-wasm FILE   what it shows of it
//     node tests/cli/parquet.mjs FOLDER write FILE PREFIX   PREFIX*.parquet, of
//                                                       the values of FILE
//
// FOLDER is where npm put both.  What is not as they read it throws.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { answer, same } from "./tap.mjs";

const [folder, task, file, prefix] = process.argv.slice(2);
const require = createRequire(`${resolve(folder)}/`);

// ---- hyparquet: every field

const INTEGER = (type) =>
    `${type.isSigned ? "" : "U"}INT(${type.bitWidth})`;
const TIME = (type) =>
    `${type.type}(${type.unit}${type.isAdjustedToUTC ? ",UTC" : ""})`;
const LOGICAL = {
    DECIMAL: (type) => `DECIMAL(${type.precision},${type.scale})`,
    TIME,
    TIMESTAMP: TIME,
    INTEGER,
    NULL: () => "UNKNOWN",
};

// A type that is stated in the older way only has the name that it has there.
function logical({ logical_type: type, converted_type: converted }) {
    return type ? LOGICAL[type.type]?.(type) ?? type.type : converted ?? null;
}

function leaves(tree, above = []) {
    const path = [...above, tree.element];
    const has = (repetition) =>
        path.slice(1).some((element) => element.repetition_type === repetition);

    return tree.children.length > 0 ?
        tree.children.flatMap((child) => leaves(child, path)) :
        [{
            column: tree.path.join("."),
            type: tree.element.type,
            logical: logical(tree.element),
            optional: has("OPTIONAL"),
            repeated: has("REPEATED"),
        }];
}

// A chunk begins with its dictionary, if it has one.
function start({ data_page_offset: data, dictionary_page_offset: dictionary }) {
    return Number(dictionary > 0n && (dictionary < data || data === 0n) ?
        dictionary : data);
}

function chunk(meta, group, column) {
    const nulls = meta.statistics?.null_count;

    return {
        column: meta.path_in_schema.join("."),
        type: meta.type,
        logical: column.logical,
        group,
        codec: meta.codec,
        encodings: [...new Set(meta.encodings)].sort(),
        values: Number(meta.num_values),
        nulls: nulls === undefined ? null : Number(nulls),
        offset: start(meta),
        bytes: Number(meta.total_compressed_size),
        unpacked_bytes: Number(meta.total_uncompressed_size),
    };
}

const sum = (rows, what) => rows.reduce((all, row) => all + row[what], 0);

async function hyparquet() {
    const { parquetMetadata, parquetSchema } = require("hyparquet");
    const bytes = readFileSync(file);
    const real = parquetMetadata(bytes);
    const columns = real.schema.length > 1 ? leaves(parquetSchema(real)) : [];
    const chunks = real.row_groups.flatMap((group, i) =>
        group.columns.map(({ meta_data: meta }, k) =>
            chunk(meta, i, columns[k])));
    const sizes = {
        bytes: sum(chunks, "bytes"),
        unpacked_bytes: sum(chunks, "unpacked_bytes"),
    };
    const listed = answer("tensors info", file);
    const info = answer("info", file);
    const { codecs, ...table } = info.table;

    same(listed.columns, columns, "columns");
    same(listed.chunks.map((row) =>
        ({ ...row, encodings: row.encodings.sort() })), chunks, "chunks");
    same(listed.totals, { chunks: chunks.length, columns: columns.length,
        ...sizes }, "totals");
    same(table, {
        rows: Number(real.num_rows),
        row_groups: real.row_groups.length,
        columns: columns.length,
        chunks: chunks.length,
        ...sizes,
        created_by: real.created_by ?? "",
    }, "the table");
    same(codecs.sort(), [...new Set(chunks.map((row) => row.codec))].sort(),
        "codecs");
    same([info.version, info.file_bytes, info.metadata_count],
        [real.version, bytes.length, real.key_value_metadata?.length ?? 0],
        "the file");
    same(metadata(), (real.key_value_metadata ?? []).map(
        ({ key, value }) => [key, value ?? ""]), "metadata");
}

const metadata = () => answer("meta list", file, "--full").metadata.map(
    ({ key, value }) => [key, value]);

// ---- parquet-wasm: what it shows

async function parquetWasm() {
    const { Compression, Encoding, ParquetFile } = require("parquet-wasm");
    const read = await ParquetFile.fromFile(new Blob([readFileSync(file)]));
    const real = read.metadata();
    const whole = real.fileMetadata();
    const info = answer("info", file);
    const groups = real.rowGroups();

    same([info.version, info.table.rows, info.table.row_groups,
        info.table.created_by, metadata().sort()],
    [whole.version(), whole.numRows(), real.numRowGroups(),
        whole.createdBy() ?? "", [...whole.keyValueMetadata()].sort()],
    "the file");
    same(answer("tensors info", file).chunks.map((row) => [row.group,
        row.column, row.codec, row.encodings.sort(), row.values, row.bytes,
        row.unpacked_bytes]),
    groups.flatMap((group, i) => group.columns().map((column) => [i,
        column.columnPath().join("."), Compression[column.compression()],
        [...new Set(column.encodings())].map((at) => Encoding[at]).sort(),
        column.numValues(), column.compressedSize(),
        column.uncompressedSize()])), "chunks");
}

// ---- files that parquet-wasm writes

function write() {
    const wasm = require("parquet-wasm");
    const { Compression, Encoding, WriterVersion } = wasm;
    const builder = () => new wasm.WriterPropertiesBuilder();
    const kinds = {
        plain: builder(),
        snappy: builder().setCompression(Compression.SNAPPY)
            .setMaxRowGroupSize(700),
        "2-zstd": builder().setWriterVersion(WriterVersion.V2)
            .setCompression(Compression.ZSTD).setDictionaryEnabled(false)
            .setEncoding(Encoding.PLAIN),
        lz4: builder().setCompression(Compression.LZ4_RAW)
            .setStatisticsEnabled(wasm.EnabledStatistics.None)
            .setCreatedBy("").setKeyValueMetadata(
                new Map([["key", "value"], ["\u00e9", ""]])),
        gzip: builder().setCompression(Compression.GZIP)
            .setDataPageSizeLimit(100)
            .setStatisticsEnabled(wasm.EnabledStatistics.Page),
    };

    for (const [kind, properties] of Object.entries(kinds))
        writeFileSync(`${prefix}${kind}.parquet`, wasm.writeParquet(
            wasm.readParquet(readFileSync(file)), properties.build()));
}

await ({ hyparquet, "parquet-wasm": parquetWasm, write }[task])();
