#!/bin/sh
# SPDX-License-Identifier: MIT
#
# jobs.t - many files, each by a process of its own: --jobs, --part, --log
#
# shellcheck disable=SC2086 # options are split at spaces
set -u
. tests/tap.sh
. tests/lib-run.sh
if ! command -v python3 >/dev/null 2>&1; then
    skip "all of it" "python3 is not installed"
    finish
fi
models=$dir/models
mkdir "$models" "$models/below" "$dir/logged"
cp "$fixtures"/good-*.gguf "$fixtures"/good-*.safetensors "$fixtures"/good-*.apr \
    "$fixtures"/good-*.npz "$fixtures"/good-*.pt "$models" 2>/dev/null
cp "$fixtures"/bad-a*.gguf "$models/below"
printf 'GGUFxxxx' >"$models/below/version.gguf"
mkdir "$models/empty"
cd "$models" || exit

# ---- the same answers

# alone COMMAND...: every model of the list by a run of its own.
alone() {
    worst=0
    while read -r path; do
        code=0
        "$modelfile" "$@" --quiet "$path" || code=$?
        [ $code -le $worst ] || worst=$code
    done <"$dir/list"
}
"$modelfile" info --json . 2>/dev/null | python3 -c '
import json, sys
for file in json.load(sys.stdin)["files"]:
    print(file["file"])' >"$dir/list"
same_text() { # JOBS COMMAND...
    most=$1
    shift
    alone "$@" >"$dir/one" 2>"$dir/one.err"
    ends $worst "$@" --quiet --jobs $most . || return
    sed "/^ *[0-9][0-9,]*  [a-z]/d" "$dir/out" >"$dir/several"
    sort "$dir/err" >"$dir/err.sorted"
    sort "$dir/one.err" | diff - "$dir/err.sorted" &&
        diff "$dir/one" "$dir/several"
}
for most in 1 3 64; do
    check "validate, $most at once" same_text $most validate --data
    check "info, $most at once" same_text $most info
    check "hash, $most at once" same_text $most hash --algo sha256
done

# Each line but the last is what a run for the file prints, but for its cost.
same_documents() { # COMMAND...
    alone "$@" --json >"$dir/one" 2>/dev/null
    ends $worst "$@" --json --jobs 5 . || return
    python3 - "$dir/one" "$dir/out" <<'END'
import json
import sys

one, several = (list(map(json.loads, open(path))) for path in sys.argv[1:])
summary = several.pop()["summary"]
for document in one + several:
    del document["run"]
assert one == several, "the documents differ"
assert summary["files"] == len(one) == sum(summary["exit_codes"].values()), summary
END
}
check "validate: the same documents" same_documents validate --data
check "info: the same documents" same_documents info
check "hash: the same documents" same_documents hash

listed() {
    grep '\.gguf$' "$dir/list" >"$dir/some"
    ends 0 tensors --files-from "$dir/some" --json 'blk.0*' ||
        ends 3 tensors --files-from "$dir/some" --json 'blk.0*' ||
        ends 1 tensors --files-from "$dir/some" --json 'blk.0*' || return
    cp "$dir/out" "$dir/one"
    ends $ends_found tensors --files-from "$dir/some" --json --jobs 4 'blk.0*' ||
        return
    python3 - "$dir/one" "$dir/out" <<'END'
import json
import sys

one = json.load(open(sys.argv[1]))["files"]
several = [json.loads(line) for line in open(sys.argv[2])][:-1]
assert one == [file for line in several for file in line["files"]]
END
}
check "tensors info of a list" listed

# ---- parts

parts() {
    rm -f "$dir"/part.*
    for part in 1 2 3 4 5 6 7; do
        "$modelfile" info --json --quiet --part $part/7 . \
            >"$dir/part.$part" 2>/dev/null
    done
    python3 - "$dir/list" "$dir"/part.? <<'END'
import json
import sys

paths = open(sys.argv[1]).read().split("\n")[:-1]
found = {}
for part, name in enumerate(sys.argv[2:]):
    for line in map(json.loads, open(name)):
        for file in line.get("files", []):
            assert file["file"] not in found, file["file"]
            found[file["file"]] = part
assert sorted(found) == sorted(paths), set(paths) ^ set(found)
assert [found[path] for path in paths] == [i % 7 for i in range(len(paths))]
END
}
check "each file is in one part" parts
for part in 0/2 3/2 2 /2 2/ 1/x 1/1000000000000 -1/2; do
    check "--part $part" expect 2 "it is I/N" validate --part=$part good-llama.gguf
done

# ---- a log

count() { # FILES LEFT-OUT
    python3 - "$dir/out" "$1" "$2" <<'END'
import json
import sys

summary = json.loads(open(sys.argv[1]).readlines()[-1])["summary"]
found = [summary["files"], summary["left_out"]]
assert found == list(map(int, sys.argv[2:])), found
END
}
odd=$(printf 'a new\nline \\ and b.gguf')
cp good-llama.gguf "$dir/logged/$odd"
cp good-llama.gguf good-tiny.gguf "$dir/logged" 2>/dev/null
cp below/bad-alignment-5.gguf below/version.gguf "$dir/logged"
ln -s nowhere.gguf "$dir/logged/z.gguf"
cd "$dir/logged" || exit
all=$(find . -name '*.gguf' | tr -d '\n' | tr './' '\n.' | grep -c gguf)
first_run() {
    ends 3 validate --json --log "$dir/log" . && count "$all" 0
}
check "a log" first_run
goes_on() {
    ends 3 validate --json --jobs 2 --log "$dir/log" . && count 1 $((all - 1))
}
check "goes on: what could not be read is read again" goes_on
rm z.gguf
all=$((all - 1))
none_left() {
    ends 1 validate --json --log "$dir/log" . && count 0 $all
}
check "all are left out, with their exit code" none_left
changed() {
    touch -d 2001-02-03 good-llama.gguf
    ends 1 validate --json --log "$dir/log" . && count 1 $((all - 1))
}
check "a file that has changed" changed
cut_line() {
    printf '0 24288 123' >>"$dir/log"
    ends 1 validate --json --log "$dir/log" . && count 0 $all &&
        touch -d 2002-02-03 good-llama.gguf &&
        ends 1 validate --json --log "$dir/log" . && count 1 $((all - 1)) &&
        ends 1 validate --json --log "$dir/log" . && count 0 $all
}
check "a line that was cut" cut_line
check "another command's log" expect 4 "not a log of this command" \
    info --log "$dir/log" .
check "other options'" expect 4 "not a log of this command" \
    validate --strict --log "$dir/log" .
check "another reader" expect 4 "not a log of this command" \
    validate --for spec --log "$dir/log" .
first_algorithm() {
    ends 0 hash --json --log "$dir/log.algorithm" good-llama.gguf &&
        expect 4 "not a log of this command" hash --algo crc32 \
            --log "$dir/log.algorithm" good-llama.gguf
}
check "an option's first word is not its default" first_algorithm
other_pattern() {
    ends 0 tensors good-llama.gguf 'blk.0*' --log "$dir/log.pattern" &&
        expect 4 "not a log of this command" tensors good-llama.gguf 'blk.1*' \
            --log "$dir/log.pattern"
}
check "another pattern" other_pattern
check "of as many threads" ends 1 validate --threads 1 --log "$dir/log" .
cp good-llama.gguf "$dir/model"
check "a model is not a log" expect 4 "not a log of this command" \
    validate --log "$dir/model" .
check "and stays" cmp "$dir/model" good-llama.gguf
mkfifo "$dir/pipe"
check "nor a pipe" expect 4 "it is not a log" validate --log "$dir/pipe" .
check "nor a folder" expect 4 "Is a directory" validate --log "$dir" .
check "nor a device" expect 4 "it is not a log" validate --log /dev/null .

# What has no reader is not finished.
noted() { # LOG
    grep -c 'gguf$' "$1"
}
reader_leaves() {
    (sleep 0.3 && "$modelfile" hash --quiet --jobs 2 --log "$dir/log.closed" . \
        2>"$dir/err") | true
    [ "$(noted "$dir/log.closed")" = 0 ]
}
check "a reader that leaves" reader_leaves
disk_is_full() {
    code=0
    "$modelfile" hash --quiet --jobs 2 --log "$dir/log.full" . >/dev/full \
        2>"$dir/err" || code=$?
    [ $code = 4 ] && [ "$(noted "$dir/log.full")" = 0 ]
}
check "a full disk" disk_is_full
folders() {
    for _ in 1 2; do
        ends 0 tensors "$fixtures/good-hf-llama" --totals --json \
            --log "$dir/log.folder" && count 1 0 || return
    done
}
check "of a folder the time says little" folders

# ---- usage

for option in --sarif=x --junit=x --codequality=x --format=junit --baseline=x; do
    check "not with $option" expect 2 "about all files together" \
        validate --jobs 2 $option .
done
check "not with --check" expect 2 "about all files together" \
    hash --check x --jobs 2 .
check "not with --duplicates" expect 2 "about all files together" \
    hash --duplicates --part 1/2 .
options="--max-memory=1M --record=x --progress=json"
! counts_memory || options="$options --dhat"
for option in $options; do
    check "not with $option" expect 2 "cannot be given with" \
        validate $option --jobs 2 .
done
check "not a URL" expect 2 "is not a file" validate --jobs 2 http://127.0.0.1:1/x
check "not a pipe" expect 2 "is not a file" validate --jobs 2 -
check "at most 256" expect 2 "at most 256" validate --jobs 257 .
check "nothing written" test ! -e x

# ---- in the middle

# Sparse: hashing it takes seconds.
cd "$dir" || exit
mkdir slow
python3 - <<'END'
import struct
header = b'{"a":{"dtype":"F32","shape":[2147483648],"data_offsets":[0,8589934592]}}'
header += b" " * (-len(header) % 8)
with open("slow/a.safetensors", "wb") as out:
    out.write(struct.pack("<Q", len(header)) + header)
    out.truncate(8 + len(header) + 8589934592)
END
for i in 1 2 3 4 5 6 7 8 9; do
    cp "$fixtures/good-llama.gguf" "slow/b$i.gguf"
done
children() {
    cat "/proc/$1/task/$1/children" 2>/dev/null
}
begin() { # COMMAND...
    "$modelfile" "$@" >"$dir/out" 2>"$dir/err" &
    program=$!
    for _ in $(seq 50); do
        busy=$(children $program)
        [ -z "$busy" ] || break
        sleep 0.1
    done
}
gone() { # PROCESS
    for _ in $(seq 30); do
        grep -q '^State:.[^ZX]' "/proc/$1/status" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}
killed() { # SIGNAL, what is SAID
    rm -f "$dir/log.killed"
    begin hash --json --quiet --algo sha256 --jobs 2 --log "$dir/log.killed" slow
    sleep 1
    kill -$1 $(children $program | cut -d ' ' -f 1) # the first one
    code=0
    wait $program || code=$?
    [ $code = 3 ] && grep -q "slow/a.safetensors.*$2" "$dir/err" &&
        [ "$(grep -c 'gguf' "$dir/log.killed")" = 9 ] &&
        ! grep -q safetensors "$dir/log.killed" &&
        python3 - "$dir/out" <<'END'
import json
import sys

lines = list(map(json.loads, open(sys.argv[1])))
assert len(lines) == 11 and lines[0]["files"][0]["error"]["code"] in (3, 143)
summary = lines[-1]["summary"]
assert summary["ended_by_signal"] == 1 and summary["exit_codes"] == {"0": 9}
END
}
interrupted() {
    begin hash --quiet --algo sha256 --jobs 2 slow
    sleep 0.5
    busy=$(children $program)
    kill -TERM $program
    code=0
    wait $program || code=$?
    [ $code = 143 ] && gone $busy
}
in_use() {
    begin hash --quiet --algo sha256 --jobs 2 --log "$dir/log.used" slow
    sleep 0.5
    expect 4 "another run uses it" hash --algo sha256 --log "$dir/log.used" slow
    found=$?
    kill -TERM $program
    wait $program
    return $found
}
dies_with_it() {
    begin hash --quiet --algo sha256 --jobs 2 slow
    sleep 0.5
    busy=$(children $program)
    kill -9 $program
    wait $program 2>/dev/null
    gone $busy
}
if [ -n "$(children $$)" ]; then
    check "a process that is killed stops nothing" killed 9 "signal 9"
    check "nor does one that is asked to end" killed 15 interrupted
    check "SIGTERM ends all of them" interrupted
    check "a log has one run at a time" in_use
    check "they end with the program" dies_with_it
else
    skip "processes that end" "the system does not list children"
fi

# More than are kept in work and in turn, and answers that fill a pipe.  A
# process with sanitizers needs much memory.
most=256
counts_memory || most=32
wide() {
    rm "$dir/slow/a.safetensors"
    for i in $(seq 40); do
        for b in 1 2 3 4 5 6 7 8 9; do echo "slow/b$b.gguf"; done
    done >"$dir/list"
    ends 0 hash --json --files-from "$dir/list" --jobs $most || return
    python3 - "$dir/out" <<'END'
import json
import sys

lines = list(map(json.loads, open(sys.argv[1])))
assert len(lines) == 361, len(lines)
for i, line in enumerate(lines[:-1]):
    assert line["files"][0]["file"] == f"slow/b{i % 9 + 1}.gguf", i
END
}
check "$most at once, in order" wide
few_files() {
    (ulimit -n 24 && ends 0 hash --json --files-from "$dir/list" --jobs 4) &&
        [ "$(wc -l <"$dir/out")" = 361 ]
}
check "and where few files can be open" few_files
finish
