// ---- the memory of a run

const UNITS = [["KiB", 1024], ["MiB", 1024 ** 2], ["GiB", 1024 ** 3], ["TiB", 1024 ** 4]];

// The unit in which the largest total is at least 1.
const unitOf = (bytes) => UNITS.findLast(([, size]) => bytes >= size) ?? UNITS[0];

function drawMemory(view, body) {
    const given = object(view.model.plan), plan = decodePlan(given);
    const totals = plan.curves.flatMap((curve) => curve.total).filter(has).map(Number);
    const unknown = list(given.unknown).filter((each) => typeof each === "string");
    const estimated = list(given.estimated).filter((each) => typeof each === "string");

    const runs = [["sequences", "sequence", ""], ["ubatch", "token", " in a micro-batch"]].map(([key, word, more]) =>
        exact(given[key]) !== null && plural(exact(given[key]), word) + more).filter(Boolean);

    if (runs.length) body.append(note("For ", runs.join(", "), "."));
    if (string(given.reason)) body.append(note("Not everything is known: ", fileText(given.reason)));
    if (unknown.length) body.append(note("Unknown: ", fileText(unknown.join(", "))));
    if (estimated.length) body.append(note("Estimated: ", fileText(estimated.join(", "))));
    if (totals.length) body.append(...memoryCurves(view, plan, totals, given));
    else body.append(note("No total is known."));
}

function memoryCurves(view, plan, totals, given) {
    const most = Math.max(...totals), between = Math.round((Math.min(...totals) + most) / 2);
    const [unit, size] = unitOf(most), top = Math.ceil((Math.max(most, Number(exact(given.limit) ?? 0)) / size) * 12.5) / 10;
    const asked = Number(exact(given.limit) ?? 0);
    const state = { limit: asked > 0 ? asked : between, curve: 0, at: Math.max(0, plan.contexts.indexOf(exact(given.context))) };
    const chartBox = el("div"), fits = el("div", { "aria-live": "polite" });
    const rest = el("div"), parts = el("div");
    const draw = () => {
        chartBox.replaceChildren(memoryChart(plan, state));
        fits.replaceChildren(fitTable(plan, state));
        rest.replaceChildren(mixTable(view, plan, state, given), el("div", { class: "columns" },
            deviceTable(given), offloadTable(given, state)));
    };
    const range = el("input", { type: "range", min: 0, max: top, step: "any", "aria-label":
        `Limit in ${unit}`, input: () => limited(range, exactly) });
    const exactly = el("input", { type: "number", min: 0, step: "any",
                                  input: () => limited(exactly, range) });
    const limited = (from, to) => {
        const value = Number(from.value);

        if (!(value >= 0)) return;
        to.value = Number(value.toFixed(3));
        range.setAttribute("aria-valuetext", `${Number(value.toFixed(3))} ${unit}`);
        state.limit = Math.round(value * size);
        draw();
    };
    const select = (key) => (value) => {
        state[key] = Number(value);
        draw();
        parts.replaceChildren(partTable(plan, state));
    };

    range.value = exactly.value = Number((state.limit / size).toFixed(3));
    range.setAttribute("aria-valuetext", `${range.value} ${unit}`);
    draw();
    parts.append(partTable(plan, state));
    return [el("div", { class: "toolbar" },
        el("label", { class: "control" }, el("span", null, `Limit in ${unit}`), exactly), range,
        choice("Context", plan.contexts.map((context, at) => [String(at), context === null ? "?"
            : grouped(context)]), String(state.at), select("at")),
        choice("Cache", plan.curves.map((curve, at) => [String(at), visible(cut(curve.name, 40))]),
               "0", select("curve"))),
        el("div", { class: "columns wide-first" }, chartBox, fits), rest,
        el("h3", null, "Parts"), parts];
}

function memoryChart(plan, state) {
    return lineChart({ label: "Memory over the context, a line for each type of cache; the "
        + "tables say the same", x: plan.contexts.map((context) => Number(context ?? NaN)),
        series: plan.curves.slice(0, 24).map((curve) => ({ name: visible(cut(curve.name, 40)),
                                                          values: curve.total })),
        limit: state.limit, log: true, base: 1024, yText: bytesText,
        xText: (value) => (value >= 1024 && value % 1024 === 0 ? `${grouped(value / 1024)}k`
            : grouped(value)) }).node;
}

function fitTable(plan, state) {
    return tableOf(`Longest context of those below ${bytesText(state.limit)}`, [
        { label: "Cache" }, { label: "Context", number: true }, { label: "Memory", number: true }],
        plan.curves.length, (i) => {
            const curve = plan.curves[i], at = longestFit(plan.contexts, curve.total, state.limit);

            return [fileText(curve.name, 60), at < 0 ? "none fits" : grouped(plan.contexts[at]),
                    at < 0 ? "" : bytesNode(curve.total[at])];
        });
}

function mixTable(view, plan, state, given) {
    const curve = plan.curves[state.curve], context = plan.contexts[state.at];
    const mixes = list(given.mixes).map(object).map((mix) => ({ mix,
        total: curve ? mixTotal(curve, state.at, exact(mix.weights)) : null }));

    if (!mixes.length) return "";
    return el("div", null, el("h3", null, "Mixes"), tableOf(
        `With a context of ${context === null ? "?" : grouped(context)} and a cache of `
            + visible(cut(curve?.name ?? "?", 40)),
        [{ label: "Mix" }, { label: "Fits" }, { label: "Memory", number: true },
         { label: "", class: "wide" }, { label: "Weights", number: true }, { label: "File", number: true },
         { label: "Bits per weight", number: true }, { label: "Imatrix" }], mixes.length, (i) => {
            const { mix, total } = mixes[i], good = total !== null && total <= state.limit;

            return [fileText(string(mix.name)), total === null
                ? (has(mix.weights) ? "unknown" : "cannot be made") : el("span", { class: good ? "mark good" : "mark" }, good ? "fits" : "too large"),
                    bytesNode(total), bar(total === null ? 0 : Number(total)
                        / Math.max(1, state.limit), good ? "" : "over"),
                    bytesNode(exact(mix.weights)), bytesNode(exact(mix.file_bytes)), numberNode(statistic(mix.bits_per_weight)),
                    mix.needs_imatrix === true ? "required" : ""];
        }));
}

function partTable(plan, state) {
    const curve = plan.curves[state.curve];

    if (!curve) return "";
    const most = Math.max(1, ...curve.total.filter(has).map(Number));

    return el("div", null, el("ul", { class: "legend" }, PARTS.map((part, at) =>
        el("li", null, el("span", { class: `swatch c${at}` }), labelOf(part)))), tableOf(
        `Parts of the memory, with a cache of ${visible(cut(curve.name, 40))}`,
        [{ label: "Context", number: true }, { label: "", class: "wide" },
         ...PARTS.map((part) => ({ label: labelOf(part), number: true })), { label: "Total", number: true }],
        plan.contexts.length, (at) => [
            plan.contexts[at] === null ? "?" : grouped(plan.contexts[at]),
            stack(PARTS.map((part, kind) => ({ part: Number(curve[part][at] ?? 0) / most,
                kind: `c${kind}`, title: `${labelOf(part)}: ${bytesText(curve[part][at])}` }))),
            ...PARTS.map((part) => bytesNode(curve[part][at])), bytesNode(curve.total[at])]));
}

const lastContext = (given) => grouped(exact(list(given.contexts).at(-1)) ?? "?");

function deviceTable(given) {
    const devices = list(given.devices).map(object);

    return devices.length > 0 && el("div", null, el("h3", null, "Devices"), tableOf(
        `All blocks on one device, with a context of ${lastContext(given)}`, [{ label: "Device" },
            ...PARTS.map((part) => ({ label: labelOf(part), number: true })), { label: "Total", number: true },
            { label: "Limit", number: true }], devices.length, (i) => [
            fileText(string(devices[i].name)),
            ...PARTS.map((part) => bytesNode(exact(devices[i][part]))),
            bytesNode(exact(devices[i].total)),
            exact(devices[i].limit) > 0 ? bytesNode(exact(devices[i].limit)) : "none"]));
}

function offloadTable(given, state) {
    const offloads = list(given.offloads).map(object);
    const fitting = offloads.filter((each) => has(exact(each.devices))
        && exact(each.devices) <= state.limit);
    const best = fitting.reduce((most, each) => Math.max(most, Number(exact(each.blocks) ?? 0)), -1);

    return offloads.length > 0 && el("div", null, el("h3", null, "Offloading"),
        note(best < 0 ? `No offload fits in devices of ${bytesText(state.limit)}.`
            : `At most ${plural(best, "block")} fit${best === 1 ? "s" : ""} in devices of `
                + `${bytesText(state.limit)}.`),
        tableOf(`Memory by blocks on devices, with a context of ${lastContext(given)}`, [{ label: "Blocks", number: true },
            { label: "Host", number: true }, { label: "Devices", number: true }, { label: "Fits" }],
            offloads.length, (i) => [
                exact(offloads[i].blocks) ?? "?", bytesNode(exact(offloads[i].host)),
                bytesNode(exact(offloads[i].devices)),
                fitting.includes(offloads[i]) ? el("span", { class: "mark good" }, "fits") : ""], 16));
}
