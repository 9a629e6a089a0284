// ---- where things are drawn

// Areas of a rectangle for sizes in descending order (Bruls, Huizing, van Wijk:
// Squarified Treemaps, 2000): rows along the shorter side, while they become
// less oblong.
function squarify(sizes, x, y, width, height) {
    const sum = sizes.reduce((a, b) => a + b, 0), areas = [];
    const scale = sum > 0 ? (width * height) / sum : 0;
    let at = 0;

    while (at < sizes.length) {
        const side = Math.min(width, height);
        let end = at, total = 0, worst = Infinity;

        while (end < sizes.length) {
            const next = total + sizes[end] * scale;
            const ratio = oblong(sizes[at] * scale, sizes[end] * scale, next, side);

            if (ratio > worst) break;
            worst = ratio;
            total = next;
            end += 1;
        }
        if (end === at) end = at + 1;
        const depth = side > 0 ? total / side : 0, upright = width >= height;
        let along = upright ? y : x;

        for (; at < end; at++) {
            const length = depth > 0 ? (sizes[at] * scale) / depth : 0;

            areas.push(upright ? { x, y: along, width: depth, height: length }
                : { x: along, y, width: length, height: depth });
            along += length;
        }
        if (upright) {
            x += depth;
            width = Math.max(0, width - depth);
        } else {
            y += depth;
            height = Math.max(0, height - depth);
        }
    }
    return areas;
}

function oblong(largest, smallest, total, side) {
    if (total <= 0 || side <= 0 || smallest <= 0) return Infinity;
    const square = total * total, edge = side * side;

    return Math.max((edge * largest) / square, square / (edge * smallest));
}

// Steps of a scale: by factors if the values span more than one of ten.
function scaleOf(values, steps) {
    const good = values.filter((value) => Number.isFinite(value) && value > 0);

    if (!good.length) return { step: (value) => (value === 0 ? 0 : -1), bounds: [] };
    const least = good.reduce((a, b) => Math.min(a, b));
    const most = good.reduce((a, b) => Math.max(a, b));
    const log = most / least > 10;
    const low = log ? Math.log(Math.max(least, most * 1e-6)) : least;
    const high = log ? Math.log(most) : most;
    const step = (value) => {
        if (value === Infinity) return steps - 1;
        if (!Number.isFinite(value) || value < 0) return -1;
        if (value === 0 || high <= low) return value === 0 ? 0 : steps - 1;
        const part = ((log ? Math.log(value) : value) - low) / (high - low);

        return Math.max(0, Math.min(steps - 1, Math.floor(part * steps)));
    };
    const bounds = Array.from({ length: steps + 1 }, (_, i) => {
        const at = low + ((high - low) * i) / steps;

        return log ? Math.exp(at) : at;
    });

    return { step, bounds };
}

// Round numbers for an axis from 0.
function ticks(most, many, base = 10) {
    if (!(most > 0) || !Number.isFinite(most)) return [0];
    const raw = most / many, power = base ** Math.floor(Math.log(raw) / Math.log(base));
    const step = (base === 10 ? [1, 2, 5, 10] : [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024])
        .map((each) => each * power).find((each) => each >= raw) ?? raw;
    const found = [];

    for (let at = 0; at <= most * 1.0001 && found.length < 50; at += step) found.push(at);
    return found;
}
