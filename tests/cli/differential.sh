#!/bin/sh
# SPDX-License-Identifier: MIT
#
# differential.sh - what llama.cpp and validate say about faulty models
#
#     LLAMA_JUDGE=PROGRAM sh tests/cli/differential.sh MODEL...
#
# Makes faulty copies of each good model (tests/programs/faulty.c) and prints a line for
# each: the model, what is wrong (place, name, fault), what the judge says, the
# first error of validate or "-", and the judge's reason.  The first line is
# about the good model itself.
#
# The judge is a program that is given a path and exits with 0 if the model
# runs.  If it prints "PATH<TAB>ok" or "PATH<TAB>VERDICT<TAB>REASON", it is
# given many paths at once.
#
#     FAULTS=200   of each model, chosen by SEED=1; 0: all
#     JOBS=2       judges at a time, if each is given one path
set -u

modelfile=${MODELFILE:-${BUILD:-build}/modelfile}
faulty=${BUILD:-build}/tests/faulty
tab=$(printf '\t')
top=$(pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-differential.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

absolute() {
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s\n' "$top/$1" ;;
    esac
}

# Prints FILE, ok or not, reason, for the files listed on standard input.
judged() {
    if [ -n "$many" ]; then
        xargs -n 500 nice "$LLAMA_JUDGE" 2>/dev/null
        return
    fi
    # shellcheck disable=SC2016 # for the inner shell
    xargs -n 1 -P "${JOBS:-2}" sh -c '
        if nice "$0" "$1" >"$1.said" 2>&1; then
            printf "%s\tok\t\n" "$1"
        else
            printf "%s\trefused\t%s\n" "$1" "$(tail -n 1 "$1.said")"
        fi' "$LLAMA_JUDGE"
}

# FILE and the id of its first error, or "-".
validated() {
    xargs -n 500 "$modelfile" validate --quiet --one-file 2>&1 |
        awk -F': ' '
            / errors?, [0-9]+ warnings?/ && !($1 in rule) { rule[$1] = "-" }
            $2 ~ /^error/ && rule[$1] !~ /[A-Z]/ {
                split($2, word, " ")
                rule[$1] = word[2] ? word[2] : "refused"
            }
            END { for (file in rule) print file "\t" rule[file] }'
}

modelfile=$(absolute "$modelfile")
faulty=$(absolute "$faulty")
many=
if [ -n "$(nice "$LLAMA_JUDGE" "$1" 2>/dev/null | grep "^$1${tab}")" ]; then
    many=yes
fi
for model; do
    name=$(basename "$model" .gguf)
    model=$(absolute "$model")
    mkdir -p "$dir/copies"
    cd "$dir/copies" || exit 1
    if [ "${FAULTS:-200}" -eq 0 ]; then
        "$faulty" "$model" .
    else
        "$faulty" "$model" . "${SEED:-1}" "${FAULTS:-200}"
    fi >"$dir/made" || exit 1
    cp --sparse=always "$model" good.gguf
    printf 'good.gguf\tmodel\t-\tgood\n' | cat - "$dir/made" >"$dir/all"
    cut -f 1 "$dir/all" | judged | sort >"$dir/judged"
    cut -f 1 "$dir/all" | validated | sort >"$dir/validated"
    awk -F "$tab" -v OFS="$tab" -v model="$name" \
        -v judged="$dir/judged" -v validated="$dir/validated" '
        BEGIN {
            while ((getline <judged) > 0) {
                says[$1] = $2
                why[$1] = $3
            }
            while ((getline <validated) > 0) rule[$1] = $2
        }
        {
            print model, $2, $3, $4, ($1 in says ? says[$1] : "?"),
                ($1 in rule ? rule[$1] : "?"), why[$1]
        }' "$dir/all"
    cd "$top" || exit 1
    rm -rf "$dir/copies"
done
