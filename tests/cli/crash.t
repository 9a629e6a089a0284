#!/bin/sh
# SPDX-License-Identifier: MIT
#
# crash.t - a file that is written is the old one or the whole new one, whatever
# happens
#
# The program is killed at random moments and at system calls, and system calls
# fail.  The calls are counted by strace; a sweep by another author's script comes
# with CONFORMANCE (../shared).  Takes a minute and a half; with QUICK=1, a few kills
# are all.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

filled=$(cd "${BUILD:-build}/tests" && pwd)/filled
faults=${CONFORMANCE:-../shared}/tools/fi/faults.sh
[ ! -f "$faults" ] || faults=$(cd "$(dirname "$faults")" && pwd)/faults.sh
cd "$dir" || exit 1
mkdir out
"$filled" f16 24 in.gguf >/dev/null
"$modelfile" split --quiet --max-tensors 3 in.gguf part.gguf >/dev/null
"$modelfile" convert --quiet in.gguf whole.apr >/dev/null
cp "$fixtures/good-many-tensors.gguf" small.gguf
"$modelfile" split --quiet --max-tensors 100 small.gguf few.gguf >/dev/null
"$modelfile" convert --quiet small.gguf small.apr >/dev/null
# Tensors that are large enough for the kernel to copy.
"$filled" f16 1 copied.gguf >/dev/null
"$modelfile" convert --quiet copied.gguf copied.apr >/dev/null
"$modelfile" convert --quiet --force copied.apr again.gguf >/dev/null

# ---- killed at random moments

# kills COUNT NEW COMMAND...: the command, which writes out/o like the file NEW,
# is killed so often, at moments spread over its run and a little more.
kills() {
    count=$1
    new=$2
    shift 2
    cp "$new" out/o
    took=
    # The least of three: a busy machine must not spread the kills too far.
    for _ in 1 2 3; do
        started=$(date +%s%N)
        "$modelfile" "$@" >said 2>&1 || return
        now=$((($(date +%s%N) - started) / 1000))
        [ "${took:-$now}" -lt "$now" ] || took=$now
    done
    old=0
    whole=0
    for i in $(seq "$count"); do
        echo "what was there before" >out/o
        # Of its 1.2-fold time, in microseconds.
        after=$((took * 12 / 10 * i / count))
        timeout -s KILL "0.$(printf %06d "$after")" "$modelfile" "$@" \
            >said 2>&1
        if echo "what was there before" | cmp -s - out/o; then
            old=$((old + 1))
        elif cmp -s "$new" out/o; then
            whole=$((whole + 1))
        else
            echo "torn after $after microseconds"
            return 1
        fi
        rm -f out/.o.*.tmp
    done 2>/dev/null # the shell tells of each one that was killed
    echo "$old old, $whole new"
    # Most landed inside.
    [ "$((old * 4))" -gt "$count" ] && [ -z "$(find out -name '.*')" ]
}

often=${QUICK:+10}
often=${often:-100}
check "$often kills of convert: old or new" kills "$often" whole.apr \
    convert --force --quiet --to apr in.gguf out/o
check "$often kills of merge: old or new" kills "$often" in.gguf \
    merge --force --quiet part-00001-of-00003.gguf out/o
rm -f out/o
if [ -n "${QUICK:-}" ]; then
    skip "a fault at every call" "make check does this"
    finish
fi

# ---- another author's sweep over system calls

# sweep OUT COMMAND...: torn, lying, dying, littering: never.
sweep() {
    out=$1
    shift
    BASE="$modelfile version" MAXN=${MAXN:-6} bash "$faults" "$out" \
        "$modelfile" "$@" >swept 2>&1
    code=$?
    cat swept
    rm -f out/* out/.o.*
    [ $code -eq 0 ] &&
        grep -q 'torn 0, .*without output 0, died 0, .*error 0$' swept
}

traced=
strace -f -qq -o trace true 2>/dev/null && traced=yes
sanitized=
if grep -q __asan_report "$modelfile"; then
    sanitized=yes # its own calls would be failed, too
fi
for run in "o.gguf convert --force small.gguf" \
    "o.apr convert --force small.gguf" \
    "o.gguf merge --force few-00001-of-00003.gguf"; do
    name="faults.sh: ${run#* } out/${run%% *}"
    if [ ! -f "$faults" ]; then
        skip "faults.sh" "no $faults; CONFORMANCE is explained in CONTRIBUTING.md"
        break
    elif [ -z "$traced" ]; then
        skip "$name" "strace is not there or refused (in a container: --cap-add SYS_PTRACE)"
    elif [ -n "$sanitized" ]; then
        skip "$name" "a sanitizer's own calls would fail"
    else
        # shellcheck disable=SC2086 # the command is words
        check "$name" sweep "out/${run%% *}" ${run#* } "out/${run%% *}"
    fi
done

# ---- each call by itself

# inject CALL FAULT CODE [NEW]: the command in $command, which writes out/o, has
# that fault at each call of that kind, one after the other, and ends each time
# with that code; OUT is what it was, or like the file NEW where that is given.
# The calls that a program without work makes come first and are passed over.
inject() {
    call=$1
    fault=$2
    wanted=$3
    new=${4:-}
    strace -f -qq -o trace -e trace="$call" "$modelfile" version >said 2>&1
    first=$(($(grep -c "$call(" trace) + 1))
    n=$first
    while :; do
        echo "what was there before" >out/o
        # shellcheck disable=SC2086 # the command is words
        strace -f -qq -o trace -e trace="$call" \
            -e inject="$call:error=$fault:when=$n" \
            "$modelfile" $command >said 2>&1
        got=$?
        grep -q INJECTED trace || break
        if [ $got -ne "$wanted" ]; then
            echo "$call $n $fault: exit code $got, not $wanted"
            cat said
            return 1
        fi
        if [ -n "$new" ]; then
            cmp "$new" out/o || return
        else
            echo "what was there before" | cmp - out/o || return
        fi
        [ "$(ls -A out)" = o ] || return
        n=$((n + 1))
    done
    echo "$call was never called"
    [ $n -gt $first ]
}

# What may be interrupted: again, and the same bytes.
each_interrupted() {
    for call in openat pread64 pwrite64 copy_file_range fallocate fsync \
        renameat; do
        case $call in
        copy_file_range) # APR's header does not go that way, nor floats that
            # are looked at
            command="convert --allow-nonfinite --force --quiet --to gguf \
                copied.apr out/o"
            new=again.gguf
            ;;
        *)
            command="convert --force --quiet --to apr small.gguf out/o"
            new=small.apr
            ;;
        esac
        inject $call EINTR 0 $new || return
    done
}

outputs_fail() {
    command="convert --force --quiet --to apr small.gguf out/o"
    inject fallocate ENOSPC 4 && inject fallocate EIO 4 &&
        inject fallocate EFBIG 4 && inject fallocate EOPNOTSUPP 0 small.apr &&
        inject pwrite64 EIO 4 && inject pwrite64 ENOSPC 4 &&
        inject pwrite64 EFBIG 4 && inject renameat EACCES 4 &&
        inject renameat EIO 4
}

# The second fsync is for the folder: the name is there, and the code says
# that it may not last.
sync_fails() {
    for fault in EIO ENOSPC EDQUOT; do
        echo "what was there before" >out/o
        strace -f -qq -o trace -e trace=fsync \
            -e inject=fsync:error=$fault:when=1 "$modelfile" convert --force \
            --quiet --to apr small.gguf out/o >said 2>&1
        [ $? -eq 4 ] && echo "what was there before" | cmp - out/o &&
            [ "$(ls -A out)" = o ] || return
        strace -f -qq -o trace -e trace=fsync \
            -e inject=fsync:error=$fault:when=2 "$modelfile" convert --force \
            --quiet --to apr small.gguf out/o >said 2>&1
        [ $? -eq 4 ] && cmp small.apr out/o && [ "$(ls -A out)" = o ] || return
    done
}

# What the kernel will not copy itself is read and written.
copies_fail() {
    command="convert --allow-nonfinite --force --quiet --to gguf \
        copied.apr out/o"
    for fault in EIO EXDEV EINVAL ENOSYS EOPNOTSUPP; do
        inject copy_file_range $fault 0 again.gguf || return
    done
}

# Only calls on the input fail.
inputs_fail() {
    n=1
    while :; do
        echo "what was there before" >out/o
        strace -f -qq -o trace -P "$dir/small.gguf" -e trace=pread64 \
            -e inject=pread64:error=EIO:when=$n "$modelfile" convert --force \
            --quiet --to apr "$dir/small.gguf" out/o >said 2>&1
        got=$?
        grep -q INJECTED trace || break
        if [ $got -ne 3 ]; then
            echo "read $n fails: exit code $got"
            cat said
            return 1
        fi
        echo "what was there before" | cmp - out/o && [ "$(ls -A out)" = o ] ||
            return
        n=$((n + 1))
    done
    echo "$n reads"
    [ $n -gt 2 ]
}

# ---- edits in place

# cut_edits FAULT LEAST: at each call of each kind.  A reader sees the old file or
# the new one and changes nothing; meta recover leaves that one, byte for byte,
# without another file.  At least LEAST times it is the old one.
cut_edits() {
    cuts=0
    for call in openat pwrite64 fsync renameat2 unlinkat close; do
        strace -f -qq -o trace -e trace=$call "$modelfile" version >said 2>&1
        n=$(($(grep -c "$call(" trace) + 1))
        while :; do
            cp roomy.gguf out/o
            strace -f -qq -o trace -e trace=$call \
                -e inject=$call:"$1":when=$n "$modelfile" meta set --quiet \
                out/o x.text=@text >edited 2>&1
            got=$?
            grep -q 'INJECTED\|killed by' trace || break
            cp out/o seen
            text=$("$modelfile" meta get --quiet out/o x.text 2>said)
            cmp out/o seen || return
            "$modelfile" meta recover --quiet out/o >said 2>&1 || return
            [ "$text" = "$("$modelfile" meta get --quiet out/o x.text \
                2>said)" ] || return
            if [ $got -eq 4 ] && ! cmp -s out/o roomy.gguf; then
                grep -q "the edit was made\|the edit is incomplete" edited ||
                    return
            fi
            if cmp -s out/o roomy.gguf && [ $got -ne 0 ]; then
                cuts=$((cuts + 1))
            elif ! cmp -s out/o edited.gguf; then
                echo "$call $n $1: exit code $got, neither old nor new"
                return 1
            fi
            rm -f out/.*tmp
            [ "$(ls -A out)" = o ] || return
            n=$((n + 1))
        done
    done
    echo "$cuts left the old file"
    [ $cuts -ge "$2" ]
}

edits_killed() {
    cut_edits signal=KILL 10
}

edits_fail() {
    cut_edits error=EIO 10 && cut_edits error=ENOSPC 10 &&
        cut_edits error=EINTR 0
}

"$modelfile" convert --quiet --reserve 64k small.gguf roomy.gguf >/dev/null
head -c 20000 small.gguf | od -An -tx1 | head -c 20000 >text
cp roomy.gguf edited.gguf
"$modelfile" meta set --quiet edited.gguf x.text=@text >/dev/null

for name in "each_interrupted: EINTR is asked again" \
    "outputs_fail: an error of the output ends with 4" \
    "sync_fails: what may not last ends with 4" \
    "copies_fail: what the kernel will not copy is copied here" \
    "inputs_fail: an error of the input ends with 3" \
    "edits_killed: meta set is killed at each call: old or new" \
    "edits_fail: each call of meta set fails: old or new"; do
    if [ -z "$traced" ]; then
        skip "${name#*: }" "strace is not there or refused (in a container: --cap-add SYS_PTRACE)"
    elif [ -n "$sanitized" ]; then
        skip "${name#*: }" "a sanitizer's own calls would fail"
    else
        check "${name#*: }" "${name%%:*}"
        rm -f out/* out/.o.*
    fi
done
finish
