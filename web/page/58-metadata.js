// ---- metadata

function drawMetadata(view, body) {
    const entries = list(view.model.metadata).map(object);
    const says = el("output", { class: "note" }), box = el("div");
    const texts = lazy(() => entries.map((entry) => `${string(entry.key)}\n${cut(
        typeof entry.value === "string" ? entry.value : JSON.stringify(entry.value) ?? "", 20000)}`
        .toLowerCase()));
    const draw = () => {
        const wanted = search.value.trim().toLowerCase(), all = entries.map((_, at) => at);
        const found = wanted ? all.filter((at) => texts()[at].includes(wanted)) : all;

        says.textContent = `${grouped(found.length)} of ${grouped(entries.length)} keys`;
        box.replaceChildren(tableOf("Metadata", [{ label: "Key", class: "key" }, { label: "Type" },
            { label: "Value", class: "wide" }], found.length, (at) => {
            const entry = entries[found[at]];

            return [fileText(string(entry.key)), el("span", { class: "type" }, entryType(entry)),
                    entryValue(view, entry, found[at])];
        }, 200));
    };
    const search = el("input", { type: "search", autocomplete: "off", spellcheck: "false",
                                 placeholder: "key or value", input: draw });

    draw();
    body.append(el("div", { class: "toolbar" },
        el("label", { class: "control" }, el("span", null, "Search"), search), says), box);
}

function entryType(entry) {
    const type = visible(cut(string(entry.type, "?"), 40));

    if (entry.type !== "array") return type;
    return `${visible(cut(string(entry.of, "?"), 40))}[${has(entry.count)
        ? grouped(exact(entry.count) ?? "?") : ""}]`;
}

// Findings that name a line of this entry's text.
function lineNotes(view, entry) {
    const notes = new Map();

    for (const finding of list(object(view.model.verdict).findings).map(object)) {
        const message = string(finding.message), line = /\bline (\d{1,7})\b/.exec(message);

        if (!line || !(finding.about === entry.key || message.includes(string(entry.key, "\0"))))
            continue;
        const at = Number(line[1]), said = `${visible(string(finding.severity))}: ${visible(message)}`;

        notes.set(at, notes.has(at) ? `${notes.get(at)}; ${said}` : said);
    }
    return notes;
}

function entryValue(view, entry, index) {
    const whole = el("div", { class: "value" }, valueNode(view, entry));
    const more = has(entry.bytes) || list(entry.value).some((each) => has(object(each).bytes)) ||
        exact(entry.count) > list(entry.value).length;

    if (more && typeof view.source?.entry === "function")
        whole.append(loadButton("Load all of it", async () => {
            const found = object(await view.source.entry(view.at, index));

            whole.replaceChildren();
            put(whole, valueNode(view, found));
        }));
    return whole;
}

// A button that is disabled while it works, and says what went wrong.
function loadButton(text, act) {
    const says = el("span", { class: "note", role: "status" });
    const node = button(text, async () => {
        node.disabled = true;
        says.textContent = " working…";
        try {
            await act();
            says.textContent = "";
        } catch (error) {
            says.textContent = ` failed: ${visible(String(error?.message ?? error))}`;
        }
        node.disabled = false;
    });

    return el("span", null, node, says);
}

function valueNode(view, entry) {
    const { value } = entry;

    if (Array.isArray(value)) return arrayNode(entry, value);
    if (typeof value === "string" && entry.type === "string")
        return [longText(value, () => lineNotes(view, entry)), has(entry.bytes)
            ? note(`The first part of ${grouped(exact(entry.bytes) ?? "?")} bytes.`) : ""];
    return plainValue(value);
}

// Of large integers, too, the document has strings.
const isText = (entry, each) => typeof each === "string" && entry.of === "string";

const elementText = (entry, each) => {
    if (typeof each === "string") return isText(entry, each) ? each : grouped(exact(each) ?? each);
    const cutOff = object(each);

    if (typeof cutOff.value === "string")
        return `${cutOff.value}… (${grouped(exact(cutOff.bytes) ?? "?")} bytes)`;
    return has(cutOff.count) ? `${string(cutOff.type, "?")}[${cutOff.count}]`
        : JSON.stringify(each) ?? "";
};

function arrayNode(entry, value) {
    const count = exact(entry.count) ?? value.length, short = value.slice(0, 8);
    const items = (many) => many.flatMap((each, at) =>
        [at ? ", " : "", isText(entry, each) ? el("q", null, fileText(each, 60))
            : fileText(elementText(entry, each), 60)]);

    if (count <= 8 && value.length <= 8) return el("span", null, items(short));
    return folded([items(short.slice(0, 4)), " … ",
                   el("span", { class: "cut" }, `${grouped(count)} elements`)], () => {
        const shown = Math.min(value.length, 1000);

        return [el("ol", { class: "values", start: 0 }, value.slice(0, shown).map((each) =>
            el("li", null, fileText(elementText(entry, each), 1200)))),
                count > shown && note(`and ${grouped(plus(count, -shown))} more`)].filter(Boolean);
    });
}
