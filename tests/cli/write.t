#!/bin/sh
# SPDX-License-Identifier: MIT
#
# write.t - files that are written: where they go, what they replace, and what
# is left where they cannot be written
#
# Runs as any user.  What needs a mount, another user or strace is skipped
# where that is refused.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

modelfile=${MODELFILE:-${BUILD:-build}/modelfile}
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-write.XXXXXX")
dir=$(cd "$dir" && pwd -P)
trap 'chmod -R u+rwx "$dir"; rm -rf "$dir"' EXIT
chmod 755 "$dir"
# Another user may not reach the build: the program and a model go along.
cp "$modelfile" "$dir/modelfile"
modelfile=$dir/modelfile
fixtures=$(cd "${FIXTURES:-fixtures}" && pwd)
filled=$(cd "${BUILD:-build}/tests" && pwd)/filled
model=$dir/model.gguf
cp "$fixtures/good-many-tensors.gguf" "$model"
work=$dir/work
mkdir "$work"
chmod 777 "$work"
cd "$work" || exit 1
sanitized=
if grep -q __asan_report "$modelfile"; then
    sanitized=yes
fi

# ends CODE ARGUMENT...: modelfile ends with that code.
ends() {
    wanted=$1
    shift
    "$modelfile" "$@" --quiet >"$dir/said" 2>&1
    got=$?
    [ "$got" -eq "$wanted" ] && return
    echo "modelfile $*: exit code $got, not $wanted"
    cat "$dir/said"
    return 1
}

# says PART: what modelfile said last has it.
says() {
    grep -q -e "$1" "$dir/said" && return
    echo "no '$1' in:"
    cat "$dir/said"
    return 1
}

# holds FILE...: the folder has these files and no others.
holds() {
    printf '%s\n' "$@" | sort >"$dir/wanted"
    find . -mindepth 1 ! -type d | sed 's|^\./||' | sort >"$dir/found"
    [ $# -gt 0 ] || : >"$dir/wanted"
    diff "$dir/wanted" "$dir/found"
}

clean() {
    find . -mindepth 1 -delete
}

old() {
    echo "what was there before" >"$1"
}

still_old() {
    echo "what was there before" | cmp - "$1"
}

file_bytes() {
    "$modelfile" "$@" --dry-run --json |
        sed -n 's/.*"file_bytes":\([0-9]*\).*/\1/p'
}

# ---- wrong command lines

usage() {
    ends 2 convert "$model" && ends 2 convert && ends 2 split "$model" o.gguf &&
        ends 2 convert --to nonsense "$model" o.gguf &&
        ends 2 convert --gguf-version 1 "$model" o.gguf &&
        ends 2 convert --gguf-version 4 "$model" o.gguf &&
        ends 2 convert --shard-size 0 "$model" o.gguf &&
        ends 2 convert --shard-tensors -1 "$model" o.gguf &&
        ends 2 convert "$model" o.gguf p.gguf &&
        ends 2 convert --json "$model" - &&
        ends 2 split --max-tensors 100 "$model" - &&
        ends 2 convert --shard-size 1M "$model" /dev/stdout &&
        ends 2 meta set - a=1 && says "name the file" &&
        ends 2 meta unset "$fixtures" a && says "name the file" && holds
}
check "a wrong command line writes nothing" usage

# ---- places where no file can be

places() {
    old o.gguf
    mkdir folder
    ln -s loop.gguf loop.gguf
    ends 4 convert "$model" o.gguf && says "already exists; use --force" &&
        still_old o.gguf &&
        ends 4 convert "$model" folder && says "folder\|irectory" &&
        ends 4 convert --force "$model" folder &&
        ends 3 convert --force "$model" folder/ &&
        ends 4 convert "$model" . && ends 3 convert "$model" new/ &&
        says "cannot become a folder" &&
        ends 4 convert "$model" missing/o.gguf && says "No such" &&
        ends 4 convert "$model" o.gguf/p.gguf &&
        ends 4 convert "$model" '' && says "'' is not a file name" && ends 4 convert --force "$model" '' &&
        ends 4 convert --force "$model" loop.gguf &&
        ends 4 split --max-tensors 100 "$model" missing/o.gguf &&
        still_old o.gguf && holds o.gguf loop.gguf
}
check "OUT that cannot be written is an error before any work" places
clean

one_of_several() {
    old o-00002-of-00003.gguf
    ends 4 split --max-tensors 100 "$model" o.gguf &&
        still_old o-00002-of-00003.gguf && holds o-00002-of-00003.gguf &&
        ends 0 split --force --max-tensors 100 "$model" o.gguf &&
        holds o-00001-of-00003.gguf o-00002-of-00003.gguf \
            o-00003-of-00003.gguf
}
check "one of several files that exists: no file is written" one_of_several
clean

inputs() {
    old o.gguf
    ends 3 convert --force missing.gguf o.gguf &&
        ends 3 convert --force "$fixtures/bad-data-missing.gguf" o.gguf &&
        says "not copied" &&
        ends 3 convert --force "$fixtures/bad-magic-fugg.gguf" o.gguf &&
        ends 3 convert --force "$fixtures/good-llama.gguf" --to apr o.gguf &&
        still_old o.gguf && holds o.gguf
}
check "what cannot be read or carried leaves OUT as it was" inputs
clean

# ---- users

# As root: a user without rights; else this user.
other=
if [ "$(id -u)" -eq 0 ]; then
    other="setpriv --reuid=65534 --regid=65534 --clear-groups"
    $other true 2>/dev/null && $other "$modelfile" version >/dev/null 2>&1 ||
        other=none
fi

permissions() {
    mkdir closed
    chmod 555 closed
    old kept.gguf
    chmod 444 kept.gguf
    for out in closed/o.gguf kept.gguf; do
        $other "$modelfile" convert --quiet --force "$model" $out \
            >"$dir/said" 2>&1
        [ $? -eq 4 ] && says "denied" || return
    done
    still_old kept.gguf && holds kept.gguf
}
if [ "$other" = none ]; then
    skip "no permission" "setpriv cannot become another user"
else
    check "no permission for the folder or the file: 4" permissions
fi
clean

# ---- OUT is a file that is read, by whatever name

# spares FILE ARGUMENT...: refused, with --force and without, also when it is
# only asked what would be done; the file stays, and nothing is recommended that
# would take it away.
spares() {
    spared=$1
    shift
    cksum <"$spared" >"$dir/before"
    for more in "" --force --dry-run "--force --dry-run"; do
        # shellcheck disable=SC2086 # options of their own
        ends 4 "$@" $more && says ": choose another name$" &&
            ! grep -q -e --force "$dir/said" &&
            cksum <"$spared" | cmp -s - "$dir/before" || return
    done
}

itself() {
    cp "$model" m.gguf
    ln m.gguf hard.gguf
    ln -s m.gguf soft.gguf
    tensor=decoder.layers.0.feed_forward.experts.gate.weight
    for out in m.gguf hard.gguf soft.gguf ../work/m.gguf "$work/soft.gguf"; do
        spares m.gguf convert m.gguf $out &&
            spares m.gguf convert soft.gguf $out --to apr &&
            spares m.gguf dequantize hard.gguf $out &&
            spares m.gguf quantize m.gguf $out Q8_0 &&
            spares m.gguf merge soft.gguf $out &&
            ends 4 tensors export --force m.gguf $tensor $out &&
            ends 4 tensors export --raw m.gguf $tensor $out &&
            says "one of the input files" && cmp m.gguf "$model" || return
    done
    [ -h soft.gguf ] && holds m.gguf hard.gguf soft.gguf
}
check "OUT is IN, or a link to it" itself
clean

# What the shell makes of  merge two-*.gguf.
own_shards() {
    ends 0 split --max-tensors 150 "$model" two.gguf &&
        spares two-00002-of-00002.gguf merge two-*.gguf &&
        spares two-00001-of-00002.gguf convert two-00002-of-00002.gguf \
            two-00001-of-00002.gguf &&
        spares two-00001-of-00002.gguf split --max-tensors 150 \
            two-00001-of-00002.gguf two.gguf &&
        spares two-00002-of-00002.gguf quantize --keep-split \
            two-00001-of-00002.gguf two.gguf f16 || return
    # Some are, others not.
    ln two-00001-of-00002.gguf o-00003-of-00003.gguf
    spares two-00001-of-00002.gguf split --max-tensors 100 \
        two-00001-of-00002.gguf o.gguf &&
        holds two-00001-of-00002.gguf two-00002-of-00002.gguf \
            o-00003-of-00003.gguf &&
        ends 0 merge two-00002-of-00002.gguf whole.gguf &&
        cmp whole.gguf "$model"
}
check "OUT is a shard of IN" own_shards
clean

# The list of the shards, the sidecars, and a matrix.
read_as_well() {
    cp -R "$fixtures/good-hf-llama" hf && chmod -R u+w hf &&
        spares hf/config.json convert hf hf/config.json --to gguf &&
        spares hf/tokenizer.json convert hf hf/tokenizer.json --names gguf \
            --to gguf || return
    ends 0 convert "$model" w.safetensors &&
        ends 0 split --max-tensors 100 w.safetensors m &&
        spares m.safetensors.index.json split --max-tensors 200 \
            m.safetensors.index.json m &&
        spares m.safetensors.index.json merge m-00002-of-00003.safetensors \
            m.safetensors.index.json || return
    printf '\1\0\0\0\61\0\0\0%s\1\0\0\0\1\0\0\0\0\0\200\77' \
        decoder.layers.0.feed_forward.experts.gate.weight >x.dat
    ln -s x.dat also.gguf
    spares x.dat quantize --imatrix x.dat "$model" x.dat q4_0 &&
        spares x.dat quantize --imatrix x.dat "$model" also.gguf q4_0
}
check "OUT is another file that is read" read_as_well
clean

appended() {
    cp "$model" m.gguf
    "$modelfile" convert --quiet m.gguf - >>m.gguf 2>"$dir/said"
    [ $? -eq 4 ] && says "'-' is one of the input files" &&
        "$modelfile" quantize --quiet m.gguf /dev/stdout q8_0 1<>m.gguf \
            2>"$dir/said"
    [ $? -eq 4 ] && cmp m.gguf "$model"
}
check "standard output is IN" appended
clean

# ---- shards that do not say what they are a part of

# same_tensors FILE: all of the model's, and no others.
same_tensors() {
    "$modelfile" hash --quiet "$model" >"$dir/all" &&
        grep -v '^metadata ' "$dir/all" >"$dir/manifest" &&
        ends 0 hash --check "$dir/manifest" "$1"
}

st_split() {
    ends 0 convert "$model" w.safetensors &&
        ends 0 split --max-tensors 100 w.safetensors m && rm w.safetensors
}

st_index() {
    st_split && ends 0 merge m-00002-of-00003.safetensors o.safetensors &&
        same_tensors o.safetensors &&
        ends 0 convert m-00003-of-00003.safetensors o.gguf &&
        same_tensors o.gguf &&
        ends 0 split --max-tensors 150 m-00001-of-00003.safetensors n.gguf &&
        same_tensors n-00001-of-00002.gguf || return
    # As no rule has it.
    for i in 1 2 3; do
        mv m-0000$i-of-00003.safetensors "m-0000$i-of-000003.safetensors"
    done
    sed 's/of-00003/of-000003/g' m.safetensors.index.json >x
    mv x other.safetensors.index.json
    rm m.safetensors.index.json
    ends 0 merge --force m-00002-of-000003.safetensors o.safetensors &&
        same_tensors o.safetensors || return
    cp other.safetensors.index.json a.safetensors.index.json
    ends 3 merge --force m-00002-of-000003.safetensors o.safetensors &&
        says "'a.safetensors.index.json' and 'other.safetensors.index.json'" &&
        echo "{" >a.safetensors.index.json &&
        ends 3 merge --force m-00002-of-000003.safetensors o.safetensors &&
        says "cannot read 'a.safetensors.index.json', which may list this file" &&
        same_tensors o.safetensors
}
check "a shard of safetensors stands for all that its index lists" st_index
clean

st_names() {
    st_split && rm m.safetensors.index.json &&
        ends 0 merge m-00002-of-00003.safetensors o.safetensors &&
        same_tensors o.safetensors && rm o.safetensors \
            m-00001-of-00003.safetensors || return
    for command in merge convert "split --max-tensors 9" dequantize; do
        # shellcheck disable=SC2086 # an option of its own
        ends 3 $command m-00002-of-00003.safetensors o.safetensors &&
            says "shard 'm-00001-of-00003.safetensors'" || return
    done
    ends 3 quantize m-00002-of-00003.safetensors o.gguf q8_0 &&
        says "shard 'm-00001-of-00003.safetensors'" &&
        ends 0 validate m-00002-of-00003.safetensors &&
        ends 0 tensors m-00002-of-00003.safetensors &&
        holds m-00002-of-00003.safetensors m-00003-of-00003.safetensors
}
check "without an index, for all that its name counts, or none" st_names
clean

# ---- a shard whose name does not lead to the others

# no_part_of FILE: no command writes it as if it were a model, all can read it.
no_part_of() {
    for command in convert merge "split --max-tensors 9" dequantize; do
        # shellcheck disable=SC2086 # an option of its own
        ends 3 $command "$1" o.gguf && says "this is only shard $2 of 3" || return
        # shellcheck disable=SC2086
        ends 3 $command --force "$1" o.gguf && says "its name does not" || return
    done
    ends 3 quantize "$1" o.gguf q8_0 && says "this is only shard $2 of 3" &&
        ends 3 quantize --keep-split --imatrix missing "$1" o.gguf q8_0 &&
        says "this is only shard $2 of 3" && ends 3 quantize --dry-run "$1" o.gguf \
            copy && [ ! -e o.gguf ] || return
    for command in info tensors "tensors stats" hash meta detect; do
        # shellcheck disable=SC2086
        ends 0 $command "$1" || return
    done
    [ "$1" = - ] || ends 0 diff "$1" "$1"
}

gguf_renamed() {
    ends 0 split --max-tensors 100 "$model" m.gguf && mkdir alone &&
        cp m-00002-of-00003.gguf alone/part.gguf &&
        cp m-00002-of-00003.gguf m-00002-of-00004.gguf &&
        ln -s m-00001-of-00003.gguf link.gguf || return
    no_part_of alone/part.gguf 2 && no_part_of alone 2 &&
        no_part_of m-00002-of-00004.gguf 2 && no_part_of link.gguf 1 &&
        no_part_of - 3 <m-00003-of-00003.gguf &&
        ends 0 meta set link.gguf a.b=c && ends 0 merge m-00001-of-00003.gguf \
            o.gguf && same_tensors o.gguf
}
check "a shard of a GGUF that was renamed is not written as a model" gguf_renamed

# Loaders ask for no other shards, and would for this name.
only_shard() {
    rm -rf only && mkdir only || return
    for command in split\ --max-tensors\ 9999 convert\ --shard-tensors\ 9999; do
        # shellcheck disable=SC2086
        ends 0 $command --force "$model" only/m.gguf || return
        for again in merge convert; do
            ends 0 $again --force only/m-00001-of-00001.gguf only/o.gguf &&
                cmp only/o.gguf "$model" || return
        done
    done
    ends 0 meta set only/m-00001-of-00001.gguf a.b="$(printf %9999d 0)" &&
        ends 0 meta get only/m-00001-of-00001.gguf split.count
}
check "the only shard of a split is written as a whole model" only_shard
clean

# ---- links, mode, owner

links() {
    mkdir a b
    old b/real.gguf
    ln -s ../b/real.gguf a/link.gguf
    ln -s ../b/new.gguf a/dangling.gguf
    ends 4 convert "$model" a/link.gguf && still_old b/real.gguf &&
        ends 0 convert --force "$model" a/link.gguf && [ -h a/link.gguf ] &&
        cmp b/real.gguf "$model" &&
        ends 0 convert "$model" a/dangling.gguf && [ -h a/dangling.gguf ] &&
        cmp b/new.gguf "$model" &&
        holds a/dangling.gguf a/link.gguf b/new.gguf b/real.gguf
}
check "a symbolic link is written through, also one that dangles" links
clean

modes() {
    (
        umask 027
        ends 0 convert "$model" new.gguf
    ) || return
    old o.gguf
    chmod 751 o.gguf
    ends 0 convert --force "$model" o.gguf || return
    set -- "$(stat -c %a new.gguf)" "$(stat -c %a o.gguf)"
    echo "modes $*"
    [ "$*" = "640 751" ]
}
check "a new file gets its mode by the umask, a replaced one keeps it" modes
clean

owner() {
    old o.gguf
    chown 65534:65533 o.gguf
    chmod 640 o.gguf
    ends 0 convert --force "$model" o.gguf &&
        [ "$(stat -c %u:%g:%a o.gguf)" = 65534:65533:640 ]
}
if [ "$(id -u)" -eq 0 ] && : >o && chown 65534:65533 o 2>/dev/null; then
    check "a replaced file keeps its owner" owner
else
    skip "a replaced file keeps its owner" "only root may give files away"
fi
clean

# ---- folders where everyone may write

# As fs.protected_symlinks, _regular and _fifos have it, whatever they are set
# to here: a file that another user put there is neither followed nor written.
planted() {
    mkdir -m 1777 shared && chmod 1777 shared && old victim.gguf &&
        $other ln -s "$work/victim.gguf" shared/link.gguf &&
        $other ln -s "$work/new.gguf" shared/dangling.gguf &&
        ln -s shared/link.gguf mine.gguf && ln -s shared/dangling.gguf new &&
        $other cp "$model" shared/file.gguf && $other mkfifo shared/pipe &&
        $other ln -s /dev/null shared/device || return
    for out in shared/link.gguf shared/dangling.gguf mine.gguf new \
        shared/device; do
        ends 4 convert --force "$model" $out && says "symbolic link of another user" &&
            ends 4 tensors export --raw --force "$model" \
                decoder.layers.0.feed_forward.experts.gate.weight $out &&
            says "symbolic link of another user" || return
    done
    # A write to the pipe would wait for a reader.
    for out in shared/file.gguf shared/pipe; do
        timeout 20 "$modelfile" convert --force --quiet "$model" $out \
            >"$dir/said" 2>&1
        [ $? -eq 4 ] && says "belongs to another user" || return
    done
    still_old victim.gguf && cmp shared/file.gguf "$model" &&
        [ "$(stat -c %u shared/file.gguf)" = 65534 ] && [ ! -e new.gguf ]
}

# Links of our own, of the folder's owner, and where not everyone may write.
not_planted() {
    mkdir -m 1777 shared && chmod 1777 shared && old a.gguf &&
        ln -s "$work/a.gguf" shared/own.gguf &&
        ends 0 convert --force "$model" shared/own.gguf &&
        cmp a.gguf "$model" && chown 65534 shared &&
        $other ln -s "$work/b.gguf" shared/owner.gguf &&
        ends 0 convert "$model" shared/owner.gguf && cmp b.gguf "$model" &&
        chown 65533 shared && chmod 1775 shared &&
        ends 0 convert --force --to apr "$model" shared/owner.gguf &&
        ends 0 validate --data b.gguf && [ -h shared/owner.gguf ]
}
if [ "$(id -u)" -ne 0 ] || [ "$other" = none ]; then
    skip "links and files of others in a shared folder" "needs root and setpriv"
    skip "links in a shared folder that may be followed" "likewise"
else
    check "links and files of others in a shared folder" planted
    clean
    check "links in a shared folder that may be followed" not_planted
fi
clean

# A file that is open and has lost its name has nowhere to be replaced.
nameless() {
    exec 7>gone.gguf
    rm gone.gguf
    ends 4 convert --force "$model" /dev/fd/7 && says "renamed or removed"
    result=$?
    exec 7>&-
    holds && return $result
}
check "a file that was removed and is still open" nameless
clean

# ---- pipes and devices

streams() {
    for to in gguf apr safetensors; do
        ends 0 convert --to $to "$model" "o.$to" &&
            "$modelfile" convert --quiet --to $to "$model" - >dash &&
            cmp dash "o.$to" &&
            "$modelfile" convert --quiet --to $to "$model" - | cmp - "o.$to" &&
            "$modelfile" convert --quiet --to $to "$model" /dev/stdout |
            cmp - "o.$to" &&
            "$modelfile" convert --quiet --to $to "$model" /dev/fd/3 3>&1 \
                >/dev/null | cmp - "o.$to" || return
    done
}
check "-, /dev/stdout and /dev/fd/3 get the bytes of the file" streams
clean

# Also where that is a file, and whichever command writes.
standard_output() {
    tensor=decoder.layers.0.feed_forward.experts.gate.weight
    "$modelfile" dequantize --quiet "$model" deq.gguf >/dev/null &&
        "$modelfile" quantize --quiet "$model" q.gguf f16 >/dev/null &&
        "$modelfile" tensors export --quiet "$model" $tensor e.npy || return
    for out in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
        "$modelfile" convert --quiet "$model" $out >o && cmp o "$model" &&
            "$modelfile" dequantize --quiet "$model" $out >o && cmp o deq.gguf &&
            "$modelfile" quantize --quiet "$model" $out f16 >o &&
            cmp o q.gguf &&
            "$modelfile" tensors export --quiet "$model" $tensor $out >o &&
            cmp o e.npy && ends 2 convert --json "$model" $out &&
            ends 2 dequantize --json "$model" $out &&
            ends 2 quantize --json "$model" $out f16 &&
            ends 2 tensors export --json "$model" $tensor $out || return
    done
}
check "standard output may be a file, by whatever name" standard_output
clean

fifo() {
    mkfifo pipe
    cat pipe >got &
    ends 0 convert "$model" pipe && wait && cmp got "$model" && [ -p pipe ]
}
check "a FIFO stays one and gets the bytes of the file" fifo
clean

devices() {
    ends 0 convert "$model" /dev/null && [ -c /dev/null ] &&
        ends 4 convert "$model" /dev/full &&
        says "'/dev/full' cannot be written at 0x0: No space" &&
        [ -c /dev/full ] || return
    "$modelfile" convert --quiet "$model" - >/dev/full 2>"$dir/said"
    [ $? -eq 4 ] && says "No space" || return
    "$modelfile" convert --quiet "$model" - >&- 2>"$dir/said"
    [ $? -eq 4 ] && holds
}
check "a full device, or no standard output, is an error" devices

# Descriptors 0 to 2 are free: no file that is written may get one.
closed() {
    "$modelfile" convert "$model" o.gguf <&- >&- 2>&-
    cmp o.gguf "$model" &&
        "$modelfile" convert --progress always "$model" p.apr <&- 2>&- >&- ||
        [ -f p.apr ] && ends 0 validate --data p.apr
}
check "without standard input, output and error" closed
clean

reader_leaves() {
    {
        "$modelfile" convert --quiet "$model" - 2>"$dir/said"
        echo $? >"$dir/code"
    } | head -c 1 >first
    # What fits the pipe may be gone before its reader is.
    [ "$(cat "$dir/code")" -eq 4 ] || [ "$(cat "$dir/code")" -eq 0 ] || return
    mkfifo pipe
    head -c 1 pipe >first &
    ends 4 convert "$dir/large.gguf" pipe && says "roken pipe"
}
# A model of 2 MB: larger than any pipe holds.
"$modelfile" convert --quiet --reserve 2M "$model" "$dir/large.gguf" >/dev/null
check "a reader that goes away is an error" reader_leaves
clean

# ---- signals

# The leak checker of a sanitized build may wait for ever where a signal comes
# while it looks; timeout sends two of them.
quick_end() {
    ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" timeout -k 20 -s "$@"
}

# A reader that takes nothing keeps the program in the middle of its work.
stopped() {
    mkfifo pipe
    for signal in INT TERM HUP; do
        sleep 60 <pipe &
        reader=$!
        quick_end $signal 1 "$modelfile" convert --quiet "$dir/large.gguf" \
            pipe >"$dir/said" 2>&1
        got=$?
        kill $reader
        wait $reader 2>/dev/null
        echo "SIG$signal: exit code $got"
        # 124 is timeout's own.
        [ $got -eq 124 ] && says interrupted || return
    done
}
check "SIGINT, SIGTERM and SIGHUP end a wait for a pipe's reader" stopped
clean

no_reader() {
    mkfifo pipe
    quick_end INT 1 "$modelfile" convert --quiet "$model" pipe >"$dir/said" 2>&1
    [ $? -eq 124 ] && says interrupted
}
check "SIGINT ends the wait for a reader of a pipe" no_reader
clean

# stop_at SIGNAL CODE: while bytes are moved into a file, slowly.  (Leaks cannot
# be looked for under strace.)
stop_at() {
    old o.gguf
    strace -f -qq -o "$dir/trace" -e trace=copy_file_range,pwrite64 \
        -e inject=copy_file_range,pwrite64:delay_enter=700000 \
        env --default-signal=INT ASAN_OPTIONS=detect_leaks=0 "$modelfile" \
        convert --force --quiet "$dir/noise.gguf" o.gguf >"$dir/said" 2>&1 &
    tracer=$!
    child=
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.1
        child=$(cat "/proc/$tracer/task/$tracer/children")
        [ "$(find . -name '.o.gguf*tmp')" ] && break
    done
    # shellcheck disable=SC2086 # a number and a space
    kill -"$1" $child
    wait $tracer
    got=$?
    echo "SIG$1: exit code $got"
    [ $got -eq "$2" ] && says interrupted && still_old o.gguf && holds o.gguf
}

# A shell's background jobs have SIGINT ignored, and the program heeds that.
if ! strace -qq -o "$dir/trace" env --default-signal=INT true 2>/dev/null; then
    skip "signals while a file is written" "strace is not there or refused (in a container: --cap-add SYS_PTRACE)"
else
    nothing_written() {
        strace -f -qq -o "$dir/trace" -e trace="$1" -e inject="$1":retval=0 \
            env ASAN_OPTIONS=detect_leaks=0 timeout -k 5 20 "$modelfile" \
            convert --quiet "$model" "$2" >"$dir/piped" 2>"$dir/said"
        got=$?
        echo "exit code $got"
        [ $got -eq 4 ] && says "nput/output error" && [ ! -e o.gguf ]
    }
    check "a write of nothing is not tried for ever" \
        nothing_written pwrite64 o.gguf
    clean
    # Several pieces of 8 MiB.
    "$filled" f16 40 "$dir/noise.gguf" >/dev/null
    for signal in "INT 130" "TERM 143" "HUP 129"; do
        # shellcheck disable=SC2086 # two words
        check "SIG${signal% *} ends with ${signal#* } and leaves nothing" \
            stop_at $signal
        clean
    done
    rm -f "$dir/noise.gguf"
fi

# ---- limits

file_limit() {
    old o.gguf
    (
        ulimit -f 16 # 8 or 16 KiB
        ends 4 convert --force "$model" o.gguf && says "arge"
    ) && still_old o.gguf && holds o.gguf &&
        (
            ulimit -f 16
            ends 4 split --max-tensors 290 "$model" s.gguf
        ) && holds o.gguf
}
check "a limit to the size of files is an error, no death" file_limit
clean

memory_limit() {
    old o.gguf
    ends 5 convert --force --max-memory 64k "$model" o.gguf &&
        ends 5 convert --force --max-memory 80k --to apr "$model" o.gguf &&
        ends 0 convert --max-memory 8M --to apr "$model" new.apr &&
        still_old o.gguf && holds o.gguf new.apr
}
check "--max-memory that is too small: 5, and OUT as it was" memory_limit
clean

dry_run() {
    for to in gguf apr safetensors; do
        planned=$(file_bytes convert --to $to "$model" "o.$to")
        holds || return
        ends 0 convert --to $to "$model" "o.$to" || return
        [ "$planned" = "$(stat -c %s "o.$to")" ] || return
        clean
    done
    planned=$(file_bytes split --max-tensors 7 "$model" o.gguf)
    holds && ends 0 split --max-tensors 7 "$model" o.gguf &&
        [ "$planned" = "$(cat o-*.gguf | wc -c)" ]
}
check "--dry-run says the exact size and writes nothing" dry_run
clean

# ---- several at once

at_once() {
    for i in 1 2 3 4; do
        "$modelfile" convert --force --quiet "$model" o.gguf \
            >/dev/null 2>&1 &
    done
    wait
    cmp o.gguf "$model" && holds o.gguf || return
    rm o.gguf
    for i in 1 2 3 4; do
        "$modelfile" convert --quiet "$model" o.gguf >/dev/null 2>&1
        echo $? >"$dir/code.$i" &
    done
    wait
    cmp o.gguf "$model" && holds o.gguf
}
check "four that write one OUT at once: it is whole" at_once
clean

changes() {
    cp "$dir/large.gguf" in.gguf
    mkfifo pipe
    {
        head -c 1000 >/dev/null
        touch -d '2001-01-01' in.gguf
        cat >/dev/null
    } <pipe &
    ends 3 convert in.gguf pipe && says "written to"
    result=$?
    wait
    return $result
}
check "an input that is written to meanwhile is an error" changes
clean

# ---- file systems

# apart COMMAND: what it mounts is gone when it ends.  In a chroot / is not a
# mount whose propagation could be set, and it need not be.
private=
unshare -m true 2>/dev/null || private="--propagation unchanged"
apart() {
    # shellcheck disable=SC2086 # options are words
    unshare -m $private sh -c "$1"
}

# mounted OPTIONS COMMAND: in a tmpfs on $work/mnt.
mounted() {
    mkdir mnt
    apart "mount -t tmpfs -o $1 none mnt && cd mnt && $2"
}

full() {
    mounted size=64k "
        echo 'what was there before' >o.gguf
        head -c 40000 /dev/zero >filler
        '$modelfile' convert --quiet --force '$model' o.gguf 2>said
        echo \$? >'$dir/code'; ls -A >'$dir/files'; cp o.gguf said '$dir'"
    [ "$(cat "$dir/code")" -eq 4 ] && still_old "$dir/o.gguf" &&
        says "needs $(stat -c %s "$model") bytes, its file system has [0-9]* available" &&
        [ "$(tr '\n' ' ' <"$dir/files")" = "filler o.gguf said " ]
}

inodes() {
    mounted nr_inodes=3 "
        echo 'what was there before' >o.gguf; : >filler
        '$modelfile' convert --quiet --force '$model' o.gguf 2>'$dir/said'
        echo \$? >'$dir/code'; cp o.gguf '$dir'"
    [ "$(cat "$dir/code")" -eq 4 ] && says "No space" &&
        still_old "$dir/o.gguf"
}

read_only() {
    mkdir mnt
    old mnt/o.gguf
    apart "mount --bind mnt mnt && mount -o remount,ro,bind mnt &&
        '$modelfile' convert --quiet --force '$model' mnt/o.gguf 2>'$dir/said'
        echo \$? >'$dir/code'"
    [ "$(cat "$dir/code")" -eq 4 ] && says "ead-only" && still_old mnt/o.gguf &&
        holds mnt/o.gguf
}

# It must not be seen from here.
mounts() {
    apart "mount -t tmpfs none '$work' && : >'$work/inside'" 2>/dev/null ||
        return
    [ -e "$work/inside" ] || return 0
    umount "$work"
    return 1
}
if mounts; then
    check "a full disk is reported before any work, with numbers" full
    clean
    check "no room for another name" inodes
    clean
    check "a file system that is read-only" read_only
    clean
else
    skip "file systems that are full, or read-only" \
        "only root may mount (in a container: docker run --privileged)"
fi

# A file system that gives its last blocks before it says that there are too
# few.
little_room() {
    mkdir mnt image
    apart "mount -t tmpfs -o size=40M none mnt &&
        truncate -s 24M mnt/disk && mkfs.ext4 -q mnt/disk &&
        mount -o loop mnt/disk image && sync &&
        stat -f -c '%f %S' image >'$dir/free' &&
        '$modelfile' convert --quiet --reserve 90M '$model' image/o.gguf \
            2>'$dir/said'
        echo \$? >'$dir/code'; ls -A image >'$dir/files'
        '$modelfile' split --quiet --max-size 8M '$dir/noise.gguf' image/p \
            2>'$dir/said.split'
        echo \$? >>'$dir/code'; ls -A image >>'$dir/files'" >/dev/null 2>&1
    read -r blocks size <"$dir/free" && [ "$blocks" -gt 1000 ] &&
        [ "$(tr '\n' ' ' <"$dir/code")" = "4 4 " ] &&
        says "its file system has $((blocks * size)) available" &&
        mv "$dir/said.split" "$dir/said" &&
        says "the other output files need" &&
        [ "$(sort -u "$dir/files")" = lost+found ]
}

# A disk that takes the bytes and then cannot keep them.
late() {
    mkdir mnt image
    apart "mount -t tmpfs -o size=6M none mnt &&
        truncate -s 64M mnt/disk && mkfs.ext4 -q mnt/disk &&
        mount -o loop mnt/disk image && : >'$dir/mounted' &&
        echo 'what was there before' >image/o.gguf && sync &&
        '$modelfile' convert --quiet --force --reserve 20M '$model' \
            image/o.gguf 2>'$dir/said'
        echo \$? >'$dir/code'; ls -A image >'$dir/files'"  >/dev/null 2>&1
    [ "$(cat "$dir/code")" -eq 4 ] && says "synced to disk\|written" &&
        ! grep -q tmp "$dir/files"
}
if command -v mkfs.ext4 >/dev/null 2>&1 && [ -z "$sanitized" ] &&
    apart "mkdir p q && mount -t tmpfs none p &&
        truncate -s 8M p/d && mkfs.ext4 -q p/d && mount -o loop p/d q" \
        >/dev/null 2>&1; then
    clean
    "$filled" f16 40 "$dir/noise.gguf" >/dev/null
    check "a disk with too little room says how much it has" little_room
    rm -f "$dir/noise.gguf"
    clean
    check "a disk that fails when all is written" late
else
    skip "disks with too little room, or that fail in the end" \
        "needs root, mkfs.ext4 and loop devices (/dev/loop-control)"
fi
clean

immutable() {
    old o.gguf
    chattr +i o.gguf || return
    ends 4 convert --force "$model" o.gguf
    result=$?
    chattr -i o.gguf
    still_old o.gguf && holds o.gguf && return $result
}
old o.gguf
if chattr +i o.gguf 2>/dev/null; then
    chattr -i o.gguf
    check "an immutable file" immutable
else
    skip "an immutable file" "chattr is refused"
fi
clean
finish
