// SPDX-License-Identifier: MIT
//
// site.mjs - what is wrong with the links of a site
//
//     node site.mjs FOLDER
//
// Prints each link to a page, file or anchor that is not there, each id that is
// there twice, and anything that is fetched from elsewhere.
import { readFileSync, readdirSync, existsSync } from "node:fs";

const folder = process.argv[2];
const pages = new Map();

for (const name of readdirSync(folder).filter((each) => each.endsWith(".html"))) {
    const text = readFileSync(`${folder}/${name}`, "utf8");
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map((each) => each[1]);

    pages.set(name, { text, ids: new Set(ids) });
    ids.filter((id, at) => ids.indexOf(id) !== at)
        .forEach((id) => console.log(`${name}: '${id}' is there twice`));
}

const check = (from, target) => {
    const [path, id] = target.replaceAll("&amp;", "&").split("#");
    const page = path || from;

    if (/^[a-z]+:/.test(target)) return;
    if (!existsSync(`${folder}/${page}`)) console.log(`${from}: no ${target}`);
    else if (id && !pages.get(page)?.ids.has(decodeURIComponent(id)))
        console.log(`${from}: no anchor ${target}`);
};

let links = 0;
for (const [name, { text }] of pages) {
    for (const [, kind, target] of text.matchAll(/ (href|src)="([^"]*)"/g)) {
        check(name, target);
        links += 1;
        if (kind === "src" && /^[a-z]+:/.test(target))
            console.log(`${name}: fetches ${target}`);
    }
}

// The index of the search leads somewhere as well.
const INDEX = new Function(
    `${readFileSync(`${folder}/index.js`, "utf8")}; return INDEX;`)();
for (const [page, anchor] of INDEX) check(page, anchor ? `#${anchor}` : page);
if (links < 1000 || INDEX.length < 300)
    console.log(`only ${links} links and ${INDEX.length} sections`);
