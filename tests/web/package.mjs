// SPDX-License-Identifier: MIT
//
// package.mjs - the package, installed, opens a file in every way
//
//     node package.mjs FOLDER-OF-PACKAGE FILE LARGE HEADER
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, file, large, header] = process.argv.slice(2);
const { open, ModelfileError } = await import(pathToFileURL(path.join(path.resolve(folder), 'index.js')));
const bytes = new Uint8Array(fs.readFileSync(file));

// A server with ranges.
const server = http.createServer((request, answer) => {
    const name = path.join(path.dirname(file), path.basename(request.url));
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');

    if (!fs.existsSync(name))
        return answer.writeHead(404).end();
    const { size } = fs.statSync(name);
    const [first, last] = [Number(range[1]), Math.min(Number(range[2]), size - 1)];
    answer.writeHead(206, { 'Content-Range': `bytes ${first}-${last}/${size}` });
    fs.createReadStream(name, { start: first, end: last }).pipe(answer);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const ways = {
    path: file,
    'file URL': pathToFileURL(path.resolve(file)),
    bytes,
    Blob: new Blob([bytes]),
    '{ size, read }': { size: bytes.length, read: async (at, size) => bytes.subarray(at, at + size) },
    URL: new URL(`http://127.0.0.1:${server.address().port}/${path.basename(file)}`),
};
let first;

for (const [way, source] of Object.entries(ways)) {
    const model = await open(source);
    const names = await model.names();
    const made = { head: await model.head(), verdict: await model.verdict(), tensors: await model.tensors(),
        metadata: await model.metadata(), tokenizer: await model.tokenizer(), plan: await model.plan(),
        values: [...await model.values(names.at(-1), 0, 8)], entry: await model.entry(0) };

    first ??= made;
    assert.deepEqual(made, first, way);
    assert.equal(made.values.length, 8);
    await assert.rejects(model.values('none'), ModelfileError);
    model.close();
}
await assert.rejects(open(new Uint8Array([1, 2, 3])), (error) => error instanceof ModelfileError && error.status === 'format');

// Of a large file that comes later little more than the header is fetched.
const handle = fs.openSync(large);
const model = await open({ size: fs.fstatSync(handle).size, read: async (at, size) => {
    const into = new Uint8Array(size);
    fs.readSync(handle, into, 0, size, at);
    return into;
} });
await model.verdict();
console.error(`${model.fetched.requests} requests, ${model.fetched.bytes} bytes, header ${header}`);
assert.ok(model.fetched.bytes <= 2 * Number(header) + 256 * 1024);
server.close();
