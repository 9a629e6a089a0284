// SPDX-License-Identifier: MIT
//
// dhat.mjs - what heap profiles contain
//
//     node tests/cli/dhat.mjs check OURS             the file is consistent
//     node tests/cli/dhat.mjs same OURS VALGRINDS    both say the same about our code
//     node tests/cli/dhat.mjs tree OURS DH_VIEW.JS   valgrind's viewer shows it
//
// Prints what is wrong; nothing if all is well.
import { readFileSync, readdirSync } from "node:fs";
import vm from "node:vm";

const [mode, path, other] = process.argv.slice(2);
const ours = JSON.parse(readFileSync(path, "utf8"));
const sums = ["tb", "tbk", "gb", "gbk", "eb", "ebk"];

function wrong(text) {
    console.log(text);
    process.exitCode = 1;
}

function total(profile, key) {
    return profile.pps.reduce((sum, point) => sum + point[key], 0);
}

// Names of the files of this source tree, without folders.
function sources() {
    const names = new Set();
    const look = (folder) => {
        for (const entry of readdirSync(folder, { withFileTypes: true })) {
            if (entry.isDirectory()) look(`${folder}/${entry.name}`);
            else names.add(entry.name);
        }
    };
    for (const folder of ["cli", "lib", "gguf", "apr", "safetensors"]) look(folder);
    return names;
}

// Bytes and blocks of each function of ours, with all that it calls.
function functions(profile, names) {
    const found = new Map();
    for (const point of profile.pps) {
        const inside = new Set();
        for (const frame of point.fs) {
            const at = /^0x[0-9A-F]+: (.*) \((.*):(\d+)\)$/.exec(profile.ftbl[frame]);
            if (at && names.has(at[2])) inside.add(`${at[1]} (${at[2]})`);
        }
        for (const name of inside) {
            const sum = found.get(name) ?? Object.fromEntries(sums.map((key) => [key, 0]));
            for (const key of sums) sum[key] += point[key];
            found.set(name, sum);
        }
    }
    return found;
}

function check() {
    const seen = new Set();
    const numbers = ["tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk"];
    if (ours.dhatFileVersion !== 2) wrong("the version is not 2");
    if (ours.ftbl[0] !== "[root]") wrong("the first frame is not [root]");
    if (!(ours.tg <= ours.te)) wrong("the peak is after the end");
    if (new Set(ours.ftbl).size !== ours.ftbl.length) wrong("frames are repeated");
    for (const frame of ours.ftbl.slice(1))
        if (!/^0x[0-9A-F]+: .+ \(.+\)$/.test(frame)) wrong(`a frame is '${frame}'`);
    for (const point of ours.pps) {
        const fs = point.fs.join();
        if (seen.has(fs)) wrong(`the point ${fs} is repeated`);
        seen.add(fs);
        if (point.fs.length === 0) wrong("a point has no frames");
        for (const key of numbers)
            if (!Number.isSafeInteger(point[key]) || point[key] < 0)
                wrong(`${key} of ${fs} is ${point[key]}`);
        for (const frame of point.fs)
            if (!(frame >= 1 && frame < ours.ftbl.length)) wrong(`${fs} has no frame ${frame}`);
        if (point.mb < point.gb || point.mb < point.eb || point.tb < point.mb)
            wrong(`most of ${fs} is ${point.mb}`);
        if (point.tl > point.tbk * ours.te) wrong(`${fs} lived for ${point.tl}`);
    }
}

function same(theirs) {
    const names = sources();
    const mine = functions(ours, names);
    const his = functions(theirs, names);
    for (const key of sums)
        if (total(ours, key) !== total(theirs, key))
            wrong(`${key} is ${total(ours, key)}, in DHAT ${total(theirs, key)}`);
    for (const name of new Set([...mine.keys(), ...his.keys()])) {
        const a = JSON.stringify(mine.get(name));
        const b = JSON.stringify(his.get(name));
        if (a !== b) wrong(`${name} has ${a}, in DHAT ${b}`);
    }
    if (mine.size < 3) wrong(`only ${mine.size} functions have names`);
}

// As much of a document as the viewer uses.
class Element {
    constructor(tag) {
        Object.assign(this, { tagName: tag, childNodes: [], className: "", textContent: "" });
        this.classList = { contains: () => false };
    }
    appendChild(child) {
        child.parentNode = this;
        this.childNodes.push(child);
        return child;
    }
    replaceChild(next, old) {
        this.childNodes[this.childNodes.indexOf(old)] = next;
        next.parentNode = this;
        return old;
    }
    cloneNode() {
        return Object.assign(new Element(this.tagName), { className: this.className });
    }
    set innerText(text) {
        this.textContent = text;
    }
    get selectedIndex() {
        return this.childNodes.findIndex((child) => child.selected);
    }
    click() {}
    all() {
        return this.textContent + this.childNodes.map((child) => child.all()).join("");
    }
}

function tree(viewer) {
    const document = {
        body: new Element("body"),
        createElement: (tag) => new Element(tag),
        createTextNode: (text) => Object.assign(new Element(""), { textContent: text }),
        location: { search: "" },
    };
    const context = vm.createContext({
        document, performance, console, Intl, URLSearchParams, FileReader: class {},
    });
    vm.runInContext(`${readFileSync(viewer, "utf8")}
        globalThis.show = (text) => {
            onLoad();
            gFilename = "profile";
            gData = JSON.parse(text);
            buildTree();
            displayTree(0, 0, 0);
        };`, context);
    context.show(readFileSync(path, "utf8"));
    const shown = document.body.all();
    if (/Error|NaN|undefined/.test(shown)) wrong(shown);
    if (!shown.includes("PP 1/1") && !shown.includes("PP 1 ")) wrong("no tree is shown");
}

if (mode === "check") check();
else if (mode === "same") same(JSON.parse(readFileSync(other, "utf8")));
else tree(other);
