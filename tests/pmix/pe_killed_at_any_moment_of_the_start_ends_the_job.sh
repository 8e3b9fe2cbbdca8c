#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# One PE dies by a timer somewhere in its start-up, or just behind it, and all PEs end. (Whether the launcher itself does is its own affair: see
# await_launcher in lib.sh.)
# Spec: none; docs/architecture.md "How a job ends"
. "${0%/*}/lib.sh"
for us in 500 4000 8000 13000 20000 50000; do
    once=1 run 3 @1:die_in_us=$us init wait
    status_is_a_failure
    nothing_left
done
