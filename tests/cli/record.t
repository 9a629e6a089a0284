#!/bin/sh
# SPDX-License-Identifier: MIT
#
# record.t - --record DIR: tables with fixed headings, figures that agree with
# Python's, energy from a tree of counters, and no harm to what is in DIR
set -u
# shellcheck disable=SC1091,SC2317 # tests run in the top folder, and give
#                                    their functions to others to call
. tests/tap.sh
. tests/lib-run.sh

model=$fixtures/good-llama.gguf
"$build/tests/filled" f16 1 "$dir/filled.gguf"
cd "$dir" || exit 1

run() {
    code=0
    "$modelfile" "$@" >out 2>err || code=$?
}

# recorded: DIR has the files of a record, and nothing else.
recorded() {
    printf '%s\n' SHA256SUMS latency.csv memory.csv results.csv run.json >want
    LC_ALL=C ls -A "$1" | diff want -
}

# ---- what is in it

many() {
    run validate --record many --power mock:40 "$fixtures"/good-*.gguf
    [ "$code" = 0 ] && recorded many
}
check "a record" many

headings() {
    head -qn1 many/latency.csv many/memory.csv many/results.csv >headings
    cat >want <<END
sample_id,wall_time_us,kernel_time_us,seq_len
timestamp_us,peak_rss_bytes,kv_cache_bytes,activation_bytes,temp_buffer_bytes
setting,coherence_delta,kv_cache_reduction,peak_mem_reduction,energy_reduction,p95_latency_us,accuracy
END
    cmp want headings && ! grep -q "$(printf '\r')" many/*.csv
}
check "its headings" headings

one_per_file() {
    set -- "$fixtures"/good-*.gguf
    [ "$(wc -l <many/latency.csv)" = $(($# + 1)) ] &&
        [ "$(wc -l <many/results.csv)" = 2 ] &&
        [ "$(wc -l <many/memory.csv)" -ge 3 ]
}
check "a sample for each file" one_per_file

elements() {
    run info --record elements "$model"
    want=$("$modelfile" info --json "$model" |
        sed 's/"types":.*//; s/.*"parameters":\([0-9]*\),.*/\1/')
    [ "$want" -gt 0 ] && [ "$(sed -n 2p elements/latency.csv | cut -d, -f4)" = "$want" ]
}
check "the elements of its model" elements

# On one thread, dequantizing is nothing but that and files.
kernel() {
    run dequantize filled.gguf k.gguf --type f32 --record kernel --threads 1 \
        --force &&
        awk -F, 'NR == 2 { exit !($3 > 0 && $3 <= $2) }' kernel/latency.csv &&
        awk -F, 'NR > 1 && $3 > 0 { exit 1 }' elements/latency.csv
}
check "the time in decoders and encoders" kernel

python_agrees() {
    python3 - "$@" <<'END'
import csv, json, math, statistics, sys

def table(name, types):
    with open(name, newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    for row in rows:
        assert None not in row and None not in row.values(), row
        for key, value in row.items():
            row[key] = types(value) if key != "setting" else value
    return rows

def close(a, b):
    assert math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12), (a, b)

for folder in sys.argv[1:]:
    run = json.load(open(folder + "/run.json"))
    times = [row["wall_time_us"] for row in table(folder + "/latency.csv", int)]
    for i, row in enumerate(table(folder + "/latency.csv", int)):
        assert row["sample_id"] == i and row["kernel_time_us"] <= row["wall_time_us"]
    latency = run["latency"]
    ordered = sorted(times)
    assert latency["samples"] == len(times) > 0
    for percent in 50, 95, 99:
        rank = min(math.ceil(percent * len(times) / 100), len(times))
        assert latency["p%d_us" % percent] == ordered[rank - 1], percent
    close(latency["mean_us"], statistics.fmean(times))
    close(latency["std_us"], statistics.pstdev(times))

    memory = table(folder + "/memory.csv", int)
    rss = [row["peak_rss_bytes"] for row in memory]
    stamps = [row["timestamp_us"] for row in memory]
    assert run["memory"]["samples"] == len(rss) >= 2
    assert run["memory"]["peak_rss_bytes"] == max(rss)
    assert run["memory"]["mean_rss_bytes"] == sum(rss) // len(rss)
    assert all(row["kv_cache_bytes"] == 0 for row in memory)
    assert all(r % 4096 == 0 and r > 100000 for r in rss), rss
    assert run["started_us"] <= stamps[0] <= stamps[-1] <= run["ended_us"]

    results = table(folder + "/results.csv", float)
    assert len(results) > 0 and all(row["setting"] for row in results)
    if len(results) == 1:
        assert results[0]["p95_latency_us"] == latency["p95_us"]
    energy = run["energy"]
    if energy["source"] == "mock":
        assert energy["status"] == "measured"
        watts = energy["mean_watts"]
        assert energy["peak_watts"] == watts
        close(energy["joules"], watts * energy["seconds"])
        close(energy["joules_per_second"], watts)
    assert len(run["fingerprint"]) == 64
END
}
if command -v python3 >/dev/null 2>&1; then
    check "python3 csv and statistics agree" python_agrees many elements
else
    skip "python3 csv and statistics agree" "python3 is not installed"
fi

# The configuration is compact JSON as in run.json.
fingerprint() {
    said=$(sed -n 's/.*"fingerprint":"\([0-9a-f]\{64\}\)".*/\1/p' "$1/run.json")
    sum=$(sed 's/.*"configuration":\({[^}]*}\).*/\1/' "$1/run.json" |
        tr -d '\n' | sha256sum)
    [ -n "$said" ] && [ "$said" = "${sum%% *}" ]
}
check "the fingerprint is sha256sum's of the configuration" fingerprint many

vectors() {
    start='{"model_commit":"abc1234","weights_hash":"def5678","lambda":0.5,'
    start=$start'"tau":2,"eps":0.01,"compiler_flags":'
    while read -r want flags; do
        sum=$(printf '%s"%s"}' "$start" "$flags" | sha256sum)
        [ "${sum%% *}" = "$want" ] || return 1
        # tests/cli/test_record.c has what we make of them
        grep -q "$want" "$OLDPWD/tests/cli/test_record.c" || return 1
    done <<END
8194ad7276a762e3eeee09d9d2cb18ab888c08854a9f3deaf87e92142bca82df -O3
45b57923f8c1a4fe99d72e45cea9b1d27607af3a2e8af6963e6fe3276e2319b7 -O3 -mavx2
END
}
check "so are the digests that tests/cli/test_record.c expects" vectors

again() {
    run "$@"
    [ "$code" = 0 ] &&
        sed 's/.*"fingerprint":"\([^"]*\)".*/\1/' "$last/run.json"
}
same_work() {
    last=w1 && first=$(again validate "$model" --record w1 --threads 2) &&
        last=w2 && [ "$first" = "$(again validate --threads=2 --quiet \
            --record w2 --power none "$model" --progress never)" ] &&
        last=w3 && [ "$first" != "$(again validate --threads 2 --data \
            --record w3 "$model")" ] &&
        last=w4 && threads=$(again validate --threads 1 --record w4 \
            "$model") &&
        # A build without threads has one, whatever is asked for.
        if grep -q '"tau":2,' w1/run.json; then
            [ "$first" != "$threads" ]
        else
            [ "$first" = "$threads" ]
        fi &&
        last=w5 && [ "$first" != "$(again validate --threads 2 --record w5 \
            "$fixtures/good-base.gguf")" ]
}
check "equal for equal work only" same_work

operands() {
    for type in Q8_0 Q4_0; do
        run quantize --record "t$type" "$model" "$type.gguf" $type \
            --allow-requantize
        [ "$code" = 0 ] || return 1
    done
    grep -q 'modelfile [0-9.]* quantize \*.gguf Q8_0 --allow-requantize"' \
        tQ8_0/run.json && grep -q 'quantize \*.gguf Q4_0 ' tQ4_0/run.json
}
check "an operand that is not a file counts as well" operands

# different ARGUMENT... -- ARGUMENT...: two commands have their own fingerprints.
different() {
    rm -rf d1 d2
    ours=
    for word; do
        shift
        [ "$word" = -- ] && break
        ours="$ours $word"
    done
    # shellcheck disable=SC2086 # it is a list
    last=d1 && first=$(again $ours --record d1) && last=d2 &&
        second=$(again "$@" --record d2) && [ -n "$first" ] &&
        [ "$first" != "$second" ]
}
data_counts() {
    cp filled.gguf other.gguf && size=$(wc -c <other.gguf) &&
        printf '\001' | dd of=other.gguf bs=1 seek=$((size - 3)) \
            conv=notrunc 2>/dev/null && ! cmp -s filled.gguf other.gguf &&
        different info filled.gguf -- info other.gguf &&
        different bench filled.gguf --rounds 1 -- bench other.gguf --rounds 1 &&
        cp filled.gguf same.gguf && ! different info filled.gguf -- \
            info same.gguf && [ -n "$first" ]
}
check "a byte of the data counts" data_counts
late_data_counts() { # the index of such a file is at its end
    "$modelfile" convert --quiet filled.gguf late.apr --force &&
        different info late.apr -- info filled.gguf
}
check "so does that of other formats" late_data_counts
lists_count() {
    different bench filled.gguf --rounds 1 --threads 1,2 -- \
        bench filled.gguf --rounds 1 --threads 2
}
check "a list of threads counts" lists_count
output_counts() {
    different convert filled.gguf o1.apr -- \
        convert filled.gguf o1.safetensors
}
check "the format of the output counts" output_counts
spaces_count() {
    cp "$model" spaces.gguf
    different meta get "$model" 'a b' c -- meta get "$model" a 'b c'
    different meta set spaces.gguf 'a=b' 'c=d' -- meta set spaces.gguf 'a=b c=d'
}
check "where a word ends counts" spaces_count
lists_of_types_count() {
    echo 'attn=q8_0' >types
    last=d1 && rm -rf d1 d2 && first=$(again quantize filled.gguf typed.gguf Q4_0 \
        --tensor-type-file types --force --record d1) &&
        echo 'attn=q5_0' >types && last=d2 &&
        [ "$first" != "$(again quantize filled.gguf typed.gguf Q4_0 --force \
            --tensor-type-file types --record d2)" ]
}
check "what is in a list of types counts" lists_of_types_count

# ---- the number of threads, as OpenMP's programs take it

threads_of() {
    rm -rf omp
    run info "$model" --record omp
    sed 's/.*"tau":\([0-9]*\).*/\1/' omp/run.json
}
omp() {
    usual=$(threads_of)
    [ "$(OMP_NUM_THREADS=3 threads_of)" = 3 ] &&
        [ "$(OMP_NUM_THREADS=5,2 threads_of)" = 5 ] || return 1
    for wrong in 0 -2 many 3x ''; do
        [ "$(OMP_NUM_THREADS=$wrong threads_of)" = "$usual" ] || return 1
    done
    last=omp && rm -rf omp &&
        OMP_NUM_THREADS=3 again validate --threads 2 "$model" --record omp &&
        grep -q '"tau":2,' omp/run.json
}
rm -rf w0
run validate "$model" --threads 2 --record w0
if grep -q '"tau":2,' w0/run.json; then
    check "OMP_NUM_THREADS, unless --threads is given" omp
else
    skip "OMP_NUM_THREADS, unless --threads is given" "there are no threads"
fi
limited() {
    for limit in 1 2 3; do
        OMP_THREAD_LIMIT=$limit "$modelfile" hash filled.gguf --threads 4 \
            >limited 2>/dev/null && "$modelfile" hash filled.gguf >usual \
            2>/dev/null && cmp usual limited || return 1
    done
}
check "OMP_THREAD_LIMIT" limited

a_list() {
    echo attn=q8_0 >list
    for name in l1 l2 l3; do
        [ $name != l3 ] || echo attn=q5_0 >list
        last=$name
        again quantize --record $name "$model" $name.gguf Q4_0 \
            --allow-requantize --tensor-type-file list >$name.print || return
    done
    cmp l1.print l2.print && ! cmp -s l1.print l3.print
}
check "and so does what --tensor-type-file has in it" a_list

# The same matrix under another name, and one with another value.
a_matrix() {
    cp "$fixtures/llama/llama-wide.gguf" wide.gguf &&
        cp "$fixtures/llama/llama-wide.imatrix.dat" m.dat || return
    for name in m1 m2 m3; do
        [ $name != m3 ] || printf '\001' |
            dd of=m.dat bs=1 seek=200 conv=notrunc 2>dd.err
        last=$name
        again quantize --record $name wide.gguf $name.gguf Q4_K_M \
            --imatrix m.dat >$name.print || return
    done
    cmp m1.print m2.print && ! cmp -s m1.print m3.print
}
check "and what --imatrix has in it" a_matrix

sums() {
    for each in many elements w1; do
        (cd $each && sha256sum --quiet --strict -c SHA256SUMS) || return 1
        sum=$(sed '$d' $each/SHA256SUMS | sha256sum)
        [ "$(tail -n1 $each/SHA256SUMS)" = "# seal ${sum%% *}" ] || return 1
    done
}
check "sha256sum -c, and the seal" sums

command_line() {
    run info --record 'a "b"' -q "$model"
    [ "$code" = 0 ] && [ ! -s err ] &&
        grep -qF "\"info\",\"--record\",\"a \\\"b\\\"\",\"-q\"," \
            'a "b"/run.json'
}
check "the command line, as given; nothing is said with -q" command_line

# ---- every command

every() {
    number=0
    while read -r want command; do
        number=$((number + 1))
        # shellcheck disable=SC2086 # words
        run $command --record e$number --power mock:1
        [ "$code" = "$want" ] && recorded e$number &&
            grep -q "\"exit_code\":$want," e$number/run.json ||
            { echo "$command: $code" && cat err && return 1; }
    done <<END
0 detect $model
0 info $model --json
0 tensors info $model
0 tensors stats $model
0 tensors export $model token_embd.weight out.npy
0 meta list $model
0 meta get $model general.architecture
0 validate --rules
1 validate $bad
3 info nothing.gguf
0 hash $model
1 diff $model $fixtures/good-base.gguf
0 convert $model c.gguf
0 dequantize $model d.gguf
0 quantize $model q.gguf Q8_0 --allow-requantize --dry-run
0 split $model s --max-tensors 7
0 meta set c.gguf general.name=new
0 meta recover c.gguf
0 version
0 help
0 bench --type q8_0 --rounds 1 --size 1K
END
    set -- e[0-9]*
    [ $# = $number ] || return 1
    ! command -v python3 >/dev/null 2>&1 || python_agrees "$@"
}
bad=$fixtures/bad-alignment-0.gguf
check "of every command, with its exit code" every

answer() {
    run info "$model" && cp out plain
    run info "$model" --record answer
    cmp out plain
}
check "the answer is the same" answer

wrong() {
    run info --record never "$@"
    [ "$code" = 2 ] && [ ! -s out ] && [ ! -e never ]
}
check "an invalid power" wrong --power 100 "$model"
check "an unknown option" wrong --recrod x "$model"
power_alone() {
    run info "$model" --power none
    [ "$code" = 2 ] && grep -q "'--power' requires '--record'" err
}
check "--power without --record" power_alone

# ---- energy

status() {
    sed 's/.*"energy":{.*"status":"\([^"]*\)".*"joules":\([^,]*\),.*/\1 \2/' \
        "$1/run.json"
}

nothing_there() {
    mkdir -p none
    run info "$model" --record p1 --power-root none
    [ "$code" = 0 ] &&
        [ "$(status p1)" = "unavailable (no energy counter) null" ] &&
        ! grep -q ' J;' err
    run info "$model" --record p2 --power none
    [ "$(status p2)" = "not measured null" ]
}
check "no counter, no joules" nothing_there

# zone NAME LABEL ENERGY RANGE: as the kernel shows it.
zone() {
    mkdir -p "sys/class/powercap/$1"
    echo "$2" >"sys/class/powercap/$1/name"
    echo "$3" >"sys/class/powercap/$1/energy_uj"
    echo "$4" >"sys/class/powercap/$1/max_energy_range_uj"
}

# The counter of the second package wraps around during the run; the platform,
# parts and the copies by way of memory grow, too, and do not count.
rapl() {
    zone intel-rapl:0 package-0 1000000 262143328850
    zone intel-rapl:1 package-1 262143000000 262143328850
    zone intel-rapl:0:0 core 0 262143328850
    zone intel-rapl:2 psys 0 262143328850
    zone intel-rapl-mmio:0 package-0 0 262143328850
    "$modelfile" bench --type q8_0 --isa portable --rounds 20 --size 1M \
        --record rapl --power-root sys >out 2>err &
    child=$!
    while [ ! -e rapl/memory.csv ] || [ "$(wc -l <rapl/memory.csv)" -lt 2 ]; do
        kill -0 $child || return 1
        sleep 0.01
    done
    zone intel-rapl:2 psys 90000000 262143328850
    zone intel-rapl:0:0 core 90000000 262143328850
    zone intel-rapl-mmio:0 package-0 90000000 262143328850
    for each in 0:5000000 1:671150; do
        echo "${each#*:}" >new
        mv new "sys/class/powercap/intel-rapl:${each%:*}/energy_uj"
    done
    wait $child || return 1
    status rapl
    status rapl | awk '{
        exit !($1 == "measured" && $2 > 4.9999 && $2 < 5.0001)
    }'
}
check "packages of RAPL, one of which wraps around" rapl

still() {
    run info "$model" --record still --power-root sys
    [ "$(status still)" = \
        "unavailable (the energy counter does not change) null" ]
}
check "a counter without change is not 0 J" still

forbidden() {
    chmod 400 sys/class/powercap/intel-rapl:*/energy_uj
    chmod 755 . && mkdir -m 777 for
    setpriv --reuid=65534 --regid=65534 --clear-groups "$modelfile" info \
        "$model" --record for/all --power-root sys >out 2>err || return 1
    [ "$(status for/all)" = "unavailable (permission) null" ]
}
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups \
    test -r "$model" -a -x "$modelfile" 2>/dev/null; then
    check "a counter that only root may read" forbidden
else
    skip "a counter that only root may read" "another user is needed"
fi

# ---- what is in the folder already

refused() {
    run info "$model" --record "$1"
    [ "$code" = 4 ] && [ ! -s out ] && grep -qF "$2" err
}
other_files() {
    mkdir other && echo keep >other/letter
    refused other "'letter'" && [ "$(ls other)" = letter ] &&
        run convert "$model" o.gguf --force --record other &&
        [ "$code" = 4 ] && [ ! -e o.gguf ] && [ "$(cat other/letter)" = keep ]
}
check "other files stay, --force or not" other_files

older() {
    cp -r many older
    refused older "has a record; remove it" && diff -r many older
}
check "a record stays" older
forced() {
    run convert "$model" forced.gguf --record older
    [ "$code" = 4 ] && grep -q 'use --force' err && [ ! -e forced.gguf ] &&
        run convert "$model" forced.gguf --record older --force &&
        [ "$code" = 0 ] && recorded older &&
        grep -q '^convert,' older/results.csv
}
check "unless --force is given" forced

# killed ARGUMENT...: kills a command that records in $killed, once memory.csv
# and $begun are in it.
killed() {
    "$modelfile" "$@" --record "$killed" >out 2>err &
    child=$!
    until [ -s "$killed/memory.csv" ] && [ -e "$killed/${begun:-}" ] ||
        ! kill -0 $child; do
        sleep 0.01
    done
    kill -KILL $child
    wait $child
    [ ! -s "$killed/run.json" ]
} 2>/dev/null
after_a_kill() {
    killed=k1 && killed bench --rounds 1000 --size 1M || return 1
    refused k1 "has a record of a run that was killed; remove it" || return 1
    run convert "$model" k1.gguf --record k1
    [ "$code" = 4 ] && grep -q 'use --force' err && [ ! -e k1.gguf ] &&
        run convert "$model" k1.gguf --record k1 --force &&
        [ "$code" = 0 ] && recorded k1
}
check "the record of a run that was killed" after_a_kill
after_a_kill_others() {
    killed=k2 && killed bench --rounds 1000 --size 1M || return 1
    cp -r k2 k3 # other files, with the same names
    echo mine >k2/run.json
    refused k2 "'run.json'" && run convert "$model" k2.gguf --record k2 \
        --force && [ "$code" = 4 ] && [ "$(cat k2/run.json)" = mine ] &&
        rm k2/run.json && mkdir k2/csv && echo mine >k2/csv/a.csv &&
        run convert "$model" k2.gguf --record k2 --force && [ "$code" = 4 ] &&
        grep -q "'csv'" err && [ "$(cat k2/csv/a.csv)" = mine ] &&
        rm -r k2/csv && cp k2/.modelfile-record list && chmod 600 list &&
        rm k2/.modelfile-record && ln -s ../list k2/.modelfile-record &&
        run convert "$model" k2.gguf --record k2 --force &&
        [ "$code" = 4 ] && [ -s k2/memory.csv ] &&
        run convert "$model" k3.gguf --record k3 --force &&
        [ "$code" = 4 ] && [ -s k3/memory.csv ]
}
check "and no other file goes" after_a_kill_others
after_a_kill_grid() {
    killed=k4 begun=witness &&
        killed bench filled.gguf --rounds 1000 --quantize Q8_0 &&
        [ -d k4/witness ] &&
        run convert "$model" k4.gguf --record k4 --force &&
        [ "$code" = 0 ] && recorded k4
}
check "or of a grid" after_a_kill_grid

links() {
    echo victim >victim && mkdir away linked
    echo precious >away/x.csv
    for each in latency.csv run.json SHA256SUMS; do
        ln -s ../victim linked/$each
    done
    ln -s ../away linked/csv
    refused linked "is not of a whole record" &&
        run convert "$model" linked.gguf --force --record linked &&
        [ "$code" = 4 ] && [ ! -e linked.gguf ] &&
        [ "$(cat victim)" = victim ] && [ "$(cat away/x.csv)" = precious ] &&
        [ "$(find linked -type l | wc -l)" = 4 ]
}
check "links in it stay, and are not followed" links

# What has a name that a record can have is not of one for that.
not_of_a_record() {
    mkdir named named/csv twice && echo keep >named/csv/mine.csv &&
        cp "$model" twice/run.json || return 1
    run convert "$model" named.gguf --force --record named
    [ "$code" = 4 ] && [ "$(cat named/csv/mine.csv)" = keep ] || return 1
    run convert twice/run.json twice.gguf --force --record twice
    [ "$code" = 4 ] && cmp twice/run.json "$model" || return 1
    cp -r many changed && cp "$model" changed/run.json &&
        run convert changed/run.json changed.gguf --force --record changed
    [ "$code" = 4 ] && grep -q "'run.json'" err &&
        cmp changed/run.json "$model" || return 1
    cp -r many more && mkdir more/figs && echo keep >more/figs/mine.svg &&
        run convert "$model" more.gguf --force --record more
    [ "$code" = 4 ] && grep -q "'figs'" err && diff -r many/run.json more
}
check "files that only have the names of a record stay" not_of_a_record

# The output takes the place of a file of the record.
own_output() {
    mkdir own && run convert "$model" own/run.json --record own --to gguf
    [ "$code" = 4 ] && cmp own/run.json "$model" && [ "$(ls own)" = run.json ]
}
check "a record that fails leaves the output" own_output

mistyped() {
    run convert "$model" mistyped.gguf --record mistyped --type f61
    [ "$code" = 2 ] && [ ! -e mistyped ] || return 1
    run convert "$model" mistyped.gguf --record mistyped
    [ "$code" = 0 ] && recorded mistyped
}
check "a mistyped command leaves no record" mistyped

busy() {
    mkdir busy && (
        flock -n 9 || exit 1
        refused busy "another process records there"
    ) 9<busy
}
if command -v flock >/dev/null 2>&1; then
    check "two processes do not record in one folder" busy
else
    skip "two processes do not record in one folder" "flock is not installed"
fi

another_user() {
    mkdir -m 1777 sticky && mkdir sticky/theirs away2 &&
        ln -s ../away2 sticky/link && chown 65534 sticky/theirs &&
        chown -h 65534 sticky/link || return 1
    refused sticky/theirs "belongs to another user" &&
        refused sticky/link "belongs to another user" && [ -z "$(ls away2)" ]
}
if [ "$(id -u)" = 0 ]; then
    check "a folder or link that another user planted" another_user
else
    skip "a folder or link that another user planted" "only root can make one"
fi

no_folder() {
    refused nothing/deep "cannot be made: No such file" &&
        refused victim "cannot be made: Not a directory"
}
check "a folder that cannot be made" no_folder

json_error() {
    "$modelfile" info --json "$model" --record victim 2>/dev/null |
        grep -q '"error":{"code":4,'
}
check "an error in JSON" json_error

# Files may have no byte: standard output is a pipe.
full() {
    (ulimit -f 0 && "$modelfile" info "$model" --record full 2>err
    echo $? >code) | cat >out
    run_code=$(cat code 2>/dev/null)
    cmp out plain && [ "${run_code:-4}" = 4 ]
}
full_code() {
    code=$( (ulimit -f 0 && exec "$modelfile" info "$model" --record full2 \
        3>&1 >/dev/null 2>&2) 2>/dev/null
        echo $?)
    [ "$code" = 4 ] && [ -z "$(ls -A full2)" ]
}
check "a full disk: the answer stays" full
check "with exit code 4, and no half of a record" full_code

interrupted() {
    "$modelfile" bench --rounds 1000 --size 1M --record stop >out 2>err &
    child=$!
    while [ ! -s stop/memory.csv ]; do sleep 0.01; done
    kill -INT $child
    kill -TERM $child
    wait $child
    code=$?
    case $code in
    130 | 143) recorded stop && grep -q "\"exit_code\":$code," stop/run.json ;;
    *) false ;;
    esac
}
check "a run that was interrupted" interrupted

finish
