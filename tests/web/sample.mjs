// SPDX-License-Identifier: MIT
//
// sample.mjs - documents as docs/report.md has them, made up
//
//     node sample.mjs full|pair|large|hostile|partial     prints one
//
// "full" has every section, "pair" two models, "large" 90,000 tensors,
// "hostile" texts that mean harm wherever a file has text, "partial" members
// of wrong types.  The same numbers come each time.
import { pathToFileURL } from "node:url";

let seed = 1;
const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
};

export const TYPES = [
    { name: "f32", elements: 1, bytes: 4 }, { name: "q4_k", elements: 256, bytes: 144 },
    { name: "q6_k", elements: 256, bytes: 210 }, { name: "q8_0", elements: 32, bytes: 34 }];

const KINDS = [
    ["attn_q.weight", [4096, 4096], 1], ["attn_k.weight", [4096, 1024], 1],
    ["attn_v.weight", [4096, 1024], 2], ["attn_output.weight", [4096, 4096], 1],
    ["attn_norm.weight", [4096], 0], ["ffn_gate.weight", [4096, 14336], 1],
    ["ffn_up.weight", [4096, 14336], 1], ["ffn_down.weight", [14336, 4096], 2],
    ["ffn_norm.weight", [4096], 0]];

// Tensors as {name, shape, type}.
export function llamaTensors(blocks) {
    const tensors = [{ name: "token_embd.weight", shape: [4096, 128256], type: 1 }];

    for (let block = 0; block < blocks; block++)
        for (const [kind, shape, type] of KINDS)
            tensors.push({ name: `blk.${block}.${kind}`, shape, type });
    tensors.push({ name: "output_norm.weight", shape: [4096], type: 0 });
    tensors.push({ name: "output.weight", shape: [4096, 128256], type: 2 });
    return tensors;
}

// Bytes without any of the page's arithmetic.
export const bytesOf = (tensor) => {
    const { elements, bytes } = TYPES[tensor.type];

    return (tensor.shape.reduce((a, b) => a * BigInt(b), 1n) * BigInt(bytes)) / BigInt(elements);
};

export function encodeTensors(tensors, alignment = 32n) {
    const shapes = [], known = new Map();
    const shapeOf = (shape) => {
        const key = shape.join();

        if (!known.has(key)) known.set(key, shapes.push(shape) - 1);
        return known.get(key);
    };
    const names = [];
    let last = "";

    for (const { name } of tensors) {
        let shared = 0;

        while (shared < name.length && name[shared] === last[shared]
               && name.charCodeAt(shared) < 128) shared += 1;
        names.push(shared, name.slice(shared));
        last = name;
    }
    return { count: tensors.length, fastest_first: true, types: TYPES, shapes, names,
             type: tensors.map((each) => each.type),
             shape: tensors.map((each) => shapeOf(each.shape)),
             gap: tensors.map((each, i) => (i === 0 ? 0
                 : Number((alignment - bytesOf(tensors[i - 1]) % alignment) % alignment))),
             shards: [[0, tensors.length]] };
}

const whole = (big) => (big > 2n ** 53n ? String(big) : Number(big));

function headOf(tensors, facts) {
    const data = tensors.reduce((sum, each) => sum + bytesOf(each), 0n);
    const parameters = tensors.reduce((sum, each) =>
        sum + each.shape.reduce((a, b) => a * BigInt(b), 1n), 0n);

    return { format: "gguf", variant: "", version: 3, version_minor: 0, byte_order: "little",
             parameters: whole(parameters), file_bytes: whole(data + 7831552n),
             data_offset: 7831552, data_bytes: whole(data), alignment: 32,
             tensor_count: tensors.length, metadata_count: 29,
             facts: { architecture: "llama", name: "Meta Llama 3 8B Instruct",
                      file_type: "Q4_K_M", context_length: 8192, block_count: 32,
                      embedding_length: 4096, head_count: 32, head_count_kv: 8, ...facts },
             shards: [{ bytes: whole(data + 7831552n), data_offset: 7831552,
                        tensors: tensors.length }], pending_edit: false };
}

const TEMPLATE = ["{%- for message in messages %}",
    "{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>' }}",
    "{%- if message.content is string %}", "{{- message.content | trim }}",
    "{%- endfor %}", "{{- '<|eot_id|>' }}"].join("\n");

const METADATA = [
    { key: "general.architecture", type: "string", value: "llama" },
    { key: "general.name", type: "string", value: "Meta Llama 3 8B Instruct" },
    { key: "llama.context_length", type: "u32", value: 8192 },
    { key: "llama.rope.freq_base", type: "f32", value: 500000 },
    { key: "general.large", type: "u64", value: "18446744073709551615" },
    { key: "general.tags", type: "array", of: "string", count: 2, value: ["chat", "text"] },
    { key: "tokenizer.ggml.tokens", type: "array", of: "string", count: 128256,
      value: Array.from({ length: 64 }, (_, i) => `token ${i}`) },
    { key: "tokenizer.ggml.scores", type: "array", of: "f32", count: 128256,
      value: Array.from({ length: 64 }, (_, i) => -i / 4) },
    { key: "tokenizer.chat_template", type: "string", value: TEMPLATE },
    { key: "general.license.text", type: "string", value: "All of it. ".repeat(3000), bytes: 5000000 },
    { key: "general.larger", type: "array", of: "u64", count: 2, value: ["18446744073709551614", 7] },
    { key: "general.digits", type: "array", of: "string", count: 1, value: ["18446744073709551613"] }];

const VERDICT = { valid: false, level: "header", errors: 1, warnings: 2, notes: 0, findings: [
    { id: "TEMPLATE-UNCLOSED", severity: "warning", offset: 1234, shard: 0,
      about: "tokenizer.chat_template", message: "line 3: 'if' is not closed in tokenizer.chat_template",
      meaning: "each block of a chat template is closed" },
    { id: "GGUF-TENSOR-OVERLAP", severity: "error", offset: "18446744073709551615", shard: 0, tensor: 17,
      about: "blk.1.ffn_up.weight", message: "tensor 'blk.1.ffn_up.weight' overlaps 64 bytes",
      meaning: "no two tensors share bytes" },
    { id: "SHAPE-ODD", severity: "warning", tensor: 30, about: "blk.3.attn_k.weight",
      message: "unusual shape", meaning: "shapes follow from the metadata" }] };

const TOKENIZER = { model: "gpt2", pre: "llama-bpe", count: 128256, merges: 280147,
    special: [{ name: "bos", id: 128000, text: "<|begin_of_text|>" },
              { name: "eos", id: 128009, text: "<|eot_id|>" }],
    kinds: { normal: 128000, control: 256 },
    samples: Array.from({ length: 90 }, (_, i) => ({ id: i * 1400, text: i ? `Ġword${i}` : "!",
                                                    kind: "normal", score: -i / 2 })) };

const GIB = 2 ** 30;

function planOf() {
    const contexts = [256, 512, 1024, 2048, 4096, 8192, 16384, 32768];
    const curve = (type, bytes) => {
        const kv = contexts.map((context) => Math.round(context * 65536 * bytes));

        return { type_k: type, type_v: type, weights: contexts.map(() => 4912898304), kv,
                 state: contexts.map(() => 0), compute: contexts.map((c) => 2.6e8 + c * 20000),
                 output: contexts.map(() => 513024),
                 total: kv.map((each, i) => 4912898304 + each + 2.6e8 + contexts[i] * 20000 + 513024) };
    };

    return { context: 8192, sequences: 1, ubatch: 512, contexts,
             curves: [curve("f16", 2), curve("q8_0", 1.0625), curve("q4_0", 0.5625)],
             mixes: [["Q8_0", 8.5, 8.54e9], ["Q6_K", 6.56, 6.6e9], ["Q4_K_M", 4.89, 4.92e9],
                     ["Q2_K", 3.16, 3.18e9], ["IQ2_XS", 2.4, 2.4e9]].map(([name, bits, bytes]) => ({
                 name, needs_imatrix: name === "IQ2_XS", file_bytes: bytes, bits_per_weight: bits,
                 weights: bytes })),
             devices: [{ name: "host", weights: 3e8, kv: 0, state: 0, compute: 1e8, output: 5e5,
                         total: 400500000, limit: 0 },
                       { name: "device 1", weights: 4.6e9, kv: GIB, state: 0, compute: 2.6e8, output: 0,
                         total: 4.86e9 + GIB, limit: 0 }],
             offloads: Array.from({ length: 34 }, (_, blocks) => ({ blocks,
                 host: Math.round(6.2e9 * (1 - blocks / 35)), devices: Math.round(1.8e8 * blocks) })),
             estimated: ["compute"] };
}

function dataOf(tensors) {
    const data = { count: [], min: [], max: [], mean: [], std: [], l2: [], zeros: [], nans: [],
                   infinities: [], rows: [], zero_rows: [], constant_rows: [], histogram: [] };

    tensors.forEach((tensor, i) => {
        const count = Number(tensor.shape.reduce((a, b) => a * BigInt(b), 1n));
        const std = 0.01 * (1 + random()), most = std * (5 + 30 * random() ** 4);
        const bins = Array.from({ length: 14 }, (_, at) =>
            Math.round((count / 4) * Math.exp(-((at - 9 - random()) ** 2) / 6)));
        const none = i % 50 === 49;

        for (const [key, value] of Object.entries({ count, min: -most, max: most * random(),
            mean: std / 100 * (random() - 0.5), std, l2: std * Math.sqrt(count), zeros: i % 7 * 100,
            nans: 0, infinities: 0, rows: tensor.shape[1] ?? 1, zero_rows: i % 11 === 0 ? 3 : 0,
            constant_rows: i % 11 === 0 ? 4 : 0,
            histogram: { bins: [-14, bins, bins.map((n) => Math.round(n * 0.98))],
                         outliers: Math.round(random() ** 3 * 4000), beyond: 0.125 } }))
            data[key].push(none ? null : value);
    });
    return data;
}

const matrixOf = (tensors) => ({ tensors: 225, of: { all: 224, none: 1 }, experts: 0,
    experts_used: 0, chunks: 128, entries: tensors.map((each, tensor) => ({ tensor, name: each.name }))
        .filter((each) => !each.name.includes("norm")).map((each, at) => ({ ...each,
            cover: at === 3 ? "none" : "all", columns: 4096, experts: 1, used: 1, least: 10, most: 12 })) });

// As many types as open maps have, and one more; the norms are left as they are.
function typeErrorsOf(tensors) {
    const all = tensors.map((each, tensor) => ({ tensor, name: each.name }));
    const types = [["q4_0", 0.07], ["q4_k", 0.06], ["q6_k", 0.02], ["q8_0", 0.005], ["iq4_xs", 0.06]];
    const errorsOf = (each) => Object.fromEntries(types
        .filter(([type]) => type !== "q6_k" || !each.name.includes("attn_v")).map(([type, most]) =>
            [type, { bytes: 9437184, error: 12.5 * random(), relative_error: most * (0.5 + random()),
                     standard_error: 0.25 * random() }]));

    return { types: types.map(([type]) => type),
             tensors: all.filter((each) => !each.name.includes("norm")).map((each) => ({ ...each,
                 type: "f16", elements: 16777216, rows: 4096, measured_rows: 152, weighted: true,
                 errors: errorsOf(each) })),
             others: all.filter((each) => each.name.includes("norm")) };
}

function recorded() {
    const time = Array.from({ length: 120 }, (_, i) => i * 100000);
    const resident = time.map((_, i) => Math.round(4e6 + 6e7 * (1 - Math.exp(-i / 20)) + 4e6 * random()));

    const latency = { samples: 60, p50_us: 950, p95_us: 1180, p99_us: 1199, mean_us: 970.5, std_us: 80 };
    const energy = { source: "rapl", status: "measured", joules: 22.7, mean_watts: 65 };

    // A folder, a heap profile and an answer at once.
    return { kind: "folder", version: "0.3.4", command: "quantize", exit_code: 0, seconds: 12.5,
             wall_seconds: 12.6, latency, energy,
             configuration: { model_commit: "modelfile 0.3.4 quantize ... Q4_K_M", lambda: 0 },
             host: { system: "Linux", machine: "x86_64", processors: 8, memory_bytes: 25276059648 },
             totals: { peak_heap_bytes: 67108864, heap_allocations: 1000, bytes_read: "18446744073709551615" },
             settings: ["Q8_0_t1", "Q4_0_t2"].map((setting) => ({ setting, type: setting.slice(0, 4),
                 threads: 1, file_bytes: 34560, relative_error: 0.01, peak_heap_bytes: 744039, latency, energy })),
             result_count: 1200, results: [{ setting: "baseline", coherence_delta: 0, p95_latency_us: 12487 }],
             memory: { unit: "us", samples: 120, every: 1, time, resident,
                       kv_cache: resident.map((n) => Math.round(n * 0.2)),
                       library: resident.map((n) => Math.round(n * 0.6)),
                       other: resident.map((n) => Math.round(n * 0.1)) },
             samples: { unit: "us", samples: 60, every: 1,
                        wall: Array.from({ length: 60 }, () => 900 + 300 * random() ** 3),
                        kernel: Array.from({ length: 60 }, () => 100 + 20 * random()) },
             phases: [["read", 1.5, 100, 0.12], ["quantize", 9, 290, 0.72], ["write", 2, 291, 0.16]]
                 .map(([name, seconds, count, share]) => ({ name, seconds, count, share })),
             heap: { mode: "modelfile-heap", unit: "us", at: 5500000, end: 12500000, peak: 67108864,
                     total: 500000000, blocks: 1000, left: 8, site_count: 240,
                     sites: Array.from({ length: 40 }, (_, i) => ({ bytes: 1e7 - i * 2e5,
                         at_peak: 8e6 - i * 2e5, blocks: 3 + i, stack: [0, 2 + (i % 12), 1] })),
                     frames: ["mf_env_resize (heap.c:51)", "main (main.c:9)",
                              ...Array.from({ length: 12 }, (_, i) => `make_${i} (part.c:${i})`)] },
             problem_count: 1, problems: ["memory.csv is not what SHA256SUMS says"] };
}

function modelOf(tensors, facts, more) {
    return { head: headOf(tensors, facts), verdict: VERDICT, tensors: encodeTensors(tensors),
             metadata: METADATA, tokenizer: TOKENIZER, plan: planOf(), ...more };
}

function full() {
    const tensors = llamaTensors(32);
    const table = { ...encodeTensors(tensors), flags: { 17: ["damaged"] } };

    return { report: 1, modelfile: "0.3.4", models: [modelOf(tensors, {}, { tensors: table,
        data: dataOf(tensors), imatrix: matrixOf(tensors), type_errors: typeErrorsOf(tensors) })], recorded: recorded() };
}

function pair() {
    const quantized = llamaTensors(16);
    const source = quantized.map((each) => ({ ...each, type: 0 }));
    const values = () => ({ count: 16777216, rmse: 0.0005 + 0.01 * random() ** 3,
        cosine: 1 - 0.01 * random() ** 2, max_absolute: random(), max_relative: 2 * random(),
        from_zero: 0, nan_a: 0, nan_b: 0, inf_a: 0, inf_b: 0 });
    const differ = quantized.map((each, i) => ({ name: each.name, a: i, b: i,
        what: ["type", "data"], first: 0, values: values() })).filter((_, i) => quantized[i].type !== 0);

    return { report: 1, modelfile: "0.3.4",
        models: [modelOf(source, { name: "Source", file_type: "F32" }),
                 modelOf(quantized, { name: "Quantized" })],
        compare: [{ a: 0, b: 1, same: false, tensors: differ, metadata: [
            { key: "general.name", what: ["data"], a: METADATA[0], b: METADATA[1], first: 0 },
            { key: "general.quantized", what: ["only_b"], b: METADATA[2] }],
            verify: { model: 1, source: 0, follows: false, counts: { same: 144, other: 1 },
                tensors: differ.slice(0, 60).map((each, i) => ({ tensor: each.b, name: each.name,
                    verdict: i === 5 ? "other" : "same", version: "b4000",
                    ...(i === 5 ? { reason: "blocks differ", blocks: 500, differ: 3, block: 7,
                                    offset: 1024, errors: values() } : {}) })) } }] };
}

// As a mixture of experts that has not been merged.
export function largeTensors() {
    const tensors = [];

    for (let layer = 0; layer < 60; layer++)
        for (let expert = 0; expert < 500; expert++)
            for (const kind of ["down", "gate", "up"])
                tensors.push({ name: `model.layers.${layer}.mlp.experts.${expert}.${kind}_proj.weight`,
                               shape: kind === "down" ? [1024, 2048] : [2048, 1024],
                               type: 1 + ((layer + expert) % 3) });
    return tensors;
}

const large = () => ({ report: 1, modelfile: "0.3.4",
                       models: [modelOf(largeTensors(), { name: "Large" })] });

const RUN = "window.pwned=1";
export const HOSTILE = [
    `</script><script>${RUN}</script>`, `<img src=x onerror=${RUN}>`, `"><svg onload=${RUN}>`,
    `' onmouseover='${RUN}`, `javascript:${RUN}`, `<style>*{display:none}</style>`,
    `<!--`, `<!--<script>`, `]]>`, `&lt;b&gt;`, `{{constructor.constructor('${RUN}')()}}`,
    `\u202egnp.exe`, `a\u200bb\u200dc\ufeff`, `\u0000\u0001\u001b[31m\u007f\u0085`, `\u2066x\u2069`,
    `line\none\r\ntwo\u2028three`, `\ud800 alone`, `e\u0301\u0301\u0301\u0301`, `\u{e0041}tag`,
    `__proto__`, `constructor`, `\\xff\\u202e`, `\u00a0\u3000`, ` `, ``];

// Those texts as each text of a document; names of a kind may be keys.
function harm(value, at) {
    if (Array.isArray(value)) return value.map((each, i) => harm(each, at + i));
    if (value !== null && typeof value === "object")
        return Object.fromEntries(Object.entries(value).map(([key, each], i) => [key, harm(each, at + i)]));
    return typeof value === "string" && !/^\d+$/.test(value) && !KEEP.has(value)
        ? HOSTILE[at % HOSTILE.length] : value;
}
const KEEP = new Set(["string", "array", "us"]);

function hostile() {
    const report = full(), model = report.models[0], long = "<b>\u202e x</b>".repeat(2 ** 20 / 10);
    const { tensors } = model, kept = { ...tensors };

    model.tensors = {};
    const harmed = harm(report, 0), now = harmed.models[0];

    kept.names = tensors.names.map((each, i) => (i % 2 === 0 ? 0
        : HOSTILE[((i - 1) / 2) % HOSTILE.length] + (i - 1) / 2));
    kept.types = TYPES.map((type, i) => ({ ...type, name: HOSTILE[i] }));
    kept.flags = { 0: [HOSTILE[0]], 5: [HOSTILE[1]], __proto__: ["x"] };
    now.tensors = kept;
    now.head.facts = JSON.parse(`{"__proto__": "x", ${HOSTILE.map((text, i) =>
        `${JSON.stringify(text + i)}: ${JSON.stringify(text)}`).join(", ")}}`);
    now.metadata = [...HOSTILE.map((value, i) => ({ key: `${value}${i}`, type: "string", value })),
                    { key: "long", type: "string", value: long },
                    { key: "lines", type: "string", value: "\n".repeat(2 ** 20) },
                    ...HOSTILE.map((value, i) => ({ key: `array ${i}`, type: "array", of: "string",
                                                    count: 64, value: Array(64).fill(value) }))];
    return harmed;
}

// Members of wrong types: `many` documents, which together have each member
// wrong once.
const WRONG = [null, true, -1, 1e300, "x", [], {}, [null], { a: 1 }, "99999999999999999999999", [[[]]],
               "constructor"];

export function wrongs(many) {
    const paths = [], walk = (value, path) => {
        if (value === null || typeof value !== "object" || path.length > 6) return;
        Object.keys(value).slice(0, 30).forEach((key) => {
            if (Array.isArray(value) && key > 1) return;
            paths.push([...path, key]);
            walk(value[key], [...path, key]);
        });
    };

    walk(small(), []);
    return Array.from({ length: many }, (_, at) => {
        const report = small(), changed = [];

        paths.forEach((path, i) => {
            let place = report;

            if (i % many !== at) return;
            path.slice(0, -1).forEach((key) => { place = place?.[key]; });
            if (place === null || typeof place !== "object") return;
            place[path.at(-1)] = WRONG[(Math.floor(i / many) + at) % WRONG.length];
            changed.push(`${path.join(".")} = ${JSON.stringify(place[path.at(-1)])}`);
        });
        return { changed, report };
    });
}

// Every section, with few tensors.
export function small() {
    seed = 1;
    const tensors = llamaTensors(2), two = pair();

    return JSON.parse(JSON.stringify({ report: 1, modelfile: "0.3.4",
        models: [modelOf(tensors, {}, { data: dataOf(tensors), imatrix: matrixOf(tensors),
                                        type_errors: typeErrorsOf(tensors) }),
                 modelOf(tensors, {})],
        compare: [{ ...two.compare[0], tensors: two.compare[0].tensors.slice(0, 9),
                    verify: { ...two.compare[0].verify, tensors: two.compare[0].verify.tensors.slice(0, 9) } }],
        recorded: recorded() }));
}

// Each number and text of a document, as far as others do not depend on it, is
// one that occurs nowhere else: {path, value} each.  What is left as it is:
// indices, what is chosen from a list of words, and what is drawn, not written.
const LINKS = new Set(["tensor", "a", "b", "model", "source", "stack", "context", "contexts", "what", "kind",
    "unit", "severity", "type", "of", "type_k", "type_v", "cover", "verdict", "level", "report", "names",
    "tensors", "count", "first", "sites", "time", "resident", "kv_cache", "library", "other", "wall",
    "kernel", "elements", "message", "every", "about", "command", "experts", "estimated", "unknown"]);

const COUNTS = new Set(["imatrix.tensors", "tokenizer.count"]);

export function marked() {
    const report = small(), marks = [];
    const mark = (value, path) => {
        const key = path.findLast((each) => !/^\d+$/.test(each));

        if (value !== null && typeof value === "object") {
            for (const inner of Object.keys(value)) value[inner] = mark(value[inner], [...path, inner]);
            return value;
        }
        if (typeof value === "boolean" || /^(imatrix|verify|type_errors).*name$|^type_errors.types/.test(path.join(".")) || (LINKS.has(key) && !COUNTS.has(path.join(".")))) return value;
        const now = typeof value === "number" || /^\d{17,}$/.test(value) ? 40000001 + 7 * marks.length
            : `mark${marks.length}.`;

        marks.push({ path: path.join("."), value: now });
        return now;
    };
    const [model] = report.models, { head, verdict, tokenizer, plan, imatrix } = model;

    head.missing = [{ name: "x", reason: "y", shard: 0 }];
    head.facts_unread = "x";
    head.variant = "x";
    head.shards.push({ ...head.shards[0] });
    verdict.findings.forEach((each) => { each.shard = 1; });
    tokenizer.special_left = 5;
    plan.reason = "x";
    imatrix.experts = 1e9;
    imatrix.entries.forEach((each) => { each.experts = 8; });
    imatrix.entries.push({ name: "x", cover: "no_tensor" });
    const { recorded, compare: [pair] } = report, [site] = recorded.heap.sites;

    Object.assign(recorded, { problem_count: 9, fingerprint: "x", command_text: "x", command_bytes: 5000 });
    Object.assign(recorded.heap, { peak_blocks: 1, left_blocks: 1, read: 1, written: 1 });
    recorded.heap.sites = [Object.assign(site, { peak_blocks: 1, left: 1, left_blocks: 1, most: 1, most_blocks: 1,
        lifetime: 1, read: 1, written: 1, depth: 1 })];
    recorded.heap.frames.length = 3;
    recorded.settings[0].latency.max_us = 5;
    recorded.results.push({ setting: "x", accuracy: 1 });
    recorded.phases.forEach((each) => Object.assign(each, { min_ns: 1, p50_ns: 1, p99_ns: 1, max_ns: 1 }));
    recorded.memory.every = recorded.samples.every = 2;
    Object.assign(pair, { unread: { a: 1, b: 1 }, reason: "x" });
    pair.tensors.push({ name: "x", a: 3, what: ["only_a"], no_values: "x" });
    pair.verify.reason = "x";
    for (const [name, given] of [["head", head], ["tokenizer", tokenizer], ["plan", plan], ["imatrix", imatrix],
                                 ["type_errors", model.type_errors],
                                 ["verdict", verdict.findings], ["recorded", recorded], ["unread", pair.unread],
                                 ["verify", pair.verify.tensors]])
        mark(given, [name]);
    pair.reason = mark(pair.reason, ["pair", "reason"]);
    pair.verify.reason = mark(pair.verify.reason, ["verify", "reason"]);
    pair.tensors.forEach((each, i) => { each.no_values &&= mark(each.no_values, ["pair", String(i), "no_values"]); });
    return { report, marks };
}

const partial = () => ({ report: 1, models: [null, { head: 5, tensors: { names: [9, 5, "x"], count: 1e9 },
    metadata: "x", plan: [], data: {}, imatrix: 3, type_errors: { types: [3, "x"], tensors: [null, { errors: 3 }], others: 7 }, verdict: [], tokenizer: "x" }], compare: [null, {}],
    recorded: [] });

export const SAMPLES = { full, pair, large, hostile, partial, small };

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
    const make = SAMPLES[process.argv[2]];

    if (!make) {
        console.error(`usage: sample.mjs ${Object.keys(SAMPLES).join("|")}`);
        process.exit(2);
    }
    console.log(JSON.stringify(make()));
}
