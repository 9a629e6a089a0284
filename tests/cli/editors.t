#!/bin/sh
# SPDX-License-Identifier: MIT
#
# editors.t - several that edit one file at the same time
#
# ROUNDS (40) of each; 1000 take some minutes.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

rounds=${ROUNDS:-40}
mkdir "$dir/m"
model=$dir/m/m.gguf

"$modelfile" convert --quiet fixtures/good-llama.gguf "$dir/base.gguf" \
    >/dev/null
"$modelfile" meta set --quiet --reserve 4k "$dir/base.gguf" \
    general.name=base a.one=0 a.two=0 a.three=0 >/dev/null
# As large, with other tensors and another name.
cp "$dir/base.gguf" "$dir/other.gguf"
"$modelfile" meta set --quiet "$dir/other.gguf" general.name=tuned >/dev/null
size=$(stat -c %s "$dir/other.gguf")
printf 'other' | dd of="$dir/other.gguf" bs=1 seek=$((size - 64)) \
    conv=notrunc 2>/dev/null

value() {
    "$modelfile" meta get --quiet --full "$model" "$1" 2>/dev/null
}

alone() {
    [ "$(ls -A "$dir/m")" = m.gguf ] && return
    ls -A "$dir/m"
    return 1
}

sound() {
    "$modelfile" validate --quiet --strict --data "$model" >"$dir/out" && alone
}

data_of() {
    "$modelfile" hash --quiet "$1" | grep '^xxh3:'
}

# ---- four at once

# writer NUMBER KEY=VALUE: notes its exit code.
writer() {
    "$modelfile" meta set --quiet "$model" "$2" >"$dir/said.$1" 2>&1
    echo $? >"$dir/code.$1"
}

# held NUMBER KEY VALUE OLD: what that writer's code says.
held() {
    code=$(cat "$dir/code.$1")
    found=$(value "$2")
    case $code in
    0) [ "$found" = "$3" ] && return ;;
    4) refused=$((refused + 1)) && [ "$found" = "$4" ] && return ;;
    esac
    echo "round $round: writer $1 ended with $code, $2 is '$found'"
    cat "$dir/said.$1"
    return 1
}

four() {
    refused=0 long=
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        long=${long}$(printf '%500s' x | tr ' ' y)
    done
    cp "$dir/base.gguf" "$model"
    last=0 last_three=0
    for round in $(seq "$rounds"); do
        three=$round
        # That does not fit: the file is rewritten.
        [ $((round % 3)) -ne 0 ] || three=$round$long
        writer 1 "a.one=$round" &
        writer 2 "a.two=$round" &
        writer 3 "a.three:string=$three" &
        writer 4 "general.name=round $round" &
        wait
        before="round $last" before_refused=$refused
        [ $last -gt 0 ] || before=base
        held 1 a.one "$round" $last && held 2 a.two "$round" $last &&
            held 3 a.three "$three" "$last_three" &&
            held 4 general.name "round $round" "$before" && sound || return
        last=$round last_three=$three
        # Not all are of this round, or the file has grown long enough.
        if [ $refused -gt $before_refused ] || [ $((round % 30)) -eq 0 ]; then
            cp "$dir/base.gguf" "$model"
            last=0 last_three=0
        fi
    done
    echo "$rounds rounds, $refused of $((4 * rounds)) refused" >"$dir/counts"
}
check "four writers at once: each edit is there, or was refused" four
[ ! -f "$dir/counts" ] || note <"$dir/counts"
rm -f "$dir"/m/*

# ---- a file that comes in between

# The last name belongs to the other file, with the edit or without it.
renamed() {
    made=0 refused=0 gone=0
    other=$(data_of "$dir/other.gguf")
    for round in $(seq "$rounds"); do
        cp "$dir/base.gguf" "$model"
        cp "$dir/other.gguf" "$dir/new.gguf"
        edit=a.one=$round
        [ $((round % 2)) -eq 0 ] || edit=a.text:string=$(printf '%9000s' "$round")
        writer 1 "$edit" &
        sleep "0.0$(printf %02d $((round % 20)))"
        mv "$dir/new.gguf" "$model"
        wait
        code=$(cat "$dir/code.1")
        there=
        [ "$(value a.one)" = 0 ] && [ -z "$(value a.text)" ] || there=yes
        sound && [ "$(value general.name)" = tuned ] &&
            [ "$(data_of "$model")" = "$other" ] || {
            echo "round $round: another file; exit code $code"
            return 1
        }
        case $code$there in
        0yes) made=$((made + 1)) ;;
        0) gone=$((gone + 1)) ;; # the other one came after it
        4) refused=$((refused + 1)) ;;
        *)
            echo "round $round: exit code $code, edit there: ${there:-no}"
            cat "$dir/said.1"
            return 1
            ;;
        esac
    done
    echo "$rounds rounds: made in the new file $made, in the old $gone," \
        "refused $refused" >"$dir/counts"
}
check "a writer and a rename: the new file, whole, with the edit or without" \
    renamed
note <"$dir/counts"
rm -f "$dir"/m/*

finish
