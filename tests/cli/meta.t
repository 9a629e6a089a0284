#!/bin/sh
# SPDX-License-Identifier: MIT
#
# meta.t - several keys and files, what changes, and names that nothing has
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

cp "$fixtures/good-llama.gguf" "$dir/base.gguf"
chmod 644 "$dir/base.gguf"
cd "$dir" || exit 1
fresh() {
    cp base.gguf a.gguf && cp base.gguf b.gguf
}

value() {
    "$modelfile" meta get --quiet "$1" "$2"
}

# ---- what nothing matches is an answer: exit code 1

fresh
for each in "tensors a.gguf no.*" "tensors --tsv a.gguf no.*" \
    "tensors stats a.gguf no.*" "tensors export a.gguf no o.npy" \
    "meta a.gguf no.*" "meta get a.gguf no.key" "meta unset a.gguf no.key" \
    "meta get a.gguf general.name no.key" \
    "meta unset a.gguf general.name no.key"; do
    # shellcheck disable=SC2086 # several words
    nothing() {
        ends 1 $each && grep -q "modelfile: a.gguf: no " err &&
            cmp a.gguf base.gguf && [ ! -e o.npy ]
    }
    check "$each" nothing
done

in_json() {
    ends 1 meta get --json a.gguf general.type no.key no.other &&
        grep -q '"metadata":\[{"key":"general.type",.*"error":{"code":1,"status":"absent","message":"a.gguf: no metadata keys .no.key., .no.other.",' out
}
check "with --json it is a member of the file" in_json

# ---- what changes

shown() {
    fresh
    ends 0 meta set --quiet a.gguf general.name=new x.list:u8[]=1,2 \
        llama.context_length=64 || return
    cat >expected <<'END'
general.name: "Tiny Llama of the Fixtures" → "new"
x.list: (not set) → [1, 2] (u8[2])
llama.context_length: 128 → 64
END
    head -n 3 out | diff expected - &&
        ends 0 meta unset --quiet a.gguf x.list &&
        grep -q '^x.list: \[1, 2\] → (not set)$' out
}
check "each change is shown: the old value and the new one" shown

# Not what was not done.
refused() {
    fresh
    ends 2 meta set --quiet a.gguf general.name=new \
        llama.rope.scaling.factor=2 &&
        [ ! -s out ] && cmp a.gguf base.gguf
}
check "but none that is refused" refused

# The bytes of the file itself.
own_bytes() {
    fresh
    ln -sf a.gguf link
    for value in a.gguf link; do
        ends 4 meta set --quiet a.gguf x.y=@"$value" &&
            grep -q 'a.gguf: a value was read from this file' err &&
            cmp a.gguf base.gguf || return
    done
}
check "a value read from the edited file is refused" own_bytes

json_shown() {
    fresh
    ends 0 meta set --json --dry-run a.gguf general.name=new x.y=1 &&
        grep -q '"changes":\[{"key":"general.name","old":{"type":"string","value":"Tiny[^}]*},"new":{"type":"string","value":"new"},"warning":null},{"key":"x.y","old":null,"new":{"type":"u32","value":1},"warning":null}\],"in_place"' out &&
        cmp a.gguf base.gguf
}
check "--json has them in changes" json_shown

# ---- slips

warns() {
    fresh
    ends 0 meta set --quiet a.gguf "$1" && grep -q "$2" err &&
        ends 0 meta set --json a.gguf "$1"
}
silent() {
    fresh
    ends 0 meta set --quiet a.gguf "$@" && [ ! -s err ]
}
echo text >t.jinja
check "a value that names a file" warns tokenizer.chat_template=t.jinja \
    "is the text 't.jinja', which is also the name of a file: '@t.jinja'"
check "a key with a letter that is wrong" warns general.licence=mit \
    "'general.licence' is a new key; did you mean 'general.license'?"
check "a key without its first words" warns chat_templates=x \
    "did you mean 'tokenizer.chat_templates'?"
check "a key without the architecture" warns rope.scaling.type=none \
    "did you mean 'llama.rope.scaling.type'?"
check "a key that differs from one of the model" warns llama.context_lenght=7 \
    "did you mean 'llama.context_length'?"
check "known keys and others are not slips" silent general.author=x x.y=1 x.z=2 \
    general.base_model.1.name=t general.base_model.0.name=u \
    llama.attention.value_length=8 tokenizer.chat_template=@t.jinja \
    llama.rope.scaling.factor:f32=2

# ---- several files

both() {
    fresh
    ends 0 meta set --quiet "$@" &&
        [ "$(value a.gguf general.name) $(value b.gguf general.name)" = "n n" ] &&
        [ "$(value a.gguf x.y) $(value b.gguf x.y)" = "1 1" ]
}
check "files, then edits" both a.gguf b.gguf general.name=n x.y=1
check "edits, then files" both general.name=n x.y=1 a.gguf b.gguf
check "in any order" both a.gguf general.name=n b.gguf x.y=1
printf 'a.gguf\n\nb.gguf\n' >list
check "files of a list" both --files-from list general.name=n x.y=1
check "a list and others" both b.gguf general.name=n x.y=1 --files-from list
printf 'a.gguf\0b.gguf' >list0
check "a list as find -print0 makes it" both --files-from list0 general.name=n \
    x.y=1

equals_file() {
    fresh
    mv a.gguf a=1.gguf
    ends 0 meta set a=1.gguf general.name=n &&
        [ "$(value a=1.gguf general.name)" = n ]
}
check "the first one may have = in its name" equals_file

# A value that can be read once is read once.
one_pipe() {
    fresh
    mkfifo pipe
    printf 'x\ny\n' >pipe &
    ends 0 meta set --quiet a.gguf b.gguf x.s=@pipe 'x.n:string[]=u\,v,w' &&
        [ "$(value a.gguf x.s)" = "$(printf 'x\ny')" ] &&
        [ "$(value b.gguf x.s)" = "$(printf 'x\ny')" ] &&
        [ "$(value b.gguf x.n)" = '["u,v", "w"]' ]
}
check "@PIPE is read once for all files" one_pipe

# One that fails is left as it is, and the others are changed.
go_on() {
    fresh
    ends 0 meta set --quiet a.gguf x.y:u8=1 || return
    cp a.gguf before.gguf
    ends 2 meta set --quiet a.gguf b.gguf x.y=300 &&
        cmp a.gguf before.gguf && [ "$(value b.gguf x.y)" = 300 ] &&
        grep -q "a.gguf: not changed" err || return
    printf 'no.gguf\nb.gguf\n' >some
    ends 3 meta set --json --files-from some x.y=301 &&
        [ "$(value b.gguf x.y)" = 301 ] &&
        grep -q '"file":"no.gguf","error":.*"file":"b.gguf","changes":' out
}
check "a file that cannot be changed does not stop the others" go_on

# Before anything is changed.
wrong() {
    fresh
    ends "$@" && cmp a.gguf base.gguf
}
check "a folder" wrong 2 meta set a.gguf . x.y=1
check "files without an edit" wrong 2 meta set a.gguf b.gguf
check "edits without a file" wrong 2 meta set x.y=1
check "an empty list" wrong 3 meta set --files-from /dev/null x.y=1
check "a list that is not there" wrong 3 meta set --files-from no x.y=1
check "neither a file nor an edit" wrong 2 meta set a.gguf x.y=1 key
head -c 9000000 /dev/zero | tr '\0' x >long
check "a list that is too long" wrong 3 meta set --files-from long x.y=1

getting() {
    fresh
    ends 0 meta get --quiet a.gguf general.type general.name &&
        printf 'general.type: "model"\ngeneral.name: "%s"\n' \
            "Tiny Llama of the Fixtures" | diff - out &&
        ends 0 meta get --quiet --files-from list general.type &&
        printf '%s.gguf: general.type: "model"\n' a b | diff - out &&
        ends 0 meta list --quiet --files-from list general.type &&
        grep -q '^b.gguf$' out && [ "$(grep -c '"model"' out)" = 2 ] &&
        ends 0 meta unset --quiet --files-from list general.name &&
        ends 1 meta get --quiet b.gguf general.name
}
check "meta get, list and unset of several keys and files" getting

# ---- lists for other commands

for each in detect info hash validate; do
    listed() {
        fresh
        "$modelfile" "$each" a.gguf b.gguf --quiet >expected &&
            ends 0 "$each" --quiet --files-from list && diff expected out &&
            ends 0 "$each" --quiet --files-from list0 && diff expected out &&
            ends 0 "$each" --json b.gguf --files-from list &&
            [ "$(grep -o '"file":"[ab].gguf"' out | wc -l)" -ge 3 ]
    }
    check "$each --files-from" listed
done
from_pipe() {
    "$modelfile" hash --quiet --files-from - <list >out &&
        [ "$(grep -c '^model' out)" = 2 ]
}
check "the list may be standard input" from_pipe

finish
