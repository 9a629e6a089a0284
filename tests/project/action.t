#!/bin/sh
# SPDX-License-Identifier: MIT
#
# action.t - the scripts of the GitHub action, as the runner calls them, with
# names that mean harm
set -u
# shellcheck disable=SC1091,SC2016,SC2317 # tests run in the top folder, give
#     their functions to others to call, and names that look like commands
. tests/tap.sh
. tests/lib-run.sh

action=$PWD/.github/actions/validate

# ---- action.yml

# Lines of shell in it.
shell_lines() {
    awk '/^ *run: \|/ { match($0, /^ */); depth = RLENGTH; inside = 1; next }
        inside { match($0, /^ */); inside = RLENGTH > depth || /^ *$/ }
        inside || /^ *run:/' "$action/action.yml"
}
injected() {
    [ "$(shell_lines | wc -l)" -ge 2 ] || echo "no shell lines"
    shell_lines | grep -F '${{'
}
check_empty "no input is program text of a shell line" injected

# The inputs of action.yml, of its last step, of the script and of docs/ci.md.
inputs() {
    sed -n '/^inputs:/,/^outputs:/s/^  \([a-z-]*\):$/\1/p' "$action/action.yml" |
        sort
}
inputs_differ() {
    inputs >"$dir/inputs"
    [ "$(wc -l <"$dir/inputs")" -ge 5 ] || echo "few inputs"
    sed -n 's/^| `\([a-z-]*\)` | .*/\1/p' docs/ci.md | sort | diff "$dir/inputs" -
    tr 'a-z-' A-Z_ <"$dir/inputs" | sed 's/^/INPUT_/' >"$dir/variables"
    grep -oE 'INPUT_[A-Z_]+' "$action/action.yml" | sort -u |
        diff "$dir/variables" -
    grep -oE 'INPUT_[A-Z_]+' "$action/validate.sh" | sort -u |
        diff "$dir/variables" -
}
check_empty "action.yml, its script and docs/ci.md have the same inputs" inputs_differ
outputs_differ() {
    sed -n '/^outputs:/,/^runs:/s/^  \([a-z-]*\):$/\1/p' "$action/action.yml" |
        sort >"$dir/outputs"
    [ "$(wc -l <"$dir/outputs")" -ge 5 ] || echo "few outputs"
    sed -n 's/.*steps\.validate\.outputs\.\([a-z-]*\) .*/\1/p' "$action/action.yml" |
        sort | diff "$dir/outputs" -
    {
        sed -n 's/.*output \([a-z][a-z-]*\) .*/\1/p' "$action/validate.sh"
        sed -n 's/^for name in \(.*\); do$/\1/p' "$action/validate.sh" | tr ' ' '\n'
    } | sort -u | diff "$dir/outputs" -
    while read -r name; do
        sed -n '/^Outputs are/,/^$/p' docs/ci.md | grep -qF "\`$name\`" ||
            echo "docs/ci.md lacks $name"
    done <"$dir/outputs"
}
check_empty "and the same outputs" outputs_differ

scripts="$action/build.sh $action/validate.sh"
if command -v shellcheck >/dev/null 2>&1; then
    # shellcheck disable=SC2086 # words
    check "shellcheck has nothing to say" shellcheck $scripts
else
    skip "shellcheck has nothing to say" "shellcheck is not installed"
fi

# ---- what it makes of models

mkdir "$dir/space" "$dir/temp"
cd "$dir/space" || exit 1
mkdir -p models/deep 'two words'
cp "$fixtures/good-llama.gguf" models/good.gguf
cp "$fixtures/good-llama.gguf" 'two words/a b.gguf'
cp "$fixtures/bad-overlap.gguf" models/deep/bad.gguf
cp "$fixtures/bad-data-zero.gguf" zero.gguf

# act CODE VARIABLE=VALUE...: runs the script as the last step does, with what
# action.yml has as defaults; the log in log.
act() {
    wanted=$1 found=0
    shift
    rm -f "$dir/output" "$dir/summary"
    env RUNNER_TEMP="$dir/temp" GITHUB_OUTPUT="$dir/output" \
        GITHUB_STEP_SUMMARY="$dir/summary" INPUT_PROGRAM="$modelfile" \
        INPUT_FILES=. INPUT_OPTIONS= INPUT_FAIL_ON=errors \
        INPUT_SARIF=modelfile.sarif INPUT_JUNIT= INPUT_SUMMARY=true \
        INPUT_ANNOTATIONS=false "$@" sh -e -c "sh '$action/validate.sh'" \
        >"$dir/log" || found=$?
    [ "$found" = "$wanted" ] && return
    echo "exit code $found, not $wanted"
    cat "$dir/log"
    return 1
}

# gives NAME=VALUE...: these outputs; the last one of a name counts.
gives() {
    for pair; do
        value=$(awk -v name="${pair%%=*}" '
            end == "" && (at = index($0, "<<")) {
                key = substr($0, 1, at - 1); end = substr($0, at + 2); text = ""
                next
            }
            $0 == end { if (key == name) last = text; end = ""; next }
            { text = text (text == "" ? "" : "\n") $0 }
            END { print last }' "$dir/output")
        [ "$value" = "${pair#*=}" ] && continue
        echo "${pair%%=*} is '$value', not '${pair#*=}'"
        return 1
    done
}

good() {
    act 0 INPUT_FILES=models/good.gguf &&
        gives verdict=valid files=1 errors=0 warnings=0 not-readable=0 \
            sarif=modelfile.sarif junit= &&
        grep -q '"version":"2.1.0"' modelfile.sarif &&
        grep -q '^<tr><td><code>models/good.gguf</code></td><td>valid</td>' "$dir/summary"
}
check "a good model passes" good

bad() {
    act 1 INPUT_JUNIT=found.xml && gives verdict=invalid files=4 errors=1 \
        warnings=0 notes=2 junit=found.xml &&
        grep -q "^./models/deep/bad.gguf: error TENSOR-OVERLAP at 0xc0: " "$dir/log" &&
        grep -q 'name="TENSOR-OVERLAP' found.xml &&
        grep -qxF "<tr><td><code>./models/deep/bad.gguf</code></td><td>error</td><td><code>TENSOR-OVERLAP</code></td><td><code>at 0xc0: tensor 'b.weight' overlaps 'a.weight' by 16 bytes</code></td></tr>" \
            "$dir/summary"
}
check "a bad one does not, and is in the log, the outputs and the summary" bad

never() {
    act 0 INPUT_FAIL_ON=never && gives verdict=invalid errors=1 &&
        act 3 INPUT_FAIL_ON=never INPUT_FILES=nothing.gguf &&
        gives verdict=failed not-readable=1 &&
        act 2 INPUT_FAIL_ON=never INPUT_OPTIONS=--stict &&
        gives verdict=failed errors= sarif= &&
        grep -q "did you mean '--strict'" "$dir/log" &&
        grep -q 'ended with exit code 2' "$dir/summary"
}
check "fail-on: never lets findings pass, but no mistake" never

warnings() {
    act 0 INPUT_FILES=zero.gguf INPUT_OPTIONS=--data &&
        gives verdict=valid warnings=1 &&
        act 1 INPUT_FILES=zero.gguf INPUT_OPTIONS=--data INPUT_FAIL_ON=warnings &&
        gives verdict=valid && act 0 INPUT_FILES=zero.gguf INPUT_FAIL_ON=warnings
}
check "fail-on: warnings fails for these, too" warnings

lines() {
    act 0 INPUT_FILES="two words/*.gguf
models/g*.gguf
" && gives files=2 && act 3 INPUT_FILES='models/x*.gguf' &&
        gives verdict=failed && act 2 INPUT_FILES='
'
}
check "files are lines, with patterns and spaces; one that matches nothing is an error" lines

words() {
    act 0 INPUT_FILES=models INPUT_OPTIONS='--for  llama.cpp
        --ignore TENSOR-OVERLAP:*.w?ight' && gives errors=0
}
check "options are words, and not patterns of file names" words

own() {
    for option in --json --format --sarif=x --junit; do
        act 2 INPUT_OPTIONS="$option" && grep -q "is not an option here" "$dir/log" ||
            return
    done
    act 2 INPUT_FAIL_ON=error && grep -q "not 'error'" "$dir/log" &&
        act 2 INPUT_SUMMARY=no && act 127 INPUT_PROGRAM=./nothing &&
        gives verdict=failed
}
check "inputs that make no sense are refused" own

less() {
    rm -f modelfile.sarif
    act 0 INPUT_FILES=models/good.gguf INPUT_SARIF= INPUT_SUMMARY=false &&
        gives sarif= && [ ! -e modelfile.sarif ] && [ ! -e "$dir/summary" ]
}
check "SARIF and the summary can be left out" less

# ---- names that mean harm

rm -rf "$dir/space/"* && mkdir models
harm=0
# hostile FILE TENSOR: a model of that name, with a tensor of that name, which
# has eight bytes.
hostile() {
    TENSOR=$2 perl -pe 's/b\.weight/$ENV{TENSOR}/g' "$fixtures/bad-overlap.gguf" \
        >"./$1" && harm=$((harm + 1))
}
new_line='
'
hostile "models/::error::x.gguf" "::error:"
hostile "models/x$new_line::set-output name=a::b.gguf" "$new_line::debug"
hostile "::add-mask::a.gguf" "##[error"
hostile "models/a##[add-mask]b.gguf" "##[x]yz "
hostile "  ::warning::blanks.gguf" "  ::x::y"
hostile "models/<img src=x>|\`&amp;@someone.gguf" '</table>'
hostile "-x.gguf" '|`@x|**_'
hostile "models/%0A::error::y,a=b:c.gguf" '%0A::x::'
hostile 'models/$(touch DONE)`touch DONE`;touch DONE.gguf' '$(touch)'
hostile "models/](javascript:x) <<EOF.gguf" '[x](y:z)'
hostile "models/$(printf 'e\033[31m\r\342\200\256.gguf')" "$(printf '\033[31m\r::')"
for i in 1 2 3; do cp "./-x.gguf" "models/more-$i.gguf" && harm=$((harm + 1)); done

# What the runner obeys in a log: a line that begins with "::", or has "##["
# anywhere, unless a line stopped it.
obeyed() {
    tr '\r' '\n' <"$dir/log" | awk '
        stopped != "" { if ($0 == "::" stopped "::") stopped = ""; next }
        { line = $0; sub(/^[ \t]+/, "", line) }
        line ~ /^::stop-commands::/ { stopped = substr(line, 18); next }
        line ~ /^::/ || /##\[/'
}
harmless() {
    act 1 INPUT_FILES=".
-x.gguf" && gives errors=$((harm + 1)) || return
    obeyed | grep . && return 1
    [ "$(grep -c "error TENSOR-OVERLAP" "$dir/log")" = $((harm + 1)) ] || return
    find "$dir" -name DONE | grep . && return 1
    act 2 INPUT_FAIL_ON="$new_line::error::x" || return
    obeyed | grep . && return 1
    act 3 INPUT_FILES="$new_line::error::x$new_line" || return
    ! obeyed | grep .
}
check "the runner obeys no name in the log" harmless

without_token() {
    sed -n 1p "$dir/log" | grep -qE '^::stop-commands::[0-9a-f]{32}$' || return
    first=$(sed -n 1p "$dir/log")
    act 1 && [ "$first" != "$(sed -n 1p "$dir/log")" ]
}
check "the word that ends its deafness is another one each time" without_token

annotated() {
    act 1 INPUT_ANNOTATIONS=true || return
    obeyed >"$dir/obeyed"
    [ "$(grep -c '^::error ' "$dir/obeyed")" = 10 ] &&
        [ "$(grep -c '^::warning ' "$dir/obeyed")" = 2 ] &&
        ! grep -avE '^::(error|warning) file=[^:,]*,title=[A-Z-]+::' "$dir/obeyed" &&
        ! grep -F 'file=./' "$dir/obeyed" &&
        act 1 INPUT_FILES='models/%*' INPUT_ANNOTATIONS=true &&
        obeyed | grep -qxF "::error file=models/%250A%3A%3Aerror%3A%3Ay%2Ca=b%3Ac.gguf,title=TENSOR-OVERLAP::at 0xc0: tensor '%250A::x::' overlaps 'a.weight' by 16 bytes"
}
check "annotations are the first ten errors, and escaped" annotated

# The table is HTML of its own elements only, without an empty line, which would
# let Markdown in.
table_only() {
    sed -n '/^<table>$/,$p' "$dir/summary" | sed '1d; /^<\/table>$/,$d' >"$dir/rows"
    [ "$(wc -l <"$dir/rows")" -ge "$1" ] || return
    cell='(<code>[^<>]*</code>|[a-z]*)'
    ! sed 1d "$dir/rows" |
        grep -avE "^<tr><td>$cell</td><td>$cell</td><td>$cell</td><td>$cell</td></tr>\$" &&
        [ "$(grep -c '<' "$dir/summary")" = $(($(wc -l <"$dir/rows") + 2)) ]
}
table() {
    act 1 && table_only $((2 * harm)) &&
        grep -qF '&lt;img src=x&gt;|`&amp;amp;@someone.gguf</code>' "$dir/summary" &&
        grep -qF "tensor '&lt;/table&gt;' overlaps" "$dir/summary" &&
        ! LC_ALL=C grep -q "$(printf '[\033\r]')" "$dir/summary"
}
check "the summary has them as text" table

limited() {
    mkdir many && cp ./-x.gguf many/one || return
    for i in $(seq 1500); do
        ln many/one "many/$(printf '%0230d' "$i").gguf" || return
    done
    act 1 INPUT_FILES=many && gives files=1500 errors=1500 notes=1500 &&
        table_only 1500 &&
        grep -qE '^[0-9]+ more rows are not shown here' "$dir/summary" &&
        [ "$(wc -c <"$dir/summary")" -lt 1048576 ] &&
        # Errors come first: none of them is left out.
        [ "$(grep -c '<td>error</td>' "$dir/summary")" = 1500 ]
}
check "the summary is below 1 MiB, and says what it lacks" limited

left() {
    find "$dir/temp" -mindepth 1
}
check_empty "nothing is left in the runner's folder" left
finish
