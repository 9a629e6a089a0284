# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# tap.sh - the few functions with which the shell tests say what they found
#
#     . tests/tap.sh
#     check "two is two" [ 2 -eq 2 ]
#     skip "three is odd" "no abacus here"
#     finish

tap_count=0
tap_failed=0

# Text from standard input, as comments that TAP readers show.
note() {
    sed 's/^/# /'
}

ok() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}

not_ok() {
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $1"
}

skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# check NAME COMMAND...: the command succeeds; what it says is shown if not.
check() {
    tap_name=$1
    shift
    if tap_said=$("$@" 2>&1); then
        ok "$tap_name"
    else
        not_ok "$tap_name"
        printf '%s\n' "$tap_said" | note
    fi
}

# check_empty NAME COMMAND...: the command prints nothing, not even an error.
check_empty() {
    tap_name=$1
    shift
    tap_said=$("$@" 2>&1)
    if [ -z "$tap_said" ]; then
        ok "$tap_name"
    else
        not_ok "$tap_name"
        printf '%s\n' "$tap_said" | note
    fi
}

# Says how many tests there were; ends the script.
finish() {
    echo "1..$tap_count"
    [ "$tap_failed" -eq 0 ]
    exit
}
