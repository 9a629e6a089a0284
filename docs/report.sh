#!/bin/sh
# SPDX-License-Identifier: MIT
#
# report.sh - draws the pictures of docs/report.md: report.png, report-compare.png
#
#     sh docs/report.sh [FOLDER]
#
# The models are a folder of real proportions without weights, quantized, and a
# fixture with what becomes of it as Q4_0.  Needs Chromium, and build/tests/hub_big;
# pngquant, if it is there, makes the pictures smaller.
set -eu

build=${BUILD:-build}
modelfile=$(realpath "${MODELFILE:-$build/modelfile}")
folder=${1:-docs}
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-report.XXXXXX")
trap 'rm -rf "$dir"' EXIT

"$build/tests/hub_big" hollow "$dir/Llama-0.5B"
"$modelfile" quantize --quiet "$dir/Llama-0.5B" "$dir/large.gguf" Q4_K_M >/dev/null
"$modelfile" quantize --quiet fixtures/llama/llama-small.gguf "$dir/small.gguf" Q4_0 >/dev/null
"$modelfile" report --quiet "$dir/large.gguf" -o "$dir/report.html"
"$modelfile" report --quiet --data fixtures/llama/llama-small.gguf "$dir/small.gguf" \
    -o "$dir/report-compare.html"

picture() { # NAME WIDTH,HEIGHT
    "${CHROMIUM:-chromium}" --headless --no-sandbox --hide-scrollbars \
        --user-data-dir="$dir/profile" --force-device-scale-factor=1 \
        --window-size="$2" --screenshot="$dir/$1.png" \
        "file://$dir/$1.html" >"$dir/said" 2>&1 || {
        cat "$dir/said" >&2
        exit 1
    }
    if command -v pngquant >/dev/null; then
        pngquant --force --output "$dir/$1.png" 64 "$dir/$1.png"
    fi
    cp "$dir/$1.png" "$folder/$1.png"
}
picture report 1280,1280
picture report-compare 1280,1600
