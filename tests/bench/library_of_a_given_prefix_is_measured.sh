#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# --peer NAME=PREFIX: a library is built and run by the oshcc and oshrun of its prefix. Here these are Open MPI's, under another name.
#
# usage: library_of_a_given_prefix_is_measured.sh BUILD
set -u
real=$(command -v oshcc.openmpi || command -v oshcc) && "$real" -show 2>/dev/null | grep -q -- -loshmem || {
    echo "skipped: Open MPI's oshcc is not installed"
    exit 77
}
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
mkdir "$prefix/bin"
cat >"$prefix/bin/oshcc" <<SCRIPT
#!/bin/sh
echo built >>"$prefix/log"
exec "$real" "\$@"
SCRIPT
cat >"$prefix/bin/oshrun" <<SCRIPT
#!/bin/sh
echo run >>"$prefix/log"
export OMPI_MCA_osc=^rdma OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec "$(dirname "$real")/oshrun" --oversubscribe --quiet "\$@"
SCRIPT
chmod +x "$prefix/bin/oshcc" "$prefix/bin/oshrun"
text=$("$(dirname "$0")/peers.py" "$1" --pes 2 --rounds 2 --groups signal --without MPI --oshcc /nonexistent --peer "Other SHMEM=$prefix" \
    -- --samples 3 --sample-us 5 --sizes 8) || { echo "FAILED: status $?"; exit 1; }
echo "$text"
failed=0
[ "$(tr '\n' ' ' <"$prefix/log")" = "built run run " ] || { echo "FAILED: built once and run twice, and not: $(cat "$prefix/log")"; failed=1; }
grep -qE '^operation .* Other SHMEM +ours / best peer' <<<"$text" || { echo "FAILED: no column of its name"; failed=1; }
# It may break by itself on a machine of its own kind; then that is said.
grep -qE '^put_signal, one way .*(won|level|lost)$|^skipped: Other SHMEM, ' <<<"$text" || { echo "FAILED: no row with its figures"; failed=1; }
exit $failed
