// SPDX-License-Identifier: MIT
//
// module.js - the host of web/module/module.c: files for it, calls, errors
//
// A file is { size, read(offset, into) } with a read that fills a Uint8Array as
// far as it can and returns how many bytes it wrote.  All of it is synchronous:
// the module waits for its bytes.

// What WASI calls them.
const ECANCELED = 11;
const ENOENT = 44;
const ENOSYS = 52;
const EBADF = 8;
const EIO = 29;

const OK = 0;

/** What the library, or the module's host, says of a call that failed. */
export class ModelfileError extends Error {
    constructor(about) {
        super(about.message ?? about.status);
        this.name = 'ModelfileError';
        this.status = about.status;
        this.offset = about.offset;
        this.rule = about.rule;
        this.file = about.file;
    }

    about() {
        const { message, status, offset, rule, file } = this;
        return { message, status, offset, rule, file };
    }
}

/** Thrown by the `read` of a file, and by `progress`, to end the call. */
export class Stopped extends Error {}

// What the module imports of WASI because the library can also write and open
// files by name: there are none of these.
function wasi(module, memory) {
    const known = {
        random_get: (at, size) => {
            // Seeds of hash tables, which a file's author shall not know.
            crypto.getRandomValues(new Uint8Array(memory(), at, size));
            return OK;
        },
        clock_time_get: (id, precision, at) => {
            new DataView(memory()).setBigUint64(
                at, BigInt(Math.round(performance.now() * 1e6)), true);
            return OK;
        },
        proc_exit: () => {
            throw new WebAssembly.RuntimeError('exit');
        },
        fd_prestat_get: () => EBADF,
    };
    const imports = {};

    for (const { module: from, name } of WebAssembly.Module.imports(module))
        if (from === 'wasi_snapshot_preview1')
            imports[name] = known[name] ?? (() => ENOSYS);
    return imports;
}

/** One model.  The module has been compiled; an instance belongs to one model. */
export class Model {
    #exports;
    #files = [];
    #neighbour;
    #text = [];
    #failed = null; // what a file's read or progress threw
    #dead = null;

    /**
     * @param module a WebAssembly.Module
     * @param name of the file, for messages and to find its neighbours
     * @param file { size, read(offset, into) }
     * @param options.neighbour(name) another file, or null
     * @param options.together whether shards belong to it that its name counts
     * @param options.progress(done, total) during long calls
     */
    constructor(module, name, file, options = {}) {
        this.#neighbour = options.neighbour ?? (() => null);
        this.#files.push(file);
        const instance = new WebAssembly.Instance(module, {
            wasi_snapshot_preview1: wasi(module, () => this.#exports.memory.buffer),
            host: this.#host(options.progress ?? (() => {})),
        });

        this.#exports = instance.exports;
        this.#exports._initialize?.();
        this.#run(() => this.#exports.open(this.#pass(name), options.together ? 1 : 0));
    }

    #host(progress) {
        const guarded = (call) => {
            try {
                return call();
            } catch (error) {
                this.#failed = error;
                return -(error instanceof Stopped ? ECANCELED : EIO);
            }
        };

        return {
            size: (file) => this.#files[file].size,
            read: (file, offset, at, size) => guarded(() => {
                const into = new Uint8Array(this.#exports.memory.buffer, at, size);
                return this.#files[file].read(offset, into) || -EIO;
            }),
            open: (at, size) => guarded(() => {
                const file = this.#neighbour(this.#string(at, size));
                return file ? this.#files.push(file) - 1 : -ENOENT;
            }),
            close: (file) => {
                this.#files[file]?.close?.();
                this.#files[file] = null;
            },
            write: (at, size) => {
                this.#text.push(new Uint8Array(this.#exports.memory.buffer, at, size).slice());
            },
            progress: (done, total) => guarded(() => {
                progress(done, total);
                return 1;
            }) > 0 ? 1 : 0,
        };
    }

    #string(at, size) {
        return new TextDecoder().decode(new Uint8Array(this.#exports.memory.buffer, at, size));
    }

    // A text for the module; 0 if it is too long.
    #pass(text) {
        const bytes = new TextEncoder().encode(text);
        const at = this.#exports.room(bytes.length);

        if (at === 0)
            throw new ModelfileError({ status: 'argument', message: 'the name is too long' });
        const into = new Uint8Array(this.#exports.memory.buffer, at, bytes.length + 1);
        into.set(bytes);
        into[bytes.length] = 0;
        return at;
    }

    #written() {
        const decoder = new TextDecoder();
        const text = this.#text.map((piece) => decoder.decode(piece, { stream: true })).join('');

        this.#text = [];
        return text + decoder.decode();
    }

    // A trap leaves the module's memory in any state: no call follows it.
    #enter(call) {
        if (this.#dead)
            throw this.#dead;
        try {
            return call();
        } catch (error) {
            if (!(error instanceof WebAssembly.RuntimeError) && !(error instanceof RangeError))
                throw error;
            this.#dead = new ModelfileError({ status: 'trap', message: `the module stopped: ${error.message}` });
            throw this.#dead;
        }
    }

    // Calls what returns a status, and returns the text that it wrote.
    #run(call) {
        this.#failed = null;
        this.#text = [];
        const status = this.#enter(call);
        const text = this.#written();

        if (status === OK)
            return text;
        this.#enter(() => this.#exports.error(status));
        const error = new ModelfileError(JSON.parse(this.#written()));
        if (this.#failed)
            error.cause = this.#failed;
        throw error;
    }

    /** A member of a MODEL in docs/report.md; undefined if the model lacks it. */
    section(name) {
        return JSON.parse(this.#run(() => this.#exports.section(this.#pass(name))))[name];
    }

    /** An entry of the metadata, as docs/report.md has it. */
    entry(index) {
        return JSON.parse(this.#run(() => this.#exports.entry(index)));
    }

    /** Elements of a tensor, by its index, as a Float32Array. */
    values(tensor, first, count) {
        this.#run(() => this.#exports.values(tensor, first, count));
        return new Float32Array(this.#exports.memory.buffer, this.#exports.values_at(), count).slice();
    }

    /** What the work has taken, in bytes. */
    spent() {
        const spent = JSON.parse(this.#run(() => this.#exports.spent() ?? OK));

        return { ...spent, memory: this.#exports.memory.buffer.byteLength };
    }

    /** What a read or a neighbour threw in the last call, whatever came of it. */
    get failure() {
        return this.#failed;
    }

    close() {
        if (!this.#dead)
            this.#enter(() => this.#exports.close());
        this.#dead ??= new ModelfileError({ status: 'argument', message: 'the model is closed' });
    }
}
