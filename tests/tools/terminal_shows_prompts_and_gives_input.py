#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# On a terminal a prompt without a newline appears, and what is typed reaches PE 0; the interrupt key ends the job.
import os, pty, select, sys, time

oshrun, pe = os.environ["OSHRUN"], os.environ["PE"]


def start(*arguments):
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(oshrun, [oshrun, *arguments])
    return pid, fd


def read_until(fd, text, times=1, limit_s=30):
    seen, end = b"", time.monotonic() + limit_s
    while seen.count(text) < times:
        if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
            sys.exit(f"FAIL: the terminal never showed {text!r}, only {seen!r}")
        try:
            more = os.read(fd, 4096)
        except OSError:
            more = b""
        if not more:
            sys.exit(f"FAIL: ended after {seen!r}, without {text!r}")
        seen += more
    return seen


def status(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


pid, fd = start("-n", "2", "sh", "-c", 'if [ $POSTERN_PE = 0 ]; then printf "name? "; read name; echo "hello $name"; fi')
read_until(fd, b"name? ")
os.write(fd, b"castle\n")
read_until(fd, b"hello castle")
assert status(pid) == 0, "status"

pid, fd = start("-n", "1", pe, "cat", "puts=over")
os.write(fd, b"line\n\x04")  # a line, then end of file
read_until(fd, b"over")
assert status(pid) == 0, "status"

# Two prompts are two lines, or they could not be told apart; each with its tag.
pid, fd = start("-n", "2", "--tag-output", pe, "print=prompt", "sleep=0.5", "puts=done")
seen = read_until(fd, b"done", 2)
lines = seen.replace(b"\r", b"").split(b"\n")
assert all(line.startswith(b"[") for line in lines if line), lines
assert status(pid) == 0, "status"

pid, fd = start("-n", "2", pe, "puts=ready", "sleep=1000")
read_until(fd, b"ready", 2)
os.write(fd, b"\x03")
assert status(pid) == 130, "status"
