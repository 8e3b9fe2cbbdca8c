#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$PE" open identity gather=8 gather=0 close open gather=8 close
status 0
out_has '^pe 0 of 1 local 0 of 1 launcher hand$'
err_empty
run env POSTERN_PE=3 POSTERN_NPES=8 "$PE" open identity close # what a PE's own child inherits
status 0
out_has '^pe 0 of 1'
run env POSTERN_BOOTSTRAP=local "$PE" open close
status 3
err_has 'oshrun did not start this process'
