#!/bin/sh
# SPDX-License-Identifier: MIT
#
# output.t - every command where its answer, or what it writes, does not arrive
#
# No command ends badly without a sentence that says why, none says that it was
# done when it was not, and none keeps quiet about what it did all the same.  With
# QUICK=1, no call of the system fails.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
cd "$dir" || exit 1
name=decoder.layers.0.feed_forward.experts.gate.weight
cp "$fixtures/good-many-tensors.gguf" kept.gguf
"$modelfile" hash --quiet kept.gguf >manifest
# What "meta set" is to leave alone.
grep -v "^metadata " manifest >tensors

# One in a line; those that change a file are run on a copy.
cat >commands <<EOF
detect kept.gguf
info kept.gguf
info kept.gguf kept.gguf
info .
tensors kept.gguf
tensors info kept.gguf --totals
tensors stats kept.gguf
tensors export m.gguf $name o.npy
tensors export m.gguf $name o.raw --raw --force
meta kept.gguf
meta list kept.gguf --full
meta get kept.gguf general.architecture
meta set m.gguf a.b=c
meta set m.gguf general.architecture=mixtral
meta unset m.gguf general.architecture --force
meta set m.gguf a.b=c --dry-run
validate kept.gguf
validate --data kept.gguf
validate --format sarif kept.gguf
validate --format junit kept.gguf
validate --format codequality kept.gguf
validate --rules
validate --explain TENSOR-OVERLAP
hash kept.gguf
hash --check manifest kept.gguf
hash --duplicates kept.gguf
convert m.gguf o.gguf
convert m.gguf o.gguf --force --to apr
convert m.gguf o.safetensors --dry-run
dequantize m.gguf o.gguf
quantize m.gguf o.gguf q8_0
quantize m.gguf o.gguf q8_0 --dry-run
quantize m.gguf f16
split m.gguf o --max-tensors 100
merge s-00001-of-00003.gguf o.gguf
diff kept.gguf kept.gguf
help
help convert
version
convert --help
EOF
# These have no answer, or another one than was hoped for.
cat >refused <<EOF
detect $fixtures/bad-magic-fugg.gguf
info missing.gguf
info $fixtures/bad-magic-fugg.gguf
tensors kept.gguf nothing*
tensors stats missing.gguf
tensors export kept.gguf missing o.npy
meta get kept.gguf missing
meta set missing.gguf a=b
meta unset kept.gguf missing
validate missing.gguf
validate $fixtures/bad-block-count.gguf
hash missing.gguf
hash --check missing kept.gguf
hash --check manifest $fixtures/good-base.gguf
convert missing.gguf o.gguf
convert kept.gguf kept.gguf
convert kept.gguf missing/o.gguf
convert $fixtures/bad-data-missing.gguf o.gguf
convert $fixtures/good-llama.gguf o.apr
dequantize $fixtures/bad-magic-fugg.gguf o.gguf
quantize kept.gguf kept.gguf q8_0
quantize --imatrix missing kept.gguf o.gguf q4_0
quantize kept.gguf o.gguf nonsense
split kept.gguf missing/o --max-tensors 9
merge s-00001-of-00009.gguf o.gguf
diff kept.gguf missing.gguf
diff kept.gguf $fixtures/good-base.gguf
help nonsense
nonsense
--nonsense
EOF

# The files that commands are run on, and none that they make.
fresh() {
    find . -name 'o*' ! -name '.*' -type f -delete
    rm -f ggml-model-*.gguf
    cp kept.gguf m.gguf
    old=$(cksum <m.gguf)
}

# Whether there is something here that fresh() did not put here.
something_new() {
    [ "$(cksum <m.gguf)" != "$old" ] ||
        [ -n "$(find . -name 'o.*' -o -name 'o-*' -o -name 'ggml-*')" ]
}

# A sentence, not only the name of a file: no line ends with a colon.
says_why() {
    grep -q '^modelfile: .*[a-z)'"'"'0-9]' err && ! grep -q ': *$' err && return
    echo "modelfile $*: no sentence in:"
    cat err
    return 1
}

# A sentence of the last run says that a file was written or changed if and only
# if that is so.
tells_what_was_done() {
    if something_new; then
        grep -q "was written\|was changed\|are in place" err
    else
        ! grep -q "was written\|was changed\|are in place" err
    fi
}

# ---- standard output

# lost TO: standard output takes nothing, by that redirection.
lost() {
    while read -r line; do
        for json in "" --json; do
            fresh
            # shellcheck disable=SC2086 # words
            "$modelfile" $line $json >said 2>err
            wanted=$?
            [ $wanted -le 1 ] || says_why "$line $json" || return
            # Some have nothing to say there.
            [ ! -s said ] || wanted=4
            fresh
            eval "\"\$modelfile\" $line $json $1" 2>err
            got=$?
            [ $got -eq $wanted ] || {
                echo "modelfile $line $json $1: exit code $got, not $wanted"
                return 1
            }
            [ $got -le 1 ] || says_why "$line $json" || return
            [ $got -ne 4 ] || tells_what_was_done || {
                echo "modelfile $line $json $1, what was done:"
                cat err
                return 1
            }
        done
    done
}

"$modelfile" split --quiet kept.gguf s --max-tensors 100 >/dev/null
cat commands refused >all
check "a full device for standard output" lost ">/dev/full" <all
check "no standard output" lost ">&-" <all

# Standard error without a reader is not a failure.
unread() {
    mkfifo pipe
    while read -r line; do
        for json in "" --json; do
            fresh
            sleep 5 <pipe &
            reader=$!
            exec 3>pipe
            kill $reader
            wait $reader 2>/dev/null
            # shellcheck disable=SC2086 # words
            "$modelfile" $line $json >&3 3>&- 2>err
            got=$?
            exec 3>&-
            [ $got -eq 0 ] || {
                echo "modelfile $line $json: exit code $got"
                cat err
                return 1
            }
        done
    done <commands
    rm pipe
}
check "a reader of text that went away" unread

# ---- the other two

# The same answer, whether the rest of the output can be written or not.
others() {
    while read -r line; do
        # shellcheck disable=SC2086 # words
        fresh && "$modelfile" $line >said 2>err
        wanted=$?
        for to in "2>&-" "2>/dev/full" "<&-" "<&- 2>&-"; do
            fresh
            eval "\"\$modelfile\" $line $to" >said.now
            got=$?
            [ $got -eq $wanted ] && cmp said said.now || {
                echo "modelfile $line $to: exit code $got for $wanted"
                return 1
            }
        done
    done <all
}
check "without standard error or input" others

# sound FILE: a model, with the data that it should have.
sound() {
    "$modelfile" validate --data "$1" >said 2>&1 || return
    case $1 in
    m.gguf | o.gguf) "$modelfile" hash --check "$2" "$1" >said 2>&1 ;;
    esac
}

# A file opened later must not get the number of a closed standard stream.
numbers() {
    for closed in "<&-" ">&-" "2>&-" "<&- >&-" "<&- 2>&-" ">&- 2>&-" \
        "<&- >&- 2>&-"; do
        for line in "convert m.gguf o.gguf" "quantize m.gguf o.apr f16" \
            "meta set m.gguf a.b=c" "split m.gguf o --max-tensors 100"; do
            fresh
            eval "\"\$modelfile\" $line --progress always $closed" \
                >/dev/null 2>&1
            for file in m.gguf $(find . -name 'o*' ! -name '*.json'); do
                sound "$file" tensors || {
                    echo "$line $closed: $file"
                    cat said
                    return 1
                }
            done
        done
    done
}
check "no file takes the number of what is closed" numbers

# ---- the model itself goes to standard output

# Its header is longer than what is gathered before it is written, and values
# are read between two writes.
cp kept.gguf long.gguf
text=$(head -c 20000 /dev/zero | tr '\0' x)
for key in one two three; do
    "$modelfile" meta set long.gguf "some.$key=$text" --quiet >/dev/null
done
long_header() {
    for to in gguf safetensors apr; do
        "$modelfile" convert long.gguf - --to $to >/dev/full 2>err
        [ $? -eq 4 ] && says_why $to && grep -q "No space" err &&
            "$modelfile" convert long.gguf - --to $to >&- 2>err
        [ $? -eq 4 ] && says_why $to && grep -q "'-' cannot be written" err ||
            return
    done
}
check "a header that is not taken" long_header

"$modelfile" convert --quiet --reserve 2M kept.gguf large.gguf >/dev/null

# dd leaves the pipe as one that does not wait.
impatient() {
    {
        dd if=/dev/null oflag=nonblock count=0 2>/dev/null
        "$modelfile" convert --quiet --reserve 2M kept.gguf - 2>err
        echo $? >code
    } | { sleep 0.3; cat >o.gguf; }
    [ "$(cat code)" = 0 ] && cmp o.gguf large.gguf || return
    {
        dd if=/dev/null oflag=nonblock count=0 2>/dev/null
        "$modelfile" meta list --full --quiet large.gguf 2>err
        echo $? >code
    } | { sleep 0.3; cat >said; }
    "$modelfile" meta list --full --quiet large.gguf >said.now
    [ "$(cat code)" = 0 ] && cmp said said.now
}
check "a pipe that does not wait" impatient

# Text that a reader does not take: more than any pipe holds.
stuck() {
    mkfifo pipe
    sleep 30 <pipe &
    reader=$!
    "$modelfile" meta list --full --quiet large.gguf >pipe 2>err &
    child=$!
    sleep 0.5
    kill -TERM $child
    wait $child
    got=$?
    kill $reader
    wait $reader 2>/dev/null
    rm pipe
    echo "exit code $got"
    [ $got -eq 143 ] && says_why
}
check "a signal without a reader" stuck

# ---- faults of the file system

# faults CALL COMMAND...: the first such call fails, the second, ... until the
# command makes no more of them.
faults() {
    call=$1
    shift
    for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
        fresh
        strace -qq -o trace -e trace="$call" \
            -e inject="$call:error=EIO:when=$n" "$modelfile" "$@" --threads 1 \
            >said 2>err
        got=$?
        grep -q INJECTED trace || return 0
        { [ $got -eq 0 ] && something_new; } ||
            { [ $got -ne 0 ] && says_why "$*" && tells_what_was_done; } || {
            echo "$* ($call number $n fails): exit code $got"
            cat err
            find .
            return 1
        }
    done
}

each_fault() {
    for call in pwrite64 fsync fchmod fchown rename renameat renameat2 \
        fallocate ftruncate copy_file_range write; do
        faults $call convert m.gguf o.gguf &&
            faults $call convert m.gguf o.apr &&
            faults $call quantize m.gguf o.gguf q8_0 &&
            faults $call tensors export m.gguf $name o.npy &&
            faults $call split m.gguf o --max-tensors 100 &&
            faults $call convert m.gguf o.safetensors \
                --shard-tensors 100 || return
    done
}
if [ -n "${QUICK:-}" ]; then
    skip "each call that writes fails once" "make check does this"
elif ! strace -qq -o trace true 2>/dev/null ||
    grep -q __asan_report "$modelfile"; then
    skip "each call that writes fails once" "strace is not there or refused"
else
    check "each call that writes fails once" each_fault
fi
finish
