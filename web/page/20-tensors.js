// ---- the table of tensors: its columns, decoded when first needed

// The library's own limit: names after a cut one would be wrong.
const NAME_MOST = 65535;

function decodeNames(given) {
    const names = new Array(given.length >> 1);
    let last = "";

    for (let i = 0; i < names.length; i++) {
        const shared = given[2 * i], rest = string(given[2 * i + 1]);

        last = (shared > 0 ? last.slice(0, shared) : "") + rest;
        if (last.length > NAME_MOST) last = cut(last, NAME_MOST);
        names[i] = last;
    }
    return names;
}

function decodeTypes(given) {
    return list(given).map((each) => ({
        name: string(object(each).name, "?"),
        elements: exact(object(each).elements),
        bytes: exact(object(each).bytes),
    }));
}

const elementsOf = (shape) =>
    list(shape).reduce((product, dim) => times(product, exact(dim)), 1);

function bytesOf(elements, type) {
    if (!type || type.elements === null || type.bytes === null) return null;
    return times(dividedUp(elements, type.elements), type.bytes);
}

// For each tensor its shard.
function decodeShards(given, count) {
    const shards = new Uint32Array(count);
    let at = 0;

    for (const pair of list(given)) {
        const [shard, many] = list(pair), end = Math.min(count, at + (exact(many) ?? 0));

        if (end > at) shards.fill(exact(shard) ?? 0, at, end);
        at = Math.max(at, end);
    }
    return shards;
}

// Places are sums of gaps and sizes: an unknown size makes those after it unknown.
// A tensor that has its offset is not part of the walk.
function decodeOffsets(table, given, starts) {
    const offsets = new Array(table.count), gaps = list(given.gap);
    let shard = -1, end = null;

    for (let i = 0; i < table.count; i++) {
        const fixed = member(given.offset, i);

        if (table.shard(i) !== shard) {
            shard = table.shard(i);
            end = exact(starts[shard]);
        }
        offsets[i] = fixed === undefined ? plus(end, exact(gaps[i] ?? 0)) : exact(fixed);
        if (fixed === undefined) end = plus(offsets[i], table.bytes(i));
    }
    return offsets;
}

// A computed value, once.
function lazy(compute) {
    let made = false, value;

    return () => {
        if (!made) {
            value = compute();
            made = true;
        }
        return value;
    };
}

// starts: the data_offset of each shard.
function decodeTensors(section, starts = []) {
    const given = object(section), names = list(given.names);
    const types = decodeTypes(given.types), shapes = list(given.shapes);
    const typeOf = list(given.type), shapeOf = list(given.shape);
    const counted = exact(given.count);
    const table = { types, shapes };

    table.count = Math.min(names.length >> 1, Math.max(0, Number(counted ?? Infinity)));
    table.declared = counted;
    table.fastestFirst = given.fastest_first !== false;
    table.names = lazy(() => decodeNames(names));
    table.name = (i) => table.names()[i] ?? "";
    table.typeIndex = (i) => (element(types, typeOf[i]) ? typeOf[i] : -1);
    table.type = (i) => element(types, typeOf[i])?.name ?? "?";
    table.shape = (i) => list(element(shapes, shapeOf[i]));
    table.flags = (i) => list(member(given.flags, i)).filter((each) => typeof each === "string");

    const elements = lazy(() => shapes.map(elementsOf));
    table.elements = (i) => element(elements(), shapeOf[i]) ?? null;

    const known = new Map();
    table.bytes = (i) => {
        const fixed = member(given.size, i), pair = `${typeOf[i]} ${shapeOf[i]}`;

        if (fixed !== undefined) return exact(fixed);
        if (!known.has(pair)) known.set(pair, bytesOf(table.elements(i), element(types, typeOf[i])));
        return known.get(pair);
    };
    const shards = lazy(() => decodeShards(given.shards, table.count));
    table.shard = (i) => shards()[i] ?? 0;

    const offsets = lazy(() => decodeOffsets(table, given, starts));
    table.offset = (i) => offsets()[i] ?? null;
    return table;
}

const shapeText = (shape) =>
    (shape.length ? shape.map((dim) => String(exact(dim) ?? "?")).join(" × ") : "scalar");
