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

// What "bytes 0-63/1000" says, if the server lets pages see it, else NaN.
function rangeOf(text) {
    const [, first = NaN, total = NaN] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(text ?? '') ?? [];

    return { first: Number(first), total: Number(total) };
}

// Beyond 2^53 offsets are not exact.
function checkedSize(url, size) {
    if (Number.isNaN(size))
        throw new NoRanges(url, 'does not say how long the file is');
    if (!Number.isSafeInteger(size))
        throw new Error(`${url}: no file is that long`);
    return size;
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
            const range = rangeOf(request.getResponseHeader('Content-Range'));

            if (request.status !== 206)
                throw new Error(`${url}: status ${request.status} instead of a range`);
            if (!Number.isNaN(range.total) && range.total !== size)
                throw new Error(`${url}: the file has changed`);
            if (!Number.isNaN(range.first) && range.first !== offset)
                throw new Error(`${url}: bytes from ${range.first} on instead of ${offset}`);
            if (request.response.byteLength !== count)
                throw new Error(`${url}: ${request.response.byteLength} bytes instead of ${count} at ${offset}`);
            log(request.responseURL || url, count);
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
    let size = rangeOf(answer.headers.get('Content-Range')).total;

    end.abort();
    if (answer.status === 200)
        throw new NoRanges(url, 'sends whole files only, no ranges of bytes');
    if (answer.status !== 206)
        throw new Error(`${url}: status ${answer.status} ${answer.statusText}`);
    log(answer.url || url, 0);
    if (Number.isNaN(size))
        size = sizeByHead(url);
    return remoteFile(url, checkedSize(url, size), log);
}

/** The files next to it, by the last part of the path. */
export function remoteNeighbours(url, cache, ahead, log) {
    return (other) => {
        const near = new URL(url);

        near.pathname = near.pathname.replace(/[^/]*$/, encodeURIComponent(other.split('/').pop()));
        const size = sizeByHead(near.href);
        log(near.href, 0);
        return Number.isNaN(size) ? null
            : cache.file(remoteFile(near.href, checkedSize(near.href, size), log), ahead);
    };
}
