#!/bin/sh
# SPDX-License-Identifier: MIT
#
# terminal.sh - draws the terminal of README.md, docs/terminal.svg
#
#     sh docs/terminal.sh >docs/terminal.svg
#
# The picture is made from what the program prints today: tests/project/docs.t compares
# them, except for closing lines, whose figures differ from run to run.
set -eu

modelfile=$(realpath "${MODELFILE:-${BUILD:-build}/modelfile}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-terminal.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cp fixtures/good-llama.gguf fixtures/bad-overlap.gguf \
    fixtures/llama/llama-wide.gguf "$dir"
cd "$dir"

session() {
    for command in \
        "info good-llama.gguf" \
        "validate bad-overlap.gguf" \
        "quantize llama-wide.gguf llama-q4.gguf Q4_K_M --report"; do
        echo "\$ modelfile $command"
        # shellcheck disable=SC2086 # words without spaces in them
        "$modelfile" $command --color always 2>&1 || true
        echo
    done
}

session | sed '$d' | LC_ALL=C awk '
    # Text for SVG, with what escape sequences mark in elements of its own.
    function marked(line) {
        gsub(/&/, "\\&amp;", line)
        gsub(/</, "\\&lt;", line)
        gsub(/\033\[1m/, "<tspan class=\"bold\">", line)
        gsub(/\033\[1;31m/, "<tspan class=\"error\">", line)
        gsub(/\033\[1;33m/, "<tspan class=\"warning\">", line)
        gsub(/\033\[0m/, "</tspan>", line)
        return line
    }
    {
        plain = $0
        gsub(/\033\[[0-9;]*m/, "", plain)
        if (length(plain) > columns) columns = length(plain)
        if (/^\$ /)
            line[NR] = "<tspan class=\"prompt\">$</tspan>" \
                "<tspan class=\"bold\">" marked(substr($0, 2)) "</tspan>"
        else if (/^peak heap /)
            line[NR] = "<tspan class=\"dim\">" marked($0) "</tspan>"
        else
            line[NR] = marked($0)
    }
    END {
        size = 13; pitch = 18; bar = 32; edge = 16
        # Fonts of one width are 0.6 of their size wide, a few a little more.
        width = int(columns * size * 0.61) + 2 * edge
        height = bar + NR * pitch + edge
        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" " \
            "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n", \
            width, height, width, height
        print "<title>A terminal: modelfile info, validate and quantize</title>"
        print "<!-- Made by docs/terminal.sh. -->"
        print "<style>"
        print "text { font: " size "px ui-monospace, Menlo, Consolas, " \
            "\"DejaVu Sans Mono\", monospace; fill: #d1d7e0; " \
            "white-space: pre; }"
        print ".bold { font-weight: bold; fill: #ffffff; }"
        print ".error { font-weight: bold; fill: #f47067; }"
        print ".warning { font-weight: bold; fill: #daaa3f; }"
        print ".prompt { fill: #6bc46d; }"
        print ".dim { fill: #9198a1; }"
        print "</style>"
        printf "<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" " \
            "rx=\"8\" fill=\"#1c2128\" stroke=\"#656c76\"/>\n", \
            width - 1, height - 1
        for (i = 0; i < 3; i++)
            printf "<circle cx=\"%d\" cy=\"16\" r=\"5\" fill=\"#656c76\"/>\n", \
                18 + i * 18
        for (i = 1; i <= NR; i++)
            if (line[i] != "")
                printf "<text x=\"%d\" y=\"%d\" xml:space=\"preserve\">" \
                    "%s</text>\n", edge, bar + i * pitch - 4, line[i]
        print "</svg>"
    }'
