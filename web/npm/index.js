// SPDX-License-Identifier: MIT
//
// index.js - the package: open() and the model that it gives
import { fileOfDisk, moduleBytes } from '#platform';
import { Cache } from './host/cache.js';
import { Model, ModelfileError } from './host/module.js';
import { LaterModel } from './later.js';

export { ModelfileError };

let compiled;

// A model whose files are there when they are asked for.
class PresentModel {
    #model;

    constructor(module, name, file, options) {
        this.#model = new Model(module, name, file, options);
    }

    async call(name, ...args) {
        return name === 'open' ? undefined : this.#model[name](...args);
    }

    close() {
        this.#model.close();
    }
}

const bytesFile = (bytes) => ({ size: bytes.length, fetch: (at, size) => bytes.subarray(at, at + size) });

const blobSource = (blob) => ({
    size: blob.size,
    read: async (at, size) => new Uint8Array(await blob.slice(at, at + size).arrayBuffer()),
});

async function range(url, first, last) {
    const end = new AbortController();
    const answer = await fetch(url, { headers: { Range: `bytes=${first}-${last}` }, signal: end.signal });

    if (answer.status === 206)
        return answer;
    end.abort(); // all of a file of any size may be on its way
    if (answer.status === 404)
        return null;
    throw new Error(`${url}: ${answer.status === 200 ? 'the server knows no ranges' : `status ${answer.status}`}`);
}

async function urlSource(url) {
    const answer = await range(url, 0, 0);
    const size = Number(/\/(\d+)$/.exec(answer?.headers.get('Content-Range') ?? '')?.[1] ?? NaN);

    await answer?.arrayBuffer();
    if (answer && Number.isNaN(size))
        throw new Error(`${url}: the server does not say how long the file is`);
    return answer && {
        size,
        read: async (at, count) => new Uint8Array(await (await range(url, at, at + count - 1)).arrayBuffer()),
    };
}

async function openUrl(module, url, cache, options) {
    const source = await urlSource(url);

    if (!source)
        throw new Error(`${url}: there is no such file`);
    const neighbour = (other) => {
        const near = new URL(url);
        near.pathname = near.pathname.replace(/[^/]*$/, encodeURIComponent(other.split('/').pop()));
        return urlSource(near);
    };
    return new LaterModel(module, decodeURIComponent(url.pathname.split('/').pop()), source, cache,
        { neighbour, ...options });
}

async function openAny(module, source, cache, options) {
    const name = options.name ?? source.name ?? 'model';

    if (source instanceof URL && source.protocol !== 'file:')
        return openUrl(module, source, cache, options);
    if (typeof source === 'string' || source instanceof URL) {
        const { name: path, file, neighbour } = fileOfDisk(
            source instanceof URL ? decodeURIComponent(source.pathname) : source, cache);
        return new PresentModel(module, path, file, { neighbour, ...options });
    }
    if (source instanceof Uint8Array)
        return new PresentModel(module, name, cache.file(bytesFile(source)), options);
    if (source instanceof Blob)
        return new LaterModel(module, name, blobSource(source), cache, options);
    if (typeof source?.size === 'number' && typeof source.read === 'function')
        return new LaterModel(module, name, source, cache, options);
    throw new TypeError('a path, a URL, a File, a Blob, a Uint8Array or { size, read } is needed');
}

class OpenModel {
    #model;
    #cache;
    #names = null;

    constructor(model, cache) {
        this.#model = model;
        this.#cache = cache;
    }

    head() { return this.#model.call('section', 'head'); }
    verdict() { return this.#model.call('section', 'verdict'); }
    tensors() { return this.#model.call('section', 'tensors'); }
    metadata() { return this.#model.call('section', 'metadata'); }
    tokenizer() { return this.#model.call('section', 'tokenizer'); }
    plan() { return this.#model.call('section', 'plan'); }
    entry(index) { return this.#model.call('entry', index); }

    /** The names of all tensors, in the order of the table. */
    async names() {
        if (!this.#names) {
            const { count, names } = await this.tensors() ?? { count: 0 };
            this.#names = [];
            for (let i = 0; i < count; i++)
                this.#names.push((i ? this.#names[i - 1].slice(0, names[2 * i]) : '') + names[2 * i + 1]);
        }
        return this.#names;
    }

    async values(tensor, first = 0, count = 1024) {
        const index = typeof tensor === 'number' ? tensor : (await this.names()).indexOf(tensor);

        if (index < 0)
            throw new ModelfileError({ status: 'argument', message: `there is no tensor '${tensor}'` });
        return this.#model.call('values', index, first, count);
    }

    /** What was read so far. */
    get fetched() { return { ...this.#cache.fetched }; }

    close() { this.#model.close(); }
}

export async function open(source, options = {}) {
    compiled ??= moduleBytes().then((bytes) => WebAssembly.compile(bytes));
    const cache = new Cache(256 * 1024 * 1024);
    const model = await openAny(await compiled, source, cache, options);

    await model.call('open');
    return new OpenModel(model, cache);
}
