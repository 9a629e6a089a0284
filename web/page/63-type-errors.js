// ---- how large the errors of tensors are in some types

const MAP_CELLS_MOST = 4000;

// Of each tensor {name, tensor, errors, ...}; those that are not quantized have
// no errors.
function typeErrorsOf(view) {
    const given = object(view.model.type_errors);
    const entry = (each, isLeft) => {
        const i = exact(each.tensor);

        return { name: string(each.name), isLeft, type: string(each.type), rows: exact(each.rows),
                 measured: exact(each.measured_rows), weighted: each.weighted === true,
                 tensor: i !== null && i >= 0 && i < view.table.count ? i : null,
                 errors: object(each.errors) };
    };
    const all = [...list(given.tensors).map((each) => entry(object(each), false)),
                 ...list(given.others).map((each) => entry(object(each), true))];
    const groups = groupTensors({ count: all.length, name: (i) => all[i].name });

    return { all, groups, types: list(given.types).filter((each) => typeof each === "string"),
             reason: string(given.reason) };
}

const relativeError = (entry, type) => statistic(object(member(entry.errors, type)).relative_error);

// A cell for each block and kind that has a tensor, measured or not.
function typeErrorCells({ all, groups }, type) {
    const cells = new Map();

    all.forEach((entry, i) => {
        const block = groups.blockOf[i], kind = groups.kindOf[i];
        const key = block * groups.kinds.length + kind;

        if (!cells.has(key)) cells.set(key, { block, kind, entries: [], lacking: [] });
        const cell = cells.get(key);

        cell.entries.push(entry);
        if (relativeError(entry, type) === null) cell.lacking.push(entry);
    });
    for (const cell of cells.values())
        cell.worst = worst(cell.entries, (entry) => relativeError(entry, type));
    return [...cells.values()].sort((a, b) => a.block - b.block || a.kind - b.kind);
}

const whyLacking = (entry, type) => (entry.isLeft ? "not quantized" : `cannot be ${type}`);

function typeErrorName(cell, type) {
    const [first] = cell.entries, many = cell.entries.length, lacking = cell.lacking.length;
    const name = visible(first.name) + (many > 1 ? ` and ${grouped(many - 1)} more, the worst of them` : "");
    const found = object(member(first.errors, type)), bytes = exact(found.bytes);
    const why = [...new Set(cell.lacking.map((entry) => whyLacking(entry, type)))].join(", ");

    if (cell.worst === null) return `${name}: not measured, ${visible(why)}`;
    return [`${name}, ${visible(type)}: ${percentText(cell.worst)}`,
            many === 1 && bytes !== null && bytesText(bytes),
            lacking > 0 && `${grouped(lacking)} not measured (${visible(why)})`].filter(Boolean).join(" · ");
}

// Rows are blocks, columns are kinds, whose names are read from below.
function typeErrorMap(view, found, type, scale) {
    const { blocks, kinds } = found.groups, cells = typeErrorCells(found, type);
    const shown = cells.slice(0, MAP_CELLS_MOST), rows = [...new Set(shown.map((cell) => cell.block))];
    const row = new Map(rows.map((block, at) => [block, at]));
    const longest = kinds.reduce((most, kind) => Math.max(most, visible(kind).length), 0);
    const top = Math.min(170, longest * CHARACTER + 8), high = 18;

    const map = cellMap(`Errors in ${visible(type)}: a row for each block, a column for each kind of tensor`, (width) => {
        const left = Math.min(90, width * 0.25);
        const wide = Math.min(48, (width - left) / Math.max(1, kinds.length));
        const every = Math.ceil(12 / wide);

        return {
            height: top + rows.length * high,
            cells: shown.map((cell) => {
                const step = cell.worst === null ? -1 : scale.step(cell.worst);

                return { x: left + cell.kind * wide, y: top + row.get(cell.block) * high, width: wide,
                         height: high, fill: step < 0 ? "unmeasured" : `s${step}`,
                         name: typeErrorName(cell, type),
                         act: () => has(cell.entries[0].tensor)
                             && view.page.select(view.at, cell.entries[0].tensor) };
            }),
            over: [
                ...rows.map((block, at) => svg("text", { x: 0, y: top + at * high + 13, class: "axis" },
                    clipped(visible(blocks[block]) || "–", Math.floor((left - 6) / CHARACTER)))),
                ...kinds.map((kind, at) => at % every === 0 && svg("text", { x: 0, y: 0, class: "axis",
                    transform: `translate(${left + (at + 0.5) * wide + 4} ${top - 4}) rotate(-90)` },
                    clipped(visible(kind), Math.floor((top - 6) / CHARACTER)))),
            ],
        };
    });

    return [map.node, cells.length > shown.length
        && note(`Only the first ${grouped(MAP_CELLS_MOST)} of ${grouped(cells.length)} cells are drawn;`
            + " the table has all tensors.")];
}

function typeErrorRows(view, { all }, type) {
    const order = sorted(Uint32Array.from(all.keys()), (i) => relativeError(all[i], type), true);

    return tableOf(`Tensors by their error in ${visible(type)}`, [{ label: "Tensor", class: "key" },
        { label: "Type" }, { label: "Error", number: true }, { label: "Squared error", number: true },
        { label: "Standard error", number: true }, { label: "Bytes", number: true },
        { label: "Rows", number: true }, { label: "Measured", number: true }], order.length, (at) => {
        const entry = all[order[at]], error = object(member(entry.errors, type));
        const relative = relativeError(entry, type);

        return [has(entry.tensor) ? tensorLink(view, entry.tensor, entry.name) : fileText(entry.name, 120),
                fileText(entry.type, 40), relative === null ? visible(whyLacking(entry, type))
                    : rounded(percentText(relative), String(relative)),
                ...(relative === null ? ["", "", ""] : [numberNode(statistic(error.error)),
                    numberNode(statistic(error.standard_error)), bytesNode(exact(error.bytes))]),
                ...(entry.isLeft ? ["", ""] : [countNode(entry.rows), countNode(entry.measured)])];
    });
}

function drawTypeErrors(view, body) {
    const found = typeErrorsOf(view), { all, types, reason } = found;

    if (reason || !types.length) {
        body.append(note("The errors are not measured: ", fileText(reason || "no type was tried")));
        return;
    }
    const measured = all.filter((entry) => !entry.isLeft);
    const scale = scaleOf(types.flatMap((type) => measured.map((entry) => relativeError(entry, type) ?? NaN)), STEPS);

    body.append(facts([
        ["Tensors measured", grouped(measured.length)],
        ["With an importance matrix", measured.some((entry) => entry.weighted)
            && grouped(measured.filter((entry) => entry.weighted).length)],
        ["Not quantized", grouped(all.length - measured.length)],
    ]), note("The error of a tensor in a type, as a part of its numbers. Colours are the same in all maps."),
        scaleLegend(scale, percentText),
        el("ul", { class: "legend" }, el("li", null, el("span", { class: "swatch unmeasured" }),
                                         "not measured: not quantized, or cannot have the type")));
    types.forEach((type, at) => body.append(folded(fileText(type, 40), () => [
        typeErrorMap(view, found, type, scale), typeErrorRows(view, found, type)], { open: at < 4 })));
}
