// ---- a recorded run

// A member of an object of measurements, by the end of its name.
function measured(key, value) {
    if (/bytes$/.test(key) && exact(value) !== null) return bytesNode(exact(value));
    if (/(_us|_ns|seconds|lifetime)$/.test(key) && typeof value === "number") {
        const unit = key.endsWith("us") ? "µs" : key.endsWith("ns") ? "ns" : "s";

        return withUnit(value, unit);
    }
    return typeof value === "number" ? numberNode(value) : plainValue(value);
}

const withUnit = (value, unit) => rounded(`${numberText(value)} ${unit}`, `${value} ${unit}`);
const keyText = (key) => labelOf(key.replace(/_(us|ns|bytes)$/, ""));

const members = (value) => Object.entries(object(value)).slice(0, 64)
    .filter(([, each]) => has(each) && each !== "").map(([key, each]) => [fileText(keyText(key)), measured(key, each)]);

function drawRecorded(page, body) {
    const given = object(page.report.recorded);
    const problems = list(given.problems).filter((each) => typeof each === "string");
    const words = [given.command, given.sub_command].filter((each) => typeof each === "string");
    const line = list(given.command_line).filter((each) => typeof each === "string");
    const command = string(given.command_text) || (line.length ? line : words).join(" ");
    const all = exact(given.problem_count);

    put(body, facts([
        ["Command", command && el("code", null, longText(command))],
        ["", has(given.command_bytes) && note(`The first part of ${grouped(exact(given.command_bytes) ?? "?")} bytes.`)],
        ["Version", string(given.version) && fileText(given.version)],
        ["Exit code", has(given.exit_code) && plainValue(given.exit_code)],
        ["Fingerprint", string(given.fingerprint) && el("code", null, fileText(given.fingerprint))],
        ["Time", has(given.seconds) && measured("seconds", given.seconds)],
        ["Time by the clock", has(given.wall_seconds) && measured("seconds", given.wall_seconds)],
    ]), problems.length > 0 && el("ul", { class: "plain problems" }, problems.map((each) =>
        el("li", null, severityMark("warning"), " ", fileText(each)))),
        all > problems.length && note(`${grouped(problems.length)} of ${plural(all, "problem")} are listed.`));
    for (const draw of [measurements, memoryOverTime, phaseTable, sampleChart, heapSites,
                        settingsTable, resultsTable])
        put(body, drawn(() => draw(given)));
}

const MEASUREMENTS = [["totals", "Totals"], ["latency", "Latency"], ["energy", "Energy"],
                      ["configuration", "Configuration"], ["host", "Machine"]];

function measurements(given) {
    const found = MEASUREMENTS.filter(([key]) => members(given[key]).length > 0);

    return found.length > 0 && el("div", { class: "columns" }, found.map(([key, title]) =>
        el("div", null, el("h3", null, title), facts(members(given[key])))));
}

// What cannot be drawn says so, and nothing else is lost.
function drawn(draw) {
    try {
        return [draw()].flat(Infinity).filter((each) => has(each) && each !== false);
    } catch (error) {
        return [note(`This part cannot be drawn: ${visible(String(error?.message ?? error))}`)];
    }
}

const PER_SECOND = { ns: 1e9, us: 1e6, ms: 1e3, s: 1 };
const POINTS_MOST = 4096;

// Every n-th place, so that lines stay light; a document has at most 2,048.
function thinned(count) {
    const step = Math.max(1, Math.ceil(count / POINTS_MOST));

    return Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step);
}

function memoryOverTime(given) {
    if (!has(given.memory)) return [];
    const memory = object(given.memory), time = list(memory.time).map(statistic);
    const per = member(PER_SECOND, memory.unit) ?? 1, at = thinned(time.length);
    const series = ["resident", "kv_cache", "library", "other"].filter((key) => list(memory[key]).length)
        .map((key) => ({ name: keyText(key), key,
                         values: at.map((i) => exact(list(memory[key])[i])) }));
    const seen = exact(memory.samples), every = exact(memory.every);
    const peak = (key) => list(memory[key]).map(exact).filter(has)
        .reduce((most, each) => (each > most ? each : most), 0);

    return time.length < 2 || !series.length ? [] : [el("h3", null, "Memory over time"),
        lineChart({ label: `Memory over time; ${series.map((each) =>
            `${each.name} at most ${bytesText(peak(each.key))}`).join(", ")}`,
            x: at.map((i) => time[i] / per), series, base: 1024, yText: bytesText,
            xText: (value) => `${numberText(value)} s` }).node,
        every > 1 && note(`Of ${plural(seen ?? 0, "sample")}, each point is the largest of ${grouped(every)}.`),
        facts(series.map((each) => [`${each.name}, at most`, bytesNode(peak(each.key))]))];
}

const PHASE_TIMES = [["min_ns", "Least"], ["p50_ns", "p50"], ["p99_ns", "p99"], ["max_ns", "Most"]];

function phaseTable(given) {
    const phases = list(given.phases).map(object);
    const times = PHASE_TIMES.filter(([key]) => phases.some((phase) => has(phase[key])));

    return phases.length === 0 ? [] : [el("h3", null, "Phases"), tableOf("Time by phase",
        [{ label: "Phase" }, { label: "Seconds", number: true }, { label: "Share", number: true },
         { label: "", class: "wide" }, { label: "Count", number: true },
         ...times.map(([, label]) => ({ label, number: true }))], phases.length, (i) => [
            fileText(string(phases[i].name)), numberNode(statistic(phases[i].seconds)),
            percentText(statistic(phases[i].share) ?? NaN), bar(statistic(phases[i].share)),
            has(phases[i].count) ? countNode(exact(phases[i].count)) : "",
            ...times.map(([key]) => (has(phases[i][key]) ? measured(key, phases[i][key]) : ""))])];
}

// How often a sample took how long.
function sampleChart(given) {
    if (!has(given.samples)) return [];
    const samples = object(given.samples), every = exact(samples.every);
    const elements = list(samples.elements).map(exact).filter(has);
    const unit = visible(cut(string(samples.unit), 10)).replace(/^us$/, "µs");
    const found = ["wall", "kernel"].map((key) => [key, list(samples[key]).map(statistic)
        .filter((each) => Number.isFinite(each)).sort((a, b) => a - b)])
        .filter(([, values]) => values.length);
    const at = (values, part) => values[Math.min(values.length - 1, Math.floor(part * values.length))];

    return found.length === 0 ? [] : [el("h3", null, "Samples"),
        found[0][1].length > 2 && lineChart({ label: "Samples in ascending order", x: thinned(found[0][1].length),
            series: found.map(([name, values]) => ({ name: labelOf(name),
                values: thinned(found[0][1].length).map((i) => values[i] ?? null) })),
            xText: numberText, yText: (value) => `${numberText(value)} ${unit}` }).node,
        every > 1 && note(`Of ${plural(exact(samples.samples) ?? 0, "sample")}, each of these is the largest of `
            + `${grouped(every)}: least, median and percentiles are of those.`),
        elements.length > 0 && facts([["Elements of a sample", rangeOf(elements)]]),
        tableOf("Samples", [{ label: "" }, ...["Samples", "Least", "Median", "90 %", "99 %", "Most"]
            .map((label) => ({ label, number: true }))], found.length, (i) => {
            const [name, values] = found[i];

            return [labelOf(name), grouped(values.length), ...[0, 0.5, 0.9, 0.99, 1].map((part) =>
                withUnit(at(values, part), unit))];
        })];
}

function rangeOf(values) {
    const [least, most] = values.reduce(([low, high], each) =>
        [each < low ? each : low, each > high ? each : high], [values[0], values[0]]);

    return least === most ? grouped(least) : `${grouped(least)} to ${grouped(most)}`;
}

function heapSites(given) {
    if (!has(given.heap)) return [];
    const heap = object(given.heap), sites = list(heap.sites).map(object);
    const frames = list(heap.frames);
    const calls = (site) => list(site.stack).map((each) => frames[each])
        .filter((each) => typeof each === "string");
    const size = (site) => exact(site.at_peak) ?? exact(site.bytes) ?? 0;
    const kept = SITE_MORE.filter(([key]) => sites.some((site) => has(site[key])));
    const order = sites.map((_, i) => i).sort((a, b) => compare(size(sites[b]), size(sites[a])));
    const peak = Number(exact(heap.peak) ?? 0) || Number(order.length ? size(sites[order[0]]) : 1) || 1;

    return [el("h3", null, "Heap"), facts([
        ["Mode", string(heap.mode) && fileText(heap.mode)],
        ["Peak", bytesNode(exact(heap.peak))], ["Blocks at the peak", counted(heap.peak_blocks)],
        ["At", momentOf(heap, heap.at)], ["End", momentOf(heap, heap.end)],
        ["In all", bytesNode(exact(heap.total))], ["Blocks", counted(heap.blocks)],
        ["Not freed", has(heap.left) && bytesNode(exact(heap.left))],
        ["Blocks not freed", counted(heap.left_blocks)],
        ["Read", has(heap.read) && bytesNode(exact(heap.read))],
        ["Written", has(heap.written) && bytesNode(exact(heap.written))],
        ["Sites", has(heap.site_count)
            && `${grouped(sites.length)} of ${grouped(exact(heap.site_count) ?? "?")}`]],
        { class: "facts side-by-side" }),
        sites.length > 0 && flames(sites.map((site) => ({ size: Number(size(site)),
            stack: calls(site) }))),
        sites.length > 0 && tableOf("Where memory was allocated, by bytes at the peak",
            [{ label: "At the peak", number: true }, { label: "", class: "bars" },
             { label: "In all", number: true }, { label: "Blocks", number: true },
             ...kept.map(([, label]) => ({ label, number: true })),
             { label: "Calls, innermost first", class: "wide" }], order.length, (at) => {
                const site = sites[order[at]];

                return [bytesNode(exact(site.at_peak)), bar(Number(size(site)) / peak),
                        bytesNode(exact(site.bytes)), countNode(exact(site.blocks)),
                        ...kept.map(([key, , shown]) => shown(heap, site[key])),
                        [stackNode(calls(site)), exact(site.depth) > calls(site).length
                            && note(`The innermost of ${plural(exact(site.depth), "call")}.`)]];
            }, 25)];
}

const counted = (value) => has(value) && countNode(exact(value));

// What else a profile says of a site: columns of those that any site has.
const SITE_MORE = [["peak_blocks", "Blocks at the peak", (heap, value) => counted(value)],
    ["left", "Not freed", (heap, value) => has(value) && bytesNode(exact(value))],
    ["left_blocks", "Blocks not freed", (heap, value) => counted(value)],
    ["most", "Most at once", (heap, value) => has(value) && bytesNode(exact(value))],
    ["most_blocks", "Most blocks", (heap, value) => counted(value)],
    ["lifetime", "Lifetimes", (heap, value) => has(value) && momentOf(heap, value)],
    ["read", "Read", (heap, value) => has(value) && bytesNode(exact(value))],
    ["written", "Written", (heap, value) => has(value) && bytesNode(exact(value))]];

function momentOf(heap, moment) {
    const per = member(PER_SECOND, heap.unit), at = statistic(moment);

    if (at === null) return null;
    return per ? withUnit(at / per, "s") : withUnit(at, visible(cut(string(heap.unit), 20)));
}

const DEPTH_MOST = 24, FLAMES_MOST = 1500;

// Calls with what they call below them, as wide as their bytes at the peak.
function flames(sites) {
    const root = { name: "all", size: 0, calls: new Map() };

    for (const { size, stack: calls } of sites) {
        let node = root;

        root.size += size;
        for (const call of calls.slice(-DEPTH_MOST).reverse()) {
            if (!node.calls.has(call)) node.calls.set(call, { name: call, size: 0, calls: new Map() });
            node = node.calls.get(call);
            node.size += size;
        }
    }
    return cellMap("Bytes at the peak by calls; the table after it says the same", (width) => {
        const cells = flameCells(root, width);

        return { height: cells.reduce((most, cell) => Math.max(most, cell.y + cell.height), 0), cells };
    }).node;
}

function flameCells(root, width) {
    const cells = [], high = 20, waiting = [{ node: root, x: 0, depth: 0 }];
    const scale = width / Math.max(1, root.size);

    while (waiting.length && cells.length < FLAMES_MOST) {
        const { node, x, depth } = waiting.shift(), name = visible(cut(node.name, 120));
        let left = x;

        cells.push({ x, y: depth * high, width: node.size * scale, height: high, label: name,
                     fill: `s${depth % 2}`, name: `${name}: ${bytesText(node.size)}` });
        for (const call of [...node.calls.values()].sort((a, b) => b.size - a.size)) {
            if (call.size * scale >= 1) waiting.push({ node: call, x: left, depth: depth + 1 });
            left += call.size * scale;
        }
    }
    return cells;
}

function stackNode(calls) {
    if (calls.length < 2) return el("code", null, fileText(calls[0] ?? "unknown"));
    return folded(el("code", null, fileText(calls[0]), " ← ", fileText(calls[1])), () =>
        el("ol", { class: "calls" }, calls.slice(0, 200).map((call) =>
            el("li", null, el("code", null, fileText(call))))));
}

function settingsTable(given) {
    const settings = list(given.settings).map(object);
    const of = (key) => (i) => measured(key, settings[i][key]);
    const inner = (name) => [...new Set(settings.flatMap((each) => Object.keys(object(each[name]))))].slice(0, 16)
        .map((key) => [name === "latency" ? keyText(key) : `${labelOf(name)}: ${keyText(key).toLowerCase()}`,
                       (i) => measured(key, member(settings[i][name], key)), true]);
    const columns = [["Setting", of("setting")], ["Type", of("type")],
        ["Threads", of("threads"), true], ["File", of("file_bytes"), true],
        ["Relative error", of("relative_error"), true], ["Peak heap", of("peak_heap_bytes"), true],
        ...inner("latency"), ...inner("energy")];

    return settings.length === 0 ? [] : [el("h3", null, "Settings"), tableOf("Measured of each setting",
        columns.map(([label, , right]) => ({ label: fileText(label), number: right })), settings.length, (i) =>
            columns.map(([, cell]) => cell(i)), 25)];
}

function resultsTable(given) {
    const results = list(given.results).map(object), all = exact(given.result_count);
    const keys = [...new Set(results.flatMap((each) => Object.keys(each)))].slice(0, 32);

    return results.length === 0 ? [] : [el("h3", null, "Results"), tableOf("Against the baseline",
        keys.map((key) => ({ label: fileText(keyText(key)), number: key !== "setting" })),
        results.length, (i) => keys.map((key) => measured(key, member(results[i], key))), 25),
        all > results.length && note(`${grouped(results.length)} of ${grouped(all)} lines are here.`)];
}
