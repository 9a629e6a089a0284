// SPDX-License-Identifier: MIT
//
// cache.js - blocks of files, kept while there is room
//
// The library reads a header through a window, several times where it has to.
// A block is fetched once as long as it is among those that were used last.

const BLOCK = 64 * 1024;

/** Blocks of all files of a model together, and counts of what was fetched. */
export class Cache {
    #blocks = new Map(); // in the order of their last use
    #files = 0;
    #most;

    /** What was fetched: for the page to show. */
    fetched = { requests: 0, bytes: 0 };

    constructor(bytes = 32 * 1024 * 1024) {
        this.#most = Math.max(1, Math.floor(bytes / BLOCK));
    }

    /**
     * The file { size, fetch(offset, size) → Uint8Array } as the host wants it.
     * ahead: bytes that one request may take more than it has to, where reads
     * follow one another; it begins with one block and doubles.
     */
    file(source, ahead = 0) {
        const id = this.#files++;
        let next = -1; // the block after the last request
        let more = 0;

        const fetch = (first, last) => {
            more = first === next ? Math.min(Math.max(1, 2 * more), Math.floor(ahead / BLOCK)) : 0;
            const end = Math.min(source.size, (last + 1 + more) * BLOCK);
            const bytes = source.fetch(first * BLOCK, end - first * BLOCK);

            this.fetched.requests++;
            this.fetched.bytes += bytes.length;
            if (bytes.length !== end - first * BLOCK)
                throw new Error('the file is shorter than it was');
            next = Math.ceil(end / BLOCK);
            for (let block = first; block < next; block++)
                this.#keep(`${id} ${block}`, bytes.subarray((block - first) * BLOCK,
                    (block - first + 1) * BLOCK));
            return bytes;
        };

        return {
            size: source.size,
            close: () => source.close?.(),
            read: (offset, into) => {
                const size = Math.min(into.length, source.size - offset);
                let done = 0;

                while (done < size) {
                    const at = offset + done;
                    const block = Math.floor(at / BLOCK);
                    let bytes = this.#find(`${id} ${block}`);

                    if (!bytes) {
                        let last = block;
                        const end = Math.floor((offset + size - 1) / BLOCK);
                        while (last < end && last - block < 63 && !this.#blocks.has(`${id} ${last + 1}`))
                            last++;
                        bytes = fetch(block, last);
                    }
                    const part = bytes.subarray(at - block * BLOCK, at - block * BLOCK + size - done);
                    into.set(part, done);
                    done += part.length;
                }
                return size;
            },
        };
    }

    #find(key) {
        const bytes = this.#blocks.get(key);

        if (bytes) {
            this.#blocks.delete(key);
            this.#blocks.set(key, bytes);
        }
        return bytes;
    }

    // A copy: a small part of a large request must not keep all of it.
    #keep(key, bytes) {
        this.#blocks.delete(key);
        this.#blocks.set(key, bytes.slice());
        for (const oldest of this.#blocks.keys()) {
            if (this.#blocks.size <= this.#most)
                break;
            this.#blocks.delete(oldest);
        }
    }
}
