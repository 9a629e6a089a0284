#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hash.t - digests that others agree with, and manifests
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

model=fixtures/good-llama.gguf

# ---- what outsiders say

# tensors FILE: "OFFSET BYTES NAME" of each.
tensors() {
    "$modelfile" tensors --json "$1" | tr '{' '\n' | sed -n \
        's/^"name":"\([^"]*\)".*"offset":\([0-9]*\),"bytes":\([0-9]*\),.*/\2 \3 \1/p'
}

# as_by TOOL FILE: a manifest without names of digests, by another program.
as_by() {
    tensors "$2" | LC_ALL=C sort -k 3 | while read -r offset bytes name; do
        echo "$(tail -c +$((offset + 1)) "$2" | head -c "$bytes" | $1 |
            cut -d ' ' -f 1)  $name"
    done
}

# agrees TOOL ALGO: lines of tensors, and the model's digest over these lines.
agrees() {
    as_by "$1" "$model" >"$dir/expected"
    [ "$(wc -l <"$dir/expected")" = 21 ] || return 1
    "$modelfile" hash --quiet --algo "$2" "$model" >"$dir/out" || return 1
    sed '/^m[eo]/d; s/^[^:]*://' "$dir/out" | diff "$dir/expected" - ||
        return 1
    [ "$(tail -n 1 "$dir/out")" = \
        "model $2:$($1 <"$dir/expected" | cut -d ' ' -f 1)  $model" ]
}

check "sha256sum agrees" agrees sha256sum sha256
check "sha1sum agrees" agrees sha1sum sha1
if command -v xxhsum >/dev/null 2>&1; then
    check "xxhsum agrees on xxh64" agrees "xxhsum -H1 -" xxh64
    check "xxhsum agrees on xxh128" agrees "xxhsum -H2 -" xxh128
else
    skip "xxhsum agrees" "it is not installed"
fi
# gzip's footer begins with the CRC-32 of what it has packed.
crc_by_gzip() {
    gzip -c | tail -c 8 | od -A n -t x4 --endian=little -N 4 | tr -d ' '
}
check "gzip agrees on crc32" agrees crc_by_gzip crc32

# ---- manifests

check_with() {
    expect "$1" "$2" hash --check "$dir/manifest" "$3"
}

# manifest SED-SCRIPT: the model's, changed.
manifest() {
    "$modelfile" hash --quiet "$model" | sed "$1" >"$dir/manifest"
}

manifest ''
check "a model matches its own manifest" \
    check_with 0 "21 tensors, xxh3 matches" "$model"
check "so does it for another number of threads" expect 0 matches \
    hash --threads 3 --check "$dir/manifest" "$model"
check "a manifest from a pipe will do" sh -c \
    "'$modelfile' hash '$model' | '$modelfile' hash --check - '$model'"

# The last byte of the tensor whose data is last.
# shellcheck disable=SC2046 # three words
set -- $(tensors "$model" | sort -n | tail -n 1)
last=$3
{
    head -c $(($1 + $2 - 1)) "$model"
    printf '\001'
} >"$dir/flipped.gguf"
check "a flipped byte is found" \
    check_with 1 "tensor '$last' is different: " "$dir/flipped.gguf"
check "and only there" \
    check_with 1 "21 tensors, 1 different, 0 missing, 0 extra" \
    "$dir/flipped.gguf"
check "in JSON, too" expect 1 \
    "\"tensors\":[{\"name\":\"$last\",\"problem\":\"different\",\"digest\":" \
    hash --json --check "$dir/manifest" "$dir/flipped.gguf"

manifest '/output.weight/d'
check "a tensor that the manifest has not is found" \
    check_with 1 "tensor 'output.weight' is extra" "$model"
manifest 's/output.weight/input.weight/'
check "a tensor that is missing is found" \
    check_with 1 "tensor 'input.weight' is missing" "$model"
manifest '$ s/:..../:0000/'
check "a wrong digest of the whole is found" \
    check_with 1 "xxh3 of the model does not match" "$model"
manifest '/^model/! d'
check "a manifest of the whole alone will do" check_with 0 matches "$model"
manifest 's/$/\r/; s/:\(.*\)  /:\U\1  /'
check "carriage returns and capitals do not matter" \
    check_with 0 matches "$model"

for name in bad-name-control bad-name-utf8 bad-name-nul good-names; do
    "$modelfile" hash --quiet fixtures/$name.gguf >"$dir/manifest"
    check "$name.gguf matches its manifest" \
        check_with 0 matches fixtures/$name.gguf
done

"$modelfile" hash --quiet "$model" fixtures/good-base.gguf >"$dir/manifest"
check "of several models the one of that name is taken" \
    check_with 0 "2 tensors, xxh3 matches" fixtures/good-base.gguf
check "without one, the answer is no" \
    check_with 1 "no xxh3 digest for this model" "$dir/flipped.gguf"
"$modelfile" hash --quiet fixtures/good-sharded >"$dir/manifest"
check "the container does not matter" \
    check_with 0 "3 tensors, xxh3 matches" fixtures/good-folder

# Files may be called anything.
odd_names() {
    odd=$dir/odd
    mkdir "$odd" || return
    # shellcheck disable=SC2016 # no command is meant
    for name in 'a\nb' 'tab\there' 'back\\slash' 'x\\nb' 'not\377utf8' ' two  ' 'tag\363\240\201\201\342\200\213'; do
        # shellcheck disable=SC2059 # it has escapes, and no formats
        cp "$model" "$odd/$(printf "$name").gguf"
    done
    cp fixtures/good-base.gguf "$odd/z.gguf"
    "$modelfile" hash --quiet "$odd"/*.gguf >"$dir/manifest"
    [ "$(grep -c '^model ' "$dir/manifest")" = 8 ] &&
        [ "$(wc -l <"$dir/manifest")" = $((7 * 23 + 4)) ] || return
    code=0
    "$modelfile" hash --quiet --check "$dir/manifest" "$odd"/*.gguf \
        >"$dir/out" || code=$?
    cat "$dir/out"
    [ "$code" = 0 ] && [ "$(grep -c "matches$" "$dir/out")" = 8 ]
}
check "files whose names have newlines, backslashes and worse" odd_names

# Twice the same is the same; otherwise it is not for us to choose.
twice() {
    "$modelfile" hash --quiet "$model" "$model" >"$dir/manifest" &&
        check_with 0 matches "$model" || return
    for change in '$ s/:..../:0000/' '30 s/:..../:0000/' '30 d' \
        '24 s/  ./  x/'; do
        "$modelfile" hash --quiet "$model" "$model" | sed "$change" \
            >"$dir/manifest"
        check_with 1 "contradict each other" "$model" || return
        expect 1 '"match":false' hash --json --check "$dir/manifest" \
            "$model" || return
    done
    echo "model xxh3:0000000000000000  $model" >>"$dir/manifest"
    check_with 1 "contradict each other" "$model"
}
check "a manifest that contradicts itself matches nothing" twice

# What is wrong with a manifest, and where.
malformed() {
    # shellcheck disable=SC2059 # it has escapes, and no formats
    printf "$1" >"$dir/manifest"
    check_with 3 "$2" "$model"
}
digest=0123456789abcdef
check "an empty manifest is refused" malformed "# nothing\n\n" "is empty"
check "a line of something else is" malformed \
    "xxh3:$digest  a\nhello\n" "line 2 of the manifest is not a line of a modelfile"
check "a digest that is too short is" malformed \
    "xxh3:${digest%f}  a\n" "line 1 of the manifest has a digest of the wrong length"
check "one that is not hexadecimal is" malformed \
    "xxh3:${digest%f}g  a\n" "line 1 of the manifest has a digest that is not"
check "a line without a name is" malformed \
    "xxh3:$digest" "line 1 of the manifest does not have two spaces"
check "an invalid escape is" malformed \
    'xxh3:0123456789abcdef  a\\q\n' "line 1 of the manifest has an invalid escape"
check "half an escape is" malformed \
    'xxh3:0123456789abcdef  a\\x1' "line 1 of the manifest has an invalid escape"
check "a manifest that is cut off is" malformed \
    "xxh3:$digest  a\n" "truncated: its last line, 1, is not about a model"
check "one that is not there is" expect 3 "cannot read the manifest" \
    hash --check "$dir/nothing" "$model"
echo "model xxh3:$digest  x" >"$dir/one"
check "a digest that it has not is" expect 3 "has no xxh64 digests" \
    hash --algo xxh64 --check "$dir/one" "$model"

manifest ''
check "a model that is not there is exit code 3" \
    check_with 3 "cannot be opened" fixtures/nothing.gguf

# ---- manifests of llama-gguf-hash

# In the format of `llama-gguf-hash --all models/names.gguf`; the digests are
# by xxhsum, sha1sum and sha256sum.
cat >"$dir/llama" <<'END'
xxh64     be1279f20c993c48  models/names.gguf:a.weight
sha1      19ad823217d6e64d23624ba721425bb1da2415c8  models/names.gguf:a.weight
sha256    4d116713db1fcd25655501d0ab20ccaef04a2fda35cd2d71480429addcdfb102  models/names.gguf:a.weight
xxh64     124dbdd6422abe8d  models/names.gguf:b.weight
sha1      31848e65cbf33bbd901cb3db5a46be16e1e446a3  models/names.gguf:b.weight
sha256    b1290cd43eac8e2fa4ad8d45d9f79f8868fc8a6e08c627c33557814743ffdf3e  models/names.gguf:b.weight
xxh64     05e0cb4930162209  models/names.gguf:gewicht.äöü.权重.🧠
sha1      3512823aeb2288dce584cfde957abdb0e94a34da  models/names.gguf:gewicht.äöü.权重.🧠
sha256    4d5bc6295487a269f3b40912e5c8f838aa810911854875b1c14ef8fc6919f0a7  models/names.gguf:gewicht.äöü.权重.🧠
xxh64     b2877c54cc04ee4d  models/names.gguf
sha1      60ecee150408fc92cfdb51f55812ba508280dbbe  models/names.gguf
sha256    a85b602bc11979581d1c4de6c679e731165e6fe8efc4ac7a52693fe4c36a001a  models/names.gguf
END
# written ALGO: in that form the lines of this kind, but for the file's name.
written() {
    grep "^$1 " "$dir/llama" | sed 's|models/|fixtures/good-|' >"$dir/expected"
    "$modelfile" hash --quiet --format llama-gguf-hash --algo "$1" \
        fixtures/good-names.gguf | diff "$dir/expected" - || return
    "$modelfile" hash --quiet --format llama-gguf-hash --algo "$1" \
        fixtures/good-names.gguf >"$dir/manifest" &&
        expect 0 "$1 matches" hash --check "$dir/manifest" \
            fixtures/good-names.gguf
}
check "hash --format llama-gguf-hash writes that form" written xxh64
check "with sha1, too" written sha1
check "with sha256, too" written sha256
check "xxh64 if no digest is given" expect 0 "xxh64     be1279f20c993c48  fix" \
    hash --format llama-gguf-hash fixtures/good-names.gguf
check "but no digest that it has not" expect 2 "does not support xxh3" \
    hash --format llama-gguf-hash --algo xxh3 fixtures/good-names.gguf
check "nor JSON" expect 2 "cannot be given with" \
    hash --format llama-gguf-hash --json fixtures/good-names.gguf

llama() {
    cp "$dir/llama" "$dir/manifest"
    expect "$1" "$2" hash --algo "$3" --check "$dir/manifest" \
        fixtures/good-names.gguf
}
check "a manifest of llama-gguf-hash with xxh64" llama 0 "xxh64 matches" xxh64
check "with sha1" llama 0 "sha1 matches" sha1
check "with sha256" llama 0 "sha256 matches" sha256
grep '^sha1' "$dir/llama" >"$dir/sha1"
check "with sha1 alone" expect 0 "sha1 matches" \
    hash --check "$dir/sha1" fixtures/good-names.gguf
sed '1 s/  19/  18/' "$dir/sha1" >"$dir/sha1-other"
check "which names a tensor that is different" expect 1 \
    "tensor 'a.weight' is different: 19ad82" \
    hash --check "$dir/sha1-other" fixtures/good-names.gguf
check "the strongest is taken" expect 0 "sha256 matches" \
    hash --check "$dir/llama" fixtures/good-names.gguf
check "xxh3 it has not" llama 3 "has no xxh3 digests" xxh3

# llama_changed CODE TEXT SED-SCRIPT
llama_changed() {
    sed "$3" "$dir/llama" >"$dir/manifest"
    expect "$1" "$2" hash --algo xxh64 --check "$dir/manifest" \
        fixtures/good-names.gguf
}
check "another digest of a tensor is found" llama_changed 1 \
    "tensor 'b.weight' is different" 's/124dbdd6422abe8d/124dbdd6422abe8e/'
check "another digest of the whole is found" llama_changed 1 \
    "xxh64 of the model does not match" 's/b2877c54cc04ee4d/b2877c54cc04ee4c/'
check "a tensor that is gone is found" llama_changed 1 \
    "tensor 'c.weight' is missing" 's/:b.weight/:c.weight/'
check "without tensors (--no-layer) the whole is checked" llama_changed 0 \
    matches '/:/d'
check "that finds a difference, too" llama_changed 1 "of the model does not match" \
    '/:/d; s/b2877c54cc04ee4d/b2877c54cc04ee4c/'
check "lines about another file are refused" llama_changed 3 \
    "line 2 of the manifest is about another file" '2 s/names/numbers/'
check "one that is cut off is refused" llama_changed 3 \
    "line 1 of the manifest is about another file" '$ d; 11 d; 10 d'

# `llama-gguf-hash --uuid` has printed it.
echo "uuid      fc6ef2dd-d0f5-58aa-b3b1-ea92f097c475  models/names.gguf" \
    >"$dir/uuid"
uuid() {
    expect 0 "3 tensors, uuid matches" hash --check "$dir/uuid" \
        fixtures/good-names.gguf &&
        expect 0 '"expected":"fc6ef2dd-d0f5-58aa-b3b1-ea92f097c475","match":true' \
            hash --json --check "$dir/uuid" fixtures/good-names.gguf &&
        expect 1 "uuid of the model does not match" hash --check "$dir/uuid" \
            fixtures/good-base.gguf &&
        expect 1 '"model":"c5ed0c84-5838-57fc-b5d8-5dad3a30584b"' \
            hash --json --check "$dir/uuid" fixtures/good-base.gguf || return
    sed 's/475/476/' "$dir/uuid" >"$dir/manifest"
    check_with 1 "uuid of the model does not match" fixtures/good-names.gguf
}
# Where there are tensors' digests, too, they are what is checked.
uuid_is_last() {
    { cat "$dir/uuid" && grep '^xxh64' "$dir/llama"; } >"$dir/manifest" &&
        check_with 0 "xxh64 matches" fixtures/good-names.gguf
}
check "any other digest is taken before a uuid" uuid_is_last
check "a uuid of another length is refused" malformed \
    "uuid  fc6ef2dd-d0f5-58aa-b3b1-ea92f097c47  a\n" "has an invalid uuid"
check "so is one without dashes" malformed \
    "uuid  fc6ef2dd0d0f5058aa0b3b10ea92f097c475  a\n" "has an invalid uuid"
check "and one of a tensor" malformed \
    "uuid  fc6ef2dd-d0f5-58aa-b3b1-ea92f097c475  a:b
uuid  fc6ef2dd-d0f5-58aa-b3b1-ea92f097c475  a\n" \
    "line 1 of the manifest has a uuid for a tensor"

# ---- manifests of sha256sum

# sums TOOL...: what it prints of two files fits them, and nothing else.
sums() {
    algo=${1%sum}
    "$@" "$model" fixtures/good-base.gguf >"$dir/manifest" || return
    for file in "$model" fixtures/good-base.gguf; do
        check_with 0 "$file: $algo of the file matches" "$file" || return
    done
    cp fixtures/good-names.gguf "$dir/good-base.gguf"
    check_with 1 "good-base.gguf: $algo of the file is different: $(
        "${1}" fixtures/good-names.gguf | cut -d ' ' -f 1), the manifest has $(
        "${1}" fixtures/good-base.gguf | cut -d ' ' -f 1)" \
        "$dir/good-base.gguf" &&
        check_with 1 "no $algo digest for this file" \
            fixtures/good-names.gguf
}
sums_json() {
    sum=$(sha256sum <"$model" | cut -d ' ' -f 1)
    sha256sum "$model" >"$dir/manifest" &&
        expect 0 "\"algo\":\"sha256\",\"digest\":\"$sum\",\"expected\":\"$sum\",\"match\":true" \
            hash --json --check "$dir/manifest" "$model" &&
        expect 1 "\"expected\":\"$sum\",\"match\":false" \
            hash --json --check "$dir/manifest" fixtures/good-base.gguf
}
# Files of any content and name, through one buffer at a time.
sums_names() {
    (
        cd "$dir/odd" && head -c 3000001 /dev/zero >zero && : >empty &&
            sha256sum ./* >../manifest && sha256sum --tag ./* >../tagged
    ) || return
    for list in manifest tagged; do
        expect 0 "zero: sha256 of the file matches" \
            hash --check "$dir/$list" "$dir/odd"/* || return
        [ "$(grep -c 'sha256 of the file matches$' "$dir/out")" = 10 ] || return
    done
    cat "$dir/manifest" "$dir/tagged" >"$dir/both"
    expect 0 "empty: sha256 of the file matches" hash --max-memory 2M \
        --check "$dir/both" "$dir/odd/empty" "$dir/odd/zero"
}
# Two files of that name, in two folders.
sums_twice() {
    { sha256sum "$model" && sha256sum "$model" | sed 's|fixtures|x|' &&
        sha256sum fixtures/good-base.gguf; } >"$dir/manifest"
    cp "$model" "$dir/good-llama.gguf" &&
        check_with 0 "of the file matches" "$dir/good-llama.gguf" || return
    sed '2 s/^..../0000/' "$dir/manifest" >"$dir/other" &&
        expect 0 "of the file matches" hash --check "$dir/other" "$model" &&
        expect 1 "lines 1 and 2 of the manifest contradict each other" \
            hash --check "$dir/other" "$dir/good-llama.gguf"
}
check "a manifest of llama-gguf-hash with a uuid" uuid
check "a manifest of sha256sum" sums sha256sum
check "one of sha256sum --binary" sums sha256sum --binary
check "one of sha256sum --tag" sums sha256sum --tag
check "one of sha1sum" sums sha1sum
check "in JSON" sums_json
check "files whose names sha256sum escapes" sums_names
check "a file of that name in another folder" sums_twice
sha256sum "$model" >"$dir/manifest"
check "a file that is not there is exit code 3" \
    check_with 3 "cannot be opened" fixtures/nothing.gguf
check "so is a folder" check_with 3 "this is a folder" fixtures
check "sha1 is not in it" expect 3 "has no sha1 digests" \
    hash --algo sha1 --check "$dir/manifest" "$model"
# sums_refused TOOL TEXT
sums_refused() {
    $1 "$model" >"$dir/manifest" || return
    check_with 3 "line 1 of the manifest has a digest of $2, which is not supported" "$model"
}
for tool in md5sum sha224sum sha384sum sha512sum; do
    check "a manifest of $tool is refused by name" sums_refused $tool $tool
    check "with tags, too" sums_refused "$tool --tag" $tool
done
check "so is an unknown one" sums_refused "b2sum --tag" "an unknown kind"
check "a sum without a name is" malformed \
    "a9993e364706816aba3e25717850c26c9cd0d89d  \n" "line 1 of the manifest has no name"
check "one with one space is" malformed \
    "a9993e364706816aba3e25717850c26c9cd0d89d a\n" "does not have two spaces"
check "a tag without a digest is" malformed \
    "SHA1 (a) = \n" "line 1 of the manifest has a digest of the wrong length"
check "a tag without a name is" malformed \
    "SHA1 (" "has no ') = DIGEST'"
check "a sum among lines of tensors is" malformed \
    "xxh3:$digest  a\na9993e364706816aba3e25717850c26c9cd0d89d  a\n" \
    "line 2 of the manifest has another form"

# ---- what is twice

# b.weight has the bytes of rank.2; now its name is b\xffweight.
not_utf8() {
    LC_ALL=C sed 's/b\.weight/b\xffweight/' fixtures/good-ranks.gguf \
        >"$dir/names.gguf"
    expect 0 '"tensors":["b\\xffweight","rank.2"],"tensors_hex":["62ff776569676874","72616e6b2e32"],' \
        hash --duplicates --json "$dir/names.gguf" &&
        expect 0 '"tensors":["b.weight","rank.2"],' \
            hash --duplicates --json fixtures/good-ranks.gguf
}
check "names that are not UTF-8 are given as digits, too" not_utf8

# ---- without libcrypto

# The loader finds something else of that name first.
no_libcrypto() {
    mkdir "$dir/lib" && echo "no library" >"$dir/lib/libcrypto.so.3"
    for algo in sha1 sha256; do
        "$modelfile" hash --algo $algo "$model" >"$dir/with" 2>"$dir/err" &&
            LD_LIBRARY_PATH=$dir/lib "$modelfile" hash --algo $algo "$model" \
                >"$dir/without" 2>"$dir/err" &&
            cmp "$dir/with" "$dir/without" || return
    done
}
check "sha1 and sha256 without libcrypto are the same" no_libcrypto
finish
