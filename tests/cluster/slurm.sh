#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# slurm.sh: a small Slurm of our own, for as long as one command runs. Nothing of the machine's own Slurm is read or changed.
#
#   slurm.sh run [option]... -- COMMAND [argument]...     start it, run COMMAND on this machine, stop it
#   slurm.sh check                                        is all there that it needs? 0, or 77 and the reason
#
#   --nodes "NAME[=ADDRESS] ..."   the nodes; default: two, called pn1 and pn2, on this machine. ADDRESS is where slurmd listens
#                                  (default 127.0.0.1; IPv6 without brackets)
#   --in-node "PREFIX {node}"      how a command is run on a node; {node} is its name. Split at spaces, run without a shell.
#                                  Default: nothing, so all nodes are this machine under several names
#   --controller ADDRESS           where the nodes reach this machine; default 127.0.0.1
#   --cpus N                       processors of each node, whatever it really has; default 8
#   --folder DIR                   where the private folder is made; default /run as root, else /tmp. It must be the same folder on
#                                  all nodes, so not /tmp where nodes have a /tmp of their own
#
# COMMAND finds SLURM_CONF in its environment, so srun, sbatch, salloc, scontrol and scancel talk to this Slurm. It has one
# partition with all nodes, no limits and no accounting; jobs may share processors. `srun --mpi=pmix` works where
# `slurm.sh check` is content. $SLURM_SH_FOLDER is the private folder, with the daemons' logs (*.log). Slurm fills a node before it
# takes the next, so say how many go where: srun -N2 --ntasks-per-node=2.
#
# Exit status: COMMAND's own; 77 with a reason on standard output where Slurm, munge or its pmix plugin are not installed;
# 1 with the daemons' last words where it does not start; 2 for a wrong option.
# Nothing is left: at the end all jobs are cancelled and every process that has our SLURM_SH_FOLDER in its environment is ended. That
# holds if this script is killed too. Only where its whole process namespace dies the folder stays; the next one removes it.
#
# Examples:
#   slurm.sh run -- srun -N2 -n4 --mpi=pmix ./hello
#   slurm.sh run --nodes "n1=10.77.0.1 n2=10.77.0.2" --in-node "netns-cluster exec {node}" --controller 10.77.0.254 -- ./test.sh
set -uo pipefail

self=${0##*/}
usage() {
    echo "$self: $1" >&2
    sed -n '/^#   slurm.sh run/,/^# COMMAND/{/^# COMMAND/q;s/^# \{0,1\}//p}' "$0" >&2
    exit 2
}
skip() {
    echo "skipped: $1"
    exit 77
}

# Debian's munged lies in /usr/sbin, which is not in everybody's PATH.
PATH=$PATH:/usr/sbin:/sbin

check() {
    local program
    for program in slurmctld slurmd srun sinfo scancel munged; do
        command -v "$program" >/dev/null || skip "there is no $program (Debian: apt install slurm-wlm munge)"
    done
    local file list
    file=$(mktemp)
    printf 'ClusterName=x\nSlurmctldHost=localhost\n' >"$file" # without a configuration it does not answer
    list=$(SLURM_CONF=$file srun --mpi=list 2>&1)
    rm -f "$file"
    grep -qw pmix <<<"$list" || skip "this Slurm has no pmix plugin (Debian: apt install slurm-wlm-basic-plugins libpmix2)"
}

# ---- options ----------------------------------------------------------------------------------------------------------------

nodes="pn1 pn2" prefix="" controller=127.0.0.1 cpus=8 parent=/tmp
((EUID == 0)) && [ -d /run ] && parent=/run

[ $# -ge 1 ] || usage "run or check?"
case $1 in
check) check; exit 0 ;;
run) shift ;;
*) usage "unknown word $1" ;;
esac
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    [ $# -ge 2 ] || usage "a value is missing after $1"
    case $1 in
    --nodes) nodes=$2 ;;
    --in-node) prefix=$2 ;;
    --controller) controller=$2 ;;
    --cpus) cpus=$2 ;;
    --folder) parent=$2 ;;
    *) usage "unknown option $1" ;;
    esac
    shift 2
done
[ $# -ge 2 ] || usage "the command is missing"
shift
check
for node in $nodes; do
    [[ $node =~ ^[A-Za-z0-9][A-Za-z0-9-]*(=[A-Za-z0-9.:%-]+)?$ ]] || usage "what node is $node?"
done

# ---- the folder, and the way out --------------------------------------------------------------------------------------------

# Folders whose owner died with everything around it: nobody holds their lock. Not the newest ones, whose owner is about to take it.
find "$parent" -maxdepth 1 -name 'postern-slurm.??????' -user "$(id -u)" -mmin +1 2>/dev/null | while read -r old; do
    [ -e "$old/lock" ] && flock --nonblock "$old/lock" true && rm -rf "$old"
done

folder=$(mktemp -d "$parent/postern-slurm.XXXXXX") || exit 1
exec {lock}>"$folder/lock" # inherited by all that runs here
flock "$lock"
mkfifo "$folder/silence"
export SLURM_CONF=$folder/slurm.conf SLURM_SH_FOLDER=$folder
user=$(id -un)
command_group='' guard=''

# Processes of this Slurm, in whatever namespace: they have our mark in their environment, or one of our log files open (the
# managers of steps, which overwrite their environment).
ours() {
    local pid
    for pid in $(
        { grep -lzx "SLURM_SH_FOLDER=$folder" /proc/[0-9]*/environ
          find /proc/[0-9]*/fd -maxdepth 1 -lname "$folder/*"; } 2>/dev/null | cut -d/ -f3 | sort -u
    ); do
        [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] || [ "$pid" = "$guard" ] && continue
        grep -q '^State:[[:space:]]*[ZX]' "/proc/$pid/status" 2>/dev/null && continue
        [ "$(cut -d' ' -f4 "/proc/$pid/stat" 2>/dev/null)" = "$BASHPID" ] && continue
        [ -d "/proc/$pid" ] && echo "$pid"
    done
}
nothing_is_left() { [ -z "$(ours)" ]; }
# A step is there as long as the socket of its manager is.
no_step_is_left() { [ -z "$(find "$folder"/spool.* -maxdepth 1 -type s -name '*_*.*' 2>/dev/null)" ]; }
group_is_gone() { ! kill -0 -- "-$command_group" 2>/dev/null; }
# Wait for a command to succeed; $1 is a number of tenths of a second.
until_true() {
    local tries=$1
    shift
    until "$@"; do
        [ "$((tries -= 1))" -gt 0 ] || return 1
        sleep 0.1
    done
}

stop() {
    local pid
    trap '' INT TERM HUP
    [ -z "$guard" ] || [ "$guard" = "$BASHPID" ] || kill -KILL -- "-$guard" 2>/dev/null
    [ -n "$command_group" ] || read -r command_group 2>/dev/null <"$folder/command"
    if [ -n "$command_group" ] && kill -TERM -- "-$command_group" 2>/dev/null; then
        until_true 50 group_is_gone || kill -KILL -- "-$command_group" 2>/dev/null
    fi
    no_step_is_left || timeout -k 1 5 scancel --quiet --user="$user" >/dev/null 2>&1
    until_true 50 no_step_is_left
    for pid in $(ours); do kill -TERM "$pid" 2>/dev/null; done
    until_true 50 nothing_is_left || for pid in $(ours); do kill -KILL "$pid" 2>/dev/null; done
    until_true 20 nothing_is_left || echo "$self: processes are left: $(ours | tr '\n' ' ')" >&2
    rm -rf "$folder"
}
# Does what is to be done if this script is killed. In a process group of its own, since whole groups are killed, too.
guard_life() {
    trap '' INT TERM HUP
    local life silence
    birth $$ && life=$born || life=''
    guard=$BASHPID
    # A pipe that never says anything: to read it is a sleep without a process, which tests would take for one that a job has left.
    exec {silence}<>"$folder/silence"
    while [ -n "$life" ] && birth $$ && [ "$born" = "$life" ]; do read -r -t 0.5 -u "$silence"; done
    stop
}
# When a process started, in born, without a process of its own; false if it has ended.
birth() {
    local stat fields
    read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
    read -ra fields <<<"${stat##*) }"
    born=${fields[19]}
    [[ ${fields[0]} != [ZX] ]]
}

trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

failed() {
    local log
    echo "$self: $1" >&2
    for log in "$folder"/*.log; do
        echo "--- ${log##*/}" >&2
        tail -n 15 "$log" >&2
    done
    exit 1
}

# ---- configuration ----------------------------------------------------------------------------------------------------------

# Ports below those that the system hands out by itself, so only another fixed server can be in the way.
used_ports=" "
free_port() { # sets port
    local tries
    for ((tries = 0; tries < 200; tries++)); do
        port=$((10000 + RANDOM % 20000))
        [[ $used_ports == *" $port "* ]] && continue
        (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue
        used_ports+="$port "
        return
    done
    failed "no free port"
}

node_names=()
free_port
{
    # auth, state and identity
    echo "ClusterName=postern"
    echo "SlurmctldHost=$(uname -n)($controller)"
    echo "SlurmctldPort=$port"
    echo "SlurmUser=$user"
    echo "SlurmdUser=$user"
    echo "AuthType=auth/munge"
    echo "CredType=cred/munge"
    echo "AuthInfo=socket=$folder/munge.socket"
    echo "CommunicationParameters=EnableIPv6"
    echo "StateSaveLocation=$folder/state"
    echo "SlurmdSpoolDir=$folder/spool.%n"
    echo "SlurmctldPidFile=$folder/slurmctld.pid"
    echo "SlurmdPidFile=$folder/slurmd.%n.pid"
    echo "SlurmctldLogFile=$folder/slurmctld.log"
    echo "SlurmdLogFile=$folder/slurmd.%n.log"
    # No cgroups, no switches, no accounting: nothing that needs a system's set-up.
    echo "ProctrackType=proctrack/linuxproc"
    echo "TaskPlugin=task/none"
    echo "JobAcctGatherType=jobacct_gather/none"
    echo "AccountingStorageType=accounting_storage/none"
    echo "JobCompType=jobcomp/none"
    echo "MailProg=/bin/true"
    echo "MpiDefault=none"
    echo "SlurmdParameters=config_overrides" # as many processors as said, not as found
    echo "SelectType=select/cons_tres"
    echo "SelectTypeParameters=CR_Core"
    echo "SchedulerType=sched/builtin"
    echo "SchedulerParameters=batch_sched_delay=0"
    echo "ReturnToService=2"
    # A killed job is gone within a second.
    echo "KillWait=1"
    echo "TreeWidth=64"
    echo "MessageTimeout=60" # a busy machine is no reason to give up
    for node in $nodes; do
        name=${node%%=*} address=127.0.0.1
        [[ $node == *=* ]] && address=${node#*=}
        node_names+=("$name")
        free_port
        echo "NodeName=$name NodeHostname=$name NodeAddr=$address Port=$port CPUs=$cpus State=UNKNOWN"
    done
    echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8"
} >"$SLURM_CONF"
mkdir "$folder/state"
# Every node has a folder of its own for its configuration: the pmix plugin makes folders without the node's name in them, which
# would meet where several nodes are one machine, and which would otherwise be made in /tmp.
for name in "${node_names[@]}"; do
    mkdir -p "$folder/$name/pmix"
    cp "$SLURM_CONF" "$folder/$name/"
    echo "PMIxCliTmpDirBase=$folder/$name/pmix" >"$folder/$name/mpi.conf"
    : >"$folder/$name/cgroup.conf"
done
head -c 128 /dev/urandom >"$folder/munge.key"
chmod 600 "$folder/munge.key"
# srun of another user, or a program on a node, must reach the configuration and the socket.
chmod 755 "$folder"

set -m
guard_life </dev/null >/dev/null 2>&1 &
guard=$!
disown # no word about it when it is ended
set +m

# ---- start ------------------------------------------------------------------------------------------------------------------

munged --foreground --force --socket="$folder/munge.socket" --key-file="$folder/munge.key" --pid-file="$folder/munged.pid" \
    --log-file="$folder/munged.log" --seed-file="$folder/munged.seed" </dev/null >"$folder/munged.out.log" 2>&1 &
until_true 300 test -S "$folder/munge.socket" || failed "munged does not start"

slurmctld -D -f "$SLURM_CONF" </dev/null >"$folder/slurmctld.out.log" 2>&1 &
for name in "${node_names[@]}"; do
    read -ra in_node <<<"${prefix//\{node\}/$name}"
    "${in_node[@]}" env SLURM_SH_FOLDER="$folder" SLURM_CONF="$folder/$name/slurm.conf" PATH="$PATH" \
        slurmd -D -N "$name" -f "$folder/$name/slurm.conf" </dev/null >"$folder/slurmd.$name.out.log" 2>&1 &
    done

all_are_idle() { [ "$(timeout -k 1 5 sinfo --noheader --Node --format=%T 2>/dev/null | grep -cx idle)" = ${#node_names[@]} ]; }
until_true 600 all_are_idle || failed "the nodes do not become idle: $(timeout -k 1 5 sinfo --noheader --Node --format='%N %T %E' 2>&1 | tr '\n' ';')"

# ---- the command ------------------------------------------------------------------------------------------------------------

# In a process group of its own, so that a signal to this script ends it too, with what it has started.
set -m
"$@" <&0 &
command_group=$!
echo "$command_group" >"$folder/command"
set +m
wait "$command_group"
rc=$?
rm -f "$folder/command"
command_group=
exit $rc
