// ---- cells: a treemap or a heat map, as a list that keys walk through

// layout(width) gives {height, cells, over}: cells are {x, y, width, height,
// fill, name, label, act}, and `over` are elements drawn above them.
function cellMap(label, layout) {
    const read = el("output", { class: "readout" }, "\u00a0");
    const box = el("div", { class: "cells", role: "listbox", tabindex: 0, "aria-label": label,
                            "aria-orientation": "horizontal" });
    let drawn = [], nodes = [], active = -1;

    const point = (at, own) => {
        if (!drawn[at]) return;
        if (own) {
            nodes[active]?.classList.remove("active");
            nodes[at].classList.add("active");
            nodes[at].parentNode.append(nodes[at]);
            box.setAttribute("aria-activedescendant", nodes[at].id);
            active = at;
        }
        read.textContent = drawn[at].name;
    };
    const placed = (event) => Number(event.target.getAttribute?.("data-cell") ?? -1);

    box.addEventListener("pointermove", (event) => point(placed(event), false));
    box.addEventListener("click", (event) => drawn[placed(event)]?.act?.());
    box.addEventListener("focus", () => point(active < 0 ? 0 : active, true));
    box.addEventListener("keydown", (event) => {
        const next = stepTo(drawn, active, event.key);

        if (next >= 0) point(next, true);
        else if (event.key === "Enter" || event.key === " ") drawn[active]?.act?.();
        else return;
        event.preventDefault();
    });

    const drawing = responsive(box, (width) => {
        const { height, cells, over } = layout(width);

        drawn = cells;
        active = -1;
        nodes = cells.map((cell, at) => svg("rect", {
            x: cell.x, y: cell.y, width: Math.max(0, cell.width),
            height: Math.max(0, cell.height), class: `cell ${cell.fill}`,
            "data-cell": at, id: newId("cell"), role: "option", "aria-label": cell.name,
        }));
        const texts = cells.filter((cell) => cell.label && cell.width > 20 && cell.height > 13)
            .map((cell) => cellText(cell));

        box.removeAttribute("aria-activedescendant");
        box.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%",
                                         role: "presentation" },
            svg("g", { role: "presentation" }, nodes),
            svg("g", { "aria-hidden": "true" }, texts, over ?? [])));
    });

    return { node: el("div", { class: "cell-map" }, box, read), redraw: drawing.redraw };
}

const CHARACTER = 6.3;

function cellText(cell) {
    const fits = Math.floor((cell.width - 8) / CHARACTER);
    const text = cell.label.length <= fits ? cell.label
        : cell.short && cell.short.length <= fits ? cell.short
            : fits > 5 ? `${cut(cell.short || cell.label, fits - 1)}…` : null;

    return text && svg("text", { x: cell.x + 4, y: cell.y + Math.min(14, cell.height - 3),
                         class: `cell-text on-${cell.fill}` }, text);
}

// The cell that an arrow leads to: the nearest in that direction.
function stepTo(cells, from, key) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];

    if (key === "Home") return cells.length ? 0 : -1;
    if (key === "End") return cells.length - 1;
    if (!way) return -1;
    const here = cells[from];
    let best = from, least = Infinity;

    if (!here) return cells.length ? 0 : -1;
    cells.forEach((cell, at) => {
        const dx = cell.x + cell.width / 2 - (here.x + here.width / 2);
        const dy = cell.y + cell.height / 2 - (here.y + here.height / 2);
        const along = dx * way[0] + dy * way[1];
        const across = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);

        if (at === from || along <= 0.5 || along < across * 0.3) return;
        if (along + 3 * across < least) {
            least = along + 3 * across;
            best = at;
        }
    });
    return best;
}

// What the colours of a scale mean.
function scaleLegend(scale, text) {
    const { bounds } = scale;

    if (!bounds.length) return note("No values.");
    return el("ul", { class: "legend" }, bounds.slice(0, -1).map((bound, i) =>
        el("li", null, el("span", { class: `swatch s${i}` }),
           `${text(bound)} – ${text(bounds[i + 1])}`)));
}

const STEPS = 7;

// Blocks across, kinds down; value(block, kind) is a number or null.
function heatMap(label, groups, value, text, act) {
    const { blocks, kinds } = groups;
    const all = [];

    kinds.forEach((_, kind) => blocks.forEach((__, block) => {
        const found = value(block, kind);

        if (found !== null && found !== undefined) all.push({ block, kind, found });
    }));
    const shown = all.slice(0, 4000), used = [...new Set(shown.map((cell) => cell.kind))];
    const columns = [...new Set(shown.map((cell) => cell.block))].sort((a, b) => a - b);
    const scale = scaleOf(shown.map((cell) => cell.found), STEPS);
    const row = new Map(used.map((kind, at) => [kind, at]));
    const column = new Map(columns.map((block, at) => [block, at]));

    const map = cellMap(label, (width) => {
        const left = Math.min(190, width * 0.36), high = 20;
        const wide = Math.min(48, (width - left) / Math.max(1, columns.length));
        const fits = Math.floor((left - 8) / CHARACTER);

        return {
            height: used.length * high + 20,
            cells: shown.map((cell) => {
                const step = scale.step(cell.found);

                return { x: left + column.get(cell.block) * wide, y: row.get(cell.kind) * high,
                         width: wide, height: high, fill: step < 0 ? "none" : `s${step}`,
                         name: `${visible(blockName(blocks[cell.block]))}, `
                             + `${visible(kinds[cell.kind])}: ${text(cell.found)}`,
                         act: () => act(cell.block, cell.kind) };
            }),
            over: [
                ...used.map((kind, at) => svg("text", { x: 0, y: at * high + 14, class: "axis" },
                    clipped(visible(kinds[kind]), fits))),
                ...columns.map((block, at) => at % Math.ceil(26 / wide) === 0 &&
                    svg("text", { x: left + at * wide + 2, y: used.length * high + 15,
                                  class: "axis" }, cut(blocks[block].replace(/^.*\./s, ""), 6) || "–")),
            ],
        };
    });

    return shown.length ? [map.node, scaleLegend(scale, text),
        all.length > shown.length && note("Only the first 4,000 cells are drawn.")]
        : [note("No values.")];
}

const clipped = (text, fits) =>
    (text.length <= fits ? text : `${cut(text, Math.max(1, fits - 1))}…`);
