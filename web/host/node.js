// SPDX-License-Identifier: MIT
//
// node.js - files of the disk, for Node
import { webcrypto } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

// Node 18 has it under this name only.
globalThis.crypto ??= webcrypto;

/** A file for Cache.file. */
export function diskFile(name) {
    const fd = fs.openSync(name);
    const size = fs.fstatSync(fd).size;

    return {
        size,
        close: () => fs.closeSync(fd),
        fetch: (offset, count) => {
            const bytes = new Uint8Array(count);
            let done = 0;

            while (done < count) {
                const part = fs.readSync(fd, bytes, done, count - done, offset + done);
                if (part === 0)
                    break;
                done += part;
            }
            return bytes.subarray(0, done);
        },
    };
}

/** The files next to it, for Model. */
export function diskNeighbours(name, cache) {
    const folder = path.dirname(name);

    return (other) => {
        const full = path.join(folder, path.basename(other));
        const about = fs.statSync(full, { throwIfNoEntry: false });

        return about?.isFile() ? cache.file(diskFile(full)) : null;
    };
}
