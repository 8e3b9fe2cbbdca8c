#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Programs that know nothing of this simulator: the examples of rdma-core, between two processes.
set -u
: "${SIMVERBS_LIB:?folder of the simulated libibverbs.so.1}"
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
for program in ibv_devices ibv_devinfo ibv_rc_pingpong ibv_ud_pingpong ibv_srq_pingpong; do
    command -v $program >/dev/null || skip "no $program here (package ibverbs-utils)"
done
export LD_LIBRARY_PATH=$SIMVERBS_LIB SIMVERBS_FABRIC=$work/fabric
port=$((20000 + $$ % 20000))

ibv_devices | grep -q '^ *sim0' || fail "ibv_devices shows no sim0"
SIMVERBS=devices=2,host=3 ibv_devinfo -v >"$work/info" || fail "ibv_devinfo failed"
grep -q 'RoCE v2' "$work/info" || fail "ibv_devinfo shows no GID of RoCE v2"
grep -q 'hca_id:.*sim1' "$work/info" || fail "ibv_devinfo shows no second device"
SIMVERBS=infiniband=1 ibv_devinfo | grep -q 'link_layer:.*InfiniBand' || fail "ibv_devinfo shows no InfiniBand port"

# pingpong PROGRAM ARGUMENTS...: the first process listens, the second connects to it; both count and end well.
pingpong() {
    local server client=1
    port=$((port + 1))
    timeout 60 "$@" -p $port >"$work/server" 2>&1 &
    server=$!
    # The server's socket is there a moment after it starts.
    for _ in $(seq 200); do
        timeout 60 "$@" -p $port 127.0.0.1 >"$work/client" 2>&1 && client=0 && break
        grep -q "Couldn't connect" "$work/client" || break
        sleep 0.05
    done
    [ $client = 0 ] || fail "$* ended with an error: $(tail -3 "$work/client")"
    wait $server || fail "the server of $* ended with an error: $(tail -3 "$work/server")"
    grep -q ' iters in ' "$work/client" || fail "$* counted nothing"
}
pingpong ibv_rc_pingpong -g 1 -n 200
pingpong ibv_rc_pingpong -g 3 -n 100 -s 100000 -c -e
pingpong ibv_rc_pingpong -g 3 -n 100 -t
pingpong ibv_rc_pingpong -g 1 -n 100 -N
pingpong ibv_ud_pingpong -g 1 -n 200 -s 1024
pingpong ibv_srq_pingpong -g 1 -n 200 -q 4
SIMVERBS=infiniband=1 pingpong ibv_rc_pingpong -n 100
# Whatever the seed chooses, a program with one queue pair sees what it has always seen.
for seed in 1 2 3; do
    SIMVERBS=chaos=1,packet=512,seed=$seed pingpong ibv_rc_pingpong -g 1 -n 50 -s 3000 -c
done
