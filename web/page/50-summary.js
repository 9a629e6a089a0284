// ---- what the model is, and whether it is valid

function drawSummary(view, body) {
    put(body, tiles(view), factsOf(view), shardsOf(view), missingOf(view));
}

function tile(term, value, below) {
    return el("div", { class: "tile" }, el("dt", null, term),
              el("dd", null, el("span", { class: "big" }, value),
                 below && el("span", { class: "below" }, below)));
}

function tiles(view) {
    const { head, table } = view;
    const bytes = exact(head.file_bytes), data = exact(head.data_bytes);
    const parameters = exact(head.parameters), tensors = exact(head.tensor_count) ?? table.count;
    const bits = data !== null && parameters > 0 ? (Number(data) * 8) / Number(parameters) : null;
    const context = exact(view.facts.context_length);

    return el("dl", { class: "tiles" },
        has(head.file_bytes) && tile("Size", bytesText(bytes),
                                     bytes !== null && `${grouped(bytes)} bytes`),
        parameters !== null && tile("Parameters", countText(parameters),
                                    countText(parameters) !== grouped(parameters) && grouped(parameters)),
        bits !== null && tile("Bits per weight", rounded(bits.toFixed(2), String(bits)),
                              "data × 8 ÷ parameters"),
        tile("Tensors", grouped(tensors), table.types.length > 0 && plural(table.types.length, "type")),
        has(head.metadata_count) && tile("Metadata keys", grouped(exact(head.metadata_count) ?? "?")),
        context !== null && tile("Context", grouped(context), "tokens in training"));
}

// A value that was given: text of a file, a number, or a list of them.
function plainValue(value) {
    const integer = exact(value);

    if (integer !== null) return grouped(integer);
    if (typeof value === "string") return longText(value);
    if (typeof value === "number") return String(value);
    if (typeof value === "boolean") return String(value);
    if (Array.isArray(value))
        return value.slice(0, 16).flatMap((each, at) => [at ? ", " : "", plainValue(each)]);
    return has(value) ? fileText(JSON.stringify(value)) : "";
}

// These are text, whatever they look like: "007" is not a number.
const TEXT_FACTS = new Set(["architecture", "name", "license", "file_type"]);

const factValue = (key, value) =>
    (TEXT_FACTS.has(key) && typeof value === "string" ? longText(value) : plainValue(value));

function factsOf(view) {
    const { head } = view;
    const version = [exact(head.version), exact(head.version_minor) || null].filter(has);
    const offset = exact(head.data_offset);

    return el("div", null, el("h3", null, "Facts"), facts([
        ["Format", [fileText(string(head.format, "unknown")),
                    string(head.variant) ? [", ", fileText(head.variant)] : "",
                    version.length ? `, version ${version.join(".")}` : ""]],
        ["Byte order", string(head.byte_order) && fileText(head.byte_order)],
        ["Data begins at", offset !== null && `${hexText(offset)} (${grouped(offset)})`],
        ["Bytes of data", has(head.data_bytes) && bytesNode(exact(head.data_bytes))],
        ["Alignment", has(head.alignment) && plainValue(head.alignment)],
        ["Edit", head.pending_edit === true && "An edit of this file was not completed."],
        ...Object.entries(view.facts).map(([key, value]) =>
            [fileText(labelOf(key)), factValue(key, value)]),
        ["Not read", string(head.facts_unread) && longText(head.facts_unread)],
    ], { class: "facts side-by-side" }));
}

function shardsOf(view) {
    const { shards } = view;

    return shards.length > 1 && el("div", null, el("h3", null, "Shards"),
        tableOf("Shards", [{ label: "Shard", number: true }, { label: "Bytes", number: true },
                           { label: "Data begins at", number: true },
                           { label: "Tensors", number: true }], shards.length, (i) => [
            i, bytesNode(exact(shards[i].bytes)), hexText(exact(shards[i].data_offset)),
            countNode(exact(shards[i].tensors))]));
}

function missingOf(view) {
    const missing = list(view.head.missing).map(object);

    return missing.length === 0 ? [] : [el("h3", null, "Missing"),
        tableOf("What the file lacks", [{ label: "Name" }, { label: "Reason" },
                                        { label: "Shard", number: true }], missing.length,
            (i) => [fileText(string(missing[i].name)), fileText(string(missing[i].reason)),
                    exact(missing[i].shard) ?? ""])];
}

const SEVERITIES = ["error", "warning", "note"];

function severityRank(finding) {
    const rank = SEVERITIES.indexOf(finding.severity);

    return rank < 0 ? SEVERITIES.length : rank;
}

function drawVerdict(view, body) {
    const verdict = object(view.model.verdict);
    const findings = list(verdict.findings).map(object).sort((a, b) =>
        severityRank(a) - severityRank(b));
    const counts = ["errors", "warnings", "notes"].map((key) => [key, exact(verdict[key]) ?? 0]);
    const total = counts.reduce((sum, [, count]) => plus(sum, count), 0);

    body.append(el("p", { class: "verdict" }, verdictBadge(verdict),
        ...counts.map(([key, count]) => el("span", { class: `count ${count ? key : ""}` },
            `${grouped(count)} ${count === 1 ? key.slice(0, -1) : key}`)),
        has(verdict.level) && el("span", { class: "note" }, verdict.level === "data"
            ? "header and data were checked" : "the header was checked, not the data")));
    if (findings.length) body.append(findingsTable(view, findings));
    if (total > findings.length && findings.length)
        body.append(note(`${grouped(findings.length)} of ${grouped(total)} findings are listed.`));
}

function verdictBadge(verdict) {
    if (verdict.valid === true) return el("strong", { class: "badge good" }, "✓ valid");
    return verdict.valid === false ? el("strong", { class: "badge bad" }, "✗ not valid")
        : el("strong", { class: "badge" }, "not validated");
}

const severityMark = (severity) => (SEVERITIES.includes(severity)
    ? el("span", { class: `mark ${severity}` }, severity) : el("span", { class: "mark" }, "unknown"));

function findingPlace(view, finding) {
    const tensor = exact(finding.tensor);

    if (tensor !== null && tensor >= 0 && tensor < view.table.count)
        return tensorLink(view, tensor);
    return string(finding.about) ? fileText(finding.about, 120) : "";
}

function findingsTable(view, findings) {
    const several = view.shards.length > 1;

    return tableOf("Findings", [{ label: "Severity" }, { label: "What", class: "wide" },
                                { label: "Where" }, { label: "Offset", number: true },
                                ...(several ? [{ label: "Shard", number: true }] : [])],
        findings.length, (i) => {
            const finding = findings[i], offset = exact(finding.offset);

            return [severityMark(string(finding.severity)),
                [el("div", null, fileText(string(finding.message), 2000)),
                 el("div", { class: "note" }, el("code", null, fileText(string(finding.id))), " ",
                    fileText(string(finding.meaning), 1000))],
                findingPlace(view, finding),
                offset === null ? "" : rounded(hexText(offset), grouped(offset)),
                ...(several ? [exact(finding.shard) ?? ""] : [])];
        });
}
