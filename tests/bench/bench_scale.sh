#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench_scale.sh - quantize by ranks, beside what bench --scale predicts
#
#     tests/bench/bench_scale.sh [-n RUNS]
#
# Makes a model of SIZE (2048) MiB of f16 and quantizes it with 1, 2 and 4
# ranks, a thread each, RUNS (3) times.  Prints the median of the times, each
# from the beginning of the program to the end of its last rank.
#
# As root on Linux each rank gets SHARE percent of a processor, from a control
# group of its own (version 1), so that neither ranks nor other programs take it
# from each other where there are fewer processors than ranks; what threads and
# plans take is multiplied accordingly.  Without control groups each rank has
# what it gets.
#
# From the environment:
#     MODELFILE   the program to measure, of `make MPI=1`
#                                    (build/mpi/mpicc.openmpi/modelfile-mpi)
#     BUILD       where the helpers were built     (build)
#     MPIRUN      what starts ranks                (mpirun.openmpi)
#     RANKS       how many                         (1 2 4)
#     SHARE       percent of a processor           (25)
#     TYPE        the type                         (q4_k)
#     TMPDIR      where the files go: SIZE and a half of disk      (/tmp)
set -eu

runs=3
MODELFILE=${MODELFILE:-build/mpi/mpicc.openmpi/modelfile-mpi}
. "$(dirname "$0")/lib-bench.sh"
mpirun=${MPIRUN:-mpirun.openmpi}
if ! command -v "$mpirun" >/dev/null 2>&1; then
    echo "${0##*/}: $mpirun is not installed" >&2
    exit 2
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
size=${SIZE:-2048}
share=${SHARE:-25}
type=${TYPE:-q4_k}
ranks=${RANKS:-1 2 4}
most=${ranks##* }

# ---- a share of a processor for each rank ----

groups=/sys/fs/cgroup/cpu
mine=$groups/modelfile-bench.$$
rank=0
while [ "$rank" -lt "$most" ]; do
    if ! mkdir "$mine.$rank" 2>/dev/null ||
        ! echo 20000 >"$mine.$rank/cpu.cfs_period_us" ||
        ! echo 20000 >"$mine.$rank/cpu.shares" ||
        ! echo $((share * 200)) >"$mine.$rank/cpu.cfs_quota_us"; then
        rmdir "$mine".* 2>/dev/null || true
        share=100
        break
    fi
    rank=$((rank + 1))
done
trap 'rmdir "$mine".* 2>/dev/null; rm -rf "$dir"' EXIT

cat >rank <<END
#!/bin/sh
own=$mine.\${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-0}}
[ ! -d "\$own" ] || echo \$\$ >"\$own/cgroup.procs"
exec "$modelfile" "\$@"
END
chmod +x rank

# ---- predicted and measured ----

# number KEY LINE: the number of a member of JSON.
number() {
    echo "$2" | sed "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/"
}

# predicted COUNT: seconds.
predicted() {
    line=$(tr '{' '\n' <scale.json | grep "\"ranks\": *$1,")
    awk -v of="$share" -v encoder="$(number encoder "$line")" \
        -v waiting="$(number waiting "$line")" -v disk="$(number disk "$line")" \
        -v plan="$(number plan "$line")" -v gather="$(number gather "$line")" \
        -v metadata="$(number metadata "$line")" 'BEGIN {
            threads = encoder * 100 / of
            sum = threads > disk ? threads : disk
            sum += gather + metadata + (waiting + plan) * 100 / of
            print sum
        }'
}

# measured COUNT: the median of seconds.
measured() {
    for _ in $(seq "$runs"); do
        "$mpirun" -n "$1" ./rank quantize model.gguf out.gguf "$type" --force \
            --threads 1 --json </dev/null >out.json
        number seconds "$(cat out.json)"
    done | sort -n | sed -n "$(((runs + 1) / 2))p"
}

"$tests/filled" f16 "$size" model.gguf >/dev/null
sync
"$mpirun" -n "$most" "$modelfile" bench --scale model.gguf --json --threads 1 \
    --type "$type" --ranks "$most" --size "$(stat -c %s model.gguf)" \
    </dev/null >scale.json 2>/dev/null
echo "$size MiB of f16 to $type, $share % of a processor for each rank"
echo "ranks  predicted, s  measured, s   error"
for count in $ranks; do
    expected=$(predicted "$count")
    took=$(measured "$count")
    awk -v ranks="$count" -v expected="$expected" -v took="$took" 'BEGIN {
        printf "%5d %13.2f %12.2f %+6.1f %%\n", ranks, expected, took,
            100 * (expected - took) / took
    }'
done
