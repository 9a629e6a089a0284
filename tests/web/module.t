#!/bin/sh
# SPDX-License-Identifier: MIT
#
# module.t - the library as a WebAssembly module, in node: its verdicts are the
# command's, it is small, reads little, and files that mean harm do none
#
# CONFORMANCE: a folder with more files (hostile/), ../shared.
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh

build=${BUILD:-build}
hostile=$(cd "${CONFORMANCE:-../shared}/hostile" 2>/dev/null && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/modelfile-web.XXXXXX")
trap 'rm -rf "$work"' EXIT

command -v node >/dev/null || {
    skip "the module" "apt-get install nodejs"
    finish
}
said=$(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" BUILD="$build" web 2>&1)
code=$?
case $said in
*"apt-get install"*)
    skip "the module" "$said"
    finish
    ;;
esac
check "the module is built" [ "$code" -eq 0 ]
[ "$code" -eq 0 ] || { echo "$said" | note && finish; }
module=$build/web/modelfile.wasm

# Kilobytes are of 1,000 bytes, as in docs/ports.md.
small() {
    [ "$(gzip -9c "$module" | wc -c)" -le 400000 ]
}
check "it has at most 400 KB when it is compressed" small

run() { # WHAT ARGUMENT...: what is wrong; the summary is a note
    node tests/web/module.mjs "$module" "$@" 2>"$work/summary"
    run_code=$?
    note <"$work/summary" >&3
    [ "$run_code" -eq 0 ] || echo "exit code $run_code"
}
exec 3>&1

validated() { # NAME FILE...
    name=$1
    shift
    "$build/modelfile" validate --json "$@" >"$work/expected.json" 2>/dev/null
    check_empty "$name" run verdicts "$work/expected.json"
}

validated "verdicts of fixtures are the command's" fixtures/good-* fixtures/bad-*
if [ -n "$hostile" ]; then
    # shellcheck disable=SC2046 # names have no spaces
    validated "verdicts of files that mean harm are the command's" $(cut -f 1 \
        "$hostile"/manifest-*.tsv | while read -r file; do
        [ ! -f "$hostile/$file" ] || echo "$hostile/$file"
    done)
else
    skip "verdicts of files that mean harm are the command's" "no CONFORMANCE"
fi

for kind in 5t 70b many-gguf many-safetensors; do
    made=$("$build/tests/big" $kind "$work/$kind")
    header=$(echo "$made" | sed 's/.*header \([0-9]*\).*/\1/')
    check_empty "of $kind little more than the header is read" \
        run large "$work/$kind" "$header"
    rm "$work/$kind"
done

seconds=10
[ -z "${QUICK:-}" ] || seconds=3
for file in llama/llama-wide-Q4_K_M.gguf good-base.safetensors good-torch.pt; do
    check_empty "prefixes and mutants of $file do no harm" \
        run mangled "fixtures/$file" $seconds
done
finish
