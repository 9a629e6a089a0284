#!/bin/sh
# SPDX-License-Identifier: MIT
#
# parts.t - outputs that are written in parts, and joined, are as one run writes them
#
# PARTS_SCHEDULES sets how many random schedules of seven parts there are.  Parts are
# stopped in a write of a known number (tests/programs/endless.c), or at a random moment.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh
. tests/lib-stop.sh

filled=$build/tests/filled
page=$PWD/docs/machines.md
schedules=${PARTS_SCHEDULES:-${QUICK:+10}}
schedules=${schedules:-50}
cd "$dir" || exit 1
"$filled" f16 3 in.gguf
"$filled" f16 20 long.gguf
"$filled" q8_0 3 blocks.gguf
"$modelfile" split --quiet --max-tensors 3 in.gguf shards >said
"$modelfile" convert --quiet in.gguf in.apr >said

clean() {
    rm -rf out
    mkdir out
}

# left: hidden files next to the outputs.
left() {
    find out -name '.*' ! -type d | sort
}

# quiet ARGUMENT...: what it says is shown if it fails.
quiet() {
    "$modelfile" --quiet "$@" >printed 2>said && return
    got=$?
    cat printed said
    return $got
}

# part I N COMMAND...
part() {
    number=$1
    of=$2
    shift 2
    quiet "$@" --part "$number/$of"
}

# finishes FILE: and nothing but the outputs is left.
finishes() {
    quiet finish "$1" && [ -z "$(left)" ]
}

# check_stop NAME COMMAND...: what needs parts that are stopped in a known call.
check_stop() {
    if [ -x "$endless" ]; then
        check "$@"
    else
        skip "$1" "modelfile-endless is not built, as with sanitizers"
    fi
}

# ---- the same files

# joins OUT COMMAND...: whatever the number of parts, in any order.
joins() {
    file=$1
    shift
    clean
    quiet "$@" || return
    rm -rf whole
    mv out whole
    for n in 1 2 3 7 40; do
        clean
        for i in $(seq $((n / 2)) -1 1) $(seq $n -1 $((n / 2 + 1))); do
            part "$i" $n "$@" --threads $((i % 3 + 1)) || return
        done
        [ -z "$(find out -type f ! -name '.*')" ] || return
        finishes "$file" && diff -r whole out || return
    done
}

# matrix NUMBERS: of t3.weight, 256 columns, as llama-imatrix wrote it.
matrix() {
    printf '\001\000\000\000\011\000\000\000t3.weight'
    printf '\001\000\000\000'
    # shellcheck disable=SC2059 # escapes are meant
    printf "$(printf '\\%03o\\%03o\\000\\000' $((columns % 256)) $((columns / 256)))"
    awk -v number="$1" -v columns="$columns" \
        'BEGIN { for (i = 0; i < columns; i++) printf number }'
}
columns=$("$modelfile" tensors --quiet --json in.gguf |
    sed 's/.*"name":"t3.weight"[^[]*\[\([0-9]*\).*/\1/')
matrix '@?@@' >one.dat

check "quantize" joins out/o.gguf quantize in.gguf out/o.gguf Q6_K
check "quantize with an importance matrix" joins out/o.gguf \
    quantize in.gguf out/o.gguf Q4_0 --imatrix one.dat --report
check "quantize with all searches" joins out/o.gguf \
    quantize in.gguf out/o.gguf Q4_K --effort 2
check "quantize to a type with one scale" joins out/o.apr \
    quantize in.gguf out/o.apr apr_q8
check "quantize shards" joins out/o.gguf \
    quantize shards-00001-of-00003.gguf out/o.gguf Q8_0 --keep-split
check "convert to APR, with its checksum" joins out/o.apr convert in.gguf out/o.apr
check "convert from APR, with its checksum" joins out/o.apr \
    convert in.apr out/o.apr --type bf16
check "convert to shards with an index" joins out/o.safetensors \
    convert in.gguf out/o.safetensors --shard-size 700K --type bf16
check "a copy" joins out/o.gguf convert in.gguf out/o.gguf
check "dequantize" joins out/o.gguf dequantize blocks.gguf out/o.gguf
check "split" joins out/o.gguf split in.gguf out/o.gguf --max-tensors 2
check "merge" joins out/o.apr merge shards-00001-of-00003.gguf out/o.apr
check "a folder of Hugging Face" joins out/o.gguf \
    convert "$fixtures/good-hf-llama" out/o.gguf
check "a model without tensors" joins out/o.apr \
    convert "$fixtures/good-empty.apr" out/o.apr

# 6000 tensors of 1 KiB, of which several are moved at once.
small() {
    header=$(awk 'BEGIN { for (i = 0; i < 6000; i++)
        printf "%s\"t%d\":{\"dtype\":\"F32\",\"shape\":[256],\"data_offsets\":[%d,%d]}",
            (i > 0 ? "," : "{"), i, 1024 * i, 1024 * (i + 1); print "}" }')
    size=${#header}
    # shellcheck disable=SC2059 # escapes are meant
    printf "$(printf '\\%03o\\%03o\\%03o\\000\\000\\000\\000\\000' \
        $((size % 256)) $((size / 256 % 256)) $((size / 65536)))"
    printf '%s' "$header"
    seq 2000000 | head -c 6144000
}
small >small.safetensors 2>said
check "many small tensors" joins out/o.gguf \
    convert small.safetensors out/o.gguf --names keep
check "big-endian" joins out/o.gguf \
    quantize in.gguf out/o.gguf Q8_0 --endian big

# Memory is short in each part, and the list of pieces with it.
little_memory() {
    clean
    quiet quantize in.gguf out/o.gguf Q6_K || return
    mv out/o.gguf whole.gguf
    for i in 2 3 1; do
        part $i 3 quantize in.gguf out/o.gguf Q6_K \
            --max-memory "$((300 + 100 * i))K" || return
    done
    finishes out/o.gguf && cmp whole.gguf out/o.gguf
}
check "little memory, different in each part" little_memory

# ---- as docs/machines.md has it

# The command of a pod, whose index begins at 0.
pods() {
    pod=$(sed -n 's/^ *- \(exec modelfile quantize .*\)$/\1/p' "$page")
    [ -n "$pod" ] || return
    clean
    mkdir out/bin
    ln -s "$modelfile" out/bin/modelfile
    for index in $(seq 0 15); do
        (cd out && ln -sf ../in.gguf . && PATH=$dir/out/bin:$PATH \
            JOB_COMPLETION_INDEX=$index sh -c "$pod") >printed 2>said || {
            cat said
            return 1
        }
    done
    quiet quantize in.gguf whole.gguf Q4_K_M --force &&
        finishes out/out.gguf && cmp whole.gguf out/out.gguf
}
check "an indexed job of Kubernetes" pods

# ---- the report

# errors FILE: of types, as --json has them.
errors() {
    sed 's/.*"types"/"types"/; s/,"run".*//; s/}}.*/}}/' "$1"
}

reports() {
    first=
    for n in 1 2 3 7; do
        clean
        for i in $(seq 1 $n); do
            part "$i" $n quantize in.gguf out/o.gguf Q4_K --report || return
        done
        "$modelfile" finish --report --json out/o.gguf >joined.json 2>said ||
            return
        : "${first:=$(errors joined.json)}"
        [ "$(errors joined.json)" = "$first" ] || {
            echo "$first"
            errors joined.json
            return 1
        }
    done
    clean
    "$modelfile" quantize in.gguf out/o.gguf Q4_K --report --json >whole.json \
        2>said
    for member in measured rmse max_error cosine; do
        a=$(sed "s/.*\"$member\":\([0-9.e-]*\).*/\1/" whole.json)
        b=$(sed "s/.*\"$member\":\([0-9.e-]*\).*/\1/" joined.json)
        awk -v a="$a" -v b="$b" \
            'BEGIN { exit !(a > 0 && (a - b) ^ 2 <= (1e-12 * a) ^ 2) }' || {
            echo "$member: $a, in parts $b"
            return 1
        }
    done
}
check "--report: the same for any number of parts, and as one run has it" reports

# ---- what is missing

quantizes="quantize in.gguf out/o.gguf Q8_0"
# An output of 165 units.
takes="quantize long.gguf out/o.gguf Q8_0"
quiet quantize in.gguf q8.gguf Q8_0
quiet quantize long.gguf long8.gguf Q8_0

# misses CODE WORDS: finish fails so.
misses() {
    "$modelfile" finish out/o.gguf >printed 2>said
    got=$?
    [ $got -eq "$1" ] && grep -q "$2" said && [ ! -e out/o.gguf ] && return
    echo "exit code $got"
    cat printed said
    return 1
}

missing() {
    clean
    for i in 1 2 4 5 6; do
        part $i 7 $quantizes || return
    done
    misses 1 "parts 3 and 7 of 'out/o.gguf' have not finished: run them again" &&
        [ "$(cat printed)" = 3,7 ] || return
    "$modelfile" finish --json out/o.gguf >printed 2>said
    grep -q '"missing":\[{"part":3,"begun":false,"at_work":false,"unsound":false,"units":0,"bytes":0},{"part":7,' printed &&
        grep -q '"parts":7,"finished":5,"attempts":5,' printed &&
        grep -q '"written":false' printed || {
        cat printed
        return 1
    }
    part 7 7 $quantizes &&
        misses 1 "part 3 of 'out/o.gguf' has not finished: run it again" &&
        part 3 7 $quantizes && finishes out/o.gguf && cmp q8.gguf out/o.gguf
}
check "finish names the parts that are missing" missing

many_missing() {
    clean
    part 20 30 $quantizes &&
        misses 1 "parts 1, 2, 3, 4, 5, 6, 7, 8 and 21 others of"
}
check "many of them" many_missing

nothing() {
    clean
    misses 4 "there are no parts of 'out/o.gguf' to be finished"
}
check "no parts at all" nothing

json_of_part() {
    clean
    "$modelfile" $quantizes --part 2/3 --json >printed 2>said &&
        grep -q '"part":2,"parts":3,"written":false' printed
}
check "--json of a part" json_of_part

# Read as a program would.
json_of_finish() {
    clean
    part 1 1 convert in.gguf out/o.safetensors --shard-size 700K &&
        "$modelfile" finish out/o.safetensors --json >printed 2>said &&
        grep -q '"parts":1,"finished":1,"attempts":1,"units":[0-9]*,"bytes":[0-9]*,"file_count":[2-9],"file_bytes":[0-9]*,"discarded":false,"written":true' printed
}
check "--json of finish" json_of_finish

# ---- stopped in the middle

# goes_on: what is recorded is not written again.
goes_on() {
    clean
    for place in 20 80 80; do
        stop KILL WRITE=$place $takes --part 1/1 --threads 1
        [ $code -eq 137 ] && [ -n "$(left)" ] || {
            echo "WRITE=$place: exit code $code"
            return 1
        }
        misses 1 "part 1 of" || return
    done 2>/dev/null
    "$modelfile" $takes --part 1/1 --json >again.json 2>said || {
        cat said
        return 1
    }
    wrote=$(sed 's/.*"bytes_written":\([0-9]*\).*/\1/' again.json)
    total=$(sed 's/.*"file_bytes":\([0-9]*\).*/\1/' again.json)
    echo "$wrote of $total bytes"
    [ "$wrote" -gt 0 ] && [ "$wrote" -lt $((total * 3 / 4)) ] || return
    "$modelfile" $takes --part 1/1 --json >again.json 2>said &&
        grep -q '"bytes_written":0,' again.json || return
    finishes out/o.gguf && cmp long8.gguf out/o.gguf
}
check_stop "a part that was killed does the rest" goes_on

# Where units end does not depend on which tensors are moved at once.
goes_on_small() {
    clean
    takes_small="convert small.safetensors out/o.gguf --names keep"
    quiet $takes_small && mv out/o.gguf whole.gguf || return
    for place in 60 20; do
        stop KILL WRITE=$place $takes_small --part 1/1 --threads 1
        [ $code -eq 137 ] || return
    done 2>/dev/null
    part 1 1 $takes_small --max-memory 2M && finishes out/o.gguf &&
        cmp whole.gguf out/o.gguf
}
check_stop "of many small tensors" goes_on_small

signalled() {
    clean
    stop TERM WRITE=60 $takes --part 1/2 --threads 1
    [ $code -eq 143 ] && [ -n "$(left)" ] || return
    part 1 2 $takes && part 2 2 $takes && finishes out/o.gguf &&
        cmp long8.gguf out/o.gguf
}
check_stop "a part that got SIGTERM, too" signalled

# An input that was touched may have been changed, and its time set back.
touched() {
    clean
    part 1 1 $takes || return
    chmod u+x long.gguf
    chmod u-x long.gguf
    "$modelfile" $takes --part 1/1 --json >again.json 2>said &&
        ! grep -q '"bytes_written":0,' again.json && finishes out/o.gguf &&
        cmp long8.gguf out/o.gguf
}
check "an input that was touched since: the part is done again" touched

# One call fails; strace may be refused.
fails() {
    clean
    strace -f -qq -o trace -e trace="$1" -e inject="$1:error=$2:when=$3" \
        "$modelfile" --no-sandbox $takes --part 1/1 --threads 1 >printed 2>said
    [ $? -eq 4 ] && misses 1 "part 1 of" && part 1 1 $takes &&
        finishes out/o.gguf && cmp long8.gguf out/o.gguf
}
if strace -f -qq -o trace true 2>/dev/null &&
    ! grep -q __asan_report "$modelfile"; then
    check "EIO when bytes are written" fails pwrite64 EIO 200
    check "ENOSPC" fails pwrite64 ENOSPC 200
    check "EIO when bytes go to the disk" fails fdatasync EIO 3
    # Killed before and after the name of each shard.
    renames() {
        for n in 1 2 3 4; do
            clean
            part 1 1 split in.gguf out/o.gguf --max-tensors 2 || return
            strace -f -qq -o trace -e trace=renameat2 \
                -e inject=renameat2:signal=KILL:when=$n "$modelfile" \
                --no-sandbox finish out/o.gguf >said 2>&1
            [ -n "$(left)" ] && finishes out/o.gguf && diff -r shards out ||
                return
        done
    }
    quiet split in.gguf whole.gguf --max-tensors 2
    rm -rf shards
    mkdir shards
    for i in whole-*; do
        mv "$i" "shards/o${i#whole}"
    done
    check "finish, killed between the names of shards" renames
else
    for name in "EIO when bytes are written" "ENOSPC" \
        "EIO when bytes go to the disk" \
        "finish, killed between the names of shards"; do
        skip "$name" "strace is not there or refused, or sanitizers"
    done
fi

# ---- at the same time

# The part is in its write, and stays there.
begin_part() {
    : >said
    ENDLESS_WRITE=60 "$endless" $takes --part 1/1 --threads 1 >printed 2>said &
    child=$!
    gets_there
}

end_part() {
    kill -KILL $child
    wait $child 2>/dev/null
}

at_work() {
    clean
    begin_part
    misses 1 "part 1 of 'out/o.gguf' is at work"
    first=$?
    "$modelfile" finish --discard out/o.gguf >discard 2>&1
    second=$?
    # Twice at once: the second one does all that the first has not recorded.
    part 1 1 $takes && misses 1 "a part of 'out/o.gguf' is at work"
    double=$?
    end_part
    [ $first -eq 0 ] && [ $second -eq 1 ] && [ $double -eq 0 ] &&
        grep -q "at work" discard && finishes out/o.gguf &&
        cmp long8.gguf out/o.gguf
}
check_stop "finish is refused while a part is written" at_work 2>/dev/null

# Two at once, many times: one of them has it.
two_finish() {
    for _ in $(seq 10); do
        clean
        part 1 1 $quantizes || return
        "$modelfile" finish out/o.gguf >one 2>&1 &
        child=$!
        "$modelfile" finish out/o.gguf >two 2>&1
        second=$?
        wait $child
        first=$?
        [ $((first * second)) -eq 0 ] && [ $((first + second)) -eq 4 ] &&
            grep -q "is finishing\|no parts of\|is missing" one two &&
            cmp q8.gguf out/o.gguf && [ -z "$(left)" ] || {
            echo "exit codes $first and $second"
            cat one two
            return 1
        }
    done
}
check "two finish at once: one of them does" two_finish

finishing() {
    clean
    part 1 1 $quantizes || return
    ENDLESS_SYNC=1 "$endless" finish out/o.gguf >printed 2>said &
    child=$!
    gets_there
    "$modelfile" finish out/o.gguf >second 2>&1
    got=$?
    "$modelfile" $quantizes --part 1/1 >third 2>&1
    again=$?
    end_part
    [ $got -eq 4 ] && [ $again -eq 4 ] &&
        grep -q "another process is finishing 'out/o.gguf'" second &&
        grep -q "another process is finishing 'out/o.gguf'" third &&
        finishes out/o.gguf && cmp q8.gguf out/o.gguf
}
check_stop "a finish that was killed, and what it held off" finishing 2>/dev/null

# ---- what does not fit

# unfit WORDS ARGUMENT...: this part is refused, and changes nothing.
unfit() {
    words=$1
    shift
    find out -type f -exec cksum {} + | sort >before
    "$modelfile" --json "$@" >printed 2>said
    got=$?
    find out -type f -exec cksum {} + | sort >after
    [ $got -eq 4 ] && grep -q "$words" said && cmp before after && return
    echo "exit code $got"
    cat said
    return 1
}
begun() {
    clean
    part 1 3 $quantizes
}

other() {
    begun && unfit "$@" && part 2 3 $quantizes && part 3 3 $quantizes &&
        finishes out/o.gguf && cmp q8.gguf out/o.gguf
}
check "another type" other "begun with other options" \
    quantize in.gguf out/o.gguf Q5_0 --part 2/3
check "another report" other "begun with other options" \
    $quantizes --report --part 2/3
check "another number of parts" other \
    "it was begun in 3 parts, this is one of 4" $quantizes --part 2/4
check "leave to replace files" other "some may replace files" \
    $quantizes --force --part 2/3
cp in.gguf other.gguf
touch -d '2001-01-01' other.gguf
check "another input" other "the input is not the one it was begun with" \
    quantize other.gguf out/o.gguf Q8_0 --part 2/3
check "the same part of another input" other \
    "the input is not the one it was begun with" \
    quantize other.gguf out/o.gguf Q8_0 --part 1/3

other_matrix() {
    weighs="quantize in.gguf out/o.gguf Q4_0 --imatrix one.dat"
    clean
    part 1 2 $weighs || return
    unfit "other options" $weighs --include-weights t --part 2/2 || return
    matrix '@?A@' >one.dat
    unfit "the importance matrix is not the one" $weighs --part 2/2
}
check "another importance matrix" other_matrix

# Written to while a part reads it: what was made of it is not kept.
changed_input() {
    clean
    cp in.gguf changes.gguf
    ENDLESS_WRITE=3 ENDLESS_RUN="touch changes.gguf" "$endless" \
        --no-sandbox quantize changes.gguf out/o.gguf Q8_0 --part 1/1 \
        --threads 1 >printed 2>said
    [ $? -eq 3 ] && grep -q "was written to" said && [ -z "$(find out -name '*.part-*')" ]
}
check_stop "an input that changes while it is read" changed_input

exists() {
    begun
    echo here >out/o.gguf
    unfit "already exists" $quantizes --part 2/3 &&
        [ "$(cat out/o.gguf)" = here ] && rm out/o.gguf || return
    part 2 3 $quantizes && part 3 3 $quantizes || return
    echo here >out/o.gguf
    unfit "already exists" finish out/o.gguf
}
check "a file that was put there since" exists

forced() {
    clean
    echo old >out/o.gguf
    chmod 640 out/o.gguf
    for i in 1 2; do
        part $i 2 $quantizes --force || return
    done
    [ "$(cat out/o.gguf)" = old ] && finishes out/o.gguf &&
        cmp q8.gguf out/o.gguf && [ "$(stat -c %a out/o.gguf)" = 640 ] || return
    clean
    echo old >out/o.gguf
    part 1 1 $quantizes --force || return
    echo newer >out/.new
    mv out/.new out/o.gguf
    unfit "already exists" finish out/o.gguf
}
check "--force: the file that was there is replaced, and no other" forced

modes() {
    clean
    (umask 077 && part 1 2 $quantizes) && (umask 0 && part 2 2 $quantizes) &&
        [ "$(stat -c %a out/.o.gguf.parts)" = 600 ] &&
        (umask 027 && finishes out/o.gguf) &&
        [ "$(stat -c %a out/o.gguf)" = 640 ]
}
check "masks of modes: finish decides" modes

linked() {
    clean
    mkdir out/there
    ln -s there/real.gguf out/o.gguf
    part 1 2 $quantizes && part 2 2 $quantizes && quiet finish out/o.gguf &&
        cmp q8.gguf out/there/real.gguf && [ -L out/o.gguf ] &&
        [ -z "$(left)" ]
}
check "a symbolic link to the output" linked

discards() {
    clean
    part 1 2 convert in.gguf out/o.safetensors --shard-size 700K || return
    echo other >out/.o.safetensors.part-1-of-2
    "$modelfile" finish --discard --json out/o.safetensors >printed 2>said &&
        grep -q '"discarded":true' printed &&
        [ "$(left)" = out/.o.safetensors.part-1-of-2 ] || return
    "$modelfile" finish --discard out/o.safetensors >said 2>&1
    [ $? -eq 4 ] && grep -q "no parts of" said
}
check "--discard removes what was begun, and nothing else" discards

# ---- what is changed

folder() {
    rm "$1" && mkdir "$1"
}

unsound() {
    clean
    for i in 1 2 3; do
        part $i 3 $quantizes || return
    done
    flip out/.o.gguf.parts 1000000
    misses 1 "part 2 of 'out/o.gguf' did not write what is there: run it again" &&
        [ "$(cat printed)" = 2 ] && part 2 3 $quantizes &&
        finishes out/o.gguf && cmp q8.gguf out/o.gguf
}
check "bytes that are not those that were written" unsound

# tampers WORDS COMMAND FILE ...: a part and finish are refused.
tampers() {
    words=$1
    shift
    clean
    part 1 1 $takes || return
    # shellcheck disable=SC2046 # one name
    "$1" $(eval echo "$2") ${3:+"$3"} || return
    unfit "$words" finish out/o.gguf && unfit "$words" $takes --part 1/1 &&
        [ ! -e out/o.gguf ]
}
partial=out/.o.gguf.parts
log='out/.o.gguf.part-*'
check "a common file that is too long" tampers "another size" \
    cut_to $partial 90000000
check "a log that is damaged" tampers "is damaged" flip "$log" 300
for file in $partial "$log"; do
    name=${file#out/.o.gguf}
    check "$name: a symbolic link" tampers "is a symbolic link" relink "$file"
    check "$name: another name" tampers "has another name" hard "$file"
    check "$name: a pipe" tampers "is not a regular file" pipe "$file"
    check "$name: a folder" tampers "is not a regular file" folder "$file"
    if [ "$(id -u)" -eq 0 ]; then
        owned() {
            chown 12345 "$1"
        }
        check "$name: of another user" tampers "belongs to another user" \
            owned "$file"
    else
        skip "$name: of another user" "only root can give files away"
    fi
done
rm -f other-name elsewhere
readable() {
    chmod 644 "$1"
}
check "a log that others may read" tampers "permissions" readable "$log"

# A kill left the file too short, or without bytes: it is filled.
too_short() {
    clean
    : >$partial
    chmod 600 $partial
    part 1 2 $quantizes && part 2 2 $quantizes && finishes out/o.gguf &&
        cmp q8.gguf out/o.gguf || return
    clean
    part 1 2 $quantizes && part 2 2 $quantizes && cut_to $partial 70000 &&
        misses 4 "has another size than was planned" && part 1 2 $quantizes &&
        misses 1 "did not write what is there" || return
    part 1 2 $quantizes && part 2 2 $quantizes && finishes out/o.gguf &&
        cmp q8.gguf out/o.gguf
}
check "a common file that is too short" too_short

cut_log() {
    clean
    part 1 1 $takes || return
    rm -rf kept
    cp -rp out kept
    size=$(cat out/.o.gguf.part-* | wc -c)
    for less in 1 40 200 $((size - 3000)) $((size - 300)) "$size"; do
        rm -rf out
        cp -rp kept out
        truncate -s $((size - less)) out/.o.gguf.part-*
        part 1 1 $takes && finishes out/o.gguf && cmp long8.gguf out/o.gguf ||
            return
    done
}
check "a log that is cut: the rest is done again" cut_log

# Another user may not even look.
others() {
    clean
    chmod 777 "$dir" out
    part 1 2 $quantizes || return
    for command in "$quantizes --part 2/2" "finish out/o.gguf" \
        "finish --discard out/o.gguf"; do
        setpriv --reuid 12345 --clear-groups "$modelfile" --no-sandbox \
            $command >said 2>&1
        got=$?
        [ $got -eq 4 ] && grep -q "belongs to another user" said || {
            echo "$command: exit code $got"
            cat said
            return 1
        }
    done
    part 2 2 $quantizes && finishes out/o.gguf && cmp q8.gguf out/o.gguf
}
if [ "$(id -u)" -eq 0 ] &&
    setpriv --reuid 12345 --clear-groups "$modelfile" version >said 2>&1; then
    check "another user is refused" others
else
    skip "another user is refused" "only root can become another user"
fi

full_disk() {
    clean
    mount -t tmpfs -o size=2m none out || return 77
    "$modelfile" convert long.gguf out/o.apr --part 1/2 >said 2>&1
    got=$?
    left >remains
    umount out
    [ $got -eq 4 ] && grep -q "bytes" said && [ ! -s remains ] && return
    echo "exit code $got"
    cat said remains
    return 1
}
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs none out 2>/dev/null; then
    umount out
    check "no space to begin with: nothing is left" full_disk
else
    skip "no space to begin with: nothing is left" "tmpfs cannot be mounted"
fi

# ---- what cannot be done in parts

# usage WORDS ARGUMENT...
usage() {
    words=$1
    shift
    clean
    "$modelfile" "$@" >said 2>&1
    got=$?
    [ $got -eq 2 ] && grep -qe "$words" said && [ -z "$(left)" ] && return
    echo "exit code $got"
    cat said
    return 1
}
for wrong in 0/3 4/3 1 1/0 /3 3/ 1/3/4 x/3 1/70000; do
    check "--part $wrong" usage "part" $quantizes --part $wrong
done
check "standard output" usage "requires a file as OUT" \
    quantize in.gguf - Q8_0 --part 1/2
check "with --resume" usage "cannot both be given" $quantizes --part 1/2 --resume
check "with --dry-run" usage "cannot both be given" \
    $quantizes --part 1/2 --dry-run
check "several outputs" usage "'--part' and '--output' cannot both be given" \
    quantize in.gguf --output Q8_0=out/a.gguf --output Q6_K=out/b.gguf --part 1/2
check "types for a size" usage "chooses the types for all parts" \
    quantize in.gguf out/o.gguf --target-size 1M --part 1/2
check "a folder" usage "a folder cannot be written in parts" \
    convert "$fixtures/good-llama.gguf" out/o/ --part 1/2
check "with --delete-inputs" usage "cannot both be given" \
    merge shards-00001-of-00003.gguf out/o.gguf --delete-inputs --part 1/2
check "importance matrices" usage "'--part' is for shards of a model" \
    merge "$fixtures/good-imatrix.dat" out/o.gguf --part 1/2
check "changes in place" usage "unknown option" \
    meta set in.gguf general.name=x --part 1/2
check "finish of standard output" usage "has no parts" finish -
check "finish --discard --report" usage "cannot both be given" \
    finish --discard --report out/o.gguf

# ---- random schedules

# roll N: a number below N.
roll() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    rolled=$((seed / 65536 % $1))
}

# One attempt at a part: some are killed, some while the next one runs.
attempt() {
    roll 4
    how=$rolled
    roll 3
    set -- "$modelfile" $takes --part "$1/7" --threads $((rolled + 1))
    roll 40
    case $how in
    0) (umask 0$((rolled % 8))$((rolled % 5)) && exec timeout -s KILL \
        "0.0$((rolled / 20))$((rolled % 20 / 2))" "$@") >said 2>&1 ;;
    1) (exec "$@") >"beside$rolled" 2>&1 & ;;
    *) "$@" >said 2>&1 || cat said ;;
    esac
}

schedule() {
    clean
    roll 14
    for _ in $(seq $rolled); do
        roll 7
        attempt $((rolled + 1))
    done
    again=$(seq 7 | awk -v seed="$seed" 'BEGIN { srand(seed) }
        { print rand(), $1 }' | sort | awk '{ print $2 }')
    for number in $again; do
        attempt "$number"
    done
    wait
    for _ in $(seq 20); do
        "$modelfile" finish out/o.gguf >printed 2>said && break
        # One that was killed may not have ended yet.
        grep -q "have not finished\|has not finished\|at work" said || return
        sleep 0.01
        for number in $(tr , ' ' <printed); do
            again_count=$((again_count + 1))
            attempt "$number"
        done
        wait
    done
    cmp long8.gguf out/o.gguf && [ -z "$(left)" ]
}

schedules_fit() {
    seed=${PARTS_SEED:-4711}
    again_count=0
    for round in $(seq "$schedules"); do
        before=$seed
        schedule || {
            echo "schedule $round, PARTS_SEED=$before"
            cat said
            left
            return 1
        }
    done 2>/dev/null
    echo "$schedules schedules, $again_count parts had to run again"
    [ $again_count -gt 0 ]
}
check "$schedules random schedules of 7 parts" schedules_fit

finish
