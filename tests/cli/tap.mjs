// SPDX-License-Identifier: MIT
//
// tap.mjs - what the node scripts of the tests share: TAP, running modelfile,
// and JSON with exact numbers
import assert from "node:assert";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";

const modelfile = process.env.MODELFILE ??
    `${process.env.BUILD ?? "build"}/modelfile`;
let count = 0;
let failed = 0;

const comment = (text) => console.log(String(text).replace(/^/gm, "# "));

// check(NAME, BODY): ok unless BODY throws, as asserts do.
export function check(name, body) {
    count++;
    try {
        body();
        console.log(`ok ${count} - ${name}`);
    } catch (error) {
        failed++;
        console.log(`not ok ${count} - ${name}`);
        comment(error.code === "ERR_ASSERTION" ? error.message : error.stack);
    }
}

export function same(ours, theirs, what) {
    try {
        assert.deepStrictEqual(ours, theirs);
    } catch (error) {
        error.message = `${what}, + ours, - theirs\n${error.message}`;
        throw error;
    }
}

export function skip(name, reason) {
    count++;
    console.log(`ok ${count} - ${name} # SKIP ${reason}`);
}

export function finish() {
    console.log(`1..${count}`);
    process.exitCode = failed > 0 ? 1 : 0;
}

const JSON_TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

// parse(TEXT, WRITE): JSON whose numbers WRITE first puts another way.
export function parse(text, write) {
    return JSON.parse(text.replace(JSON_TOKENS, (token) =>
        token.startsWith('"') ? token : write(token)));
}

// Integers that a double cannot hold become strings: "18446744073709551615".
export function exact(text) {
    return parse(text, (token) =>
        /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ?
            `"${token}"` : token);
}

// ask(COMMAND, FILE, OPTION...): {code, said, file} with what it printed as
// JSON, which must be UTF-8, and what is said there of FILE.
export function ask(command, file, ...options) {
    const { status, stdout, error } = spawnSync(modelfile,
        [...command.split(" "), file, "--json", ...options],
        { maxBuffer: 1 << 30, timeout: 60000 });
    if (error)
        throw error;
    const text = new TextDecoder("utf-8", { fatal: true }).decode(stdout);
    const said = exact(text);
    return { code: status, said, file: said.files?.[0] };
}

// run(ARGUMENT...): the exit code alone.
export function run(...words) {
    const { status, error } = spawnSync(modelfile, words, { timeout: 60000 });
    if (error)
        throw error;
    return status;
}

// answer(COMMAND, FILE, OPTION...): what is said of FILE where it must succeed.
export function answer(command, file, ...options) {
    const got = ask(command, file, "--one-file", ...options);
    same(got.code, 0, `exit code of ${command} ${file}`);
    return got.file;
}

export const sha256 = (bytes) =>
    createHash("sha256").update(bytes).digest("hex");

// "UINT32" and "uint32" are u32 here, "FLOAT32" is f32.
export const shortType = (type) => type.toLowerCase()
    .replace("float", "f").replace("uint", "u").replace("int", "i");

// The fields that other readers know of a tensor, too.
export const plainTensor = ({ name, type, shape, offset, bytes }) =>
    ({ name, type, shape, offset, bytes });
