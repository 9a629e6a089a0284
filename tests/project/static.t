#!/bin/sh
# SPDX-License-Identifier: MIT
#
# static.t - the one file of `make static` does what the program does
#
# It is linked here, must not make the linker warn, and runs in a folder that is
# empty but for it and the models.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

cc=${CC:-cc}
static=$build/static/modelfile
model=fixtures/good-llama.gguf
small=fixtures/llama/llama-small.gguf

if [ ! -e "$($cc -print-file-name=libc.a)" ]; then
    skip "one static file" "this system has no libc.a"
    finish
fi

# ---- the file ----

linked() {
    rm -f "$static"
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s V=1 static \
        BUILD="$build" CC="$cc" ${CFLAGS:+CFLAGS="$CFLAGS"} \
        >"$dir/made" 2>&1 || { cat "$dir/made"; return 1; }
    ! grep -i 'warning' "$dir/made"
}
check "make static, and the linker warns of nothing" linked
at_most() { # BYTES
    size=$(wc -c <"$static")
    [ "$size" -le "$1" ] || { echo "$size bytes, at most $1"; return 1; }
}
check "it has at most 4.5 MB" at_most 4500000
wc -c <"$static" | sed 's/$/ bytes/' | note

header() { # OPTION PATTERN
    readelf "$1" -W "$static" | grep -E "$2"
}
check_empty "no loader is asked for" header -l INTERP
check_empty "nor a library" header -d NEEDED
check "it can be loaded anywhere" header -h 'Type: +DYN'
check "the table of addresses is read-only" header -l '^ +GNU_RELRO '
check "no code on the stack" header -l '^ +GNU_STACK .* RW '
check_empty "no code that can be written" header -l '^ +LOAD .* RWE '
check_empty "it has no symbols" header -S ' \.(symtab|debug)'
says_static() {
    "$static" version --quiet | grep -q '^static  *no other library' &&
        "$static" version --json | grep -q '"static": *true'
}
check "version says what it lacks" says_static
check_empty "the normal program does not" sh -c \
    '"$0" version --quiet | grep ^static' "$modelfile"

# ---- the same answers ----

# said PROGRAM CODE ARGUMENT...: what it prints, if it ends with CODE.
said() {
    program=$1 code=$2 found=0
    shift 2
    "$program" "$@" --quiet 2>&1 </dev/null || found=$?
    [ "$found" -eq "$code" ] || echo "exit code $found"
}
same() { # CODE ARGUMENT...
    said "$modelfile" "$@" >"$dir/wanted"
    said "$static" "$@" | diff "$dir/wanted" - && [ -s "$dir/wanted" ] &&
        ! grep '^exit code [0-9]' "$dir/wanted"
}
check "validate" same 0 validate --data "$model"
check "a broken one" same 1 validate fixtures/bad-overlap.gguf
for algo in crc32 xxh64 xxh3 xxh128 sha1 sha256; do
    check "hash --algo $algo" same 0 hash --algo $algo "$model"
done
check "diff" same 1 diff --values "$model" "$small"
check "info of a quoted glob" same 0 info 'fixtures/good-[b]*.gguf'
check "help" same 0 help
check "help of a command" same 0 help quantize
check "a command line that is wrong" same 2 validate --nonsense
check "a file that is not there" same 3 info fixtures/nothing.gguf
limits() {
    said "$static" 5 validate --max-memory 8KiB "$model" >"$dir/out"
    grep -q '[0-9] more bytes of memory are needed' "$dir/out" &&
        ! grep '^exit code [0-9]' "$dir/out"
}
check "a limit of memory counts what glibc takes" limits

sha1_is_right() {
    "$static" hash --quiet --algo sha1 "$model" >"$dir/out" &&
        [ "$(sed '/^m[eo]/d; s/^[^:]*://' "$dir/out" | sha1sum |
            cut -d ' ' -f 1)" = \
            "$(sed -n 's/^model sha1:\([0-9a-f]*\) .*/\1/p' "$dir/out")" ]
}
check "sha1 is sha1sum's" sha1_is_right

"$build/tests/filled" f32 32 "$dir/filled.gguf"
quantizes() { # TYPE ISA THREADS
    rm -f "$dir"/q.*.gguf
    MODELFILE_ISA=$2 "$modelfile" quantize --quiet "$dir/filled.gguf" \
        "$dir/q.a.gguf" "$1" >/dev/null &&
        MODELFILE_ISA=$2 "$static" quantize --quiet --threads "$3" \
            "$dir/filled.gguf" "$dir/q.b.gguf" "$1" >/dev/null &&
        cmp "$dir/q.a.gguf" "$dir/q.b.gguf"
}
for isa in portable avx2 avx512; do
    if MODELFILE_ISA=$isa "$modelfile" info --quiet "$model" >/dev/null 2>&1; then
        check "quantize, $isa, 2 threads" quantizes Q4_K $isa 2
    else
        skip "quantize, $isa, 2 threads" "this processor has no $isa"
    fi
done
check "with one thread" quantizes IQ4_XS "" 1
check "with 7" quantizes Q8_0 "" 7
if strace -f -qq true 2>/dev/null; then
    begins_threads() {
        rm -f "$dir/q.gguf"
        strace -f -qq -e trace=clone,clone3 -o "$dir/trace" "$static" quantize \
            --quiet --threads 4 "$dir/filled.gguf" "$dir/q.gguf" Q8_0 \
            >/dev/null && [ "$(grep -c 'clone3*(.*CLONE_THREAD' "$dir/trace")" -ge 5 ]
    }
    check "threads are begun" begins_threads
else
    skip "threads are begun" "strace is not installed, or may not trace"
fi
converts() {
    "$modelfile" convert --quiet "$small" "$dir/hf-a/" >/dev/null &&
        "$static" convert --quiet "$small" "$dir/hf-b/" >/dev/null &&
        diff -r "$dir/hf-a" "$dir/hf-b" &&
        "$static" convert --quiet "$dir/hf-b" "$dir/back.gguf" >/dev/null &&
        "$modelfile" convert --quiet "$dir/hf-a" "$dir/forth.gguf" >/dev/null &&
        cmp "$dir/back.gguf" "$dir/forth.gguf"
}
check "convert, to a folder and back" converts

# ---- without what a process usually has ----

closed() {
    "$static" validate --quiet "$model" <&- >"$dir/out" 2>&1 ||
        { cat "$dir/out"; return 1; }
    code=0
    "$static" validate "$model" >&- 2>"$dir/err" || code=$?
    wanted=0
    "$modelfile" validate "$model" >&- 2>"$dir/err" || wanted=$?
    [ "$code" -eq "$wanted" ]
}
check "standard input is closed, and output" closed

# A right of root, and of the first user of a namespace.
enter=
if [ "$(id -u)" -eq 0 ]; then
    enter=$(command -v chroot)
elif unshare -r true 2>/dev/null; then
    enter="$(command -v unshare) -r $(command -v chroot)"
fi
alone() { # CODE ARGUMENT...
    code=$1 found=0
    shift
    # shellcheck disable=SC2086 # words
    env -i $enter "$dir/alone" /modelfile "$@" >"$dir/out" 2>&1 </dev/null ||
        found=$?
    [ "$found" -eq "$code" ] || { echo "exit code $found"; cat "$dir/out"; return 1; }
}
same_alone() {
    alone 0 quantize --threads 3 /filled.gguf /q.gguf Q4_K &&
        rm -f "$dir/q.gguf" && "$modelfile" quantize --quiet \
        "$dir/filled.gguf" "$dir/q.gguf" Q4_K >/dev/null &&
        cmp "$dir/q.gguf" "$dir/alone/q.gguf"
}
if [ -n "$enter" ]; then
    mkdir "$dir/alone"
    cp "$static" "$model" "$small" "$dir/filled.gguf" "$dir/alone"
    check "in an empty folder: version" alone 0 version
    check "validate" alone 0 validate --data /good-llama.gguf
    check "hash" alone 0 hash --algo sha1 /good-llama.gguf
    check "quantize, to the same bytes" same_alone
    check "convert" alone 0 convert /llama-small.gguf /folder/
    check "diff" alone 1 diff /llama-small.gguf /good-llama.gguf
    check "a glob" alone 0 info '/good-*.gguf'
    check "nothing else is there" [ "$(cd "$dir/alone" && echo *)" = \
        "filled.gguf folder good-llama.gguf llama-small.gguf modelfile q.gguf" ]
else
    skip "in an empty folder" "not root, and no user namespaces"
fi

finish
