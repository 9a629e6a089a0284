# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # build: of lib-run.sh
#
# lib-stop.sh - stopping the program in a call of a known number
#
#     . tests/lib-run.sh
#     . tests/lib-stop.sh
#
# The files are in the current folder: what the program printed is in printed
# and said.

endless=$build/modelfile-endless
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

# gets_there: the child is in its call; false if it ended before.
gets_there() {
    for _ in $(seq 3000); do
        ! grep -q '^endless' said || return 0
        kill -0 "$child" 2>/dev/null || return 1
        sleep 0.01
    done
    kill -KILL "$child"
    return 1
}

# stop SIGNAL WHERE ARGUMENT...: in that read, write or sync, as WRITE=700
# (tests/programs/endless.c).  The exit code is in $code.
stop() {
    signal=$1
    where=$2
    shift 2
    : >said
    env "ENDLESS_$where" "$endless" "$@" >printed 2>said &
    child=$!
    if gets_there; then
        kill -"$signal" "$child"
    fi
    wait "$child" 2>/dev/null
    code=$?
}

# tampered WORDS COMMAND...: what the script's restore puts there is refused,
# after that command, as its refused has it.
tampered() {
    words=$1
    shift
    restore
    "$@" >said 2>&1 && refused "$words"
}

# Ways to spoil the file $1.
flip() { # FILE PLACE
    printf '\377\377\377' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
cut_to() { # FILE SIZE
    truncate -s "$2" "$1"
}
relink() {
    mv "$1" elsewhere && ln -s "$dir/elsewhere" "$1"
}
hard() {
    ln -f "$1" other-name
}
pipe() {
    rm "$1" && mkfifo "$1"
}
