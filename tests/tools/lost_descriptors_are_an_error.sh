#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 1 python3 -c 'import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)' "$PE" open identity
status 3
err_has 'cannot join the job of oshrun as PE 0 of 1'
err_has 'why: the descriptors [0-9]+ and [0-9]+'
err_has 'fix: .*close_fds=False'
[ ! -s out ] || fail "a job of one PE in silence"
# The same number, another socket.
run "$OSHRUN" -n 1 python3 -c '
import os, socket, subprocess, sys
fds = [int(f) for f in os.environ["POSTERN_OSHRUN"].split(":")[1:3]]
pairs = socket.socketpair(type=socket.SOCK_STREAM), socket.socketpair(type=socket.SOCK_SEQPACKET)
for fd, pair in zip(fds, pairs): os.dup2(pair[0].fileno(), fd, inheritable=True)
sys.exit(subprocess.run(sys.argv[1:], close_fds=False).returncode)' "$PE" open identity
status 3
run env POSTERN_OSHRUN=1:100:101:5:6:0:1:0:1:ab "$PE" open identity # left over
status 3
run env POSTERN_OSHRUN=nonsense "$PE" open identity
status 3
err_has 'makes no sense'
run env POSTERN_OSHRUN=999:100:101:5:6:0:1:0:1:ab "$PE" open identity
status 3
err_has 'version 999'
