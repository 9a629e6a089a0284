#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sandbox.t - rights are given up before a file is looked at
#
# What is refused afterwards is tests/cli/test_sandbox.c's matter.  Here strace says
# when it is done, and that no command misses what it gave up.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

# Commands run in another folder.
whole() {
    case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac
}
fixtures=$(whole "${FIXTURES:-fixtures}")
built=$(whole "${BUILD:-build}")
modelfile=$(whole "${MODELFILE:-$built/modelfile}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-sandbox.XXXXXX")
trap 'rm -rf "$dir"' EXIT
model=$fixtures/good-llama.gguf

# member NAME [ARGUMENT...]: of the sandbox that `version --json` reports.
member() {
    name=$1
    shift
    "$modelfile" version --json "$@" |
        sed -n "s/.*\"sandbox\": *{[^}]*\"$name\": *\\([^,}]*\\).*/\\1/p"
}

off_says() { # WHY ARGUMENT...
    why=$1
    shift
    [ "$(member off "$@")" = "\"$why\"" ] &&
        [ "$(member landlock "$@")" = 0 ] &&
        [ "$(member seccomp "$@")" = false ]
}

check "--no-sandbox is what version tells" off_says --no-sandbox --no-sandbox

if [ "$(member off)" != null ]; then
    check "version tells why there is no sandbox in this build" \
        [ "$(member off)" = '"sanitizers"' ]
    skip "all else" "this build has no sandbox"
    finish
fi

# ---- when

# traced WORDS...: and the trace holds no call that was refused.
traced() {
    (cd "$dir" && strace -f -qq -y -o trace "$@" >out 2>err) || {
        cat "$dir/err"
        return 1
    }
    ! grep -E '= -1 (EPERM|EACCES) ' "$dir/trace"
}

# All that comes before is the loader's and what the C library and OpenMP ask
# of the system.
in_time() {
    awk -v landlock="$landlock" -v seccomp="$seccomp" '
        / landlock_restrict_self\(.*= 0$/ { landlock-- }
        / seccomp\(SECCOMP_SET_MODE_FILTER.*= 0$/ { seccomp-- }
        landlock == 0 && seccomp == 0 { next }
        / clone3?\(/ || / v?fork\(/ ||
        (/\.(gguf|safetensors|apr|npy|json)"/ && !/ execve\(/ &&
            !/ (readlink|newfstatat|stat|lstat)\(/ && !/O_PATH/) {
            print "before the sandbox: " $0
            early = 1
        }
        END {
            if (landlock > 0 || seccomp > 0)
                print "the sandbox is not entered"
            exit early || landlock > 0 || seccomp > 0
        }' "$dir/trace"
}

confined() {
    rm -f "$dir"/out*
    traced "$modelfile" "$@" && in_time
}

landlock=$([ "$(member landlock)" -gt 0 ] && echo 1 || echo 0)
seccomp=$([ "$(member seccomp)" = true ] && echo 1 || echo 0)
cp "$model" "$dir/own.gguf"

each_command() {
    check "detect" confined detect "$model"
    check "info" confined info "$model"
    check "tensors" confined tensors "$model"
    check "tensors stats" confined tensors stats "$model"
    check "tensors stats --plot" confined tensors stats "$model" \
        --errors q8_0 --plot errors.svg
    check "tensors export" confined tensors export "$model" \
        output_norm.weight out.npy
    check "meta list" confined meta list "$model"
    check "meta set" confined meta set own.gguf general.name=other
    check "meta set, rewriting" confined meta set own.gguf --reserve 64K \
        general.description=longer
    check "meta unset" confined meta unset own.gguf general.description
    check "validate --data" confined validate --data --threads 2 "$model"
    check "convert" confined convert "$model" out.gguf
    check "dequantize" confined dequantize "$model" out.gguf
    check "quantize" confined quantize "$model" out-q.gguf Q8_0 \
        --allow-requantize
    check "quantize --output" confined quantize "$model" --output \
        Q8_0=out-a.gguf --output F16=out-b.gguf --allow-requantize
    check "quantize beside IN" confined quantize own.gguf Q8_0 \
        --allow-requantize
    check "split" confined split "$model" out-part --max-tensors 10
    "$modelfile" split --quiet "$model" "$dir/part" --max-tensors 10 >"$dir/out"
    check "merge" confined merge "$(ls "$dir"/part-00001-*)" out.gguf
    check "hash" confined hash --threads 2 "$model"
    check "hash --duplicates" confined hash --duplicates "$model"
    check "diff" confined diff --values "$model" "$model"
    TMPDIR=$dir check "bench" confined bench --rounds 1 --quantize Q8_0 "$model"
    check "help" confined help
    if "$modelfile" hash --quiet --algo sha256 "$model" >"$dir/out" 2>&1; then
        check "hash --algo sha256" confined hash --algo sha256 "$model"
    else
        skip "hash --algo sha256" "libcrypto is not installed"
    fi
}

if ! (cd "$dir" && strace -f -qq -o trace true) 2>/dev/null; then
    skip "when rights are given up" "strace is not installed, or may not trace"
elif [ "$landlock$seccomp" = 00 ]; then
    skip "when rights are given up" "this kernel has neither"
else
    each_command
fi

# ---- where it may be written

to() { # OUT ARGUMENT...
    out=$1
    shift
    (cd "$dir" && "$modelfile" convert --quiet "$@" "$model" "$out")
}

mkdir "$dir/far" "$dir/near"
ln -s ../far/made.gguf "$dir/near/dangling.gguf"
cp "$model" "$dir/far/old.gguf"
ln -s "$dir/far/old.gguf" "$dir/near/second.gguf"
ln -s second.gguf "$dir/near/first.gguf"

through_links() {
    to near/dangling.gguf && cmp "$dir/far/made.gguf" "$model" &&
        : >"$dir/far/old.gguf" && to near/first.gguf --force &&
        cmp "$dir/far/old.gguf" "$model" && [ -L "$dir/near/first.gguf" ]
}
check "OUT is written where links lead" through_links

edited_through_link() {
    "$modelfile" meta set --quiet "$dir/near/first.gguf" general.name=linked &&
        "$modelfile" meta get --quiet "$dir/far/old.gguf" general.name |
        grep -qx linked && [ -L "$dir/near/first.gguf" ]
}
check "and so is a model that is edited" edited_through_link

into_pipe() {
    mkfifo "$dir/pipe" && { cat "$dir/pipe" >"$dir/piped" & } &&
        to "$dir/pipe" && wait && cmp "$dir/piped" "$model"
}
check "OUT may be a pipe" into_pipe

into_device() {
    to /dev/null && [ ! -e /dev/full ] && return
    to /dev/full
    [ $? -eq 4 ]
}
check "or a device" into_device

by_number() {
    to /dev/fd/3 3>"$dir/numbered" --force && cmp "$dir/numbered" "$model"
}
if [ -e /proc/self/fd ]; then
    check "or a file of a number" by_number
else
    skip "or a file of a number" "there is no /proc"
fi

# ---- who is not confined

check "a program of valgrind's has none" \
    env LD_PRELOAD=/nowhere/vgpreload_core-any.so sh -c \
    "'$modelfile' version --json 2>/dev/null | grep -q '\"off\": *\"valgrind\"'"
if [ ! -e /proc/self/fd ]; then
    skip "valgrind itself says so" "there is no /proc, which it needs"
elif command -v valgrind >/dev/null 2>&1; then
    check "valgrind itself says so" sh -c \
        "valgrind -q '$modelfile' version --json 2>/dev/null |
            grep -q '\"off\": *\"valgrind\"'"
else
    skip "valgrind itself says so" "valgrind is not installed (apt install valgrind)"
fi

# The library leaves its callers their rights: no object of it asks.
library_asks() {
    nm -A -u "$built/objects.a" | grep -E ' (syscall|prctl|seccomp)$'
}
check_empty "the library confines no caller" library_asks
finish
