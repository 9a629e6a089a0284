#!/bin/sh
# SPDX-License-Identifier: MIT
#
# examples.t - what the pages show is what the program prints
#
# Every "$ modelfile ..." of README.md and docs/*.md that names a file of
# fixtures/ is run; the closing line, which differs from machine to machine, is masked.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

mkdir "$dir/run"
cp -R fixtures "$dir/run/fixtures"
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
    ' "$page" >"$dir/examples"
    while read -r first last command; do
        sed -n "${first},${last}p" "$page" | sed '/^$/d' >"$dir/shown"
        case $command in
        "modelfile "*) ;;
        *) continue ;;
        esac
        if ! grep -q '^peak heap' "$dir/shown"; then
            command="$command --quiet"
        fi
        find "$dir/run" -maxdepth 1 -type f -exec rm {} +
        (cd "$dir/run" && eval "\"$modelfile\" ${command#modelfile }" 2>&1) |
            sed '/^$/d' >"$dir/said"
        for each in shown said; do
            sed 's/^peak heap .*/peak heap .../' "$dir/$each" >"$dir/$each.masked"
        done
        check "$page: $command" diff "$dir/shown.masked" "$dir/said.masked"
    done <"$dir/examples"
done
[ "$tap_count" -ge 4 ] || not_ok "there are examples"
finish
