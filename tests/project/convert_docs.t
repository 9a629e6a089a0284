#!/bin/sh
# SPDX-License-Identifier: MIT
#
# convert_docs.t - the tables of docs/convert.md match the program
#
# Each follows "<!-- FILE -->"; `UPDATE=1 tests/project/convert_docs.t` rewrites them.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

page=docs/convert.md

# fields FILE MACRO...: the arguments of the file's rows of these macros, a row
# a line, between tabs, without quotes.
fields() {
    file=$1
    shift
    for macro; do
        sed -n "s/^$macro(\\(.*\\))\$/\\1/p" "$file"
    done | sed 's/, */	/g; s/"//g; s/	*$//'
}

# Keys that GGUF and APR both have.
carry_table() {
    echo "| GGUF | type | APR |"
    echo "|---|---|---|"
    {
        fields lib/draft/carry.def KEY | sed 's/$/	/'
        fields lib/draft/carry.def ARRAY | sed 's/$/	[]/'
    } | awk -F '\t' '{
        print "| `" $1 "` | " tolower($3) $4 " | `" $2 "` |"
    }'
}

# The table that follows a mark of the page.
on_page() {
    awk -v mark="<!-- $1 -->" '
        $0 == mark { inside = 1; next }
        inside && !/^\|/ { exit }
        inside' "$page"
}

# same MARK TABLE: or, with UPDATE, made the same.
same() {
    "$2" >"$dir/table"
    if [ -n "${UPDATE:-}" ]; then
        awk -v mark="<!-- $1 -->" -v table="$dir/table" '
            inside && /^\|/ { next }
            { inside = 0; print }
            $0 == mark {
                inside = 1
                while ((getline line <table) > 0) print line
            }' "$page" >"$dir/page"
        cp "$dir/page" "$page"
    fi
    [ "$(wc -l <"$dir/table")" -gt 4 ] || echo "no rows"
    on_page "$1" | diff - "$dir/table"
}

check_empty "keys of GGUF and APR" same "lib/draft/carry.def" carry_table
finish
