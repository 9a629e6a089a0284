// ---- which tensors, in which order

// A text, or a glob if it has * or ?: of the whole name then.
function matcher(text) {
    const wanted = text.trim().toLowerCase();

    if (!wanted) return null;
    if (!/[*?]/.test(wanted)) return (name) => name.toLowerCase().includes(wanted);
    return (name) => globMatches(wanted, name.toLowerCase());
}

// In time that is linear for each *, unlike a regular expression of them.
function globMatches(glob, name) {
    let g = 0, n = 0, star = -1, from = 0;

    while (n < name.length) {
        if (g < glob.length && glob[g] === "*") {
            star = g++;
            from = n;
        } else if (g < glob.length && (glob[g] === "?" || glob[g] === name[n])) {
            g += 1;
            n += 1;
        } else if (star >= 0) {
            g = star + 1;
            n = ++from;
        } else {
            return false;
        }
    }
    while (glob[g] === "*") g += 1;
    return g === glob.length;
}

// "blk.2" before "blk.10".
const naturalKey = (name) =>
    name.replace(/\d+/g, (digits) => digits.padStart(12, "0"));

// Those of `count` that pass each of the tests, in their order.
function chosen(count, tests) {
    const wanted = tests.filter(Boolean), found = new Uint32Array(count);
    let many = 0;

    for (let i = 0; i < count; i++)
        if (wanted.every((test) => test(i))) found[many++] = i;
    return found.subarray(0, many);
}

// Sorted by value(i); null is last in both directions, and equals stay as they were.
function sorted(indexes, value, descending) {
    const keys = new Map(), sign = descending ? -1 : 1;

    for (const i of indexes) keys.set(i, value(i) ?? null);
    return indexes.slice().sort((a, b) => {
        const x = keys.get(a), y = keys.get(b);

        if (x === null || y === null) return (x === null) - (y === null) || a - b;
        return sign * compare(x, y) || a - b;
    });
}
