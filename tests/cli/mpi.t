#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mpi.t - several ranks write the file of one process, and say what it says
#
#     RANKS="1 2 3 5" MIXES=all MPI_KILLS=100 MEMCHECK=1 sh tests/cli/mpi.t
#
# With OpenMPI and MPICH, of which each may be missing.  MPI_KILLS says how many
# runs are killed at a random moment (5), MIXES which mixes are written (one of
# each family), MEMCHECK that valgrind looks on; make check-mpi does all of it.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

ranks=${RANKS:-3}
mixes=${MIXES:-Q4_K_M Q8_0 Q6_K TQ2_0 IQ4_XS IQ2_XS IQ1_M IQ3_S F16 BF16}
[ "$mixes" != all ] ||
    mixes=$(sed -n 's/^MIX(\([A-Z0-9_]*\),.*/\1/p' lib/quantize/mix.def)
kills=${MPI_KILLS:-${QUICK:+3}}
kills=${kills:-5}
top=$PWD
filled=$build/tests/filled

# ---- two implementations ----

# mpirun of Debian's OpenMPI says no to root and to more ranks than processors.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_orte_base_help_aggregate=0

makes() { # MPI
    make -C "$top" BUILD="${BUILD:-build}" CC="${CC:-cc}" MPI=1 \
        MPICC="mpicc.$1" "${BUILD:-build}/mpi/mpicc.$1/modelfile-mpi" \
        >"$dir/make" 2>&1 || { cat "$dir/make"; false; }
}

# mpi COUNT ARGUMENT...: the program in so many processes, of the current $mpi.
mpi() {
    mpi_count=$1
    shift
    timeout 120 "mpirun.$mpi" -n "$mpi_count" \
        "$build/mpi/mpicc.$mpi/modelfile-mpi" "$@" </dev/null
}

cd "$dir" || exit 1
mkdir out one

# ---- the same bytes ----

# What mpirun adds when a rank's exit code is not 0 is not ours.
ours() {
    grep '^modelfile: ' "$1" | sed 's/^modelfile: //'
}

# same OUTPUT COMMAND...: OUT in the command's words stands for a path in the
# folder one, or out; what is written there is the same.
same() {
    result=$1
    shift
    rm -rf one out
    mkdir one out
    # shellcheck disable=SC2046 # words
    "$modelfile" $(echo "$@" | sed 's,OUT,one,g') -q >one.said 2>&1 ||
        { cat one.said; return 1; }
    for count in $ranks; do
        rm -rf out
        mkdir out
        # shellcheck disable=SC2046 # words
        mpi "$count" $(echo "$@" | sed 's,OUT,out,g') -q >out.said 2>&1 ||
            { cat out.said; return 1; }
        diff -r one out || return 1
        sed 's,one/,out/,g' one.said | diff - out.said || return 1
        [ -e "out/$result" ] || { echo "no out/$result"; return 1; }
        [ -z "$(find out -name '.*.tmp')" ] || { ls -la out; return 1; }
    done
}

# says CODE COMMAND...: prints the same, with that exit code.
says() {
    code=$1
    shift
    found=0
    "$modelfile" "$@" >one.said 2>one.error || found=$?
    [ "$found" -eq "$code" ] || { cat one.error; return 1; }
    for count in $ranks; do
        mpi "$count" "$@" >out.said 2>out.error
        found=$?
        [ "$found" -eq "$code" ] ||
            { echo "exit code $found, not $code"; cat out.error; return 1; }
        for file in one out; do
            sed 's/"run": *{.*//' "$file.said" >"$file.less"
        done
        diff one.less out.less || return 1
        ours one.error >one.less
        ours out.error >out.less
        diff one.less out.less || return 1
    done
}

# Importance of the columns of filled's eight tensors, in llama.cpp's old format.
matrix() {
    perl -e 'print pack("l<", 8);
        for my $i (0 .. 7) {
            my $name = "t$i.weight";
            print pack("l< a* l< l<", length $name, $name, 10, 4096);
            print pack("f<4096", map { 1 + ($_ * 7 + $i) % 5 } 0 .. 4095);
        }'
}

models() {
    "$filled" f16 24 big.gguf
    "$filled" f16 400 slow.gguf
    matrix >matrix.dat
    "$modelfile" quantize big.gguf big-q4.gguf Q4_0 -q
    "$modelfile" quantize big.gguf other.gguf Q4_1 -q
    "$modelfile" convert big.gguf big.apr -q
    cp big.gguf copy.gguf
    cp big-q4.gguf damaged.gguf
    printf '~' | dd of=damaged.gguf bs=1 seek=3000000 conv=notrunc
} >/dev/null 2>&1

bytes() {
    big=big.gguf
    for mix in $mixes; do
        check "$mpi: quantize $mix" same a.gguf quantize $big OUT/a.gguf $mix \
            --imatrix matrix.dat
    done
    check "$mpi: with a report" same a.gguf quantize $big OUT/a.gguf Q5_K_M \
        --report
    check "$mpi: --effort 2" same a.gguf quantize $big OUT/a.gguf Q4_0 \
        --effort 2
    check "$mpi: convert to APR" same a.apr convert $big OUT/a.apr
    check "$mpi: one scale for a tensor" same a.apr quantize big.apr \
        OUT/a.apr apr_q8
    check "$mpi: convert to safetensors" same a.safetensors convert $big \
        OUT/a.safetensors
    check "$mpi: to shards" same model.safetensors.index.json convert $big \
        OUT/model.safetensors --shard-size 8M
    check "$mpi: dequantize" same a.gguf dequantize big-q4.gguf OUT/a.gguf
    check "$mpi: split" same a-00001-of-00004.gguf split $big OUT/a.gguf \
        --max-size 8M
    check "$mpi: with an index" same model.gguf merge \
        "$fixtures/good-split-00001-of-00003.gguf" OUT/model.gguf
}

answers() {
    for kind in crc32 xxh3 sha256; do
        check "$mpi: hash, $kind" says 0 hash big.gguf --algo $kind --quiet
    done
    check "$mpi: as llama-gguf-hash" says 0 hash big.gguf --quiet \
        --format llama-gguf-hash
    check "$mpi: equal tensors" says 0 hash big.gguf copy.gguf --duplicates -q
    check "$mpi: validate" says 0 validate --data big.gguf --quiet
    check "$mpi: findings, as JSON" says 1 validate --data --json \
        "$fixtures/bad-data-nan.gguf"
    check "$mpi: stats" says 0 tensors stats big.gguf --json
    check "$mpi: histograms" says 0 tensors stats big.gguf --json --histogram
    check "$mpi: diff" says 1 diff big.gguf other.gguf --values --quiet
    check "$mpi: no difference" says 0 diff big.gguf copy.gguf --values --quiet
    check "$mpi: verify" says 0 verify big-q4.gguf --from big.gguf --quiet
    check "$mpi: of a damaged model" says 1 verify damaged.gguf \
        --from big.gguf --json
    check "$mpi: info" says 0 info big.gguf --quiet
    check "$mpi: an error" says 3 quantize "$fixtures/bad-data-nan.gguf" \
        no.gguf Q8_0 --quiet
    check "$mpi: another" says 3 quantize missing.gguf no.gguf Q8_0
    check "$mpi: wrong usage" says 2 quantize big.gguf
    check "$mpi: an output that exists" says 4 quantize big.gguf other.gguf Q8_0
}

# A gather is measured by all ranks, the rest by the one that prints.
scales() {
    mpi 3 bench --scale --json --threads 1 --ranks 2 >out.said 2>out.error ||
        { cat out.error; return 1; }
    grep -q '"gather_ranks":3,' out.said &&
        grep -Eq '"cost":"gather","seconds":[^,]*[1-9][^,]*,"of":"gather","from":"measured"' \
            out.said && [ "$(wc -l <out.said)" -eq 1 ] || { cat out.said; return 1; }
    mpi 1 bench --scale --json --threads 1 --ranks 2 >out.said 2>&1 &&
        grep -q '"gather_ranks":0,' out.said
}

# ---- many files ----

# logged: the log has each of 600 files once, and the same lines as one process's.
logged() {
    "$modelfile" hash --jobs 1 --log one.log --files-from 600 -q >/dev/null
    sort one.log | diff - log.sorted
}

keeps_log() {
    rm -f one.log ranks.log
    mpi 3 hash --jobs 1 --log ranks.log --files-from 600 -q >/dev/null || return 1
    sort ranks.log >log.sorted
    [ "$(wc -l <ranks.log)" -eq 601 ] && logged &&
        mpi 2 hash --json --log ranks.log --files-from 600 -q >out.said &&
        [ "$(grep -c '"file"' out.said)" -eq 0 ] &&
        grep -q '"files":0,"left_out":600,' out.said
}

# Whatever was printed is in the log, and the rest is done by the next run.
log_goes_on() {
    rm -f one.log ranks.log
    timeout 120 "mpirun.$mpi" -n 3 "$build/mpi/mpicc.$mpi/modelfile-mpi" \
        hash --log ranks.log --files-from 600 >said 2>&1 </dev/null &
    child=$!
    for _ in $(seq 300); do
        [ "$(cat ranks.log 2>/dev/null | wc -l)" -lt 20 ] || break
        sleep 0.01
    done
    ranks_of | sed -n 2p | xargs -r kill -KILL
    over 5 || return 1
    "$modelfile" hash --log ranks.log --files-from 600 -q >/dev/null || return 1
    sort ranks.log >log.sorted
    logged
}

# Rank 1 does not see what rank 0 sees.
sees_others() {
    mkdir -p here there
    echo "$fixtures/good-llama.gguf" >here/list
    for _ in $(seq "$3"); do
        cat here/list
    done >there/list
    rank=$build/mpi/mpicc.$mpi/modelfile-mpi
    found=0
    timeout 60 "mpirun.$mpi" -n 1 -wdir "$PWD/$1" "$rank" info --jobs 1 \
        --files-from list : -n 1 -wdir "$PWD/$2" "$rank" info --jobs 1 \
        --files-from list >said 2>&1 </dev/null || found=$?
    [ "$found" -eq 3 ] &&
        grep 'rank 1 found other files than rank 0: the answer is not complete' \
            said
}

# As a run that was killed may leave it: its last line counts as missing.
cut_log() {
    rm -f one.log ranks.log
    head -n 20 600 >20
    "$modelfile" hash --log ranks.log --files-from 20 -q >/dev/null || return 1
    truncate -s -5 ranks.log
    mpi 3 hash --log ranks.log --files-from 20 --json -q >out.said || return 1
    [ "$(wc -l <ranks.log)" -eq 21 ] &&
        grep -q '"files":1,"left_out":19,' out.said
}

# The log stays locked when it is one of the files.
locked_log() {
    rm -f ranks.log held
    mkfifo held
    { echo ranks.log; cat 600 600 600 600; } >with-log
    mpi 2 info --log ranks.log --files-from with-log >held 2>/dev/null &
    {
        head -n 1
        found=0
        "$modelfile" info --log ranks.log big.gguf -q >said 2>&1 || found=$?
        cat
    } <held >/dev/null
    wait
    rm held
    [ "$found" -eq 4 ] && grep 'another run uses it' said
}

# Rank 0 alone opens the log for writing.
no_log() {
    found=0
    mpi 3 info --log missing/log --files-from 600 >said 2>&1 || found=$?
    [ "$found" -eq 4 ] && grep 'missing/log: No such file or directory' said &&
        ! grep 'all ranks end' said
}

# Others do not take rank 0 for dead while it waits for its reader.
slow_reader() {
    for _ in 1 2 3 4 5 6 7 8; do
        cat list
    done >long
    mpi 3 tensors info --json --jobs 1 --rank-timeout 1 -q --files-from long \
        2>said | { sleep 4; wc -l; } >lines
    [ "$(cat lines)" -eq $(($(wc -l <long) + 1)) ] ||
        { cat lines said; return 1; }
}

refused() { # TEXT ARGUMENT...
    text=$1
    shift
    found=0
    mpi 2 "$@" >said 2>&1 || found=$?
    [ "$found" -eq 2 ] && grep -e "$text" said
}

many() {
    for f in "$fixtures"/*; do
        echo "$f"
    done >list
    for _ in $(seq 600); do
        echo "$fixtures/good-llama.gguf"
    done >same
    # 600 names, so that the log tells them apart
    [ -d six ] || {
        mkdir six
        for i in $(seq 600); do
            cp "$fixtures/good-llama.gguf" "six/$i.gguf"
        done
    }
    find six -name '*.gguf' >600
    check "$mpi: validate, many files" says 3 validate --data --jobs 1 -q \
        --files-from list
    check "$mpi: as JSON" says 3 validate --jobs 1 --json -q --files-from list
    check "$mpi: hash, many files" says 3 hash --jobs 1 --json -q \
        --files-from list
    check "$mpi: info, many files" says 3 info --jobs 1 -q --files-from list
    check "$mpi: tensors info, many files" says 3 tensors info --jobs 1 -q \
        --files-from list
    check "$mpi: a folder" says 3 info --jobs 1 -q "$fixtures" six
    check "$mpi: one file often" says 0 validate --jobs 1 --json -q \
        --files-from same
    check "$mpi: fewer files than ranks" says 0 info --jobs 1 -q big.gguf
    check "$mpi: no model" says 3 info --jobs 1 -q one/missing.gguf
    check "$mpi: a log" keeps_log
    check "$mpi: a log after a kill" log_goes_on
    check "$mpi: a log that was cut" cut_log
    check "$mpi: a log that is one of the files" locked_log
    check "$mpi: no log" no_log
    check "$mpi: a rank that sees more" sees_others here there 2
    check "$mpi: a rank that sees less" sees_others there here 2
    check "$mpi: that sees far more" sees_others here there 6000
    check "$mpi: that sees far less" sees_others there here 6000
    check "$mpi: a slow reader" slow_reader
    check "$mpi: --jobs 2" refused "'--jobs 2': each of several ranks reads" \
        info --jobs 2 big.gguf
    check "$mpi: --part" refused "'--part' is for one process" \
        info --part 1/2 big.gguf
    check "$mpi: a URL in a list" refused 'only files can be read' \
        tensors info --jobs 1 big.gguf https://example.invalid/a.gguf
}

# ---- what goes wrong ----

# ranks_of: process numbers of the running ranks.
ranks_of() {
    pgrep -f "^$build/mpi/mpicc.$mpi/modelfile-mpi "
}

# begin ARGUMENT...: a run of two ranks that takes some seconds, in the
# background; its ranks are there when this returns.
begin() {
    rm -rf out
    mkdir out
    timeout 120 "mpirun.$mpi" -n 2 "$build/mpi/mpicc.$mpi/modelfile-mpi" \
        quantize slow.gguf out/a.gguf IQ3_S -t 1 "$@" >said 2>&1 </dev/null &
    child=$!
    for _ in $(seq 200); do
        [ -z "$(find out -name '.*')" ] || return 0
        sleep 0.05
    done
    return 1
}

# over SECONDS: all processes have ended by then.
over() {
    for _ in $(seq $(($1 * 10))); do
        [ -z "$(ranks_of)" ] && break
        sleep 0.1
    done
    if [ -n "$(ranks_of)" ]; then
        echo "still there:" "$(ranks_of)"
        ranks_of | xargs kill -KILL
        return 1
    fi
    ended=0
    wait "$child" || ended=$?
}

# bad_end: and mpirun has said that it went wrong.
bad_end() {
    over 5 && [ "$ended" -ne 0 ]
}

# Nothing but hidden files of a process that was killed.
untouched() {
    [ -z "$(find out ! -name '.*' ! -name out)" ] || { ls -la out; return 1; }
}

killed_rank() { # WHICH
    begin || return 1
    ranks_of | sed -n "$1p" | xargs kill -KILL
    bad_end && untouched
}

killed_mpirun() {
    begin || return 1
    pkill -KILL -P "$child" -f "^mpirun.$mpi "
    bad_end && untouched
}

hung() {
    begin --rank-timeout 2 || return 1
    stopped=$(ranks_of | tail -n 1)
    kill -STOP "$stopped"
    for _ in $(seq 60); do
        [ "$(ranks_of)" != "$stopped" ] || break
        grep -q 'made no progress' said && break
        sleep 0.1
    done
    kill -KILL "$stopped" 2>/dev/null
    bad_end && untouched && grep 'rank 1 made no progress for 2 seconds' said
}

# MPICH's mpirun may end with 0 then.
terminated() {
    begin || return 1
    kill -TERM "$(pgrep -P "$child")"
    over 5 && untouched && [ -z "$(find out -name '.*')" ]
}

# A rank, or what started them, is killed at a random moment of work that can go
# on; then it goes on with another number of ranks, or in one process.
random_kills() {
    "$modelfile" quantize slow.gguf whole.gguf IQ3_S --force -q >/dev/null || return 1
    for round in $(seq "$kills"); do
        begin --resume || return 1
        sleep "$(awk -v seed="$round$$" \
            'BEGIN { srand(seed); printf "%.2f", rand() * 1.5 }')"
        if [ $((round % 3)) -eq 0 ]; then
            pkill -KILL -P "$child" -f "^mpirun.$mpi "
        else
            ranks_of | sed -n "$((round % 2 + 1))p" | xargs -r kill -KILL
        fi
        over 5 || [ -e out/a.gguf ] || return 1
        [ ! -e out/a.gguf ] || { cmp whole.gguf out/a.gguf || return 1; continue; }
        if [ $((round % 2)) -eq 0 ]; then
            mpi 3 quantize slow.gguf out/a.gguf IQ3_S --resume >said 2>&1
        else
            "$modelfile" quantize slow.gguf out/a.gguf IQ3_S --resume >said 2>&1
        fi || { cat said; return 1; }
        cmp whole.gguf out/a.gguf || return 1
        [ -z "$(find out -name '.*')" ] || { ls -la out; return 1; }
    done
}

# MPICH's own code has no errors there; OpenMPI's has.
looked_at() {
    rm -rf out
    mkdir out
    mpi_program=$build/mpi/mpicc.$mpi/modelfile-mpi
    timeout 300 "mpirun.$mpi" -n 2 valgrind -q --error-exitcode=9 \
        "$mpi_program" quantize big.gguf out/a.gguf Q4_K_M -q >said 2>&1 ||
        { cat said; return 1; }
    head -n 40 list >short
    timeout 300 "mpirun.$mpi" -n 2 valgrind -q \
        "$mpi_program" validate --jobs 1 --json -q --files-from short \
        >out.said 2>>said
    grep -q '"files":40,' out.said && ! grep '== .* at 0x' said
}

faults() {
    check "$mpi: rank 0 is killed" killed_rank 1
    check "$mpi: rank 1 is killed" killed_rank 2
    check "$mpi: mpirun is killed" killed_mpirun
    check "$mpi: a rank hangs" hung
    check "$mpi: a signal leaves nothing" terminated
    check "$mpi: $kills kills of work that can go on" random_kills
}

models
for mpi in openmpi mpich; do
    if ! command -v mpirun.$mpi >/dev/null || ! command -v mpicc.$mpi >/dev/null
    then
        skip "$mpi" "no mpirun.$mpi: see install_deps.sh"
        continue
    fi
    check "$mpi: make MPI=1" makes $mpi
    bytes
    answers
    many
    check "$mpi: a gather is measured" scales
    faults
    [ -z "${MEMCHECK:-}" ] || [ $mpi = openmpi ] ||
        check "$mpi: under valgrind" looked_at
done
finish
