# SPDX-License-Identifier: Apache-2.0
#
# For the tests of this folder, which source it. From ctest come:
#   ENGINE    mpirun, srun or prterun: who starts the PEs
#   PE        pe.c built
set -u
: "${ENGINE:?mpirun, srun or prterun}" "${PE:?path of the program pe}"

here=$(cd "${0%/*}" && pwd)
# A Slurm of our own around the whole test.
if [ "$ENGINE" = srun ] && [ -z "${SLURM_SH_FOLDER-}" ]; then
    exec "$here/../cluster/slurm.sh" run -- "$0" "$@"
fi
. "$here/../lib.sh"
export TMPDIR=$work # engines keep files of their own there
engine=$(command -v "${ENGINE_PROGRAM:-$ENGINE}") || skip "there is no $ENGINE here"
case $ENGINE in
prterun)
    # A wheel's programs believe in the folder in which they were built.
    prefix=$(dirname "$(dirname "$engine")")
    [ -e "$prefix/share/prte" ] && export PRTE_PREFIX=$prefix PMIX_PREFIX=$prefix OPAL_PREFIX=$prefix
    ;;
esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1

# The command that starts N processes: "${launcher[@]}" program arguments.
launcher_of() {
    case $ENGINE in
    mpirun) launcher=("$engine" --oversubscribe -n "$1") ;;
    prterun) launcher=("$engine" --map-by :OVERSUBSCRIBE -n "$1") ;;
    srun) launcher=("$engine" --quiet --mpi=pmix --overcommit --kill-on-bad-exit=1 -N1 -n "$1") ;;
    *) fail "what is ENGINE=$ENGINE?" ;;
    esac
}

# PEs and what they have started: not the launcher and its daemons.
some_pe_lives() {
    local pid
    for pid in $(marked); do
        case $(readlink "/proc/$pid/exe") in
        */mpirun | */orterun | */prterun | */prte* | */srun | */timeout) ;;
        *) return 0 ;;
        esac
    done
    return 1
}

# Wait for the launcher. hung=1: it did not end although no PE was left for 3 s; Debian's mpirun locks itself up so, in
# PMIx_server_finalize, when a PE dies in the middle of a fence. Then it is ended.
await_launcher() {
    local pid=$1 seconds=0 alone=0
    hung=0
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.1
        seconds=$((seconds + 1))
        [ $seconds -gt 30 ] && [ $((seconds % 10)) = 0 ] || continue
        if some_pe_lives; then alone=0; else alone=$((alone + 1)); fi
        [ $alone -lt 3 ] || { hung=1; break; }
    done
    [ $hung = 0 ] || end_marked
    wait "$pid"
    rc=$?
    [ $hung = 0 ] || rc=137
}

# run_program N program arguments: to its end; status in rc, output in the files out and err. 60 s are a guard against hangs of PEs.
run_program() {
    local tries
    launcher_of "$1"
    shift
    command_run="${launcher[*]} $*"
    for tries in 1 2 3; do
        timeout -k 2 60 "${launcher[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null &
        await_launcher $!
        [ $hung = 1 ] || break
        echo "note: $ENGINE hung after all PEs had ended (try $tries)"
        [ -z "${once-}" ] || break
    done
}
# run N words of pe.c
run() {
    local pes=$1
    shift
    run_program "$pes" "$PE" "$@"
}
status_is_a_failure() {
    case $rc in
    0) fail "status is 0" ;;
    124) fail "the job hung" ;;
    esac
}
# mpirun passes all on to where it came from; prterun may mix the two.
has() { grep -qE -- "$1" "$work/out" "$work/err" || fail "the output lacks: $1"; }
lacks() { ! grep -qE -- "$1" "$work/out" "$work/err" || fail "the output has: $1"; }
count() { # count N REGEX
    local found
    found=$(cat "$work/out" "$work/err" | grep -cE -- "$2")
    [ "$found" = "$1" ] || fail "$found lines match $2, not $1"
}

at_most_once() {
    local found
    found=$(cat "$work/out" "$work/err" | grep -cE -- "$1")
    [ "$found" -le 1 ] || fail "$found lines match $1"
}

# run_printing COUNT REGEX N words: what PEs have printed when the job ends must appear. A launcher under load may drop what it has not
# passed on yet when it ends a job, so this is tried a few times; a library that does not flush never gets there.
run_printing() {
    local wanted=$1 regex=$2 tries
    shift 2
    for tries in 1 2 3 4 5; do
        run "$@"
        [ "$(cat "$work/out" "$work/err" | grep -cE -- "$regex")" = "$wanted" ] && return
    done
    count "$wanted" "$regex"
}

# run_failing REGEX... -- N words: the job fails, nothing of it is left, and each REGEX is said. mpirun sometimes ends without its own word about a
# process that died, and ends the others before all of theirs is passed on; so what several tries have said counts together.
run_failing() {
    local wanted=() regex tries
    while [ "$1" != -- ]; do
        wanted+=("$1")
        shift
    done
    shift
    : >"$work/said"
    for tries in 1 2 3 4 5; do
        run "$@"
        status_is_a_failure
        nothing_left
        cat "$work/out" "$work/err" >>"$work/said"
        for regex in "${wanted[@]}"; do
            grep -qE -- "$regex" "$work/said" || continue 2
        done
        return
    done
    for regex in "${wanted[@]}"; do grep -qE -- "$regex" "$work/said" || fail "in $tries tries nobody says: $regex"; done
}

# Launchers end a moment before the last of their daemons.
nothing_left() { until_true nothing_marked || processes_are_left; }
