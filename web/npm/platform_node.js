// SPDX-License-Identifier: MIT
//
// platform_node.js - what Node has: a disk
import fs from 'node:fs';
import path from 'node:path';
import { diskFile, diskNeighbours } from './host/node.js';

export const moduleBytes = () => fs.promises.readFile(new URL('modelfile.wasm', import.meta.url));

/** A file of the disk, and those next to it. */
export function fileOfDisk(name, cache) {
    const full = path.resolve(name);

    return { name: full, file: cache.file(diskFile(full)), neighbour: diskNeighbours(full, cache) };
}
