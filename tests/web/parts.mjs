// SPDX-License-Identifier: MIT
//
// parts.mjs - the page's functions that need no page, against what this file
// works out by itself
//
//     node parts.mjs SCRIPT
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import vm from "node:vm";
import { bytesOf, encodeTensors, llamaTensors, largeTensors } from "./sample.mjs";

const script = readFileSync(process.argv[2], "utf8");
const { parts } = vm.runInThisContext(`${script}\nmodelfilePage`);

const tests = {
    "integers stay exact"() {
        const big = "18446744073709551615";

        assert.equal(parts.exact(big), 18446744073709551615n);
        assert.equal(parts.exact("9007199254740991"), 9007199254740991);
        assert.equal(parts.exact(2 ** 53), null);
        for (const wrong of ["", "1.5", "0x10", "1e3", null, true, {}, [], NaN, 0.5, "9".repeat(41)])
            assert.equal(parts.exact(wrong), null);
        assert.equal(parts.plus(9007199254740991, 2), 9007199254740993n);
        assert.equal(parts.plus(9007199254740993n, -2), 9007199254740991);
        assert.equal(parts.times(3037000500, 3037000500), 9223372037000250000n);
        assert.equal(parts.plus(null, 1), null);
        assert.equal(parts.hexText(parts.exact(big)), "0xffffffffffffffff");
        assert.equal(parts.grouped(parts.exact(big)), "18,446,744,073,709,551,615");
        assert.equal(parts.bytesText(1536), "1.50 KiB");
        assert.equal(parts.compare(9007199254740993n, 9007199254740992n), 1);
    },

    "names, bytes and offsets come out of their columns"() {
        for (const tensors of [llamaTensors(3), largeTensors().slice(0, 2000)]) {
            const table = parts.decodeTensors(encodeTensors(tensors), [1000]);
            let offset = 1000n;

            assert.equal(table.count, tensors.length);
            tensors.forEach((tensor, i) => {
                assert.equal(table.name(i), tensor.name);
                assert.equal(BigInt(table.bytes(i)), bytesOf(tensor));
                assert.equal(BigInt(table.offset(i)), offset);
                assert.deepEqual(table.shape(i), tensor.shape);
                offset += bytesOf(tensor);
                offset += (32n - (offset - 1000n) % 32n) % 32n;
            });
        }
    },

    "shards, sizes and offsets that are given count"() {
        const table = parts.decodeTensors({ count: 5, types: [{ name: "u8", elements: 1, bytes: 1 },
            { name: "odd" }], shapes: [[10], [2 ** 53 - 1, "9007199254740993"]],
            names: [0, "a", 0, "b", 1, "c", 0, "d", 0, "e"], type: [0, 0, 1, 0, 0],
            shape: [0, 0, 0, 0, 1], gap: [0, -4, 6, 0, 5], shards: [[0, 2], [1, 3]],
            size: { 1: 3, 2: 7 }, offset: { 3: "18446744073709551615" }, flags: { 4: ["packed", 5] } },
            [100, 200]);

        assert.deepEqual([0, 1, 2, 3, 4].map(table.offset),
                         [100, 106, 206, 18446744073709551615n, 218]);
        assert.deepEqual([0, 1, 2, 3].map(table.bytes), [10, 3, 7, 10]);
        assert.equal(table.elements(4), 9007199254740991n * 9007199254740993n);
        assert.equal(table.name(2), "bc");
        assert.deepEqual(table.flags(4), ["packed"]);
        assert.deepEqual([0, 1, 2, 3, 4].map(table.shard), [0, 0, 1, 1, 1]);
    },

    "wrong columns are no more than unknown"() {
        for (const wrong of [null, 5, "x", [], { names: "x" }, { names: [1, 2, 3], count: 1e9 },
            { names: [-5, "a", 1e300, "b"], count: "9".repeat(30), type: [7], shape: [-1], gap: "x",
              shards: [[0, 1e9], null, 5], size: [], offset: 5, flags: { 0: "x" } },
            { names: [0, "a"], type: ["__proto__"], shape: ["constructor"], types: [null],
              shapes: [null, "x"], flags: JSON.parse('{"__proto__": ["x"]}') }]) {
            const table = parts.decodeTensors(wrong, [wrong]);

            for (let i = -1; i < Math.min(table.count, 4) + 1; i++)
                for (const of of ["name", "type", "shape", "bytes", "offset", "shard", "flags", "elements"])
                    table[of](i);
        }
    },

    "names as long as a file may have them are whole"() {
        const long = "n".repeat(60000);
        const table = parts.decodeTensors({ count: 2, names: [0, long, 59999, "x"] });

        assert.equal(table.name(0), long);
        assert.equal(table.name(1), `${long.slice(1)}x`);
    },

    "members of a document have names in words"() {
        for (const [key, label] of [["context_length", "Context length"], ["head_count_kv", "KV heads"],
            ["file_type", "File type"], ["peak_rss", "Peak RSS"], ["p50", "p50"], ["isa", "ISA"],
            ["constructor", "Constructor"], ["__proto__", "  proto  "], ["", ""]])
            assert.equal(parts.labelOf(key), label);
        assert.equal([0, 1, 2000, 1n].map((count) => parts.plural(count, "block")).join(),
                     "0 blocks,1 block,2,000 blocks,1 block");
        assert.equal(parts.numberText(12487.5), "12,488");
    },

    "blocks and kinds come out of names"() {
        for (const [name, prefix, number, kind] of [
            ["blk.12.attn_q.weight", "blk.", 12, "attn_q.weight"],
            ["model.layers.3.mlp.experts.17.up_proj.weight", "model.layers.", 3, "mlp.experts.*.up_proj.weight"],
            ["transformer.h.0.ln_1.weight", "transformer.h.", 0, "ln_1.weight"],
            ["v.blk.3.ffn.weight", "v.blk.", 3, "ffn.weight"],
            ["token_embd.weight", "", -1, "token_embd.weight"], ["", "", -1, ""],
            ["blk.x.y", "", -1, "blk.x.y"], ["a.3.b", "", -1, "a.*.b"]])
            assert.deepEqual(parts.placeOf(name), { prefix, number, kind });
        const tensors = llamaTensors(12);
        const table = parts.decodeTensors(encodeTensors(tensors), [0]);
        const groups = parts.groupTensors(table), cells = parts.groupCells(table, groups);

        assert.deepEqual(groups.blocks.slice(0, 3), ["blk.0", "blk.1", "blk.2"]);
        assert.equal(groups.blocks[11], "blk.11");
        assert.equal(groups.blocks.at(-1), "");
        assert.equal(cells.length, 12 * 9 + 3);
        assert.equal(BigInt(cells.reduce((sum, cell) => sum + Number(cell.bytes), 0)),
                     tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0n));
    },

    "search finds what a regular expression does"() {
        const names = llamaTensors(11).map((each) => each.name);

        for (const [text, rule] of [["attn", /attn/], ["ATTN_Q", /attn_q/], ["*.attn_?.weight", /^.*\.attn_.\.weight$/],
            ["blk.1*", /^blk\.1.*$/], ["*", /^/], ["?", /^.$/], ["blk.1.", /blk\.1\./], ["*q*t", /^.*q.*t$/], ["a+", /a\+/]])
            assert.deepEqual(names.filter(parts.matcher(text)), names.filter((name) => rule.test(name)), text);
        assert.equal(parts.matcher("  "), null);
        const before = process.cpuUsage().user;

        assert.equal(parts.globMatches("*a".repeat(400) + "b", "a".repeat(4000)), false);
        assert.ok(process.cpuUsage().user - before < 1e6, "a glob takes too long");
    },

    "sorting is stable, natural and exact"() {
        const values = [5, null, 3n, 9007199254740993n, 9007199254740992n, 3, undefined, 5];
        const all = parts.chosen(values.length, [null]);

        assert.deepEqual([...parts.sorted(all, (i) => values[i], false)], [2, 5, 0, 7, 4, 3, 1, 6]);
        assert.deepEqual([...parts.sorted(all, (i) => values[i], true)], [3, 4, 0, 7, 2, 5, 1, 6]);
        const names = ["blk.10.a", "blk.2.a", "blk.1.b"];

        assert.deepEqual(names.toSorted((a, b) => parts.compare(parts.naturalKey(a), parts.naturalKey(b))),
                         ["blk.1.b", "blk.2.a", "blk.10.a"]);
        assert.deepEqual([...parts.chosen(6, [(i) => i % 2 === 0, false, (i) => i > 1])], [2, 4]);
    },

    "what fits below a limit"() {
        const plan = parts.decodePlan({ contexts: [256, 512, "1024", null], curves: [
            { type_k: "f16", type_v: "f16", total: [10, 20, 30, 40], weights: [5, 5, 5, 5] },
            { type_k: "q8_0", type_v: "f16", total: [10, null, "9007199254740993", 1] }] });

        assert.equal(plan.curves[1].name, "q8_0 / f16");
        for (const [limit, best] of [[9, -1], [10, 0], [29, 1], [30, 2], [1e9, 2]])
            assert.equal(parts.longestFit(plan.contexts, plan.curves[0].total, limit), best);
        assert.equal(parts.longestFit(plan.contexts, plan.curves[1].total, 1e12), 0);
        assert.equal(parts.mixTotal(plan.curves[0], 1, 7), 22);
        assert.equal(parts.mixTotal(plan.curves[1], 0, 7), null);
    },

    "areas of a treemap are in proportion and inside"() {
        const sizes = [500, 300, 100, 50, 25, 25, 1, 1];
        const areas = parts.squarify(sizes, 10, 20, 400, 300);
        const scale = 400 * 300 / sizes.reduce((a, b) => a + b);

        areas.forEach((area, i) => {
            assert.ok(Math.abs(area.width * area.height - sizes[i] * scale) < 1e-6);
            assert.ok(area.x >= 10 - 1e-9 && area.x + area.width <= 410 + 1e-9);
            assert.ok(area.y >= 20 - 1e-9 && area.y + area.height <= 320 + 1e-9);
        });
        areas.forEach((a, i) => areas.slice(i + 1).forEach((b) =>
            assert.ok(a.x + a.width <= b.x + 1e-9 || b.x + b.width <= a.x + 1e-9
                || a.y + a.height <= b.y + 1e-9 || b.y + b.height <= a.y + 1e-9, "they overlap")));
        assert.equal(parts.squarify([], 0, 0, 5, 5).length, 0);
        assert.equal(parts.squarify([0, 0], 0, 0, 5, 5).length, 2);
    },

    "hidden characters become escapes and text stays text"() {
        assert.equal(parts.visible("a\u202eb\u0000\u{e0041}\n\ufeff"), "a\\u202eb\\u0000\\u{e0041}\\n\\ufeff");
        assert.equal(parts.visible("Ġé漢😀 x"), "Ġé漢😀 x");
        for (let code = 0; code < 0x3000; code++) {
            const seen = parts.visible(String.fromCodePoint(code));

            if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(String.fromCodePoint(code)))
                assert.ok(/^\\[nrtu]/.test(seen), code.toString(16));
        }
        assert.deepEqual(parts.pieces("a\u200b\u200bb").map((each) => each.hidden), [false, true, false]);
    },

    "parts of a long text are the whole of it"() {
        for (const text of ["", "\n", "a\nb\n\nc", "x".repeat(100), "😀".repeat(50) + "\n" + "y".repeat(33), "\n".repeat(99)]) {
            let place = { at: 0, line: 1, within: false }, found = "", done = false, rounds = 0;

            while (!done && rounds++ < 1000) {
                const taken = parts.takeLines(text, place, 7, 20);

                for (const row of taken.rows)
                    found += (row.line > 1 && !row.continued ? "\n" : "") + row.text;
                ({ place, done } = taken);
            }
            assert.equal(found, text);
        }
    },

    "histograms run from the most negative to the most positive"() {
        const bars = parts.histogramBars({ bins: [-2, [1, 2], [3, 0, 4]] }, 9);

        assert.deepEqual(bars.map((bar) => bar.count), [2, 1, 9, 3, 0, 4]);
        assert.deepEqual(bars.map((bar) => bar.exponent), [-1, -2, null, -2, -1, 0]);
        assert.equal(parts.histogramBars({ bins: "x" }, null).length, 1);
    },
};

for (const [name, test] of Object.entries(tests)) {
    try {
        test();
        console.log(`ok ${name}`);
    } catch (error) {
        console.log(`not ok ${name}: ${error.stack.split("\n").slice(0, 12).join(" | ")}`);
    }
}
