#!/bin/sh
# SPDX-License-Identifier: MIT
#
# attacks.t - each row of lib/base/attacks.def has a fixture that is named so
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

# "RULE|ID" of each row, and of each attack that a finding of a fixture names.
"$modelfile" validate --explain attacks --json |
    grep -o '{"id":"[^"]*","rule":"[^"]*"' |
    sed 's/{"id":"\(.*\)","rule":"\(.*\)"/\2|\1/' | sort >"$dir/rows"
find fixtures -type f \( -name '*.gguf' -o -name '*.apr' \
    -o -name '*.safetensors' \) ! -path 'fixtures/quant/*' -print0 |
    xargs -0 "$modelfile" validate --quiet >"$dir/all" 2>&1
awk '/ \(see .*\)$/ {
    match($0, /: (error|warning|note) [A-Z0-9-]+/)
    split(substr($0, RSTART, RLENGTH), word, " ")
    sub(/.* \(see /, "")
    sub(/\)$/, "")
    count = split($0, ids, ", ")
    for (i = 1; i <= count; i++)
        print word[3] "|" ids[i]
}' "$dir/all" | sort -u >"$dir/named"

rows() {
    [ "$(wc -l <"$dir/rows")" -gt 30 ] && [ -z "$(uniq -d "$dir/rows")" ]
}
check "the table has its rows, each once" rows
check "each row is named by a finding of some fixture" \
    cmp "$dir/rows" "$dir/named"

# A finding with a smaller number, or of another format, is not an attack.
innocent() {
    "$modelfile" validate --quiet fixtures/bad-index-past-end.apr \
        fixtures/bad-array-bomb.gguf fixtures/bad-size.apr \
        fixtures/bad-offsets-past-end.safetensors \
        fixtures/unsupported-pickle.bin >"$dir/out"
    [ "$(grep -c ': error ' "$dir/out")" -ge 5 ] && ! grep -q '(see' "$dir/out"
}
check "nothing is named where the value is harmless" innocent

json() {
    "$modelfile" validate --json fixtures/bad-array-2p63.gguf >"$dir/out"
    grep -q '"known_as":\["CVE-2024-21825","llama.cpp #27188"\]' "$dir/out" ||
        return 1
    "$modelfile" validate --format sarif fixtures/bad-array-2p63.gguf \
        >"$dir/out"
    grep -q '"properties":{"known_as":\["CVE-2024-21825",' "$dir/out"
}
check "JSON and SARIF carry the ids" json

explain() {
    "$modelfile" validate --explain cve-2024-21802 >"$dir/out" || return 1
    [ "$(grep -c '^CVE-2024-21802 ' "$dir/out")" = 2 ] &&
        grep -q GGUF-RANK "$dir/out" && grep -q FILE-RANK "$dir/out" &&
        "$modelfile" validate --explain GGUF-RANK |
        grep -q '^CVE-2024-21802 ' &&
        ! "$modelfile" validate --explain CVE-1999-0001 2>"$dir/err" &&
        grep -q "unknown rule 'CVE-1999-0001'" "$dir/err"
}
check "--explain knows an attack, and a rule its attacks" explain

finish
