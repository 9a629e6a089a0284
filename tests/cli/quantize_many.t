#!/bin/sh
# SPDX-License-Identifier: MIT
#
# quantize_many.t - several outputs of one run: the bytes of separate runs, from
# data that is read once; all of them appear, or none
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

filled=$build/tests/filled
mkdir "$dir/alone" "$dir/many" "$dir/begin"
"$filled" f16 2 "$dir/f16.gguf" >/dev/null

# alone SUFFIX IN OPTION...: a run for each of $types that IN can have; those
# are in $outputs then, as options for all of them at once.
alone() {
    suffix=$1
    shift
    outputs=
    rm -f "$dir/alone/"* "$dir/many/"*
    for type in $types; do
        ! "$modelfile" quantize --quiet "$@" "$dir/alone/$type.$suffix" \
            "$type" >"$dir/out" 2>"$dir/err" ||
            outputs="$outputs --output $type=$dir/many/$type.$suffix"
    done
    [ -n "$outputs" ]
}

# same SUFFIX IN OPTION...: all at once are the same files, on any number of
# threads.
same() {
    alone "$@" || return
    shift
    for threads in 1 2 5; do
        # shellcheck disable=SC2086 # words
        ends 0 quantize --quiet --force --threads "$threads" "$@" $outputs &&
            diff -r "$dir/alone" "$dir/many" || return
    done
}

types="Q4_K_M Q8_0 F16 F32 IQ4_XS q5_0"
check "f16" same gguf "$dir/f16.gguf"
check "with all options" same gguf "$dir/f16.gguf" --tensor-type 't3=q6_k' \
    --override-kv general.name=str:x --leave-output --pure
check "with little memory, and so with smaller groups" \
    same gguf "$dir/f16.gguf" --max-memory 400k
check "a Hugging Face folder, of which some tensors are computed" same gguf "$fixtures/good-hf-llama"
check "which is sharded" same gguf "$fixtures/good-sharded"
check "shards" same gguf "$fixtures/good-split-00001-of-00003.gguf"
check "big-endian, and copies of it" same gguf \
    "$fixtures/good-blocks-big.gguf" --allow-requantize
check "from little-endian" same gguf "$fixtures/good-llama.gguf" \
    --allow-requantize --endian big
check "a storage of PyTorch that is unpacked forward" \
    same gguf "$fixtures/good-torch-deflated.pt"
types="apr_q4 apr_q8 q4_k q8_0 f16"
check "APR, whose types have blocks that cross rows, or one scale" \
    same apr "$fixtures/good-base.apr"

every_fixture() {
    count=0
    types="Q4_K_M Q8_0 bf16 F32"
    for file in "$fixtures"/llama/*.gguf "$fixtures"/good-b*.gguf \
        "$fixtures"/good-*.safetensors "$fixtures"/good-f*.apr; do
        alone gguf "$file" --allow-requantize || continue
        count=$((count + 1))
        # shellcheck disable=SC2086 # words
        ends 0 quantize --quiet --allow-requantize "$file" $outputs &&
            diff -r "$dir/alone" "$dir/many" || return
    done
    echo "$count files"
    [ "$count" -gt 5 ]
}
check "every fixture" every_fixture

# ---- importance

# matrix NAME OUT: an importance matrix of before 2025 with one entry.
matrix() {
    {
        # shellcheck disable=SC2059 # the format begins with a length
        printf "\\001\\000\\000\\000\\$(printf %03o ${#1})\\000\\000\\000%s" "$1"
        printf '\001\000\000\000\000\020\000\000'
        awk 'BEGIN { for (i = 0; i < 4096; i++) printf "@%s@@", i % 7 ? "?" : "!" }'
    } >"$2"
}
matrix t3.weight "$dir/one.dat"
types="Q4_0 F16 IQ4_XS Q4_K_M"
weighted() {
    same gguf "$dir/f16.gguf" --imatrix "$dir/one.dat" &&
        cp "$dir/alone/Q4_0.gguf" "$dir/weighted.gguf" &&
        same gguf "$dir/f16.gguf" &&
        ! cmp -s "$dir/alone/Q4_0.gguf" "$dir/weighted.gguf"
}
check "an importance matrix applies to all" weighted

# ---- each byte is read once

# read_by ARGUMENT...: bytes that quantize reads.
read_by() {
    "$modelfile" quantize --json --force "$@" 2>/dev/null |
        sed -n 's/.*"bytes_read":\([0-9]*\).*/\1/p'
}
read_once() {
    size=$(wc -c <"$dir/f16.gguf")
    one=$(read_by "$dir/f16.gguf" "$dir/o.gguf" Q8_0)
    for threads in 1 3; do
        all=$(read_by "$dir/f16.gguf" --threads "$threads" \
            --output Q8_0="$dir/1.gguf" --output F16="$dir/2.gguf" \
            --output Q4_K_M="$dir/3.gguf" --output F32="$dir/4.gguf")
        echo "$size bytes, $one read for one output, $all for four"
        # Texts of the metadata are read for each header.
        [ $((all - one)) -lt 4096 ] && [ "$all" -lt $((size + size / 10)) ] ||
            return
    done
}
check "four outputs read as many bytes as one" read_once
computed_once() {
    folder=$fixtures/good-hf-llama
    data=$(cat "$folder"/*.safetensors | wc -c)
    one=$(read_by "$folder" "$dir/o.gguf" Q8_0)
    all=$(read_by "$folder" --output Q8_0="$dir/1.gguf" \
        --output F16="$dir/2.gguf" --output q5_0="$dir/3.gguf")
    echo "$data bytes of data, $one read for one output, $all for three"
    # A header, with what it reads of the tokenizer, is written for each.
    [ $((all - one)) -lt "$data" ]
}
check "a folder's computed tensors are computed once" computed_once

little_heap() {
    "$filled" f16 6 "$dir/large.gguf" >/dev/null
    ends 0 quantize --json --threads 2 "$dir/large.gguf" \
        --output Q8_0="$dir/many/1.gguf" --output F16="$dir/many/2.gguf" \
        --output Q4_K_M="$dir/many/3.gguf" || return
    peak=$(sed -n 's/.*"peak_heap_bytes":\([0-9]*\).*/\1/p' "$dir/out")
    echo "peak $peak"
    [ "$peak" -le $((16 << 20)) ]
}
if counts_memory; then
    check "16 MiB of heap are enough" little_heap
else
    skip "16 MiB of heap are enough" "this build leaves malloc alone"
fi
rm -f "$dir/large.gguf"

# ---- what is printed

a=$dir/a.gguf b=$dir/b.gguf
two() {
    "$modelfile" quantize "$dir/f16.gguf" --output Q4_0="$a" \
        --output Q8_0="$b" "$@" >"$dir/out" 2>"$dir/err"
}
foretold() {
    rm -f "$a" "$b"
    two --quiet --dry-run || return
    [ ! -e "$a" ] && [ ! -e "$b" ] && grep -qF "a.gguf: Q4_0" "$dir/out" &&
        grep -qF "b.gguf: Q8_0" "$dir/out" &&
        [ "$(grep -c "nothing was written" "$dir/out")" = 2 ] &&
        two --quiet && [ "$(grep -c "gguf: gguf" "$dir/out")" = 2 ]
}
check "--dry-run shows the plan of each" foretold
said() {
    two --force --report --json &&
        grep -q '"outputs":\[{"quantization":"Q4_0".*"q4_0":{[^}]*"cosine":0\.9.*{"quantization":"Q8_0".*"q8_0":{[^}]*"cosine":0\.9' "$dir/out" &&
        two --force --dry-run --json &&
        grep -q '"plans":\[{"output":.*"tensors":\[.*"outputs":\[' "$dir/out"
}
check "--json has each, with its own error" said
example() {
    sed -n '/^\$ modelfile quantize .*--output/,/^```$/p' docs/quantize.md |
        sed '/^```$/d' >"$dir/shown"
    command=$(sed -n 's/^\$ modelfile //p' "$dir/shown")
    ln -s "$fixtures" "$dir/fixtures"
    {
        echo "\$ modelfile $command"
        # shellcheck disable=SC2086 # words without spaces in them
        (cd "$dir" && "$modelfile" $command --quiet)
    } | diff "$dir/shown" -
}
check "docs/quantize.md has what is printed" example
error_of() {
    sed -n 's/.*"'"$1"'":{[^}]*"rmse":\([0-9.e-]*\).*/\1/p' "$dir/out"
}
own_error() {
    two --force --report --json || return
    both="$(error_of q4_0) $(error_of q8_0)"
    "$modelfile" quantize --force --report --json "$dir/f16.gguf" "$a" Q8_0 \
        >"$dir/out" 2>"$dir/err"
    found=$(error_of q8_0)
    echo "$both, alone $found"
    [ -n "$found" ] && [ "${both#* }" = "$found" ]
}
check "the same as in a run of its own" own_error
patterns() {
    "$modelfile" quantize --quiet --force "$dir/f16.gguf" \
        --output Q4_0="$a" --output F16="$b" --tensor-type 't3=q8_0' \
        --tensor-type 'ffn_up=q8_0' >"$dir/out" 2>"$dir/err" || return
    cat "$dir/err"
    [ "$(grep -c "warning: pattern" "$dir/err")" = 1 ] &&
        grep -q "warning: pattern 'ffn_up'" "$dir/err"
}
check "a pattern is unused if no output uses it" patterns

recorded() {
    two --quiet --force --record "$dir/record" &&
        grep -rq "quantize --output=Q4_0 --output=Q8_0" "$dir/record" &&
        "$modelfile" quantize --quiet --force --record "$dir/record" \
            "$dir/f16.gguf" Q4_0 >"$dir/out" 2>"$dir/err"
}
check "--record tells its types" recorded

# ---- what is refused, before anything is written

# refused CODE TEXT ARGUMENT...: and no file is there, or changed.
refused() {
    refused_code=$1 refused_text=$2
    shift 2
    rm -rf "$dir/many" "$dir/begin"
    mkdir "$dir/many" "$dir/begin"
    echo old | tee "$dir/many/old.gguf" >"$dir/begin/old.gguf"
    (cd "$dir/many" &&
        expect "$refused_code" "$refused_text" quantize "$@") &&
        diff -r "$dir/begin" "$dir/many"
}
in=$dir/f16.gguf
check "one path twice" refused 4 "are names of the same file" "$in" \
    --output Q8_0=a.gguf --output Q4_0=./a.gguf
linked() {
    ln -s a.gguf "$dir/link.gguf"
    refused 4 "the same file" "$in" --output Q8_0="$dir/a.gguf" --force \
        --output Q4_0="$dir/link.gguf"
}
check "a link to another one" linked
check "the input" refused 4 "is one of the input files" "$in" \
    --output Q8_0=a.gguf --output Q4_0="$in" --force
check "a file that exists" refused 4 "'old.gguf' already exists" "$in" \
    --output Q8_0=a.gguf --output Q4_0=old.gguf
check "the same in a dry run" refused 4 "'old.gguf' already exists" "$in" \
    --output Q8_0=a.gguf --output Q4_0=old.gguf --dry-run
check "standard output" refused 2 "requires a file, not '-'" "$in" \
    --output Q8_0=a.gguf --output Q4_0=-
check "a device" refused 4 "is not a regular file" "$in" \
    --output Q8_0=a.gguf --output Q4_0=/dev/null --force
check "two formats" refused 4 "several outputs need one format" "$in" \
    --output Q8_0=a.gguf --output q8_0=b.apr
check "a copy" refused 4 "a copy cannot be one of several outputs" "$in" \
    --output Q8_0=a.gguf --output COPY=b.gguf
check "an unknown type" refused 2 "unknown quantization type 'Q4_K_N'" "$in" \
    --output Q8_0=a.gguf --output Q4_K_N=b.gguf
check "no type" refused 2 "expected TYPE=FILE" "$in" --output =b.gguf
check "no path" refused 2 "expected TYPE=FILE" "$in" --output Q8_0=
check "OUT and TYPE as well" refused 2 "there is only IN" "$in" b.gguf Q8_0 \
    --output Q8_0=a.gguf
check "without IN" refused 2 "missing argument IN" --output Q8_0=a.gguf
check "--resume and --report" refused 2 "cannot be combined" "$in" \
    --output Q8_0=a.gguf --output Q4_0=b.gguf --resume --report
check "--resume and --dry-run" refused 2 "cannot both be given" "$in" \
    --output Q8_0=a.gguf --output Q4_0=b.gguf --resume --dry-run
check "--keep-split" refused 2 "'--keep-split' and '--output'" "$in" \
    --output Q8_0=a.gguf --keep-split
check "a type without its matrix, for one of them" refused 2 \
    "importance matrix" "$in" --output Q8_0=a.gguf --output IQ2_XXS=b.gguf
check "values that one of them cannot have" refused 3 "infinite or NaN" \
    "$fixtures/bad-data-nan.gguf" --output Q8_0=a.gguf --output F16=b.gguf

# ---- none, or all

put_old() {
    rm -rf "$dir/many" "$dir/begin"
    mkdir "$dir/many" "$dir/begin"
    for name in a b c; do
        echo "old $name" | tee "$dir/many/$name.gguf" >"$dir/begin/$name.gguf"
    done
}
# three WITH...: what runs the program with these words before it.
three() {
    (cd "$dir/many" && "$@" quantize --quiet --force --threads 2 "$in" \
        --output Q4_0=a.gguf --output Q8_0=b.gguf --output F32=c.gguf \
        >"$dir/out" 2>"$dir/err")
}
put_old
three "$modelfile"
mkdir "$dir/new"
cp "$dir/many/"* "$dir/new"
replaced() {
    ! cmp -s "$dir/new/b.gguf" "$dir/begin/b.gguf" &&
        [ "$(ls -A "$dir/many")" = "a.gguf
b.gguf
c.gguf" ]
}
check "--force replaces all" replaced

full() {
    for n in 1 2 3; do
        put_old
        three strace -f -qq -o "$dir/trace" -e trace=fallocate \
            -e inject=fallocate:error=ENOSPC:when="$n" "$modelfile"
        [ $? -eq 4 ] && diff -r "$dir/begin" "$dir/many" || return
    done
    for n in 1 2 7 20; do
        put_old
        three strace -f -qq -o "$dir/trace" -e trace=pwrite64 \
            -e inject=pwrite64:error=ENOSPC:when="$n" "$modelfile"
        [ $? -eq 4 ] && grep -q INJECTED "$dir/trace" &&
            diff -r "$dir/begin" "$dir/many" || return
    done
}
unsynced() {
    for n in 1 2 3; do
        put_old
        three strace -f -qq -o "$dir/trace" -e trace=fsync,fdatasync \
            -e inject=fsync,fdatasync:error=EIO:when="$n" "$modelfile"
        [ $? -eq 4 ] && diff -r "$dir/begin" "$dir/many" || return
    done
}
# A name that the system refuses: those before it are there, and the message
# says how many.
unnamed() {
    put_old
    three strace -f -qq -o "$dir/trace" -e trace=rename,renameat,renameat2 \
        -e inject=rename,renameat,renameat2:error=EIO:when=2 "$modelfile"
    [ $? -eq 4 ] && cmp "$dir/many/a.gguf" "$dir/new/a.gguf" &&
        cmp "$dir/many/b.gguf" "$dir/begin/b.gguf" &&
        cmp "$dir/many/c.gguf" "$dir/begin/c.gguf" &&
        grep -q "1 of 3 files are in place" "$dir/err" &&
        [ -z "$(find "$dir/many" -name ".*" -type f)" ]
}
killed() {
    for n in 1 3 9 30; do
        put_old
        three strace -f -qq -o "$dir/trace" -e trace=pwrite64 \
            -e inject=pwrite64:signal=KILL:when="$n" "$modelfile"
        for name in a b c; do
            cmp "$dir/begin/$name.gguf" "$dir/many/$name.gguf" || return
        done
    done
}
if ! (cd "$dir" && strace -f -qq -o trace true) 2>/dev/null; then
    skip "a disk that is full, and a kill" \
        "strace is not installed, or may not trace"
elif grep -q __asan_report "$modelfile"; then
    skip "a disk that is full, and a kill" "a sanitizer's own calls would fail"
else
    check "a full disk leaves nothing of any output" full
    check "nor do files that cannot be synced" unsynced
    check "a name that is refused: the message says what is there" unnamed
    check "a kill in the middle leaves the old files" killed
fi
stopped() {
    for number in 1 2 9; do
        put_old
        (cd "$dir/many" && ENDLESS_WRITE=$number timeout -s TERM 2 \
            "$build/modelfile-endless" quantize --force "$in" \
            --output Q4_0=a.gguf --output Q8_0=b.gguf >"$dir/out" 2>&1)
        diff -r "$dir/begin" "$dir/many" || return
    done
}
check "a signal leaves nothing" stopped
finish
