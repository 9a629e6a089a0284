#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sizes.t - a program is linked with what it calls, and the libraries have names
# for what modelfile.h declares only
#
# Sizes are of stripped programs with the static library, zlib's if there is an
# archive of it, and the system's C library.  docs/embedding.md has them.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

cc=${CC:-cc}
nm=${NM:-nm}
# As modelfile.pc has it, but for zlib: OpenMP's archive would be linked as a
# whole, since it begins by itself.
zlib=$($cc -print-file-name=libz.a 2>/dev/null)
[ -e "$zlib" ] || zlib=-lz
libs="$zlib -lm -ldl"
case ${LIBS:-gomp} in *gomp*) libs="$libs -fopenmp" ;; esac
q8=$fixtures/good-llama.gguf

# ---- programs ----

# As an env of few features is made instead of one of all.
with() { # FEATURE...: edits a program on standard input
    list=
    for feature in "$@"; do
        list="$list mf_feature_$feature(),"
    done
    sed "s/mf_env_new(NULL)/mf_env_new_with(NULL, (const struct mf_feature *[]){\
$list }, $#)/"
}

link() { # OUT FLAG...: from $dir/OUT.c
    out=$1
    shift
    # shellcheck disable=SC2086 # flags are words
    $cc -O2 -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -Ilib \
        "$dir/$out.c" "$build/libmodelfile.a" $libs "$@" -o "$dir/$out" &&
        ${STRIP:-strip} -o "$dir/$out.small" "$dir/$out"
}

size_of() {
    wc -c <"$dir/$1.small"
}

at_most() { # SIZE BYTES
    echo "$1 of at most $2 bytes" >"$dir/size"
    [ "$1" -le "$2" ] || { echo "$1 bytes, at most $2"; return 1; }
}

cp examples/small.c "$dir/list.c"
cp examples/list.c "$dir/all.c"
cp examples/check.c "$dir/whole.c"
with gguf <examples/check.c >"$dir/validate.c"
sed '/for (size_t/i\
    float numbers[256];\
    for (size_t i = 0; i < 3; i++)\
        if (mf_tensor_read(model, i, 0, 8, MF_READ_F32, numbers))\
            puts(mf_env_error(env)->message);\
        else\
            printf("%.9g\\n", (double)numbers[7]);' examples/list.c >"$dir/full.c"
with gguf q4_k <"$dir/full.c" >"$dir/decode.c"

gc=-Wl,--gc-sections
for program in list validate decode all full whole; do
    check "$program is linked" link $program $gc
done
check "a program that lists GGUF has at most 250,000 bytes" \
    at_most "$(size_of list)" 250000
note <"$dir/size"
check "one that validates, data included, 700,000" \
    at_most "$(size_of validate)" 700000
note <"$dir/size"
check "one that decodes q4_k 120,000 more than the first" \
    at_most "$(($(size_of decode) - $(size_of list)))" 120000
note <"$dir/size"
# The limits are about something: an env of everything takes more.
takes_more() {
    [ "$(size_of all)" -gt 1000000 ]
}
check "one with all formats and codecs takes more than a megabyte" takes_more
wc -c <"$dir/all.small" | sed 's/$/ bytes with everything/' | note

lists() {
    "$dir/all" "$q8" >"$dir/wanted" && "$dir/list.small" "$q8" |
        diff "$dir/wanted" - && [ -s "$dir/wanted" ]
}
check "it lists the same" lists
validates() {
    for model in good-llama bad-data-nan bad-overlap; do
        [ -e "$fixtures/$model.gguf" ] || continue
        "$dir/whole" "$fixtures/$model.gguf" >"$dir/wanted"
        "$dir/validate.small" "$fixtures/$model.gguf" |
            diff "$dir/wanted" - || return
    done
}
check "it finds the same" validates
decodes() {
    "$build/tests/filled" q4_k 1 "$dir/q4_k.gguf" || return
    "$dir/full" "$dir/q4_k.gguf" | head -3 >"$dir/wanted"
    "$dir/decode.small" "$dir/q4_k.gguf" | head -3 | diff "$dir/wanted" - &&
        [ "$(grep -c '^-\{0,1\}[0-9]' "$dir/wanted")" -eq 3 ] || return
    # Another type is refused.
    "$dir/decode.small" "$q8" | head -3 |
        grep -q 'is q8_0: decoding that is not supported'
}
check "it decodes the same, and only that" decodes
refuses() {
    "$dir/list.small" "$fixtures/good-base.safetensors" 2>"$dir/said" && return 1
    grep -q 'not a recognized model format' "$dir/said"
}
check "a format that the program has not named is refused" refuses

# ---- names ----

declared() {
    sed '/^#/d' lib/modelfile.h | tr '\n' ' ' | grep -o 'MF_API [^;(]*(' |
        sed 's/($//; s/.*[ *]//' | LC_ALL=C sort
}
global() {
    "$nm" -g --defined-only "$1" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort
}
declared >"$dir/declared"
names_differ() {
    global "$build/libmodelfile.a" | diff "$dir/declared" -
}
check "modelfile.h declares functions" [ "$(wc -l <"$dir/declared")" -gt 100 ]
check_empty "the archive has names for these only" names_differ

# ---- without groups ----

groups=$(sed -n 's/^GROUPS *:= *//p' Makefile)
make_without() { # GROUPS TARGET...
    without=$1
    shift
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s BUILD="$build" \
        CC="$cc" ${CFLAGS:+CFLAGS="$CFLAGS"} OUT="$dir/out" WITHOUT="$without" \
        "$@"
}
cat >"$dir/hub.c" <<'END'
#include <modelfile.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct mf_convert_options options = { .size = sizeof(options),
                                          .names = argc > 3 ? MF_NAMING_HF
                                                            : MF_NAMING_GGUF,
                                          .replace = true };
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model;

    if (argc < 3 || mf_model_open(env, argv[1], NULL, &model) != MF_OK)
        return 2;
    mf_model_convert(model, argv[2], &options, NULL);
    puts(mf_env_error(env)->message);
    mf_model_close(model);
    mf_env_free(env);
    return 0;
}
END
unknown_group() {
    make_without 'plan hubs' all >"$dir/said" 2>&1 && return 1
    grep -q "WITHOUT=hubs: there is no such group; the groups are $groups" \
        "$dir/said"
}
check "an unknown group is an error that names all" unknown_group

stripped_size() {
    ${STRIP:-strip} -o "$dir/stripped" "$1" && wc -c <"$dir/stripped"
}
# The shared library is linked with nothing left undefined.
for group in $groups; do
    check "without $group" make_without "$group" "$dir/out/libmodelfile.so"
    stripped_size "$dir/out/libmodelfile.so" | sed "s/\$/ bytes without $group/" |
        note
done
# What knows no Hugging Face goes on as before: GGUF files are validated and
# planned by the rows of their families.
cat >"$dir/plan.c" <<'END'
#include <modelfile.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_finding finding;
    struct mf_model *model;
    struct mf_plan plan = { 0 };

    if (argc < 2 || mf_model_open(env, argv[1], NULL, &model) != MF_OK ||
        mf_model_validate(model) != MF_OK)
        return 2;
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        printf("%s: %s\n", finding.rule, finding.message);
    if (mf_plan(model, NULL, &plan) != MF_OK)
        puts(mf_env_error(env)->message);
    for (size_t i = 0; i < MF_PLAN_LINES_MAX; i++)
        printf("%llu\n", (unsigned long long)plan.line[i]);
    printf("%llu %u %s\n", (unsigned long long)plan.total, plan.estimated,
           plan.reason);
    mf_model_close(model);
    mf_env_free(env);
    return 0;
}
END
plans_same() {
    # shellcheck disable=SC2086
    for library in "$build" "$dir/out"; do
        $cc -O2 -Ilib "$dir/plan.c" "$library/libmodelfile.a" $libs $gc \
            -o "$dir/plan.${library##*/}" || return
    done
    for model in "$fixtures/llama/llama-small.gguf" "$fixtures"/good-*.gguf \
        "$fixtures"/bad-arch-*.gguf; do
        [ -e "$model" ] || continue
        "$dir/plan.${build##*/}" "$model" >"$dir/wanted" &&
            "$dir/plan.out" "$model" | diff "$dir/wanted" - || return
    done
    [ -s "$dir/wanted" ]
}
refuses_folder() {
    "$modelfile" convert "$fixtures/llama/llama-small.gguf" "$dir/planned/" \
        --quiet >/dev/null 2>&1
    "$dir/plan.out" "$dir/planned" >"$dir/said"
    grep -q "built without 'hub'" "$dir/said" || { cat "$dir/said"; return 1; }
}
check "a library without hub" make_without hub "$dir/out/libmodelfile.a"
check "finds and plans the same in GGUF files" plans_same
check "and refuses to plan a folder, by name" refuses_folder
check "without all of them" make_without "$groups" all
program_is_there() {
    [ -e "$dir/out/modelfile" ]
}
is_smaller() {
    for library in "$dir/out/libmodelfile.so" "$build/libmodelfile.so"; do
        stripped_size "$library"
    done | {
        read -r some && read -r all &&
            echo "$some of $all bytes without all of them" >"$dir/size" &&
            [ $((some * 4)) -lt $((all * 3)) ]
    }
}
check "that is a quarter less, or smaller" is_smaller
note <"$dir/size"
left_undefined() {
    "$nm" -u "$dir/out/libmodelfile.a" | grep ' mf_'
}
check_empty "the archive refers to nothing that it lacks" left_undefined
more_names() {
    global "$dir/out/libmodelfile.a" | LC_ALL=C comm -13 "$dir/declared" -
}
check_empty "nor has it private names" more_names
# The table of docs/embedding.md has what is gone.
undocumented() {
    sed -n '/^| group /,/^$/p' docs/embedding.md | grep -o '`mf_[a-z0-9_]*`' |
        tr -d '`' | LC_ALL=C sort -u >"$dir/documented"
    global "$dir/out/libmodelfile.a" | LC_ALL=C comm -23 "$dir/declared" - |
        diff "$dir/documented" -
}
check_empty "docs/embedding.md lists the functions that are left out" undocumented
says_so() {
    # shellcheck disable=SC2086
    $cc -O2 -Ilib "$dir/hub.c" "$dir/out/libmodelfile.a" $libs $gc -o "$dir/hub" ||
        return
    "$modelfile" convert "$fixtures/llama/llama-small.gguf" "$dir/folder/" \
        --quiet >/dev/null 2>&1
    "$dir/hub" "$dir/folder" "$dir/new.gguf" >"$dir/said" &&
        grep -q "built without 'hub'" "$dir/said" && [ ! -e "$dir/new.gguf" ] ||
        { cat "$dir/said"; return 1; }
    "$dir/hub" "$fixtures/llama/llama-small.gguf" "$dir/restored/" hf >"$dir/said" &&
        grep -q "built without 'restore'" "$dir/said" && [ ! -e "$dir/restored" ] ||
        { cat "$dir/said"; return 1; }
}
check "a conversion that needs one says so" says_so
finish
