#!/bin/sh
# SPDX-License-Identifier: MIT
#
# report_recorded.t - `report --run` shows what a run has recorded
#
# Real records, heap profiles, ours and valgrind's, and timings: each number in
# the document is what Python's json and csv read in the files.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

model=$fixtures/good-many-tensors.gguf
other=$dir/other.gguf
"$build/tests/filled" f16 1 "$other" >/dev/null

if ! command -v python3 >/dev/null 2>&1; then
    skip "all numbers of a record are in the report" "python3 is not installed"
    finish
fi

# document PATH [OPTION...]: into $dir/report.
document() {
    "$modelfile" report "$model" --json --quiet --run "$@" >"$dir/report"
}

# compare KIND PATH: prints what differs.
compare() {
    document "$2" && python3 tests/cli/report_recorded.py "$1" "$dir/report" "$2"
}

# quietly COMMAND...
quietly() {
    "$modelfile" "$@" --quiet >"$dir/printed" 2>"$dir/err"
}

# ---- records ----

check "a record of quantize is written" \
    quietly quantize "$other" "$dir/o.gguf" Q4_0 --record "$dir/quantize"
check "a record of bench is written" \
    quietly bench "$model" --record "$dir/bench" --quantize Q8_0 --threads 1,2 \
    --power mock:65
check "a record of many files is written" \
    quietly validate "$fixtures"/good-*.gguf --record "$dir/many"
for record in quantize bench many; do
    check_empty "the report has all of the record of $record" \
        compare folder "$dir/$record"
done

names_nothing() {
    document "$dir/quantize"
    grep -E "o\.gguf|$(basename "$other")|$dir|$(uname -n)" "$dir/report"
}
check_empty "and names neither a file nor the machine" names_nothing

names_files() {
    document "$dir/quantize" --paths && grep -q '"command_line":\[' "$dir/report" &&
        grep -q "$(basename "$other")" "$dir/report"
}
check "with --paths it names them" names_files

# What follows of the document is about the command itself.
recorded() {
    document "$1" && sed 's/.*"recorded"://; s/,"run":{"peak_heap.*//' "$dir/report"
}

same_later() {
    recorded "$dir/bench" >"$dir/first" && touch "$dir/bench"/* &&
        cp -r "$dir/bench" "$dir/elsewhere" &&
        recorded "$dir/elsewhere" | cmp "$dir/first" && [ -s "$dir/first" ]
}
check "the same record elsewhere makes the same bytes" same_later

changed() {
    sed -i '2s/[0-9]*$/7/' "$dir/elsewhere/csv/Q8_0_t1.csv"
    rm "$dir/elsewhere/figs/size.svg"
    document "$dir/elsewhere" && grep -q '"problem_count":2,"problems":\[' \
        "$dir/report" &&
        grep -q '"csv/Q8_0_t1.csv is not what SHA256SUMS says"' "$dir/report" &&
        grep -q '"figs/size.svg is missing"' "$dir/report"
}
check "what was changed since is a problem" changed

# ---- heap profiles ----

profiled() {
    quietly quantize "$other" "$dir/p.gguf" Q4_0 --dhat="$dir/heap"
}
if counts_memory; then
    check "a heap profile is written" profiled
    check_empty "the report has its sites" compare heap "$dir/heap"
else
    skip "the report has the sites of a profile" "malloc is not counted"
fi

valgrind_profile() {
    valgrind --tool=dhat --num-callers=80 --dhat-out-file="$dir/valgrind" \
        --log-file="$dir/log" "$modelfile" info "$other" >"$dir/printed" 2>&1
}
# It cannot run a build with sanitizers.
if command -v valgrind >/dev/null 2>&1 && counts_memory; then
    check "valgrind writes a profile" valgrind_profile
    check_empty "the report has the sites of that one" \
        compare heap "$dir/valgrind"
else
    skip "the report has the sites of valgrind's" "valgrind cannot run here"
fi

# ---- what a command printed ----

check "timings are printed" quietly hash "$model" --json --timings
mv "$dir/printed" "$dir/timings"
check_empty "the report has the phases" compare answer "$dir/timings"
check "JSON without timings is printed" quietly tensors "$model" --json
mv "$dir/printed" "$dir/plain"
check_empty "the report has the totals" compare answer "$dir/plain"

# ---- anything else ----

# refused PATH TEXT: with the path before the text.
refused() {
    ends 3 report "$model" --quiet --json --run "$1" && grep -F "$1: $2" "$dir/err"
}
check "a model is not a record" refused "$model" "at 0x0: "
mkdir "$dir/empty"
check "nor is an empty folder" refused "$dir/empty" "not a record"
check "nor what does not exist" refused "$dir/none" "cannot be opened"
wrong_line() {
    sed -i '2s/,/,x/' "$dir/elsewhere/memory.csv"
    ends 3 report "$model" --quiet --json --run "$dir/elsewhere" &&
        grep -F "$dir/elsewhere/memory.csv: at 0x4e: line 2: peak_rss_bytes" \
            "$dir/err"
}
check "a line that is wrong has its place" wrong_line

finish
