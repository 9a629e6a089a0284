// ---- the vocabulary

function drawTokenizer(view, body) {
    const given = object(view.model.tokenizer), kinds = Object.entries(object(given.kinds));
    const special = list(given.special).map(object), samples = list(given.samples).map(object);

    body.append(facts([
        ["Model", string(given.model) && fileText(given.model)],
        ["Pre-tokenizer", string(given.pre) && fileText(given.pre)],
        ["Tokens", has(given.count) && grouped(exact(given.count) ?? "?")],
        ["Merges", has(given.merges) && grouped(exact(given.merges) ?? "?")]]));
    const left = exact(given.special_left);

    body.append(el("div", { class: "columns" },
        kinds.length > 0 && el("div", null, el("h3", null, "Kinds"), kindRows(kinds)),
        special.length > 0 && el("div", null, el("h3", null, "Special tokens"), tableOf(
            "Special tokens", [{ label: "Role" }, { label: "Id", number: true }, { label: "Text" }],
            special.length, (i) => [fileText(string(special[i].name)), exact(special[i].id) ?? "?",
                                    el("code", null, fileText(string(special[i].text)))]),
            left > 0 && note(`and ${grouped(left)} more`))));
    if (samples.length) body.append(el("h3", null, "Samples"), sampleRows(samples));
}

function kindRows(kinds) {
    const most = Math.max(1, ...kinds.slice(0, 100).map(([, count]) => Number(exact(count) ?? 0)));

    return tableOf("Tokens by kind", [{ label: "Kind" }, { label: "Tokens", number: true },
                                      { label: "Share", class: "wide" }], kinds.length, (i) =>
        [fileText(kinds[i][0]), grouped(exact(kinds[i][1]) ?? "?"),
         bar(Number(exact(kinds[i][1]) ?? 0) / most)]);
}

function sampleRows(samples) {
    return tableOf("The first tokens, some from all over, and the last",
        [{ label: "Id", number: true }, { label: "Text" }, { label: "Kind" },
         { label: "Score", number: true }], samples.length, (i) => [
            exact(samples[i].id) ?? "?", el("code", null, fileText(string(samples[i].text))),
            fileText(string(samples[i].kind)),
            has(samples[i].score) ? numberNode(statistic(samples[i].score)) : ""], 20);
}
