#!/bin/sh
# SPDX-License-Identifier: MIT
#
# touched.t - an input that is changed while it is read
#
# Its time of writing is set back (touch -r), so that only the time of the last
# change of status tells.  That one also changes with the file's mode and names,
# which must not matter.  tests/programs/endless.c runs a command within a read.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

endless=$build/modelfile-endless
filled=$build/tests/filled
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
hub=$fixtures/hub/options/fp8
llama=$fixtures/good-llama.gguf
cd "$dir" || exit 1

# edit FILE BYTE: changes a byte there, and sets the time back.
cat >edit <<'END'
touch -r "$1" time.of
printf '\101' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
touch -r time.of "$1"
END

# size FILE
size() {
    wc -c <"$1" | tr -d ' '
}

"$filled" f16 8 new.gguf
"$filled" q8_0 8 blocks.gguf
"$filled" f16 160 large.gguf
fresh() {
    cp ${from:-new.gguf} in.gguf
    rm -f out.gguf out.apr other.gguf
    last=$(($(size in.gguf) - 1000))
}

# within READ COMMAND ARGUMENT...: the command of the shell runs in that read of
# the program.  What is printed is in printed, the exit code in code.
within() {
    at=$1
    run=$2
    shift 2
    code=0
    ENDLESS_READ=$at ENDLESS_RUN=$run "$endless" --no-sandbox "$@" --quiet \
        >printed 2>said </dev/null || code=$?
}

# notices ARGUMENT...: an edit of what was read already is an error.
notices() {
    fresh
    within 12 "sh edit in.gguf 100001" "$@" --threads 1
    [ $code -ge 3 ] && [ $code -le 4 ] && grep -q 'time set back' said &&
        [ ! -e out.gguf ] && return
    echo "exit code $code"
    cat printed said
    return 1
}

# takes_new ARGUMENT...: what is printed is about the file as it is at the end.
takes_new() {
    fresh
    within 4 "sh edit in.gguf $last" "$@"
    [ $code -eq 0 ] && "$modelfile" "$@" --quiet >expected &&
        cmp printed expected && return
    echo "exit code $code"
    cat said
    return 1
}

# goes_on ARGUMENT...: mode and names are changed, and nothing else.
goes_on() {
    for change in 'chmod 600 in.gguf' 'ln in.gguf other.gguf' \
        'mv in.gguf other.gguf; mv other.gguf in.gguf'; do
        fresh
        within 4 "$change" "$@"
        rm -rf first
        mkdir first
        for file in out.gguf out.apr; do
            [ ! -e $file ] || mv $file first
        done
        [ $code -eq 0 ] && mv printed first &&
            "$modelfile" "$@" --quiet >printed && cmp first/printed printed &&
            { [ ! -e out.gguf ] || cmp out.gguf first/out.gguf; } &&
            { [ ! -e out.apr ] || cmp out.apr first/out.apr; } && continue
        echo "$change: exit code $code"
        cat said
        return 1
    done
}

for command in "hash in.gguf" "tensors stats in.gguf" \
    "diff --values in.gguf new.gguf" "validate --data in.gguf"; do
    check "$command: the mode and the names do not matter" goes_on $command
done
check "hash is of the file as it is at the end" takes_new hash in.gguf
check "so are its numbers" takes_new tensors stats in.gguf
sums() {
    sha256sum new.gguf | sed 's/new/in/' >sums
    fresh
    within 2 "sh edit in.gguf $last" hash --check sums in.gguf
    [ $code -eq 1 ]
}
check "the digest of a file, too" sums

check "quantize: the mode and the names do not matter" \
    goes_on quantize in.gguf out.gguf Q8_0
check "convert: likewise" goes_on convert in.gguf out.gguf --type bf16
check "a copy: likewise" goes_on convert in.gguf out.gguf --names keep
check "a type with one scale: likewise" goes_on quantize in.gguf out.apr apr_q8
check "quantize: an edit is found" notices quantize in.gguf out.gguf Q8_0
from=blocks.gguf
check "dequantize: likewise" notices dequantize in.gguf out.gguf
check "its mode and names do not matter" goes_on dequantize in.gguf out.gguf
from=

# A change of the metadata, which was read before.
metadata() {
    cp "$llama" in.gguf
    place=$(grep -abo 'Tiny Llama' in.gguf | head -n 1 | cut -d : -f 1)
    for command in "hash in.gguf" "quantize in.gguf out.gguf Q4_0 --allow-requantize"; do
        cp "$llama" in.gguf
        rm -f out.gguf
        within 6 "sh edit in.gguf $place" $command
        [ $code -ge 3 ] && grep -q 'time set back' said && continue
        echo "$command: exit code $code"
        cat said
        return 1
    done
}
check "an edit of the metadata is found" metadata

# ---- files next to the model

sidecar() {
    rm -rf folder out.gguf
    cp -r "$hub" folder
    within 20 "$1" convert folder out.gguf --type f32
}
sidecar_edited() {
    sidecar 'sh edit folder/tokenizer_config.json 20'
    [ $code -ge 3 ] && [ ! -e out.gguf ] &&
        grep -q "'tokenizer_config.json', which was read with the model, has \
changed" said && return
    echo "exit code $code"
    cat said
    return 1
}
sidecar_replaced() {
    sidecar 'sed "s/true/false/" folder/tokenizer_config.json >folder/new
        mv folder/new folder/tokenizer_config.json'
    [ $code -ge 3 ] && grep -q "has changed" said
}
sidecar_touched() {
    sidecar 'chmod 600 folder/tokenizer_config.json folder/config.json'
    [ $code -eq 0 ] || {
        cat said
        return 1
    }
}
check "a tokenizer's file that is edited while its folder is converted" \
    sidecar_edited
check "one that is replaced" sidecar_replaced
check "its mode does not matter" sidecar_touched

# ---- between a stop and going on

# stopped ARGUMENT...: a kill in the middle of quantizing.
stopped() {
    rm -rf out in.gguf
    mkdir out
    cp large.gguf in.gguf
    : >said
    ENDLESS_WRITE=700 "$endless" $quantizes --threads 1 >printed 2>said &
    child=$!
    for _ in $(seq 3000); do
        grep -q '^endless' said && break
        kill -0 $child || break
        sleep 0.01
    done
    kill -KILL $child
    wait $child
    [ -n "$(find out -name '.*.resume')" ]
}
quantizes="quantize in.gguf out/o.gguf Q8_0 --resume"
"$modelfile" quantize --quiet large.gguf whole.gguf Q8_0 >said

resume_edited() {
    stopped 2>/dev/null && sh edit in.gguf 1000000 || return
    "$modelfile" --quiet $quantizes >printed 2>said
    code=$?
    [ $code -eq 4 ] && [ ! -e out/o.gguf ] &&
        grep -q "the input differs from the one it began with: the output before" \
            said && return
    echo "exit code $code"
    cat said
    return 1
}
# What was not read yet may be anything.
resume_later() {
    stopped 2>/dev/null && sh edit in.gguf $(($(size in.gguf) - 1000)) &&
        "$modelfile" --quiet $quantizes 2>said &&
        "$modelfile" quantize --quiet in.gguf new-whole.gguf Q8_0 --force &&
        cmp new-whole.gguf out/o.gguf
}
# resume_touched COMMAND: which changes nothing that counts.
resume_touched() {
    stopped 2>/dev/null && sh -c "$1" || return
    "$modelfile" --json $quantizes >again.json 2>said || {
        cat said
        return 1
    }
    [ "$(sed 's/.*"bytes_written":\([0-9]*\).*/\1/' again.json)" -lt \
        "$(size whole.gguf)" ] && cmp whole.gguf out/o.gguf
}
check "resume: what was used of the input was edited" resume_edited
check "resume: what was not used yet was" resume_later
for change in 'chmod 600 in.gguf' 'ln in.gguf linked.gguf' \
    'mv in.gguf x && mv x in.gguf'; do
    check "resume: goes on after $change" resume_touched "$change"
done
resume_within() {
    rm -rf out in.gguf
    mkdir out
    cp large.gguf in.gguf
    within 200 'chmod 600 in.gguf' $quantizes
    [ $code -eq 0 ] && cmp whole.gguf out/o.gguf || {
        cat said
        return 1
    }
}
resume_within_edited() {
    rm -rf out in.gguf
    mkdir out
    cp large.gguf in.gguf
    within 300 'sh edit in.gguf 1000000' $quantizes
    [ $code -eq 4 ] && [ ! -e out/o.gguf ] && grep -q "made from other bytes" said
}
check "work that could go on: a change of the mode meanwhile" resume_within
check "an edit of what it used" resume_within_edited
finish
