// SPDX-License-Identifier: MIT
//
// codequality.mjs - compares a Code Quality report with what GitLab reads
//
//     node tests/cli/codequality.mjs REPORT [CHECK...]
//
// https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format:
// a JSON array without a byte order mark; every entry has these members, a
// fingerprint of its own, and a path below the folder of the repository that
// does not begin with "./".  Prints "CHECK SEVERITY PATH DESCRIPTION" of the
// entries, one a line; of the named checks if any are named.
import { readFileSync } from "node:fs";

const [report, ...checks] = process.argv.slice(2);
const text = readFileSync(report, "utf8");
const entries = JSON.parse(text);
const seen = new Set();
const wrong = [];
const is = (condition, what, entry) =>
    condition || wrong.push(`${what}: ${JSON.stringify(entry)}`);
const names = (object, ...wanted) =>
    Object.keys(object).sort().join() === wanted.sort().join();
const isText = value => typeof value === "string" && value !== "";

is(text.startsWith("["), "the first byte", text.slice(0, 9));
is(Array.isArray(entries), "not an array", entries);
for (const entry of entries) {
    is(names(entry, "description", "check_name", "fingerprint", "severity",
        "location"), "members", entry);
    is(names(entry.location, "path", "lines"), "location", entry);
    is(names(entry.location.lines, "begin"), "lines", entry);
    is(isText(entry.description) && !entry.description.includes("\n"),
        "description", entry);
    is(/^[A-Z0-9]+(-[A-Z0-9]+)+$/.test(entry.check_name), "check_name", entry);
    is(/^[0-9a-f]{32}$/.test(entry.fingerprint), "fingerprint", entry);
    is(!seen.has(entry.fingerprint), "a fingerprint twice", entry);
    is(["info", "minor", "major", "critical", "blocker"]
        .includes(entry.severity), "severity", entry);
    is(isText(entry.location.path) && !/^(\.\/|\/)/.test(entry.location.path),
        "path", entry);
    is(Number.isInteger(entry.location.lines.begin) &&
        entry.location.lines.begin >= 1, "line", entry);
    seen.add(entry.fingerprint);
    if (checks.length === 0 || checks.includes(entry.check_name))
        console.log(entry.check_name, entry.severity, entry.location.path,
            entry.description);
}
if (wrong.length > 0) {
    console.log(wrong.slice(0, 5).join("\n"));
    process.exit(1);
}
