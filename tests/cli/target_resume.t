#!/bin/sh
# SPDX-License-Identifier: MIT
#
# target_resume.t - with --resume, quantize --target-size keeps measured errors
#
# The program is killed in a read or write of a known number.  What a run has
# read tells what it measured: each measured row is read once.
#
# shellcheck disable=SC1091,SC2086,SC2317 # tests run in the top folder, commands
#                                           are words, and functions are given
#                                           to others to call
set -u
. tests/tap.sh
. tests/lib-run.sh
. tests/lib-stop.sh

cd "$dir" || exit 1
"$build/tests/kinds" dense 4 256 in.gguf in.dat
"$build/tests/kinds" dense 4 256 other.gguf other.dat
measured=made/.o.gguf.measured
target="quantize in.gguf made/o.gguf --imatrix in.dat --target-size 2500000
    --samples all --types q3_k,q4_k,q5_k,q6_k,q8_0"
resume="$target --resume"

left() {
    find made -name '.*' | sort
}
clean() {
    rm -rf made
    mkdir made
}
size_of() {
    wc -c <"$1"
}
# has_read: bytes, by the JSON of the last run.
has_read() {
    sed -n 's/.*"bytes_read":\([0-9]*\).*/\1/p' printed
}
# same: the last run has written what one without a stop writes.
same() {
    cmp made/o.gguf whole.gguf && [ -z "$(left)" ]
}

clean
"$modelfile" $target --json >printed 2>said || cat said
mv made/o.gguf whole.gguf
all=$(has_read)
data=$(size_of in.gguf)
check "one run reads all rows twice" [ "$all" -gt $((2 * data)) ]

# ---- killed

# Each go begins where the one before was killed, on more threads.
measuring() {
    clean
    before=0 threads=1
    for read in 1500 3000 2000 900; do
        stop KILL READ=$read $resume --threads $threads
        threads=$((threads + 1))
        [ $code -eq 137 ] || return
        now=$(size_of $measured)
        echo "$now bytes are kept"
        [ "$now" -gt "$before" ] && [ ! -e made/.o.gguf.partial ] || return
        before=$now
    done
    "$modelfile" $resume --json >printed 2>said || return
    echo "read $(has_read) bytes, not $all"
    [ "$(has_read)" -lt $((all * 3 / 4)) ] && same
}
check "killed while it measures" measuring 2>/dev/null

writing() {
    clean
    stop KILL WRITE=20 $resume
    [ $code -eq 137 ] && [ -e made/.o.gguf.partial ] || return
    "$modelfile" $resume --json >printed 2>said || return
    echo "read $(has_read) bytes, of $data"
    [ "$(has_read)" -lt $((data * 5 / 4)) ] && same
}
check "killed while it writes: nothing is measured again" writing 2>/dev/null

says_so() {
    clean
    stop TERM READ=4000 $resume --json
    [ $code -eq 143 ] && grep -q 'interrupted; the work so far is kept' said &&
        [ "$(left)" = $measured ] || return
    stop TERM WRITE=1 $resume --json
    [ $code -eq 143 ] && grep -q 'interrupted; the work so far is kept' said &&
        [ "$(left)" = $measured ] || return
    clean
    stop TERM READ=50 $resume
    [ $code -eq 143 ] && ! grep -q kept said && [ -z "$(left)" ]
}
check "a signal: what is kept is said, and nothing is left of nothing" \
    says_so 2>/dev/null

sampled() {
    clean
    sample="quantize in.gguf made/o.gguf --target-bpw 4.5 --resume"
    "$modelfile" $sample -q >printed 2>said && mv made/o.gguf sample.gguf &&
        [ -z "$(left)" ] || return
    stop KILL READ=500 $sample
    [ $code -eq 137 ] && [ -s $measured ] &&
        "$modelfile" $sample -q >printed 2>said && cmp made/o.gguf sample.gguf &&
        [ -z "$(left)" ]
}
check "a sample of the rows, all types, no matrix" sampled 2>/dev/null

# Errors do not depend on the size.
other_size() {
    clean
    expect 2 "the errors are kept for another size" $resume --target-size 1000 &&
        [ "$(left)" = $measured ] || return
    "$modelfile" $resume --json >printed 2>said && same || return
    echo "read $(has_read) bytes, of $data"
    [ "$(has_read)" -lt $((data * 5 / 4)) ]
}
check "a size that is refused keeps them for another" other_size

at_once() {
    clean
    : >said
    ENDLESS_READ=4000 "$endless" $resume >printed 2>said &
    child=$!
    gets_there
    expect 4 "another process is writing 'made/o.gguf'" $resume
    got=$?
    kill -KILL $child
    wait $child
    [ $got -eq 0 ] && "$modelfile" $resume -q >printed 2>said && same
}
check "two at once: the second is refused" at_once 2>/dev/null

there_already() {
    clean
    echo here >made/o.gguf
    "$modelfile" $resume --json >printed 2>said
    [ $? -eq 4 ] && grep -q 'already exists; use --force' said &&
        [ "$(has_read)" -lt $((data / 4)) ] && [ -z "$(left)" ] &&
        "$modelfile" $resume --force -q >printed 2>said && same
}
check "a file that is there is refused before anything is measured" there_already

# ---- what does not fit

clean
stop KILL READ=6000 $resume 2>/dev/null
cp -p $measured kept

restore() {
    clean
    cp -p kept $measured
}
# refused WORDS [ARGUMENT...]: with these words, and nothing changes; --force
# starts again.
refused() {
    words=$1
    shift
    cksum $measured >before
    expect 4 "$words" ${*:-$resume} --no-sandbox && cksum $measured >after &&
        cmp before after && [ "$(left)" = $measured ] &&
        "$modelfile" ${*:-$resume} --force -q >printed 2>said &&
        [ -z "$(left)" ] && { [ $# -gt 0 ] || same; }
}

# Any byte that is another makes it refused, or is in a record that is
# incomplete.
flipped() {
    size=$(size_of kept)
    at=0
    while [ $at -lt "$size" ]; do
        restore
        byte=$(od -An -tu1 -j $at -N 1 kept)
        printf "\\$(printf %o $((byte ^ 16)))" |
            dd of=$measured bs=1 seek=$at conv=notrunc 2>/dev/null
        "$modelfile" $resume -q >printed 2>said
        got=$?
        if [ $got -ne 4 ] || [ -e made/o.gguf ] ||
            ! grep -q 'is damaged; --force\|not made by this' said; then
            echo "byte $at: exit code $got"
            cat said
            return 1
        fi
        at=$((at + 61))
    done
}
check "a changed byte" flipped

cut() {
    size=$(size_of kept)
    for less in 1 7 100 $((size / 2)) $((size - 260)) $((size - 100)) \
        $((size - 3)) "$size"; do
        restore
        truncate -s $((size - less)) $measured
        "$modelfile" $resume -q >printed 2>said && same || {
            cat said
            return 1
        }
    done
}
check "one that is cut: the rest is measured again" cut

zeros() {
    restore
    truncate -s $(($(size_of kept) / 2)) $measured
    truncate -s "$(size_of kept)" $measured
    "$modelfile" $resume -q >printed 2>said && same
}
check "one that ends in zeros, as after a power failure" zeros

foreign() {
    echo "Words of a user who has a file of that name." >$measured
}
check "another file of that name" tampered "is damaged" foreign
few() {
    echo words >$measured
}
check "a short one" tampered "was not made by this program" few
work_log() {
    "$build/tests/filled" f16 160 long.gguf &&
        stop KILL WRITE=700 quantize long.gguf made/o.gguf Q8_0 --resume &&
        rm made/.o.gguf.partial && mv made/.o.gguf.resume $measured
}
check "the log of an output" tampered "was not made by this program" work_log
relink() {
    mv $measured elsewhere && ln -s "$dir/elsewhere" $measured
}
check "a symbolic link" tampered "is a symbolic link" relink
check "others may read it" tampered "permissions" chmod 644 $measured

# The same tensors, with other bits of errors: of two logs.
mixed() {
    clean
    stop KILL READ=6000 $(echo "$resume" | sed 's/in\.dat/other.dat/')
    head=$((8 * (3 + 17 + 1)))
    [ "$(size_of kept)" -eq "$(size_of $measured)" ] || return
    head -c "$head" kept >mixed && tail -c +$((head + 1)) $measured >>mixed
    cat mixed >$measured
}
check "the beginning of one log and the rest of another" tampered \
    "does not fit" mixed 2>/dev/null

restore
check "another matrix" refused "importance matrix is not the one" $resume \
    --imatrix other.dat
restore
check "other types" refused "with other options" $resume --types q4_k,q8_0
restore
check "other rows" refused "with other options" quantize in.gguf made/o.gguf \
    --imatrix in.dat --target-size 2500000 --resume \
    --types q3_k,q4_k,q5_k,q6_k,q8_0
restore
check "other metadata" refused "with other options" $resume \
    --override-kv general.name=str:x
restore
check "another model" refused "input is not the one" \
    $(echo "$resume" | sed 's/in\.gguf/other.gguf/')

# Its data was changed, and its time set back.
touched() {
    cp -p in.gguf kept.gguf
    restore
    dd if=kept.gguf of=in.gguf bs=1000 skip=1000 seek=100 count=60 \
        conv=notrunc 2>/dev/null
    touch -r kept.gguf in.gguf
    "$modelfile" $resume -q --save-recipe again >printed 2>said &&
        mv made/o.gguf again.gguf && [ -z "$(left)" ] &&
        "$modelfile" $target -q --save-recipe fresh >printed 2>said &&
        cmp again.json fresh.json && cmp made/o.gguf again.gguf &&
        ! cmp -s made/o.gguf whole.gguf
    got=$?
    cp -p kept.gguf in.gguf
    return $got
}
check "an input that was touched: it is measured again" touched

# ---- without --resume

named() {
    restore
    "$modelfile" $target -q >printed 2>said &&
        grep -q "'.o.gguf.measured' in its folder belongs to stopped work" said &&
        cmp made/o.gguf whole.gguf && cmp kept $measured
}
check "what is left is named, and not used" named

finish
