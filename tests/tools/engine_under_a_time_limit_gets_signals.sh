#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: none; --timeout is oshrun's own.
. "${0%/*}/engine_lib.sh"
fake_orte
sed -i 's/^exit 42$//' engines/mpirun
echo '[ -z "${FAR-}" ] || FAR= exec setsid "$0" "$@"' >>engines/mpirun
cat >>engines/mpirun <<'END'
trap 'echo got USR2' USR2
trap 'echo got INT' INT
trap 'echo got TERM; exit 5' TERM
echo ready
while :; do sleep 0.05; done
END
export PATH=$work/engines:$tools_path
start "$OSHRUN" --engine mpirun --timeout 1000 ./program
until_lines 1 '^ready$'
kill -USR2 "$started"
until_lines 1 '^got USR2$'
kill -INT "$started"
until_lines 1 '^got INT$'
kill -TERM "$started"
finish
status 5
count 1 '^got TERM$' out
nothing_left
# An oshrun that is killed takes the engine with it, which ends its PEs.
start "$OSHRUN" --engine mpirun --timeout 1000 ./program
until_lines 1 '^ready$'
kill -KILL "$started"
until_lines 1 '^got TERM$'
nothing_left_soon
# The terminal's ^C reaches the engine by itself: oshrun adds none. To be seen with an engine that has left the terminal.
command_run="a terminal"
FAR=1 timeout -k 1 60 python3 - "$OSHRUN" >out 2>err <<'END'
import os, pty, signal, sys

pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "--engine", "mpirun", "--timeout", "1000", "./program"])
text = b""


def read_until(word):
    global text
    while word not in text:
        text += os.read(terminal, 4096)


read_until(b"ready")
os.write(terminal, b"\x03")
read_until(b"^C")  # the terminal has taken it
os.kill(pid, signal.SIGUSR2)
read_until(b"got USR2")
os.kill(pid, signal.SIGTERM)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(text.decode(), status)
sys.exit(b"got INT" in text or status != 5)
END
rc=$?
status 0
nothing_left
