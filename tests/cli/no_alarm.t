#!/bin/sh
# SPDX-License-Identifier: MIT
#
# no_alarm.t - `validate` has nothing to say against files that real programs
# have written
#
# Small ones are in fixtures/llama; the folders models and golden/e2e of
# CONFORMANCE (../shared) have more.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh

from=${CONFORMANCE:-../shared}
modelfile=${MODELFILE:-${BUILD:-build}/modelfile}

# What real files are warned of, or refused for, with reason:
#   duplicate_names, names_sorting  hold names that are forbidden, on purpose
#   flag_lz4_plain                  says compressed and is not
#   llama-wide                      has fewer rows than its metadata say
except=" duplicate_names.apr names_sorting.apr flag_lz4_plain.apr \
llama-wide.gguf llama-wide-Q4_K_M.gguf "

silent() {
    "$modelfile" validate --quiet "$1" | grep -v ': note ' |
        grep -v ': 0 errors, 0 warnings;'
}

for file in fixtures/llama/*.gguf "$from"/models/gguf/*.gguf \
    "$from"/models/apr/real/*.apr "$from"/golden/e2e/*.gguf; do
    name=$(basename "$file")
    case $except in
    *" $name "*) continue ;;
    esac
    [ ! -f "$file" ] || check_empty "$name" silent "$file"
done
finish
