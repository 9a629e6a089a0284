// SPDX-License-Identifier: MIT
//
// build.mjs - a page as one file
//
//     node web/build.mjs MODULE.wasm local|remote VERSION OUT.html
//
// The page of web/page, with the module (compressed, as text), its worker and
// the start of web/start in its script.  The policy has the digests of style and
// script, so nothing else runs.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';

const folder = path.dirname(fileURLToPath(import.meta.url));
const [wasm, kind, version, out] = process.argv.slice(2);

// A page cannot send anything; or it can, and fetches from servers.
const POLICY = {
    local: "connect-src 'none'",
    remote: 'connect-src http: https:',
};

const text = (name) => fs.readFileSync(path.join(folder, name), 'utf8');

// Modules that import from each other, in the order of their names, as parts of
// one script.
const joined = (...names) => names.map((name) => text(`host/${name}.js`)
    .replace(/^import [^;]*;\n/gm, '').replace(/^export /gm, '')).join('\n');

const digest = (inner) => `'sha256-${crypto.createHash('sha256').update(inner).digest('base64')}'`;

// No end of an element may be in a script.
const literal = (value) => JSON.stringify(value).replaceAll('<', '\\u003c');

const page = fs.readdirSync(path.join(folder, 'page')).filter((name) => /^\d.*\.js$/.test(name)).sort()
    .map((name) => text(`page/${name}`)).join('');
const script = [
    page,
    `const VERSION = ${literal(version)};`,
    `const MODULE_GZIP = ${literal(zlib.gzipSync(fs.readFileSync(wasm), { level: 9 }).toString('base64'))};`,
    `const WORKER = ${literal(joined('cache', 'files', 'module', 'worker'))};`,
    // The page needs the error's class, too.
    joined('module', 'client'),
    text('start/start.js'),
    text(`start/${kind}.js`),
].join('\n');
const style = text('page/page.css') + text('start/start.css');
const policy = `default-src 'none'; ${POLICY[kind]}; worker-src blob:; `
    + `script-src ${digest(`\n${script}\n`)} 'wasm-unsafe-eval'; style-src ${digest(`\n${style}\n`)}; `
    + "img-src data:; base-uri 'none'; form-action 'none'";
const parts = {
    '@POLICY@': `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '@STYLE@': style,
    '@SCRIPT@': script,
    '@DOCUMENT@': '',
};

fs.writeFileSync(out, text('page/page.html').replace(/^@[A-Z]+@$/gm, (name) => parts[name]));
