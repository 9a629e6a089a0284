// SPDX-License-Identifier: MIT
//
// outside.mjs - the fixtures, as readers that are not ours see them
//
//     node tests/cli/outside.mjs FOLDER       where npm put @huggingface/gguf
//     node tests/cli/outside.mjs "" REASON    why there is none
//
// What modelfile prints as JSON is parsed by node, safetensors headers too,
// and GGUF files are read by @huggingface/gguf.  So are files that modelfile
// writes from the fixtures.
import { mkdtempSync, readdirSync, readFileSync, rmSync }
    from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { answer, ask, check, exact, finish, plainTensor, run, same, shortType,
    skip } from "./tap.mjs";

const fixtures = process.env.FIXTURES ?? "fixtures";

// Folders count as fixtures, and so do the files in them.
function list(dir, wanted) {
    return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => [
        ...(wanted.test(entry.name) ? [join(dir, entry.name)] : []),
        ...(entry.isDirectory() ? list(join(dir, entry.name), wanted) : []),
    ]);
}

// ---- everything that is printed as JSON is JSON

function checkJson(path) {
    for (const command of ["detect", "info", "tensors info", "meta list"]) {
        const { code, said } = ask(command, path);
        same([0, 3].includes(code), true, `exit code ${code} of ${command}`);
        same(said.files.some((file) => "error" in file), code === 3,
            `an error with exit code ${code} of ${command}`);
    }
}

// ---- safetensors: eight bytes of length, then JSON, then the data

function checkSafetensors(path) {
    const file = readFileSync(path);
    const start = 8 + Number(file.readBigUInt64LE(0));
    const { __metadata__: metadata = {}, ...tensors } =
        exact(file.toString("utf8", 8, start));
    const theirs = Object.entries(tensors).map(([name, t]) => ({
        name, type: t.dtype.toLowerCase(), shape: t.shape,
        offset: start + t.data_offsets[0],
        bytes: t.data_offsets[1] - t.data_offsets[0],
    }));
    same(answer("tensors info", path).tensors.map(plainTensor), theirs,
        "tensors");
    same(answer("meta list", path, "--full").metadata,
        Object.entries(metadata).map(([key, value]) =>
            ({ key, type: "string", value })), "metadata");
    const { data_offset, tensor_count } = answer("info", path);
    same([data_offset, tensor_count], [start, theirs.length], "info");
}

// ---- what safetensors' own reader asks of a file, and more

const BITS = { BOOL: 8, U8: 8, I8: 8, F8_E5M2: 8, F8_E4M3: 8, F8_E8M0: 8,
    F8_E4M3FNUZ: 8, F8_E5M2FNUZ: 8, F4: 4, F6_E2M3: 6, F6_E3M2: 6, I16: 16,
    U16: 16, F16: 16, BF16: 16, I32: 32, U32: 32, F32: 32, I64: 64, U64: 64,
    F64: 64, C64: 64 };

// All keys of the outermost object, those that JSON.parse would drop included.
function keysOf(text) {
    const keys = [];
    let depth = 0;
    for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}[\]]/g)) {
        if (token === "{" || token === "[")
            depth++;
        else if (token === "}" || token === "]")
            depth--;
        else if (token.endsWith(":") && depth === 1)
            keys.push(JSON.parse(token.slice(0, -1)));
    }
    return keys;
}

function checkRules(path) {
    const file = readFileSync(path);
    const size = Number(file.readBigUInt64LE(0));
    same(size <= 100e6 && size <= file.length - 8, true, "header's length");
    const text = new TextDecoder("utf-8", { fatal: true })
        .decode(file.subarray(8, 8 + size));
    same(text[0], "{", "first byte of the header");
    same(/}( *)$/.test(text), true, "spaces alone after the header");
    same(size % 8, 0, "length of the header, by 8");
    const keys = keysOf(text);
    same(new Set(keys).size, keys.length, "every name once");
    const { __metadata__: metadata = {}, ...tensors } = JSON.parse(text);
    for (const value of Object.values(metadata))
        same(typeof value, "string", "metadata");
    let end = 0;
    for (const [name, t] of Object.entries(tensors)
        .sort(([, a], [, b]) => a.data_offsets[0] - b.data_offsets[0] ||
            a.data_offsets[1] - b.data_offsets[1])) {
        same(Object.keys(t).sort(), ["data_offsets", "dtype", "shape"], name);
        same(t.data_offsets[0], end, `${name} begins where the last one ends`);
        const bits = t.shape.reduce((n, d) => n * d, 1) * BITS[t.dtype];
        same(t.data_offsets[1] - end, bits / 8, `bytes of ${name}`);
        end = t.data_offsets[1];
    }
    same(end, file.length - 8 - size, "the last tensor ends with the file");
}

// An index names each tensor's file, and all of their bytes.
function checkIndex(path) {
    const { metadata, weight_map: map } =
        JSON.parse(readFileSync(path, "utf8"));
    let size = 0;
    const names = [];
    for (const file of new Set(Object.values(map))) {
        const shard = answer("tensors info", join(path, "..", file));
        for (const tensor of shard.tensors) {
            same(map[tensor.name], file, tensor.name);
            names.push(tensor.name);
            size += tensor.bytes;
        }
    }
    same(names.sort(), Object.keys(map).sort(), "names");
    same(metadata.total_size, size, "total_size");
}

// ---- GGUF, by @huggingface/gguf

// What that reader (0.4.6) cannot do, and why.
const UNREADABLE = {
    "bad-type-iq4_ks.gguf": "it does not know type 144, which is a fork's",
    "good-zero-size.safetensors.gguf": "it takes no dimension above 2^32",
};

// 64-bit integers come as bigint; ours are numbers, or strings if too large.
function plain(value) {
    if (Array.isArray(value))
        return value.map(plain);
    if (typeof value !== "bigint")
        return value;
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

function theirMetadata(typed, GGUFValueType) {
    // Its first three entries are the counts of the header.
    return Object.entries(typed).slice(3).map(([key, entry]) => ({
        key, type: shortType(GGUFValueType[entry.type]),
        of: entry.subType === undefined ? undefined :
            shortType(GGUFValueType[entry.subType]),
        value: plain(entry.value),
    }));
}

function checkGguf(path, read, { GGUFValueType, GGMLQuantizationType }) {
    const start = Number(read.tensorDataOffset);
    const info = answer("info", path);
    same([info.version, info.byte_order, info.data_offset, info.tensor_count],
        [read.metadata.version, read.littleEndian ? "little" : "big", start,
            Number(read.metadata.tensor_count)], "info");
    same(answer("tensors info", path).tensors.map(({ name, type, shape,
        offset }) => ({ name, type, shape, offset })),
    read.tensorInfos.map((t) => ({ name: t.name,
        type: GGMLQuantizationType[t.dtype].toLowerCase(),
        shape: plain(t.shape), offset: start + Number(t.offset) })), "tensors");
    same(answer("meta list", path, "--full").metadata.map(({ key, type, of,
        value }) => ({ key, type, of, value })),
    theirMetadata(read.typedMetadata, GGUFValueType), "metadata");
}

async function checkGgufs(folder, paths) {
    const reader = createRequire(`${resolve(folder)}/`)("@huggingface/gguf");
    for (const path of paths) {
        const reason = UNREADABLE[basename(path).replace(".gguf.gguf",
            ".gguf")];
        if (reason) {
            console.log(`# not compared: ${basename(path)}: ${reason}`);
            continue;
        }
        const read = await reader.gguf(path,
            { allowLocalFile: true, typedMetadata: true })
            .catch((error) => error);
        const name = path.startsWith(fixtures) ? path :
            `written ${basename(path)}`;
        check(`${name}: as @huggingface/gguf reads it`, () => {
            if (read instanceof Error)
                throw read;
            checkGguf(path, read, reader);
        });
    }
}

// ---- what we write

// Every good fixture in every format that can carry it, and some in pieces;
// returns the folder.
function writeAll() {
    const folder = mkdtempSync(join(tmpdir(), "modelfile-outside."));
    const made = { gguf: 0, safetensors: 0 };
    for (const path of list(fixtures, /^good-.*\.(gguf|apr|safetensors)$/)) {
        if (path.includes("-of-") && !path.includes("00001"))
            continue;
        for (const to of Object.keys(made)) {
            const out = join(folder, `${basename(path)}.${to}`);
            made[to] += run("convert", "--reserve", "100", path, out) === 0;
        }
    }
    for (const [name, ...options] of [
        ["good-many-tensors.gguf", "--shard-tensors", "70"],
        ["good-alignment-64.gguf", "--shard-tensors", "1"],
        ["good-llama.gguf", "--shard-size", "1k"],
        ["good-dtypes.safetensors", "--shard-size", "100"]])
        check(`${name} ${options.join(" ")}: is written`, () =>
            same(run("convert", ...options, join(fixtures, name),
                join(folder, `part-${name}`)), 0, "exit code"));
    check("most fixtures are written", () =>
        same(made.gguf >= 40 && made.safetensors >= 40, true,
            JSON.stringify(made)));
    return folder;
}

for (const path of list(fixtures, /^(good|bad|unsupported|model)/))
    check(`${path}: what is printed is JSON`, () => checkJson(path));
for (const path of list(fixtures, /^(good-|model-).*\.safetensors$/))
    check(`${path}: as node reads it`, () => checkSafetensors(path));
const written = writeAll();
for (const path of list(written, /\.safetensors$/)) {
    check(`written ${basename(path)}: as node reads it`, () =>
        checkSafetensors(path));
    check(`written ${basename(path)}: as safetensors wants it`, () =>
        checkRules(path));
}
for (const path of list(written, /\.index\.json$/))
    check(`written ${basename(path)}: lists its files`, () => checkIndex(path));
const [folder, reason] = process.argv.slice(2);
if (folder)
    await checkGgufs(folder, [...list(fixtures, /^good-.*\.gguf$/),
        ...list(written, /\.gguf$/)]);
else
    skip("GGUF files, as @huggingface/gguf reads them", reason);
rmSync(written, { recursive: true });
finish();
