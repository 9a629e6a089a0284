// SPDX-License-Identifier: MIT
//
// files.js - files of a browser, read in a worker: Blobs, and servers with ranges

/** A File or Blob, for Cache.file. */
export function blobFile(blob) {
    const reader = new FileReaderSync();

    return {
        size: blob.size,
        fetch: (offset, size) =>
            new Uint8Array(reader.readAsArrayBuffer(blob.slice(offset, offset + size))),
    };
}

/** The files next to `name` among { name, file }, for Model. */
export function blobNeighbours(files, cache) {
    return (other) => {
        const found = files.find(({ name }) => name === other);

        return found ? cache.file(blobFile(found.file)) : null;
    };
}

/** Why a server's file cannot be read in parts. */
export class NoRanges extends Error {
    constructor(url, why) {
        super(`${new URL(url).host} ${why}; download the file and open it as a local one`);
        this.name = 'NoRanges';
    }
}

// The whole size of "bytes 0-63/1000"; NaN where the server does not let pages
// see it.
function totalOf(range) {
    return Number(/\/(\d+)$/.exec(range ?? '')?.[1] ?? NaN);
}

function ask(method, url, range) {
    const request = new XMLHttpRequest();

    request.open(method, url, false);
    request.responseType = 'arraybuffer';
    if (range)
        request.setRequestHeader('Range', `bytes=${range}`);
    request.send();
    return request;
}

function sizeByHead(url) {
    const request = ask('HEAD', url);
    const length = request.getResponseHeader('Content-Length');

    return request.status === 200 && length !== null ? Number(length) : NaN;
}

function remoteFile(url, size, log) {
    return {
        size,
        fetch: (offset, count) => {
            const request = ask('GET', url, `${offset}-${offset + count - 1}`);
            const total = totalOf(request.getResponseHeader('Content-Range'));

            if (request.status !== 206)
                throw new Error(`${url}: status ${request.status} instead of a range`);
            if (!Number.isNaN(total) && total !== size)
                throw new Error(`${url}: the file has changed`);
            log(url, request.response.byteLength);
            return new Uint8Array(request.response);
        },
    };
}

/**
 * A file of a server.  The first request is one that can be ended before its
 * body: a server that knows no ranges would send all of it.
 */
export async function openRemote(url, log) {
    const end = new AbortController();
    const answer = await fetch(url, { headers: { Range: 'bytes=0-0' }, signal: end.signal });
    let size = totalOf(answer.headers.get('Content-Range'));

    end.abort();
    if (answer.status === 200)
        throw new NoRanges(url, 'sends whole files only, no ranges of bytes');
    if (answer.status !== 206)
        throw new Error(`${url}: status ${answer.status} ${answer.statusText}`);
    log(url, 0);
    if (Number.isNaN(size))
        size = sizeByHead(url);
    if (Number.isNaN(size))
        throw new NoRanges(url, 'does not say how long the file is');
    return remoteFile(url, size, log);
}

/** The files next to it, by the last part of the path. */
export function remoteNeighbours(url, cache, ahead, log) {
    return (other) => {
        const near = new URL(url);

        near.pathname = near.pathname.replace(/[^/]*$/, encodeURIComponent(other.split('/').pop()));
        const size = sizeByHead(near.href);
        log(near.href, 0);
        return Number.isNaN(size) ? null : cache.file(remoteFile(near.href, size, log), ahead);
    };
}
