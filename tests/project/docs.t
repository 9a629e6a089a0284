#!/bin/sh
# SPDX-License-Identifier: MIT
#
# docs.t - the pages fit together, fit a screen, and say what the program does
#
# UPDATE=1 tests/project/docs.t draws the terminal of README.md again.
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

pages="README.md CONTRIBUTING.md CHANGELOG.md fixtures/README.md docs/*.md"

# prose PAGE: "LINE: text" outside of code and printed output.
prose() {
    awk '/^ *```/ { code = !code; next }
        !code && !/^    / { print NR ": " $0 }' "$1"
}

# Characters, not bytes: without the later bytes of each.
too_wide() {
    for page in $pages; do
        prose "$page" | LC_ALL=C tr -d '\200-\277' |
            LC_ALL=C grep -avE '^[0-9]+: *\||\]\(' |
            awk -v page="$page" '{ text = $0; sub(/^[0-9]+: /, "", text) }
                length(text) > 100 { print page ":" $0 }'
    done
}
check_empty "prose is at most 100 columns wide" too_wide

# Words that docs/ARCHITECTURE.md's list of terms makes superfluous, or that
# say something else in English than their writers mean.
words=' is none| are none| is no [a-z]| anew| behind | beside | stands? | told '
odd_words() {
    for page in $pages; do
        prose "$page" | grep -iE "$words" |
            grep -viE "there is no |is no longer |stands? for " |
            sed "s|^|$page:|"
    done
}

check_empty "pages say it in plain English" odd_words

# Links to files of the repository, and to headings in them.
broken_links() {
    for page in $pages; do
        prose "$page" | grep -oE '\]\([^)]*\)' | sed 's/^](//; s/)$//' |
            grep -v '^[a-z]*:' | while read -r link; do
            path=${link%%#*} heading=${link#"${link%%#*}"}
            file=$page
            [ -z "$path" ] || file=$(dirname "$page")/$path
            [ -e "$file" ] || echo "$page: $link"
            [ -z "$heading" ] || sed -n 's/^##* //p' "$file" |
                tr 'A-Z ' 'a-z-' | tr -d ',.:`' | grep -qxF "${heading#\#}" ||
                echo "$page: $link"
        done
    done
}
check_empty "links lead somewhere" broken_links

# Files and names of the code that pages mention.
folders='lib|tests|cli|docs|fixtures|gguf|apr|safetensors'
endings='c|h|t|sh|def|awk|md|svg|mjs|tsv|txt'
gone() {
    grep -ohE "\b($folders)/[A-Za-z0-9_./-]+\.($endings)\b" $pages | sort -u |
        while read -r file; do
            [ -e "$file" ] || echo "$file"
        done
    # CHANGELOG.md also has names that are gone.
    grep -ohE '\b(mf|MF)_[A-Za-z0-9_]+' ${pages#*CHANGELOG.md} README.md | sort -u | while read -r name; do
        grep -rqw --include='*.[ch]' --include='*.def' "$name" \
            lib gguf apr safetensors || echo "$name"
    done
}
check_empty "files and names of the code that pages mention exist" gone

# What rows can say: their functions, steps and words.
unexplained() {
    {
        sed -En 's/^(FORM|FUNCTION)\(([A-Z]+, )?"([a-z_]+)".*/`\3(/p' \
            lib/arch/functions.def lib/hf/hub/functions.def
        sed -n 's/^STEP([A-Z0-9_]*, *"\([a-z0-9_]*\)".*/`\1/p' \
            lib/hf/hub/tensor_steps.def
        sed -E 's/(^| )#.*//' lib/families/*.txt lib/families/*/*.txt |
            awk '!more && /^ / && NF && $2 != "=" { print "`" $1 }
                { more = /\\$/ }'
    } | sort -u >"$dir/words"
    [ "$(wc -l <"$dir/words")" -ge 100 ] || echo "few words"
    # "`first(", "`if" and the like, as they begin code of the page.
    grep -oE '`[a-z_0-9]+[(?]?' docs/rows.md | sort -u | comm -13 - "$dir/words"
}
check_empty "docs/rows.md explains every word" unexplained

# ---- README.md

check "README.md has at most 100 lines" [ "$(wc -l <README.md)" -le 100 ]

# Its commands, "meta get" as "meta".
named_commands() {
    sed -n '/^## Commands/,/^## /p' README.md | grep '^| `' | cut -d '|' -f 2 |
        grep -oE '`[a-z]+( [a-z]+)?' | tr -d '`' | sort -u
}
known_commands() {
    "$modelfile" help --json --quiet | tr -d '\n' |
        grep -oE '"name": *"[a-z]+", *"sub_command": *(null|"[a-z]+")' |
        sed 's/"name": *"//; s/", *"sub_command": *null//; s/", *"sub_command": *"/ /; s/"$//' |
        sort -u
}
commands_differ() {
    named_commands >"$dir/named"
    known_commands >"$dir/known"
    [ -s "$dir/known" ] || echo "no commands"
    diff "$dir/named" "$dir/known"
}
check_empty "README.md lists the program's commands" commands_differ

# Its first example, with weights that are zero: they give the same table.
# Without the closing line, whose time differs.
first_example_differs() {
    sed -n '/^```$/,/^```$/p' README.md | sed '1d; /^```$/q' |
        sed '/^```$/d; /^peak heap /d' >"$dir/shown"
    command=$(sed -n 's/^\$ modelfile //p' "$dir/shown")
    mkdir "$dir/example" && cd "$dir/example" || return
    "$build/tests/hub_big" hollow "$(echo "$command" | awk '{ print $2 }')"
    {
        echo "\$ modelfile $command"
        # shellcheck disable=SC2086 # words without spaces in them
        "$modelfile" $command --quiet 2>&1
    } | diff "$dir/shown" -
    cd "$OLDPWD" && rm -r "$dir/example"
}
if [ -n "${QUICK:-}" ]; then
    skip "README.md's first example is what the program prints" \
        "make check does this"
else
    check_empty "README.md's first example is what the program prints" \
        first_example_differs
fi

options_missing() {
    "$modelfile" help --json --quiet | tr -d '\n' |
        grep -oE '"name": *"--[a-z-]+"' | sed 's/.*"--/--/; s/"$//' |
        sort -u >"$dir/options"
    [ -s "$dir/options" ] || echo "no options"
    while read -r option; do
        grep -qE -- "\`$option([ \`]|$)" docs/cli.md || echo "$option"
    done <"$dir/options"
}
check_empty "docs/cli.md has every option" options_missing

# tests/project/install.t compiles and runs the one in the header.
examples_differ() {
    sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >"$dir/readme.c"
    sed -n '/^ \*\//q; s/^ \*     //p; s/^ \*$//p' lib/modelfile.h |
        sed -n '/^#include/,/^}/p' >"$dir/header.c"
    [ -s "$dir/header.c" ] || echo "no example"
    diff "$dir/readme.c" "$dir/header.c"
}
check_empty "its example matches modelfile.h" examples_differ

# ---- docs/ARCHITECTURE.md

# lines FOLDER...: how many lines of code and tables they have.
lines() {
    find "$@" -name '*.[ch]' -o -name '*.def' -o -name '*.txt' |
        LC_ALL=C sort | xargs cat | wc -l
}

# The table of parts has each folder of the library, and shares that are right
# to three hundredths.
shares_differ() {
    sed -n '/^| part /,/^$/s/^| [^|]* | \(`[^|]*\) | \([0-9]*\) % |$/\2 \1/p' \
        docs/ARCHITECTURE.md | tr -d '`' >"$dir/parts"
    cut -d ' ' -f 2- "$dir/parts" | tr ' ' '\n' | sort >"$dir/named"
    find lib -mindepth 1 -maxdepth 1 -type d | sort >"$dir/rooms"
    grep '^lib/' "$dir/named" | diff - "$dir/rooms"
    # shellcheck disable=SC2046 # no name has a space
    all=$(lines $(cat "$dir/named"))
    while read -r share folders; do
        # shellcheck disable=SC2086 # folders, separated by spaces
        now=$((100 * $(lines $folders) / all))
        [ $((now - share)) -le 3 ] && [ $((share - now)) -le 3 ] ||
            echo "$folders: $now %, not $share %"
    done <"$dir/parts"
}
check_empty "docs/ARCHITECTURE.md says how large each part is" shares_differ

# ---- pictures

# Without closing lines, whose times and heap differ.
masked() {
    sed 's/peak heap .*/peak heap/' "$1"
}
terminal_differs() {
    MODELFILE=$modelfile sh docs/terminal.sh >"$dir/terminal.svg"
    masked "$dir/terminal.svg" >"$dir/drawn"
    masked docs/terminal.svg >"$dir/committed"
    diff "$dir/committed" "$dir/drawn" && return
    [ -n "${UPDATE:-}" ] || echo "run: UPDATE=1 sh tests/project/docs.t"
    [ -z "${UPDATE:-}" ] || cp "$dir/terminal.svg" docs/terminal.svg
}
check_empty "docs/terminal.svg shows what the program prints" terminal_differs

# Without the table of speeds, which differ.
quantization_differs() {
    for name in quantization.md quantization.svg; do
        cp "docs/$name" "$dir/$name"
    done
    MODELFILE=$modelfile sh docs/quantization.sh "$dir/quantization.md" \
        "$dir/quantization.svg"
    for name in quantization.md quantization.svg; do
        diff "docs/$name" "$dir/$name" && continue
        [ -n "${UPDATE:-}" ] || echo "run: UPDATE=1 sh tests/project/docs.t"
        [ -z "${UPDATE:-}" ] || cp "$dir/$name" "docs/$name"
    done
}
if [ -n "${QUICK:-}" ]; then
    skip "docs/quantization.md has the errors and sizes of today" \
        "make check does this"
else
    check_empty "docs/quantization.md has the errors and sizes of today" \
        quantization_differs
fi

# What a forge shows as an image may load nothing and run nothing.
not_alone() {
    for picture in docs/*.svg; do
        grep -nE '<script|<foreignObject|href=|url\(|@import|<image' "$picture" |
            sed "s|^|$picture:|"
    done
}
check_empty "pictures load and run nothing" not_alone
check_empty "screenshots have at most 120 KB" find docs -name '*.png' -size +120000c
if command -v xmllint >/dev/null 2>&1; then
    check "pictures are well-formed" xmllint --noout docs/*.svg
else
    skip "pictures are well-formed" "no xmllint"
fi
finish
