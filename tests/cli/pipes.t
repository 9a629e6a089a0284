#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pipes.t - models that come through standard input, from a pipe
#
# What is said of a pipe is what is said of the file, however the pipe gives its
# bytes: tests/pipes/same.py compares.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

if ! python3 -c '' 2>/dev/null; then
    skip "pipes" "python3 is not installed"
    finish
fi
python3 tests/pipes/models.py "$dir"
"$modelfile" convert --quiet "$dir/good.safetensors" "$dir/good.apr"
size=$(wc -c <"$dir/good.apr")
head -c $((size - 4)) "$dir/good.apr" >"$dir/no-footer.apr"
head -c $((size - 100000)) "$dir/good.apr" >"$dir/cut.apr"
{ cat "$dir/good.apr" && echo more; } >"$dir/more.apr"
{ head -c $((size - 2000)) "$dir/good.apr" && head -c 1 /dev/zero &&
    tail -c 1999 "$dir/good.apr"; } >"$dir/changed.apr"

# ---- the same answers as from the file

# same CHUNKS COMMAND... -- FILE...
same() {
    python3 tests/pipes/same.py "$modelfile" "$@"
}

# What lies in the fixtures' folder itself; each is smaller than a window, so
# that its end is seen.
small() {
    # shellcheck disable=SC2046 # no name has a space
    set -- $(find "$fixtures" -maxdepth 1 -type f -size -64k \
        \( -name '*.gguf' -o -name '*.safetensors' -o -name '*.apr' \
        -o -name '*.npy' -o -name '*.pt' -o -name '*.npz' -o -name '*.parquet' \
        -o -name '*.dat' \) | LC_ALL=C sort |
        awk -v each="${QUICK:+9}" 'NR % (each ? each : 1) == 0')
    [ $# -gt 50 ] || return
    same 0 validate --data --json - -- "$@" &&
        same 4096 info --json - -- "$@" && same 0 meta list --json - -- "$@" &&
        same 1 validate --data --json - -- "$fixtures"/good-base.gguf \
            "$fixtures"/good-base.safetensors "$fixtures"/good-base.apr \
            "$fixtures"/bad-truncated*.gguf
}
check "the fixtures" small
printf '%s\n' "$tap_said" | note

# Larger than the window, whole, cut off and followed by more.
check "all data of larger models" same 0 validate --data --json - \
    -- "$dir"/*.gguf "$dir"/*.safetensors "$dir"/*.npy "$dir"/*.apr
printf '%s\n' "$tap_said" | note
check "from a small pipe" same 1000,65536 validate --data --json - \
    -- "$dir"/bad.gguf "$dir"/bad-cut-200000.gguf "$dir"/good-and-1-120.gguf \
    "$dir"/good.apr "$dir/cut.apr" "$dir/bad.safetensors"
check "in text" same 0 validate --data - -- "$dir"/bad*.gguf
check "digests" same 1000,0 hash --json - -- "$dir/good.gguf" \
    "$dir/bad.gguf" "$dir/good.safetensors" "$dir/good.apr" "$dir/array.npy"
check "SHA-256" same 0 hash --algo sha256 - -- "$dir/good.gguf"
check "numbers" same 0 tensors stats --json - -- "$dir/good.gguf" \
    "$dir/good.safetensors"
check "headers" same 1000,0 info --json - -- "$dir/good.gguf" \
    "$dir/bad.gguf" "$dir/good.safetensors" "$dir/array.npy" "$dir/good.apr"
check "tensors" same 0 tensors list --json - -- "$dir/good.gguf" \
    "$dir/good.safetensors"
check "metadata" same 0 meta get --json - general.architecture \
    -- "$dir/good.gguf"
check "a plan" same 0 plan --json - -- "$fixtures/good-llama.gguf"

# ---- what is written

# written COMMAND... : OUT is written alike, - being the model.
written() {
    rm -f "$dir/a" "$dir/b"
    "$modelfile" "$@" "$dir/a" --quiet <"$dir/good.gguf" >"$dir/out" 2>&1 &&
        cat "$dir/good.gguf" | "$modelfile" "$@" "$dir/b" --quiet \
            >"$dir/out" 2>&1 && cmp "$dir/a" "$dir/b" && [ -s "$dir/b" ] ||
        { cat "$dir/out" && return 1; }
}
check "convert" written convert - --to safetensors
check "quantize" written quantize - Q8_0
through_out() {
    cat "$dir/good.gguf" | "$modelfile" convert - --quiet --to gguf - \
        >"$dir/c" && "$modelfile" diff --quiet "$dir/good.gguf" "$dir/c"
}
check "from a pipe to a pipe" through_out

# cut_off COMMAND... : nothing is written of a pipe that ends early.
cut_off() {
    rm -f "$dir/a"
    code=0
    head -c 900000 "$dir/good.gguf" |
        "$modelfile" "$@" "$dir/a" --quiet >"$dir/out" 2>&1 || code=$?
    [ "$code" = 3 ] && grep -q "the file ends here" "$dir/out" &&
        [ ! -e "$dir/a" ] || { cat "$dir/out" && return 1; }
}
check "convert of one that ends early" cut_off convert - --to safetensors
check "quantize of one that ends early" cut_off quantize - Q8_0

# ---- what is not known, and what is refused

header_only() {
    head -c 400000 "$dir/good.gguf" | "$modelfile" validate - \
        >"$dir/out" 2>"$dir/err" && grep -q "was not checked" "$dir/err" &&
        head -c 400000 "$dir/good.gguf" | "$modelfile" validate --json - \
            2>"$dir/err" | grep -q '"length_known":false' &&
        cat "$dir/good.gguf" | "$modelfile" validate --data --json - \
            2>"$dir/err" | grep -q '"length_known":true' && [ ! -s "$dir/err" ]
}
check "a header says what was not checked" header_only

# refused TEXT FILE COMMAND...
refused() {
    wanted=$1 file=$2 code=0
    shift 2
    cat "$file" | "$modelfile" "$@" --quiet >"$dir/out" 2>&1 || code=$?
    [ "$code" = 3 ] && grep -q -- "$wanted" "$dir/out" &&
        [ "$(wc -l <"$dir/out")" = 1 ] || { cat "$dir/out" && return 1; }
}
check "an archive" refused "index at the end: save it to a file first" \
    "$fixtures/good-torch.pt" info -
check "Parquet" refused "Parquet file has its index at the end" \
    "$fixtures/good-table.parquet" info -
"$modelfile" split --quiet "$fixtures/good-llama.gguf" "$dir/part" \
    --max-tensors 10 >/dev/null
check "a shard is not converted" refused "its name does not end in" \
    "$dir/part-00002-of-00003.gguf" convert - "$dir/whole.gguf"
check "and shown alone" same 0 info --json - -- "$dir/part-00002-of-00003.gguf"
one_file() {
    cat "$dir/part-00002-of-00003.gguf" |
        "$modelfile" info --quiet --one-file - >"$dir/out"
}
check "or read alone" one_file
check "columns are not in order" refused "would be read again" \
    "$dir/columns.npy" validate --data -

used() {
    code=0
    cat "$dir/good.gguf" | "$modelfile" "$@" >"$dir/out" 2>&1 || code=$?
    [ "$code" = 2 ] || { cat "$dir/out" && return 1; }
}
check "two of them" used info - -
check "one of them, and a list" used info --files-from - -
check "meta set" used meta set - general.name=x
terminal() {
    # A terminal of its own for the program.
    python3 -c '
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "info", "-"])
text = b""
try:
    while part := os.read(fd, 1000):
        text += part
except OSError:
    pass
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(code != 2 or b"a terminal" not in text)' "$modelfile"
}
check "a terminal" terminal
endless() {
    code=0
    yes | timeout 10 "$modelfile" info - >"$dir/out" 2>&1 || code=$?
    [ "$code" = 3 ] && grep -q "not a recognized model format" "$dir/out"
}
check "endless nonsense" endless
empty() {
    code=0
    : | "$modelfile" info - >"$dir/out" 2>&1 || code=$?
    [ "$code" = 3 ] && grep -q "the file is empty" "$dir/out" &&
        "$modelfile" info --quiet - </dev/null >"$dir/out" 2>&1
    [ $? -eq 3 ] && grep -q "the file is empty" "$dir/out"
}
check "nothing" empty

# A header that never ends is not kept for ever, nor one beyond --max-memory:
# an array of COUNT (octal, 8 bytes) values of TYPE.
endless_header() {
    code=0
    { printf 'GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0' &&
        printf '\1\0\0\0\0\0\0\0k\11\0\0\0'"$1"'\0\0\0\0\0\0\0\0\0\1\0' &&
        cat /dev/zero; } 2>/dev/null | timeout 60 "$modelfile" info --quiet \
        $2 - >"$dir/out" 2>&1 || code=$?
}
without_end() {
    for type in '\0' '\10'; do # bytes, strings
        endless_header $type ""
        [ "$code" = 3 ] && grep -q "256 MiB" "$dir/out" ||
            { cat "$dir/out" && return 1; }
    done
}
check "a header without an end" without_end
if counts_memory; then
    little() {
        endless_header '\10' "--max-memory 20M"
        [ "$code" = 5 ] || { cat "$dir/out" && return 1; }
    }
    check "with --max-memory" little
fi

# ---- how much is read

read_of() {
    sed -n 's/.*"bytes_read": *\([0-9]*\).*/\1/p' "$dir/out"
}
little_is_read() {
    cat "$dir/good.gguf" | "$modelfile" info --json - >"$dir/out" 2>/dev/null &&
        [ "$(read_of)" -ge 131072 ] && [ "$(read_of)" -lt 132000 ] ||
        { read_of && return 1; }
}
check "a header takes one window" little_is_read
all_is_read() {
    cat "$dir/good.gguf" | "$modelfile" validate --data --json - \
        >"$dir/out" 2>/dev/null
    [ "$(read_of)" = "$(wc -c <"$dir/good.gguf")" ] || { read_of && return 1; }
}
check "each byte is read once" all_is_read
if counts_memory; then
    # 200 MB of data do not show.
    python3 - "$dir/large.gguf" <<'END'
import struct, sys
name = b"weight"
head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1)
head += struct.pack("<Q", 20) + b"general.architecture"
head += struct.pack("<IQ", 8, 3) + b"toy"
head += struct.pack("<Q", 6) + name + struct.pack("<I", 2)
head += struct.pack("<QQIQ", 1000, 50000, 0, 0)
with open(sys.argv[1], "wb") as file:
    file.write(head + b"\0" * (-len(head) % 32))
    row = struct.pack("<1000f", *range(1, 1001))
    for i in range(50000):
        file.write(row if i % 50 else struct.pack("<1000f", *range(i + 1, i + 1001)))
END
    little_memory() {
        cat "$dir/large.gguf" | "$modelfile" validate --data --json \
            --max-memory 4M - >"$dir/out" 2>"$dir/err" &&
            grep -q '"level": *"data"' "$dir/out" || { cat "$dir/err" && return 1; }
    }
    check "data is let go" little_memory
    rm "$dir/large.gguf"
fi

# A leak sanitizer cannot work under strace.
if command -v strace >/dev/null && counts_memory; then
    closed_early() {
        cat "$dir/good.gguf" "$dir/good.gguf" "$dir/good.gguf" |
            strace -e trace=read -o "$dir/trace" "$modelfile" info --quiet \
                --no-sandbox - >/dev/null 2>"$dir/err" &&
            sed -n 's/^read(0, .* = //p' "$dir/trace" |
            awk '{ sum += $1 } END { exit sum < 131072 || sum > 132000 }'
    }
    check "the pipe is closed early" closed_early
else
    skip "the pipe is closed early" "strace cannot run here"
fi

finish
