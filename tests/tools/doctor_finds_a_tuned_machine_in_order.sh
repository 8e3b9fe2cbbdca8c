#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Two sockets with an RDMA card and a GPU each, set up as they should be: every look has its line, all are ok, and they say what was found.
. "${0%/*}/doctor_lib.sh"
machine roce_two_cards
examine
status 0
err_empty
for check in rdma-module rdma-library gpu-driver gpu-peer-memory memlock container cgroup-memory cgroup-cpu cgroup-pids ptrace huge-pages \
    cpu-frequency c-states; do
    finding ok "$check"
done
for card in mlx5_0 mlx5_1; do
    for check in rdma-device rdma-access rdma-pci-link rdma-iommu cgroup-rdma; do finding ok "$check" "$card"; done
    for check in state mtu rate gid loss pfc priority ecn; do finding ok "port-$check" "$card/1"; done
done
for gpu in 0000:19:00.0 0000:9a:00.0; do
    finding ok gpu-bar1 "$gpu"
    finding ok gpu-distance "$gpu"
done
count 1 '^43 ok, 0 degraded, 0 missing$' out
count 0 'why:|fix:' out

count 1 'mlx5_1: at 0000:99:00.0, NUMA node 1, firmware 22.39.2048$' out
count 1 'mlx5_0: 16 GT/s x16 carries 252 Gb/s, its port 100$' out
count 1 'mlx5_0/1: packets of 4096 bytes \(MTU of ens1np0 is 9000\)$' out
count 1 'mlx5_0/1: GID 3, RoCE v2, 10.0.1.5 on ens1np0$' out
count 2 '161358024679 packets, 55 sequence errors and timeouts, 2 times a receiver was not ready$' out
count 2 'pauses by priority: 17 received, 23 sent; global: 0, 0; dropped: 0$' out
count 2 '9000 packets came marked, 5120 notifications sent, 4800 heeded$' out
count 2 'passthrough \(identity\)$' out
count 2 'PFC on priority 3; jobs use it with POSTERN_IB_SL, or POSTERN_IB_TRAFFIC_CLASS' out
count 1 '0000:9a:00.0: 104000 of 131072 MiB of BAR1 used$' out
count 1 '0000:9a:00.0: mlx5_1 is on the same PCIe switch$' out
detail cgroup-memory '512 GiB'
detail gpu-driver '2 GPUs'
[ "$(awk '$2 == "gpu-distance" { print $3 }' out | paste -sd' ')" = '0000:19:00.0: 0000:9a:00.0:' ] || fail "GPUs are not in order"
