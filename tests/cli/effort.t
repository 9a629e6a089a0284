#!/bin/sh
# SPDX-License-Identifier: MIT
#
# effort.t - quantize --effort: what the file says of itself, and how verify
# tests that
#
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh

"$build/tests/filled" f16 2 "$dir/f16.gguf"

# made OUT TYPE OPTION...
made() {
    out=$1 type=$2
    shift 2
    "$modelfile" quantize "$dir/f16.gguf" "$dir/$out" "$type" --quiet --force \
        "$@" >/dev/null
}

# says FILE: the efforts in its metadata.
says() {
    "$modelfile" meta list "$dir/$1" 2>/dev/null |
        awk '/^modelfile\.effort/ { printf "%s=%s ", $1, $3 }'
}

# ---- files

made none.gguf Q4_K_M
made one.gguf Q4_K_M --effort 1
check "effort 1 is the default" cmp "$dir/none.gguf" "$dir/one.gguf"
check "and says nothing" [ -z "$(says one.gguf)" ]
for effort in 2 3 4; do
    made "$effort.gguf" Q4_K_M --effort "$effort"
    check "effort $effort is in the metadata" [ "$(says "$effort.gguf")" = \
        "modelfile.effort=$effort modelfile.effort.version=1 " ]
    check "and repeated by verify" expect 0 "with effort $effort" \
        verify "$dir/$effort.gguf" --from "$dir/f16.gguf"
done
for isa in portable avx2; do
    for threads in 1 3; do
        MODELFILE_ISA=$isa made other.gguf Q4_K_M --effort 3 \
            --threads "$threads" 2>/dev/null
        check "the same with $isa and $threads threads" \
            cmp "$dir/3.gguf" "$dir/other.gguf"
    done
done
for type in Q4_0 Q5_1 Q8_0 IQ4_NL IQ4_XS Q2_K Q3_K_M Q6_K TQ2_0; do
    made type.gguf "$type" --effort 2
    check "verify repeats $type" expect 0 "with effort 2" \
        verify "$dir/type.gguf" --from "$dir/f16.gguf"
done
made type.gguf F32 --effort 3
check "a type without scales says nothing" [ -z "$(says type.gguf)" ]
"$modelfile" quantize "$dir/3.gguf" "$dir/copy.gguf" COPY --quiet >/dev/null
check "a copy says what it said" [ "$(says copy.gguf)" = "$(says 3.gguf)" ]
"$modelfile" quantize "$dir/3.gguf" "$dir/again.gguf" Q4_0 --quiet \
    --allow-requantize >/dev/null
check "what is quantized again without a search says nothing" \
    [ -z "$(says again.gguf)" ]
check "several outputs search, too" expect 0 "" quantize "$dir/f16.gguf" \
    --output "Q4_K_M=$dir/a.gguf" --output "Q8_0=$dir/b.gguf" --effort 3
check "to the same bytes" cmp "$dir/3.gguf" "$dir/a.gguf"
check "JSON says it" expect 0 '"effort":3' quantize "$dir/f16.gguf" \
    "$dir/o.gguf" Q4_0 --effort 3 --json --dry-run

# ---- claims

# claims KEY NUMBER
claims() {
    cp "$dir/3.gguf" "$dir/claim.gguf"
    "$modelfile" meta set "$dir/claim.gguf" "$1=$2" --quiet >/dev/null
}
claims modelfile.effort 2
check "another effort is noticed" expect 1 "differs" \
    verify "$dir/claim.gguf" --from "$dir/f16.gguf"
claims modelfile.effort.version 2
check "a version that is not known is named" \
    expect 1 "effort 3 of version 2, which is not known here" \
    verify "$dir/claim.gguf" --from "$dir/f16.gguf"
claims modelfile.effort 77
check "and an effort" expect 1 "effort 77 of version 1" \
    verify "$dir/claim.gguf" --from "$dir/f16.gguf"
claims modelfile.effort 0
check "and 0" expect 1 "effort 0 of version 1" \
    verify "$dir/claim.gguf" --from "$dir/f16.gguf"
claims modelfile.effort 1
check "effort 1 is encoded as it always was" expect 1 "differs" \
    verify "$dir/claim.gguf" --from "$dir/f16.gguf"
check "a statement says it" sh -c '"$1" verify "$2/3.gguf" --from \
    "$2/f16.gguf" --statement "$2/s.json" --quiet &&
    grep -q "\"effort\":{\"level\":3,\"version\":1}" "$2/s.json"' - \
    "$modelfile" "$dir"

# ---- the option

for wrong in 0 5 x ''; do
    check "--effort '$wrong' is refused" expect 2 "effort" quantize \
        "$dir/f16.gguf" "$dir/o.gguf" Q4_0 --effort "$wrong"
done
check "and nothing is written" [ ! -e "$dir/o.gguf" ]

finish
