#!/bin/sh
# A cluster of Slurm with this machine as its one node, for tests: the distribution's slurmctld, slurmd and munged, with
# a configuration, a key, ports and state of their own. It needs root, since slurmd does.
#   slurm_cluster.sh start DIR PORT   afterwards SLURM_CONF=DIR/slurm.conf; takes PORT and PORT + 1. No blanks in DIR.
#   slurm_cluster.sh stop DIR
#   slurm_cluster.sh kill DIR ctld|d  as kill -9 does
#   slurm_cluster.sh run DIR ctld|d   again
# Exit status: 0, 1 it did not come up, 3 a program is missing here.
set -eu

verb=$1
dir=$2
export SLURM_CONF="$dir/slurm.conf"

pid() { cat "$dir/$1.pid" 2>/dev/null || true; }
gone() { ! kill -0 "$1" 2>/dev/null; }

# Waits for half a minute at most.
until_true() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 150 ] || return 1
        sleep 0.2
    done
}

end() { # end NAME: asks it to, then makes it
    number=$(pid "$1")
    [ -n "$number" ] || return 0
    kill "$number" 2>/dev/null || return 0
    until_true gone "$number" || kill -9 "$number" 2>/dev/null || true
}

is_up() { [ "$(sinfo --noheader --format=%t)" = idle ] || [ "$(sinfo --noheader --format=%t)" = mix ]; }

case $verb in
    start)
        for program in slurmctld slurmd munged; do
            command -v "$program" >/dev/null || { echo "$program is not installed" && exit 3; }
        done
        [ "$(id -u)" -eq 0 ] || { echo "slurmd needs root" && exit 3; }
        host=$(hostname -s)
        mkdir -p "$dir/ctld" "$dir/d"
        chmod 755 "$dir"
        (umask 077 && dd if=/dev/urandom of="$dir/munge.key" bs=1024 count=1 2>/dev/null)
        # Whoever may write above its key could change it; below a temporary folder that is nobody else.
        munged --force --socket="$dir/munge.socket" --key-file="$dir/munge.key" --pid-file="$dir/munged.pid" \
            --log-file="$dir/munged.log" --seed-file="$dir/munge.seed" 2>"$dir/munged.err"
        # A job that is requeued is held back for as long as its credential lives.
        cat >"$SLURM_CONF" <<CONF
ClusterName=rungs
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$3
SlurmdPort=$(($3 + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$dir/munge.socket,cred_expire=5
StateSaveLocation=$dir/ctld
SlurmdSpoolDir=$dir/d
SlurmctldPidFile=$dir/ctld.pid
SlurmdPidFile=$dir/d.pid
SlurmctldLogFile=$dir/ctld.log
SlurmdLogFile=$dir/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
KillWait=60
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=60 State=UP OverTimeLimit=0
CONF
        slurmctld
        slurmd
        until_true is_up || { tail -n 20 "$dir/ctld.log" "$dir/d.log" && exit 1; }
        ;;
    stop)
        scancel --full --user=root >/dev/null 2>&1 || true
        end d
        end ctld
        end munged  # at its end it writes into the folder
        ;;
    kill)
        number=$(pid "$3")
        kill -9 "$number"
        until_true gone "$number"
        ;;
    run)
        "slurm$3"
        until_true is_up || { tail -n 20 "$dir/ctld.log" "$dir/d.log" && exit 1; }
        ;;
    *) echo "slurm_cluster.sh: $verb?" >&2 && exit 2 ;;
esac
