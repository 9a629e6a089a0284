// SPDX-License-Identifier: MIT
//
// pages_open.mjs - local.html and remote.html in a browser without a screen
//
//     node pages_open.mjs FOLDER FILE LARGE HEADER
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

const [folder, small, large, header] = process.argv.slice(2);
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
