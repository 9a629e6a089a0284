#!/bin/sh
# SPDX-License-Identifier: MIT
#
# screen.t - what a terminal gets: progress, widths, escapes
#
# script(1) makes the terminal; stty gives it a width.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

modelfile=$(realpath "${MODELFILE:-${BUILD:-build}/modelfile}")
fixtures=$(realpath "${FIXTURES:-fixtures}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-screen.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# on_terminal COLUMNS COMMAND: what a terminal of that width is sent, in said.
on_terminal() {
    printf '%s\n' "stty cols $1 rows 24 -onlcr" "$2" >"$dir/commands"
    script -qec "sh $dir/commands" "$dir/typescript" </dev/null >"$dir/said" \
        2>"$dir/err"
}

if ! on_terminal 72 "stty size" || ! grep -q '24 72' "$dir/said"; then
    echo "1..0 # SKIP script (of bsdutils) makes no terminal here"
    exit
fi

# model NAME FILE BYTES: one tensor of zeros in a file with a hole.
model() {
    header="{\"$1\":{\"dtype\":\"F32\",\"shape\":[1024,$(($3 / 4096))],\"data_offsets\":[0,$3]}}"
    printf '\000\002\0\0\0\0\0\0%-512s' "$header" >"$2" &&
        truncate -s $((520 + $3)) "$2"
}

# The text of each line at the end: a carriage return starts it again.
at_the_end() {
    awk '{
        n = split($0, piece, "\r")
        line = ""
        for (i = 1; i <= n; i++)
            if (length(piece[i]) >= length(line)) line = piece[i]
            else line = piece[i] substr(line, length(piece[i]) + 1)
        sub(/ +$/, "", line)
        print line
    }' "$dir/said"
}

columns_over() {
    python3 -c '
import re, sys, unicodedata
for line in open(sys.argv[2], encoding="utf-8"):
    line = re.sub("\033\\[[0-9]*m", "", line.rstrip("\n"))
    width = sum(0 if unicodedata.combining(c) else
                2 if unicodedata.east_asian_width(c) in "WF" else 1
                for c in line)
    if width > int(sys.argv[1]): print(width, line)' "$1" "$2"
}

# ---- progress

long=model.layers.17.a_tensor_whose_name_takes_more_room_than_a_line_has.weight
model "$long" "$dir/big.safetensors" 536870912
progress() {
    for columns in 80 132 44; do
        on_terminal "$columns" \
            "$modelfile hash --threads 1 --algo sha256 $dir/big.safetensors"
        tr '\r' '\n' <"$dir/said" | grep ' left' >"$dir/lines"
        [ -s "$dir/lines" ] || echo "$columns: no progress"
        columns_over $((columns - 1)) "$dir/lines"
        at_the_end | grep left
        at_the_end | grep -q "^sha256:[0-9a-f]*  $long\$" ||
            echo "$columns: no result"
    done
    grep -q 'model.layer.*…' "$dir/said" && echo "44 columns have no room"
    on_terminal 80 "$modelfile hash --algo sha256 $dir/big.safetensors"
    grep -q 'B/s .* left  model.layers.*….*weight' "$dir/said" ||
        echo "the tensor is not named"
}
quiet() {
    for options in "--quiet" "--progress never" "--progress auto --quiet"; do
        on_terminal 80 \
            "$modelfile hash $options --algo sha256 $dir/big.safetensors"
        grep -a ' left' "$dir/said"
    done
    on_terminal 80 \
        "$modelfile hash --quiet --progress always --algo sha256 $dir/big.safetensors"
    grep -q ' left' "$dir/said" || echo "--progress always shows none"
    grep 'peak heap' "$dir/said"
}
log() {
    "$modelfile" hash --algo sha256 --threads 1 --progress json --quiet \
        "$dir/big.safetensors" 2>"$dir/log" >/dev/null
    grep -q "^{\"done\":[0-9]*,\"total\":536870912,\"seconds\":[0-9.]*,\"tensor\":\"$long\",\"live_bytes\":[0-9]*,\"resident_bytes\":[0-9]*}\$" \
        "$dir/log" || cat "$dir/log"
    # What is live is at most the peak, and what is resident has it.
    peak=$("$modelfile" hash --algo sha256 --threads 1 --json --quiet \
        "$dir/big.safetensors" | tr -d ' \n' |
        sed 's/.*"peak_heap_bytes":\([0-9]*\).*/\1/')
    sed 's/.*"live_bytes":\([0-9]*\),"resident_bytes":\([0-9]*\)}/\1 \2/' \
        "$dir/log" | awk -v peak="$peak" \
        '$1 < 1000 || $1 > peak + 1000 || $2 < $1 || $2 > 1e9 { print peak, $0 }'
    "$modelfile" hash --algo sha256 --threads 1 "$dir/big.safetensors" \
        2>&1 >/dev/null | grep -v '^peak heap'
}
# Twice as many bytes are read as are written: the rate is for reading.
rate() {
    "$modelfile" convert "$dir/big.safetensors" "$dir/half.gguf" --type f16 \
        --progress json 2>"$dir/log" >/dev/null
    [ "$(tail -n 1 "$dir/log" | grep -c 'peak heap')" = 1 ] &&
        grep '^{' "$dir/log" | grep -v '"total":536870912,'
    rm -f "$dir/half.gguf"
}
if command -v python3 >/dev/null 2>&1; then
    check_empty "progress fits, names the tensor, and is gone at the end" \
        progress
else
    skip "progress fits" "python3 is not installed"
fi
check_empty "--quiet hides it unless it is asked for" quiet
check_empty "a log gets none, or JSON" log
check_empty "its bytes count the input" rate

# ---- tables

cd "$fixtures" || exit 1
wide=$(printf '\346\227\245\346\234\254\350\252\236e\314\201.weight')
model "$wide" "$dir/wide.safetensors" 4096
model "$long" "$dir/long.safetensors" 1099511627776
mkdir -p "$dir/deep"
cp good-split-0000?-of-00003.gguf "$dir/deep/"
"$modelfile" convert good-llama.gguf "$dir/texts.gguf" --quiet >"$dir/said" &&
    "$modelfile" meta set "$dir/texts.gguf" --quiet \
        "general.name=$(printf '\346\227\245%.0s' 1 2 3 4 5 6 7 8 9)$long" \
        'a.key.whose.name.is.not.short:string[]=\
one is a text of some length,and so is the other,and a third' >"$dir/said"
narrow() {
    for command in "tensors $dir/long.safetensors" \
        "tensors stats $dir/wide.safetensors" "tensors good-llama.gguf" \
        "tensors stats good-llama.gguf" "info good-llama.gguf" \
        "quantize good-llama.gguf $dir/o.gguf Q4_0 --report --allow-requantize --force" \
        "info $dir/long.safetensors" "validate --rules" \
        "meta good-llama.gguf" "meta good-strings.gguf" \
        "info $dir/deep/good-split-00001-of-00003.gguf" "meta $dir/texts.gguf" \
        "info $dir/texts.gguf" \
        "validate --explain TENSOR-OVERLAP" \
        "plan good-llama.gguf --fit 1G --devices 1G" "help plan" \
        "convert $dir/wide.safetensors $dir/o.apr --force --threads 1" \
        "help" "help quantize" "help convert" "help bench" "help validate"; do
        on_terminal 80 "$modelfile $command"
        columns_over 80 "$dir/said" | sed "s|^|$command: |"
    done
}
if command -v python3 >/dev/null 2>&1; then
    check_empty "tables, help and the closing line fit 80 columns" narrow
else
    skip "tables fit 80 columns" "python3 is not installed"
fi

whole() {
    "$modelfile" tensors "$dir/long.safetensors" 2>/dev/null |
        grep -q "^$long  f32   1024x268435456  *0x208  *1,099,511,627,776\$"
}
check "a pipe gets names whole" whole

# Columns are two spaces apart, wherever characters are wide or join.
aligned() {
    "$modelfile" tensors "$dir/wide.safetensors" 2>/dev/null >"$dir/table"
    [ "$(sed -n 1p "$dir/table")" = \
        "name            type  shape   offset  bytes" ] &&
        [ "$(sed -n 2p "$dir/table")" = \
            "$wide  f32   1024x1   0x208  4,096" ]
}
check "wide characters and marks are counted as they are shown" aligned

# ---- escapes

escapes() {
    esc=$(printf '\033')
    on_terminal 80 "TERM=xterm $modelfile info good-base.gguf"
    grep -q "$esc" "$dir/said" || echo "no colour on a terminal"
    for term in "TERM=dumb" "TERM=" "env -u TERM" "TERM=xterm NO_COLOR=1"; do
        for command in "info good-base.gguf" \
            "hash --algo sha256 --progress always $dir/big.safetensors"; do
            on_terminal 80 "$term $modelfile $command"
            grep "$esc" "$dir/said" | sed "s/^/$term: /"
        done
    done
    on_terminal 80 "TERM=dumb $modelfile hash --algo sha256 $dir/big.safetensors"
    grep ' left' "$dir/said"
}
# Errors are red and warnings yellow on a terminal, each stream by itself.
esc=$(printf '\033')
red=$(printf '\033[1;31m') yellow=$(printf '\033[1;33m') plain=$(printf '\033[0m')
severities() {
    on_terminal 100 "TERM=xterm $modelfile validate bad-overlap.gguf"
    grep -qF ": ${red}error$plain TENSOR-OVERLAP at " "$dir/said" ||
        echo "the word of a finding is not red"
    on_terminal 100 "TERM=xterm $modelfile validate bad-alignment-2m.gguf"
    grep -qF ": ${yellow}warning$plain GGUF-" "$dir/said" ||
        echo "the word of a warning is not yellow"
    on_terminal 100 "TERM=xterm $modelfile info bad-hf-json/model.safetensors"
    grep -qF "${yellow}modelfile:$plain bad-hf-json/" "$dir/said" ||
        echo "the name before a warning is not yellow"
    on_terminal 100 "TERM=xterm $modelfile info nothing.gguf"
    grep -qF "${red}modelfile:$plain nothing.gguf: " "$dir/said" ||
        echo "the name before an error is not red"
    on_terminal 100 "TERM=xterm $modelfile info --frob"
    grep -qF "${red}modelfile:$plain unknown option" "$dir/said" ||
        echo "the name before wrong usage is not red"
    on_terminal 100 "TERM=xterm $modelfile info --quiet nothing.gguf 2>$dir/err; cat $dir/err"
    grep -F "$red" "$dir/said"
    on_terminal 100 "TERM=xterm $modelfile info nothing.gguf >$dir/out"
    grep -qF "${red}modelfile:" "$dir/said" ||
        echo "standard output decides about standard error"
    for env in "TERM=dumb" "TERM=xterm NO_COLOR=1"; do
        on_terminal 100 "$env $modelfile validate bad-overlap.gguf nothing.gguf"
        grep "$esc" "$dir/said" | sed "s/^/$env: /"
    done
    on_terminal 100 "TERM=xterm $modelfile validate bad-overlap.gguf nothing.gguf --color never"
    grep "$esc" "$dir/said" | sed "s/^/never: /"
    "$modelfile" validate bad-overlap.gguf nothing.gguf --format sarif \
        --color always 2>/dev/null | grep "$esc"
}
check_empty "errors are red and warnings yellow on a terminal" severities
check_empty "a dumb terminal gets no escapes, and no automatic progress" escapes
finish
