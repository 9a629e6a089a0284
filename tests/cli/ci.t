#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ci.t - what a pipeline that runs `validate` every day needs: baselines that
# survive edits, findings that are ignored, totals, reports in files
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
# shellcheck disable=SC1091
. tests/lib-run.sh

top=$PWD
case $modelfile in
/*) ;;
*) modelfile=$top/$modelfile ;;
esac
cd "$dir" || exit 1

# v ARGUMENT...: validates; output and errors in files, the exit code in $code.
v() {
    code=0
    "$modelfile" validate --quiet "$@" >out 2>err || code=$?
}

# says CODE TEXT ARGUMENT...: validate ends with it and prints the text.
says() {
    want=$1 text=$2
    shift 2
    v "$@"
    [ "$code" = "$want" ] && cat out err | grep -qF -- "$text" && return
    echo "exit code $code, expected $want and: $text"
    cat out err
    return 1
}

mkdir -p models
cp "$top/fixtures/bad-data-zero.gguf" models/zero.gguf
cp "$top/fixtures/bad-overlap.gguf" models/overlap.gguf
cp "$top/fixtures/good-llama.gguf" good.gguf

# ---- baselines

moved() {
    v --data models/zero.gguf
    cp out known
    grep -q "warning DATA-ZERO at " known || return 1
    before=$(sed -n 's/.*DATA-ZERO at \(0x[0-9a-f]*\).*/\1/p' known)
    "$modelfile" meta set --quiet models/zero.gguf \
        general.description="$(printf '%0900d' 0)" >meta || return 1
    says 0 "DATA-ZERO at 0x" --data models/zero.gguf || return 1
    ! grep -q "DATA-ZERO at $before:" out || return 1
    says 0 "0 warnings, 2 accepted" --strict --data --baseline known \
        models/zero.gguf
}
check "an edit that moves the data brings no finding back" moved

spelled() {
    v models/overlap.gguf
    cp out known
    for path in ./models/overlap.gguf "$PWD/models/overlap.gguf" \
        models//overlap.gguf models/../models/overlap.gguf; do
        says 0 "2 accepted" --baseline known "$path" || return 1
    done
    (cd models && says 0 "2 accepted" --baseline ../known overlap.gguf) ||
        return 1
    v "$PWD/models/overlap.gguf"
    cp out known
    says 0 "2 accepted" --baseline known models || return 1
    ln -sf models/overlap.gguf link.gguf
    says 0 "2 accepted" --baseline known link.gguf
}
check "the spelling of a path does not matter" spelled

elsewhere() {
    v models/overlap.gguf
    sed 's|^models/|/builds/me/project/models/|' out >known
    says 0 "2 accepted" --baseline known models/overlap.gguf || return 1
    says 0 "2 accepted" --baseline known overlap.gguf models/overlap.gguf
    cp models/overlap.gguf other.gguf
    says 1 "error TENSOR-OVERLAP" --baseline known other.gguf || return 1
    mkdir -p s
    cp models/overlap.gguf s/overlap.gguf
    says 1 "error TENSOR-OVERLAP" --baseline known s/overlap.gguf
}
check "nor does the machine, but another file is another file" elsewhere

other_subject() {
    v models/overlap.gguf
    sed "s/'b.weight'/'c.weight'/" out >known
    says 1 "error TENSOR-OVERLAP" --baseline known models/overlap.gguf
}
check "another tensor is another finding" other_subject

# Two findings of one rule that quote nothing: two bytes without a token.
twice() {
    v "$top/fixtures/bad-pickle-global.pt"
    [ "$code" = 1 ] || v "$top"/fixtures/bad-pickle-global*.pt
    cp out whole
    line=$(grep -m 1 ": error PICKLE-GLOBAL" whole)
    file=${line%%: error *}
    v "$file"
    n=$(grep -c ": error PICKLE-GLOBAL" out)
    [ "$n" -ge 1 ] || return 1
    sed "s/: global '[^']*'/: global 'collections.Other'/" out >known
    says 1 "error PICKLE-GLOBAL" --baseline known "$file"
}
check "a global that was not accepted is an error" twice

count() {
    awk 'BEGIN { for (i = 0; i < 300; i++) printf "\303\277" }' >bytes
    v models/overlap.gguf
    line=$(grep OVERLAP out)
    { cat out; echo "$line"; } >known
    says 0 "2 accepted" --baseline known models/overlap.gguf || return 1
    # A model whose tokens lack two bytes, one of them accepted.
    for each in "$top"/fixtures/*.gguf; do
        v "$each"
        rule=$(sed -n 's/^[^:]*: \(error\|warning\) \([A-Z-]*\)[: ].*/\2/p' out |
            sort | uniq -d | head -n 1)
        [ -n "$rule" ] || continue
        subjects=$(grep -c " $rule" out)
        grep -m 1 " $rule" out >known
        v --baseline known "$each"
        [ "$(grep -c " $rule" out)" = $((subjects - 1)) ] && continue
        echo "$each: $rule: $subjects"
        return 1
    done
}
check "a line accepts one finding, not all of its rule" count

hostile_name() {
    name='odd: error TENSOR-OVERLAP at 0x40: tensor x.gguf'
    cp models/overlap.gguf "$name"
    v "$name"
    cp out known
    says 0 "2 accepted" --baseline known "$name" || return 1
    cp models/overlap.gguf odd
    says 1 "error TENSOR-OVERLAP" --baseline known odd
}
check "a path that looks like a finding is a path" hostile_name

# ---- what is ignored

ignored() {
    says 0 "0 errors, 0 warnings, 1 ignored" --ignore TENSOR-OVERLAP \
        models/overlap.gguf || return 1
    says 0 "1 ignored" --ignore 'tensor-overlap:b.*' models/overlap.gguf ||
        return 1
    says 1 "1 error, 0 warnings;" --ignore 'TENSOR-OVERLAP:a.*' \
        models/overlap.gguf || return 1
    says 0 "0 errors, 0 warnings, 1 ignored" --strict --data \
        --ignore DATA-ZERO models/zero.gguf || return 1
    says 0 "2 ignored" --ignore MODEL-UNKNOWN --ignore TENSOR-OVERLAP:b.weight \
        models/overlap.gguf
}
check "--ignore RULE[:PATTERN] takes findings out of the verdict" ignored

unknown_rule() {
    says 2 "unknown rule 'TENSOR-OVERLAY' in '--ignore'; did you mean 'TENSOR-OVERLAP'?" \
        --ignore TENSOR-OVERLAY models/overlap.gguf &&
        says 2 "unknown rule ''" --ignore ':x' models/overlap.gguf
}
check "a rule that is not there is refused, and the nearest one named" \
    unknown_rule

config() {
    printf '# ours\r\n\n  ignore TENSOR-OVERLAP:b.*\t\r\nfor llama.cpp\nhide notes,warnings\n' >rules
    says 0 "1 ignored, 1 note hidden" --config rules models/overlap.gguf ||
        return 1
    printf 'strict\nhide=notes\nignore = DATA-ZERO' >rules
    says 0 "1 ignored, 1 note hidden" --config rules --data models/zero.gguf ||
        return 1
    printf 'strict\n' >rules
    says 1 "1 error, 0 warnings" --config rules --data models/zero.gguf ||
        return 1
    printf 'for transformers\n' >rules
    says 1 "1 error" --config rules --for llama.cpp models/overlap.gguf ||
        return 1
    : >rules
    says 1 "1 error" --config rules models/overlap.gguf
}
check "--config FILE has options, one per line" config

config_wrong() {
    printf 'strict\n\nignroe X\n' >rules
    says 2 "line 3 of 'rules': unknown option 'ignroe'; did you mean 'ignore'?" \
        --config rules good.gguf || return 1
    printf 'sarif good.gguf\n' >rules
    says 2 "line 1 of 'rules': unknown option 'sarif'" --config rules good.gguf ||
        return 1
    printf '\nfor lama.cpp\n' >rules
    says 2 "line 2 of 'rules'" --config rules good.gguf || return 1
    printf 'strict yes\n' >rules
    says 2 "line 1 of 'rules': option 'strict' takes no value" --config rules \
        good.gguf || return 1
    printf 'ignore\n' >rules
    says 2 "option 'ignore' requires a value" --config rules good.gguf ||
        return 1
    printf 'ignore TENSOR-X\n' >rules
    says 2 "unknown rule 'TENSOR-X'" --config rules good.gguf || return 1
    printf 'max-findings 0\n' >rules
    says 2 "line 1 of 'rules'" --config rules good.gguf || return 1
    printf 'strict\0\n' >rules
    says 3 "it contains a NUL" --config rules good.gguf || return 1
    says 3 "cannot read the options" --config nothing good.gguf
}
check "mistakes in it are named with their line" config_wrong

unasked() {
    mkdir -p trap
    cp models/overlap.gguf trap/
    for name in .modelfile modelfile.conf .modelfile.conf validate.conf \
        rules baseline known overlap.gguf.ignore .modelfileignore; do
        echo "ignore TENSOR-OVERLAP" >"trap/$name"
    done
    (cd trap && says 1 "1 error, 0 warnings;" overlap.gguf) || return 1
    ! command -v strace >/dev/null 2>&1 && return
    (cd trap && strace -f -e trace=openat -o ../calls "$modelfile" validate \
        --quiet --no-sandbox overlap.gguf >/dev/null)
    ! grep -E '"(\./)?(\.modelfile|modelfile\.conf|rules|baseline|known)' calls
}
check "no unnamed file is read" unasked

# ---- what is shown

hidden() {
    says 0 "1 warning, 1 warning hidden, 1 note hidden" --data \
        --hide notes,warnings models/zero.gguf || return 1
    [ "$(wc -l <out)" = 1 ] || return 1
    says 1 "1 error" --data --strict --hide warnings models/zero.gguf ||
        return 1
    grep -q ": error DATA-ZERO" out || return 1
    says 1 "1 error, 0 warnings, 1 note hidden" --hide notes \
        models/overlap.gguf || return 1
    says 2 "invalid value 'errors' for '--hide'" --hide errors good.gguf &&
        says 2 "invalid value ''" --hide notes, good.gguf
}
check "--hide shows less and decides nothing" hidden

total() {
    says 1 "total of 3 files: 1 error, 1 warning; 1 with errors" --data \
        models/zero.gguf models/overlap.gguf good.gguf || return 1
    [ "$(tail -n 1 out | cut -c 1-8)" = "total of" ] || return 1
    cp out known
    says 0 "total of 3 files: 0 errors, 0 warnings, 4 accepted by the baseline; 0 with errors" \
        --data --baseline known models/zero.gguf models/overlap.gguf good.gguf ||
        return 1
    says 3 "total of 2 files: 0 errors, 0 warnings; 0 with errors, 1 not readable" \
        good.gguf nothing.gguf || return 1
    v good.gguf
    ! grep -q "total of" out || return 1
    says 1 '"total":{"files":2,"with_errors":1,"not_readable":0,"errors":1,"warnings":0,"notes":1,"accepted":0,"ignored":0,"hidden":0}' \
        --json models/overlap.gguf good.gguf
}
check "several files have a total" total

# ---- reports in files

reports() {
    rm -f r.sarif r.xml r.json
    v models/overlap.gguf good.gguf
    cp out text
    says 1 "1 error" --sarif r.sarif --junit r.xml --codequality r.json \
        models/overlap.gguf good.gguf || return 1
    cmp out text || return 1
    v --format sarif models/overlap.gguf good.gguf
    cmp out r.sarif || return 1
    v --format junit models/overlap.gguf good.gguf
    cmp out r.xml || return 1
    v --format codequality models/overlap.gguf good.gguf
    cmp out r.json || return 1
    v --json models/overlap.gguf good.gguf
    sed 's/"run":.*//' out >json
    v --json --sarif r.sarif --junit r.xml --codequality r.json \
        models/overlap.gguf good.gguf
    sed 's/"run":.*//' out | cmp - json || return 1
    v --format junit --sarif r.sarif good.gguf
    grep -q testsuites out && grep -q '"results":\[\]' r.sarif
}
check "--sarif, --junit and --codequality write what --format prints, next to the text" \
    reports

# refused CODE TEXT FILE ARGUMENT...: and the file stays as it is.
refused() {
    want=$1 text=$2 kept=$3
    shift 3
    cp "$kept" kept
    says "$want" "$text" "$@" && cmp "$kept" kept
}

guarded() {
    refused 4 "exists and is not an earlier report" good.gguf \
        --sarif good.gguf models/overlap.gguf || return 1
    refused 2 "would replace 'good.gguf'" good.gguf --sarif good.gguf \
        good.gguf || return 1
    echo '{"model_type":"llama"}' >config.json
    refused 4 "exists and is not an earlier report" config.json \
        --junit config.json good.gguf || return 1
    refused 4 "exists and is not an earlier report" r.sarif --junit r.sarif \
        good.gguf || return 1
    : >known
    refused 2 "which is read" known --baseline known --sarif known good.gguf ||
        return 1
    : >rules
    refused 2 "which is read" rules --config rules --junit ./rules good.gguf ||
        return 1
    says 2 "would replace" --sarif new --junit new good.gguf || return 1
    says 2 "would replace" --sarif a --junit new --codequality new good.gguf &&
        [ ! -e a ] && [ ! -e new ] || return 1
    says 2 "needs the name of a file" --sarif - good.gguf || return 1
    says 4 "is a directory" --sarif models good.gguf || return 1
    mkdir -p folder
    cp good.gguf folder/
    : >folder/empty.gguf
    says 4 "it is one of the files that are checked" \
        --sarif folder/empty.gguf folder && [ ! -s folder/empty.gguf ] ||
        return 1
    says 4 "No such file or directory" --sarif nowhere/x good.gguf
}
check "a report replaces an earlier report, and nothing else" guarded

# One without findings is a list with nothing in it; other lists are not ours.
guarded_list() {
    rm -f q.json
    for file in good.gguf models/overlap.gguf models/overlap.gguf good.gguf; do
        v --codequality q.json --ignore MODEL-UNKNOWN "$file"
        [ "$code" -le 1 ] || return 1
    done
    [ "$(cat q.json)" = "[]" ] || return 1
    for text in '[]' '[{"check_nam":1}]' '[{"name":"model"}]' ' [{"check_name":""}]'; do
        printf '%s' "$text" >list.json
        refused 4 "exists and is not an earlier report" list.json \
            --codequality list.json good.gguf || return 1
    done
}
check "nor does a list replace another list" guarded_list

to_itself() {
    : >both
    code=0
    "$modelfile" validate --quiet --sarif both good.gguf >both 2>err || code=$?
    [ "$code" = 4 ] && grep -q "standard output goes to this file" err
}
check "nor does it replace what standard output goes to" to_itself

whole() {
    rm -f r.sarif
    v --sarif r.sarif good.gguf
    cp r.sarif before
    says 5 "" --max-memory 60K --sarif r.sarif models/overlap.gguf good.gguf ||
        return 1
    cmp r.sarif before && [ "$(find . -name '*r.sarif*' | wc -l)" = 1 ]
}
check "a report that cannot be finished leaves the old one" whole

suppressed() {
    v models/overlap.gguf
    cp out known
    v --sarif r.sarif --baseline known --ignore MODEL-UNKNOWN \
        models/overlap.gguf
    grep -q '"justification":"accepted by the baseline"' r.sarif &&
        grep -q '"justification":"ignored by the options of the run"' r.sarif ||
        return 1
    v --sarif r.sarif --baseline known "$top/fixtures/bad-gap.gguf"
    grep -q '"suppressions":\[\]' r.sarif || return 1
    v --sarif r.sarif models/overlap.gguf
    ! grep -q suppressions r.sarif
}
check "SARIF says which findings do not count, and why" suppressed

# ---- what was cut off

cut() {
    for file in good-llama.gguf good-hf-llama/model.safetensors good-mixtral.apr; do
        size=$(wc -c <"$top/fixtures/$file")
        for missing in 100 600 1500; do
            [ "$missing" -lt $((size / 2)) ] || continue
            head -c $((size - missing)) "$top/fixtures/$file" >"cut.${file##*.}"
            v "cut.${file##*.}"
            [ "$(grep -c "error TENSOR-BOUNDS" out)" = 1 ] && continue
            echo "$file less $missing:"
            cat out
        done
    done
}
check_empty "a file that was cut off has one finding, not one per tensor" cut

cut_count() {
    size=$(wc -c <"$top/fixtures/good-llama.gguf")
    head -c $((size - 1500)) "$top/fixtures/good-llama.gguf" >cut.gguf
    damaged=$("$modelfile" tensors info --quiet --json cut.gguf |
        grep -o '"damaged":true' | wc -l)
    [ "$damaged" -gt 2 ] || return 1
    says 1 "and so do $((damaged - 1)) more after it" cut.gguf
}
check "which says how many there are" cut_count

finish
