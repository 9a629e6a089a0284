// ---- two or more models

function drawCompare(page, body) {
    const { views, report } = page, pairs = list(report.compare).map(object);

    put(body, sideBySide(views));
    for (const pair of pairs) body.append(...drawn(() => drawPair(page, pair)));
}

// The facts of all models, a column for each.
function sideBySide(views) {
    const rows = [
        ["Format", (view) => fileText(string(view.head.format))],
        ["Size", (view) => bytesNode(exact(view.head.file_bytes))],
        ["Parameters", (view) => countNode(exact(view.head.parameters))],
        ["Tensors", (view) => countNode(exact(view.head.tensor_count) ?? view.table.count)],
        ["Valid", (view) => verdictBadge(object(view.model.verdict))],
        ...[...new Set(views.flatMap((view) => Object.keys(view.facts)))].map((key) =>
            [fileText(labelOf(key)), (view) => factValue(key, member(view.facts, key))]),
    ];
    const cells = rows.map(([label, of]) => [label, ...views.map((view) => el("div", null, of(view)))]);
    const differs = ([, ...nodes]) => new Set(nodes.map((node) => node.textContent)).size > 1;

    const odd = cells.filter(differs), even = cells.filter((row) => !differs(row));
    const table = (caption, some) => tableOf(caption, [{ label: "" },
        ...views.map((view) => ({ label: fileText(view.name, 60) }))], some.length, (i) => some[i], 100);

    return [odd.length ? table("Facts that differ", odd) : note("No facts differ."),
            even.length > 0 && folded(`${plural(even.length, "fact")} that ${
                even.length === 1 ? "is" : "are"} the same`, () => table("Facts that are the same", even))];
}

function sameBadge({ same }) {
    if (same === true) return el("strong", { class: "badge good" }, "✓ the same");
    return el("strong", { class: "badge" }, same === false ? "different" : "no difference was seen");
}

function drawPair(page, pair) {
    const a = element(page.views, pair.a), b = element(page.views, pair.b);

    if (!a || !b) return [note("A comparison is of models that are not in the document.")];
    return [el("h3", null, fileText(a.name, 80), " and ", fileText(b.name, 80)),
            el("p", null, sameBadge(pair), pair.data === false && " the data were not compared",
               string(pair.reason) && [": ", fileText(pair.reason, 500)]),
            unreadOf(a, b, object(pair.unread)),
            ...drawn(() => verifyOf(page, object(pair.verify), has(pair.verify))),
            ...drawn(() => keysThatDiffer(a, b, pair)),
            ...drawn(() => tensorsThatDiffer(page, a, b, pair))];
}

// A tensor that only one has may be one that was not read of the other.
const unreadOf = (a, b, unread) => [[a, exact(unread.a)], [b, exact(unread.b)]].map(([view, count]) =>
    count > 0 && note(`${plural(count, "part")} of `, fileText(view.name, 80),
        count === 1 ? " was not read: it is not compared." : " were not read: they are not compared."));

const WHAT = { only_a: "only in the first", only_b: "only in the second" };
const whatText = (what) => list(what).filter((each) => typeof each === "string")
    .map((each) => member(WHAT, each) ?? each).join(", ");

// Where data begin to differ: an element of an array, a byte of a tensor; and a
// column for it, if there is any.
const firstOf = (each) => (list(each.what).includes("data") && has(each.first)
    && (!has(each.key) || object(each.a).type === "array") ? grouped(exact(each.first) ?? "?") : "");
const firstColumn = (all, label) =>
    (all.some((each) => firstOf(each) !== "") ? [{ label, number: true }] : []);

function keysThatDiffer(a, b, pair) {
    const keys = list(pair.metadata).map(object), where = firstColumn(keys, "First element");

    return keys.length === 0 ? [] : [el("h4", null, "Metadata"), tableOf("Keys that differ", [
        { label: "Key", class: "key" }, { label: "What" }, ...where, { label: fileText(a.name, 40), class: "wide" },
        { label: fileText(b.name, 40), class: "wide" }], keys.length, (i) => [
        fileText(string(keys[i].key)), fileText(whatText(keys[i].what)), ...where.map(() => firstOf(keys[i])),
        ...[keys[i].a, keys[i].b].map((entry) => (has(entry)
            ? [el("span", { class: "note" }, entryType(object(entry)), " "),
               valueNode(a, object(entry))] : "–"))])];
}

function tensorsThatDiffer(page, a, b, pair) {
    const tensors = list(pair.tensors).map(object);

    if (!tensors.length) return [];
    const box = el("div"), error = (measure) => (i) => (has(tensors[i].values)
        ? measure.of(object(tensors[i].values)) : null);
    const draw = (id) => {
        const measure = ERRORS.find((each) => each.id === id), value = error(measure);
        const all = Uint32Array.from(tensors, (_, i) => i);

        box.replaceChildren(errorRanking(page, pair, tensors, sorted(all, value, true), measure),
                            errorMap(page, pair, tensors, measure, value));
    };

    draw("rmse");
    return [el("h4", null, "Tensors"), el("div", { class: "toolbar" },
        choice("Rank by", ERRORS.map((each) => [each.id, each.label]), "rmse", draw)), box];
}

// The tensor of the first of the two that has it.
function pairLink(page, pair, tensor) {
    for (const [side, model] of [["a", pair.a], ["b", pair.b]]) {
        const i = exact(tensor[side]), view = element(page.views, model);

        if (view && i !== null && i >= 0 && i < view.table.count)
            return tensorLink(view, i, string(tensor.name) || undefined);
    }
    return fileText(string(tensor.name));
}

function errorRanking(page, pair, tensors, order, measure) {
    const value = (i) => measure.of(object(tensors[i].values));
    const first = order.find((i) => Number.isFinite(value(i)));
    const most = first === undefined ? 1 : value(first) || 1;
    const where = firstColumn(tensors, "First byte");

    return tableOf(`Tensors that differ, by ${measure.label}`, [{ label: "Tensor", class: "key" },
        { label: "What" }, ...where, ...ERRORS.map((each) => ({ label: each.label, number: true })),
        { label: "", class: "wide" }], order.length, (at) => {
        const tensor = tensors[order[at]], values = object(tensor.values);
        const why = !has(tensor.values) && string(tensor.no_values);

        return [pairLink(page, pair, tensor), fileText(whatText(tensor.what)), ...where.map(() => firstOf(tensor)),
                ...ERRORS.map((each) => (has(tensor.values) ? numberNode(each.of(values)) : "–")),
                why ? fileText(why) : bar((value(order[at]) ?? 0) / most)];
    }, 25);
}

// The heat map over the blocks and kinds of the model that has the most of them.
function errorMap(page, pair, tensors, measure, value) {
    const view = page.views[pair.a], { blockOf, kindOf, kinds } = view.groups();
    const found = new Map();

    tensors.forEach((tensor, at) => {
        const i = exact(tensor.a), one = value(at);

        if (i === null || !(i >= 0 && i < view.table.count) || one === null) return;
        const key = blockOf[i] * kinds.length + kindOf[i];

        found.set(key, Math.max(found.get(key) ?? 0, one));
    });
    return folded(`${measure.label} by block and kind`, () => heatMap(
        `${measure.label} by block and kind`, view.groups(), (block, kind) =>
            found.get(block * kinds.length + kind) ?? null, measure.text,
        (block, kind) => page.filter(view.at, block, kind)), { open: true });
}

function followsBadge({ follows }) {
    if (follows === true)
        return el("strong", { class: "badge good" }, "✓ follows from its source");
    return follows === false
        ? el("strong", { class: "badge bad" }, "✗ does not follow from its source")
        : el("strong", { class: "badge" }, "not verified");
}

function verifyOf(page, verify, there) {
    if (!there) return [];
    const model = element(page.views, verify.model), source = element(page.views, verify.source);
    const counts = Object.entries(object(verify.counts));
    const seen = counts.filter(([, count]) => count !== 0);
    const tensors = list(verify.tensors).map(object);
    const odd = tensors.filter((each) => each.verdict !== "same");

    return [el("h4", null, "Verification"), el("p", null, followsBadge(verify), " ",
        model && source ? [fileText(model.name, 80), " of ", fileText(source.name, 80)] : "",
        string(verify.reason) && [": ", fileText(verify.reason, 500)]),
        seen.length > 1 && el("p", { class: "verdict" }, seen.map(([verdict, count]) =>
            el("span", { class: "count" }, fileText(verdict.replaceAll("_", " ")), ": ", plainValue(count)))),
        odd.length > 0 && verdictRows(model, odd, "Tensors that are not the same"),
        tensors.length > odd.length && folded(`${plural(tensors.length - odd.length, "tensor")} that ${
            tensors.length - odd.length === 1 ? "is" : "are"} the same`,
            () => verdictRows(model, tensors.filter((each) => each.verdict === "same"),
                              "Tensors that are the same"))];
}

function verdictRows(view, tensors, caption) {
    return tableOf(caption, [{ label: "Tensor", class: "key" }, { label: "Verdict" },
        { label: "Version" }, { label: "Blocks that differ", number: true },
        { label: "First", number: true }, { label: "RMSE", class: "key" },
        { label: "Reason", class: "wide" }], tensors.length, (at) => {
        const each = tensors[at], i = exact(each.tensor);
        const known = view && i !== null && i >= 0 && i < view.table.count;

        return [known ? tensorLink(view, i) : fileText(string(each.name)),
                [fileText(string(each.verdict).replaceAll("_", " ")),
                 each.weighted === true && " (with the importance matrix)"], fileText(string(each.version)),
                has(each.differ) ? `${grouped(exact(each.differ) ?? "?")} of `
                    + grouped(exact(each.blocks) ?? "?") : "",
                has(each.block) ? [grouped(exact(each.block) ?? "?"),
                    has(each.offset) && el("span", { class: "note" }, ` at ${hexText(exact(each.offset))}`)] : "",
                has(each.errors) ? folded(numberNode(statistic(object(each.errors).rmse)),
                    () => valuesFacts(object(each.errors))) : "",
                fileText(string(each.reason))];
    }, 25);
}
