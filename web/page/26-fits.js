// ---- the memory plan: what fits below a limit

const PARTS = ["weights", "kv", "state", "compute", "output"];

function decodePlan(section) {
    const given = object(section);
    const contexts = list(given.contexts).map(exact);
    const line = (values) => contexts.map((_, at) => exact(list(values)[at]));
    const curves = list(given.curves).map((each) => {
        const curve = { name: curveName(object(each)), total: line(object(each).total) };

        PARTS.forEach((part) => { curve[part] = line(object(each)[part]); });
        return curve;
    });

    return { contexts, curves };
}

function curveName(curve) {
    const k = string(curve.type_k, "?"), v = string(curve.type_v, "?");

    return k === v ? k : `${k} / ${v}`;
}

// The place of the longest context whose total fits, or -1.
function longestFit(contexts, total, limit) {
    let best = -1;

    contexts.forEach((context, at) => {
        if (context === null || total[at] === null || total[at] > limit) return;
        if (best < 0 || context > contexts[best]) best = at;
    });
    return best;
}

// The total with a mix's weights in place of the curve's.
function mixTotal(curve, at, weights) {
    const total = curve.total[at], own = curve.weights[at];

    if (has(total) && has(own) && weights !== null)
        return plus(plus(total, weights), times(own, -1));
    return null;
}
