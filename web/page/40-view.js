// ---- one model of the document, and what is computed of it when needed

function makeView(report, at, source, page) {
    const model = object(list(report.models)[at]), head = object(model.head);
    const shards = list(head.shards).map(object);
    const starts = shards.length ? shards.map((shard) => shard.data_offset) : [head.data_offset];
    const table = decodeTensors(model.tensors, starts);
    const view = { report, at, model, head, table, source, page, shards };

    view.facts = object(head.facts);
    view.name = string(model.file) || string(view.facts.name) || `Model ${at + 1}`;
    view.groups = lazy(() => groupTensors(table));
    view.cells = lazy(() => groupCells(table, view.groups()));
    view.bytes = lazy(() => view.cells().reduce((sum, cell) => plus(sum, cell.bytes), 0));
    view.findings = lazy(() => findingsOf(model, table));
    view.data = lazy(() => dataOf(model));
    view.errors = lazy(() => errorsOf(report, at, table));
    view.typeRank = lazy(() => rankTypes(view));
    view.measures = lazy(() => [...errorMeasures(view), ...dataMeasures(view)]);
    return view;
}

// Those of one name get what tells them apart: type or place.
function makeViews(report, source, page) {
    const views = list(report.models).map((_, at) => makeView(report, at, source, page));
    const several = (view) => views.filter((other) => other.name === view.name).length > 1;

    views.filter(several).forEach((view) => {
        view.mark = `${view.name} (${string(view.facts.file_type) || string(view.head.format)})`;
    });
    views.forEach((view) => { view.name = view.mark ?? view.name; });
    views.filter(several).forEach((view) => { view.mark = `${view.name} #${view.at + 1}`; });
    views.forEach((view) => { view.name = view.mark ?? view.name; });
    return views;
}

// Findings of each tensor, by its index.
function findingsOf(model, table) {
    const found = new Map();

    for (const finding of list(object(model.verdict).findings).map(object)) {
        const tensor = exact(finding.tensor);

        if (tensor === null || tensor < 0 || tensor >= table.count) continue;
        if (!found.has(tensor)) found.set(tensor, []);
        found.get(tensor).push(finding);
    }
    return found;
}

// Types by their bytes, most first, as {type, name, bytes, tensors}; the first
// eight have a colour of their own.
function rankTypes(view) {
    const sums = new Map();

    for (const cell of view.cells())
        for (const [type, bytes] of cell.types)
            sums.set(type, plus(sums.get(type) ?? 0, bytes));
    const many = new Map();

    for (let i = 0; i < view.table.count; i++) {
        const type = view.table.typeIndex(i);

        many.set(type, (many.get(type) ?? 0) + 1);
    }
    const ranked = [...sums].sort((a, b) => compare(b[1], a[1])).map(([type, bytes], at) => ({
        type, bytes, tensors: many.get(type), colour: `c${Math.min(at, 8)}`,
        name: view.table.types[type]?.name ?? "unknown type" }));

    return { ranked, colours: new Map(ranked.map((each) => [each.type, each.colour])) };
}

// Columns of DATA, or null.
function dataOf(model) {
    if (!has(model.data)) return null;
    const given = object(model.data), column = (key) => list(given[key]);
    const count = column("count"), histogram = column("histogram");
    const data = { any: count.some(has) };

    for (const key of ["min", "max", "mean", "std", "l2"])
        data[key] = (i) => statistic(column(key)[i]);
    data.shown = (key, i) => exact(column(key)[i]) ?? data[key](i);
    for (const key of ["count", "zeros", "nans", "infinities", "rows", "zero_rows",
                       "constant_rows"])
        data[key] = (i) => exact(column(key)[i]);
    data.histogram = (i) => (has(histogram[i]) ? object(histogram[i]) : null);
    data.outliers = (i) => exact(object(histogram[i]).outliers);
    return data;
}

// What is measured of each tensor, to rank, colour and sort by.
function dataMeasures(view) {
    const data = view.data();

    if (!data) return [];
    const part = (of, whole) => (i) => {
        const a = of(i), b = whole(i);

        return a === null || b === null || Number(b) === 0 ? null : Number(a) / Number(b);
    };
    const largest = (i) => {
        const least = data.min(i), most = data.max(i);

        return least === null || most === null ? null : Math.max(Math.abs(least), Math.abs(most));
    };
    const peak = (i) => {
        const std = data.std(i), most = largest(i);

        return std > 0 && most !== null ? most / std : null;
    };

    return [
        { id: "outliers", label: "Outliers", value: part(data.outliers, data.count),
          text: percentText },
        { id: "peak", label: "Largest in standard deviations", value: peak, text: numberText },
        { id: "std", label: "Standard deviation", value: data.std, text: numberText },
        { id: "largest", label: "Largest magnitude", value: largest, text: numberText },
        { id: "zeros", label: "Zeros", value: part(data.zeros, data.count), text: percentText },
        { id: "zero_rows", label: "Rows of zeros", value: part(data.zero_rows, data.rows),
          text: percentText },
        { id: "constant_rows", label: "Constant rows", value: part(data.constant_rows, data.rows),
          text: percentText },
        { id: "nans", label: "NaNs", value: data.nans, text: countText },
        { id: "infinities", label: "Infinite numbers", value: data.infinities, text: countText },
    ];
}

// Errors of this model's tensors against other models: of each tensor a list of
// {other, values}, from comparisons, or from verification where these have none.
function errorsOf(report, at, table) {
    const found = new Map();
    const put = (index, other, values) => {
        const i = exact(index);

        if (i === null || i < 0 || i >= table.count || !has(values)) return;
        if (!found.has(i)) found.set(i, []);
        if (!found.get(i).some((each) => each.other === other))
            found.get(i).push({ other, values: object(values) });
    };

    for (const pair of list(report.compare).map(object)) {
        const side = pair.a === at ? "a" : pair.b === at ? "b" : null;
        const verify = object(pair.verify), other = side === "a" ? pair.b : pair.a;

        if (side)
            list(pair.tensors).map(object).forEach((each) => put(each[side], other, each.values));
        if (verify.model === at)
            list(verify.tensors).map(object).forEach((each) =>
                put(each.tensor, verify.source, each.errors));
    }
    return found;
}

const ERRORS = [
    { id: "rmse", label: "RMSE", of: (values) => statistic(values.rmse), text: numberText },
    { id: "cosine", label: "1 − cosine", text: numberText,
      of: (values) => {
          const cosine = statistic(values.cosine);

          return cosine === null ? null : Math.max(0, 1 - cosine);
      } },
    { id: "max_absolute", label: "Worst absolute", of: (values) => statistic(values.max_absolute),
      text: numberText },
    { id: "max_relative", label: "Worst relative", of: (values) => statistic(values.max_relative),
      text: numberText },
];

function errorMeasures(view) {
    const errors = view.errors();

    return errors.size === 0 ? [] : ERRORS.map(({ id, label, of, text }) => ({
        id, label: `Error: ${label}`, text,
        value: (i) => worst(errors.get(i) ?? [], ({ values }) => of(values)) }));
}

// The worst of a cell's tensors, or of several errors.
function worst(all, value) {
    let most = null;

    for (const each of all) {
        const found = value(each);

        if (found !== null && !Number.isNaN(found) && (most === null || found > most))
            most = found;
    }
    return most === null ? null : Number(most);
}

// A tensor's name that leads to its row and details.
function tensorLink(view, i, text) {
    return button(fileText(text ?? view.table.name(i), 120),
                  () => view.page.select(view.at, i), { class: "link" });
}
