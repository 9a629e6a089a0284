// ---- where the bytes are

const CELLS_MOST = 2500;

function drawMap(view, body) {
    const cells = view.cells();

    if (!cells.length) {
        body.append(note("There are no tensors."));
        return;
    }
    const measures = view.measures();
    const colours = { by: "type" };
    const legend = el("div");
    const map = cellMap("Bytes of tensors by block and kind: arrows choose, Enter lists the "
        + "tensors. The tables after it say the same.", (width) => mapLayout(view, width, colours));
    const recolour = (by) => {
        colours.by = by;
        colours.measure = measures.find((each) => each.id === by);
        colours.scale = colours.measure && scaleOf(cells.map((cell) =>
            worst(cell.tensors, colours.measure.value)), STEPS);
        legend.replaceChildren(...(colours.measure
            ? [scaleLegend(colours.scale, colours.measure.text)] : [typeLegend(view)]).flat());
        map.redraw();
    };

    recolour("type");
    const unknown = cells.reduce((sum, cell) => sum + cell.unknown, 0);

    body.append(measures.length ? el("div", { class: "toolbar" },
        choice("Colour", [["type", "Type"], ...measures.map((each) => [each.id, each.label])],
               "type", recolour)) : "", legend, map.node,
        unknown > 0 ? note(`The size of ${plural(unknown, "tensor")} is unknown: not in the map, and not`
            + " in the bytes of the tables.") : "",
        view.groups().blocks.length > CELLS_MOST ? note(`Only the ${grouped(CELLS_MOST)} largest`
            + " blocks are in the map.") : "",
        el("div", { class: "columns" }, blocksTable(view), kindsTable(view)));
}

function cellFill(view, cell, colours) {
    if (!colours.measure) return view.typeRank().colours.get(mainType(cell)) ?? "none";
    const value = worst(cell.tensors, colours.measure.value);
    const step = value === null ? -1 : colours.scale.step(value);

    return step < 0 ? "none" : `s${step}`;
}

function cellName(view, cell, colours) {
    const { blocks, kinds } = view.groups();
    const types = [...cell.types.keys()].map((type) => view.table.types[type]?.name ?? "?");
    const value = colours.measure && worst(cell.tensors, colours.measure.value);

    return [visible(blockName(blocks[cell.block])), visible(kinds[cell.kind]),
            cell.tensors.length > 1 && `${grouped(cell.tensors.length)} tensors`,
            bytesText(cell.bytes), visible(cut(types.join(", "), 60)),
            colours.measure && `${colours.measure.label}: ${has(value)
                ? colours.measure.text(value) : "unknown"}`].filter(Boolean).join(" · ");
}

// Blocks as areas, and in each its kinds; only blocks where there are too many.
function mapLayout(view, width, colours) {
    const { blocks } = view.groups(), height = Math.round(Math.max(300, Math.min(520, width * 0.6)));
    const inside = blocks.map(() => []);

    for (const cell of view.cells()) if (cell.bytes > 0) inside[cell.block].push(cell);
    const whole = view.cells().length > CELLS_MOST;
    const order = inside.map((cells, block) => ({ block, cells,
        bytes: cells.reduce((sum, cell) => sum + Number(cell.bytes), 0) }))
        .filter((each) => each.bytes > 0).sort((a, b) => b.bytes - a.bytes || a.block - b.block)
        .slice(0, CELLS_MOST);
    const areas = squarify(order.map((each) => each.bytes), 0, 0, width, height);
    const drawn = order.flatMap((each, at) => (whole
        ? [wholeBlock(view, each, areas[at], colours)]
        : blockCells(view, each, areas[at], colours)));

    return { height, cells: drawn };
}

function blockCells(view, { block, cells }, area, colours) {
    const { blocks, kinds } = view.groups();
    const titled = area.height > 44 && area.width > 44 && blocks[block] !== "" ? 16 : 0;
    const ordered = [...cells].sort((a, b) => compare(b.bytes, a.bytes));
    const inner = squarify(ordered.map((cell) => Number(cell.bytes)), area.x + 1,
        area.y + 1 + titled, Math.max(0, area.width - 2), Math.max(0, area.height - 2 - titled));
    const drawn = ordered.map((cell, at) => ({ ...inner[at], fill: cellFill(view, cell, colours),
        name: cellName(view, cell, colours), label: visible(kinds[cell.kind]),
        short: visible(kinds[cell.kind].replace(/\.weight$/, "")),
        act: () => view.page.filter(view.at, cell.block, cell.kind) }));

    if (titled) drawn.unshift({ x: area.x + 1, y: area.y + 1, width: area.width - 2, height: titled,
        fill: "title", label: visible(blocks[block]), short: /\d*$/.exec(blocks[block])[0], name: `${visible(blocks[block])} · `
            + bytesText(cells.reduce((sum, cell) => plus(sum, cell.bytes), 0)),
        act: () => view.page.filter(view.at, block, -1) });
    return drawn;
}

function wholeBlock(view, { block, cells }, area, colours) {
    const all = cells.flatMap((cell) => cell.tensors);
    const types = new Map();

    cells.forEach((cell) => cell.types.forEach((bytes, type) =>
        types.set(type, plus(types.get(type) ?? 0, bytes))));
    const joined = { ...cells[0], tensors: all, types,
                     bytes: cells.reduce((sum, cell) => plus(sum, cell.bytes), 0) };
    const name = visible(blockName(view.groups().blocks[block]));

    return { ...area, fill: cellFill(view, joined, colours), label: name,
             name: `${name} · ${grouped(all.length)} tensors · ${bytesText(joined.bytes)}`,
             act: () => view.page.filter(view.at, block, -1) };
}

function typeLegend(view) {
    const { ranked } = view.typeRank(), total = Number(view.bytes()) || 1;

    return el("ul", { class: "legend" }, ranked.slice(0, 24).map((each) =>
        el("li", null, el("span", { class: `swatch ${each.colour}` }),
           button(fileText(each.name, 40), () => view.page.filterType(view.at, each.type),
                  { class: "link" }),
           el("span", { class: "note" }, ` ${bytesText(each.bytes)}, `
               + `${percentText(Number(each.bytes) / total)}`))),
        ranked.length > 24 && el("li", null, `and ${ranked.length - 24} more: choose them above the table`));
}

function sums(cells, of, count) {
    const found = Array.from({ length: count }, () => ({ cells: [], bytes: 0, tensors: 0 }));

    for (const cell of cells) {
        const sum = found[of(cell)];

        sum.cells.push(cell);
        sum.bytes = plus(sum.bytes, cell.bytes);
        sum.tensors += cell.tensors.length;
    }
    return found;
}

// What is outside of blocks may be larger than any: it has a scale of its own.
function stackOf(view, sum, most) {
    const { kinds } = view.groups(), { colours } = view.typeRank();
    const parts = [...sum.cells].sort((a, b) => compare(b.bytes, a.bytes)).slice(0, 40);

    return stack(parts.map((cell) => ({ part: Number(cell.bytes) / Math.max(most, Number(sum.bytes)),
        kind: colours.get(mainType(cell)) ?? "none",
        title: `${visible(kinds[cell.kind])}: ${bytesText(cell.bytes)}` })));
}

function blocksTable(view) {
    const { blocks } = view.groups(), found = sums(view.cells(), (cell) => cell.block, blocks.length);
    const most = found.reduce((best, sum, i) =>
        (blocks[i] === "" ? best : Math.max(best, Number(sum.bytes))), 1);

    return el("div", { class: "short" }, el("h3", null, "Blocks"), tableOf("Bytes of each block, its kinds side by side",
        [{ label: "Block", class: "key" }, { label: "Bytes", number: true }, { label: "Share", class: "wide" }],
        blocks.length, (i) => [
            button(fileText(blockName(blocks[i]), 80), () => view.page.filter(view.at, i, -1),
                   { class: "link" }),
            bytesNode(found[i].bytes), stackOf(view, found[i], most)], 100));
}

function kindsTable(view) {
    const { kinds } = view.groups(), found = sums(view.cells(), (cell) => cell.kind, kinds.length);
    const order = kinds.map((_, at) => at).sort((a, b) => compare(found[b].bytes, found[a].bytes));
    const most = Number(found[order[0]]?.bytes ?? 1) || 1;

    return el("div", { class: "short" }, el("h3", null, "Kinds"), tableOf("Bytes of each kind, over all blocks",
        [{ label: "Kind", class: "key" }, { label: "Tensors", number: true }, { label: "Bytes", number: true },
         { label: "Share", class: "wide" }], kinds.length, (at) => {
            const kind = order[at], sum = found[kind];

            return [button(fileText(kinds[kind], 80), () => view.page.filter(view.at, -1, kind),
                           { class: "link" }), grouped(sum.tensors), bytesNode(sum.bytes),
                    bar(Number(sum.bytes) / most)];
        }, 100));
}
