// ---- tensors by block and kind: both out of their names

const BLOCK = /^(.*?\b(?:blk|blocks?|layers?|h)\.)(\d{1,9})\.(.*)$/s;

// {prefix, number, kind}: the kind has * where other numbers are.
function placeOf(name) {
    const match = BLOCK.exec(name);
    const rest = (match ? match[3] : name).replace(/(^|\.)\d+(?=\.|$)/g, "$1*");

    return match ? { prefix: match[1], number: Number(match[2]), kind: rest }
        : { prefix: "", number: -1, kind: rest };
}

// Blocks in the order of their prefixes and numbers, kinds as they come.
function groupTensors(table) {
    const blocks = new Map(), kinds = new Map(), prefixes = new Map();
    const blockOf = new Int32Array(table.count), kindOf = new Int32Array(table.count);

    for (let i = 0; i < table.count; i++) {
        const place = placeOf(table.name(i));
        const key = place.number < 0 ? "" : place.prefix + place.number;

        if (!prefixes.has(place.prefix)) prefixes.set(place.prefix, prefixes.size);
        if (!blocks.has(key))
            blocks.set(key, { at: blocks.size, key, number: place.number,
                              prefix: prefixes.get(place.prefix) });
        if (!kinds.has(place.kind)) kinds.set(place.kind, kinds.size);
        blockOf[i] = blocks.get(key).at;
        kindOf[i] = kinds.get(place.kind);
    }
    const sorted = [...blocks.values()].sort((a, b) =>
        (a.number < 0) - (b.number < 0) || a.prefix - b.prefix || a.number - b.number);
    const rank = new Int32Array(sorted.length);

    sorted.forEach((block, at) => { rank[block.at] = at; });
    for (let i = 0; i < table.count; i++) blockOf[i] = rank[blockOf[i]];
    return { blocks: sorted.map((block) => block.key), kinds: [...kinds.keys()],
             blockOf, kindOf };
}

// A cell for each block and kind: its tensors, bytes, and bytes of each type.
function groupCells(table, groups) {
    const cells = new Map(), width = groups.kinds.length;

    for (let i = 0; i < table.count; i++) {
        const key = groups.blockOf[i] * width + groups.kindOf[i];
        let cell = cells.get(key);

        if (!cell) {
            cell = { block: groups.blockOf[i], kind: groups.kindOf[i], first: i,
                     tensors: [], bytes: 0, unknown: 0, types: new Map() };
            cells.set(key, cell);
        }
        const bytes = table.bytes(i), type = table.typeIndex(i);

        cell.tensors.push(i);
        if (bytes === null) cell.unknown += 1;
        cell.bytes = plus(cell.bytes, bytes ?? 0);
        cell.types.set(type, plus(cell.types.get(type) ?? 0, bytes ?? 0));
    }
    return [...cells.values()].sort((a, b) => a.block - b.block || a.kind - b.kind);
}

// The type of most of a cell's bytes.
function mainType(cell) {
    let best = -1, most = -1;

    for (const [type, bytes] of cell.types)
        if (bytes > most) {
            best = type;
            most = bytes;
        }
    return best;
}

const blockName = (key) => key || "outside blocks";
