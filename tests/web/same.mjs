// SPDX-License-Identifier: MIT
//
// same.mjs - the page decodes of a report what `tensors info` lists
//
//     node same.mjs SCRIPT MODELFILE FILE...
//
// Prints what differs, and how many tensors did not.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import vm from "node:vm";

const [script, modelfile, ...files] = process.argv.slice(2);
const { parts } = vm.runInThisContext(`${readFileSync(script, "utf8")}\nmodelfilePage`);

// Integers of more than 53 bits are numbers in this JSON: they become strings.
const answer = (...words) => {
    const { stdout } = spawnSync(modelfile, [...words, "--json", "--quiet"],
                                 { encoding: "utf8", maxBuffer: 2 ** 28 });

    return JSON.parse(stdout.replace(/([:[,])(\d{16,})(?=[,\]}])/g, '$1"$2"'));
};
let many = 0;

for (const file of files) {
    const model = answer("report", file).report?.models[0];
    const listed = answer("tensors", "info", file).files[0].tensors ?? [];

    if (!model) continue;
    const starts = model.head.shards.map((shard) => shard.data_offset);
    const table = parts.decodeTensors(model.tensors, starts);

    if (table.count !== listed.length)
        console.log(`${file}: ${table.count} tensors, not ${listed.length}`);
    listed.forEach((wanted, i) => {
        const found = [table.name(i), table.type(i), table.shape(i).join(), table.offset(i),
                       table.bytes(i), table.shard(i)].map(String);
        const right = [wanted.name, wanted.type, wanted.shape.join(), wanted.offset,
                       wanted.bytes, wanted.shard].map(String);

        many += 1;
        if (found.join("|") !== right.join("|"))
            console.log(`${file}: tensor ${i} is ${found}, not ${right}`);
    });
}
console.error(`${many} tensors of ${files.length} files`);
