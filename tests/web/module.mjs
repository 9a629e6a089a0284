// SPDX-License-Identifier: MIT
//
// module.mjs - the module against the command, and on what means harm
//
//     node module.mjs MODULE.wasm verdicts EXPECTED.json...   `validate --json`
//     node module.mjs MODULE.wasm large FILE HEADER           bytes read, time
//     node module.mjs MODULE.wasm mangled FILE SECONDS        prefixes, mutants
//
// Each prints a line for what is wrong, or nothing but a summary on standard
// error, and ends with 1 if anything is.
import fs from 'node:fs';
import path from 'node:path';
import { Cache } from '../../web/host/cache.js';
import { Model, ModelfileError } from '../../web/host/module.js';
import { diskFile, diskNeighbours } from '../../web/host/node.js';

const SECTIONS = ['head', 'verdict', 'tensors', 'metadata', 'tokenizer', 'plan'];
const MEMORY = 64 * 1024 * 1024;
const SECONDS = 20; // for a file, on a machine that does something else as well

const [wasm, what, ...rest] = process.argv.slice(2);
const module = new WebAssembly.Module(fs.readFileSync(wasm));
let wrong = 0;

function say(name, text) {
    wrong++;
    console.log(`${name}: ${text}`);
}

function open(name, cache) {
    const neighbour = diskNeighbours(name, cache);
    // As the command takes the models of a folder.
    const together = /-00001-of-\d+\.safetensors$/.test(name);

    return new Model(module, name, cache.file(diskFile(name)), { neighbour, together });
}

// What must hold of any file: an error is one of the library's, memory is
// bounded, and time is.
function guarded(name, work) {
    const begun = performance.now();
    let result;

    try {
        result = work();
    } catch (error) {
        if (!(error instanceof ModelfileError) || error.status === 'trap')
            say(name, error.stack ?? String(error));
        result = { error };
    }
    if (performance.now() - begun > SECONDS * 1000)
        say(name, `took ${Math.round(performance.now() - begun)} ms`);
    return result;
}

function sections(name, model) {
    const document = {};

    for (const section of SECTIONS)
        document[section] = guarded(`${name} (${section})`, () => model.section(section));
    if (document.head.tensor_count > 0)
        guarded(`${name} (values)`, () => model.values(0, 0, 8));
    if (document.head.metadata_count > 0)
        guarded(`${name} (entry)`, () => model.entry(document.head.metadata_count - 1));
    if (model.spent().memory > MEMORY)
        say(name, `${model.spent().memory} bytes of memory`);
    return document;
}

// ---- verdicts

// The names of tensors by their index.
function names(tensors) {
    const found = [];

    for (let i = 0; i < (tensors?.count ?? 0); i++)
        found.push((i ? found[i - 1].slice(0, tensors.names[2 * i]) : '') + tensors.names[2 * i + 1]);
    return found;
}

// Of names in the folder: a module has no list of them.
const NEEDS_LIST = new Set(['SHARD-LEFTOVER']);

function expected({ findings }) {
    return findings.filter(({ id }) => !NEEDS_LIST.has(id)).map(({ id, severity, offset, tensor, shard, message }) =>
        ({ id, severity, offset: offset ?? undefined, tensor: tensor ?? undefined, shard: shard ?? undefined, message }));
}

// The command shows errors first.
const RANKS = ['error', 'warning', 'note'];

function found({ verdict, tensors }) {
    const name = names(tensors);
    const sorted = [...verdict.findings].sort((a, b) => RANKS.indexOf(a.severity) - RANKS.indexOf(b.severity));

    return sorted.map(({ id, severity, offset, tensor, shard, message }) =>
        ({ id, severity, offset: offset === undefined ? undefined : Number(offset),
            tensor: tensor === undefined ? undefined : name[tensor], shard, message }));
}

function verdict(file) {
    const document = guarded(file.file, () => {
        const model = open(file.file, new Cache());
        const made = sections(file.file, model);

        model.close();
        return made;
    });

    // What cannot be opened has one finding, the error.
    const { error } = document;
    const made = error ? [{ id: error.rule, severity: 'error', offset: error.offset, message: error.message }]
        : found(document);
    const wanted = file.error ? [{ id: file.error.rule, message: file.error.message }]
        : expected(file).map((finding) => error ? { ...finding, shard: undefined } : finding);

    if (file.error ? error?.message !== file.error.message : JSON.stringify(made) !== JSON.stringify(wanted))
        say(file.file, `${JSON.stringify(made)}\n    instead of ${JSON.stringify(wanted)}`);
}

function verdicts(lists) {
    let count = 0;

    for (const list of lists)
        for (const file of JSON.parse(fs.readFileSync(list, 'utf8')).files) {
            count++;
            verdict(file);
        }
    console.error(`${count} files`);
}

// ---- a large file

function large(name, header) {
    const cache = new Cache();
    const begun = process.cpuUsage();
    const model = open(name, cache);
    const document = sections(name, model);
    const { user, system } = process.cpuUsage(begun);
    const most = Number(header) + 256 * 1024;

    for (const section of SECTIONS)
        if (document[section]?.error)
            say(name, `${section}: ${document[section].error.message}`);
    if (cache.fetched.bytes > most)
        say(name, `read ${cache.fetched.bytes} bytes, more than ${most}`);
    console.error(`${path.basename(name)}: ${document.head.tensor_count} tensors, ${document.head.file_bytes} bytes, `
        + `header ${header}, read ${cache.fetched.bytes} in ${cache.fetched.requests} requests, `
        + `memory ${model.spent().memory}, processor ${Math.round((user + system) / 1000)} ms`);
}

// ---- prefixes and mutants

function tryBytes(name, bytes) {
    guarded(name, () => {
        const source = { size: bytes.length, fetch: (offset, size) => bytes.subarray(offset, offset + size) };
        const model = new Model(module, 'mangled', new Cache().file(source));

        sections(name, model);
        model.close();
    });
}

function mangled(name, seconds) {
    const bytes = fs.readFileSync(name);
    const end = performance.now() + 1000 * seconds;
    let seed = 1;
    let count = 0;
    const random = (below) => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        return seed % below;
    };

    for (let size = 1; size < Math.min(bytes.length, 4096); size += 7, count++)
        tryBytes(`${size} bytes of ${name}`, bytes.subarray(0, size));
    for (; performance.now() < end; count++) {
        const mutant = Uint8Array.from(bytes);
        const first = seed;

        for (let i = 1 + random(4); i > 0; i--)
            mutant[random(Math.min(bytes.length, 2048))] = random(3) ? random(256) : 255;
        tryBytes(`mutant ${first} of ${name}`, mutant);
    }
    console.error(`${path.basename(name)}: ${count} files`);
}

if (what === 'verdicts')
    verdicts(rest);
else if (what === 'large')
    large(...rest);
else
    mangled(...rest);
process.exitCode = wrong > 0 ? 1 : 0;
