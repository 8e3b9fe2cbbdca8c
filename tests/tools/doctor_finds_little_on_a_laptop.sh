#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Where there is no RDMA device and no GPU, that is one finding, and nothing else asks to be mended for their sake.
. "${0%/*}/doctor_lib.sh"
machine laptop
examine
status 2
err_empty
finding missing rdma-device
detail rdma-device 'modprobe rdma_rxe && rdma link add rxe0 type rxe netdev wlp0s20f3$'
finding ok rdma-module
finding ok gpu-driver
finding ok memlock
detail memlock '8192 KiB; without an RDMA device nothing needs it'
finding ok container
finding ok cgroup-memory
finding ok cgroup-pids
finding ok ptrace
finding ok huge-pages
detail huge-pages 'private tmpfs'
finding degraded cpu-frequency
finding degraded c-states
detail c-states 'C3_ACPI, 1048 us'
count 1 '^9 ok, 2 degraded, 1 missing$' out
count 0 'port-|gpu-bar1|rdma-library|rdma-access' out

# A card whose driver makes no RDMA device is what to mend, not a card to buy.
ln -sfn ../../bus/pci/drivers/mlx5_core "$work/root/sys/devices/pci0000:00/0000:00:14.3/driver"
examine
status 2
finding missing rdma-module
finding missing rdma-device 0000:00:14.3
detail rdma-device 'modprobe mlx5_ib$'
