#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Many faults at once: each is a finding of its own, with its consequence and a command for this machine (its names, its way to change limits).
. "${0%/*}/doctor_lib.sh"
machine sick_container
examine
status 2
err_empty
finding missing rdma-library
detail rdma-library 'fix: apt-get install libibverbs1 '
finding missing rdma-access mlx5_1
finding degraded port-state mlx5_1/1
detail port-state 'fix: ip link set ens2np0 up$'
finding missing gpu-peer-memory
detail gpu-peer-memory 'fix: modprobe nvidia-peermem;'
finding missing memlock
detail memlock '64 KiB may be registered'
detail memlock 'fix: .*--ulimit memlock=-1'

finding degraded rdma-pci-link mlx5_0
detail rdma-pci-link '8 GT/s x8, which carries 63 Gb/s for a port of 100'
detail rdma-pci-link 'fix: put the card at 0000:16:00.0 into a slot of 16 GT/s x16'
finding degraded port-mtu mlx5_0/1
detail port-mtu 'packets of 1024 bytes instead of 4096 \(MTU of ens1np0 is 1500\)'
detail port-mtu 'fix: ip link set ens1np0 mtu 4200'
finding degraded port-loss mlx5_0/1
detail port-loss '85398 sequence errors and timeouts in 121888120 packets, and 2 connections given up'
finding degraded port-pfc mlx5_0/1
detail port-pfc 'ens1np0 dropped 85021 of 60884002 packets'
finding degraded port-ecn mlx5_0/1
detail port-ecn 'fix: .*/sys/class/net/ens1np0/ecn/roce_\[nr\]p/enable/'
finding degraded port-priority mlx5_0/1
detail port-priority 'fix: dcb pfc set dev ens1np0 prio-pfc 3:on'
finding degraded rdma-iommu mlx5_0
detail rdma-iommu 'group 12, mode DMA-FQ'
detail rdma-iommu "fix: add iommu=pt to the kernel's command line"
finding degraded gpu-bar1 0000:18:00.0
detail gpu-bar1 '130048 of 131072 MiB of BAR1 used \(99 %\)'
finding ok gpu-bar1 0000:97:00.0
finding ok gpu-distance 0000:18:00.0
detail gpu-distance 'mlx5_0 is on the same host bridge$'
finding degraded gpu-distance 0000:97:00.0
detail gpu-distance 'mlx5_0, is on another NUMA node \(0, the GPU on 1\)'

finding ok container
detail container 'docker; for RDMA it wants --device=/dev/infiniband --ulimit memlock=-1 --network=host'
finding degraded cgroup-memory
detail cgroup-memory '1024 MiB .*\(/sys/fs/cgroup/memory.max\)'
finding degraded cgroup-cpu
detail cgroup-cpu 'a quota of 2 of 8 CPUs'
finding degraded cgroup-pids
finding degraded cgroup-rdma mlx5_0
finding ok cgroup-rdma mlx5_1
finding degraded ptrace
detail ptrace 'fix: sysctl kernel.yama.ptrace_scope=1$'
finding degraded huge-pages
finding degraded cpu-frequency
detail cpu-frequency 'governor powersave on 6 of 8 CPUs'
detail cpu-frequency 'fix: cpupower frequency-set -g performance'
finding degraded c-states
detail c-states 'C6, 290 us'
detail c-states 'fix: cpupower idle-set -D 20'
count 1 '^13 ok, 19 degraded, 4 missing$' out

# Nothing is said of a fault without its consequence and its remedy.
faults=$(grep -cE '^(degraded|missing) ' out)
count "$faults" '^    why: .+' out
count "$faults" '^    fix: .+' out
