// ---- elements

const SVG = "http://www.w3.org/2000/svg";

// Members of `given` are attributes, but for "class" and functions, which are
// called on events; children are elements and texts.
function fill(node, given, children) {
    for (const [key, value] of Object.entries(given ?? {})) {
        if (typeof value === "function") node.addEventListener(key, value);
        else if (value === true) node.setAttribute(key, "");
        else if (has(value) && value !== false) node.setAttribute(key, String(value));
    }
    return put(node, ...children);
}

// Adds what is there: an absent child is false, null or undefined.
function put(node, ...children) {
    node.append(...children.flat(Infinity).filter((each) => has(each) && each !== false));
    return node;
}

const el = (tag, given, ...children) => fill(document.createElement(tag), given, children);
const svg = (tag, given, ...children) =>
    fill(document.createElementNS(SVG, tag), given, children);

// Text of a file, by itself in whatever direction.
function fileText(text, most = 500) {
    const shown = cut(text, most), node = el("bdi", { class: "file" });

    node.append(...textNodes(shown));
    if (shown.length < text.length)
        node.append(el("span", { class: "cut" }, `… ${grouped(text.length)} characters`));
    return node;
}

const textNodes = (text) => pieces(text).map((piece) =>
    (piece.hidden ? el("span", { class: "escape" }, piece.text) : piece.text));

// What is rounded has the exact number as its title, or is the title of that.
let exactly = false;

const rounded = (text, full) => (String(full) === text ? text
    : el("span", { class: "rounded", title: exactly ? text : full }, exactly ? full : text));

function showExactly(wanted) {
    if (wanted === exactly) return;
    exactly = wanted;
    for (const node of document.querySelectorAll(".rounded"))
        [node.textContent, node.title] = [node.title, node.textContent];
}

const bytesNode = (value) =>
    (value === null ? "unknown" : rounded(bytesText(value), `${grouped(value)} bytes`));
const countNode = (value) =>
    (value === null ? "unknown" : rounded(countText(value), grouped(value)));
const numberNode = (value) =>
    (value === null ? "–" : typeof value === "bigint" ? countNode(value)
        : rounded(numberText(value), String(value)));

const button = (text, act, given) =>
    el("button", { type: "button", click: act, ...given }, text);
const note = (...text) => el("p", { class: "note" }, ...text);

// ---- what is folded: made when it is opened, or printed

const unmade = new WeakMap();

function folded(summary, make, given) {
    const node = el("details", { ...given, toggle: () => node.open && unfold(node) },
                    el("summary", null, summary));

    unmade.set(node, make);
    if (node.open) unfold(node);
    return node;
}

function unfold(node) {
    const make = unmade.get(node);

    unmade.delete(node);
    if (make) put(node, make());
}

// ---- long texts, in parts

const LINES_MOST = 400, CHARS_MOST = 32768;

// notes: of a line's number, what is said of it.
function linesView(text, numbered, notes = new Map()) {
    const rows = el("div", { class: numbered ? "lines numbered" : "lines" });
    const whole = el("div", { class: "text", tabindex: 0, role: "region",
                              "aria-label": "Text" }, rows);
    let place = { at: 0, line: 1, within: false };

    const more = button("Show more", () => {
        const taken = takeLines(text, place, LINES_MOST, CHARS_MOST);

        place = taken.place;
        rows.append(...taken.rows.map((row) => lineNode(row, numbered, notes)));
        more.hidden = taken.done || taken.rows.length === 0;
        more.textContent = `Show more (${grouped(Math.max(0, text.length - place.at))}`
            + " characters are left)";
    });

    more.click();
    return [whole, more];
}

function lineNode(row, numbered, notes) {
    const said = row.continued ? undefined : notes.get(row.line);
    const code = el("code", null, el("bdi", { class: "file" }, textNodes(row.text)));

    return el("div", { class: said ? "line marked" : "line" },
              numbered && el("span", { class: "line-number" }, row.continued ? "" : row.line),
              code, said && el("span", { class: "line-note" }, said));
}

// In place if it is short; notes() only of what is opened.
function longText(text, notes = () => undefined) {
    if (text.length <= 160 && !text.includes("\n")) return fileText(text);
    const lines = text.includes("\n");
    const head = cut(text, 100).split("\n", 1)[0];

    return folded([el("bdi", { class: "file" }, textNodes(head)), "… ",
                   el("span", { class: "cut" }, `${grouped(text.length)} characters`)],
                  () => linesView(text, lines, notes()));
}

// ---- tables

const ROWS_MOST = 50;
const QUIET = new Set(["Findings", "Metadata", "Samples", "Shards", "Special tokens", "Tensors"]);

// columns: {label, number}; cells(i) gives those of a row.  Rows come in parts.
// A caption that repeats the heading is only heard.
function tableOf(caption, columns, count, cells, step = ROWS_MOST) {
    const body = el("tbody");
    const more = button("Show more", () => {
        const end = Math.min(count, body.rows.length + step);

        for (let i = body.rows.length; i < end; i++)
            body.append(el("tr", null, cells(i).map((cell, at) =>
                el("td", { class: columns[at].number ? "number" : columns[at].class }, cell))));
        more.hidden = end >= count;
        more.textContent = `Show more (${grouped(count - end)} are left)`;
    });

    more.click();
    return el("div", { class: "table" },
              el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
                 el("table", null, el("caption", { class: QUIET.has(caption) && "quiet" }, caption),
                    el("thead", null, el("tr", null, columns.map((column) =>
                        el("th", { scope: "col", class: column.number && "number" },
                           column.label)))), body)), more);
}

// Pairs of a term and what is said of it; those without are left out.
const facts = (pairs, given) => el("dl", { class: "facts", ...given },
    pairs.filter(([, value]) => has(value) && value !== "" && value !== false).map(([term, value]) =>
        el("div", null, el("dt", null, term), el("dd", null, value))));

function bar(part, kind = "") {
    const inner = el("span", { class: `bar-fill ${kind}` });

    inner.style.width = `${Math.max(0, Math.min(1, part || 0)) * 100}%`;
    return el("span", { class: "bar", "aria-hidden": "true" }, inner);
}

// parts: {part, kind, title}.
function stack(parts) {
    return el("span", { class: "bar", "aria-hidden": "true" },
              parts.filter(({ part }) => part > 0).map((each) => {
        const inner = el("span", { class: `bar-fill ${each.kind}`, title: each.title });

        inner.style.width = `${Math.max(0, Math.min(1, each.part || 0)) * 100}%`;
        return inner;
    }));
}

let ids = 0;
const newId = (word) => `${word}-${++ids}`;

// A label with its control; options are [value, text].
function choice(label, options, value, change) {
    const select = el("select", { change: () => change(select.value) },
                      options.map(([key, text]) => el("option", { value: key }, text)));

    select.value = value;
    return el("label", { class: "control" }, el("span", null, label), select);
}

// Draws again when the width changes.
function responsive(node, draw) {
    let last = 0;
    const resized = () => {
        const width = Math.floor(node.clientWidth);

        if (width > 0 && width !== last) {
            last = width;
            draw(width);
        }
    };

    new ResizeObserver(resized).observe(node);
    return { redraw: () => last && draw(last) };
}
