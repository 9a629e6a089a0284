# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # dir: of lib-run.sh
#
# lib-verdicts.sh - the verdicts of fixtures/README.md, and counts in a report
#
#     . tests/lib-run.sh
#     . tests/lib-verdicts.sh
#
# Writes $dir/verdicts: "FILE VERDICT" for each fixture.

sed -n 's/^| `\([^`]*\)` | \([a-z]*\) |.*/\1 \2/p' fixtures/README.md \
    >"$dir/verdicts"

# number KEY: of the first object in $dir/out.
number() {
    number_text=$(cat "$dir/out")
    number_text=${number_text#*"\"$1\":"}
    echo "${number_text%%[!0-9]*}"
}
