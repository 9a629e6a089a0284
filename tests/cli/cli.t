#!/bin/sh
# SPDX-License-Identifier: MIT
#
# cli.t - the command line as its users meet it
#
# What a command prints is in tests/data/golden, below "== NAME" in the file of
# the name's first word, errors and exit code included; `UPDATE=1 tests/cli/cli.t`
# rewrites these files, to be read before they are committed.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

modelfile=${MODELFILE:-${BUILD:-build}/modelfile}
case $modelfile in
*/*) modelfile=$(cd "$(dirname "$modelfile")" && pwd)/$(basename "$modelfile") ;;
esac
golden=$PWD/tests/data/golden
fixtures=$(cd "${FIXTURES:-fixtures}" && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-cli.XXXXXX")
trap 'rm -rf "$dir"' EXIT
unset NO_COLOR

# Golden files hold no path of this machine.
cp -R "$fixtures" "$dir/fixtures"
mkdir "$dir/golden"
cd "$dir/fixtures" || exit 1
. "$OLDPWD/tests/tap.sh"

# What a run costs differs from build to build.
without_run() {
    sed 's/,\{0,1\}"run":{[^}]*}//g; s/^peak heap .*/peak heap .../'
}

# section NAME FILE: what is below that line.
section() {
    awk -v head="== $1" '/^== / { mine = $0 == head; next } mine' "$2"
}

same_as_golden() {
    name=$1 file=${1%%-*}.txt
    shift
    {
        "$modelfile" "$@" 2>&1 </dev/null
        echo "[exit code $?]"
    } | without_run >"$dir/said"
    { echo "== $name" && cat "$dir/said"; } >>"$dir/golden/$file"
    [ -z "${UPDATE:-}" ] || return 0
    section "$name" "$golden/$file" | diff - "$dir/said" && return
    echo "if this is right: UPDATE=1 sh tests/cli/cli.t"
    return 1
}

# is NAME ARGUMENT...: the command prints what the golden files have.
is() {
    check "$1: modelfile $(shift; echo "$*")" same_as_golden "$@"
}

is help help
is help-none
is help-all help --all
is help-all-command help plan --all
is help-meta help meta
is help-tensors tensors --help
is help-unknown help nonsense
is version version
is usage-command inof good-base.gguf
is usage-command-far frobnicate
is usage-option info --jsno good-base.gguf
is usage-option-far info --frobnicate good-base.gguf
is usage-option-value tensors --sort colour good-base.gguf
is usage-option-count tensors --top 0 good-base.gguf
is usage-option-missing tensors good-base.gguf --sort
is usage-flag-value info --json=1 good-base.gguf
is usage-missing info
is usage-many tensors export good-base.gguf a b c
is usage-json info --json

# What is meant, or what to type instead.
is meant-info --quiet good-base.gguf
is meant-info-none nothing.gguf
is meant-letters hash -q -t 2 good-base.gguf
is meant-letters-attached hash -q -t2 good-base.gguf
is meant-letters-word hash -threads good-base.gguf
is meant-letter-far validate -s good-base.gguf
is meant-prefix info --one good-base.gguf
is meant-choice hash --quiet --algo CRC32 good-base.gguf
is meant-choice-near hash --algo sha25 good-base.gguf
is meant-sub tensors inf good-base.gguf
is meant-sub-far meta frobnicate good-base.gguf
is meant-sub-file tensors inf
is meant-two-files tensors good-base.gguf good-llama.gguf
is meant-two-files-meta meta good-base.gguf good-llama.gguf
is meant-many-files tensors good-base.gguf good-llama.gguf bad-v1.gguf good-v2.gguf
is meant-many-files-stats tensors stats good-base.gguf good-llama.gguf bad-v1.gguf
is meant-many-files-meta meta good-base.gguf good-llama.gguf bad-v1.gguf
is meant-many-shards merge --dry-run --quiet good-split-00001-of-00003.gguf \
    good-split-00002-of-00003.gguf good-split-00003-of-00003.gguf whole.gguf
is meant-many-models merge good-split-00001-of-00003.gguf good-base.gguf \
    "$dir/o.gguf"
is meant-no-command --json
is meant-part tensors --quiet good-llama.gguf attn
is meant-part-key meta --quiet good-llama.gguf general
is meant-tensor-stats tensors stats --quiet good-llama.gguf output.weigth
is meant-tensor-export tensors export --quiet good-llama.gguf output.weigth -
is meant-key-unset meta unset --quiet good-llama.gguf general.nmae
is meant-rule validate --explain tensor-overlap
is meant-rule-near validate --explain tensor-overlp
is meant-mix quantize good-llama.gguf "$dir/o.gguf" q4km
is meant-mix-no-out quantize good-llama.gguf q4km
is meant-mix-prefix quantize good-llama.gguf "$dir/o.gguf" q8
is meant-mix-far quantize good-llama.gguf "$dir/o.gguf" frobnicate
is meant-mix-bench bench good-base.gguf --quantize q4km
is meant-type quantize good-llama.gguf "$dir/o.gguf" q8_0 --output-type q6k
is meant-type-pattern quantize good-llama.gguf "$dir/o.gguf" q8_0 \
    --tensor-type attn=q6k
is meant-pattern quantize good-llama.gguf "$dir/o.gguf" q8_0 \
    --tensor-type 'a[=q8_0'
is meant-suffix convert good-base.gguf no-folder/x.zip
is meant-names convert --quiet --dry-run good-base.safetensors x.gguf

# The words of other programs, and of llama-quantize.
is word-none serve good-base.gguf
is word-near inspct good-base.gguf
is word-help help inspect
is word-help-sub help meta show
is word-type-first quantize --quiet --dry-run good-llama.gguf q8_0 o.gguf
is word-type-first-typo quantize good-llama.gguf q4km o.gguf
is word-type-first-threads quantize --quiet --dry-run good-llama.gguf q8_0 \
    o.gguf 2
is word-type-convert convert good-llama.gguf o.gguf --outtype q4_k_m
is word-type-convert-first convert --type Q6_K good-llama.gguf
is word-type-convert-unknown convert good-llama.gguf o.gguf --type q4km

# operands COMMAND: some that it takes.
operands() {
    case $1 in
    "tensors export") echo good-llama.gguf output.weight - --raw ;;
    "meta get") echo good-llama.gguf general.name ;;
    "meta set") echo good-llama.gguf general.name=other --dry-run ;;
    "meta unset") echo good-llama.gguf general.name --dry-run ;;
    diff) echo good-llama.gguf good-base.gguf ;;
    merge) echo good-split-00001-of-00003.gguf o.gguf --dry-run ;;
    *) echo good-llama.gguf ;;
    esac
}
# shellcheck disable=SC2046,SC2086 # of several words
same_as_command() {
    code=0 expected=0
    "$modelfile" -q $1 $(operands "$2") >"$dir/word" 2>&1 || code=$?
    "$modelfile" -q $2 $(operands "$2") >"$dir/command" 2>&1 || expected=$?
    [ $code = $expected ] && [ $code -lt 2 ] && cmp "$dir/word" "$dir/command"
}
# "WORD:COMMAND" of each row.
sed -n 's/^WORD("\(.*\)", *"\(.*\)", *"\(.*\)").*/\1:\2 \3/p
    s/^SUB("\(.*\)", *"\(.*\)", *"\(.*\)").*/\1 \2:\1 \3/p' \
    "$OLDPWD/cli/words.def" | sed 's/ *$//' >"$dir/words"
check "there are words" [ "$(wc -l <"$dir/words")" -gt 20 ]
while IFS=: read -r word command; do
    check "'$word' is '$command'" same_as_command "$word" "$command" </dev/null
done <"$dir/words"

is options-first --quiet meta list good-base.gguf
is options-between meta --quiet list good-base.gguf
is options-first-value --top 1 --color=never --quiet tensors good-base.gguf
is options-first-help --quiet --help meta set
is options-first-none --quiet
is options-first-typo --quiet infoo good-base.gguf

is detect detect --quiet good-base.gguf good-big-endian.gguf good-base.apr \
    good-v1.apr good-base.safetensors good-sharded unsupported-html.gguf \
    unsupported-presentar.apr
is detect-imatrix detect --quiet good-imatrix.dat
is detect-json detect --json good-big-endian.gguf
is detect-unknown detect --quiet bad-three-bytes.gguf README.md
is detect-folder-json detect --json good-folder

is info info --quiet good-llama.gguf
is info-json info --json good-llama.gguf
is imatrix-info info --quiet good-imatrix.dat
is imatrix-meta meta list --quiet good-imatrix.dat
is imatrix-meta-json meta list --json good-imatrix.dat
is imatrix-meta-none meta list --quiet good-entries.dat
is imatrix-tensors tensors --quiet good-imatrix.dat
is imatrix-convert convert --quiet good-imatrix.dat no-folder/x.gguf
is imatrix-quantize quantize --quiet good-imatrix.dat no-folder/x.gguf q8_0
is imatrix-merge merge --dry-run --quiet good-imatrix.dat good-imatrix.gguf no-folder/x.gguf
is imatrix-merge-json merge --dry-run --json good-imatrix.dat no-folder/x.dat
is imatrix-coverage imatrix coverage --quiet good-imatrix.gguf good-experts.gguf
is imatrix-coverage-json imatrix coverage --json good-imatrix.gguf good-experts.gguf
is imatrix-suffix convert good-base.gguf no-folder/x.dat
is info-split info --quiet good-split-00002-of-00003.gguf
is info-one-file info --quiet --one-file good-split-00002-of-00003.gguf
is info-sharded info --quiet good-sharded
is info-damaged info --quiet bad-overlap.gguf
is info-damaged-json info --json bad-overlap.gguf
is info-escapes info --quiet good-string-escape.gguf
is info-missing info --quiet nothing.gguf
is info-missing-json info --json nothing.gguf
is info-several info --quiet good-base.gguf nothing.gguf bad-version-4.gguf
is info-several-json info --json good-base.gguf nothing.gguf
is info-glob info --quiet 'good-s??????.gguf'
is info-glob-none info --quiet 'nothing-*.gguf'
is info-apr-v1 info --quiet good-v1.apr

is info-moe info --quiet good-moe.gguf
is info-config info --quiet good-hf-llama
is info-config-json info --json good-hf-llama
mkdir broken
cp good-hf-llama/model.safetensors broken
echo '{"model_type": "llama", "hidden_size": -1}' >broken/config.json
is info-config-broken info --quiet broken
is info-empty-json info --json good-empty.safetensors
is version-explain-json validate --explain TENSOR-OVERLAP --json

is tensors tensors info --quiet good-llama.gguf
is tensors-short tensors --quiet good-base.gguf
is tensors-pattern tensors --quiet good-llama.gguf 'blk.1.attn_*'
is tensors-pattern-none tensors --quiet good-llama.gguf 'nothing*'
is tensors-top tensors --quiet --top 3 good-llama.gguf
is tensors-sort-name tensors --quiet --sort=name good-llama.gguf '*ffn*'
is tensors-sort-size tensors --quiet --sort size good-llama.gguf '*norm*'
is tensors-sort-offset tensors --quiet --sort offset good-stream-order.apr
is tensors-totals tensors --quiet --totals good-llama.gguf
is tensors-json tensors --json good-base.gguf
is tensors-json-hex tensors --json bad-name-utf8.gguf
is tensors-types tensors --quiet good-types.gguf
is tensors-fork tensors --quiet bad-type-iq4_ks.gguf
is tensors-split tensors --quiet good-split-00001-of-00003.gguf
is tensors-json-index tensors --quiet good-json-index.apr

is meta meta list --quiet good-llama.gguf
is meta-short meta --quiet good-base.gguf
is meta-pattern meta list --quiet good-llama.gguf 'tokenizer.*'
is meta-full meta list --quiet --full good-arrays.gguf
is meta-json meta list --json good-scalars.gguf
is meta-nested meta list --quiet bad-array-nested.gguf
is meta-nested-json meta list --json --full bad-array-nested.gguf
is meta-apr meta list --quiet good-metadata.apr
is meta-apr-v1 meta list --quiet good-v1.apr
is meta-apr-v1-json meta list --json good-v1.apr
is meta-safetensors meta list --quiet good-metadata.safetensors
is meta-get meta get --quiet good-llama.gguf general.name
is meta-get-template meta get --quiet good-llama.gguf tokenizer.chat_template
is meta-get-array meta get --quiet --full good-llama.gguf tokenizer.ggml.tokens
is meta-get-json meta get --json good-llama.gguf tokenizer.ggml.tokens
is meta-get-missing meta get --quiet good-llama.gguf general.nmae
is meta-get-missing-json meta get --json good-llama.gguf nothing

is help-verify verify --help
is verify verify --quiet llama/llama-wide-Q4_K_M.gguf --from llama/llama-wide.gguf
is verify-json verify --json llama/llama-small-Q4_0.gguf --from llama/llama-small.gguf
is verify-differs verify --quiet good-base.gguf --from good-llama.gguf
is verify-usage-from verify good-base.gguf

is help-hash hash --help
is hash hash --quiet good-base.gguf
is hash-several hash --quiet good-sharded good-folder
is hash-algo hash --quiet --algo crc32 good-names.gguf
is hash-json hash --json --algo xxh128 good-base.gguf
is hash-json-hex hash --json bad-name-utf8.gguf
is hash-escapes hash --quiet bad-name-control.gguf bad-name-utf8.gguf
is hash-empty hash --quiet good-empty.safetensors
is hash-damaged hash --quiet bad-overlap.gguf good-base.gguf
is hash-damaged-json hash --json bad-overlap.gguf
is hash-duplicates hash --quiet --duplicates good-llama.gguf good-base.gguf
is hash-duplicates-none hash --quiet --duplicates good-base.gguf
is hash-duplicates-models hash --json --duplicates good-sharded good-folder
is hash-duplicates-twice hash --quiet --duplicates good-ranks.gguf good-base.gguf ./good-ranks.gguf
is hash-duplicates-broken hash --json --duplicates good-base.gguf nothing.gguf good-llama.gguf
is hash-duplicates-json hash --json --duplicates good-sharded
is hash-duplicates-damaged hash --quiet --duplicates bad-overlap.gguf
is hash-usage-algo hash --algo md5 good-base.gguf
is hash-usage-duplicates hash --duplicates --algo xxh3 good-base.gguf
is hash-usage-missing hash --check manifest

is help-diff diff --help
is diff-same diff --quiet good-base.gguf good-base.gguf
is diff diff --quiet good-base.gguf good-big-endian.gguf
is diff-json diff --json good-base.gguf good-big-endian.gguf
is diff-llama diff --quiet good-llama.gguf bad-llama.gguf
is diff-no-data diff --quiet --no-data good-base.gguf bad-overlap.gguf
is diff-formats diff --quiet good-base.gguf good-base.apr
is diff-escapes diff --quiet bad-name-control.gguf bad-name-utf8.gguf
is diff-containers diff --quiet good-folder good-sharded
is diff-damaged diff --quiet good-base.gguf bad-overlap.gguf
is diff-damaged-json diff --json good-base.gguf bad-overlap.gguf
is diff-values diff --quiet --values good-base.gguf good-big-endian.gguf
is diff-values-json diff --json --values good-base.gguf good-big-endian.gguf
is diff-values-no-data diff --values --no-data good-base.gguf good-base.gguf
is diff-missing diff --quiet good-base.gguf nothing.gguf
is diff-missing-json diff --json nothing.gguf good-base.gguf
is diff-usage-one diff good-base.gguf
is diff-usage-three diff good-base.gguf good-base.gguf good-base.gguf

is help-plan plan --help
is plan plan --quiet good-llama.gguf
is plan-list plan --quiet good-llama.gguf --ctx 256,4k --parallel 2
is plan-json plan --json good-llama.gguf --type-k bf16 --ubatch 64
is plan-unknown plan --quiet good-base.gguf
is plan-unknown-fit plan --quiet good-base.gguf --fit 1G
is plan-unknown-json plan --json good-base.gguf
is plan-formula plan --quiet good-llama.gguf --formula zigllama
is plan-formula-json plan --json good-llama.gguf --formula zigllama --kv f16
is plan-formula-unknown plan --quiet good-base.gguf --formula zigllama
is plan-usage-none plan
is plan-usage-two plan good-llama.gguf good-base.gguf
is plan-usage-ctx plan good-llama.gguf --ctx 4x
is plan-usage-ctx-zero plan good-llama.gguf --ctx 4k,0
is plan-usage-ctx-end plan good-llama.gguf --ctx 4k,
is plan-usage-ctx-huge plan good-llama.gguf --ctx 99999999999999M
is plan-usage-type plan good-llama.gguf --type-k q9_x
is plan-usage-type-v plan good-llama.gguf --type-v q8_0 --fa off
is plan-usage-type-json plan good-llama.gguf --type-k q9_x --json
is plan-usage-fa plan good-llama.gguf --fa yes
is plan-usage-fit plan good-llama.gguf --fit 0
is plan-usage-margin plan good-llama.gguf --fit 1G --margin x
is plan-usage-margin-alone plan good-llama.gguf --margin 1G
is plan-usage-devices plan good-llama.gguf --devices 24G,,24G
is plan-usage-offload plan good-llama.gguf --offload -1
is plan-usage-kv plan good-llama.gguf --kv f32
is plan-usage-formula plan good-llama.gguf --formula zigllama --fit 1G
is plan-usage-plot plan good-llama.gguf --plot - --json
is plan-missing plan --quiet nothing.gguf

is help-bench bench --help
is bench-usage-type bench --type q9_0
is bench-usage-isa bench --isa sse2 --json good-base.gguf
is bench-missing bench --quiet nothing.gguf

# No section is left of a command that is run no more.
sections() {
    (cd "$1" && grep '^== ' -- *.txt)
}
same_sections() {
    sections "$golden" >"$dir/sections"
    sections "$dir/golden" | diff "$dir/sections" -
}
if [ -n "${UPDATE:-}" ]; then
    rm -f "$golden"/*.txt
    cp "$dir/golden"/*.txt "$golden"
fi
check "the golden files have these sections, in this order" same_sections

# ---- what no golden file can show ----

line_is_last() {
    "$modelfile" info good-base.gguf 2>"$dir/err" >/dev/null &&
        grep -qE '^peak heap [0-9.]+ (B|KiB) \([0-9]+ allocations\) · read 224 B of 224 B · [0-9.]+ ms$' "$dir/err" &&
        [ "$(wc -l <"$dir/err")" = 1 ]
}
check "a closing line tells heap, bytes and time" line_is_last

# Also of a command that opens no file.
closes() {
    "$modelfile" "$@" 2>"$dir/err" >/dev/null &&
        grep -qE '^peak heap [0-9.]+ ([KM]i)?B \([0-9]+ allocations?\) · ' "$dir/err" &&
        [ "$(wc -l <"$dir/err")" = 1 ]
}
for words in help "help plan" "info --help" version "validate --rules" \
    "validate --explain TENSOR-OVERLAP" \
    "bench --type q4_0 --rounds 1 --size 64K"; do
    # shellcheck disable=SC2086 # the words of a command
    check "$words has one" closes $words
done

# The last line of standard error is the last error; others come in order.
ends_with_error() {
    last=$1
    shift
    "$modelfile" "$@" 2>"$dir/err" >/dev/null
    tail -n 1 "$dir/err" | grep -q "^modelfile: $last" &&
        [ "$(grep -c '^peak heap ' "$dir/err")" = 1 ]
}
check "after it comes the error of a file" \
    ends_with_error "nothing.gguf: " info nothing.gguf
check "also where other files follow" \
    ends_with_error "nothing.gguf: " info nothing.gguf good-base.gguf
check "also below a table" \
    ends_with_error "nothing.gguf: " info --timings nothing.gguf
in_order() {
    "$modelfile" info nothing.gguf good-base.gguf nowhere.gguf 2>&1 >/dev/null |
        grep -o 'no[a-z]*\.gguf: \|^peak' | tr -d '\n' >"$dir/order"
    [ "$(cat "$dir/order")" = "nothing.gguf: peaknowhere.gguf: " ]
}
check "errors are printed in the order of the files" in_order
check "in JSON the error is alone" sh -c \
    "[ \"\$('$modelfile' info --json nothing.gguf 2>&1 >/dev/null | wc -l)\" = 1 ]"

check_empty "--quiet leaves standard error empty" \
    sh -c "'$modelfile' info --quiet good-base.gguf 2>&1 >/dev/null"

check "--stats makes a table of it" sh -c \
    "'$modelfile' info --stats good-base.gguf 2>&1 >/dev/null |
        grep -q '^peak resident memory  *[0-9,]* bytes$'"

no_file() {
    "$modelfile" detect nothing.gguf 2>&1 |
        grep -qE '^peak heap [0-9.]+ (B|KiB) \([0-9]+ allocations?\) · [0-9.]+ ms$'
}
check "of what was not opened it tells no size" no_file

json_run() {
    "$modelfile" info --json good-base.gguf | grep -qE \
        '"run":\{"peak_heap_bytes":[0-9]+,"heap_allocations":[0-9]+,"peak_rss_bytes":[0-9]+,"bytes_read":224,"bytes_written":0,"seconds":[0-9.e-]+\}'
}
check "in JSON the same numbers stand under run" json_run

# into_closed COMMAND...: its output goes to a pipe without a reader.
into_closed() {
    { "$@" 2>"$dir/err"; echo $? >"$dir/code"; } | head -c 9 >/dev/null
    code=$(cat "$dir/code")
}

closed_pipe() {
    into_closed "$modelfile" tensors good-many-tensors.gguf --json
    [ "$code" = 0 ] && [ ! -s "$dir/err" ]
}
check "a closed pipe ends quietly" closed_pipe

# More than a pipe holds.
large_model() {
    printf '\100\0\0\0\0\0\0\0%-64s' \
        '{"a":{"dtype":"F32","shape":[65536],"data_offsets":[0,262144]}}'
    head -c 262144 /dev/zero
}
large_model >"$dir/large.safetensors"

closed_data() {
    for command in "convert $dir/large.safetensors - --to gguf" \
        "tensors export $dir/large.safetensors a - --raw"; do
        # shellcheck disable=SC2086 # words
        into_closed "$modelfile" $command
        [ "$code" = 4 ] && grep -q "'-' cannot be written.*: Broken pipe" \
            "$dir/err" || return 1
    done
}
check "one that takes a model is exit code 4, with a sentence" closed_data


full_disk() {
    code=0
    "$modelfile" info good-base.gguf >/dev/full 2>"$dir/err" || code=$?
    [ "$code" = 4 ] && grep -q "cannot write to standard output" "$dir/err"
}
if [ -c /dev/full ]; then
    check "a full disk is exit code 4" full_disk
else
    skip "a full disk is exit code 4" "there is no /dev/full"
fi

closed_output() {
    code=0
    "$modelfile" info good-base.gguf >&- 2>"$dir/err" || code=$?
    [ "$code" = 4 ] && grep -q "cannot write to standard output" "$dir/err"
}
check "a closed standard output is exit code 4" closed_output

from_stdin() {
    "$modelfile" info --quiet - <good-base.gguf | grep -q "architecture *tiny"
}
check "- is standard input where that is a file" from_stdin

from_pipe() {
    cat good-base.gguf | "$modelfile" info --quiet - | grep -q "architecture *tiny"
}
check "and where that is a pipe" from_pipe

fifo() {
    mkfifo "$dir/fifo" || return 1
    code=0
    timeout 5 "$modelfile" info "$dir/fifo" 2>"$dir/err" || code=$?
    [ "$code" = 3 ]
}
check "a FIFO cannot make it hang" fifo

colour() {
    "$modelfile" info --quiet --color always good-base.gguf |
        grep -q "$(printf '\033')\[1mformat" &&
        ! "$modelfile" info --quiet good-base.gguf |
            grep -q "$(printf '\033')" &&
        ! "$modelfile" info --quiet --color never good-base.gguf |
            grep -q "$(printf '\033')"
}
check "bold where it is asked for, never in a pipe" colour

# With QUICK, one of the commands for each file in turn.
no_raw_bytes() {
    turn=0
    for file in *.gguf *.safetensors *.apr; do
        turn=$((turn + 1)) number=0
        for command in "detect" "info" "tensors" "meta" "meta --full" \
            "info --json" "tensors --json" "meta --json --full" \
            "hash" "hash --json" "hash --duplicates" \
            "diff good-base.gguf" "diff --json good-base.gguf"; do
            number=$((number + 1))
            [ -z "${QUICK:-}" ] || [ $((turn % 13)) -eq $((number % 13)) ] ||
                continue
            # shellcheck disable=SC2086 # the command is words
            "$modelfile" $command "$file" >"$dir/out" 2>&1
            [ $? -le 3 ] || echo "$command $file: exit code"
            LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' "$dir/out" &&
                echo "$command $file: control bytes"
        done
    done
    return 0
}
check_empty "no control byte of any fixture reaches the output" no_raw_bytes

odd_name() {
    name=$(printf 'odd\033[31m\nname.gguf')
    cp good-base.gguf "$name" && cp bad-version-4.gguf "bad$name" || return 1
    "$modelfile" info "$name" "bad$name" 2>&1 |
        LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' && return 1
    "$modelfile" detect --json "$name" | grep -q 'odd\\u001b\[31m\\nname.gguf'
}
check "nor one of a file's name" odd_name

finish
