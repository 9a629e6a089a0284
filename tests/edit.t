#!/bin/sh
# SPDX-License-Identifier: MIT
#
# edit.t - meta set and unset: types, places, and a crash at every moment
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

modelfile=${MODELFILE:-${BUILD:-build}/modelfile}
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-edit.XXXXXX")
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"

# A header of several pages, with room.
model=$dir/m.gguf base=$dir/base.gguf
"$modelfile" convert --quiet fixtures/good-llama.gguf "$base" >/dev/null
"$modelfile" meta set --quiet --reserve 300 "$base" \
    z.long="$(printf '%9000s' x)" >/dev/null
fresh() {
    rm -f "$dir"/m.* && cp "$base" "$model"
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

# The type is what stands there, what the key says, or what it looks like.
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
check "values have the type that stands there, is said, or is seen" typed

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

# Zeros in front are no other base; what a float cannot hold a double may.
numbers() {
    fresh
    "$modelfile" meta set --quiet "$model" llama.context_length=010 a.n=08 \
        a.i:i8=-010 a.x:u32=0x10 a.f=1e39 a.small:f32=1e-60 >/dev/null &&
        [ "$(value llama.context_length) $(value a.n) $(value a.i)" = \
            "10 8 -10" ] &&
        [ "$(value a.x) $(value a.f) $(value a.small)" = "16 1e+39 0" ]
}
check "numbers are decimal, and are held or refused" numbers

# Text goes on behind a NUL; a number does not.
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
        "unset no.such.key 2"; do
        # shellcheck disable=SC2086 # three words
        set -- $each
        code_of "$modelfile" meta "$1" --json "$model" "$2"
        [ "$code" = "$3" ] && [ "$(wc -l <"$dir/out")" = 1 ] &&
            grep -q "^{\"schema\":1,\"file\":\"[^\"]*\",\"error\":{\"code\":$3,\"status\":[^{]*},\"run\":{[^{]*}}\$" \
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
    [ "$code" = 2 ] && cmp -s "$model" "$base"
}
check "unset of a key that is not there is exit code 2" unset_missing

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

in_a_page() {
    fresh
    said llama.context_length=64 '"in_place":true,"journalled":false' &&
        [ "$(value llama.context_length)" = 64 ] && sound
}
check "a number is changed in its page" in_a_page

by_journal() {
    fresh
    said general.name=x '"in_place":true,"journalled":true' &&
        [ "$(value general.name)" = x ] && sound && [ ! -e "$model".* ]
}
check "what moves the rest of the header goes by a journal" by_journal

anew() {
    fresh
    long=$(printf '%2000s' x | tr ' ' y)
    said "general.name=$long" '"in_place":false' &&
        [ "$(value general.name)" = "$long" ] && sound
}
check "what does not fit is written anew" anew

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

# What key:TYPE means where the format's keys tell types; a key stands once.
entry() {
    "$modelfile" meta list --json "$1" "$2" 2>/dev/null |
        grep -o '"key":.*' | sed 's/\],"run".*//; s/,"truncated":[a-z]*//'
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
    skip "a crash at every moment" "the plain tests do this"
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

# The n-th call of a kind fails or is the last one: afterwards the next command
# finds the old file or the new one, and leaves nothing beside it.
whole() {
    "$modelfile" meta get --quiet "$model" general.name >/dev/null 2>&1
    { cmp -s "$model" "$base" || cmp -s "$model" "$dir/new"; } &&
        [ ! -e "$model.modelfile-edit" ]
}

# Who may not write reads the same as who comes after him.
same_for_readers() {
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1 || return 0
    before=$(setpriv --reuid=65534 --clear-groups "$modelfile" hash --quiet \
        "$model" 2>&1; setpriv --reuid=65534 --clear-groups "$modelfile" \
        meta get --quiet "$model" general.name)
    after=$("$modelfile" hash --quiet "$model" 2>&1
        "$modelfile" meta get --quiet "$model" general.name)
    [ "$before" = "$after" ]
}

sweep() {
    moments=0
    for call in openat pwrite64 fsync renameat unlink close pread64; do
        n=0
        while n=$((n + 1)) && [ "$n" -le 40 ]; do
            fresh
            strace -f -o "$dir/trace" -e trace="$call" \
                -e inject="$call:$1:when=$n" "$modelfile" meta set --quiet \
                "$model" general.name=new >"$dir/out" 2>&1
            grep -qE 'INJECTED|killed by' "$dir/trace" || break
            moments=$((moments + 1))
            same_for_readers || { echo "# reader: $call $n"; return 1; }
            whole || { echo "# not whole: $call $n"; return 1; }
        done
    done
    echo "# $moments moments"
    [ "$moments" -gt 20 ]
}
check "killed at any call, an edit is done or not" sweep signal=KILL
check "after EIO at any call likewise" sweep error=EIO
check "after ENOSPC at any call likewise" sweep error=ENOSPC

interrupted() {
    for call in pwrite64 fsync renameat unlink; do
        fresh
        strace -f -o /dev/null -e inject="$call:error=EINTR:when=1+2" \
            "$modelfile" meta set --quiet "$model" general.name=new \
            >/dev/null 2>&1
        cmp -s "$model" "$dir/new" || return 1
    done
}
check "EINTR is asked again" interrupted

stale() {
    fresh
    strace -f -o /dev/null -e inject=unlink:signal=KILL:when=1 "$modelfile" \
        meta set --quiet "$model" general.name=new >/dev/null 2>&1
    [ -e "$model.modelfile-edit" ] || return 1
    cp fixtures/good-base.gguf "$model"
    code_of "$modelfile" info "$model"
    [ "$code" = 3 ] && grep -q "modelfile-edit" "$dir/err" &&
        cmp -s fixtures/good-base.gguf "$model"
}
check "the journal of another file is refused" stale

replaced() {
    fresh
    strace -f -o /dev/null -e inject=unlink:signal=KILL:when=1 "$modelfile" \
        meta set --quiet "$model" general.name=new >/dev/null 2>&1
    [ -e "$model.modelfile-edit" ] || return 1
    "$modelfile" convert --quiet --force fixtures/good-base.gguf "$model" \
        >/dev/null && [ ! -e "$model.modelfile-edit" ] &&
        cmp -s fixtures/good-base.gguf "$model"
}
check "a file that is replaced takes its journal along" replaced

finish
