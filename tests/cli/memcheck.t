#!/bin/sh
# SPDX-License-Identifier: MIT
#
# memcheck.t - valgrind's memcheck finds nothing in any command, whatever it
# ends with
#
# No invalid access, no decision by a byte that was never set, and at the end no
# block that is still allocated, except libraries' blocks, which are named below.
# QUICK=1 leaves out most error paths.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

if ! command -v valgrind >/dev/null 2>&1; then
    echo "1..0 # SKIP valgrind is not installed (apt install valgrind)"
    exit 0
fi
if ! counts_memory; then
    echo "1..0 # SKIP valgrind cannot run a build with sanitizers"
    exit 0
fi

# What libraries keep until the process ends.
cat >"$dir/kept" <<'END'
{
   OpenMP: what it knows about the machine
   Memcheck:Leak
   match-leak-kinds: reachable
   fun:*alloc
   ...
   fun:gomp_init_num_threads
}
{
   glibc: a library that was loaded
   Memcheck:Leak
   match-leak-kinds: reachable
   fun:*alloc
   ...
   fun:_dl_open
}
{
   glibc: a library whose constructors were run
   Memcheck:Leak
   match-leak-kinds: reachable
   fun:*alloc
   ...
   fun:_dl_init
}
{
   libcrypto: its tables
   Memcheck:Leak
   match-leak-kinds: reachable
   ...
   obj:*/libcrypto.so*
}
END

# run COMMAND...: sets code; dir/log is empty if memcheck has found nothing.  The
# processes that try what --max-memory must be end in the middle of their work.
run() {
    code=0
    valgrind -q --leak-check=full --show-leak-kinds=all \
        --errors-for-leak-kinds=all --error-exitcode=99 --num-callers=24 \
        --child-silent-after-fork=yes \
        --suppressions="$dir/kept" --log-file="$dir/log" \
        "$dir/program" "$@" >"$dir/out" 2>"$dir/err" || code=$?
}
verdict() {
    [ "$code" = "$1" ] && [ ! -s "$dir/log" ] && return
    echo "exit code $code instead of $1"
    tail -n 5 "$dir/err"
    head -n 60 "$dir/log"
    return 1
}
# clean CODE COMMAND...
clean() {
    want=$1
    shift
    run "$@"
    verdict "$want"
}
# each: a line "CODE COMMAND..." for each run.
each() {
    while read -r want command; do
        # shellcheck disable=SC2086 # words
        case $want in
        "" | \#*) ;;
        *) check "$want: $command" clean "$want" $command ;;
        esac
    done
}

# Reading lines of 20 MB of debugging information takes longer than most
# commands; functions keep their names.
"${STRIP:-strip}" --strip-debug -o "$dir/program" "$modelfile"

f=$fixtures
d=$dir
export TMPDIR="$dir"
cd "$dir" || exit
"$build/tests/filled" f16 1 model.gguf >/dev/null
cp "$f/good-base.gguf" "$f/good-llama.gguf" "$f/good-base.apr" \
    "$f/good-base.safetensors" .
"$modelfile" quantize -q model.gguf model-q8_0.gguf q8_0
"$modelfile" hash -q model.gguf >good.sums
"$modelfile" validate -q "$f/bad-overlap.gguf" >baseline
sed 's/xxh3:./xxh3:0/' good.sums >bad.sums
mkdir empty

each <<END
0 detect $f/good-llama.gguf
0 info $f/good-llama.gguf
0 tensors info $f/good-llama.gguf --sort size
0 meta list $f/good-tokens-bpe.gguf
0 validate --data --threads 2 model.gguf
1 validate --json $f/bad-overlap.gguf
0 hash --threads 2 model.gguf
0 convert --threads 2 good-base.gguf o.apr
0 quantize --threads 2 model.gguf o.gguf Q4_K_M
0 meta set good-base.gguf general.name=somewhat_longer_than_before
2 info
3 info $f/bad-truncated.gguf
3 convert $f/bad-truncated.gguf no.gguf
4 convert model.gguf /dev/full
5 hash --algo sha256 --max-memory 4K model.gguf
END
[ -z "${QUICK:-}" ] || finish

each <<END
# the rest of the commands, and of what they can do
0 version --json
0 help
0 help quantize
0 help validate --json
3 detect --json $f
0 info --json $f/good-sharded $f/good-v1.apr
0 info $f/good-hf-llama --stats
0 tensors $f/good-dtypes.safetensors --top 3 --json
0 tensors info $f/good-llama.gguf *.weight --totals
0 tensors stats model.gguf
0 tensors stats --json model-q8_0.gguf
3 tensors stats $f/good-types.gguf
0 tensors export good-base.gguf a.weight o.npy
0 tensors export --raw good-base.gguf a.weight -
0 meta list --full --json $f/good-arrays.gguf
0 meta get good-base.apr architecture
0 meta unset good-llama.gguf general.name
0 meta set --reserve 1K good-llama.gguf general.name=x
0 meta set good-base.apr name=x
0 meta recover good-base.gguf
0 validate $f/good-hf-llama $f/good-tokens-spm.gguf
1 validate --format sarif --data $f/bad-data-nan.gguf $f/bad-template-code.gguf
1 validate --format junit $f/bad-hf-tokens $f/bad-index-path
1 validate --format codequality $f/bad-hf-tokens $f/bad-index-path
0 validate --baseline baseline $f/bad-overlap.gguf
0 validate --coverage --for llama.cpp $f/good-moe.gguf
0 validate --rules
0 validate --explain TENSOR-OVERLAP
0 validate --explain attacks
0 hash --algo sha256 model.gguf
0 hash --algo crc32 --json model.gguf
0 hash --duplicates model.gguf
0 hash --format llama-gguf-hash model.gguf
0 hash --check good.sums model.gguf
1 hash --check bad.sums model.gguf
0 diff model.gguf model.gguf
1 diff --values --json model.gguf model-q8_0.gguf
0 verify model-q8_0.gguf --from model.gguf --statement -
1 verify --json model.gguf --from model-q8_0.gguf
0 convert good-base.apr o.safetensors --lossy
0 convert --names gguf $f/good-hf-llama o2.gguf
0 convert --shard-tensors 2 $f/good-llama.gguf o3.gguf
0 convert --to gguf good-base.safetensors -
0 dequantize --type f16 model-q8_0.gguf o4.gguf
0 quantize --report --threads 2 model.gguf o5.gguf IQ4_XS
0 quantize --dry-run --json model.gguf no.gguf Q2_K
0 quantize --imatrix $f/llama/llama-wide.imatrix.dat --force $f/llama/llama-wide.gguf o6.gguf Q3_K_M
0 split --max-tensors 1 good-base.gguf part
0 merge $f/good-split-00001-of-00003.gguf o7.gguf
0 bench --rounds 1 --size 1K --type q4_k --threads 2
0 bench --rounds 1 --quantize Q8_0 $f/good-llama.gguf
0 info --timings $f/good-llama.gguf
0 hash --timings --json --threads 2 model.gguf
0 info --record rec1 $f/good-llama.gguf
0 convert --record rec2 --power mock:10 --threads 2 model.gguf o8.gguf
0 convert --resume model.gguf o9.gguf
0 quantize --resume --report --threads 2 model.gguf o10.gguf Q4_K_M
# wrong words
2 nonsense
2 validate --explain NO-SUCH-RULE
2 info --sort size model.gguf
2 hash --algo md5 model.gguf
2 quantize model.gguf o.gguf q4km
2 quantize --tensor-type a.*b[=q8_0 model.gguf o.gguf q8_0
3 meta set good-base.gguf general.alignment=5
1 meta unset good-base.gguf no.such.key
1 tensors export good-base.gguf no.such.tensor -
2 bench --quantize q8_0
2 info --json --max-memory nothing model.gguf
# inputs that cannot be read
3 detect nothing.gguf
3 info --json nothing.gguf
3 info empty
3 tensors info $f/bad-array-bomb.gguf
3 tensors stats $f/bad-truncated.gguf
3 tensors export $f/bad-data-missing.gguf a.weight -
3 meta list $f/bad-magic-fugg.gguf
3 hash $f/bad-offset-past-end.gguf
3 hash --check nothing.sums model.gguf
3 diff model.gguf nothing.gguf
3 verify model.gguf --from nothing.gguf
3 dequantize $f/bad-json-depth.safetensors no.gguf
3 quantize --imatrix baseline model.gguf no.gguf Q4_K_M
2 quantize model.gguf no.gguf IQ2_XXS
3 split --max-tensors 1 $f/bad-index-no-tensor no
3 merge $f/bad-split-missing-00001-of-00002.gguf no.gguf
3 validate nothing.gguf
3 validate --baseline nothing model.gguf
3 bench nothing.gguf
# outputs that cannot be written; valgrind's malloc takes the place of ours,
# and leaves no profile to write
4 hash --dhat=profile --threads 2 model.gguf
4 convert model.gguf $d/nothing/o.gguf
4 convert model.gguf o.gguf
4 quantize model.gguf /dev/full Q8_0
4 tensors export good-base.gguf a.weight /dev/full
3 merge $f/good-split-00001-of-00003.gguf empty/
4 info --record model.gguf/rec model.gguf
4 convert --resume model.gguf $d/nothing/o.gguf
# no memory
5 info --max-memory 1K model.gguf
5 validate --max-memory 4K --json model.gguf
5 convert --max-memory 4K model.gguf no.gguf
5 quantize --max-memory 12K model.gguf no.gguf Q4_K_M
END

for file in "$f"/bad-*; do
    set -- "$@" "$file"
done
check "every bad fixture, at once" clean 1 validate --data "$@"
set --
for file in "$f"/good-*; do
    set -- "$@" "$file"
done
check "every good fixture, at once" clean 0 info "$@"

# ---- standard output and files that are full

full() {
    code=0
    valgrind -q --leak-check=full --show-leak-kinds=all \
        --errors-for-leak-kinds=all --error-exitcode=99 \
        --suppressions="$dir/kept" --log-file="$dir/log" \
        "$modelfile" "$@" >/dev/full 2>"$dir/err" || code=$?
    verdict 4
}
for command in "info model.gguf" "tensors info --json model.gguf" \
    "validate --format sarif model.gguf" "hash model.gguf" help; do
    # shellcheck disable=SC2086 # words
    check "no space for $command" full $command
done

# 64 KiB, in blocks of 512 bytes.
limited() {
    (ulimit -f 128 && run "$@" && verdict 4)
}
for command in "convert model.gguf no.gguf" \
    "quantize --threads 2 model.gguf no.gguf Q8_0" \
    "split --max-size 400K model.gguf no" \
    "dequantize model-q8_0.gguf no.gguf"; do
    # shellcheck disable=SC2086 # words
    check "a limit of the file's size: $command" limited $command
done
no_remains() {
    ls -A "$dir" | grep -E '^no|^\..*tmp'
}
check_empty "what failed has left no file" no_remains
finish
