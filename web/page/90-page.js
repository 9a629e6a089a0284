// ---- the page: sections, navigation, theme, print

const MODEL_SECTIONS = [
    { id: "verdict", title: "Verdict", member: "verdict", draw: drawVerdict },
    { id: "map", title: "Map", member: "tensors", draw: drawMap },
    { id: "tensors", title: "Tensors", member: "tensors", draw: drawTable },
    { id: "numbers", title: "Numbers", member: "data", draw: drawNumbers },
    { id: "type-errors", title: "Errors of types", member: "type_errors", draw: drawTypeErrors },
    { id: "imatrix", title: "Importance matrix", member: "imatrix", draw: drawMatrix },
    { id: "memory", title: "Memory", member: "plan", draw: drawMemory },
    { id: "tokenizer", title: "Tokenizer", member: "tokenizer", draw: drawTokenizer },
    { id: "metadata", title: "Metadata", member: "metadata", draw: drawMetadata },
];

// Sections that a source may compute when they are asked for.
const LOADABLE = new Set(["verdict", "tensors", "metadata", "tokenizer", "plan", "data"]);

function sectionOf(id, title, draw) {
    const body = el("div", { class: "body" });
    const node = el("section", { id, "aria-labelledby": `${id}-title` },
                    el("h2", { id: `${id}-title`, tabindex: -1 }, title), body);

    try {
        draw(body);
    } catch (error) {
        body.replaceChildren(note("This section cannot be drawn: "
            + visible(String(error?.message ?? error))));
    }
    return node;
}

function modelSections(view) {
    const { page, model, source } = view, sections = [];

    view.matrixOf = lazy(() => matrixOf(view));
    for (const { id, title, member: name, draw } of MODEL_SECTIONS) {
        if (has(model[name])) sections.push(sectionOf(id, title, (body) => draw(view, body)));
        else if (typeof source?.section === "function" && LOADABLE.has(name))
            sections.push(sectionOf(id, title, (body) => body.append(loadButton("Compute", async () => {
                const found = await source.section(view.at, name);

                if (!has(found)) throw new Error("the model has nothing for it");
                page.report.models[view.at] = { ...model, [name]: found };
                page.reload(view.at, id);
            }))));
    }
    return sections;
}

function themeButton() {
    const root = document.documentElement;
    const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches
        ? "dark" : "light")) === "dark";
    const node = button("", () => {
        root.dataset.theme = dark() ? "light" : "dark";
        name();
    }, { class: "theme" });
    const name = () => { node.textContent = dark() ? "Light theme" : "Dark theme"; };

    name();
    return node;
}

// Titles are for mice alone: whoever has none reads the exact numbers in place.
function exactButton(page) {
    const node = button("Exact numbers", () => {
        showExactly(!exactly);
        node.setAttribute("aria-pressed", String(exactly));
        page.views[page.shown]?.tableSection?.refresh();
    }, { class: "exact", "aria-pressed": String(exactly) });

    return node;
}

function makePage(report, source) {
    const page = { report, source, shown: 0, root: document.getElementById("report") };

    page.views = makeViews(report, source, page);
    // What another section asks of the table of one model.
    const table = (at) => {
        if (page.shown !== at) page.open(at);
        return page.views[at].tableSection;
    };

    page.filter = (at, block, kind) => table(at)?.filter(block, kind);
    page.filterType = (at, type) => table(at)?.filterType(type);
    page.select = (at, i) => table(at)?.select(i);
    page.open = (at) => {
        page.shown = at;
        drawPage(page);
    };
    page.reload = (at, id) => {
        page.views = makeViews(report, source, page);
        page.open(at);
        document.getElementById(`${id}-title`)?.focus();
    };
    return page;
}

function drawPage(page) {
    const view = page.views[page.shown], several = page.views.length > 1;
    const title = view ? view.name : "Model report";
    const sections = [
        view && sectionOf("summary", "Summary", (body) => drawSummary(view, body)),
        several && sectionOf("compare", "Comparison", (body) => drawCompare(page, body)),
        ...(view ? modelSections(view) : []),
        has(page.report.recorded) && sectionOf("recorded", "Recorded run", (body) =>
            drawRecorded(page, body)),
    ].filter(Boolean);

    document.title = visible(cut(title, 100));
    page.root.replaceChildren(
        el("a", { class: "skip", href: "#summary" }, "Skip to the summary"),
        pageHead(page, view), pageNavigation(sections),
        el("main", null, sections.length ? sections : note("The document has no models.")),
        el("footer", null, note("Written by modelfile ", fileText(string(page.report.modelfile)))));
}

function pageHead(page, view) {
    const models = page.views.map((each, at) => [String(at), visible(cut(each.name, 60))]);

    return el("header", null, el("div", { class: "page-title" },
        el("h1", null, fileText(view ? view.name : "Model report", 200)),
        view && el("p", { class: "subtitle" }, has(view.model.verdict)
            && [el("a", { href: "#verdict" }, verdictBadge(object(view.model.verdict))), " "], [view.head.format, view.facts.architecture,
            view.facts.file_type].filter((each) => typeof each === "string" && each)
            .flatMap((each, at) => [at ? " · " : "", fileText(each, 60)]))),
        el("div", { class: "page-controls" },
           models.length > 1 && choice("Model", models, String(page.shown), (at) => {
               page.open(Number(at));
               page.root.querySelector(".page-controls select").focus();
           }), exactButton(page), themeButton()));
}

const pageNavigation = (sections) => el("nav", { "aria-label": "Sections" }, el("ul", null,
    sections.map((section) => el("li", null, el("a", { href: `#${section.id}` },
        section.querySelector("h2").textContent)))));

// ---- print: what is folded is opened, and the table is a table

let current = null, restore = [];

function beforePrint() {
    afterPrint();
    for (const node of document.querySelectorAll("details:not([open])")) {
        unfold(node);
        node.open = true;
        restore.push(() => { node.open = false; });
    }
    const grid = document.querySelector(".grid-and-detail");
    const printed = current?.views[current.shown]?.tableSection?.printed();

    if (grid && printed) {
        grid.after(printed);
        restore.push(() => printed.remove());
    }
}

function afterPrint() {
    restore.forEach((undo) => undo());
    restore = [];
}

function show(report, source) {
    const first = current === null;

    current = makePage(object(report), source ?? null);
    drawPage(current);
    if (!first) return;
    addEventListener("beforeprint", beforePrint);
    addEventListener("afterprint", afterPrint);
}

// The document in the page itself, if there is one.
function start() {
    const text = document.getElementById("document")?.textContent.trim();

    if (!text) return;
    try {
        show(JSON.parse(text));
    } catch (error) {
        document.getElementById("report").replaceChildren(
            note(`The document of this page cannot be read: ${visible(String(error.message))}`));
    }
}
