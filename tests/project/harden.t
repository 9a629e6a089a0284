#!/bin/sh
# SPDX-License-Identifier: MIT
#
# harden.t - what was built has the guards that the compiler and linker offer
#
# readelf and nm look at the files in BUILD.  A guard that the compiler does not
# know is reported as skipped: this script asks it as make does.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

cc=${CC:-cc}
program=$build/modelfile
shared=$(find "$build" -maxdepth 1 -name 'libmodelfile.so*' -type f |
    head -n 1)

case $cc in *-fsanitize*) san=1 ;; *) san= ;; esac
if [ -n "$san" ]; then
    echo "1..0 # SKIP a build with sanitizers has guards of its own"
    exit 0
fi

known() { # FLAG
    echo 'int main(void) { return 0; }' |
        $cc -Werror -fPIC "$1" -x c - -o "$dir/known" 2>/dev/null
}

# guard FLAG NAME COMMAND...: a check where the compiler knows FLAG.
guard() {
    flag=$1
    shift
    if known "$flag"; then
        check "$@"
    else
        skip "$1" "this compiler knows no $flag"
    fi
}

# uses FILE PATTERN: an undefined symbol.
uses() {
    nm -u "$1" | grep -qE " ($2)(@.*)?$"
}

# What a function of ours looks like that has been given the guards.
probes_stack() {
    objdump -d --no-show-raw-insn "$build/lib/io/path.o" |
        grep -qE 'orq +\$0x0,\(%rsp\)|str[[:space:]]+xzr, \[sp'
}

binds_now() {
    readelf -dW "$1" | grep -q 'BIND_NOW\|FLAGS_1.*NOW'
}

segment() { # FILE NAME
    readelf -lW "$1" | grep -E "^ +$2 "
}

stack_is_data() {
    segment "$1" GNU_STACK | grep -q ' RW '
}

no_writable_code() {
    ! readelf -lW "$1" | grep -E '^ +LOAD .* RWE '
}

# With these CFLAGS, here: what is printed is counted against its room.
fortifies() {
    echo '#include <stdio.h>
        int f(char *at, char *text);
        char all[9];
        int f(char *at, char *text) {
            return sprintf(all, "%s%s", text, at);
        }' |
        $cc ${CFLAGS:--O2} -D_FORTIFY_SOURCE=2 -x c -c - -o "$dir/fortified.o" \
            2>/dev/null && uses "$dir/fortified.o" '__sprintf_chk'
}

feature() { # FILE NAME
    readelf -nW "$1" 2>/dev/null | grep -q "x86 feature:.*$2"
}

for file in "$program" "$shared"; do
    name=${file##*/}
    guard -fstack-protector-strong "$name: stack protector" \
        uses "$file" __stack_chk_fail
    guard -Wl,-z,now "$name: all calls are bound at the start" binds_now "$file"
    guard -Wl,-z,relro "$name: their table is read-only then" \
        segment "$file" GNU_RELRO
    check "$name: no code on the stack" stack_is_data "$file"
    check "$name: no code that can be written" no_writable_code "$file"
    if fortifies; then
        check "$name: _FORTIFY_SOURCE" uses "$file" '__[a-z]*printf_chk'
    else
        skip "$name: _FORTIFY_SOURCE" "built without -O, or not with glibc"
    fi
done
is_pie() {
    readelf -hW "$program" | grep -qE 'Type: +DYN'
}
guard -pie "modelfile: can be loaded anywhere" is_pie

guard -fstack-clash-protection "a large frame is touched page by page" \
    probes_stack
if known -fcf-protection; then
    check "our objects know indirect jumps' targets" \
        feature "$build/lib/base/heap.o" IBT
    check "and shadow stacks" feature "$build/lib/base/heap.o" SHSTK
    # A program has it where all that is linked into it has.
    startup=$($cc -print-file-name=crti.o)
    if feature "$startup" IBT; then
        check "and so does the program" feature "$program" IBT
    else
        skip "and so does the program" "this system's $(basename "$startup") has no CET"
    fi
else
    skip "our objects know indirect jumps' targets" \
        "this compiler knows no -fcf-protection"
fi

# Static variables are there in every run; what few runs need is taken when
# they need it.
small_bss() {
    bytes=$(size "$program" | awk 'NR == 2 { print $3 }')
    [ "$bytes" -gt 0 ] && [ "$bytes" -le 65536 ] && return
    echo "$bytes bytes in .bss, at most 65536; the largest:"
    nm -S --size-sort "$program" | grep ' [bB] ' | tail -5
    return 1
}
check "static variables take at most 64 KiB" small_bss

finish
