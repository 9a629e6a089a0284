#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hostile.t - hostile files from elsewhere are judged as they deserve
#
# CONFORMANCE (../shared) may hold a folder "hostile" with such files and a
# run.sh that runs `validate --data`, `info` and what else is named on each of
# them and knows the right exit codes.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

hostile=${CONFORMANCE:-../shared}/hostile
modelfile=${MODELFILE:-${BUILD:-build}/modelfile}
if [ ! -f "$hostile/run.sh" ]; then
    echo "1..0 # SKIP no $hostile/run.sh; CONFORMANCE is explained in CONTRIBUTING.md"
    exit 0
fi
for tool in bash prlimit; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "1..0 # SKIP $tool is not installed"
        exit 0
    fi
done

dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-hostile.XXXXXX")
trap 'rm -rf "$dir"' EXIT
# run.sh makes its sparse files in its own folder, where we may not write.
cp -R "$hostile" "$dir/files" && chmod -R u+w "$dir/files" || exit 1
program=$(cd "$(dirname "$modelfile")" && pwd)/$(basename "$modelfile")

# A sanitizer reserves more addresses than any limit would allow.
limit=as
if grep -q __asan_report "$modelfile"; then
    limit=none
fi

# run.sh says what is wrong; check shows that.
judge() {
    LIMIT=$limit OUT=$dir/out bash "$dir/files/run.sh" "$program"
}

# plan reads the same headers, and refuses the same files as info.
judge_plan() {
    LIMIT=$limit ONLY=info INFO=plan OUT=$dir/plan bash "$dir/files/run.sh" \
        "$program"
}

check "validate and info are right about every hostile file" judge
check "plan neither crashes nor hangs, and opens what info does" judge_plan
check "there were such files" [ "$(wc -l <"$dir/out/results.tsv")" -gt 1 ]
finish
