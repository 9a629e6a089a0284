// ---- everything about one tensor

function drawDetail(view, i, node, close) {
    const { table } = view;

    node.replaceChildren(
        el("div", { class: "detail-head" }, el("h3", null, fileText(table.name(i), 1000)),
           button("Close", close)),
        tensorFacts(view, i), ...[tensorFindings(view, i), tensorStatistics(view, i),
                                  tensorErrors(view, i), tensorMatrix(view, i),
                                  tensorValues(view, i)].flat().filter(Boolean));
}

const both = (value, text) =>
    (value === null ? "unknown" : `${text(value)} (${grouped(value)})`);

function tensorFacts(view, i) {
    const { table } = view, type = table.types[table.typeIndex(i)];
    const bytes = table.bytes(i), offset = table.offset(i), elements = table.elements(i);
    const total = Number(view.bytes());

    return facts([
        ["Name", table.name(i).length > 1000 && longText(table.name(i))],
        ["Type", [fileText(table.type(i), 100), type && has(type.elements) && type.elements !== 1
            ? ` (blocks of ${grouped(type.elements)} in ${grouped(type.bytes ?? 0)} bytes)` : ""]],
        ["Shape", [shapeText(table.shape(i).slice(0, 64)), table.shape(i).length > 1
            ? el("span", { class: "note" }, table.fastestFirst ? " contiguous first"
                : " contiguous last") : ""]],
        ["Elements", elements === null ? "unknown" : grouped(elements)],
        ["Bytes", both(bytes, bytesText)],
        ["Share", bytes !== null && total > 0 && percentText(Number(bytes) / total)],
        ["Bits per weight", bytes !== null && elements > 0
            && String(Number(((Number(bytes) * 8) / Number(elements)).toFixed(4)))],
        ["Offset", both(offset, hexText)],
        ["End", both(plus(offset, bytes), hexText)],
        ["Shard", view.shards.length > 1 && String(table.shard(i))],
        ["Flags", table.flags(i).length > 0 && fileText(table.flags(i).join(", "))],
        ["Number", `${grouped(i)} in the file's order`],
    ]);
}

function tensorFindings(view, i) {
    const found = view.findings().get(i);

    return found && [el("h4", null, "Findings"), el("ul", { class: "plain" }, found.map((finding) =>
        el("li", null, severityMark(string(finding.severity)), " ",
           fileText(string(finding.message), 2000), " ",
           el("code", null, fileText(string(finding.id))))))];
}

function tensorStatistics(view, i) {
    const data = view.data();

    if (!data || data.count(i) === null) return data && note("Its numbers are not known.");
    const rows = data.rows(i), of = (value) => has(value) && rows !== null
        && `${grouped(value)} of ${grouped(rows)}`;

    return [el("h4", null, "Numbers"), facts([
        ["Numbers", grouped(data.count(i))], ["Least", numberNode(data.shown("min", i))],
        ["Largest", numberNode(data.shown("max", i))], ["Mean", numberNode(data.mean(i))],
        ["Standard deviation", numberNode(data.std(i))], ["L2 norm", numberNode(data.l2(i))],
        ["Zeros", has(data.zeros(i)) && grouped(data.zeros(i))],
        ["NaNs", has(data.nans(i)) && grouped(data.nans(i))],
        ["Infinite", has(data.infinities(i)) && grouped(data.infinities(i))],
        ["Rows of zeros", of(data.zero_rows(i))], ["Constant rows", of(data.constant_rows(i))],
    ]), histogramOf(data, i)];
}

function histogramOf(data, i) {
    const histogram = data.histogram(i);

    if (!histogram) return "";
    const bars = histogramBars(histogram, data.zeros(i)), beyond = statistic(histogram.beyond);
    const box = el("div", { class: "chart" });

    responsive(box, (width) => box.replaceChildren(histogramSvg(bars, beyond, width, 150, false)));
    const counted = bars.filter((each) => each.count > 0);

    return el("figure", null, box, el("figcaption", { class: "note" },
        has(histogram.outliers) && beyond > 0
            ? [`${grouped(exact(histogram.outliers) ?? "?")} outliers: magnitudes of at least `,
               numberNode(beyond), ", six standard deviations or more."] : ""),
        folded("Counts", () => tableOf("Numbers by magnitude", [{ label: "From – to" },
            { label: "Numbers", number: true }], counted.length, (at) =>
            [barName(counted[at]), grouped(counted[at].count)])));
}

function valuesFacts(values) {
    return facts([
        ["Numbers", has(values.count) && countNode(exact(values.count))],
        ["RMSE", numberNode(statistic(values.rmse))],
        ["Cosine", numberNode(statistic(values.cosine))],
        ["Worst absolute", numberNode(statistic(values.max_absolute))],
        ["Worst relative", numberNode(statistic(values.max_relative))],
        ["From zero", has(values.from_zero) && countNode(exact(values.from_zero))],
        ...[["NaNs", "nan_a", "nan_b"], ["Infinite", "inf_a", "inf_b"]].map(([label, a, b]) =>
            [label, (exact(values[a]) || exact(values[b])) &&
                `${grouped(exact(values[a]) ?? "?")} and ${grouped(exact(values[b]) ?? "?")}`]),
    ]);
}

function tensorErrors(view, i) {
    const found = view.errors().get(i);

    return found && found.flatMap(({ other, values }) => [el("h4", null, "Against ",
        fileText(element(view.page.views, other)?.name ?? "the other model", 80)), valuesFacts(values)]);
}

function tensorMatrix(view, i) {
    const entry = view.matrixOf?.().get(i);

    return entry && [el("h4", null, "Importance matrix"), facts([
        ["Cover", fileText(string(entry.cover))],
        ["Columns", has(entry.columns) && countNode(exact(entry.columns))],
        ["Experts used", has(entry.experts) && `${exact(entry.used) ?? "?"} of ${exact(entry.experts)}`],
        ["Counts", has(entry.least) && [numberNode(statistic(entry.least)), " to ",
                                        numberNode(statistic(entry.most))]]])];
}

const VALUES = 256;

// Numbers that only a source has, a part at a time.
function tensorValues(view, i) {
    const { source, at } = view;

    if (typeof source?.values !== "function") return "";
    const rows = el("ol", { class: "values", start: 0 }), says = el("p", { class: "note", role: "status" });
    let first = 0;
    const more = button("Show values", async () => {
        more.disabled = true;
        try {
            const values = Array.from(await source.values(at, i, first, VALUES)).slice(0, VALUES);

            rows.append(...values.map((value) => el("li", null, String(value))));
            first += values.length;
            more.textContent = "Show more values";
            more.hidden = values.length < VALUES;
            says.textContent = `${grouped(first)} values`;
        } catch (error) {
            says.textContent = `The values cannot be read: ${visible(String(error?.message ?? error))}`;
        }
        more.disabled = false;
    });

    return [more, says, rows];
}
