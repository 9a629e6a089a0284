// SPDX-License-Identifier: MIT
//
// names.mjs - convert --names, compared with results worked out here
//
//     node tests/cli/names.mjs FIXTURES FOLDER
//
// FOLDER is empty and may be written to.  See names.t.
import { spawnSync } from "node:child_process";
import { closeSync, cpSync, mkdirSync, openSync, readFileSync, rmSync,
    writeFileSync } from "node:fs";
import { join } from "node:path";
import { answer, ask, check, finish, same, sha256 } from "./tap.mjs";

const [fixtures, folder] = process.argv.slice(2);
const modelfile = process.env.MODELFILE ??
    `${process.env.BUILD ?? "build"}/modelfile`;
const at = (name) => join(folder, name);
const llama = join(fixtures, "good-hf-llama");

// ---- running

function convert(from, to, ...options) {
    const { status, stdout, stderr } = spawnSync(modelfile,
        ["convert", from, to, "--force", "--quiet", ...options],
        { encoding: "utf8", timeout: 60000 });
    return { code: status, said: stdout + stderr };
}

function converted(from, to, ...options) {
    const { code, said } = convert(from, to, ...options);
    same({ code, said: code ? said : "" }, { code: 0, said: "" },
        `convert ${from} ${to} ${options.join(" ")}`);
    return to;
}

// {name: {type, shape, sha256}} of a file, and its metadata.
function contents(path) {
    const file = readFileSync(path);
    return Object.fromEntries(answer("tensors info", path).tensors.map((t) =>
        [t.name, { type: t.type, shape: t.shape, sha256:
            sha256(file.subarray(t.offset, t.offset + t.bytes)) }]));
}

const metadata = (path) => Object.fromEntries(
    answer("meta list", path, "--full").metadata.map((m) =>
        [m.key, [m.type, m.value]]));

// ---- safetensors, read and written here

function readSafetensors(path) {
    const file = readFileSync(path);
    const size = Number(file.readBigUInt64LE(0));
    const header = JSON.parse(file.subarray(8, 8 + size));
    delete header.__metadata__;
    return Object.entries(header).map(([name, { dtype, shape, data_offsets }]) =>
        ({ name, dtype, shape, bytes: file.subarray(8 + size +
            data_offsets[0], 8 + size + data_offsets[1]) }));
}

function writeSafetensors(path, tensors, said = { format: "pt" }) {
    const header = { __metadata__: said };
    let end = 0;
    for (const { name, dtype, shape, bytes } of tensors) {
        header[name] = { dtype, shape,
            data_offsets: [end, end + bytes.length] };
        end += bytes.length;
    }
    const text = Buffer.from(JSON.stringify(header));
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(text.length));
    writeFileSync(path, Buffer.concat(
        [size, text, ...tensors.map((t) => t.bytes)]));
}

const SIZES = { BF16: 2, F16: 2, F32: 4 };

// A tensor whose bytes differ everywhere.
function made(name, shape, dtype = "BF16") {
    const bytes = Buffer.alloc(SIZES[dtype] *
        shape.reduce((all, n) => all * n, 1));
    for (let i = 0; i < bytes.length; i++)
        bytes[i] = (i * 31 + (i >> 8) * 7 + name.length) & 0x3f;
    return { name, dtype, shape, bytes };
}

// config may be text; the tokenizer is the fixture's where none is given.
function hfFolder(name, config, tensors, tokenizer, tokenizerConfig) {
    const fixture = (file) => readFileSync(join(llama, file), "utf8");
    mkdirSync(at(name), { recursive: true });
    writeFileSync(join(at(name), "tokenizer.json"),
        tokenizer === undefined ? fixture("tokenizer.json") :
            typeof tokenizer === "string" ? tokenizer :
                JSON.stringify(tokenizer));
    writeFileSync(join(at(name), "tokenizer_config.json"), tokenizerConfig ?
        JSON.stringify(tokenizerConfig) : fixture("tokenizer_config.json"));
    writeFileSync(join(at(name), "config.json"),
        typeof config === "string" ? config : JSON.stringify(config));
    if (tensors)
        writeSafetensors(join(at(name), "model.safetensors"), tensors);
    return at(name);
}

// ---- what llama.cpp's converter does to a Llama

const NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "model.embed_tokens": "token_embd",
    "model.norm": "output_norm", "lm_head": "output",
};

function ggufName(name) {
    const [, block, stem, suffix] =
        /^(model\.layers\.\d+\.)?(.*)\.(weight|bias)$/.exec(name);
    return (block ? `blk.${/\d+/.exec(block)[0]}.` : "") +
        `${NAMES[stem]}.${suffix}`;
}

// reshape(heads, 2, half, -1).swapaxes(1, 2) of the rows.
function swapped({ shape, bytes }, heads) {
    const row = bytes.length / shape[0], half = shape[0] / heads / 2;
    const old = (head, j, i) => ((head * 2 + j) * half + i) * row;
    const rows = [];
    for (let head = 0; head < heads; head++)
        for (let i = 0; i < half; i++)
            for (let j = 0; j < 2; j++)
                rows.push(bytes.subarray(old(head, j, i),
                    old(head, j, i) + row));
    return Buffer.concat(rows);
}

// Numbers of 16 bits as numbers of 32: each has the same value.
function widened({ dtype, bytes }) {
    if (dtype === "F32")
        return bytes;
    const out = Buffer.alloc(bytes.length * 2);
    for (let i = 0; i < bytes.length; i += 2) {
        const bits = bytes.readUInt16LE(i), e = bits >> 10 & 31;
        const m = bits & 1023, sign = bits >> 15 ? -1 : 1;
        if (dtype === "BF16")
            out.writeUInt32LE(bits * 65536, i * 2);
        else
            out.writeFloatLE(sign * (e ? (1 + m / 1024) * 2 ** (e - 15) :
                m * 2 ** -24), i * 2);
    }
    return out;
}

// As a tensor of GGUF by that name: norms and biases are f32, unless asked.
function ggufTensor(name, t, bytes, keep) {
    const vector = !keep &&
        (t.shape.length < 2 || name.endsWith("_norm.weight"));
    return { type: vector ? "f32" : t.dtype.toLowerCase(),
        shape: [...t.shape].reverse(),
        sha256: sha256(vector ? widened({ dtype: t.dtype, bytes }) : bytes) };
}

function llamaContents(tensors, heads, headsKv, keep) {
    return Object.fromEntries(tensors
        .filter(({ name }) => !name.endsWith("inv_freq"))
        .map((t) => [ggufName(t.name), ggufTensor(ggufName(t.name), t,
            /q_proj/.test(t.name) ? swapped(t, heads) :
                /k_proj/.test(t.name) ? swapped(t, headsKv) : t.bytes, keep),
        ]));
}

// ---- a Llama, there and back

const llamaTensors = readSafetensors(join(llama, "model.safetensors"));
const first = converted(llama, at("first.gguf"), "--names", "gguf");

check("a Llama's tensors become what llama.cpp makes of them", () =>
    same(contents(first), llamaContents(llamaTensors, 2, 1), "tensors"));

check("config.json becomes metadata", () => {
    const found = metadata(first);
    for (const list of ["tokens", "scores", "token_type"])
        delete found[`tokenizer.ggml.${list}`];
    same(found, {
        "general.architecture": ["string", "llama"],
        "general.type": ["string", "model"],
        "general.name": ["string", "Good Hf Llama"],
        "general.size_label": ["string", "1.4K"],
        "general.file_type": ["u32", 32],
        "general.quantization_version": ["u32", 2],
        "llama.block_count": ["u32", 2],
        "llama.context_length": ["u32", 64],
        "llama.embedding_length": ["u32", 8],
        "llama.feed_forward_length": ["u32", 12],
        "llama.attention.head_count": ["u32", 2],
        "llama.attention.head_count_kv": ["u32", 1],
        "llama.attention.key_length": ["u32", 4],
        "llama.attention.value_length": ["u32", 4],
        "llama.attention.layer_norm_rms_epsilon":
            ["f32", Math.fround(1e-5)],
        "llama.vocab_size": ["u32", 24],
        "llama.rope.freq_base": ["f32", 500000],
        "llama.rope.dimension_count": ["u32", 4],
        "tokenizer.ggml.model": ["string", "llama"],
        "tokenizer.ggml.pre": ["string", "default"],
        "tokenizer.ggml.bos_token_id": ["u32", 20],
        "tokenizer.ggml.add_bos_token": ["bool", true],
        "tokenizer.ggml.eos_token_id": ["u32", 21],
        "tokenizer.chat_template": ["string", "{% for m in messages %}" +
            "{{ m['content'] + '\n' }}{% endfor %}"],
    }, "metadata");
});

check("--type keep: vectors are f32 all the same", () => {
    converted(llama, at("kept.gguf"), "--names", "gguf", "--type", "keep");
    same(contents(at("kept.gguf")), llamaContents(llamaTensors, 2, 1),
        "tensors");
});

check("--type is of matrices alone", () => {
    converted(llama, at("f16.gguf"), "--names", "gguf", "--type", "f16");
    for (const [name, { type, shape }] of Object.entries(
        contents(at("f16.gguf"))))
        same(type, shape.length < 2 ? "f32" : "f16", name);
});

check("there and back, every byte is the same", () => {
    converted(first, at("second.safetensors"), "--names", "hf");
    same(contents(at("second.safetensors")), Object.fromEntries(llamaTensors
        .filter(({ name }) => !name.endsWith("inv_freq"))
        .map((t) => [t.name, { ...ggufTensor(ggufName(t.name), t, t.bytes),
            shape: t.shape }])), "tensors of Hugging Face's names");
    converted(at("second.safetensors"), at("third.gguf"), "--names", "gguf");
    same([contents(at("third.gguf")), metadata(at("third.gguf"))],
        [contents(first), metadata(first)], "what it holds");
});

check("likewise by way of APR", () => {
    converted(first, at("there.apr"), "--names", "hf");
    converted(at("there.apr"), at("back.gguf"), "--names", "gguf");
    same(contents(at("back.gguf")), contents(first), "tensors");
});

check("names that a model has already stay", () => {
    converted(first, at("again.gguf"), "--names", "gguf");
    same(contents(at("again.gguf")), contents(first), "tensors");
    converted(llama, at("again.safetensors"), "--names", "hf");
    same(contents(at("again.safetensors")),
        contents(join(llama, "model.safetensors")), "tensors");
});

check("a folder that becomes GGUF gets them unasked", () => {
    converted(llama, at("unasked.gguf"));
    same(contents(at("unasked.gguf")), contents(first), "tensors");
});

check("names stay where that is asked", () => {
    converted(llama, at("kept.gguf"), "--names", "keep");
    same(Object.keys(contents(at("kept.gguf"))),
        llamaTensors.map(({ name }) => name), "names");
});

check("in shards the tensors are the same", () => {
    converted(llama, at("shard.gguf"), "--names", "gguf",
        "--shard-tensors", "5");
    const shards = [1, 2, 3, 4, 5, 6].map((n) =>
        at(`shard-0000${n}-of-00006.gguf`));
    same(Object.assign({}, ...shards.map(contents)), contents(first),
        "tensors");
    converted(shards[0], at("merged.gguf"));
    same(contents(at("merged.gguf")), contents(first), "tensors merged");
});

check("any number of threads, and a pipe, make the same bytes", () => {
    const whole = sha256(readFileSync(first));
    for (const threads of ["1", "2", "7"]) {
        converted(llama, at("threads.gguf"), "--names", "gguf",
            "--threads", threads);
        same(sha256(readFileSync(at("threads.gguf"))), whole,
            `${threads} threads`);
    }
    const { stdout } = spawnSync(modelfile, ["convert", llama, "-", "--to",
        "gguf", "--names", "gguf", "--quiet"]);
    same(sha256(stdout), whole, "the pipe");
});

check("rows longer than a buffer", () => {
    const config = JSON.parse(readFileSync(join(llama, "config.json")));
    config.num_hidden_layers = 11;
    const tensors = [
        ...Array.from({ length: 11 }, (_, i) =>
            made(`model.layers.${i}.input_layernorm.weight`, [8], "F16")),
        made("model.layers.0.self_attn.q_proj.weight", [12, 400001], "F16"),
        made("model.layers.10.self_attn.k_proj.weight", [4, 77777], "F16"),
        made("model.layers.10.self_attn.q_proj.weight", [4000, 1], "F16")];
    const long = hfFolder("long", config, tensors);
    for (const threads of ["1", "2"]) {
        converted(long, at("long.gguf"), "--names", "gguf", "--threads",
            threads);
        same(contents(at("long.gguf")), llamaContents(tensors, 2, 1),
            "tensors");
    }
});

check("blocks of a quantized type move in whole rows", () => {
    const path = join(fixtures, "good-llama.gguf");
    converted(path, at("quantized.gguf"), "--names", "hf");
    converted(at("quantized.gguf"), at("quantized-back.gguf"), "--names",
        "gguf");
    const before = contents(path), between = contents(at("quantized.gguf"));
    same(contents(at("quantized-back.gguf")), before, "tensors");
    const q = "model.layers.0.self_attn.q_proj.weight";
    same(between[q].sha256 === before["blk.0.attn_q.weight"].sha256, false,
        "that the rows of attn_q are where they were");
});

// ---- small models

const BASE = {
    hidden_size: 8, intermediate_size: 12, max_position_embeddings: 64,
    num_attention_heads: 2, num_key_value_heads: 1, num_hidden_layers: 1,
    rms_norm_eps: 1e-6, rope_theta: 10000, vocab_size: 24,
};
const block = (...names) => names.map((n) =>
    made(`model.layers.0.${n}.weight`, [8, 8]));
const OUTER = [made("model.embed_tokens.weight", [24, 8]),
    made("model.norm.weight", [8])];
// The least that is a whole model of one layer.
const LEAST = [...OUTER, made("model.layers.0.mlp.down_proj.weight", [8, 8])];

// ---- positions

const ROPES = {
    "rope_parameters as newer files have them": [
        { rope_theta: undefined,
            rope_parameters: { rope_theta: 1e6, rope_type: "default" } },
        { "rope.freq_base": ["f32", 1e6], "rope.scaling.type": undefined }],
    "linear scaling": [
        { rope_scaling: { type: "linear", factor: 4.0 } },
        { "rope.scaling.type": ["string", "linear"],
            "rope.scaling.factor": ["f32", 4] }],
    "yarn": [
        { rope_scaling: { rope_type: "yarn", factor: 2,
            original_max_position_embeddings: 32 } },
        { "rope.scaling.type": ["string", "yarn"],
            "rope.scaling.factor": ["f32", 2],
            "rope.scaling.original_context_length": ["u32", 32] }],
    "as many heads for keys, where it does not say": [
        { num_key_value_heads: undefined },
        { "attention.head_count_kv": ["u32", 2] }],
};

const LLAMA = { architectures: ["LlamaForCausalLM"], model_type: "llama",
    ...BASE };
for (const [name, [change, wanted]] of Object.entries(ROPES))
    check(name, () => {
        const from = hfFolder("rope", { ...LLAMA, ...change }, LEAST);
        const said = metadata(converted(from, at("rope.gguf"),
            "--names", "gguf"));
        for (const [key, value] of Object.entries(wanted))
            same(said[`llama.${key}`], value, key);
    });

const LLAMA3 = { rope_type: "llama3", factor: 8, low_freq_factor: 1,
    high_freq_factor: 4, original_max_position_embeddings: 8192 };

// As the paper has it: frequencies whose wave is longer than the text that the
// model was trained on are stretched, short ones are not.
function llama3Factors(theta, width, { factor, low_freq_factor: low,
    high_freq_factor: high, original_max_position_embeddings: length }) {
    return Array.from({ length: width / 2 }, (_, i) => {
        const wave = 2 * Math.PI * theta ** (2 * i / width);
        const smooth = (length / wave - low) / (high - low);
        return wave < length / high ? 1 : wave > length / low ? factor :
            1 / ((1 - smooth) / factor + smooth);
    });
}

check("Llama 3's scaling becomes a tensor", () => {
    for (const [config, theta, width, options] of [
        [{ rope_theta: 500000, head_dim: 128 }, 500000, 128, []],
        [{ rope_theta: undefined, hidden_size: 160 }, 10000, 80,
            ["--shard-tensors", "1"]]]) {
        const from = hfFolder("llama3", { ...LLAMA, ...config,
            rope_scaling: LLAMA3 }, LEAST);
        converted(from, at("llama3.gguf"), "--names", "gguf", ...options);
        const file = options.length ? at(`llama3-00001-of-0000${LEAST.length + 1}.gguf`) :
            at("llama3.gguf");
        const { tensors } = answer("tensors info", file);
        const { type, shape, offset, bytes } = tensors.find(
            ({ name }) => name === "rope_freqs.weight");
        same([type, shape, bytes], ["f32", [width / 2], width * 2], "shape");
        const data = new Float32Array(new Uint8Array(readFileSync(file)
            .subarray(offset, offset + bytes)).buffer);
        llama3Factors(theta, width, LLAMA3).forEach((wanted, i) =>
            same(Math.abs(data[i] - wanted) <= wanted * 2e-6, true,
                `number ${i} is ${data[i]}, not ${wanted}`));
        same(metadata(file)["llama.rope.scaling.type"], undefined, "type");
        same(convert(file, at("llama3-again.gguf")).code, 0,
            "the whole is a model");
    }
});

check("positions come back from config.json", () => {
    const from = hfFolder("there", { ...LLAMA, rope_scaling: LLAMA3 }, LEAST);
    const gguf = converted(from, at("there.gguf"), "--names", "gguf");
    same(Object.keys(contents(gguf)).includes("rope_freqs.weight"), true,
        "that there is such a tensor");
    for (const [config, lost] of [[{ rope_scaling: LLAMA3 }, false],
        [{ rope_scaling: null }, true], [null, true]]) {
        const back = hfFolder(config ? `back-${lost}` : "back-none",
            { ...LLAMA, ...config });
        if (!config)
            rmSync(join(back, "config.json"));
        converted(gguf, join(back, "model.safetensors"), "--names", "hf",
            "--lossy");
        converted(back, at("again.gguf"), "--names", "gguf");
        const wanted = contents(gguf);
        if (lost)
            delete wanted["rope_freqs.weight"];
        same(contents(at("again.gguf")), wanted, "tensors");
    }
    // What config.json says and GGUF cannot be given is not passed over.
    const long = hfFolder("back-long", { ...LLAMA, rope_scaling: { type:
        "longrope", long_factor: [1, 2], short_factor: [1, 2] } });
    converted(gguf, join(long, "model.safetensors"), "--names", "hf",
        "--lossy");
    const { code, said } = convert(long, at("long.gguf"), "--names", "gguf",
        "--force");
    same([code, /its rope_type is 'longrope', and 'none' in the file/.test(said)], [3, true],
        said);
});

// ---- what transformers asks for

const said = (path) => {
    const file = readFileSync(path);
    return JSON.parse(file.subarray(8, 8 + Number(file.readBigUInt64LE(0))))
        .__metadata__;
};

check("safetensors out of GGUF say that they are PyTorch's", () => {
    converted(first, at("pt.safetensors"), "--names", "hf", "--shard-tensors",
        "9");
    for (const n of [1, 2, 3, 4])
        same(said(at(`pt-0000${n}-of-00004.safetensors`)).format, "pt",
            `shard ${n}`);
    const base = join(fixtures, "good-base.gguf");
    converted(base, at("pt.safetensors"));
    same(said(at("pt.safetensors")).format, "pt", "other names");
    converted(at("pt.safetensors"), at("pt.gguf"));
    same(metadata(at("pt.gguf")), metadata(base), "metadata back");
    same(ask("diff", base, at("pt.safetensors")).said.same, true, "diff");
});

check("other tensors of that name do not change", () => {
    for (const format of ["pt", "own"]) {
        writeSafetensors(at("own.safetensors"), LEAST,
            { "format:string": format, format: "pt" });
        converted(at("own.safetensors"), at("own.gguf"));
        same(metadata(at("own.gguf")), { format: ["string", format] },
            "metadata");
        converted(at("own.gguf"), at("again.safetensors"));
        same(said(at("again.safetensors")),
            { "format:string": format, format: "pt" }, "metadata back");
    }
    writeSafetensors(at("mlx.safetensors"), LEAST, { format: "mlx" });
    converted(at("mlx.safetensors"), at("mlx.gguf"));
    same(metadata(at("mlx.gguf")), { format: ["string", "mlx"] }, "mlx");
});

// ---- chat templates

// What tokenizer_config.json says counts, be it null; then chat_template.jinja,
// then chat_template.json.
const LISTED = [{ name: "default", template: "d" },
    { name: "tool \u00fc.use", template: "t\n" }, { name: "rag", template: "" },
    { template: "no name" }, { name: "no_text" }, { name: "x", template: null }];
const LISTED_KEYS = {
    "chat_template": ["string", "d"],
    "chat_template.tool___use": ["string", "t\n"],
    "chat_template.rag": ["string", ""],
    "chat_templates": ["array", ["tool___use", "rag"]],
};
const TEMPLATES = {
    "in tokenizer_config.json": [{ chat_template: "c" }, "j", { chat_template:
        "s" }, { chat_template: ["string", "c"] }],
    "null in tokenizer_config.json": [{ chat_template: null }, "j",
        { chat_template: "s" }, {}],
    "in chat_template.jinja": [{}, "{{ '\u00e4' }}\n", { chat_template: "s" },
        { chat_template: ["string", "{{ '\u00e4' }}\n"] }],
    "in chat_template.json": [{}, undefined, { x: [1, { chat_template: 1 }],
        chat_template: "s" }, { chat_template: ["string", "s"] }],
    "nowhere in chat_template.json": [{}, undefined, { chat: "s" }, {}],
    "a list": [{ chat_template: LISTED }, undefined, undefined, LISTED_KEYS],
    "a list in chat_template.json": [{}, undefined, { chat_template: LISTED },
        LISTED_KEYS],
    "a list of nothing": [{ chat_template: [] }, "j", undefined, {}],
    "an object, which is ignored": [{ chat_template: { default: "a" } }, "j",
        undefined, {}],
    "a number, which is ignored": [{ chat_template: 7 }, "j", undefined, {}],
    "two of a name, the later": [{ chat_template: [
        { name: "a-b", template: "1" }, { name: "a.b", template: "2" }] },
    undefined, undefined, { "chat_template.a_b": ["string", "2"],
        "chat_templates": ["array", ["a_b"]] }],
    "a list without a default": [{ chat_template: LISTED.slice(2) }, undefined,
        undefined, { "chat_template.rag": ["string", ""],
            "chat_templates": ["array", ["rag"]] }],
};
for (const [name, [config, jinja, json, wanted]] of Object.entries(TEMPLATES))
    check(`chat template: ${name}`, () => {
        const from = hfFolder("chat", LLAMA, LEAST, undefined,
            { bos_token: "<|begin_of_text|>", ...config });
        for (const [file, text] of [["chat_template.jinja", jinja],
            ["chat_template.json", json && JSON.stringify(json)]])
            if (text === undefined)
                rmSync(join(from, file), { force: true });
            else
                writeFileSync(join(from, file), text);
        const found = metadata(converted(from, at("chat.gguf"), "--names",
            "gguf"));
        same(Object.fromEntries(Object.entries(found)
            .filter(([key]) => key.startsWith("tokenizer.chat"))
            .map(([key, value]) => [key.slice("tokenizer.".length), value])),
        wanted, "templates");
    });

check("chat templates in a folder of their own", () => {
    const from = hfFolder("more", LLAMA, LEAST, undefined,
        { bos_token: "<|begin_of_text|>" });
    const more = join(from, "additional_chat_templates");
    mkdirSync(more);
    for (const [file, text] of [["tool use.jinja", "t"], ["rag.jinja", "r"],
        [".hidden.jinja", "h"], ["notes.txt", "n"]])
        writeFileSync(join(more, file), text);
    const templates = () => Object.fromEntries(Object.entries(metadata(
        converted(from, at("more.gguf"), "--names", "gguf"))).filter(([key]) =>
        key.startsWith("tokenizer.chat")));
    same(templates(), {}, "without chat_template.jinja");
    writeFileSync(join(from, "chat_template.jinja"), "d");
    same(templates(), { "tokenizer.chat_template": ["string", "d"],
        "tokenizer.chat_template.rag": ["string", "r"],
        "tokenizer.chat_template.tool_use": ["string", "t"],
        "tokenizer.chat_templates": ["array", ["rag", "tool_use"]] },
    "templates");
    for (const file of ["chat_template.jinja", "additional_chat_templates/rag" +
        ".jinja"]) {
        const { code, said: words } = convert(from, join(from, file),
            "--names", "gguf", "--to", "gguf", "--force");
        same([code, /is a file that is read with the model/.test(words)],
            [4, true], words);
    }
    writeFileSync(join(more, `${"n".repeat(64)}.jinja`), "");
    const { code, said: words } = convert(from, at("more.gguf"), "--names",
        "gguf", "--force");
    same([code, /is longer than 63 bytes/.test(words)], [3, true], words);
});

// ---- which files of a folder are the model

check("the model of a folder among other files", () => {
    const from = hfFolder("many", LLAMA, LEAST);
    const wanted = contents(converted(from, at("many.gguf"), "--names",
        "gguf"));
    for (const other of ["consolidated.safetensors", "old.gguf",
        "adapter_model.safetensors", "model-adapter.safetensors", "a.apr"]) {
        cpSync(other.endsWith("gguf") ? join(fixtures, "good-base.gguf") :
            other.endsWith("apr") ? join(fixtures, "good-base.apr") :
                join(llama, "model.safetensors"), join(from, other));
        same(contents(converted(from, at("many.gguf"), "--names", "gguf")),
            wanted, `beside ${other}`);
    }
    // Shards are found by their index, else by their names.
    rmSync(join(from, "model.safetensors"));
    rmSync(join(from, "model-adapter.safetensors"));
    for (const file of ["model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors", "model.safetensors.index.json"])
        cpSync(join(fixtures, "good-sharded", file), join(from, file));
    const shards = contents(converted(from, at("shards.gguf"), "--names",
        "keep"));
    same(shards, contents(converted(join(fixtures, "good-sharded"),
        at("sharded.gguf"))), "by the index");
    rmSync(join(from, "model.safetensors.index.json"));
    same(contents(converted(from, at("shards.gguf"), "--names", "keep")),
        shards, "by names");
    for (const n of [1, 2])
        rmSync(join(from, `model-0000${n}-of-00002.safetensors`));
    const { code, said: words } = convert(from, at("none.gguf"));
    same([code !== 0, /4 models: 'a.apr', 'adapter_model.safetensors', 'cons/
        .test(words), /olidated.safetensors', 'old.gguf'; choose/.test(words)],
    [true, true, true], words);
});

// ---- refusals: a sentence, exit code 3, and no file

function refused(name, from, words, ...options) {
    check(`refused: ${name}`, () => {
        const to = at(`refused-${name.replace(/\W/g, "-")}.gguf`);
        const { code, said } = convert(from, to, ...options);
        same([code, words.test(said)], [3, true], `${said}: ${words}`);
        same(spawnSync("test", ["-e", to]).status, 1, "no file");
    });
}

const GGUF = ["--names", "gguf"];
const CONFIGS = {
    "no object": ["[]", /config.json': .*an object/],
    "broken": ["{\"a\":1,}", /expected a key/],
    "cut": ["{\"hidden_size\":8", /config.json/],
    "empty": ["", /config.json/],
    "more after it": [JSON.stringify(LLAMA) + "x", /nothing but white space/],
    "no class": [{ ...BASE }, /missing key 'architectures'/],
    "a class without a recipe": [{ ...LLAMA,
        architectures: ["OwnForCausalLM"] },
    /models of class 'OwnForCausalLM' cannot be converted/],
    "a long class": [{ ...LLAMA, architectures: ["L".repeat(100)] },
        /models of class 'L*.*' cannot be converted/],
    "a class with a NUL": [{ ...LLAMA,
        architectures: ["LlamaForCausalLM\0x"] }, /cannot be converted/],
    "no heads": [{ ...LLAMA, num_attention_heads: undefined },
        /missing key 'num_attention_heads'/],
    "null heads": [{ ...LLAMA, num_attention_heads: null },
        /missing key 'num_attention_heads'/],
    "a width that is text": [{ ...LLAMA, hidden_size: "8" },
        /'hidden_size' must be a (whole )?number, not '8'/],
    "a width below 0": [{ ...LLAMA, hidden_size: -8 }, /not a valid u32/],
    "a width too large": [{ ...LLAMA, hidden_size: 2 ** 32 },
        /not a valid u32/],
    "a width that is not an integer": [{ ...LLAMA, hidden_size: 8.5 },
        /'hidden_size' must/],
    "a width of 400 digits": [JSON.stringify(LLAMA).replace(
        "\"hidden_size\":8", `"hidden_size":${"9".repeat(400)}`),
    /config.json/],
    "an object for a number": [{ ...LLAMA, vocab_size: {} },
        /'vocab_size' must/],
    "depth": [`{"a":${"[".repeat(200)}`, /config.json/],
    "scaling that is not an object": [{ ...LLAMA, rope_scaling: 4 },
        /'rope_scaling' must be an object/],
    "quantized weights": [{ ...LLAMA, quantization_config: {
        quant_method: "own", bits: 4 } }, /'own' of quantization_config/],
};
for (const [name, [config, words]] of Object.entries(CONFIGS))
    refused(name, hfFolder("config", config, LEAST), words, ...GGUF);

const TEXTS = {
    "empty": ["", /tokenizer.json/],
    "cut": ["{\"model\":{\"vocab\":{", /tokenizer.json/],
    "a list": ["[]", /expected an object/],
};
for (const [name, [text, words]] of Object.entries(TEXTS))
    refused(`tokenizer.json: ${name}`, hfFolder("uncertain", LLAMA, LEAST,
        text), words, ...GGUF);

const lone = at("lone.safetensors");
cpSync(join(llama, "model.safetensors"), lone);
refused("no config.json", lone,
    /'config.json' is missing in the model's folder/, ...GGUF);

// Calls each for a copy of the value with one thing in it replaced.
function replaced(value, by, each) {
    const whole = structuredClone(value);
    const walk = (node) => {
        for (const key of Object.keys(node)) {
            const kept = node[key];
            node[key] = by;
            each(JSON.stringify(whole), key);
            node[key] = kept;
            if (kept && typeof kept === "object")
                walk(kept);
        }
    };
    walk(whole);
}

for (const file of ["config.json", "tokenizer.json", "tokenizer_config.json"])
    check(`${file}: anything may stand anywhere`, () => {
        const from = hfFolder("anything", LLAMA, LEAST);
        const good = JSON.parse(file === "config.json" ?
            JSON.stringify({ ...LLAMA, rope_scaling: LLAMA3 }) :
            readFileSync(join(llama, file), "utf8"));
        // One of each kind is enough of the long lists.
        if (good.model?.vocab)
            good.added_tokens.length = 1;
        for (const by of [[], {}, null, true, 7, "x", [[]], [{}]])
            replaced(good, by, (text, key) => {
                if (/^[a-z\u0120\u010a]$/i.test(key))
                    return;
                writeFileSync(join(from, file), text);
                const { code, said: words } = convert(from, at("any.gguf"),
                    "--names", "gguf", "--dry-run");
                if (![0, 3].includes(code) || !words)
                    same(`${code} ${words}`, "0 or 3", text);
            });
    });

// Metadata of a safetensors file may be said to have any type.
for (const [type, value] of [["u32", "5"], ["string[]", "[]"], ["bool", "true"]])
    refused(`an architecture that is a ${type}`, (() => {
        const from = hfFolder("typed", LLAMA);
        writeSafetensors(join(from, "model.safetensors"), LEAST,
            { [`general.architecture:${type}`]: value });
        return from;
    })(), /general.architecture|tokenizer.json/, ...GGUF);

const TENSORS = {
    "a tensor without a name": ["model.layers.0.mlp.experts.0.w1.weight",
        [8, 8], /'model.layers.0.mlp.experts.0.w1.weight' has no /],
    "a block's number with a zero before it": ["model.layers.01.mlp." +
        "up_proj.weight", [8, 8], /'model.layers.01.mlp.up_proj.weight' has no /],
    "an odd number of rows": ["model.layers.0.self_attn.q_proj.weight",
        [6, 8], /of 6 x 8 elements does not fit the configuration/],
};
for (const [name, [tensor, shape, words]] of Object.entries(TENSORS))
    refused(name, hfFolder("tensors", LLAMA, [...LEAST, made(tensor, shape)]),
        words, ...GGUF);

refused("an architecture without a table", join(fixtures, "good-base.gguf"),
    /it is not known how .* architecture 'tiny' name their tensors/, "--names", "hf");

check("values without another place are left out only when asked", () => {
    const file = openSync(at("freqs.gguf"), "w");
    closeSync(file);
    const source = hfFolder("freqs", LLAMA, [...LEAST]);
    converted(source, at("freqs.gguf"), "--names", "gguf");
    // The same file with a tensor more, by way of a format that we write here.
    converted(at("freqs.gguf"), at("freqs.safetensors"));
    const bytes = readFileSync(at("freqs.safetensors"));
    const size = Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.subarray(8, 8 + size));
    const end = bytes.length - 8 - size;
    header["rope_freqs.weight"] = { dtype: "F32", shape: [2],
        data_offsets: [end, end + 8] };
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(text.length));
    writeFileSync(at("freqs.safetensors"), Buffer.concat([length, text,
        bytes.subarray(8 + size), Buffer.alloc(8, 1)]));
    const refusal = convert(at("freqs.safetensors"), at("lost.safetensors"),
        "--names", "hf");
    same([refusal.code, /'rope_freqs.weight' has no Hugging Face name/.test(
        refusal.said)], [2, true], refusal.said);
    const lossy = convert(at("freqs.safetensors"), at("lost.safetensors"),
        "--names", "hf", "--lossy");
    same([lossy.code, /1 tensor dropped/.test(lossy.said)], [0, true],
        lossy.said);
    same(Object.keys(contents(at("lost.safetensors"))).sort(),
        LEAST.map(({ name }) => name).sort(), "tensors");
});

check("rows move in the type that they have, and then become another", () => {
    for (const type of ["f32", "f16", "bf16"]) {
        const folder = join(fixtures, "good-hf-llama");
        converted(folder, at("both.gguf"), "--names", "gguf", "--type", type,
            "--force");
        converted(folder, at("names.gguf"), "--names", "gguf", "--force");
        converted(at("names.gguf"), at("then.gguf"), "--type", type, "--force");
        same(readFileSync(at("both.gguf")).equals(
            readFileSync(at("then.gguf"))), true, type);
    }
});

finish();
