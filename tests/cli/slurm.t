#!/bin/sh
# SPDX-License-Identifier: MIT
#
# slurm.t - the job array of docs/machines.md, run by Slurm
#
# It needs root and Debian's packages munge, slurmctld, slurmd and slurm-client: daemons
# of its own, with files and ports of their own, make a cluster of this machine.
set -u
# shellcheck disable=SC1091 # tests run in the top folder
. tests/tap.sh
. tests/lib-run.sh

page=$PWD/docs/machines.md
filled=$build/tests/filled
PATH=$PATH:/usr/sbin:/sbin

lacks() {
    [ "$(id -u)" -eq 0 ] || {
        echo "only root can start a cluster"
        return
    }
    for program in munged slurmctld slurmd sbatch squeue; do
        command -v "$program" >/dev/null || {
            echo "there is no $program"
            return
        }
    done
}
why=$(lacks)
if [ -n "$why" ]; then
    skip "the job array of docs/machines.md" "$why"
    skip "tasks that failed run again" "$why"
    finish
fi

# ---- the cluster

# Daemons stay in the foreground, so that their numbers are known.
daemons=
start() {
    "$@" >>"$dir/daemons" 2>&1 &
    daemons="$daemons $!"
}
stop_all() {
    # shellcheck disable=SC2086 # numbers
    kill $daemons 2>/dev/null
    wait
    rm -rf "$dir"
}
trap stop_all EXIT

chmod 755 "$dir"
cd "$dir" || exit 1
mkdir munge run spool state work bin
chmod 700 munge
dd if=/dev/urandom of=munge/key bs=128 count=1 2>/dev/null
chmod 400 munge/key
ln -s "$modelfile" bin/modelfile

port=$((20000 + $$ % 20000))
cat >slurm.conf <<EOF
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/run/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd.pid
SlurmctldLogFile=$dir/run/slurmctld.log
SlurmdLogFile=$dir/run/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
MinJobAge=300
NodeName=localhost NodeHostname=$(hostname) NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
EOF
export SLURM_CONF="$dir/slurm.conf"

start munged --foreground --force --key-file="$dir/munge/key" \
    --socket="$dir/run/munge.socket" --pid-file="$dir/run/munged.pid" \
    --log-file="$dir/munge/log" --seed-file="$dir/munge/seed"
for _ in $(seq 100); do
    [ ! -S run/munge.socket ] || break
    sleep 0.1
done
start slurmctld -D -f "$SLURM_CONF"
start slurmd -D -f "$SLURM_CONF" -N localhost

is_up() {
    for _ in $(seq 300); do
        case $(sinfo --noheader --format %T 2>/dev/null) in
        idle*) return 0 ;;
        esac
        sleep 0.1
    done
    return 1
}
if ! is_up; then
    tail -n 5 daemons run/*.log 2>/dev/null | note
    skip "the job array of docs/machines.md" "Slurm does not start here"
    skip "tasks that failed run again" "Slurm does not start here"
    finish
fi

# ---- the scripts of the page

# block WORDS: the block of the page that has them.
block() {
    awk -v words="$1" '
        /^```sh$/ { inside = 1; text = ""; next }
        /^```$/ { if (inside && index(text, words)) { printf "%s", text; exit }
                  inside = 0; next }
        inside { text = text $0 "\n" }' "$page"
}
cd work || exit 1
block '#SBATCH --array' >parts.sh
block 'afterok' >submit.sh
block 'finish --quiet' >again.sh
"$filled" f16 20 in.gguf
"$modelfile" quantize --quiet in.gguf whole.gguf Q4_K_M >said
export PATH="$dir/bin:$PATH"

# ends: no job is waiting or running any more.
ends() {
    for _ in $(seq 600); do
        [ -n "$(squeue --noheader 2>/dev/null)" ] || return 0
        sleep 0.1
    done
    squeue
    return 1
}

array() {
    [ -s parts.sh ] && [ -s submit.sh ] || return
    sh -e submit.sh || return
    ends || return
    cat slurm-*.out
    cmp whole.gguf out.gguf && [ -z "$(find . -name '.*' -type f)" ] &&
        [ "$(cat slurm-*.out | grep -c 'part [0-9]* of 16')" -eq 16 ]
}
check "the job array of docs/machines.md" array

# Two tasks end with an error: the one that waits for all does not start.
again() {
    rm -f out.gguf slurm-*.out
    awk '{ print } /^#SBATCH --requeue/ {
        print "case $SLURM_ARRAY_TASK_ID in 3|7) [ -e tried ] || exit 9 ;; esac" }' \
        parts.sh >kept.sh
    cp parts.sh page.sh
    cp kept.sh parts.sh
    sbatch --quiet parts.sh
    ends || return
    [ "$("$modelfile" finish --quiet out.gguf 2>/dev/null)" = 3,7 ] || return
    touch tried
    sh -e again.sh || return
    ends && "$modelfile" finish out.gguf && cmp whole.gguf out.gguf
}
check "tasks that failed run again" again

finish
