#!/bin/sh
# SPDX-License-Identifier: MIT
#
# validate.t - the verdict on every fixture, rules and their paragraphs, reports
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh
. tests/lib-verdicts.sh

# ---- verdicts

# Faults that only the tensor data shows.
in_data=" bad-footer.apr bad-padding-not-zero.gguf bad-data-nan.gguf \
bad-data-scale.gguf bad-data-zero.gguf bad-data-bool.safetensors \
bad-data-zeros.safetensors bad-data-fnuz.safetensors bad-padding-header.gguf bad-padding.apr \
bad-scale.apr bad-data-range.gguf bad-data-constant.gguf bad-data-denormal.gguf \
bad-zip-crc.npz "

judge() {
    code=0
    # shellcheck disable=SC2086 # --data or nothing
    "$modelfile" validate --json ${3:-} "fixtures/$1" >"$dir/out" \
        2>"$dir/err" || code=$?
    errors=$(number errors) warnings=$(number warnings)
    [ "${3:-}" = --data ] || case $in_data in
    *" $1 "*) set -- "$1" good ;;
    esac
    case $2 in
    # With --data, fixtures that are all zeros get a warning.
    good) [ "$code" = 0 ] && [ "$errors" = 0 ] &&
        { [ "${3:-}" = --data ] || [ "$warnings" = 0 ]; } ;;
    warning) [ "$code" = 0 ] && [ "$errors" = 0 ] && [ "$warnings" -gt 0 ] ;;
    *) [ "$code" = 1 ] && [ "$errors" -gt 0 ] ;;
    esac && return
    echo "exit code $code, ${errors:-no} errors, ${warnings:-no} warnings"
    return 1
}

while read -r file verdict; do
    check "$file: $verdict" judge "$file" "$verdict"
    check "$file with --data: $verdict" judge "$file" "$verdict" --data
done <"$dir/verdicts"

# ---- rules

"$modelfile" validate --rules | awk '{ print $1 }' >"$dir/rules"

# Every finding of every fixture, to know which rules are met there.
find fixtures \( -path fixtures/quant -o -path fixtures/llama \
    -o -path fixtures/tokenize -o -path fixtures/hub \) -prune -o \
    \( -name '*.gguf' -o -name '*.apr' \
    -o -name '*.safetensors' -o -name '*.json' -o -name '*.bin' \
    -o -name '*.pt' -o -name '*.npy' -o -name '*.npz' \
    -o -name '*.parquet' \) -print |
    LC_ALL=C sort >"$dir/files"
tr '\n' '\0' <"$dir/files" | xargs -0 "$modelfile" validate --data \
    --quiet >"$dir/all" 2>&1
sed -n 's,^fixtures/\(.*\): \([a-z]*\) \([A-Z0-9-]*\)\( at 0x[0-9a-f]*\)\{0\,1\}: .*,\1 \2 \3\4,p' \
    "$dir/all" >"$dir/findings"
awk '{ print $3 }' "$dir/findings" | sort -u >"$dir/met"

# UPDATE=1 writes tests/data/findings.txt again; read it before it is committed.
[ -z "${UPDATE:-}" ] || cp "$dir/findings" tests/data/findings.txt
as_expected() {
    diff tests/data/findings.txt "$dir/findings" && return
    echo "if these are right: UPDATE=1 sh tests/cli/validate.t"
    return 1
}
check "the complete findings of all fixtures, and where" as_expected

# Found in memory by tests/apr/test_apr_*.c, in tests/cli/pickles.t, of stores in tests/cli/store.t
# and for folders in tests/cli/model_types.t, or too large for a fixture.
elsewhere="PICKLE-MEMORY APR-ALIGNMENT APR-INDEX-COUNT APR-RANK APR-ROWS APR-V1-METADATA \
APR-V1-UNPACKED FILE-DIGEST ST-FIELD-UNKNOWN MODEL-GENERIC"

without_fixture() {
    while read -r rule; do
        case " $elsewhere " in
        *" $rule "*) continue ;;
        esac
        grep -qx "$rule" "$dir/met" || echo "$rule"
    done <"$dir/rules"
}
check_empty "every rule is met by a fixture" without_fixture

without_paragraph() {
    while read -r rule; do
        "$modelfile" validate --explain "$rule" 2>&1 | sed -n 3p |
            grep -q '[a-z]' || echo "$rule"
    done <"$dir/rules"
    sed -n 's/^### //p' docs/rules.md | while read -r rule; do
        grep -qx "$rule" "$dir/rules" || echo "$rule is not a rule"
    done
}
check_empty "every rule has its paragraph in docs/rules.md" without_paragraph

in_order() {
    sed -n 's/^### //p' docs/rules.md | diff "$dir/rules" -
}
check "in the order of the table" in_order

# ---- options

strict() {
    code=0
    "$modelfile" validate --quiet --strict fixtures/bad-key-style.gguf >"$dir/out" ||
        code=$?
    [ "$code" = 1 ] && grep -q "error GGUF-KEY-STYLE" "$dir/out"
}
check "--strict makes warnings errors" strict

# The kinds of bytes of every fixture that opens, with and without --data.
sums() {
    tr '\n' '\0' <"$dir/files" | xargs -0 "$modelfile" validate --quiet \
        --coverage "$@" 2>/dev/null | awk '
        function fail(why) { print FILENAME $0 ": " why }
        / of [0-9]+ bytes checked/ {
            match($0, /[0-9]+ of [0-9]+ bytes checked/)
            split(substr($0, RSTART, RLENGTH), word, " ")
            checked = word[1] + 0; size = word[3] + 0
        }
        / coverage: bytes: / {
            count++
            sum = 0; line = $0; sub(/.* coverage: bytes: /, "", line)
            gsub(/[a-z,]/, "", line)
            n = split(line, word, " ")
            for (i = 1; i <= n; i++)
                sum += word[i]
            if (n != 5 || sum != size) fail("sum " sum " of " size)
            if (checked > size) fail("checked more than there is")
            header = word[1]
        }
        / coverage: rules: [0-9]+ of / {
            split($0, word, "coverage: rules: "); split(word[2], word, " ")
            total = word[3]; rules = word[1]
        }
        / not applied: / {
            split($0, word, "coverage: rules: "); rules += word[2] + 0
        }
        / coverage: readers: / { if (rules != total) fail("rules") }
        END { if (count < 100) fail("only " count + 0 " files") }'
}
check_empty "--coverage: all bytes and rules are accounted for" sums
check_empty "likewise with --data" sums --data

edit_of_errors() {
    cp fixtures/good-llama.gguf "$dir/e.gguf"
    "$modelfile" meta set --quiet "$dir/e.gguf" split.count:u16=3 \
        >/dev/null 2>"$dir/err" && return 1
    grep -q "GGUF-SPLIT.*--force makes it anyway" "$dir/err" || return 1
    "$modelfile" meta set --quiet --force "$dir/e.gguf" \
        split.count:u16=3 >/dev/null || return 1
    counts 1 0 "$dir/e.gguf" || return 1
    "$modelfile" meta set --quiet "$dir/e.gguf" general.name=other \
        >/dev/null || return 1
    "$modelfile" meta unset --quiet "$dir/e.gguf" split.count \
        >/dev/null && counts 0 0 "$dir/e.gguf"
}

# counts ERRORS WARNINGS ARGUMENT...: the numbers of the verdict, and the exit
# code that follows from them.
counts() {
    wanted=$1/$2
    [ "$1" = 0 ] && wanted_code=0 || wanted_code=1
    shift 2
    code=0
    "$modelfile" validate --json "$@" >"$dir/out" 2>"$dir/err" || code=$?
    [ "$(number errors)/$(number warnings)" = "$wanted" ] &&
        [ "$code" = "$wanted_code" ] && return
    echo "exit code $code, $(number errors)/$(number warnings), not $wanted"
    return 1
}
check "--for all is what is checked without --for" \
    counts 1 0 --for all fixtures/bad-key-nul.gguf
check "--for a reader: what breaks it is an error" \
    counts 1 0 --for spec fixtures/bad-key-nul.gguf
check "what does not is a note" \
    counts 0 0 --for llama.cpp fixtures/bad-key-nul.gguf
check "a warning is an error for the reader that was asked for" \
    counts 1 0 --for spec fixtures/bad-key-style.gguf
check "and stays one for others" \
    counts 0 1 --for llama.cpp fixtures/bad-key-style.gguf
check "and without --for" counts 0 1 fixtures/bad-key-style.gguf
check "an unknown architecture is a note" counts 0 0 fixtures/good-base.gguf
check "and an error with --require-known" \
    counts 1 0 --require-known fixtures/good-base.gguf

check "meta set adds no error without --force, and keeps old ones" \
    edit_of_errors

spared() {
    "$modelfile" validate --quiet --for llama.cpp fixtures/bad-key-nul.gguf |
        grep -q ": note GGUF-KEY-CHARS .* (no error for llama.cpp)$" &&
        "$modelfile" validate --json --for llama.cpp \
            fixtures/bad-key-nul.gguf |
        grep -q '"for":"llama.cpp".*"severity":"note","usual_severity":"error"'
}
check "the note says so" spared

other_reader() {
    code=0
    "$modelfile" validate --for "$1" "$2" >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" = 3 ] && grep -q "are not checked for $1" "$dir/err"
}
check "llama.cpp reads no safetensors" \
    other_reader llama.cpp fixtures/good-base.safetensors
check "transformers reads no GGUF" \
    other_reader transformers fixtures/good-base.gguf
check "neither reads APR" other_reader llama.cpp fixtures/good-base.apr

baseline() {
    "$modelfile" validate --quiet fixtures/bad-overlap.gguf >"$dir/known"
    "$modelfile" validate --quiet --baseline "$dir/known" \
        fixtures/bad-overlap.gguf >"$dir/out" || return 1
    grep -q "0 errors, 0 warnings, 2 accepted" "$dir/out" || return 1
    code=0
    "$modelfile" validate --quiet --baseline "$dir/known" \
        fixtures/bad-gap.gguf fixtures/bad-row-block.gguf >"$dir/out" ||
        code=$?
    [ "$code" = 1 ] && grep -q "error TENSOR-ROW" "$dir/out"
}
check "--baseline accepts what an earlier report has, and nothing else" \
    baseline

# accepts ARGUMENT...: with $dir/known as the baseline nothing is left.
accepts() {
    "$modelfile" validate --quiet --baseline "$dir/known" "$@" >"$dir/out" \
        2>&1 && grep -q "0 errors, 0 warnings, [1-9][0-9]* accepted" \
        "$dir/out" && ! grep -q ": [a-z]* [A-Z-]* at 0x" "$dir/out" && return
    cat "$dir/out"
    return 1
}

strict_baseline() {
    "$modelfile" validate --quiet fixtures/bad-key-style.gguf >"$dir/known"
    accepts --strict fixtures/bad-key-style.gguf || return 1
    "$modelfile" validate --quiet --strict fixtures/bad-key-style.gguf >"$dir/known"
    accepts fixtures/bad-key-style.gguf
}
check "with and without --strict" strict_baseline

for_baseline() {
    "$modelfile" validate --quiet --for llama.cpp fixtures/bad-key-nul.gguf \
        >"$dir/known"
    accepts fixtures/bad-key-nul.gguf || return 1
    "$modelfile" validate --quiet fixtures/bad-key-nul.gguf >"$dir/known"
    accepts --for llama.cpp fixtures/bad-key-nul.gguf &&
        accepts --for spec fixtures/bad-key-nul.gguf
}
check "with and without --for" for_baseline

other_system() {
    { echo "# known"; echo; "$modelfile" validate --quiet \
        fixtures/bad-overlap.gguf; } | sed "s/\$/$(printf '\r')/" >"$dir/known"
    accepts fixtures/bad-overlap.gguf
}
check "with the line ends of another system, and remarks" other_system

odd_path() {
    name=$dir/$(printf 'odd\033\377: error X: .gguf')
    cp fixtures/bad-overlap.gguf "$name" || return 1
    "$modelfile" validate --quiet "$name" >"$dir/known"
    accepts "$name"
}
check "of a file with an odd name" odd_path

# A path of more than 1000 bytes.
deep=$dir
for _ in 1 2 3 4 5 6; do
    deep=$deep/$(printf '%0200d' 0)
done
mkdir -p "$deep" && cp fixtures/bad-overlap.gguf "$deep/model.gguf"

long_path() {
    "$modelfile" validate --quiet "$deep/model.gguf" >"$dir/whole"
    grep -q "model.gguf: error TENSOR-OVERLAP at 0xc0: tensor 'b.weight' over" \
        "$dir/whole" || return 1
    grep -v "error TENSOR-OVERLAP" "$dir/whole" >"$dir/known"
    code=0
    "$modelfile" validate --quiet --baseline "$dir/known" "$deep/model.gguf" \
        >"$dir/out" || code=$?
    [ "$code" = 1 ] && grep -q "1 error, 0 warnings, 1 accepted" "$dir/out"
}
check "each finding of its own, however long the path is" long_path

# Names that begin with a control character: a warning each, and one more for
# the odd length.
awk 'BEGIN {
    printf "{\"__metadata__\":{\"format\":\"pt\"},"
    for (i = 0; i < 1500; i++)
        printf "%s\"\\u0001%d\":{\"dtype\":\"F32\",\"shape\":[0]," \
            "\"data_offsets\":[0,0]}", i ? "," : "", i
    printf "}"
}' >"$dir/header"
size=$(wc -c <"$dir/header")
# shellcheck disable=SC2059 # octal digits
{
    printf "$(printf '\\%03o' $((size % 256)) $((size / 256 % 256)) \
        $((size / 65536)) 0 0 0 0 0)"
    cat "$dir/header"
} >"$dir/many.safetensors"

many() {
    "$modelfile" validate --quiet "$dir/many.safetensors" >"$dir/known"
    [ "$(wc -l <"$dir/known")" = 1002 ] &&
        grep -q ": not shown: 0 errors, 501 warnings, 1 note; --max-f.* 1502" \
            "$dir/known" || return 1
    "$modelfile" validate --quiet --strict --baseline "$dir/known" \
        "$dir/many.safetensors" >"$dir/out" && return 1
    grep -q "501 errors, 0 warnings, 1000 accepted" "$dir/out" || return 1
    "$modelfile" validate --quiet --max-findings 1502 "$dir/many.safetensors" \
        >"$dir/known"
    [ "$(wc -l <"$dir/known")" = 1503 ] &&
        accepts --strict "$dir/many.safetensors"
}
check "of a file with any number of findings" many

not_a_report() {
    "$modelfile" validate --json --quiet fixtures/bad-overlap.gguf \
        >"$dir/json"
    printf 'fixtures/a.gguf: error FILE-COUNT at 0x0: \0\n' >"$dir/nul"
    for file in "$dir/json" "$dir/nul" fixtures/bad-overlap.gguf README.md; do
        code=0
        "$modelfile" validate --baseline "$file" fixtures/bad-overlap.gguf \
            >"$dir/out" 2>"$dir/err" || code=$?
        [ "$code" = 2 ] && grep -q "requires a text report" "$dir/err" &&
            continue
        echo "$file"
        return 1
    done
}
check "what is not a report is refused as a baseline" not_a_report

no_baseline() {
    code=0
    "$modelfile" validate --baseline "$dir/nothing" fixtures/good-base.gguf \
        >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" = 3 ] && grep -q "cannot read the baseline" "$dir/err"
}
check "a baseline that is not there is exit code 3" no_baseline

most() {
    "$modelfile" validate --quiet --max-findings 1 \
        fixtures/bad-data-past-end.apr >"$dir/out"
    [ "$(wc -l <"$dir/out")" = 3 ] && grep -q "2 errors" "$dir/out" &&
        grep -q ": not shown: 1 error, 0 warnings, 1 note" "$dir/out"
}
check "--max-findings shows fewer and counts all" most

missing() {
    code=0
    "$modelfile" validate fixtures/nothing.gguf fixtures/good-base.gguf \
        >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" = 3 ] && grep -q "good-base.gguf: 0 errors" "$dir/out"
}
check "a file that is not there is exit code 3, the others are judged" missing

# usage TEXT ARGUMENT...: that command line is refused so.
usage() {
    text=$1
    shift
    code=0
    "$modelfile" validate "$@" >"$dir/out" 2>"$dir/err" || code=$?
    [ "$code" = 2 ] && [ ! -s "$dir/out" ] && grep -q "$text" "$dir/err"
}
check "--rules takes no FILE" usage "'--rules' takes no file" \
    --rules fixtures/good-base.gguf
check "--explain takes no FILE" usage "'--explain' takes no file" \
    --explain ST-NAME fixtures/good-base.gguf
check "nor do they go together" usage "cannot both be given" \
    --explain ST-NAME --rules

no_memory() {
    for most in 10 1000; do
        code=0
        "$modelfile" validate --max-memory $most fixtures/good-base.gguf \
            >"$dir/out" 2>"$dir/err" || code=$?
        [ "$code" = 5 ] || return 1
    done
}
check "too little --max-memory is exit code 5" no_memory

no_isa() {
    for arguments in "validate --data" validate info hash; do
        code=0
        # shellcheck disable=SC2086 # words
        MODELFILE_ISA=abacus "$modelfile" $arguments fixtures/good-base.gguf \
            >"$dir/out" 2>"$dir/err" || code=$?
        [ "$code" = 2 ] && ! grep -q good-base "$dir/err" &&
            grep -q "MODELFILE_ISA is 'abacus'" "$dir/err" || return 1
    done
}
check "an unknown instruction set is a wrong command line" no_isa

# ---- folders and shards

tree() {
    mkdir -p "$dir/tree/a/model.gguf/c" "$dir/tree/.hidden" "$dir/tree/empty"
    cp fixtures/good-base.gguf "$dir/tree/top.gguf"
    cp fixtures/bad-overlap.gguf "$dir/tree/a/model.gguf/c/deep.gguf"
    cp fixtures/bad-overlap.gguf "$dir/tree/.hidden/hidden.gguf"
    ln -s .. "$dir/tree/a/up"
    code=0
    "$modelfile" validate --quiet "$dir/tree" >"$dir/out" 2>"$dir/err" ||
        code=$?
    grep "header checked" "$dir/out" | sed "s|^$dir/tree/\([^:]*\).*|\1|" \
        >"$dir/names"
    [ "$code" = 1 ] && [ "$(cat "$dir/names")" = "top.gguf
a/model.gguf/c/deep.gguf" ] &&
        [ "$(cat "$dir/err")" = "modelfile: $dir/tree/a/up: skipped: a \
symbolic link to a folder" ]
}
check "a folder is looked through with those in it" tree

no_model() {
    code=0
    "$modelfile" validate --quiet "$dir/tree/empty" 2>"$dir/err" || code=$?
    [ "$code" = 3 ] && grep -q "no model in this folder" "$dir/err"
}
check "one without a model is exit code 3" no_model

# What is there in its place is named.
instead() { # NAME TEXT
    mkdir -p "$dir/instead/$1" && code=0
    "$modelfile" info --quiet "$dir/instead" 2>"$dir/err" >"$dir/out" || code=$?
    rm -R "$dir/instead"
    [ "$code" = 3 ] && grep -q "no model in this folder.*$2" "$dir/err"
}
checkpoint() {
    mkdir "$dir/checkpoint" && cp fixtures/good-torch.pt "$dir/checkpoint/pytorch_model.bin" &&
        "$modelfile" info --quiet "$dir/checkpoint" >"$dir/out" && grep -q pytorch "$dir/out"
}
check "a checkpoint is opened where nothing else is" checkpoint
checkpoint_shards() { # NAME: what the list calls the shard
    rm -rf "$dir/checkpoint" && mkdir "$dir/checkpoint" &&
        cp fixtures/good-torch.pt "$dir/checkpoint/pytorch_model-00001-of-00001.bin"
    {
        printf '{"metadata": {"total_size": 62}, "weight_map": {'
        for name in weight turned part counts; do
            printf '"%s": "%s", ' "$name" "$1"
        done
        printf '"scalar": "%s"}}' "$1"
    } >"$dir/checkpoint/pytorch_model.bin.index.json"
    code=0
    "$modelfile" validate --data "$dir/checkpoint" >"$dir/out" 2>&1 || code=$?
}
all_shards() {
    checkpoint_shards pytorch_model-00001-of-00001.bin
    cat "$dir/out"
    [ "$code" = 0 ] && grep -q 'index.json: 0 errors, .* 5 tensors.*data checked' "$dir/out"
}
check "its list of shards is a model" all_shards
no_shards() {
    checkpoint_shards other.bin
    [ "$code" = 1 ] && grep -q "error SHARD-MISSING.*'other.bin'" "$dir/out"
}
check "one that lacks a shard is not" no_shards
check "a download cache" instead snapshots "the folders in 'snapshots'"

# odd_shard COMMAND: the same where COMMAND makes the second shard.
odd_shard() {
    rm -rf "$dir/shards" && cp -R fixtures/good-sharded "$dir/shards" || return 1
    shard=$(find "$dir/shards" -name '*-00002-of-*')
    rm "$shard" && $1 "$shard" || return 1
    code=0
    timeout 10 "$modelfile" validate --quiet "$dir/shards" >"$dir/out" \
        2>"$dir/err" || code=$?
    [ "$code" = 1 ] && grep -q "error SHARD-MISSING: " "$dir/out"
}
check "a shard that is not there is the model's fault" odd_shard true
check "likewise one that is a pipe" odd_shard mkfifo
check "likewise one that is a folder" odd_shard mkdir

# ---- names

# suffixes FORMAT: of its files; "suffixes" of imatrix (.dat) are anything's.
suffixes() {
    "$modelfile" version --json | tr '{' '\n' |
        sed -n "s/^\"name\":\"$1\".*\"suffixes\":\[\([^]]*\)\].*/\1/p" |
        tr ',' '\n' | tr -d '"' | grep -vx .dat
}
formats() {
    "$modelfile" version --json | sed 's/"types":.*//' | tr '{' '\n' |
        sed -n 's/^"name":"\([a-z0-9]*\)".*/\1/p'
}

# named FILE NAME: whether it has the warning under that name.
named() {
    rm -rf "$dir/named" && mkdir "$dir/named" && cp "$1" "$dir/named/$2" &&
        "$modelfile" validate --quiet "$dir/named/$2" >"$dir/out" 2>&1
    grep -q "$2: warning FILE-NAME: '$2' has the suffix of" "$dir/out"
}
# Every format's file under every format's name.
every_suffix() {
    for file in fixtures/good-base.gguf fixtures/good-base.apr \
        fixtures/good-base.safetensors fixtures/good-imatrix.dat; do
        for format in $(formats); do
            for suffix in $(suffixes "$format"); do
                own=${file##*.}
                [ "$own" = "$format" ] && [ ".$own" = "$suffix" ] && continue
                named "$file" "x$suffix" ||
                    { echo "$file as x$suffix" && cat "$dir/out" && return 1; }
            done
        done
        named "$file" "x.${file##*.}" && echo "$file" && return 1
        named "$file" "x" && echo "$file" && return 1
    done
    return 0
}
check "a suffix of another format is a warning" every_suffix
check "also in capitals" named fixtures/good-base.gguf x.SafeTensors
capitals() {
    ! named fixtures/good-base.gguf X.GGUF
}
check "but capitals of its own are not" capitals
strict_name() {
    named fixtures/good-base.gguf x.apr
    code=0
    "$modelfile" validate --strict --quiet "$dir/named/x.apr" >"$dir/out" ||
        code=$?
    [ "$code" = 1 ] && grep -q "x.apr: error FILE-NAME" "$dir/out"
}
check "with --strict it is an error" strict_name

# A cache has files without suffixes and links to them: the link's name counts.
cached() {
    rm -rf "$dir/cache" && mkdir -p "$dir/cache/blobs" "$dir/cache/snapshot" &&
        cp fixtures/good-base.gguf "$dir/cache/blobs/0123abcd" &&
        cp fixtures/good-base.gguf "$dir/cache/blobs/0123.apr" || return 1
    (cd "$dir/cache/snapshot" && ln -s ../blobs/0123abcd model.safetensors &&
        ln -s ../blobs/0123.apr model.gguf) || return 1
    "$modelfile" validate --quiet "$dir/cache/snapshot/model.safetensors" \
        "$dir/cache/snapshot/model.gguf" "$dir/cache/blobs/0123abcd" >"$dir/out"
    grep -q "model.safetensors: warning FILE-NAME" "$dir/out" &&
        [ "$(grep -c FILE-NAME "$dir/out")" = 1 ]
}
check "the name of a link counts, not that of its file" cached

# A list of shards under the name of one.
listed() {
    rm -rf "$dir/listed" && cp -R fixtures/good-sharded "$dir/listed" &&
        mv "$dir/listed/model.safetensors.index.json" \
            "$dir/listed/all.safetensors" || return 1
    "$modelfile" validate --quiet "$dir/listed/all.safetensors" >"$dir/out"
    grep -q "'all.safetensors' has the suffix of safetensors, but is a safetensors list of shards" \
        "$dir/out"
}
check "a list of shards is not a shard" listed

# ---- reports

# The second shard has the fault, whichever of them is named.
in_shard() {
    shard=fixtures/bad-index-duplicate/model-00001-of-00002.safetensors
    index=fixtures/bad-index-duplicate/model.safetensors.index.json
    "$modelfile" validate --quiet "$index" >"$dir/out"
    grep -q "^$shard: error ST-INDEX-SHARD at 0x6b: " "$dir/out" &&
        grep -q "^$index: error ST-INDEX-DUPLICATE: " "$dir/out" || return 1
    "$modelfile" validate --quiet --format sarif "$index" >"$dir/out"
    grep -q "\"uri\":\"$shard\"},\"region\":{\"startLine\":1,\"byteOffset\":107}" "$dir/out" ||
        return 1
    "$modelfile" validate --quiet --format junit "$index" >"$dir/out"
    grep -q "classname=\"$shard\" name=\"ST-INDEX-SHARD 'norm.weight'\"" "$dir/out" || return 1
    "$modelfile" validate --quiet --json "$index" >"$dir/out"
    grep -q "\"path\":\"$shard\"" "$dir/out"
}
check "a finding names the shard in which its place is" in_shard

cut_shard() {
    rm -rf "$dir/shards" && cp -R fixtures/good-sharded "$dir/shards" || return 1
    shard=$(find "$dir/shards" -name '*-00002-of-*')
    printf '\377\377' | dd of="$shard" bs=1 seek=2 conv=notrunc 2>/dev/null
    "$modelfile" validate --quiet "$dir/shards" >"$dir/out" 2>&1
    grep -q "^$shard: error [A-Z-]* at 0x" "$dir/out"
}
check "also where that cannot be read on" cut_shard

sarif() {
    tr '\n' '\0' <"$dir/files" |
        xargs -0 "$modelfile" validate --format sarif fixtures/nothing.gguf \
            >"$dir/sarif" 2>/dev/null
    node -e '
        const log = JSON.parse(require("fs").readFileSync(process.argv[1]));
        const run = log.runs[0];
        const ids = new Set(run.tool.driver.rules.map(rule => rule.id));
        if (log.version !== "2.1.0" || run.results.length < 200 ||
            run.invocations[0].executionSuccessful ||
            run.invocations[0].toolExecutionNotifications[0].locations[0]
                .physicalLocation.artifactLocation.uri !==
                "fixtures/nothing.gguf" ||
            run.results.some(result => !ids.has(result.ruleId) ||
                !["error", "warning", "note"].includes(result.level) ||
                !result.message.text ||
                !result.locations[0].physicalLocation.artifactLocation.uri))
            process.exit(1);' "$dir/sarif"
}
if command -v node >/dev/null 2>&1; then
    check "SARIF names a rule, a place and a sentence for each finding" sarif
else
    skip "SARIF names a rule, a place and a sentence for each finding" \
        "node is not installed"
fi

# xml ARGUMENT...: the JUnit report, which must be well-formed.
xml() {
    "$modelfile" validate --quiet --format junit "$@" >"$dir/junit" \
        2>/dev/null
    xmllint --noout "$dir/junit"
}

# in_xml COUNT PATH: the report has that many of what PATH selects.
in_xml() {
    [ "$(xmllint --xpath "count($2)" "$dir/junit")" = "$1" ]
}

junit_unread() {
    xml "$dir/tree/empty" fixtures/nothing.gguf fixtures/good-base.gguf &&
        in_xml 3 "//testsuite" &&
        in_xml 1 "//testsuite[@name='$dir/tree/empty' and @errors=1]" &&
        in_xml 2 "//error[@type!='' and @message!='']" &&
        in_xml 1 "//error[. =
            'fixtures/nothing.gguf: cannot be opened: No such file or directory'
            and @type='io']"
}

junit_unshown() {
    xml --max-findings 1 fixtures/bad-data-past-end.apr &&
        in_xml 1 "//testsuite[@tests=2 and @failures=2]" &&
        in_xml 1 "//testcase[@name='not shown']/failure"
}

junit_odd() {
    odd=$dir/$(printf 'odd\357\277\276\357\277\277&<">\033\377.gguf')
    cp fixtures/bad-overlap.gguf "$odd" && xml "$odd" "$deep/model.gguf" &&
        in_xml 2 "//failure[contains(., 'TENSOR-OVERLAP at 0xc0: tensor')]"
}

junit() {
    tr '\n' '\0' <"$dir/files" |
        xargs -0 "$modelfile" validate --format junit fixtures/nothing.gguf \
            >"$dir/junit" 2>/dev/null
    xmllint --noout "$dir/junit" || return 1
    suites=$(xmllint --xpath 'count(/testsuites/testsuite)' "$dir/junit")
    wrong=$(xmllint --xpath 'count(/testsuites/testsuite[
        count(testcase) != @tests or count(testcase/failure) != @failures or
        count(testcase/error) != @errors])' "$dir/junit")
    [ "$suites" = $(($(wc -l <"$dir/files") + 1)) ] && [ "$wrong" = 0 ]
}
if command -v xmllint >/dev/null 2>&1; then
    check "JUnit XML is well-formed, and its counts are right" junit
    check "JUnit has a suite for what cannot be read" junit_unread
    check "JUnit does not pass where errors are not shown" junit_unshown
    check "JUnit holds names of any bytes and any length" junit_odd
else
    skip "JUnit XML is well-formed, and its counts are right" \
        "xmllint is not installed"
fi

# ---- what was cut off

# Tensors of these end where the file does.
cut_off() {
    for file in good-llama.gguf good-hf-llama/model.safetensors; do
        size=$(wc -c <"fixtures/$file")
        for missing in 1 40 900 2048; do
            head -c $((size - missing)) "fixtures/$file" >"$dir/cut.bin"
            short="$missing B"
            [ "$missing" != 2048 ] || short="2.0 KiB"
            "$modelfile" validate --quiet "$dir/cut.bin" >"$dir/said"
            [ $? = 1 ] || echo "$file less $missing: exit code"
            [ "$(sed -n 1p "$dir/said")" = "$dir/cut.bin: file is truncated: $short missing" ] ||
                sed -n "s|^|$file less $missing: |p; q" "$dir/said"
            "$modelfile" validate --json "$dir/cut.bin" |
                grep -q "\"missing_bytes\":$missing," || echo "$file: JSON"
            "$modelfile" validate --quiet --baseline "$dir/said" \
                "$dir/cut.bin" >/dev/null || echo "$file: as a baseline"
        done
    done
    "$modelfile" validate --quiet fixtures/bad-overlap.gguf \
        fixtures/bad-offset-wrap.gguf fixtures/bad-offset-past-end.gguf \
        fixtures/good-llama.gguf | grep 'file is truncated'
}
check_empty "a file that was cut off begins with how much is missing" cut_off

finish
