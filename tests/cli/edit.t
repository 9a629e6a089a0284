#!/bin/sh
# SPDX-License-Identifier: MIT
#
# edit.t - meta set and unset: types, places, and a crash at every moment
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

chmod 755 "$dir"

# A header of several pages, with room.
model=$dir/m.gguf base=$dir/base.gguf
"$modelfile" convert --quiet fixtures/good-llama.gguf "$base" >/dev/null
"$modelfile" meta set --quiet --reserve 300 "$base" \
    z.long="$(printf '%40000s' x)" >/dev/null
fresh() {
    rm -f "$dir"/m.* "$dir"/.m.*.tmp && cp "$base" "$model"
}

value() {
    "$modelfile" meta get --quiet "$model" "$1" --full
}

sound() {
    "$modelfile" validate --quiet --strict --data "${1:-$model}" >"$dir/out"
}

code_of() {
    code=0
    "$@" >"$dir/out" 2>"$dir/err" || code=$?
}

# ---- values

# The type comes from the old value, what the key says, or what it looks like.
typed() {
    fresh
    "$modelfile" meta set --quiet "$model" general.name=7 a.flag=true a.n=7 \
        a.m=-7 a.f=0.5 a.word=x b:u8=255 c:i64=-9223372036854775808 d:f64=nan \
        'e:i16[]=1,-2,3' 'f:string[]=a\,b,,c' g:u32[]= h:string=5 \
        >"$dir/out" || return 1
    "$modelfile" meta list --json "$model" 2>/dev/null | tr '{' '\n' |
        grep -E '"key":"(general.name|a\..*|[b-h])"' | sed 's/},*$//' >"$dir/found"
    cat >"$dir/expected" <<'END'
"key":"general.name","type":"string","value":"7"
"key":"a.flag","type":"bool","value":true
"key":"a.n","type":"u32","value":7
"key":"a.m","type":"i32","value":-7
"key":"a.f","type":"f32","value":0.5
"key":"a.word","type":"string","value":"x"
"key":"b","type":"u8","value":255
"key":"c","type":"i64","value":-9223372036854775808
"key":"d","type":"f64","value":"nan"
"key":"e","type":"array","of":"i16","count":3,"value":[1,-2,3]
"key":"f","type":"array","of":"string","count":3,"value":["a,b","","c"]
"key":"g","type":"array","of":"u32","count":0,"value":[]
"key":"h","type":"string","value":"5"
END
    sed -i 's/\]}*\]*.*run.*/]/; s/}\],$//; s/}\]$//' "$dir/found"
    diff "$dir/expected" "$dir/found"
}
check "values have the type of the old value, a stated or a likely one" typed

from_file() {
    fresh
    printf 'line one\nline "two"\n\n' >"$dir/text"
    "$modelfile" meta set --quiet "$model" tokenizer.chat_template="@$dir/text" \
        general.name=@@home "w:string[]=@$dir/text" >/dev/null || return 1
    [ "$(value tokenizer.chat_template)" = "$(cat "$dir/text")" ] &&
        [ "$(value general.name)" = @home ] && sound &&
        "$modelfile" meta get --json "$model" w 2>/dev/null |
        grep -q '"count":3,"value":\["line one","line \\"two\\"",""\]'
}
check "@FILE is what a file holds, of an array a line each" from_file

# Leading zeros do not mean another base; what overflows a float may be a
# double.
numbers() {
    fresh
    "$modelfile" meta set --quiet "$model" llama.context_length=010 a.n=08 \
        a.i:i8=-010 a.x:u32=0x10 a.f=1e39 a.small:f32=1e-60 >/dev/null &&
        [ "$(value llama.context_length) $(value a.n) $(value a.i)" = \
            "10 8 -10" ] &&
        [ "$(value a.x) $(value a.f) $(value a.small)" = "16 1e+39 0" ]
}
check "numbers are decimal, and are held or refused" numbers

# Text goes on after a NUL; a number does not.
with_nul() {
    fresh
    printf 'a\0b\nc\0d\n' >"$dir/text"
    code_of "$modelfile" meta set --quiet "$model" "a.n:u32[]=@$dir/text"
    [ "$code" = 2 ] && cmp -s "$model" "$base" &&
        "$modelfile" meta set --quiet "$model" "a.s=@$dir/text" \
            "a.t:string[]=@$dir/text" >/dev/null &&
        "$modelfile" meta get --json "$model" a.s 2>/dev/null |
        grep -q '"value":"a\\u0000b\\nc\\u0000d"' &&
        "$modelfile" meta get --json "$model" a.t 2>/dev/null |
        grep -q '"value":\["a\\u0000b","c\\u0000d"\]'
}
check "@FILE may hold NUL bytes" with_nul

fresh
code_of "$modelfile" meta set --max-memory 64M "$model" a.s=@/dev/zero
endless() {
    [ "$code" = 5 ] && cmp -s "$model" "$base"
}
check "@FILE without an end is stopped by --max-memory" endless

# One document, whatever is wrong.
in_json() {
    fresh
    for each in "set k:u8=256 2" "set k 2" "set k=@$dir/nothing 3" \
        "unset no.such.key 1"; do
        # shellcheck disable=SC2086 # three words
        set -- $each
        code_of "$modelfile" meta "$1" --json "$model" "$2"
        [ "$code" = "$3" ] && [ "$(wc -l <"$dir/out")" = 1 ] &&
            grep -q "^{\"schema\":2,\"files\":\[{\"file\":\"[^\"]*\",\"error\":{\"code\":$3,\"status\":[^{]*}}\],\"run\":{[^{]*}}\$" \
                "$dir/out" || return 1
    done
}
check "with --json an error is a member of the answer" in_json

for wrong in a.b:u8=256 a.b:u8=-1 a.b:i8=128 a.b:bool=maybe a.b:f32=x =5 key \
    'a.b:i32[]=1,x' llama.context_length=many a.b:f32=1e39 a.b=-1e400 \
    'a.b:f32= 1' a.b:foo=1 'a.b:u32[][]=1' a.b:=1 :u32=1; do
    fresh
    code_of "$modelfile" meta set "$model" general.name=x "$wrong"
    refused() {
        [ "$code" = 2 ] && cmp -s "$model" "$base"
    }
    check "'$wrong' is refused, and nothing else done" refused
done

fresh
code_of "$modelfile" meta unset "$model" general.name no.such.key
unset_missing() {
    [ "$code" = 1 ] && cmp -s "$model" "$base"
}
check "unset of a key that is not there is exit code 1" unset_missing

code_of "$modelfile" meta set "$dir/nothing.gguf" a=b
check "a file that is not there is exit code 3" [ "$code" = 3 ]

for bad in bad-overlap.gguf good-split-00002-of-00003.gguf; do
    [ -e "fixtures/$bad" ] || continue
    cp "fixtures/$bad" "$dir/$bad" && chmod 644 "$dir/$bad"
    code_of "$modelfile" meta set "$dir/$bad" a=b
    untouched() {
        [ "$code" = 3 ] && cmp -s "fixtures/$bad" "$dir/$bad"
    }
    check "$bad is not edited" untouched
done

# ---- places

said() {
    "$modelfile" meta set --json "$model" "$1" 2>/dev/null | grep -q "$2"
}

a_number() {
    fresh
    said llama.context_length=64 \
        '"in_place":true,"journalled":true,"changed_bytes":[12],' &&
        [ "$(value llama.context_length)" = 64 ] && sound &&
        said llama.context_length=64 \
            '"in_place":true,"journalled":false,"changed_bytes":0,'
}
check "of a number only the bytes that differ are written" a_number

by_journal() {
    fresh
    said general.name=x '"in_place":true,"journalled":true' &&
        [ "$(value general.name)" = x ] && sound && [ ! -e "$model".* ]
}
check "what moves the rest of the header goes by a journal" by_journal

rewritten_file() {
    fresh
    long=$(printf '%2000s' x | tr ' ' y)
    said "general.name=$long" '"in_place":false' &&
        [ "$(value general.name)" = "$long" ] && sound
}
check "what does not fit is rewritten" rewritten_file

reserved() {
    fresh
    "$modelfile" meta set --quiet --reserve 8k "$model" general.name=a \
        >/dev/null || return 1
    long=$(printf '%2000s' x | tr ' ' y)
    said "general.name=$long" '"in_place":true' && sound &&
        said general.name=b '"in_place":true' && sound &&
        "$modelfile" meta unset --quiet "$model" general.name >/dev/null && sound
}
check "--reserve leaves room for later edits" reserved

# Every length around what padding takes: a filler key must fit, or none.
lengths() {
    fresh
    "$modelfile" meta set --quiet --reserve 200 "$model" general.name= >/dev/null
    text=
    for _ in 1 2 3 4 5 6 7 8; do
        for _ in 1 2 3 4 5 6 7 8 9; do
            text=${text}z
            said "general.name=$text" '"in_place":true' || return 1
            [ "$(value general.name)" = "$text" ] && sound || return 1
        done
    done
}
check "an edit of any length finds its room" lengths

other_formats() {
    for format in apr safetensors; do
        "$modelfile" convert --quiet --force fixtures/good-hf-llama \
            "$dir/o.$format" --reserve 1k >/dev/null || return 1
        "$modelfile" meta set --quiet "$dir/o.$format" some.key=value \
            other.key:u32=5 >"$dir/out" || return 1
        grep -q "in place" "$dir/out" && sound "$dir/o.$format" &&
            [ "$("$modelfile" meta get --quiet "$dir/o.$format" some.key)" = \
                value ] || return 1
    done
}
check "APR (its checksums, too) and safetensors are edited in place" \
    other_formats

# What key:TYPE means where the format's keys name types; no key is duplicate.
entry() {
    "$modelfile" meta list --json "$1" "$2" 2>/dev/null |
        grep -o '"key":.*' | sed 's/\]}\],"run".*//; s/,"truncated":[a-z]*//'
}

told() {
    st=$dir/o.safetensors apr=$dir/o.apr
    "$modelfile" dequantize --quiet --force fixtures/good-llama.gguf \
        "$dir/floats.gguf" >/dev/null || return 1
    for format in apr safetensors; do
        "$modelfile" convert --quiet --force "$dir/floats.gguf" \
            "$dir/o.$format" >/dev/null || return 1
    done
    "$modelfile" meta set --quiet "$st" llama.block_count:u32=2 x.q:u32=1 \
        x.q:u32=2 x.r:i8=3 x.r:u8=4 x.s:f32=1 x.t:u8=1 x.t:string=x >/dev/null &&
        "$modelfile" meta set --quiet "$st" llama.context_length=77 x.q=9 \
            x.s=inf >/dev/null && sound "$st" &&
        [ "$(entry "$st" '*.block_count*')" = \
            '"key":"llama.block_count:u32","type":"string","value":"2"}' ] ||
        return 1
    [ "$(entry "$st" 'x.*')" = '"key":"x.q:u32","type":"string","value":"9"},{"key":"x.r:u8","type":"string","value":"4"},{"key":"x.s:f32","type":"string","value":"\"inf\""},{"key":"x.t","type":"string","value":"x"}' ] &&
        [ "$(entry "$st" '*.context_length*')" = \
            '"key":"llama.context_length:u32","type":"string","value":"77"}' ] &&
        "$modelfile" meta unset --quiet "$st" x.q >/dev/null &&
        [ -z "$(entry "$st" x.q\*)" ] || return 1
    "$modelfile" meta set --quiet "$apr" x.q:f32=nan x.r:u32=7 x.s:u64=8 \
        x.t:f64=0.5 num_layers:u32=2 x.u:u8[]= >/dev/null &&
        "$modelfile" meta set --quiet "$apr" x.r=9 num_heads=4 >/dev/null &&
        sound "$apr" &&
        [ "$(entry "$apr" 'x.*')" = '"key":"x.q:f32","type":"string","value":"nan"},{"key":"x.r:u32","type":"u64","value":9},{"key":"x.s","type":"u64","value":8},{"key":"x.t","type":"f64","value":0.5},{"key":"x.u:u8[]","type":"array","of":"null","count":0,"value":[]}' ] &&
        [ "$(entry "$apr" 'num_[hl]*')" = '"key":"num_layers","type":"u64","value":2},{"key":"num_heads","type":"u64","value":4}' ]
}
check "where keys tell types, a value keeps its key or gets that of convert" told

dry() {
    fresh
    "$modelfile" meta set --quiet --dry-run "$model" general.name=x >/dev/null &&
        cmp -s "$model" "$base"
}
check "--dry-run changes nothing" dry

# ---- crashes

if [ -n "${QUICK:-}" ]; then
    skip "a crash at every moment" "make check does this"
    finish
    exit
fi
if ! command -v strace >/dev/null 2>&1 || ! strace -o /dev/null true 2>/dev/null
then
    skip "a crash at every moment" "strace does not work here"
    finish
    exit
fi

fresh
"$modelfile" meta set --quiet "$model" general.name=new >/dev/null
cp "$model" "$dir/new"

# Who reads never writes, and who may not write reads the same.
read_only() {
    cp "$model" "$dir/before"
    "$modelfile" info --quiet "$model" >/dev/null 2>&1
    "$modelfile" validate --quiet --data "$model" >/dev/null 2>&1
    name=$(value general.name 2>/dev/null)
    cmp -s "$model" "$dir/before" || return
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1 || return 0
    [ "$(setpriv --reuid=65534 --clear-groups "$modelfile" meta get --quiet \
        "$model" general.name 2>/dev/null)" = "$name" ]
}

# What an edit that ended with $code and the words in $dir/said has left:
# nothing at all, or what it says.
honest() {
    case $code in
    0) cmp -s "$model" "$dir/new" && [ ! -e "$model.modelfile-edit" ] ;;
    137) : ;; # killed: it could not say anything
    *)
        cmp -s "$model" "$base" || grep -q "the edit was made\|the edit is not\
 finished\|was written, but" "$dir/said"
        ;;
    esac
}

# Afterwards there is the old file or the new one, without another file.
whole() {
    "$modelfile" meta recover --quiet "$model" >"$dir/out" 2>&1 &&
        { cmp -s "$model" "$base" || cmp -s "$model" "$dir/new"; } &&
        [ ! -e "$model.modelfile-edit" ]
}

# sweep FAULT COMMAND...: at each call of each kind; the command is given the
# model.  $begin puts there what it starts from.
sweep() {
    fault=$1 moments=0
    shift
    for call in openat pwrite64 pread64 fsync renameat2 unlinkat close fchown \
        fchmod flock fstat newfstatat; do
        n=0
        while n=$((n + 1)) && [ "$n" -le 40 ]; do
            $begin
            strace -f -o "$dir/trace" -e trace="$call" \
                -e inject="$call:$fault:when=$n" "$modelfile" "$@" \
                >"$dir/said" 2>&1
            code=$?
            grep -qE 'INJECTED|killed by' "$dir/trace" || break
            moments=$((moments + 1))
            for wanted in read_only honest whole; do
                $wanted && continue
                echo "not $wanted: $call $n, exit code $code"
                cat "$dir/said"
                return 1
            done
        done
    done
    echo "$moments moments"
    [ "$moments" -gt 20 ]
}

each_fault() {
    for each in signal=KILL error=EIO; do
        sweep $each "$@" || return
    done
}
begin=fresh
set_name() {
    each_fault meta set --quiet "$model" general.name=new &&
        sweep error=ENOSPC meta set --quiet "$model" general.name=new
}
check "set: a fault at any call changes nothing, or is reported" set_name

unset_name() {
    fresh
    "$modelfile" meta unset --quiet "$model" general.name >/dev/null
    cp "$model" "$dir/new"
    each_fault meta unset --quiet "$model" general.name
}
check "unset: likewise" unset_name

set_rewritten() {
    fresh
    "$modelfile" meta set --quiet --reserve 300 "$model" general.name=new \
        >/dev/null
    cp "$model" "$dir/new"
    each_fault meta set --quiet --reserve 300 "$model" general.name=new
}
check "a file that is rewritten: likewise" set_rewritten

# Half of the edit is in the file.
"$modelfile" meta set --quiet "$model" general.name=new >/dev/null
fresh
"$modelfile" meta set --quiet "$model" general.name=new >/dev/null
cp "$model" "$dir/new"
for n in $(seq 60); do
    fresh
    strace -f -o "$dir/trace" -e trace=pwrite64 \
        -e inject=pwrite64:signal=KILL:when="$n" "$modelfile" meta set --quiet \
        "$model" general.name=new >/dev/null 2>&1
    ! cmp -s "$model" "$base" && ! cmp -s "$model" "$dir/new" && break
done
cp "$model" "$dir/torn"
cp -p "$model.modelfile-edit" "$dir/journal"
torn() {
    fresh
    cp "$dir/torn" "$model"
    cp -p "$dir/journal" "$model.modelfile-edit"
}

recovers() {
    torn
    code_of "$modelfile" info "$model"
    [ $code -eq 0 ] && grep -q "an edit is not finished" "$dir/err" &&
        cmp -s "$model" "$dir/torn" && [ "$(value general.name)" = new ] &&
        "$modelfile" info --json "$model" 2>/dev/null |
        grep -q '"pending_edit":true' || return
    "$modelfile" convert --quiet "$dir/new" "$dir/m.one.gguf" >/dev/null &&
        "$modelfile" convert --quiet "$model" "$dir/m.two.gguf" \
            >/dev/null 2>&1 && cmp "$dir/m.one.gguf" "$dir/m.two.gguf" &&
        cmp -s "$model" "$dir/torn" &&
        "$modelfile" meta set --quiet --dry-run "$model" a=b >/dev/null 2>&1 &&
        cmp -s "$model" "$dir/torn" || return
    [ "$("$modelfile" meta recover --quiet "$model")" = \
        "$model: the edit was finished" ] && cmp "$model" "$dir/new" &&
        [ ! -e "$model.modelfile-edit" ] &&
        [ "$("$modelfile" meta recover --quiet "$model")" = \
            "$model: nothing to recover" ] || return
    torn
    "$modelfile" meta recover --json "$model" 2>"$dir/err" >"$dir/out" &&
        grep -q '"recovered":"finished","changed_bytes":[1-9]' "$dir/out"
}
check "half an edit is read as a whole one, and meta recover finishes it" \
    recovers

# Until it is finished, half of it is there, with its journal, or an error says
# so.
honest_recovery() {
    [ $code -eq 0 ] || [ $code -eq 137 ] || [ -e "$model.modelfile-edit" ] ||
        grep -q "the edit was made" "$dir/said"
}
recover_faults() {
    honest() {
        honest_recovery
    }
    base=$dir/new begin=torn
    each_fault meta recover --quiet "$model"
}
tap_base=$base
check "recover: a fault at any call leaves the whole edit to be read" \
    recover_faults
base=$tap_base

interrupted() {
    for call in pwrite64 fsync renameat2 unlinkat flock; do
        fresh
        strace -f -o /dev/null -e inject="$call:error=EINTR:when=1+2" \
            "$modelfile" meta set --quiet "$model" general.name=new \
            >/dev/null 2>&1
        cmp -s "$model" "$dir/new" || return 1
    done
}
check "EINTR is asked again" interrupted

# Not every file system can refuse a name that is taken, or swap two.
plain_rename() {
    for each in EINVAL EOPNOTSUPP; do
        for reserve in "" "--reserve 300"; do
            fresh
            # shellcheck disable=SC2086 # an option and its value
            strace -f -o /dev/null -e inject=renameat2:error=$each \
                "$modelfile" meta set --quiet $reserve "$model" \
                general.name=plain >/dev/null && sound &&
                [ "$(value general.name)" = plain ] &&
                [ "$(find "$dir" -name 'm.*' -o -name '.m.*')" = "$model" ] ||
                return
        done
    done
}
check "a file system that can only rename is enough" plain_rename

stale() {
    torn
    cp fixtures/good-base.gguf "$model"
    code_of "$modelfile" info "$model"
    [ "$code" = 0 ] && grep -q "modelfile-edit' belongs to another file and is \
ignored" "$dir/err" && cmp -s fixtures/good-base.gguf "$model" &&
        [ "$(wc -l <"$dir/err")" = 2 ] &&
        "$modelfile" meta set --quiet "$model" a=b >/dev/null &&
        [ ! -e "$model.modelfile-edit" ] && sound
}
check "the journal of another file is ignored, and goes with the next edit" \
    stale

replaced() {
    torn
    "$modelfile" convert --quiet --force fixtures/good-base.gguf "$model" \
        >/dev/null && [ ! -e "$model.modelfile-edit" ] &&
        cmp -s fixtures/good-base.gguf "$model"
}
check "a file that is replaced takes its journal along" replaced

# A name that leaves no room for the journal's.
long_name() {
    long=$dir/m.$(printf '%0240d' 7)
    cp "$base" "$long"
    "$modelfile" meta set --json "$long" general.name=new >"$dir/out" 2>&1 &&
        grep -q '"in_place":false' "$dir/out" && sound "$long" &&
        [ "$("$modelfile" meta get --quiet "$long" general.name)" = new ]
}
check "where no journal can be made the file is rewritten" long_name
rm -f "$dir"/m.*

# ---- another file in the same place

# While the edit waits in that call, another file takes the name.
meanwhile() {
    fresh
    cp "$base" "$dir/m.other"
    "$modelfile" meta set --quiet "$dir/m.other" general.name=oth >/dev/null
    cp "$dir/m.other" "$dir/other"
    strace -f -o "$dir/trace" "$@" >"$dir/said" 2>&1 &
    sleep 0.5
    mv "$dir/m.other" "$model"
    wait $!
    code=$?
    [ $code -eq 4 ] && cmp "$model" "$dir/other" &&
        [ "$(find "$dir" -name 'm.*' -o -name '.m.*')" = "$model" ]
}
swapped() {
    meanwhile -e trace=renameat2 -e inject=renameat2:delay_enter=1000000 \
        "$modelfile" meta set --quiet --reserve 300 "$model" general.name=new &&
        grep -q "replaced by another file meanwhile" "$dir/said"
}
check "rewriting, an edit replaces no other file" swapped

passed_by() {
    meanwhile -P "$model" -e trace=pwrite64 \
        -e inject=pwrite64:delay_enter=1000000 \
        "$modelfile" meta set --quiet "$model" general.name=new &&
        grep -q "the edit was made, but the file was replaced" "$dir/said"
}
check "in place, it says that it was made in a file that is gone" passed_by

# ---- waiting

if ! command -v flock >/dev/null 2>&1; then
    skip "waiting for another editor" "the command flock is not there"
else
    waits() {
        fresh
        flock "$model" sleep 1 &
        sleep 0.3
        "$modelfile" meta set --quiet "$model" general.name=new >/dev/null &&
            cmp "$model" "$dir/new"
    }
    check "an edit waits for the one before" waits

    gives_up() {
        fresh
        flock "$model" sleep 15 &
        sleep 0.3
        timeout -s INT 1 "$modelfile" meta set --quiet "$model" a=b \
            >"$dir/said" 2>&1
        [ $? -eq 124 ] && grep -q interrupted "$dir/said" || return
        code_of "$modelfile" meta set --quiet "$model" a=b
        [ "$code" = 4 ] && grep -q "another process is editing" "$dir/err" &&
            cmp "$model" "$base"
    }
    check "for ten seconds, or until a signal" gives_up
fi

# ---- other people

other="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(id -u)" -ne 0 ] || ! $other true 2>/dev/null ||
    ! $other "$modelfile" version >/dev/null 2>&1; then
    skip "the journal of another user" "only root may become another user"
    finish
    exit
fi

# refused PART COMMAND...: ends with 4, says that, and changes nothing.
refused() {
    part=$1
    shift
    code_of "$@"
    [ "$code" = 4 ] && grep -q "$part" "$dir/err" && cmp "$model" "$dir/torn" &&
        [ -e "$model.modelfile-edit" ]
}

mkdir -m 1777 "$dir/shared"
model=$dir/shared/m.gguf
planted() {
    cp "$dir/torn" "$model"
    cp -p "$dir/journal" "$model.modelfile-edit"
    chown 65534 "$model.modelfile-edit"
    for command in detect info validate "validate --data" hash tensors meta; do
        # shellcheck disable=SC2086 # an option of its own
        "$modelfile" $command "$model" >"$dir/out" 2>"$dir/err"
        cmp "$model" "$dir/torn" || return
        [ "$command" = detect ] ||
            grep -q "belongs to another user and is ignored" "$dir/err" ||
            return
    done
    refused "another user" "$modelfile" meta set "$model" a=b &&
        refused "another user" "$modelfile" meta recover "$model" &&
        refused "denied" $other "$modelfile" meta recover --force "$model" &&
        "$modelfile" meta recover --quiet --force "$model" >/dev/null &&
        cmp "$model" "$dir/new" && [ ! -e "$model.modelfile-edit" ]
}
check "the journal of another user changes nothing" planted

# The group may write, its members are not the owner.
not_owner() {
    chmod 777 "$dir/shared"
    cp "$base" "$model"
    chmod 666 "$model"
    $other "$modelfile" meta set --json "$model" general.name=new \
        >"$dir/out" 2>&1 &&
        grep -q '"in_place":false' "$dir/out" && sound &&
        [ "$(value general.name)" = new ]
}
check "who is not the owner rewrites the file" not_owner

closed_folder() {
    chmod 755 "$dir/shared"
    cp "$base" "$model"
    chown 65534 "$model"
    code_of $other "$modelfile" meta set "$model" general.name=new
    [ "$code" = 4 ] && grep -q "its journal cannot be created: Permission" \
        "$dir/err" && cmp "$model" "$base"
}
check "without a folder for the journal nothing is changed" closed_folder

# Alice's file, edited by root: she and everyone else can read on.
for_the_owner() {
    chmod 755 "$dir/shared"
    rm -f "$dir/shared"/*
    cp "$base" "$model"
    chown 65534:65534 "$model"
    chmod 640 "$model"
    strace -f -o "$dir/trace" -e trace=pwrite64 \
        -e inject=pwrite64:signal=KILL:when="$n" "$modelfile" meta set --quiet \
        "$model" general.name=new >/dev/null 2>&1
    [ "$(stat -c %u:%g:%a "$model.modelfile-edit")" = 65534:65534:640 ] &&
        [ "$($other "$modelfile" meta get --quiet "$model" general.name \
            2>/dev/null)" = new ]
}
check "a journal has the owner and the mode of its file" for_the_owner

finish
