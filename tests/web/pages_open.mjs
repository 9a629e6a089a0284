// SPDX-License-Identifier: MIT
//
// pages_open.mjs - local.html and remote.html in a browser without a screen
//
//     node pages_open.mjs FOLDER FILE LARGE HEADER [TEST]
//
// FOLDER: the pages; FILE: a small GGUF file; LARGE: one of many gigabytes, the
// data of which begins at HEADER.  WEB_MODULES: the node_modules with
// playwright-core.  Prints TAP.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, small, large, header, only] = process.argv.slice(2);
const fixtures = path.join(path.dirname(small), '..');
const require = createRequire(path.join(process.env.WEB_MODULES, 'x.js'));
const { chromium } = require('playwright-core');
const MOST = Number(header) + 256 * 1024;

// ---- a server with ranges, and one without

const asked = [];

function serve(ranges) {
    const server = http.createServer((request, answer) => {
        const name = path.join(path.dirname(large), path.basename(request.url));
        const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
        const head = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'Range',
            'Access-Control-Expose-Headers': 'Content-Range' };

        if (request.method === 'OPTIONS')
            return answer.writeHead(204, head).end();
        if (!fs.existsSync(name))
            return answer.writeHead(404, head).end();
        const { size } = fs.statSync(name);
        if (request.method === 'HEAD')
            return answer.writeHead(200, { ...head, 'Content-Length': size }).end();
        const [first, last] = range && ranges ? [Number(range[1]), Math.min(Number(range[2]), size - 1)] : [0, size - 1];
        asked.push({ ranges, bytes: last + 1 - first });
        answer.writeHead(range && ranges ? 206 : 200, { ...head, 'Content-Length': last + 1 - first,
            ...(range && ranges ? { 'Content-Range': `bytes ${first}-${last}/${size}` } : {}) });
        fs.createReadStream(name, { start: first, end: last }).on('error', () => {}).pipe(answer);
    });

    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

// ---- pages

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'] });

async function page(name) {
    const opened = await browser.newPage();
    const notes = { requests: [], errors: [] };

    opened.on('request', (request) => notes.requests.push(request.url()));
    opened.on('console', (message) => message.type() === 'error' && notes.errors.push(message.text()));
    opened.on('pageerror', (error) => notes.errors.push(String(error)));
    await opened.goto(pathToFileURL(path.resolve(folder, name)).href);
    notes.requests.length = 0; // the page itself
    return { opened, notes };
}

const drawn = (opened) => opened.waitForSelector('#start.opened ~ #report main section', { timeout: 60000 });

// "12 requests, 34,567 bytes read"
async function read(opened) {
    const text = await opened.textContent('#start .progress');
    return Number(/([\d,]+) bytes read/.exec(text)[1].replaceAll(',', ''));
}

const network = ({ requests }) => requests.filter((url) => !url.startsWith('blob:') && !url.startsWith('data:'));

// ---- what several tests do

const OPEN = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'Range',
    'Access-Control-Expose-Headers': 'Content-Range' };

// A server whose answers to ranges `answer` writes.
function answering(write) {
    const server = http.createServer((request, answer) => {
        const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];

        if (request.method === 'OPTIONS')
            return answer.writeHead(204, OPEN).end();
        if (first === undefined)
            return answer.writeHead(404, OPEN).end();
        write(request, answer, Number(first), Number(last));
    });

    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

// remote.html, when it has opened a file of this server or said why not.
async function asking(server) {
    const { opened } = await page('remote.html');

    await opened.fill('#url', `http://127.0.0.1:${server.address().port}/x.gguf`);
    await opened.click('button[type=submit]');
    await opened.waitForFunction(() => document.querySelector('#start .error').textContent
        || document.querySelector('#report main'), null, { timeout: 20000 });
    return opened;
}

async function gone(server, opened) {
    server.closeAllConnections();
    server.close();
    await opened.close();
}

// As if they came from a file manager.
async function drop(opened, files) {
    const session = await opened.context().newCDPSession(opened);
    const { x, y } = await (await opened.$('#start .drop')).boundingBox();
    const data = { items: [], files, dragOperationsMask: 1 };

    for (const type of ['dragEnter', 'dragOver', 'drop'])
        await session.send('Input.dispatchDragEvent', { type, x: x + 9, y: y + 9, data });
}

// What only config.json says of it, and what its own files are.
async function isFolder(opened, notes) {
    assert.match(await opened.textContent('#report h1'), /good-hf-llama\/model\.safetensors/);
    assert.match(await opened.textContent('#summary'), /Architecture\s*llama/i);
    assert.deepEqual(notes.errors, []);
    assert.deepEqual(network(notes), []);
    await opened.close();
}

const tests = {
    async 'local.html shows a file that is chosen'() {
        const { opened, notes } = await page('local.html');

        await opened.setInputFiles('#files', small);
        await drawn(opened);
        assert.match(await opened.textContent('#report h1'), new RegExp(path.basename(small)));
        assert.deepEqual(notes.errors, []);
        assert.deepEqual(network(notes), []);
        await opened.close();
    },
    async 'and one that is dropped'() {
        const { opened, notes } = await page('local.html');
        const transfer = await opened.evaluateHandle((bytes) => {
            const made = new DataTransfer();
            made.items.add(new File([Uint8Array.from(bytes)], 'dropped.gguf'));
            return made;
        }, [...fs.readFileSync(small)]);

        await opened.dispatchEvent('#start .drop', 'drop', { dataTransfer: transfer });
        await drawn(opened);
        assert.match(await opened.textContent('#report h1'), /dropped\.gguf/);
        assert.deepEqual(notes.errors, []);
        assert.deepEqual(network(notes), []);
        await opened.close();
    },
    async 'of a large file it reads the header alone'() {
        const { opened, notes } = await page('local.html');

        await opened.setInputFiles('#files', large);
        await drawn(opened);
        const bytes = await read(opened);
        console.log(`# ${bytes} bytes read of ${fs.statSync(large).size}, header ${header}`);
        assert.ok(bytes <= MOST);
        assert.deepEqual(notes.errors, []);
        await opened.close();
    },
    async 'another file than a model is refused, with what is wrong'() {
        const { opened, notes } = await page('local.html');

        await opened.setInputFiles('#files', { name: 'x.gguf', mimeType: '', buffer: Buffer.from('GGUF\x03\x00\x00\x00') });
        await opened.waitForFunction(() => document.querySelector('#start .error').textContent);
        assert.match(await opened.textContent('#start .error'), /offset \d+/);
        assert.deepEqual(notes.errors, []);
        await opened.close();
    },
    async 'a folder that is chosen is a model with all of its files'() {
        const { opened, notes } = await page('local.html');

        await opened.setInputFiles('#folder', path.join(fixtures, 'good-hf-llama'));
        await drawn(opened);
        await isFolder(opened, notes);
    },
    async 'and one that is dropped, by the browser itself'() {
        const { opened, notes } = await page('local.html');

        await drop(opened, [path.resolve(fixtures, 'good-hf-llama')]);
        await drawn(opened);
        await isFolder(opened, notes);
    },
    async 'shards that are chosen or dropped are one model'() {
        for (const give of [(opened, files) => opened.setInputFiles('#files', files), drop]) {
            const { opened, notes } = await page('local.html');

            await give(opened, [2, 1].map((i) => path.resolve(fixtures, `llama/llama-split-0000${i}-of-00002.gguf`)));
            await drawn(opened);
            assert.match(await opened.textContent('h1 >> nth=1'), /llama-split-00001-of-00002\.gguf/);
            assert.match(await opened.textContent('#summary'), /Shards/);
            assert.deepEqual(notes.errors, []);
            await opened.close();
        }
    },
    async 'of several models one is chosen; names show what is hidden in them'() {
        const { opened, notes } = await page('local.html');
        const buffer = fs.readFileSync(small), files = ['a\u202eb.gguf', '<b>.gguf', '__proto__.gguf']
            .map((name) => ({ name, mimeType: '', buffer }));

        await opened.setInputFiles('#files', files);
        assert.deepEqual(await opened.$$eval('#start button', (all) => all.map((each) => each.textContent)),
            ['a\\u202eb.gguf', '<b>.gguf', '__proto__.gguf']);
        await opened.click('#start button >> nth=2');
        await drawn(opened);
        assert.match(await opened.textContent('#report h1'), /__proto__/);
        assert.deepEqual(notes.errors, []);
        await opened.close();
    },
    async 'a folder without a model is said to have none, and a strange one is opened'() {
        const { opened, notes } = await page('local.html');
        const strange = path.join(path.dirname(large), 'a\u202e b%2f#?', '__proto__');

        fs.mkdirSync(strange, { recursive: true });
        for (const name of ['read.me', 'licence'])
            fs.writeFileSync(path.join(strange, name), '');
        await drop(opened, [path.dirname(strange)]);
        await opened.waitForFunction(() => document.querySelector('#start .error').textContent);
        assert.match(await opened.textContent('#start .error'), /no model file/);
        fs.copyFileSync(small, path.join(strange, 'constructor.gguf'));
        await drop(opened, [path.dirname(strange)]);
        await drawn(opened);
        assert.match(await opened.textContent('#report h1'), /a\\u202e b%2f#\?\/__proto__\/constructor\.gguf/);
        assert.deepEqual(notes.errors, []);
        await opened.close();
    },
    async 'nor can a worker of local.html send anything'() {
        const { opened } = await page('local.html');
        const server = await serve(true);

        asked.length = 0;
        const sent = await opened.evaluate((url) => new Promise((resolve) => {
            const script = `fetch(${JSON.stringify(url)}).then(() => postMessage(true), () => postMessage(false))`;
            new Worker(URL.createObjectURL(new Blob([script]))).onmessage = ({ data }) => resolve(data);
        }), `http://127.0.0.1:${server.address().port}/${path.basename(small)}`);
        assert.equal(sent, false);
        assert.equal(asked.length, 0);
        server.close();
        await opened.close();
    },
    async 'a server that means harm is refused, with what is wrong'() {
        const { size } = fs.statSync(small), header = (first, last, total) => `bytes ${first}-${last}/${total}`;
        const wrong = {
            'has changed': (n, first, last) => header(first, last, n > 0 ? size + 1 : size),
            'bytes from 1 on instead of 0': (n, first, last) => header(n > 0 ? first + 1 : first, last, size),
            'no file is that long': (n, first, last) => header(first, last, '9'.repeat(400)),
            'does not say how long': (n, first, last) => header(first, last, '*'),
        };

        for (const [said, range] of Object.entries(wrong)) {
            let count = 0;
            const server = await answering((request, answer, first, last) => {
                const body = fs.readFileSync(small).subarray(first, last + 1);

                answer.writeHead(206, { ...OPEN, 'Content-Range': range(count++, first, last) });
                answer.end(body);
            });
            const opened = await asking(server);

            assert.ok((await opened.textContent('#start .error')).includes(said),
                `${said}: ${await opened.textContent('#start .error')}`);
            await gone(server, opened);
        }
    },
    async 'where a redirection leads is shown'() {
        const to = await serve(true), address = `http://127.0.0.1:${to.address().port}/${path.basename(large)}`;
        const from = await answering((request, answer) => answer.writeHead(302, { ...OPEN, Location: address }).end());
        const opened = await asking(from);

        await drawn(opened);
        assert.ok((await opened.textContent('#start')).includes(address));
        await gone(from, opened);
        to.closeAllConnections();
        to.close();
    },
    async 'local.html cannot send anything'() {
        const { opened } = await page('local.html');
        const server = await serve(true);

        asked.length = 0;
        const sent = await opened.evaluate(async (url) => {
            try {
                await fetch(url);
                return true;
            } catch {
                return false;
            }
        }, `http://127.0.0.1:${server.address().port}/${path.basename(small)}`);
        assert.equal(sent, false);
        assert.equal(asked.length, 0);
        server.close();
        await opened.close();
    },
    async 'remote.html fetches ranges, and says which'() {
        const server = await serve(true);
        const { opened, notes } = await page('remote.html');
        const url = `http://127.0.0.1:${server.address().port}/${path.basename(large)}`;

        asked.length = 0;
        await opened.fill('#url', url);
        await opened.click('button[type=submit]');
        await drawn(opened);
        const bytes = asked.reduce((sum, each) => sum + each.bytes, 0);
        console.log(`# ${asked.length} requests, ${bytes} bytes of ${fs.statSync(large).size}, header ${header}`);
        assert.ok(bytes <= Number(header) + 1024 * 1024 + 256 * 1024); // it asks ahead
        assert.ok((await opened.textContent('#start')).includes(url));
        assert.deepEqual(notes.errors, []);
        server.closeAllConnections();
        server.close();
        await opened.close();
    },
    async 'and refuses a server without ranges'() {
        const server = await serve(false);
        const { opened } = await page('remote.html');

        await opened.fill('#url', `http://127.0.0.1:${server.address().port}/${path.basename(large)}`);
        await opened.click('button[type=submit]');
        await opened.waitForFunction(() => document.querySelector('#start .error').textContent);
        assert.match(await opened.textContent('#start .error'), /whole files only/);
        server.closeAllConnections();
        server.close();
        await opened.close();
    },
};

let count = 0;
for (const [name, run] of Object.entries(tests)) {
    if (only && !name.includes(only))
        continue;
    count++;
    try {
        await run();
        console.log(`ok ${count} - ${name}`);
    } catch (error) {
        process.exitCode = 1;
        console.log(`not ok ${count} - ${name}\n${String(error.stack ?? error).replace(/^/gm, '# ')}`);
    }
}
console.log(`1..${count}`);
await browser.close();
