// SPDX-License-Identifier: MIT
//
// outside.mjs - the fixtures, as readers that are not ours see them
//
//     node tests/outside.mjs FOLDER       where npm put @huggingface/gguf
//     node tests/outside.mjs "" REASON    why there is none
//
// What modelfile prints as JSON is parsed by node, safetensors headers too,
// and GGUF files are read by @huggingface/gguf.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { answer, ask, check, exact, finish, plainTensor, same, shortType,
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
        const one = Array.isArray(said) ? said : [said];
        same([0, 3].includes(code), true, `exit code ${code} of ${command}`);
        same(one.some((answer) => "error" in answer), code === 3,
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

// ---- GGUF, by @huggingface/gguf

// What that reader (0.4.6) cannot do, and why.
const UNREADABLE = {
    "good-type-iq4_ks.gguf": "it does not know type 144, which is a fork's",
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

async function checkGgufs(folder) {
    const reader = createRequire(`${resolve(folder)}/`)("@huggingface/gguf");
    for (const path of list(fixtures, /^good-.*\.gguf$/)) {
        const reason = UNREADABLE[path.replace(/.*\//, "")];
        if (reason) {
            skip(path, reason);
            continue;
        }
        const read = await reader.gguf(path,
            { allowLocalFile: true, typedMetadata: true })
            .catch((error) => error);
        check(`${path}: as @huggingface/gguf reads it`, () => {
            if (read instanceof Error)
                throw read;
            checkGguf(path, read, reader);
        });
    }
}

for (const path of list(fixtures, /^(good|bad|unsupported|model)/))
    check(`${path}: what is printed is JSON`, () => checkJson(path));
for (const path of list(fixtures, /^(good-|model-).*\.safetensors$/))
    check(`${path}: as node reads it`, () => checkSafetensors(path));
const [folder, reason] = process.argv.slice(2);
if (folder)
    await checkGgufs(folder);
else
    skip("GGUF files, as @huggingface/gguf reads them", reason);
finish();
