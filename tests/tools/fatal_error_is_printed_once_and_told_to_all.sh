#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 4 "$PE" open gather=8 '@2:abort=9,the heap is broken' wait
status 9
count 1 '^postern: PE 2 ended the job: the heap is broken' err
count 3 '^pe [013]: event failure status 9: PE 2 ended the job: the heap is broken' err
run "$OSHRUN" -n 2 "$PE" open gather=8 '@1:abort=0,a failure is never success' wait
status 1
