#!/bin/sh
# SPDX-License-Identifier: MIT
#
# validate.sh - runs validate, and tells the workflow what it found
#
# Names in a model, and of files, may be an attacker's.  So the runner obeys no
# line of the log until a random word ends it; report.awk escapes the summary
# and the annotations.
# Files follow "--", so a name that begins with "-" is not an option.
set -eu
here=$(dirname "$0")
new_line='
'

token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
[ "${#token}" -eq 32 ] || exit 2
exec 2>&1
echo "::stop-commands::$token"
work=$(mktemp -d "$RUNNER_TEMP/modelfile.XXXXXX")
resumed=
resume() {
    [ -n "$resumed" ] || echo "::$token::"
    resumed=yes
}
trap 'resume; rm -rf "$work"' EXIT

refuse() {
    printf '%s\n' "modelfile action: $*"
    exit 2
}

# output NAME VALUE: the value may have several lines.
output() {
    printf '%s<<%s\n%s\n%s\n' "$1" "$token" "$2" "$token" >>"$GITHUB_OUTPUT"
}
output verdict failed # unless another one follows

# ---- inputs

case $INPUT_FAIL_ON in
errors | warnings | never) ;;
*) refuse "fail-on is errors, warnings or never, not '$INPUT_FAIL_ON'" ;;
esac
for input in "summary=$INPUT_SUMMARY" "annotations=$INPUT_ANNOTATIONS"; do
    case $input in
    *=true | *=false) ;;
    *) refuse "${input%%=*} is true or false, not '${input#*=}'" ;;
    esac
done

set -f # validate expands patterns
# shellcheck disable=SC2086 # words
set -- $INPUT_OPTIONS
for word; do
    case $word in
    --json | --format | --format=* | --sarif | --sarif=* | --junit | --junit=*)
        refuse "'$word' is not an option here: there are the inputs sarif and junit"
        ;;
    esac
done
junit=${INPUT_JUNIT:-$work/junit.xml}
set -- validate "$@" --quiet --json --junit "$junit"
[ -z "$INPUT_SARIF" ] || set -- "$@" --sarif "$INPUT_SARIF"
IFS=$new_line
# shellcheck disable=SC2086 # lines
set -- "$@" -- $INPUT_FILES
unset IFS

# ---- the run

code=0
"$INPUT_PROGRAM" "$@" >"$work/answer" 2>"$work/errors" </dev/null || code=$?

# In strings of JSON a quote follows a backslash, so this is outside of them.
sed -n 's/.*"total":{\([^}]*\)}.*/\1/p' "$work/answer" | tr , "$new_line" \
    >"$work/totals"
# total NAME: its digits.
total() {
    sed -n "s/^\"$1\":\([0-9][0-9]*\)\$/\1/p" "$work/totals"
}
errors=$(total errors)
warnings=$(total warnings)
[ -n "$errors" ] && [ -n "$warnings" ] || [ "$code" -ge 2 ] || code=2

# report KIND: the findings in that form; nothing if there is no report.
report() {
    [ ! -f "$junit" ] || [ -z "$errors" ] ||
        LC_ALL=C awk -v kind="$1" -f "$here/report.awk" "$junit"
}
cat "$work/errors"
report log
verdict=valid
[ "$code" -eq 0 ] || verdict=invalid
[ "$code" -lt 2 ] || verdict=failed
sum="checked $(total files): errors $errors, warnings $warnings, notes $(total notes)"
sum="$sum; not readable $(total not_readable)"
[ -z "$errors" ] || echo "$sum"
resume

# ---- what the workflow learns

for name in files errors warnings notes; do
    output "$name" "$(total "$name")"
done
output not-readable "$(total not_readable)"
output verdict "$verdict"
[ -z "$INPUT_SARIF" ] || [ ! -f "$INPUT_SARIF" ] || [ -z "$errors" ] ||
    output sarif "$INPUT_SARIF"
[ -z "$INPUT_JUNIT" ] || [ ! -f "$junit" ] || [ -z "$errors" ] ||
    output junit "$INPUT_JUNIT"

[ "$INPUT_ANNOTATIONS" = false ] || report annotations

if [ "$INPUT_SUMMARY" = true ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    {
        echo "### modelfile validate: $verdict"
        echo
        if [ -n "$errors" ]; then
            echo "$sum"
            echo
            report summary
        else
            echo "The command ended with exit code $code before there was a report."
        fi
        echo
    } >>"$GITHUB_STEP_SUMMARY"
fi

[ "$code" -lt 2 ] || exit "$code"
case $INPUT_FAIL_ON in
errors) exit "$code" ;;
warnings) [ "$errors" -eq 0 ] && [ "$warnings" -eq 0 ] ;;
esac
