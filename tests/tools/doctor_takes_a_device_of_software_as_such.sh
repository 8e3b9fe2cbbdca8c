#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Soft-RoCE: no card behind the device, so nothing is said of one; its port and its counters, which have other names, are looked at.
. "${0%/*}/doctor_lib.sh"
machine soft_roce_guest
counters=sys/class/infiniband/rxe0/ports/1/hw_counters
examine
status 0
err_empty
finding ok rdma-device rxe0
detail rdma-device 'a device of software'
finding ok rdma-access rxe0
finding ok port-state rxe0/1
finding ok port-mtu rxe0/1
finding ok port-rate rxe0/1
finding ok port-gid rxe0/1
detail port-gid 'GID 1, RoCE v2, 10.77.0.1 on eth0'
finding ok port-loss rxe0/1
finding ok port-pfc rxe0/1
finding ok port-ecn rxe0/1
finding ok cgroup-rdma rxe0
count 0 'rdma-pci-link|gpu-distance|gpu-peer-memory' out

set_file $counters/sent_pkts 3000000
set_file $counters/rcvd_pkts 2000000
set_file $counters/rcvd_seq_err 9
set_file $counters/completer_retry_err 6
examine
status 0
detail port-loss '5000000 packets, 15 sequence errors and timeouts'
set_file $counters/completer_retry_err 7
examine
status 1
finding degraded port-loss rxe0/1
machine soft_roce_guest
set_file $counters/retry_exceeded_err 1
examine
status 1
detail port-loss '1 connections given up'
