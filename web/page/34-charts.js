// ---- lines over an axis

// x: numbers; series: {name, values}; limit: a number or null.  xText and
// yText write the axes; `log` spreads x by factors.
function lineChart({ label, x, series, limit = null, xText, yText, log = false, base = 10 }) {
    const node = el("div", { class: "chart" });
    const drawing = responsive(node, (width) => {
        node.replaceChildren(chartSvg(width, { label, x, series, limit, xText, yText, log, base }));
    });
    const legend = el("ul", { class: "legend" }, series.map((each, at) =>
        el("li", null, lineSample(at), each.name)));

    return { node: el("figure", null, node, legend), redraw: drawing.redraw };
}

const lineSample = (at) => svg("svg", { class: "sample", width: 28, height: 10,
                                        "aria-hidden": "true" },
    svg("line", { x1: 0, y1: 5, x2: 28, y2: 5, class: `line-series l${at % 6}` }));

function chartSvg(width, { label, x, series, limit, xText, yText, log, base }) {
    const height = Math.max(220, Math.min(340, width * 0.5)), left = 68, bottom = 26, top = 8;
    const place = log ? (value) => Math.log2(Math.max(1e-9, value)) : (value) => value;
    const numbers = x.map(Number), spots = numbers.map(place).filter(Number.isFinite);
    const low = spots.length ? Math.min(...spots) : 0, high = spots.length ? Math.max(...spots) : 1;
    const values = series.flatMap((each) => each.values).filter(has).map(Number)
        .filter(Number.isFinite);
    const most = Math.max(...values, limit ?? 0, 0) * 1.05 || 1;
    const across = (value) =>
        left + ((place(value) - low) / (high - low || 1)) * (width - left - 14);
    const up = (value) => top + (1 - value / most) * (height - top - bottom);
    const marks = log ? spread(numbers, across, 52)
        : ticks(high, Math.max(2, (width - left) / 90));

    return svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img",
                        "aria-label": label },
        ticks(most, 5, base).filter((value) => value <= most).map((value) => [
            svg("line", { x1: left, x2: width, y1: up(value), y2: up(value), class: "grid" }),
            svg("text", { x: left - 6, y: up(value) + 4, class: "axis end" }, yText(value))]),
        marks.map((value) => svg("text", { x: across(value), y: height - 6,
                                           class: "axis middle" }, xText(value))),
        series.map((each, at) => svg("path", { class: `line-series l${at % 6}`,
            d: linePath(numbers, each.values, across, up) })),
        limit !== null && [
            svg("line", { x1: left, x2: width, y1: up(limit), y2: up(limit), class: "limit" }),
            svg("text", { x: left + 4, y: up(limit) - 5, class: "axis limit-text" },
                `limit ${yText(limit)}`)]);
}

// From the last to the first, those that are far enough from the one before.
function spread(numbers, across, least) {
    const found = [];

    for (const value of numbers.filter(Number.isFinite).sort((a, b) => b - a))
        if (!found.length || across(found.at(-1)) - across(value) >= least) found.push(value);
    return found;
}

function linePath(x, values, across, up) {
    let path = "", drawing = false;

    values.forEach((value, at) => {
        const good = has(value) && Number.isFinite(Number(value)) && Number.isFinite(x[at]);

        if (good) path += `${drawing ? "L" : "M"}${across(x[at]).toFixed(1)} `
            + `${up(Number(value)).toFixed(1)}`;
        drawing = good;
    });
    return path;
}

// ---- how many numbers have which magnitude

// Counts from the most negative exponent over zero to the most positive.
function histogramBars(histogram, zeros) {
    const [first, negative, positive] = list(object(histogram).bins);
    const low = number(first) ?? 0;
    const counts = (given) => list(given).slice(0, 4096).map((each) => Number(exact(each) ?? 0));
    const less = counts(negative), more = counts(positive);
    const bars = less.map((count, i) => ({ exponent: low + i, sign: -1, count })).reverse();

    bars.push({ exponent: null, sign: 0, count: Number(exact(zeros) ?? 0) });
    more.forEach((count, i) => bars.push({ exponent: low + i, sign: 1, count }));
    return bars;
}

const powerText = (exponent) => `2^${exponent}`.replace("-", "\u2212");

function barName(bar) {
    if (bar.exponent === null) return "0";
    const near = powerText(bar.exponent), far = powerText(bar.exponent + 1);

    return bar.sign < 0 ? `\u2212${far} to \u2212${near}` : `${near} to ${far}`;
}

// beyond: from which magnitude numbers are outliers.
function histogramSvg(bars, beyond, width, height, small) {
    const most = bars.reduce((best, each) => Math.max(best, each.count), 0) || 1;
    const wide = width / Math.max(1, bars.length), floor = small ? height : height - 20;
    const far = (bar) => beyond > 0 && bar.exponent !== null && 2 ** bar.exponent >= beyond;
    const path = (wanted) => bars.map((bar, at) => {
        if (!bar.count || !wanted(bar)) return "";
        const high = Math.max(1, (bar.count / most) * floor);

        return `M${(at * wide).toFixed(2)} ${floor}v${-high.toFixed(2)}`
            + `h${Math.max(0.5, wide - (wide > 4 ? 1 : 0)).toFixed(2)}v${high.toFixed(2)}z`;
    }).join("");
    const every = Math.ceil(bars.length / Math.max(1, Math.floor(width / 46)));
    const middle = bars.findIndex((bar) => bar.exponent === null);
    const name = small ? { "aria-hidden": "true" } : { role: "img",
        "aria-label": "Histogram by power of two; the table of counts follows" };

    return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: small ? "spark" : "histogram",
                        ...(small ? { width, height } : { width: "100%" }), ...name },
        svg("path", { class: "bars", d: path((bar) => !far(bar) && bar.exponent !== null) }),
        svg("path", { class: "bars zero", d: path((bar) => bar.exponent === null) }),
        svg("path", { class: "bars far", d: path(far) }),
        !small && bars.map((bar, at) => (at - middle) % every === 0 &&
            svg("text", { x: (at + 0.5) * wide, y: height - 5, class: "axis middle" },
                bar.exponent === null ? "0"
                    : (bar.sign < 0 ? "\u2212" : "") + powerText(bar.exponent))));
}
