// ---- what the numbers of the tensors are

function drawNumbers(view, body) {
    const measures = dataMeasures(view), box = el("div"), data = view.data();

    if (!data?.any) {
        body.append(note("No numbers of these tensors can be decoded."));
        return;
    }
    const draw = (id) => {
        const measure = measures.find((each) => each.id === id);

        box.replaceChildren(rankingOf(view, measure), folded("By block and kind", () =>
            heatMap(`${measure.label} by block and kind`, view.groups(),
                    cellValue(view, measure.value), measure.text, (block, kind) =>
                        view.page.filter(view.at, block, kind)), { open: true }));
    };

    body.append(el("div", { class: "toolbar" },
        choice("Rank by", measures.map((each) => [each.id, each.label]), "outliers", draw)), box);
    draw("outliers");
}

// Of a block and kind: the worst of their tensors.
function cellValue(view, value) {
    const { kinds } = view.groups();
    const found = new Map(view.cells().map((cell) =>
        [cell.block * kinds.length + cell.kind, worst(cell.tensors, value)]));

    return (block, kind) => found.get(block * kinds.length + kind) ?? null;
}

function rankingOf(view, measure) {
    const data = view.data();
    const all = Uint32Array.from({ length: view.table.count }, (_, i) => i)
        .filter((i) => measure.value(i) !== null && !Number.isNaN(measure.value(i)));
    const order = sorted(all, measure.value, true);
    const most = order.length ? Number(measure.value(order[0])) : 1;

    return tableOf(`Tensors by ${measure.label.toLowerCase()}`, [{ label: "Tensor", class: "key" },
        { label: measure.label, number: true }, { label: "", class: "wide" },
        { label: "Least", number: true }, { label: "Largest", number: true },
        { label: "Std", number: true }, { label: "Histogram" }], order.length, (at) => {
        const i = order[at], histogram = data.histogram(i), value = measure.value(i);

        return [tensorLink(view, i), rounded(measure.text(value), String(value)),
                bar(most > 0 ? Number(value) / most : 0), numberNode(data.shown("min", i)),
                numberNode(data.shown("max", i)), numberNode(data.std(i)),
                histogram && histogramSvg(histogramBars(histogram, data.zeros(i)),
                                          statistic(histogram.beyond), 120, 24, true)];
    }, 20);
}

// ---- what an importance matrix covers

function drawMatrix(view, body) {
    const given = object(view.model.imatrix), entries = list(given.entries).map(object);
    const covers = Object.entries(object(given.of));
    const lacking = entries.filter((entry) => entry.cover !== "all");

    body.append(facts([
        ["Entries", has(given.tensors) && plainValue(given.tensors)],
        ["Chunks", has(given.chunks) && plainValue(given.chunks)],
        ["Experts", exact(given.experts) > exact(given.tensors)
            && `${grouped(exact(given.experts_used) ?? "?")} of ${grouped(exact(given.experts))} used`],
        ...covers.map(([cover, count]) => [["Tensors: ", fileText(cover)], plainValue(count)]),
    ]));
    body.append(el("h3", null, "Not covered"), lacking.length === 0
        ? note("The matrix covers every tensor that it is for.")
        : matrixRows(view, "Tensors that the matrix does not cover, or only in part", lacking));
    const whole = entries.filter((entry) => entry.cover === "all");

    if (whole.length) body.append(folded(`Covered: ${grouped(whole.length)}`, () =>
        matrixRows(view, "Tensors that the matrix covers", whole)));
}

function matrixOf(view) {
    const found = new Map();

    list(object(view.model.imatrix).entries).map(object).forEach((entry) => {
        if (exact(entry.tensor) !== null) found.set(exact(entry.tensor), entry);
    });
    return found;
}

function matrixRows(view, caption, entries) {
    return tableOf(caption, [{ label: "Tensor", class: "key" }, { label: "Cover" },
        { label: "Columns", number: true }, { label: "Experts used", number: true },
        { label: "Least", number: true }, { label: "Most", number: true }], entries.length, (at) => {
        const entry = entries[at], i = exact(entry.tensor);
        const known = i !== null && i >= 0 && i < view.table.count;
        const count = (value) => (has(value) ? numberNode(statistic(value)) : "");

        return [known ? tensorLink(view, i) : fileText(string(entry.name)),
                fileText(string(entry.cover)), count(entry.columns),
                exact(entry.experts) > 1 ? `${exact(entry.used) ?? "?"} of ${entry.experts}` : "",
                count(entry.least), count(entry.most)];
    });
}
