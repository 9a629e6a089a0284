// SPDX-License-Identifier: MIT
//
// worker.js - a model in a worker of a page: calls come and answers go as messages
//
// { id, call, args } is answered by { id, result } or { id, error }; { progress }
// comes in between.
import { Cache } from './cache.js';
import { blobFile, blobNeighbours, openRemote, remoteNeighbours } from './files.js';
import { Model, ModelfileError } from './module.js';

const AHEAD = 1024 * 1024; // a request to a server takes longer than its bytes

let model;
let cache;
let from = []; // the servers' files, with what was fetched of each

function log(url, bytes) {
    let entry = from.find((known) => known.url === url);

    if (!entry)
        from.push(entry = { url, requests: 0, bytes: 0 });
    entry.requests++;
    entry.bytes += bytes;
    tell({});
}

function tell(more) {
    postMessage({ progress: { ...cache.fetched, from, ...more } });
}

let told = 0;
function progress(done, total) {
    const now = performance.now();

    if (now - told < 100)
        return;
    told = now;
    tell({ done, total });
}

const calls = {
    /** files: [{ name, file }], of which the first is opened. */
    openFiles({ module, files }) {
        const [{ name, file }] = files;

        cache = new Cache();
        model = new Model(module, name, cache.file(blobFile(file)),
            { neighbour: blobNeighbours(files, cache), together: files.length > 1, progress });
    },
    async openUrl({ module, url }) {
        const name = decodeURIComponent(new URL(url).pathname.split('/').pop());

        cache = new Cache();
        const file = cache.file(await openRemote(url, log), AHEAD);
        model = new Model(module, name, file,
            { neighbour: remoteNeighbours(url, cache, AHEAD, log), progress });
    },
    section: ({ name }) => model.section(name),
    entry: ({ index }) => model.entry(index),
    values: ({ tensor, first, count }) => model.values(tensor, first, count),
    spent: () => ({ ...model.spent(), ...cache.fetched }),
    close: () => model.close(),
};

// The first sentence that says what happened: the library only sees that a read
// failed.
function aboutOf(error) {
    const cause = error.cause ? { message: error.cause.message } : {};

    return error instanceof ModelfileError ? { ...error.about(), ...cause }
        : { status: error.name, message: error.message };
}

onmessage = async ({ data: { id, call, args } }) => {
    try {
        const result = await calls[call](args ?? {});
        tell({});
        postMessage({ id, result });
    } catch (error) {
        postMessage({ id, error: aboutOf(error) });
    }
};
