// ---- the tensors: a grid that has only the rows that are seen

const ROW = 30, POOL_MOST = 120, HEIGHT_MOST = 15e6;

function gridColumns(view) {
    const { table } = view, findings = view.findings();
    const measure = (id) => view.measures().find((each) => each.id === id);
    const extra = ["rmse", "outliers", "std", "zeros"].map(measure).filter(Boolean);

    return [
        { id: "name", label: "Name", width: "minmax(15rem, 3fr)", key: (i) => naturalKey(table.name(i)) },
        { id: "type", label: "Type", width: "5.5rem", key: (i) => table.type(i),
          text: (i) => visible(clipped(table.type(i), 40)) },
        { id: "shape", label: "Shape", width: "minmax(8rem, 1fr)", key: (i) => table.elements(i),
          text: (i) => clipped(shapeText(table.shape(i)), 80) },
        { id: "bytes", label: "Bytes", width: "7.5rem", number: true, key: table.bytes,
          text: (i) => (exactly ? grouped(table.bytes(i) ?? "unknown") : bytesText(table.bytes(i))) },
        { id: "offset", label: "Offset", width: "8.5rem", number: true, key: table.offset,
          text: (i) => hexText(table.offset(i)) },
        view.shards.length > 1 && { id: "shard", label: "Shard", width: "4.5rem", number: true,
          key: table.shard, text: (i) => String(table.shard(i)) },
        ...extra.map((each) => ({ id: each.id, label: each.label.replace("Standard deviation", "Std")
            .replace("Error: ", ""), width: "6.5rem", number: true, key: each.value,
          text: (i) => {
              const value = each.value(i);

              return value === null ? "" : exactly ? String(value) : each.text(value);
          } })),
        { id: "notes", label: "Notes", width: "minmax(6rem, 1fr)",
          key: (i) => -((findings.get(i)?.length ?? 0) + table.flags(i).length) || null,
          text: (i) => tensorNotes(table.flags(i), findings.get(i)) },
    ].filter(Boolean);
}

const tensorNotes = (flags, findings) => [
    ...flags.map((flag) => visible(cut(flag, 20))),
    findings && plural(findings.length, "finding"),
].filter(Boolean).join(", ");

// The grid itself: `order` are the tensors it shows.
function makeGrid(view, columns, chooseTensor, sortBy) {
    const head = el("div", { class: "grid-row grid-head", role: "row", "aria-rowindex": 1 });
    const space = el("div", { class: "grid-space", role: "rowgroup" });
    const box = el("div", { class: "grid", role: "grid", tabindex: 0, "aria-label": "Tensors",
                            "aria-colcount": columns.length },
                   el("div", { role: "rowgroup", class: "grid-top" }, head), space);
    const grid = { box, order: new Uint32Array(0), active: -1, chosen: -1, pool: [], factor: 1 };

    box.style.setProperty("--columns", columns.map((column) => column.width).join(" "));
    box.style.setProperty("--width", `${columns.reduce((sum, column) =>
        sum + parseFloat(/[\d.]+/.exec(column.width)[0]) + 0.9, 0.8)}rem`);
    head.append(...columns.map((column) => el("div", { role: "columnheader", "aria-sort": "none",
        class: column.number ? "number" : null, "data-column": column.id },
        button(column.label, () => sortBy(column.id), { tabindex: 0 }))));
    grid.head = head;
    grid.show = (order) => showOrder(view, grid, space, order);
    grid.draw = () => drawRows(view, grid, space, columns);
    grid.reveal = (at) => reveal(grid, at);
    listenGrid(grid, chooseTensor);
    return grid;
}

function showOrder(view, grid, space, order) {
    const height = order.length * ROW;

    grid.order = order;
    grid.active = Math.min(grid.active, order.length - 1);
    grid.factor = height > HEIGHT_MOST ? height / HEIGHT_MOST : 1;
    space.style.height = `${height / grid.factor}px`;
    grid.box.setAttribute("aria-rowcount", order.length + 1);
    for (const row of grid.pool) row.at = -1;
    grid.draw();
}

// Row `at` has its own place in the pool, so most stay what they are when the
// grid moves by a few.
function drawRows(view, grid, space, columns) {
    const many = Math.min(POOL_MOST, Math.ceil((grid.box.clientHeight || 600) / ROW) + 12);
    const top = grid.box.scrollTop * grid.factor, count = grid.order.length;
    const first = Math.max(0, Math.min(Math.floor(top / ROW) - 5, count - many));
    const shift = grid.box.scrollTop - top;

    while (grid.pool.length < Math.min(many, count)) grid.pool.push(newRow(space, columns));
    const size = grid.pool.length;

    for (let at = first; at < first + size; at++) {
        const row = grid.pool[at % size];

        if (at >= count) continue;
        if (row.at !== at || row.shift !== shift) bindRow(view, grid, row, at, shift, columns);
        markRow(grid, row);
    }
    for (const row of grid.pool) row.node.hidden = row.at < first || row.at >= count;
}

function newRow(space, columns) {
    const cells = columns.map((column, at) => el("div", { role: "gridcell",
        class: column.number ? "number" : at === 0 ? "name" : null }));
    const node = el("div", { class: "grid-row", role: "row", id: newId("row") }, cells);
    const name = el("bdi", { class: "file" });
    const texts = cells.map((cell, at) => {
        const text = document.createTextNode("");

        (at === 0 ? name : cell).append(text);
        return text;
    });

    cells[0].append(name);
    space.append(node);
    return { node, texts, name, at: -1, shift: 0 };
}

function bindRow(view, grid, row, at, shift, columns) {
    const i = grid.order[at], name = cut(view.table.name(i), 300);

    row.at = at;
    row.shift = shift;
    row.node.style.transform = `translateY(${at * ROW + shift}px)`;
    row.node.setAttribute("aria-rowindex", at + 2);
    if (!PLAIN.test(name)) {
        row.name.replaceChildren(...textNodes(name));
    } else {
        if (row.texts[0].nextSibling || row.texts[0].parentNode !== row.name)
            row.name.replaceChildren(row.texts[0]);
        setText(row.texts[0], name);
    }
    for (let c = 1; c < columns.length; c++) setText(row.texts[c], columns[c].text(i));
}

// What stays costs nothing.
function setText(node, text) {
    if (node.data !== text) node.data = text;
}

function markRow(grid, row) {
    row.node.classList.toggle("active", row.at === grid.active);
    row.node.setAttribute("aria-selected", String(grid.order[row.at] === grid.chosen));
    if (row.at === grid.active) grid.box.setAttribute("aria-activedescendant", row.node.id);
}

function reveal(grid, at) {
    const seen = grid.box.clientHeight - ROW, top = grid.box.scrollTop * grid.factor;

    grid.active = at;
    if (at * ROW < top) grid.box.scrollTop = (at * ROW) / grid.factor;
    else if ((at + 2) * ROW > top + seen)
        grid.box.scrollTop = ((at + 2) * ROW - seen) / grid.factor;
    grid.draw();
}

function listenGrid(grid, chooseTensor) {
    let waiting = false;

    grid.box.addEventListener("scroll", () => {
        if (waiting) return;
        waiting = true;
        requestAnimationFrame(() => {
            waiting = false;
            grid.draw();
        });
    }, { passive: true });
    grid.box.addEventListener("keydown", (event) => {
        const page = Math.max(1, Math.floor(grid.box.clientHeight / ROW) - 2);
        const last = grid.order.length - 1;
        const next = { ArrowDown: grid.active + 1, ArrowUp: grid.active - 1, Home: 0, End: last,
                       PageDown: grid.active + page, PageUp: grid.active - page }[event.key];

        if (event.target !== grid.box) return;
        if (next !== undefined && last >= 0) grid.reveal(Math.max(0, Math.min(last, next)));
        else if ((event.key === "Enter" || event.key === " ") && grid.active >= 0)
            chooseTensor(grid.order[grid.active]);
        else return;
        event.preventDefault();
    });
    grid.box.addEventListener("click", (event) => {
        const node = event.target.closest?.(".grid-row");
        const row = grid.pool.find((each) => each.node === node);

        if (!row) return;
        grid.active = row.at;
        chooseTensor(grid.order[row.at]);
    });
}

// ---- search, filters and the grid together

function drawTable(view, body) {
    const { table } = view, columns = gridColumns(view), groups = view.groups();

    if (table.count === 0) {
        body.append(note("There are no tensors."));
        return;
    }
    const wanted = { text: "", type: "", block: -1, kind: -1, found: false, sort: "", down: false };
    const detail = el("div", { class: "detail", role: "region", "aria-label": "Chosen tensor" });
    const says = el("output", { class: "note" }), chips = el("span", { class: "chips" });
    const choose = (i) => {
        grid.chosen = i;
        grid.draw();
        drawDetail(view, i, detail, () => { grid.chosen = -1; detail.replaceChildren(); grid.draw(); });
    };
    const apply = () => {
        const found = filtered(view, wanted), column = columns.find((each) => each.id === wanted.sort);
        const order = column ? sorted(found, column.key, wanted.down) : found;

        says.textContent = `${grouped(order.length)} of ${grouped(table.count)} tensors`;
        chips.replaceChildren(...groupChips(wanted, groups, apply));
        for (const node of grid.head.children)
            node.setAttribute("aria-sort", node.dataset.column !== wanted.sort ? "none"
                : wanted.down ? "descending" : "ascending");
        grid.box.scrollTop = 0;
        grid.show(order);
    };
    // A third press restores the order of the file.
    const sortBy = (id) => {
        if (wanted.sort !== id) Object.assign(wanted, { sort: id, down: false });
        else if (!wanted.down) wanted.down = true;
        else Object.assign(wanted, { sort: "", down: false });
        apply();
    };
    const grid = makeGrid(view, columns, choose, sortBy);
    const controls = tableControls(view, wanted, apply);

    grid.box.style.maxHeight = `${(table.count + 2) * ROW}px`;
    body.append(el("div", { class: "toolbar" }, controls.nodes, chips, says),
                el("div", { class: "grid-and-detail" }, grid.box, detail));
    view.tableSection = tableSection(view, { body, grid, wanted, controls, apply, choose });
    new ResizeObserver(() => grid.draw()).observe(grid.box);
    apply();
}

function filtered(view, wanted) {
    const { table } = view, { blockOf, kindOf } = view.groups(), findings = view.findings();
    const matches = matcher(wanted.text);

    return chosen(table.count, [
        wanted.block >= 0 && ((i) => blockOf[i] === wanted.block),
        wanted.kind >= 0 && ((i) => kindOf[i] === wanted.kind),
        wanted.type !== "" && ((i) => String(table.typeIndex(i)) === wanted.type),
        wanted.found && ((i) => findings.has(i)),
        matches && ((i) => matches(table.name(i))),
    ]);
}

function groupChips(wanted, { blocks, kinds }, apply) {
    const chip = (key, text) => button(["× ", fileText(text, 60)],
        () => { wanted[key] = -1; apply(); },
        { class: "chip", "aria-label": `Remove the filter ${visible(text)}` });

    return [wanted.block >= 0 && chip("block", blockName(blocks[wanted.block])),
            wanted.kind >= 0 && chip("kind", kinds[wanted.kind])].filter(Boolean);
}

function tableControls(view, wanted, apply) {
    const search = el("input", { type: "search", placeholder: "name, or *attn_?.weight",
        autocomplete: "off", spellcheck: "false",
        input: () => { wanted.text = search.value; apply(); } });
    const types = view.typeRank().ranked.slice(0, 500);
    const type = choice("Type", [["", "all"], ...types.map((each) =>
        [String(each.type), visible(cut(each.name, 40))])], "", (value) => {
        wanted.type = value;
        apply();
    });
    const only = el("input", { type: "checkbox",
                               change: () => { wanted.found = only.checked; apply(); } });
    const nodes = [el("label", { class: "control" }, el("span", null, "Search"), search), type,
        view.findings().size > 0 && el("label", { class: "control check" }, only, " with findings")];

    return { nodes, clear: () => {
        Object.assign(wanted, { text: "", type: "", block: -1, kind: -1, found: false });
        search.value = "";
        type.querySelector("select").value = "";
        only.checked = false;
    }, setType: (value) => { type.querySelector("select").value = value; wanted.type = value; } };
}

// What other sections ask of this one.
function tableSection(view, { body, grid, wanted, controls, apply, choose }) {
    const show = () => {
        body.parentNode.scrollIntoView?.({ block: "start" });
        grid.box.focus({ preventScroll: true });
    };

    return {
        refresh() { grid.show(grid.order); },
        filter(block, kind) {
            controls.clear();
            Object.assign(wanted, { block, kind });
            apply();
            show();
        },
        filterType(type) {
            controls.clear();
            controls.setType(String(type));
            apply();
            show();
        },
        select(i) {
            let at = grid.order.indexOf(i);

            if (at < 0) {
                controls.clear();
                apply();
                at = grid.order.indexOf(i);
            }
            show();
            if (at >= 0) grid.reveal(at);
            choose(i);
        },
        printed: () => printedTable(view, grid.order, gridColumns(view)),
    };
}

const PRINTED = 200;

function printedTable(view, order, columns) {
    const count = Math.min(PRINTED, order.length);

    return el("div", { class: "print-only" },
        order.length > count && note(`The first ${PRINTED} of ${grouped(order.length)} tensors`
            + " are printed."),
        tableOf("Tensors", columns, count, (at) => columns.map((column) =>
            (column.text ? column.text(order[at]) : fileText(view.table.name(order[at]), 300))),
                PRINTED));
}
