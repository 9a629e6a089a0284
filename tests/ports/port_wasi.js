// SPDX-License-Identifier: MIT
//
// port_wasi.js - runs tests/ports/port.c, compiled to WebAssembly, in node
//
//     node port_wasi.js PORT.wasm FOLDER FILE ARGUMENT...
//
// FOLDER is all that the module sees of the disk; FILE is a name in it.
// What host.size and host.read give it is what a page has of a file that its
// user has chosen: a size, and slices of bytes.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { WASI } = require('node:wasi');

const [wasmPath, folder, file, ...rest] = process.argv.slice(2);
const fd = fs.openSync(path.join(folder, file));
let memory;
let requests = 0;
let most = 0;

const host = {
    size: () => fs.fstatSync(fd).size,
    read: (offset, into, size) => {
        requests++;
        most = Math.max(most, size);
        return fs.readSync(fd, new Uint8Array(memory.buffer, into, size), 0, size, offset);
    },
};

async function main() {
    const wasi = new WASI({
        version: 'preview1',
        args: ['port', file, ...rest],
        preopens: { '.': folder, '/': folder },
        returnOnExit: true,
    });
    const module = await WebAssembly.compile(fs.readFileSync(wasmPath));
    const instance = await WebAssembly.instantiate(module, {
        wasi_snapshot_preview1: wasi.wasiImport,
        host,
    });

    memory = instance.exports.memory;
    process.exitCode = wasi.start(instance);
    process.stderr.write(`host.read: ${requests} requests, the largest ${most} bytes; ` +
        `memory ${memory.buffer.byteLength} bytes\n`);
}

main().catch((error) => {
    process.stderr.write(`${error}\n`);
    process.exitCode = 1;
});
