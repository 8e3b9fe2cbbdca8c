#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A SHMEM program that a PE starts is a job of one PE; a forked child does not disturb the job, neither by its exit nor by SIGTERM.
# Spec: none; docs/architecture.md "How a job ends"
. "${0%/*}/lib.sh"
run 3 init "run=$PE init alone finalize say=child" ring finalize
status 0
count 3 'child of PE 0'
run 2 init fork=0 sleep=300 ring fork_term ring finalize say=done
status 0
count 2 'done of PE'
# By exec the PE stays the PE.
run_program 2 sh -c 'exec "$0" init ring finalize say=done' "$PE"
status 0
count 2 'done of PE'
nothing_left
