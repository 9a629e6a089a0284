#!/bin/sh
# SPDX-License-Identifier: MIT
#
# embed.t - the programs of examples/ compile, run and end well
#
# Each is at most 40 lines, is C11 and C++17 at once, says what the program says
# or what is in the file, and whatever allocation is refused ends in an error,
# without a leak.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

cc=${CC:-cc}
cxx=${CXX:-c++}
libs=${LIBS:--lz -lgomp -lpthread -lm -ldl}
model=$fixtures/good-llama.gguf
flags="-Wall -Wextra -Wpedantic -Werror -Ilib -Wl,--gc-sections"
programs=$(cd examples && echo *.c)
checked=${SAN:+-fsanitize=address,undefined}

long_ones() {
    wc -l examples/*.c* lib/modelfile.hpp | awk '
        $2 ~ /^examples/ && $1 > 40 || /modelfile.hpp/ && $1 > 300'
}
check_empty "an example has at most 40 lines, modelfile.hpp 300" long_ones

# ---- they compile ----

compile_c() { # PROGRAM OUT FLAG...
    source=$1 out=$2
    shift 2
    # shellcheck disable=SC2086 # flags are words
    $cc -std=c11 -D_POSIX_C_SOURCE=200809L $flags $checked "$@" \
        "examples/$source" "$build/libmodelfile.a" $libs -o "$dir/$out"
}
for program in $programs; do
    check "$program is C11" compile_c "$program" "${program%.c}"
done

# A language that has no designated initializers, which its compilers know.
compile_cxx() {
    # shellcheck disable=SC2086
    $cxx -std=c++17 -x c++ -Wall -Wextra -Werror \
        -Wno-missing-field-initializers -Wno-c++20-designator -Ilib \
        "examples/$1" -c -o "$dir/object.o"
}
cxx_runs() {
    echo '#include <optional>' | $cxx -std=c++17 -x c++ -c - -o "$dir/object.o" \
        2>/dev/null
}
if cxx_runs; then
    for program in $programs; do
        check "$program is C++17" compile_cxx "$program"
    done
    # shellcheck disable=SC2086
    check "raii.cpp compiles" $cxx -std=c++17 $flags $checked \
        examples/raii.cpp "$build/libmodelfile.a" $libs -o "$dir/raii"
    # shellcheck disable=SC2086
    check "and throws where that is wanted" $cxx -std=c++17 $flags $checked \
        -DMODELFILE_EXCEPTIONS examples/raii.cpp "$build/libmodelfile.a" \
        $libs -o "$dir/raii-throws"
else
    skip "examples are C++17" "no C++ compiler"
fi

# ---- they run ----

lists() {
    "$dir/list" "$model" | awk '{ print $4 "\t" $3 "\t" $1 }' | sort >"$dir/said"
    "$modelfile" tensors info "$model" --tsv --quiet >"$dir/table"
    awk -F '\t' '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { print $at["name"] "\t" $at["type"] "\t" $at["offset"] }
    ' "$dir/table" | sort | diff - "$dir/said"
}
check "list: names, types and offsets match tensors info" lists

lists_gguf() {
    "$dir/list" "$model" >"$dir/listed" &&
        "$dir/small" "$model" | diff "$dir/listed" - &&
        ! "$dir/small" "$fixtures/good-base.safetensors" 2>/dev/null
}
check "small: the same, of GGUF only" lists_gguf

streams() {
    name=$("$dir/list" "$model" | awk '$3 == "q8_0" { print $4; exit }')
    "$dir/stream" "$model" "$name" >"$dir/said" &&
        "$modelfile" tensors export "$model" "$name" "$dir/said.npy" --quiet &&
        size=$(wc -c <"$dir/said") && [ "$size" -gt 100 ] &&
        tail -c "$size" "$dir/said.npy" | cmp - "$dir/said"
}
check "stream: the floats match tensors export" streams
check "stream: a tensor that is not there" sh -c '! "$0" "$1" none' \
    "$dir/stream" "$model"

# "<unk>", "<s>", ... is a line each.
vocabulary() {
    "$dir/vocabulary" "$model" | cut -f 1 >"$dir/said" &&
        "$modelfile" meta get "$model" tokenizer.ggml.tokens --full --quiet |
        sed 's/^\["//; s/"\]$//; s/", "/\n/g' | diff - "$dir/said" &&
        "$dir/vocabulary" "$model" | grep -qx "<unk>	0"
}
check "vocabulary: tokens with scores" vocabulary

checks() {
    "$dir/check" "$model" && ! "$dir/check" "$fixtures/bad-data-nan.gguf" >"$dir/said" &&
        grep -q '^error DATA-NOT-FINITE: ' "$dir/said" &&
        ! "$dir/check" no-such-file 2>/dev/null
}
check "check: findings, and whether there are errors" checks

writes() {
    "$dir/write" "$dir/made.gguf" && expect 0 "0 errors" validate "$dir/made.gguf" &&
        ! "$dir/write" "$dir/made.gguf" 2>"$dir/said" &&
        grep -q 'already exists' "$dir/said"
}
check "write: a file that validates, and none that is there is lost" writes

quantizes() {
    "$dir/quantize" >"$dir/said" &&
        grep -q '^q4_k: 576 bytes instead of 4096, rms error 0.0[0-9]*$' "$dir/said"
}
check "quantize: an array" quantizes

converts() {
    "$dir/convert" "$model" "$dir/converted.gguf" </dev/null 2>/dev/null &&
        cmp "$model" "$dir/converted.gguf"
}
check "convert: a copy" converts
stops() {
    "$build/tests/filled" f32 64 "$dir/large.gguf" || return 1
    ! echo | "$dir/convert" "$dir/large.gguf" "$dir/stopped.gguf" 2>"$dir/said" ||
        return 1
    grep -q 'stopped\|interrupted' "$dir/said" && [ ! -e "$dir/stopped.gguf" ] &&
        [ "$(find "$dir" -name '*.stopped*' | wc -l)" -eq 0 ]
}
check "convert: it stops, and leaves nothing" stops

limits() {
    "$dir/limit" "$model" | grep -q '^at most [0-9]* bytes, the largest block' &&
        ! "$dir/limit" no-such-file 2>/dev/null >&2
}
check "limit: an allocator and a limit" limits

reads_source() {
    count=$("$dir/list" "$model" | wc -l)
    "$dir/source" "$model" 2>/dev/null | grep -qx "$count tensors"
}
check "source: a model through functions" reads_source

if [ -x "$dir/raii" ]; then
    owns() {
        "$dir/raii" "$fixtures/good-base.gguf" >"$dir/said" &&
            printf 'a.weight 1.75\nb.weight 1.25\n' | diff - "$dir/said" &&
            ! "$dir/raii" no-such-file 2>/dev/null
    }
    check "raii: the largest numbers" owns
fi

# ---- whatever is refused ----

# Leaks are found by the sanitizer of the compiler, where it can run.
sanitized() {
    echo 'int main(void) { return 0; }' >"$dir/empty.c"
    $cc -fsanitize=address "$dir/empty.c" -o "$dir/empty" 2>/dev/null &&
        "$dir/empty"
}
guarded() { # NAME ARGUMENT...
    name=$1
    shift
    for kind in REALLOC FREAD; do
        number=1
        while :; do
            rm -f "$dir/refused" "$dir/out.gguf"
            found=0
            env "REFUSE_$kind=$number" REFUSED="$dir/refused" \
                ASAN_OPTIONS=exitcode=99 "$dir/guarded-$name" "$@" \
                </dev/null >"$dir/said" 2>"$dir/err" || found=$?
            [ "$found" -le 2 ] || {
                echo "$name, $kind $number: exit code $found"
                head -20 "$dir/err"
                return
            }
            [ -e "$dir/refused" ] || break
            number=$((number + 1))
        done
        [ "$kind" = FREAD ] || [ "$number" -gt 1 ] ||
            echo "$name: it did not come to that"
    done
}
if [ -n "${QUICK:-}" ]; then
    skip "refused allocations" "the plain tests do this"
elif sanitized; then
    for program in $programs; do
        check "$program can be guarded" compile_c "$program" \
            "guarded-${program%.c}" -fsanitize=address -g tests/programs/refuse.c \
            -Wl,--wrap=realloc -Wl,--wrap=fread
    done
    name=$("$dir/list" "$model" | awk '$3 == "q8_0" { print $4; exit }')
    check_empty "list, whatever is refused" guarded list "$model"
    check_empty "small" guarded small "$model"
    check_empty "stream" guarded stream "$model" "$name"
    check_empty "vocabulary" guarded vocabulary "$model"
    check_empty "check" guarded check "$model"
    check_empty "write" guarded write "$dir/out.gguf"
    check_empty "quantize" guarded quantize
    check_empty "convert" guarded convert "$model" "$dir/out.gguf"
    check_empty "limit" guarded limit "$model"
    check_empty "source" guarded source "$model"
else
    skip "refused allocations" "no sanitizer that finds leaks"
fi

finish
