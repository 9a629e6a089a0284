// SPDX-License-Identifier: MIT
//
// models.mjs - real model files, against what other readers list in them
//
//     node tests/cli/models.mjs FOLDER
//
// FOLDER/models has GGUF and APR files, most with a listing FILE.json beside
// them; fixtures/llama and FOLDER/golden/e2e have more GGUF files with listings
// of their own; their content is explained there.  See models.t.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { answer, ask, check, exact, finish, parse, plainTensor, same, sha256,
    shortType, skip } from "./tap.mjs";

const folder = process.argv[2];

// One fault each: the finding's id, or "refused", and words of the message.
const FAULTS = {
    "bad_column_major.apr": ["refused", /column-major/],
    "bad_header_crc.apr": ["refused", /checksum/],
    "bad_dtype_2.apr": ["TENSOR-SIZE", /'bias' has 4 bytes, .*bf16/],
    "bad_oob_offset.apr": ["TENSOR-BOUNDS", /'weights' .*\(offset 1099511628160, /],
    "bad_truncated_data.apr": ["TENSOR-BOUNDS", /'weights' .*data ends at 400/],
    "bad_unsorted_index.apr": ["APR-INDEX-ORDER", /'bias'.* 'weights'/],
};

const IN_DATA = ["bad_footer_crc.apr"]; // only reading the data shows it

// Upstream's writer made these, and we are stricter than its reader.
const OURS_MINDS = {
    "duplicate_names.apr": ["TENSOR-DUPLICATE"],
    "names_sorting.apr": ["APR-NAME", "APR-NAME"], // empty; with a NUL
};

// Not ours to read, under our suffix.
const FOREIGN = {
    "built_legacy_apr0_compressed_none.apr": "apr1-wrapper",
    "built_legacy_apr1_json.apr": "apr1-json",
    "presentar_sentiment_mini.apr": "presentar",
};

const V1 = ["presentar_aprender-shell-base.apr", "realizar_mnist_784x2.apr"];

// ---- arrays are listed by their digest

const ARRAYS = { f32: Float32Array, i32: Int32Array, u32: Uint32Array };

function lengthBytes(text) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
    return length;
}

// An array's elements as they stand in a little-endian file; strings with
// their lengths, or without.
function elementBytes(of, value, lengths) {
    if (of !== "string")
        return Buffer.from(new ARRAYS[of](value).buffer);
    return Buffer.concat(value.flatMap((text) => lengths ?
        [lengthBytes(text), Buffer.from(text)] : [Buffer.from(text)]));
}

// ---- the three questions, for listings brought to one form:
//      {info: {...}, tensors: [{name, type, shape, offset, bytes, sha256}],
//       metadata: [entry], errors: [id]}

function checkTensors(path, theirs) {
    const file = readFileSync(path);
    const ours = answer("tensors info", path).tensors.map((t, i) => ({
        ...plainTensor(t), sha256: theirs[i]?.sha256 &&
            sha256(file.subarray(t.offset, t.offset + t.bytes)),
    }));
    same(ours, theirs, "tensors");
}

function checkInfo(path, theirs, errors) {
    const info = answer("info", path);
    const ours = Object.fromEntries(
        Object.keys(theirs).map((key) => [key, info[key]]));
    same(ours, theirs, "info");
    same(info.findings.filter((f) => f.severity === "error").map((f) => f.id),
        errors, "errors found");
}

function checkListing(path, { info, tensors, metadata, errors, reduce }) {
    const name = basename(path);
    check(`${name}: info`, () => checkInfo(path, info, errors ?? []));
    check(`${name}: tensors`, () => checkTensors(path, tensors));
    check(`${name}: metadata`, () => same(
        answer("meta list", path, "--full").metadata.map(reduce),
        metadata, "metadata"));
}

// ---- GGUF, as gguf-py lists it

function ggufListing(listing) {
    const metadata = Object.entries(listing.metadata).map(([key, entry]) => {
        if (entry.type !== "array")
            return { key, type: shortType(entry.type), value: entry.value };
        const digest = entry.sha256_len64le_bytes ?? entry.sha256_bytes;
        return { key, of: shortType(entry.of), count: entry.count,
            first: entry.first, last: entry.last, sha256: digest };
    });
    return {
        info: { format: "gguf", data_offset: listing.data_offset,
            alignment: listing.alignment, metadata_count: metadata.length,
            tensor_count: listing.tensors.length },
        tensors: listing.tensors, // none in these
        metadata,
        reduce: ggufEntry,
    };
}

function ggufEntry({ key, type, of, count, value }) {
    if (type !== "array")
        return { key, type, value };
    return { key, of, count, first: value.slice(0, 3), last: value.slice(-3),
        sha256: sha256(elementBytes(of, value, true)) };
}

// ---- APR, as upstream's own reader lists it

// Its reader keeps some numbers as f32, so metadata is compared with the text
// in the file, of which the listing has place and digest.
function aprMetadata(path, { header, metadata_raw_sha256 }) {
    const at = header.metadata_offset;
    const text = readFileSync(path).subarray(at, at + header.metadata_size);
    same(sha256(text), metadata_raw_sha256, "digest of the metadata");
    const types = parse(String(text), (token) => JSON.stringify(`\0${token}`));
    return Object.entries(exact(String(text))).map(([key, value]) =>
        ({ key, type: jsonType(types[key]), value }));
}

// Numbers come as a NUL and what is written in the file.
function jsonType(value) {
    if (typeof value === "string" && value.startsWith("\0"))
        return /[.eE]/.test(value) ? "f64" : value[1] === "-" ? "i64" : "u64";
    if (typeof value === "boolean")
        return "bool";
    return value === null ? "null" : Array.isArray(value) ? "array" :
        typeof value;
}

// Its reader finds data by name: under a duplicate name, the first.
function aprTensor(t, i, tensors) {
    const first = tensors.findIndex(({ name }) => name === t.name) === i;
    return { name: t.name, type: t.dtype_display.toLowerCase(),
        shape: t.shape, offset: t.offset_abs, bytes: t.size,
        sha256: first ? t.data_sha256 : undefined };
}

function aprListing(listing, path) {
    const metadata = aprMetadata(path, listing);
    return {
        info: { format: "apr", version: Number(listing.header.version),
            file_bytes: listing.file_size, metadata_count: metadata.length,
            data_offset: listing.header.data_offset,
            tensor_count: listing.header.tensor_count },
        tensors: listing.tensors.map(aprTensor),
        metadata,
        errors: OURS_MINDS[basename(path)],
        reduce: ({ key, type, value }) => ({ key, type, value }),
    };
}

// ---- GGUF files of llama-quantize: tensors.tsv, and kv.json by output

function goldenListing(name, kv, rows) {
    const [, source, ftype] = /^(llama-\w+?)(?:-([QIT]\w+))?\.gguf$/.exec(name);
    const id = [source, ftype ?? "SOURCE", "-"];
    const listing = kv[id.join("|")];
    const tensors = rows.filter((row) => row.slice(0, 3).join() === id.join())
        .map(([, , , tensor, type, shape, offset, bytes, digest]) => ({
            name: tensor, type: type.toLowerCase(),
            shape: shape.split("x").map(Number), offset: Number(offset),
            bytes: Number(bytes), sha256: digest }));
    const metadata = Object.entries(listing.kv_in_order)
        .map(([key, [type, ...rest]]) => type === "ARRAY" ?
            { key, of: shortType(rest[0]), count: rest[1], sha256: rest[2] } :
            { key, type: shortType(type), value: rest[0] });
    return {
        info: { format: "gguf", file_bytes: listing.size,
            tensor_count: listing.n_tensors, metadata_count: metadata.length },
        tensors, metadata, reduce: goldenEntry,
    };
}

// Digests there are of the elements' bytes without lengths, and cut short.
function goldenEntry({ key, type, of, count, value }) {
    return type !== "array" ? { key, type, value } : { key, of, count,
        sha256: sha256(elementBytes(of, value, false)).slice(0, 16) };
}

function checkGolden(dir) {
    const kv = exact(readFileSync(join(dir, "kv.json"), "utf8"));
    const rows = readFileSync(join(dir, "tensors.tsv"), "utf8").split("\n")
        .map((line) => line.split("\t"));
    for (const name of readdirSync(dir).filter((n) => /\.gguf$/.test(n) &&
        !/-of-/.test(n)))
        checkListing(join(dir, name), goldenListing(name, kv, rows));
}

// ---- files without a listing

function checkFault(path, [id, words]) {
    const { code, file: said } = ask("info", path);
    if (id === "refused") {
        same(code, 3, "exit code");
        same(words.test(said.error.message), true, said.error.message);
        return;
    }
    same(code, 0, "exit code");
    same(said.findings.map((finding) => finding.id), [id], "findings");
    same(words.test(said.findings[0].message), true, said.findings[0].message);
}

function checkForeign(path, name) {
    const { code, file: said } = ask("detect", path);
    same([code, said.format, said.supported], [0, name, false], "detect");
    same(ask("info", path).code, 3, "exit code of info");
}

function checkPlain(path, version) {
    const info = answer("info", path);
    same([info.format, info.version, info.errors, info.warnings],
        ["apr", version, 0, 0], "format, version, errors, warnings");
}

function checkFile(path) {
    const name = basename(path);
    if (existsSync(`${path}.json`)) {
        const listing = exact(readFileSync(`${path}.json`, "utf8"));
        checkListing(path, name.endsWith(".gguf") ? ggufListing(listing) :
            aprListing(listing, path));
    } else if (name in FAULTS) {
        check(`${name}: ${FAULTS[name][0]}`,
            () => checkFault(path, FAULTS[name]));
    } else if (IN_DATA.includes(name)) {
        skip(name, "the fault is in the data, which info does not read");
    } else if (name in FOREIGN) {
        check(`${name}: ${FOREIGN[name]}`,
            () => checkForeign(path, FOREIGN[name]));
    } else {
        check(`${name}: opens, nothing to find fault with`,
            () => checkPlain(path, V1.includes(name) ? 1 : 2));
    }
}

for (const dir of ["models/gguf", "models/apr", "models/apr/real"])
    if (existsSync(join(folder, dir)))
        readdirSync(join(folder, dir)).filter((n) => /\.(gguf|apr)$/.test(n))
            .forEach((name) => checkFile(join(folder, dir, name)));
for (const dir of ["fixtures/llama", join(folder, "golden/e2e")])
    if (existsSync(dir))
        checkGolden(dir);
finish();
