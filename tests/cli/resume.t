#!/bin/sh
# SPDX-License-Identifier: MIT
#
# resume.t - with --resume, work that was stopped goes on, and nothing else does
#
# The program is killed in a write of a known number (tests/programs/endless.c), or at a
# random moment.  RESUME_KILLS sets how many of the latter there are.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh
. tests/lib-stop.sh

filled=$build/tests/filled
kills=${RESUME_KILLS:-${QUICK:+4}}
kills=${kills:-10}
cd "$dir" || exit 1
mkdir out
"$filled" f16 160 in.gguf

clean() {
    rm -rf out
    mkdir out
}

# left: hidden files next to the outputs.
left() {
    find out -name '.*' | sort
}

# report FILE: what --json says of a quantized model, less the cost and paths.
report() {
    sed 's/.*"format"/"format"/; s/,"run":.*//' "$1"
}

# goes_on PLACES COMMAND... : killed in each of these, one after the other, on
# another number of threads; the result matches one run.
goes_on() {
    places=$1
    shift
    clean
    "$modelfile" "$@" --json >whole.json 2>said || return
    rm -rf whole
    mv out whole
    clean
    threads=1
    for place in $places; do
        stop KILL "$place" "$@" --resume --threads $threads
        threads=$((threads % 3 + 1))
        [ $code -eq 137 ] || {
            cat said
            echo "$place: exit code $code"
            return 1
        }
        [ -n "$(left)" ] || return
    done 2>/dev/null
    "$modelfile" "$@" --resume --json >again.json 2>said || {
        cat said
        return 1
    }
    wrote=$(sed 's/.*"bytes_written":\([0-9]*\).*/\1/' again.json)
    total=$(sed 's/.*"file_bytes":\([0-9]*\).*/\1/' again.json)
    [ "$wrote" -lt "$total" ] || {
        echo "$wrote of $total bytes were written again"
        return 1
    }
    [ "$(report whole.json)" = "$(report again.json)" ] &&
        diff -r whole out && [ -z "$(left)" ]
}

"$filled" q8_0 160 blocks.gguf
"$modelfile" split --quiet --max-tensors 3 in.gguf part >said
check "quantize --report" goes_on "WRITE=700 WRITE=100 WRITE=600" \
    quantize in.gguf out/o.gguf Q6_K --report
check "quantize to a type with one scale" goes_on "WRITE=700 WRITE=100" \
    quantize in.gguf out/o.apr apr_q8 --report
check "quantize to several outputs" goes_on "WRITE=2000 WRITE=100 WRITE=1500" \
    quantize in.gguf --output Q6_K=out/a.gguf --output Q8_0=out/b.gguf \
    --output F16=out/c.gguf
check "and to types with one scale" goes_on "WRITE=5000 WRITE=300" \
    quantize in.gguf --output apr_q8=out/a.apr --output apr_q4=out/b.apr \
    --output F32=out/c.apr --tensor-type 't[01]=f16'
check "convert" goes_on "WRITE=240 WRITE=60" convert in.gguf out/o.apr
check "convert to shards with an index" goes_on \
    "WRITE=700 WRITE=60 SYNC=3" convert in.gguf out/o.safetensors --shard-size 44M --type bf16
check "dequantize" goes_on "WRITE=500 WRITE=90" dequantize blocks.gguf out/o.gguf
check "split" goes_on "SYNC=3" split in.gguf out/o.gguf --max-tensors 2
check "merge" goes_on "SYNC=2" merge part-00001-of-00003.gguf out/o.apr

# ---- killed at random moments

# killed_until_done SIGNAL THREADS: attempts get longer, so that the work ends.
# A kill after the file has its name leaves nothing to do, and no report.
killed_until_done() {
    signal=$1
    threads=$2
    for _ in $(seq 100); do
        RANDOM_SEED=$(((RANDOM_SEED * 1103515245 + 12345) % 2147483648))
        after=$((after + RANDOM_SEED / 65536 % 200))
        timeout -s "$signal" "$((after / 1000)).$(printf %03d \
            $((after % 1000)))" "$modelfile" quantize --json --report --resume \
            --threads "$threads" in.gguf out/o.gguf Q4_K >again.json 2>said &&
            [ "$(report whole.json)" = "$(report again.json)" ] && return
        [ ! -f out/o.gguf ] || [ -n "$(left)" ] || return 0
        [ -z "$(left)" ] || went_on=$((went_on + 1))
        i=$((i + 1))
    done
    cat said
    return 1
}

random() {
    rm -rf whole
    clean
    mkdir whole
    "$modelfile" quantize in.gguf whole/o.gguf Q4_K --report --json \
        >whole.json 2>said || return
    went_on=0
    i=0
    while [ $i -lt "$kills" ]; do
        clean
        after=0
        killed_until_done "$([ $((i % 3)) -eq 2 ] && echo TERM || echo KILL)" \
            $((i % 3 + 1)) && cmp whole/o.gguf out/o.gguf &&
            [ -z "$(left)" ] || return
    done 2>/dev/null
    echo "$i kills, $went_on times something was kept"
    [ $went_on -gt 0 ]
}
RANDOM_SEED=${RESUME_SEED:-4711}
check "$kills kills at random moments" random

# ---- with a record

# The folder of the record has what the killed one left.
recorded() {
    clean
    rm -rf rec
    stop KILL WRITE=700 $quantizes --record rec 2>/dev/null
    [ -n "$(left)" ] && [ ! -s rec/run.json ] &&
        "$modelfile" $quantizes --record rec >printed 2>said &&
        "$modelfile" bench --verify rec >/dev/null 2>&1 &&
        [ -s rec/run.json ] && cmp out/o.gguf recorded.gguf && [ -z "$(left)" ]
}
quantizes="quantize in.gguf out/o.gguf Q8_0 --resume"
"$modelfile" quantize in.gguf recorded.gguf Q8_0 --quiet 2>said
check "the record of a run that was killed makes room" recorded

# ---- what stops say

quantizes="quantize in.gguf out/o.gguf Q8_0 --resume"

says_so() {
    clean
    stop TERM WRITE=700 $quantizes --json
    [ $code -eq 143 ] && grep -q 'interrupted; the work so far is kept' said ||
        return
    : >said
    stop TERM WRITE=1 $quantizes
    clean
    stop TERM WRITE=1 $quantizes
    [ $code -eq 143 ] && ! grep -q 'kept' said && [ -z "$(left)" ]
}
check "a signal: what is kept is said; nothing is left where nothing is done" \
    says_so

# One file system call fails; strace may be refused.
fails() {
    clean
    strace -f -qq -o trace -e trace=pwrite64 \
        -e inject=pwrite64:error="$1":when=700 "$modelfile" --json $quantizes \
        --threads 1 >printed 2>said
    [ $? -eq 4 ] && grep -q '"resumable":true' printed &&
        grep -q 'the work so far is kept' said && [ -n "$(left)" ] || return
    "$modelfile" $quantizes --quiet >said 2>&1 && cmp whole/8.gguf out/o.gguf &&
        [ -z "$(left)" ]
}
"$modelfile" quantize --quiet in.gguf whole/8.gguf Q8_0 >said 2>&1
if strace -f -qq -o trace true 2>/dev/null &&
    ! grep -q __asan_report "$modelfile"; then
    check "EIO" fails EIO
    check "ENOSPC" fails ENOSPC
else
    skip "EIO and ENOSPC" "strace is not there or refused, or sanitizers"
fi

nothing_begun() {
    clean
    (
        ulimit -f 1000
        "$modelfile" $quantizes --json >printed 2>said
    )
    [ $? -eq 4 ] && grep -q '"resumable":false' printed && [ -z "$(left)" ]
}
check "no space to begin with: nothing is kept" nothing_begun

# ---- what does not fit

clean
stop KILL WRITE=700 $quantizes 2>/dev/null
mkdir kept
cp -p out/.o* kept

restore() {
    rm -rf out
    cp -rp kept out
}

# refused WORDS [ARGUMENT...]: what is in out is refused with these words, and
# left as it is; --force starts again.
refused() {
    words=$1
    shift
    find out -type f -size +0 -exec cksum {} + | sort >before
    "$modelfile" --json --no-sandbox ${*:-$quantizes} >printed 2>said
    got=$?
    find out -type f -size +0 -exec cksum {} + | sort >after
    if [ $got -ne 4 ] || ! grep -q "$words" said ||
        ! grep -q '"resumable":false' printed || ! cmp before after; then
        echo "exit code $got"
        cat said
        return 1
    fi
    "$modelfile" ${*:-$quantizes} --force --quiet >said 2>&1 || {
        cat said
        return 1
    }
    [ -z "$(left)" ] && { [ $# -gt 0 ] || cmp whole/8.gguf out/o.gguf; }
}

foreign() {
    echo "Words of a user who has a file of that name." >"$1"
}
partial=out/.o.gguf.partial
log=out/.o.gguf.resume
check "a changed byte of the partial file" tampered \
    "differs from the bytes that were written" flip $partial 1000000
check "another, further on" tampered \
    "differs from the bytes that were written" flip $partial 30000000
check "a partial file that is cut" tampered "another size" \
    cut_to $partial 1000000
check "a partial file that is gone" tampered "is missing" rm $partial
check "a changed byte of the log" tampered "is damaged" flip $log 300
check "another file in the log's place" tampered "is damaged\|not made by" \
    foreign $log
for file in $partial $log; do
    name=${file##*.}
    check "$name: a symbolic link" tampered "is a symbolic link" relink $file
    check "$name: another name" tampered "has another name" hard $file
    check "$name: a pipe" tampered "is not a regular file" pipe $file
    check "$name: others may read it" tampered "permissions" chmod 644 $file
    if [ "$(id -u)" -eq 0 ]; then
        check "$name: of another user" tampered "another user" \
            chown 12345 $file
    else
        skip "$name: of another user" "only root can give files away"
    fi
done
rm -f other-name elsewhere

cp -p in.gguf kept.gguf
touch -d '2001-01-01' in.gguf
restore
check "another time of the input" refused "the input is not the one"
cp -p kept.gguf in.gguf
restore
check "other options" refused "with other options" \
    quantize in.gguf out/o.gguf Q8_0 --resume --leave-output --report
restore
check "another type" refused "with other options" \
    quantize in.gguf out/o.gguf Q6_K --resume
restore
check "another effort" refused "with other options" \
    quantize in.gguf out/o.gguf Q8_0 --resume --effort 2
restore
echo here >out/o.gguf
check "a file that was put there since" refused "already exists"

# matrix NUMBERS: of t3.weight, 4096 columns, as llama-imatrix wrote it.
matrix() {
    printf '\001\000\000\000\011\000\000\000t3.weight'
    printf '\001\000\000\000\000\020\000\000'
    awk -v number="$1" 'BEGIN { for (i = 0; i < 4096; i++) printf number }'
}
matrix '@?@@' >one.dat
weighs="quantize in.gguf out/o.gguf Q4_0 --resume --imatrix one.dat"
clean
stop KILL WRITE=700 $weighs 2>/dev/null
rm -rf kept
cp -rp out kept
check "other entries of the importance matrix" refused "with other options" \
    $weighs --include-weights t
restore
matrix '@?A@' >one.dat
check "another importance matrix" refused "importance matrix is not the one" \
    $weighs

# The lines of a list count, not its name.
echo 't[5-7]=q5_0' >list
types="quantize in.gguf out/o.gguf Q4_0 --resume --tensor-type-file list"
other_types() {
    clean
    stop KILL WRITE=700 $types
    rm -rf kept
    cp -rp out kept
    echo 't[56]=q5_0' >list
    refused "with other options" $types || return
    restore
    echo 't[5-7]=Q5_0 absent=q8_0' >list
    "$modelfile" $types --json >again.json 2>said &&
        "$modelfile" quantize -q in.gguf whole.gguf Q4_0 \
            --tensor-type 't[5-7]=q5_0' >said && cmp whole.gguf out/o.gguf &&
        [ "$(sed 's/.*"bytes_written":\([0-9]*\).*/\1/' again.json)" -lt \
            "$(wc -c <whole.gguf)" ]
}
check "other types in --tensor-type-file" other_types 2>/dev/null
rm -f whole.gguf

# Memory may be shorter, too.
less_memory() {
    clean
    stop KILL WRITE=700 $quantizes
    "$modelfile" $quantizes --max-memory 1M --json >again.json 2>said || {
        cat said
        return 1
    }
    wrote=$(sed 's/.*"bytes_written":\([0-9]*\).*/\1/' again.json)
    echo "$wrote bytes were written again"
    cmp whole/8.gguf out/o.gguf && [ -z "$(left)" ] && [ "$wrote" -lt 60000000 ]
}
check "less memory than before" less_memory 2>/dev/null
clean
stop KILL WRITE=700 $quantizes 2>/dev/null
rm -rf kept
cp -rp out kept

# A log that a kill left without its last bytes.
cut_log() {
    size=$(wc -c <kept/.o.gguf.resume)
    for less in 1 40 200 $((size - 300)) $((size - 10)) "$size"; do
        restore
        truncate -s $((size - less)) $log
        "$modelfile" $quantizes --quiet >said 2>&1 || {
            cat said
            return 1
        }
        cmp whole/8.gguf out/o.gguf && [ -z "$(left)" ] || return
    done
}
check "a log that is cut: the rest is done again" cut_log

# After --force, the work that goes on may replace the file, too.
forced() {
    clean
    echo old >out/o.gguf
    stop KILL WRITE=700 $quantizes --force 2>/dev/null
    [ "$(cat out/o.gguf)" = old ] || return
    stop TERM WRITE=700 $quantizes --force
    grep -q 'with --resume continues, without --force$' said || return
    "$modelfile" $quantizes >said 2>&1 &&
        cmp whole/8.gguf out/o.gguf && [ -z "$(left)" ]
}
check "what --force began may replace the file" forced

at_once() {
    clean
    : >said
    ENDLESS_WRITE=700 "$endless" $quantizes >printed 2>said &
    child=$!
    gets_there
    "$modelfile" $quantizes >second 2>&1
    got=$?
    "$modelfile" $quantizes --force >third 2>&1
    again=$?
    kill -KILL $child
    wait $child 2>/dev/null
    [ $got -eq 4 ] && [ $again -eq 4 ] &&
        grep -q "another process is writing 'out/o.gguf'" second &&
        grep -q "another process is writing 'out/o.gguf'" third &&
        "$modelfile" $quantizes >said 2>&1 && cmp whole/8.gguf out/o.gguf
}
check "two at once: the second is refused" at_once

# ---- renames

# Killed between the renames of shards (renameat2), and after the last.
renames() {
    shards="split in.gguf out/o.gguf --max-tensors 2"
    clean
    "$modelfile" $shards --quiet >said 2>&1
    rm -rf whole
    mv out whole
    for n in 1 2 3 4; do
        clean
        strace -f -qq -o trace -e trace=renameat2 \
            -e inject=renameat2:signal=KILL:when=$n "$modelfile" --no-sandbox \
            $shards --resume >said 2>&1
        [ -n "$(left)" ] || return
        "$modelfile" $shards --resume --quiet >said 2>&1 || {
            cat said
            return 1
        }
        diff -r whole out && [ -z "$(left)" ] || return
    done
}
if strace -f -qq -o trace true 2>/dev/null &&
    ! grep -q __asan_report "$modelfile"; then
    check "killed between two renames" renames
else
    skip "killed between two renames" "strace is not there or refused"
fi

# ---- usage

usage() {
    "$modelfile" $1 >said 2>&1
    [ $? -eq 2 ] && grep -q -e "$2" said
}
check "--dry-run" usage "convert in.gguf out/o.apr --resume --dry-run" \
    "cannot both be given"
check "standard output" usage "convert in.gguf - --to apr --resume" \
    "requires a file as OUT"
check "standard output of quantize" usage "quantize in.gguf - Q8_0 --resume" \
    "requires a file as OUT"

to_pipe() {
    mkfifo pipe
    "$modelfile" convert in.gguf pipe --to apr --resume >said 2>&1
    [ $? -eq 4 ] && grep -q "is not a regular file" said
}
check "a pipe" to_pipe

# ---- without --resume

names_left() {
    clean
    stop KILL WRITE=100 convert in.gguf out/o.apr 2>/dev/null
    killed=$(left)
    [ -n "$killed" ] || return
    "$modelfile" convert --quiet in.gguf out/o.apr >said 2>&1 &&
        grep -q "'${killed#out/}' in its folder was left by process" said &&
        [ "$(left)" = "$killed" ]
}
check "a temporary file that a kill left is named, not removed" names_left

finish
