// SPDX-License-Identifier: MIT
//
// later.js - bytes that come later, for a module that cannot wait
//
// A read of what is not there ends the call.  Then the bytes are fetched, and
// the call is made again, by a model that is opened anew: what a failed read
// leaves behind counts for nothing.  Requests grow, so few are needed.
import { Model } from './host/module.js';

const AHEAD = 8 * 1024 * 1024;
const TRIES = 10000;

class Missing extends Error {
    constructor(get) {
        super('not there yet');
        this.get = get;
    }
}

/** For Cache.file: { size, read(offset, size) → Promise<Uint8Array> }. */
function laterFile(source) {
    let ready = null;

    return {
        size: source.size,
        fetch: (offset, size) => {
            if (ready?.offset === offset && ready.bytes.length === size) {
                const { bytes } = ready;
                ready = null;
                return bytes;
            }
            throw new Missing(async () => {
                ready = { offset, bytes: await source.read(offset, size) };
                if (ready.bytes.length !== size)
                    throw new Error(`${ready.bytes.length} bytes instead of ${size} at ${offset}`);
            });
        },
    };
}

/** The same calls as Model's, each of which is tried until all bytes are there. */
export class LaterModel {
    #open;
    #model = null;

    constructor(module, name, source, cache, options) {
        const file = cache.file(laterFile(source), AHEAD);
        const others = new Map(); // by name; null: there is none

        const neighbour = (other) => {
            if (!others.has(other))
                throw new Missing(async () => {
                    const found = await options.neighbour?.(other) ?? null;
                    others.set(other, found && cache.file(laterFile(found), AHEAD));
                });
            return others.get(other);
        };

        this.#open = () => new Model(module, name, file, { ...options, neighbour });
    }

    // What ended the last call, if it is only that bytes are missing.
    async #get(failure) {
        this.#model?.close();
        this.#model = null;
        await failure.get();
    }

    async call(name, ...args) {
        for (let i = 0; i < TRIES; i++) {
            let failure;

            try {
                this.#model ??= this.#open();
                const result = name === 'open' ? undefined : this.#model[name](...args);
                failure = this.#model.failure;
                if (!(failure instanceof Missing))
                    return result;
            } catch (error) {
                failure = error.cause;
                if (!(failure instanceof Missing))
                    throw error;
            }
            await this.#get(failure);
        }
        throw new Error('the file is read over and over');
    }

    close() {
        this.#model?.close();
    }
}
