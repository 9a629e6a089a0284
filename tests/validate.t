#!/bin/sh
# SPDX-License-Identifier: MIT
#
# validate.t - the verdict on every fixture, rules and their paragraphs, reports
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

modelfile=${MODELFILE:-${BUILD:-build}/modelfile}
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-validate.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# ---- verdicts

# Faults that only the tensor data shows.
in_data=" bad-footer.apr bad-padding-not-zero.gguf bad-data-nan.gguf \
bad-data-scale.gguf bad-data-zero.gguf bad-data-bool.safetensors \
bad-data-fnuz.safetensors bad-padding-header.gguf bad-padding.apr \
bad-scale.apr "

number() {
    grep -o "\"$1\":[0-9]*" "$dir/out" | head -n 1 | cut -d: -f2
}

judge() {
    code=0
    # shellcheck disable=SC2086 # --data or nothing
    "$modelfile" validate --json ${3:-} "fixtures/$1" >"$dir/out" \
        2>"$dir/err" || code=$?
    errors=$(number errors) warnings=$(number warnings)
    [ "${3:-}" = --data ] || case $in_data in
    *" $1 "*) set -- "$1" good ;;
    esac
    case $2 in
    # With --data, fixtures that are all zeros get a warning.
    good) [ "$code" = 0 ] && [ "$errors" = 0 ] &&
        { [ "${3:-}" = --data ] || [ "$warnings" = 0 ]; } ;;
    warning) [ "$code" = 0 ] && [ "$errors" = 0 ] && [ "$warnings" -gt 0 ] ;;
    *) [ "$code" = 1 ] && [ "$errors" -gt 0 ] ;;
    esac && return
    echo "exit code $code, ${errors:-no} errors, ${warnings:-no} warnings"
    return 1
}

sed -n 's/^| `\([^`]*\)` | \([a-z]*\) |.*/\1 \2/p' fixtures/README.md \
    >"$dir/verdicts"
while read -r file verdict; do
    check "$file: $verdict" judge "$file" "$verdict"
    check "$file with --data: $verdict" judge "$file" "$verdict" --data
done <"$dir/verdicts"

# ---- rules

"$modelfile" validate --rules | awk '{ print $1 }' >"$dir/rules"

# Every finding of every fixture, to know which rules are met there.
find fixtures -path fixtures/quant -prune -o \( -name '*.gguf' -o -name '*.apr' \
    -o -name '*.safetensors' -o -name '*.json' -o -name '*.bin' \) -print |
    LC_ALL=C sort >"$dir/files"
tr '\n' '\0' <"$dir/files" | xargs -0 "$modelfile" validate --data \
    --quiet >"$dir/all" 2>&1
sed -n 's,^fixtures/\(.*\): \([a-z]*\) \([A-Z0-9-]*\)\( at 0x[0-9a-f]*\)\{0\,1\}: .*,\1 \2 \3\4,p' \
    "$dir/all" >"$dir/findings"
awk '{ print $3 }' "$dir/findings" | sort -u >"$dir/met"

# UPDATE=1 writes tests/golden/findings anew, to be read before it is committed.
[ -z "${UPDATE:-}" ] || cp "$dir/findings" tests/golden/findings
check "the complete findings of all fixtures, and where" \
    diff tests/golden/findings "$dir/findings"

# Found in memory by tests/test_apr_*.c, or too large for a fixture.
elsewhere="APR-ALIGNMENT APR-INDEX-COUNT APR-RANK APR-ROWS APR-V1-METADATA \
APR-V1-UNPACKED ST-FIELD-UNKNOWN"

without_fixture() {
    while read -r rule; do
        case " $elsewhere " in
        *" $rule "*) continue ;;
        esac
        grep -qx "$rule" "$dir/met" || echo "$rule"
    done <"$dir/rules"
}
check_empty "every rule is met by a fixture" without_fixture

without_paragraph() {
    while read -r rule; do
        "$modelfile" validate --explain "$rule" 2>&1 | sed -n 3p |
            grep -q '[a-z]' || echo "$rule"
    done <"$dir/rules"
    sed -n 's/^### //p' docs/rules.md | while read -r rule; do
        grep -qx "$rule" "$dir/rules" || echo "$rule is no rule"
    done
}
check_empty "every rule has its paragraph in docs/rules.md" without_paragraph

in_order() {
    sed -n 's/^### //p' docs/rules.md | diff "$dir/rules" -
}
check "in the order of the table" in_order

# ---- options

strict() {
    code=0
    "$modelfile" validate --quiet --strict fixtures/bad-gap.gguf >"$dir/out" ||
        code=$?
    [ "$code" = 1 ] && grep -q "error DATA-GAP" "$dir/out"
}
check "--strict makes warnings errors" strict

baseline() {
    "$modelfile" validate --quiet fixtures/bad-overlap.gguf >"$dir/known"
    "$modelfile" validate --quiet --baseline "$dir/known" \
        fixtures/bad-overlap.gguf >"$dir/out" || return 1
    grep -q "0 errors, 0 warnings, 2 accepted" "$dir/out" || return 1
    code=0
    "$modelfile" validate --quiet --baseline "$dir/known" \
        fixtures/bad-gap.gguf fixtures/bad-row-block.gguf >"$dir/out" ||
        code=$?
    [ "$code" = 1 ] && grep -q "error TENSOR-ROW" "$dir/out"
}
check "--baseline accepts what an earlier report has, and nothing else" \
    baseline

no_baseline() {
    code=0
    "$modelfile" validate --baseline "$dir/nothing" fixtures/good-base.gguf \
        >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" = 3 ] && grep -q "the baseline cannot be read" "$dir/err"
}
check "a baseline that is not there is exit code 3" no_baseline

most() {
    "$modelfile" validate --quiet --max-findings 1 \
        fixtures/bad-data-missing.gguf >"$dir/out"
    [ "$(wc -l <"$dir/out")" = 2 ] && grep -q "2 errors" "$dir/out"
}
check "--max-findings shows fewer and counts all" most

missing() {
    code=0
    "$modelfile" validate fixtures/nothing.gguf fixtures/good-base.gguf \
        >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" = 3 ] && grep -q "good-base.gguf: 0 errors" "$dir/out"
}
check "a file that is not there is exit code 3, the others are judged" missing

# ---- reports

sarif() {
    tr '\n' '\0' <"$dir/files" |
        xargs -0 "$modelfile" validate --format sarif fixtures/nothing.gguf \
            >"$dir/sarif" 2>/dev/null
    node -e '
        const log = JSON.parse(require("fs").readFileSync(process.argv[1]));
        const run = log.runs[0];
        const ids = new Set(run.tool.driver.rules.map(rule => rule.id));
        if (log.version !== "2.1.0" || run.results.length < 200 ||
            run.invocations[0].executionSuccessful ||
            run.results.some(result => !ids.has(result.ruleId) ||
                !["error", "warning", "note"].includes(result.level) ||
                !result.message.text ||
                !result.locations[0].physicalLocation.artifactLocation.uri))
            process.exit(1);' "$dir/sarif"
}
if command -v node >/dev/null 2>&1; then
    check "SARIF names a rule, a place and a sentence for each finding" sarif
else
    skip "SARIF names a rule, a place and a sentence for each finding" \
        "node is not installed"
fi

junit() {
    tr '\n' '\0' <"$dir/files" |
        xargs -0 "$modelfile" validate --format junit fixtures/nothing.gguf \
            >"$dir/junit" 2>/dev/null
    xmllint --noout "$dir/junit" || return 1
    suites=$(xmllint --xpath 'count(/testsuites/testsuite)' "$dir/junit")
    wrong=$(xmllint --xpath 'count(/testsuites/testsuite[
        count(testcase) != @tests or count(testcase/failure) != @failures or
        count(testcase/error) != @errors])' "$dir/junit")
    [ "$suites" = $(($(wc -l <"$dir/files") + 1)) ] && [ "$wrong" = 0 ]
}
if command -v xmllint >/dev/null 2>&1; then
    check "JUnit XML is well-formed, and its counts are right" junit
else
    skip "JUnit XML is well-formed, and its counts are right" \
        "xmllint is not installed"
fi

finish
