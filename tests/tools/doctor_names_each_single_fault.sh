#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# One fault on a machine that is in order otherwise: that finding changes, no other does, and the exit status is that of its state.
. "${0%/*}/doctor_lib.sh"
port=sys/class/infiniband/mlx5_1/ports/1
card=sys/class/infiniband/mlx5_1/device

# fault STATE CHECK OBJECT REGEX [LINES]: the machine as it is now has one finding of that check, which says REGEX, and is ok otherwise.
fault() {
    local state
    examine
    case $1 in ok) state=0 ;; degraded) state=1 ;; missing) state=2 ;; esac
    status "$state"
    err_empty
    [ "$1" = ok ] && lines=0 || lines=1
    count "$lines" '^(degraded|missing) ' out
    finding "$1" "$2" "$3"
    grep -A 2 -E "^$1 +$2 +${3:+$3: }" "$work/out" | grep -qE -- "$4" || fail "$2 does not say: $4"
    machine roce_two_cards
}
machine roce_two_cards

# ---- the way to the device
remove sys/class/infiniband_verbs/uverbs1 # a device without a file: the other one is looked at all the same
examine
status 0
count 1 rdma-access out
machine roce_two_cards
remove sys/class/infiniband_verbs
fault missing rdma-module '' 'fix: modprobe ib_uverbs;'
remove dev/infiniband/uverbs1
fault missing rdma-access mlx5_1 'fix: udevadm trigger --subsystem-match=infiniband_verbs'
remove usr/lib/x86_64-linux-gnu/libibverbs.so.1
fault missing rdma-library '' 'fix: apt-get install libibverbs1'
set_file $card/current_link_width 4
fault degraded rdma-pci-link mlx5_1 '16 GT/s x4, which carries 63 Gb/s'
set_file $card/current_link_speed '5.0 GT/s PCIe' # 8b/10b: 5 x 16 x 0.8 = 64
fault degraded rdma-pci-link mlx5_1 '5 GT/s x16, which carries 64 Gb/s'
# Where a virtual machine does not tell, that is no fault.
remove "$card/current_link_speed"
examine
status 0
machine roce_two_cards

# ---- the port
set_file $port/state '1: DOWN'
set_file $port/phys_state '2: Polling'
fault degraded port-state mlx5_1/1 'why: PEs have the other ports only'
set_file $port/state '1: DOWN'
set_file $port/phys_state '2: Polling'
set_file ${port/mlx5_1/mlx5_0}/state '1: DOWN' # the only other one
examine
status 2
count 2 '^missing +port-state' out
count 2 'why: no PE can use RDMA' out
out_has 'fix: plug in its cable .*rdma link show mlx5_1/1'
machine roce_two_cards
set_file $port/rate '25 Gb/sec (1X EDR)'
fault degraded port-rate mlx5_1/1 '25 Gb/sec \(1X EDR\), where mlx5_0/1 on the same model runs at 100 Gb/s'
for mtu in 4191:2048 2144:2048 2143:1024 1500:1024 1119:512 607:256; do
    set_file $card/net/ens2np0/mtu "${mtu%:*}"
    fault degraded port-mtu mlx5_1/1 "packets of ${mtu#*:} bytes instead of 4096"
done
set_file $card/net/ens2np0/mtu 4192
fault ok port-mtu mlx5_1/1 'packets of 4096 bytes'
for index in 2 3; do set_file $port/gids/$index 0000:0000:0000:0000:0000:0000:0000:0000; done
fault degraded port-gid mlx5_1/1 'GID 1 is link-local only \(fe80:.*99\)'
for index in 1 3; do set_file $port/gid_attrs/types/$index 'IB/RoCE v1'; done
fault missing port-gid mlx5_1/1 'no RoCE v2 address'
for index in 0 1 2 3; do set_file $port/gid_attrs/ndevs/$index ens7; done
examine
finding missing port-gid mlx5_1/1
detail port-gid 'GID 3 \(10.0.2.5\) belongs to ens7, which is in another network namespace'
detail port-gid 'docker run --network=host'
machine roce_two_cards
set_file $port/gid_attrs/types/2 'RoCE v2' # of two that are as good, the first
fault ok port-gid mlx5_1/1 'GID 2, RoCE v2, 10.0.2.5 on ens2np0'
set_file $port/gids/3 2001:0db8:0000:0000:0000:0000:0000:0005
fault ok port-gid mlx5_1/1 'GID 3, RoCE v2, 2001:0db8:'

# ---- lost packets: more than one in a million, of 161,358 million
set_file $port/hw_counters/packet_seq_err 161300
fault ok port-loss mlx5_1/1 '161343 sequence errors'
set_file $port/hw_counters/packet_seq_err 161400
fault degraded port-loss mlx5_1/1 '161443 sequence errors'
set_file $port/hw_counters/req_transport_retries_exceeded 1
fault degraded port-loss mlx5_1/1 '1 connections given up'
edit_file ethtool/ens2np0 's/rx_discards_phy: 0/rx_discards_phy: 90000/'
fault degraded port-pfc mlx5_1/1 'ens2np0 dropped 90000 of 80123900123 packets'
edit_file ethtool/ens2np0 's/tx_pause_storm_warning_events: 0/tx_pause_storm_warning_events: 4/'
fault degraded port-pfc mlx5_1/1 'ens2np0 sent pauses for too long 4 times'
remove ethtool/ens2np0
fault ok port-pfc mlx5_1/1 'keeps no counters'
set_file ethtool/ens2np0 $'rx_pfc_ena_frames_pri3: 5\nrx_pfc_ena_frames_pri4: 6\ntx_pfc_ena_frames_pri3: 7\nrx_pause_frames: 11'
fault ok port-pfc mlx5_1/1 'by priority: 11 received, 7 sent; global: 11, 0; dropped: 0'
set_file $port/hw_counters/np_cnp_sent 0
fault degraded port-ecn mlx5_1/1 '9000 packets came marked for congestion, and 0 notifications were sent'
for priority in 0 1 2 3 4 5 6 7; do set_file $card/net/ens2np0/ecn/roce_rp/enable/$priority 0; done
fault degraded port-ecn mlx5_1/1 'roce_\[nr\]p/enable'
remove "$card/net/ens2np0/ecn"
set_file $port/hw_counters/rp_cnp_ignored 5000
fault degraded port-ecn mlx5_1/1 'mlxconfig -d 0000:99:00.0 set'

# ---- priorities without loss
set_file dcb/ens2np0 'prio-pfc 0:off 1:off 2:off 3:off 4:off 5:off 6:off 7:off'
fault ok port-priority mlx5_1/1 'PFC on no priority: only congestion control'
set_file dcb/ens2np0 'prio-pfc 0:off 1:on 2:off 3:off 4:off 5:on 6:off 7:off'
fault ok port-priority mlx5_1/1 'PFC on priority 1, 5; jobs'
remove dcb/ens2np0
fault ok port-priority mlx5_1/1 'ens2np0 does not tell'
set_file dcb/ens2np0 'no such device'
fault ok port-priority mlx5_1/1 'ens2np0 does not tell'

# ---- the IOMMU
set_file sys/kernel/iommu_groups/13/type DMA-FQ
fault degraded rdma-iommu mlx5_1 'fix: the kernel was started with passthrough, and something overrides it'
set_file sys/kernel/iommu_groups/13/type DMA
set_file proc/cmdline 'root=/dev/sda1 iommu=ptx quiet'
fault degraded rdma-iommu mlx5_1 'fix: add iommu=pt to the kernel'
remove sys/kernel/iommu_groups/13
fault ok rdma-iommu mlx5_1 'does not tell its mode'
remove "$(realpath --relative-to="$work/root" "$work/root/$card")/iommu_group"
fault ok rdma-iommu mlx5_1 'no IOMMU is in its way'

# ---- InfiniBand, iWARP, libfabric's devices, software
set_file $port/link_layer InfiniBand
set_file $port/lid 0x1a
make_file ibv_devinfo/mlx5_1 $'hca_id: mlx5_1\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t2048 (4)'
fault degraded port-mtu mlx5_1/1 'packets of 2048 bytes, where the port takes 4096'
set_file $port/link_layer InfiniBand
set_file $port/lid 0x1a
make_file ibv_devinfo/mlx5_1 $'\tport:\t1\n\tmax_mtu: 4096 (5)\n\tactive_mtu: 4096 (5)\n\tport:\t2\n\tactive_mtu: 256 (1)'
fault ok port-mtu mlx5_1/1 'packets of 4096 bytes$'
set_file $port/link_layer InfiniBand
set_file $port/lid 0x1a
fault ok port-gid mlx5_1/1 'LID 26'
set_file $port/link_layer InfiniBand
set_file $port/state '2: INIT'
fault degraded port-state mlx5_1/1 'fix: systemctl start opensm'
set_file sys/class/infiniband/mlx5_1/node_type '4: RNIC'
fault missing rdma-device mlx5_1 'iWARP'
set_file sys/class/infiniband/mlx5_1/node_type '7: unspecified'
fault ok rdma-device mlx5_1 'a device for libfabric'
remove sys/class/infiniband/mlx5_1/device
fault degraded gpu-distance 0000:9a:00.0 'mlx5_0, is on another NUMA node'

# ---- GPUs
edit_file nvidia-smi 's/Used .*: 104000 MiB/Used : 104858 MiB/' # 80.0003 %
fault degraded gpu-bar1 0000:9a:00.0 '104858 of 131072 MiB of BAR1 used \(80 %\)'
edit_file nvidia-smi 's/Used .*: 104000 MiB/Used : 104857 MiB/'
fault ok gpu-bar1 0000:9a:00.0 104857
remove nvidia-smi
fault degraded gpu-bar1 '' 'not told: the recording has no output of nvidia-smi'
remove proc/driver/nvidia
fault missing gpu-driver '' 'fix: modprobe nvidia;'
remove sys/module/nvidia_peermem
fault missing gpu-peer-memory '' 'fix: modprobe nvidia-peermem'
remove sys/module/nvidia_peermem
set_file proc/driver/nvidia/version 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  560.35.03'
fault ok gpu-peer-memory '' 'by dma-buf'
remove sys/module/nvidia_peermem
set_file proc/driver/nvidia/version 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  560.35.03'
set_file proc/sys/kernel/osrelease 5.11.22
fault missing gpu-peer-memory '' 'has no dma-buf'

# ---- limits
limit() { edit_file proc/self/limits "s/^Max locked memory .*/Max locked memory  $1  $2  bytes/"; }
limit 65536 unlimited
fault missing memlock '' 'fix: ulimit -l unlimited'
limit 268435455 268435455
fault missing memlock '' 'fix: .*/etc/security/limits.d/rdma.conf'
limit 268435456 268435456
fault degraded memlock '' '256 MiB may be registered'
limit 65536 65536
edit_file proc/self/status 's/^CapEff:.*/CapEff:\t0000000000004000/'
fault ok memlock '' 'CAP_IPC_LOCK'
limit 65536 65536
edit_file proc/self/status 's/^CapEff:.*/CapEff:\t0000000000004000/'
set_file proc/self/uid_map '         0       1000          1' # root of a user namespace only
fault missing memlock '' '64 KiB'
set_file proc/sys/kernel/yama/ptrace_scope 3
fault degraded ptrace '' 'ptrace_scope 3'
group=sys/fs/cgroup/system.slice/slurmstepd.scope
set_file $group/memory.max 1073741824 # of the group above ours
fault degraded cgroup-memory '' '1024 MiB for all processes here \(/sys/fs/cgroup/system.slice/slurmstepd.scope/memory.max\)'
set_file $group/job_42/cpu.max '350000 100000'
fault degraded cgroup-cpu '' 'a quota of 3 of 8 CPUs'
set_file $group/job_42/pids.max 127
fault degraded cgroup-pids '' '127 processes and threads'
set_file sys/fs/cgroup/rdma.max 'mlx5_1 hca_handle=max hca_object=2000'
fault degraded cgroup-rdma mlx5_1 "fix: echo 'mlx5_1 hca_handle=max hca_object=max' >/sys/fs/cgroup/rdma.max"
set_file proc/self/cgroup 5:memory:/lxc/7 # version 1
make_file sys/fs/cgroup/memory/lxc/7/memory.limit_in_bytes 2147483648
fault degraded cgroup-memory '' '2048 MiB .*/sys/fs/cgroup/memory/lxc/7/memory.limit_in_bytes'

# ---- memory and processors
set_file sys/kernel/mm/transparent_hugepage/shmem_enabled 'always within_size advise never [deny] force'
fault degraded huge-pages '' 'shmem_enabled is deny'
set_file sys/kernel/mm/transparent_hugepage/shmem_enabled 'always within_size advise never [deny] force'
set_file sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages 512
fault ok huge-pages '' '512 set aside and free'
set_file sys/kernel/mm/transparent_hugepage/shmem_enabled 'always within_size advise [never] deny force'
make_file proc/sys/user/max_user_namespaces 0
fault degraded huge-pages '' 'fix: echo advise >/sys/kernel/mm/transparent_hugepage/shmem_enabled'
set_file sys/devices/system/cpu/cpu7/cpufreq/scaling_governor schedutil
fault degraded cpu-frequency '' 'governor schedutil on 1 of 8 CPUs'
set_file sys/devices/system/cpu/cpu7/cpuidle/state3/disable 0
fault degraded c-states '' 'C6, 290 us'
for cpu in 0 1 2 3 4 5 6 7; do remove sys/devices/system/cpu/cpu$cpu/cpuidle; done
fault ok c-states '' 'not told'
