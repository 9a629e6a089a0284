#!/bin/sh
# SPDX-License-Identifier: MIT
#
# quantization.sh - fills in the tables and the picture of docs/quantization.md
#
#     sh docs/quantization.sh [PAGE PICTURE]
#     SPEED=1 sh docs/quantization.sh
#
# Errors and sizes are the same on any machine, and tests/project/docs.t compares them.
# Speeds are measured only with SPEED=1, on an idle machine.
set -eu

page=${1:-docs/quantization.md}
picture=${2:-docs/quantization.svg}
build=${BUILD:-build}
modelfile=$(realpath "${MODELFILE:-$build/modelfile}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-quantization.XXXXXX")
trap 'rm -rf "$dir"' EXIT
LC_ALL=C
export LC_ALL

# ---- types

"$build/tests/sample" types >"$dir/types.csv"
awk -F, '
    BEGIN {
        print "| type | bits | RMSE | cosine | weighted" \
              " | RMSE, matrix | cosine, matrix | weighted, matrix |"
        print "|---|---|---|---|---|---|---|---|"
    }
    NR > 1 {
        printf "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n",
               $1, $2, $3, $4, $5, $6, $7, $8
    }' "$dir/types.csv" >"$dir/types"

# ---- mixes

# Each tensor of a model with the shapes of Llama 3.1 8B in a mix: MIX MATRIX
# NAME TYPE BYTES PARAMETERS.
"$build/tests/big" 8b "$dir/8b.gguf" >/dev/null
tensors_of() { # MIX MATRIX
    "$modelfile" quantize --dry-run --json --quiet "$dir/8b.gguf" \
        "$dir/no.gguf" "$1" 2>/dev/null |
        sed 's/.*"tensors":\[//; s/},{/}\n{/g' |
        sed -n 's/.*"name":"\([^"]*\)","shape":\[\([0-9,]*\)\].*"type":"\([^"]*\)","bytes":\([0-9]*\).*/\1 \3 \4 \2/p' |
        awk -v mix="$1" -v matrix="$2" '{
            parameters = 1
            count = split($4, dim, ",")
            for (i = 1; i <= count; i++)
                parameters *= dim[i]
            print mix, matrix, $1, $2, $3, parameters
        }'
}
"$build/tests/sample" mixes | tail -n +2 >"$dir/mixes.csv"
while IFS=, read -r mix type matrix; do
    [ -z "$type" ] || tensors_of "$mix" "${matrix:--}"
done <"$dir/mixes.csv" >"$dir/tensors"

# Bits per weight, the error of its types by the share of weights that have
# them, and what gets another type than most tensors.
awk '
    FNR == 1 { file++ }
    file == 1 {
        split($0, field, ",")
        error[field[1]] = field[5]
        weighed[field[1]] = field[8]
        next
    }
    file == 2 {
        split($0, field, ",")
        base[field[1]] = field[2]
        next
    }
    function square(value) { return value * value }
    function finish() {
        if (mix == "")
            return
        printf "%.4f %s %.2f %s %s %s", 8 * bytes / parameters, mix,
               bytes / 1073741824, matrix,
               (complete ? sprintf("%.4f", sqrt(plain / parameters)) : "-"),
               sprintf("%.4f", sqrt(with / parameters))
        if (others == tensors) {
            print " all:" got[1] ":1:1"
            return
        }
        for (i = 1; i <= kinds; i++)
            printf " %s:%s:%d:%d", kind[i], got[i], some[i], all[part[i]]
        print ""
    }
    $1 != mix {
        finish()
        mix = $1; matrix = $2
        bytes = parameters = plain = with = kinds = tensors = others = 0
        complete = matrix != "needed"
        delete place
        delete all
    }
    {
        bytes += $5
        parameters += $6
        if ($4 == "f32")
            next
        if (error[$4] == "")
            complete = 0
        plain += $6 * square(error[$4])
        # A matrix has no entry for these two.
        name = $3
        sub(/\.weight$/, "", name)
        if (name ~ /^(token_embd|output)$/)
            with += $6 * square(error[$4])
        else
            with += $6 * square(weighed[$4])
        sub(/^blk\.[0-9]+\./, "", name)
        all[name]++
        tensors++
        if ($4 == base[mix])
            next
        others++
        if (!((name, $4) in place)) {
            place[name, $4] = ++kinds
            kind[kinds] = part[kinds] = name
            got[kinds] = $4
            some[kinds] = 0
        }
        some[place[name, $4]]++
    }
    END { finish() }' "$dir/types.csv" "$dir/mixes.csv" "$dir/tensors" |
    sort -n >"$dir/sums"

awk '
    BEGIN {
        print "| mix | bits per weight | GiB | error | error, matrix" \
              " | most tensors apart |"
        print "|---|---|---|---|---|---|"
    }
    {
        printf "| `%s` | %.2f | %s | %s | %s |", $2, $1, $3,
               $5 == "-" ? "needs a matrix" : $5, $6
        for (i = 7; i <= NF; i++) {
            split($i, item, ":")
            printf "%s %s `%s`", (i > 7 ? "," : ""), item[1], item[2]
            if (item[3] < item[4])
                printf " (%d of %d)", item[3], item[4]
        }
        print " |"
    }' "$dir/sums" >"$dir/mixes"

# ---- speed

if [ -n "${SPEED:-}" ]; then
    tail -n +2 "$dir/types.csv" | cut -d, -f1 | while read -r type; do
        "$modelfile" bench --threads 1 --type "$type" --size 4MiB --rounds 3 \
            --csv --quiet
    done | awk -F, '
        BEGIN {
            print "| type | encode | with a matrix | decode |"
            print "|---|---|---|---|"
        }
        function shown(value) { return value ? sprintf("%.3g", value) : "" }
        # Rows of an instruction set follow those of the one before it.
        $2 != "" && $1 ~ /^(encode|encode_weighted|decode)$/ && $4 == "" {
            if (!($2 in at)) {
                at[$2] = ++count
                name[count] = $2
            }
            speed[$1, $2] = $10
        }
        END {
            for (i = 1; i <= count; i++)
                printf "| `%s` | %s | %s | %s |\n", name[i],
                       shown(speed["encode", name[i]]),
                       shown(speed["encode_weighted", name[i]]),
                       shown(speed["decode", name[i]])
        }' >"$dir/speed"
fi

# ---- the page: what lies between <!-- NAME --> and <!-- end --> is replaced

awk -v dir="$dir" '
    /^<!-- end -->$/ { skipping = 0 }
    !skipping { print }
    /^<!-- (types|mixes|speed) -->$/ {
        file = dir "/" $2
        if ((getline line <file) > 0) {
            skipping = 1
            do print line; while ((getline line <file) > 0)
        }
    }' "$page" >"$dir/page"
cat "$dir/page" >"$page"

# ---- the picture: a mark for each mix, its name where there is room

awk '
    BEGIN {
        width = 760; height = 660
        left = 64; right = width - 24; top = 52; bottom = height - 48
        bits_from = 1.4; bits_to = 9; error_from = 0.005; error_to = 1
        print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" width \
              "\" height=\"" height "\" viewBox=\"0 0 " width " " height \
              "\" role=\"img\" font-family=\"sans-serif\" font-size=\"11\">"
        print "<!-- Made by docs/quantization.sh. -->"
        print "<title>Error of each mix against its bits per weight</title>"
        print "<style>"
        print "svg { background: #fff } text { fill: #222 }"
        print ".head { font-size: 14px; font-weight: bold }"
        print "line { stroke: #ccc }"
        print ".k { fill: #1f6fb2 } .iq { fill: #b5541c } .old { fill: #666 }"
        print "@media (prefers-color-scheme: dark) {"
        print "svg { background: #161616 } text { fill: #ddd }"
        print "line { stroke: #444 }"
        print ".k { fill: #6db3f2 } .iq { fill: #f2a26d } .old { fill: #aaa }"
        print "}"
        print "</style>"
        printf "<text class=\"head\" x=\"%d\" y=\"20\">Weighted error of each" \
               " mix, with a matrix</text>\n", left
        lines()
        key(left, "k", "K mixes")
        key(left + 90, "iq", "IQ mixes")
        key(left + 180, "old", "others")
    }
    function x_of(bits) {
        return left + (right - left) * log(bits / bits_from) / \
               log(bits_to / bits_from)
    }
    function y_of(error) {
        return bottom - (bottom - top) * log(error / error_from) / \
               log(error_to / error_from)
    }
    function text(x, y, anchor, what) {
        printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
               x, y, anchor, what
    }
    function line(x1, y1, x2, y2) {
        printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
               x1, y1, x2, y2
    }
    function lines(    i, count, tick) {
        count = split("2 3 4 5 6 7 8", tick, " ")
        for (i = 1; i <= count; i++) {
            line(x_of(tick[i]), top, x_of(tick[i]), bottom)
            text(x_of(tick[i]), bottom + 16, "middle", tick[i])
        }
        count = split("0.005 0.01 0.02 0.05 0.1 0.2 0.5 1", tick, " ")
        for (i = 1; i <= count; i++) {
            line(left, y_of(tick[i]), right, y_of(tick[i]))
            text(left - 6, y_of(tick[i]) + 4, "end", tick[i])
        }
        text((left + right) / 2, bottom + 36, "middle",
             "bits per weight of Llama 3.1 8B")
    }
    # A circle, a square, and a square on its corner.
    function mark(x, y, family) {
        if (family == "k")
            printf "<circle class=\"k\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n",
                   x, y
        else
            printf "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"7\"" \
                   " height=\"7\" transform=\"rotate(%d %.1f %.1f)\"/>\n",
                   family, x - 3.5, y - 3.5, (family == "iq" ? 0 : 45), x, y
    }
    function key(x, family, what) {
        mark(x + 4, 36, family)
        text(x + 14, 40, "start", what)
    }
    # Whether the box is free; low is above high on the screen.
    function is_free(x1, y1, x2, y2,    i) {
        if (x1 < left || x2 > right + 20 || y1 < top || y2 > bottom)
            return 0
        for (i = 1; i <= boxes; i++)
            if (x1 < box_x2[i] && box_x1[i] < x2 && y1 < box_y2[i] &&
                box_y1[i] < y2)
                return 0
        return 1
    }
    function take(x1, y1, x2, y2) {
        boxes++
        box_x1[boxes] = x1; box_y1[boxes] = y1
        box_x2[boxes] = x2; box_y2[boxes] = y2
    }
    function name_at(x, y, what,    size, i, from, below) {
        size = 7.2 * length(what)
        for (i = 0; i < 16; i++) {
            below = y + 4 + int(i / 4) * 13 * (i % 2 ? -1 : 1)
            from = i % 4 < 2 ? x + 7 : x - 7 - size
            if (is_free(from, below - 9, from + size, below + 1)) {
                take(from, below - 9, from + size, below + 1)
                text(from, below, "start", what)
                if (i > 3)
                    line(x, y, (i % 4 < 2 ? from : from + size), below - 3)
                return
            }
        }
        text(x + 7, y + 4, "start", what)
    }
    $1 >= bits_from && $1 <= bits_to && $6 >= error_from && $6 <= error_to {
        count++
        x[count] = x_of($1); y[count] = y_of($6); name[count] = $2
        take(x[count] - 5, y[count] - 5, x[count] + 5, y[count] + 5)
        family = $2 ~ /_K/ ? "k" : "old"
        mark(x[count], y[count], ($2 ~ /^IQ/ ? "iq" : family))
    }
    END {
        for (i = 1; i <= count; i++)
            name_at(x[i], y[i], name[i])
        print "</svg>"
    }' "$dir/sums" >"$dir/picture"
cat "$dir/picture" >"$picture"
