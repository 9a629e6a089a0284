#!/bin/sh
# SPDX-License-Identifier: MIT
#
# examples.t - what the pages show is what the program prints
#
# Every "$ COMMAND" of README.md and docs/*.md that names a file of fixtures/ is
# run, on copies.  A line "..." in a page is any number of lines; the closing
# line, which differs from machine to machine, is masked.  UPDATE=1
# tests/project/examples.t writes into the pages what the program prints now.
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

mkdir "$dir/run" "$dir/bin"
cp -R fixtures "$dir/run/fixtures"
ln -s "$modelfile" "$dir/bin/modelfile"
PATH=$dir/bin:$PATH

# like SHOWN SAID: SAID, with the lines that "..." in SHOWN leaves out as "...".
like() {
    before=$(sed -n '/^\.\.\.$/=' "$1" | head -n 1)
    if [ -n "$before" ]; then
        head -n "$((before - 1))" "$2"
        echo ...
        tail -n "$(($(wc -l <"$1") - before))" "$2"
    else
        cat "$2"
    fi
}

for page in README.md docs/*.md; do
    # A line each: where the output begins and ends in the page, and the command.
    awk '
        function close_example() {
            if (command != "" && command ~ / fixtures\//)
                print first, NR - 1, command
            command = ""
        }
        /^```/ { close_example(); inside = !inside; next }
        /^\$ / { close_example(); command = substr($0, 3); first = NR + 1 }
    ' "$page" | sort -rn >"$dir/examples" # from the end, for UPDATE
    while read -r first last command; do
        sed -n "${first},${last}p" "$page" | sed '/^$/d' >"$dir/shown"
        if ! grep -q '^peak heap' "$dir/shown"; then
            command="$command --quiet"
        fi
        find "$dir/run" -maxdepth 1 -type f -exec rm {} +
        (cd "$dir/run" && eval "$command" 2>&1) | sed '/^$/d' >"$dir/said"
        case $command in # for the next one, files as they were
        *"meta set "* | *"meta unset "*) cp -R fixtures "$dir/run/" ;;
        esac
        like "$dir/shown" "$dir/said" >"$dir/now"
        if [ -n "${UPDATE:-}" ]; then
            { head -n "$((first - 1))" "$page"; cat "$dir/now"
                tail -n "+$((last + 1))" "$page"; } >"$dir/page"
            cat "$dir/page" >"$page"
        fi
        for each in shown now; do
            sed 's/^peak heap .*/peak heap .../' "$dir/$each" >"$dir/$each.masked"
        done
        check "$page: $command" diff "$dir/shown.masked" "$dir/now.masked"
    done <"$dir/examples"
done
[ "$tap_count" -ge 8 ] || not_ok "there are examples"
finish
