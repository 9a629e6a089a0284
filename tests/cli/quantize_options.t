#!/bin/sh
# SPDX-License-Identifier: MIT
#
# quantize_options.t - what quantize says beforehand, and its further options
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

small=$fixtures/llama/llama-small.gguf # rows of 32 and 64
wide=$fixtures/llama/llama-wide.gguf   # rows of 256
cd "$dir" || exit 1
cp "$fixtures/llama/llama-wide.imatrix.dat" wide.dat

# run CODE ARGUMENT...: of quantize; out and err have what it says.
run() {
    want=$1
    shift
    code=0
    "$modelfile" quantize "$@" >out 2>err || code=$?
    [ "$code" -eq "$want" ] || {
        cat out err
        return 1
    }
}

# dry ARGUMENT...: a dry run, which exits with 0 and writes nothing.
dry() {
    run 0 --dry-run "$@" && [ ! -e "$dir/no.gguf" ]
}

# ---- --dry-run lists tensors

# rows: "NAME SHAPE FROM TYPE BYTES FALLBACK" of each tensor in the JSON.
rows() {
    sed 's/.*"tensors":\[//; s/\],"output".*//; s/},{/}\n{/g' out |
        sed 's/{"name":"\([^"]*\)","shape":\[\([0-9,]*\)\],"from":"\([^"]*\)","type":"\([^"]*\)","bytes":\([0-9]*\),"fallback":\(.*\)}/\1 \2 \3 \4 \5 \6/'
}
# written FILE: the same of a file, without what it was before.
written() {
    "$modelfile" tensors --json "$1" 2>err |
        sed 's/.*"tensors":\[//; s/\],"totals".*//; s/},{/}\n{/g' |
        sed 's/{"name":"\([^"]*\)","type":"\([^"]*\)","shape":\[\([0-9,]*\)\],"offset":[0-9]*,"bytes":\([0-9]*\),.*/\1 \3 \2 \4/'
}

as_written() {
    dry --json "$@" && rows | cut -d' ' -f1,2,4,5 >rows.dry &&
        from=$1 type=$2 && shift 2 &&
        run 0 --force "$from" o.gguf "$type" "$@" && written o.gguf >rows.file &&
        [ -s rows.dry ] && cmp rows.dry rows.file
}
each_as_written() {
    as_written "$small" Q4_K_M && as_written "$wide" Q3_K_M &&
        as_written "$wide" Q2_K --tensor-type attn_v=q8_0 --prune-layers 0
}
check "--dry-run lists the tensors as they are written" each_as_written

fell_back() {
    dry --json "$small" Q4_K_M && rows >rows.dry &&
        grep -q '^blk.0.ffn_up.weight 32,64 f16 q5_0 1408 "row length 32 is not a multiple of 256 (q4_k)"$' rows.dry &&
        grep -q '^output_norm.weight 32 f32 f32 128 null$' rows.dry &&
        grep -q '"needs_imatrix":false' out &&
        dry "$small" Q4_K_M &&
        grep -q '^name  *shape  *type  *new type  *bytes$' out &&
        grep -q '^blk.0.ffn_up.weight  *32x64  f16   q5_0      1,408  row length 32 is not a multiple of 256 (q4_k)$' out
}
check "and why they fell back to another type" fell_back

# Rows of 40: not a multiple of 32 either.
tensor() {
    printf ',"%s":{"dtype":"%s","shape":%s,"data_offsets":[%s]}' "$@"
}
rows_of_40() {
    {
        printf '{"__metadata__":{"general.architecture":"llama"'
        printf ',"llama.%s:u32":"%s"' context_length 64 \
            embedding_length 40 block_count 1 attention.head_count 4 \
            feed_forward_length 40
        printf ',"llama.attention.layer_norm_rms_epsilon:f32":"0.5"}'
        tensor blk.0.ffn_up.weight F16 '[4,40]' 0,320
        tensor blk.0.ffn_down.weight F16 '[4,40]' 320,640
        printf '}'
    } >header
    {
        printf '\000\004\000\000\000\000\000\000%-1024s' "$(cat header)"
        awk 'BEGIN { for (i = 0; i < 40; i++) printf "0123456789:;<=>?" }'
    } >40.safetensors
    "$modelfile" convert --quiet 40.safetensors 40.gguf >out
}
twice() {
    rows_of_40 && dry --json 40.gguf Q4_K_M && rows | sort >rows.dry &&
        printf 'blk.0.ffn_%s.weight 40,4 f16 f16 320 "row length 40 is not a multiple of 256 (%s)"\n' \
            down q6_k up q4_k | cmp - rows.dry
}
check "to f16, where no other type fits" twice

shards() {
    dry --json --keep-split --allow-requantize \
        "$fixtures/llama/llama-split-00001-of-00002.gguf" Q8_0 &&
        rows | cut -d' ' -f1 | sort >names.dry &&
        "$modelfile" tensors --json \
            "$fixtures/llama/llama-split-00001-of-00002.gguf" 2>err |
        grep -o '"name":"[^"]*"' | cut -d'"' -f4 | sort | cmp - names.dry
}
check "of all shards" shards

# ---- where a run would be refused for lack of a matrix

needs() {
    dry --json "$wide" Q2_K_S && grep -q '"needs_imatrix":true' out &&
        grep -q 'warning: .*requires an importance matrix' err &&
        dry "$wide" Q2_K_S && grep -q 'q2_k .*requires an importance matrix$' out
}
check "--dry-run warns of a mix that needs a matrix" needs
not_run() {
    run 2 "$wide" no.gguf Q2_K_S && [ ! -e no.gguf ]
}
check "which the run refuses" not_run
not_needed() {
    dry --json "$wide" Q2_K_S --imatrix wide.dat &&
        grep -q '"needs_imatrix":false' out && ! grep -q requires err
}
check "with a matrix it does not" not_needed
some_missing() {
    dry --json "$wide" Q2_K_S --imatrix wide.dat --exclude-weights attn_v &&
        grep -q '"needs_imatrix":true' out &&
        grep -q 'values for more tensors: .*attn_v' err &&
        run 2 "$wide" no.gguf Q2_K_S --imatrix wide.dat \
            --exclude-weights attn_v && [ ! -e no.gguf ]
}
check "but does where it lacks entries" some_missing
other_refusals() {
    run 3 --dry-run "$wide" Q2_K --imatrix "$small" &&
        run 3 --dry-run "$fixtures/bad-overlap.gguf" Q2_K &&
        "$modelfile" quantize -q "$wide" o.gguf Q8_0 --force >out &&
        run 2 --dry-run o.gguf Q2_K && run 2 --dry-run "$wide" Q2_K_X
}
check "every other refusal matches the run" other_refusals

# ---- how much of the model a matrix covers

weighted() {
    run 0 --force "$wide" o.gguf Q4_K_M --imatrix wide.dat "$@" &&
        grep -q "warning: weighted $count tensors: .* no values for $names" \
            err && grep -q "^weighted $count tensors by the" out
}
count="13 of 14" names='token_embd.weight$'
check "a matrix that covers a part: a warning" weighted
count="11 of 14" names='token_embd.weight, blk.0.attn_v.weight, blk.1.attn_v.weight$'
check "with the count, and the first names" weighted --exclude-weights attn_v
count="2 of 14" names='output.weight, token_embd.weight, .* and 9 more$'
check "and how many there are more" weighted --include-weights attn_k
count="2 of 14"
to_pipe() {
    "$modelfile" quantize -q "$wide" - Q4_K_M --imatrix wide.dat \
        --include-weights attn_v 2>err | cat >o.gguf && [ -s o.gguf ] &&
        grep -q 'warning: weighted 2 of 14 tensors' err
}
check "also with standard output as OUT" to_pipe

# ---- --tensor-type-file

# typed NAME=TYPE...: these tensors of o.gguf have these types.
typed() {
    "$modelfile" tensors "$dir/o.gguf" >types 2>typed || return 1
    for pair in "$@"; do
        awk -v name="${pair%=*}" -v type="${pair#*=}" \
            '$1 == name { found = $2 == type } END { exit !found }' types || {
            grep "^${pair%=*} " types
            return 1
        }
    done
}

printf 'attn_v=q8_0\n\n  ATTN_K=Q6_K\tffn_up=q5_k\r\nblk\\.1\\.ffn_down=q4_0' >list
in_a_file() {
    run 0 -q --force "$wide" o.gguf Q4_K_M --tensor-type-file list &&
        typed blk.0.attn_v.weight=q8_0 blk.1.attn_k.weight=q6_k \
            blk.0.ffn_up.weight=q5_k blk.1.ffn_down.weight=q4_0 &&
        mv o.gguf file.gguf && run 0 -q "$wide" o.gguf Q4_K_M \
        --tensor-type attn_v=q8_0 --tensor-type attn_k=q6_k \
        --tensor-type ffn_up=q5_k --tensor-type 'blk\.1\.ffn_down=q4_0' &&
        cmp o.gguf file.gguf
}
check "--tensor-type-file: as with --tensor-type for each" in_a_file
from_pipe() {
    rm -f o.gguf
    "$modelfile" quantize -q "$wide" o.gguf Q4_K_M --tensor-type-file - \
        <list >out 2>err && cmp o.gguf file.gguf
}
check "also from standard input" from_pipe

in_order() {
    echo 'attn_v=q5_0' >five
    run 0 -q --force "$wide" o.gguf Q4_K_M --tensor-type attn_v=q8_0 \
        --tensor-type-file five && typed blk.0.attn_v.weight=q8_0 &&
        run 0 -q --force "$wide" o.gguf Q4_K_M --tensor-type-file five \
            --tensor-type attn_v=q8_0 && typed blk.0.attn_v.weight=q5_0 &&
        run 0 -q --force "$wide" o.gguf Q4_K_M --tensor-type-file five \
            --tensor-type-file list && typed blk.0.attn_v.weight=q5_0 &&
        grep -q "pattern 'attn_v'.* applies to no tensor" err
}
check "what comes first decides, in both options together" in_order
nothing_in_it() {
    : >empty
    run 0 -q --force "$wide" o.gguf Q4_K_M --tensor-type-file empty
}
check "an empty file is fine" nothing_in_it

faulty() {
    printf '%b' "$1" >faulty
    run 3 "$wide" no.gguf Q4_K_M --tensor-type-file faulty &&
        grep -q "^modelfile: faulty: $2" err && [ ! -e no.gguf ] &&
        run 3 --json "$wide" no.gguf Q4_K_M --tensor-type-file faulty &&
        grep -q '"file":"faulty"' out
}
check "a line that is not a pattern is refused" faulty 'a=q8_0\nx y=q8_0\n' \
    "line 2: expected PATTERN=TYPE, not 'x'"
check "an unknown type" faulty 'a=q8_0 b=q6k' \
    "line 1: unknown tensor type 'q6k'; did you mean"
check "an invalid pattern" faulty '\n\na[=q8_0' "line 3: pattern 'a\["
check "a type is missing" faulty 'a=' "line 1: expected"
check "a pattern is missing" faulty '=q8_0' "line 1: expected"
check "a NUL" faulty 'a=q8_0\0000b=q8_0' "cannot read the list of tensor types: it contains a NUL"
check "characters for a terminal are escaped" faulty '\0033[31m' \
    'line 1: expected PATTERN=TYPE, not .\\x1b\[31m'
not_there() {
    run 3 "$wide" no.gguf Q4_K_M --tensor-type-file none &&
        grep -q "^modelfile: none: cannot read" err
}
check "a file that is not there" not_there

# A line for each of 3000 tensors, none of which is in the model, and one that
# is: much time and memory would be a pattern's that is kept as compiled.
many() {
    awk 'BEGIN { for (i = 10; i < 3010; i++) print "blk." i ".ffn_up.weight=q8_0"
        print "blk.1.ffn_up.weight=q8_0" }' >many
    run 0 --force "$wide" o.gguf Q4_K_M --tensor-type-file many &&
        typed blk.1.ffn_up.weight=q8_0 && run 0 --force "$wide" o.gguf Q4_K_M \
        --tensor-type-file many &&
        [ "$(grep -c 'warning: pattern' err)" = 10 ] &&
        grep -q 'warning: 2990 more patterns' err &&
        awk '/^peak heap/ { found = $4 == "MiB" && $3 < 4 }
            END { exit !found }' err
}
if counts_memory; then
    check "thousands of lines, in little memory" many
else
    skip "thousands of lines, in little memory" "memory is not counted"
fi
too_many() {
    awk 'BEGIN { for (i = 0; i < 5000; i++) print "a=q8_0" }' >many
    run 3 --force "$wide" o.gguf Q4_K_M --tensor-type-file many &&
        grep -q "^modelfile: many: line 4097: more than 4096 patterns" err
}
check "too many are refused" too_many

# within KIB FILE TEXT: refused with it, in as much memory.
within() {
    run 3 "$wide" no.gguf Q4_K_M --stats --tensor-type-file "$2" &&
        grep -q "cannot read the list of tensor types: $3" err || return 1
    counts_memory || return 0
    tr -d , <err | awk -v most="$1" '/^peak heap/ {
        found = $4 == "bytes" && $3 <= most * 1024 } END { exit !found }' || {
        cat err
        return 1
    }
}
head -c 1048577 /dev/zero | tr '\0' '\n' >large
head -c 1048576 large >largest
check "a file of NULs is refused at once" within 128 /dev/zero \
    "it contains a NUL"
check "and one that is too large soon" within 1600 large \
    "it is larger than 1 MiB"
check "the largest one is read" run 0 --force "$wide" o.gguf Q4_K_M \
    --tensor-type-file largest
check "a folder is not" within 128 . "Is a directory"
mkfifo pipe
silent() {
    timeout 20 "$modelfile" quantize "$wide" no.gguf Q4_K_M \
        --tensor-type-file pipe >out 2>err || code=$?
    [ "$code" = 3 ] && grep -q "no process writes to this pipe" err
}
check "an idle pipe cannot make it hang" silent
slow() {
    { sleep 6 && cat list; } >pipe &
    run 0 -q --force "$wide" o.gguf Q4_K_M --tensor-type-file pipe &&
        cmp o.gguf file.gguf
}
if [ -z "${QUICK:-}" ]; then
    check "one whose writer takes its time is read" slow
fi

# ---- options of llama-quantize v0.5.0

known() {
    run 0 --dry-run --force "$wide" o.gguf Q4_K_M --allow-requantize \
        --leave-output-tensor --pure --imatrix wide.dat \
        --include-weights attn --output-tensor-type q8_0 \
        --token-embedding-type q8_0 --tensor-type attn_q=q8_0 \
        --tensor-type-file list --prune-layers 0 --keep-split \
        --override-kv general.name=str:x --max-buffer-size 512 &&
        run 0 --dry-run --imatrix wide.dat --exclude-weights attn \
            "$wide" Q4_K_M 2
}
check "all of them are known" known
buffers() {
    run 0 -q --force --max-buffer-size 512 "$wide" o.gguf Q4_K_M &&
        grep -q -e "'--max-buffer-size' is not needed" err &&
        cmp o.gguf "$fixtures/llama/llama-wide-Q4_K_M.gguf" &&
        run 2 --max-buffer-size 0 "$wide" no.gguf Q4_K_M &&
        run 2 --max-buffer-size -1 "$wide" no.gguf Q4_K_M &&
        run 2 --max-buffer-size x "$wide" no.gguf Q4_K_M
}
check "--max-buffer-size changes nothing, and that is said" buffers
floats() {
    run 0 -q --force "$wide" o.gguf F16 --tensor-type attn_v=q8_0 &&
        typed blk.0.attn_v.weight=f16 &&
        grep -q "pattern 'attn_v'.* applies to no tensor" err
}
check "--tensor-type does nothing in F16, and that is said" floats

finish
