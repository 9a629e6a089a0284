// SPDX-License-Identifier: MIT
//
// sarif.mjs - compares a SARIF log with the published schema
//
//     node tests/cli/sarif.mjs FOLDER LOG
//
// FOLDER has @microsoft/jest-sarif in its node_modules: it carries the schema
// and a validator that knows the schema's draft.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [folder, log] = process.argv.slice(2);
const home = resolve(folder, "node_modules/@microsoft/jest-sarif");
const carried = createRequire(`${home}/package.json`);
const Ajv = carried("ajv");
const ajv = new Ajv({ schemaId: "auto", allErrors: true });
const schema = `${home}/lib/schemas/sarif-2.1.0-rtm.5.json`;

ajv.addMetaSchema(carried("ajv/lib/refs/json-schema-draft-04.json"));
const valid = ajv.compile(JSON.parse(readFileSync(schema)));
if (!valid(JSON.parse(readFileSync(log)))) {
    console.log(valid.errors.slice(0, 5));
    process.exit(1);
}
