#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py beside a library that crashes in one call and hangs in another: both are named, its other rows are there, nothing is left.

usage: a_library_that_breaks_is_skipped.py BUILD

The library is a pair of scripts: an oshcc that makes an empty file, and an oshrun that prints what a program would.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

OSHCC = """#!/bin/sh
case $1 in -show) echo "cc -loshmem" ;; *) : >"$3" ;; esac
"""
OSHRUN = """#!/bin/sh
case $* in *skip=*sync_all*) sync_all=no ;; esac
case $* in *skip=*,sync*) sync=no ;; esac
row() { printf '%s\\t%s\\t2\\t%s\\t1.000\\t2.000\\t0.000\\tok\\n' "$1" "$2" "$3"; }
printf 'operation\\tform\\tpes\\tbytes\\tlat_us_p50\\tlat_us_p99\\tbw_GBps\\tresult\\n'
echo "# now: barrier_all all 0"
row barrier_all all 0
if [ -z "$sync_all" ]; then echo "# now: sync_all all 0"; kill -SEGV $$; fi
if [ -z "$sync" ]; then echo "# now: sync set 0"; sleep 4321 & echo $! >"${0%/*}/sleeper"; wait; fi
echo "# now: fcollect set 64"
row fcollect set 64
"""


def is_gone(pid):
    """Within 20 s: a killed process needs a core once more to die. A zombie, which the system's first process has yet to take, is gone."""
    for _ in range(200):
        try:
            stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return True
        if "(sleep)" not in stat or stat.rsplit(")", 1)[1].startswith((" Z", " X")):
            return True
        time.sleep(0.1)
    return False


def main():
    build = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="postern-bench-") as name:
        folder = pathlib.Path(name)
        for file, text in (("oshcc", OSHCC), ("oshrun", OSHRUN)):
            (folder / file).write_text(text)
            (folder / file).chmod(0o755)
        command = [pathlib.Path(__file__).parent / "peers.py", build, "--pes", "2", "--rounds", "1", "--oshcc", folder / "oshcc", "--limit", "5",
                   "--only", "barrier_all,sync_all,sync,fcollect", "--program", "sizes=64 samples=5 sample_us=20"]
        done = subprocess.run(command, capture_output=True, text=True)
        print(done.stdout, done.stderr)
        lines = done.stdout.splitlines()
        # Rows of the table only: below it stand the names of what is slower.
        columns = {line.split()[0]: line.split() for line in lines if line.startswith(("barrier_all ", "fcollect ", "sync ")) and " of " not in line}
        sleeper = int((folder / "sleeper").read_text())
    checks = {
        "peers.py ends well": done.returncode == 0,
        "the crash is named": any(line.startswith("skipped: Open MPI, 2 PEs, sync_all all 0: ended with status -11") for line in lines),
        "the hang is named": "skipped: Open MPI, 2 PEs, sync set 0: did not end within 5 s." in lines,
        "rows before and after are there": columns.get("barrier_all", [])[3:4] == ["1.000"] and columns.get("fcollect", [])[5:6] == ["1.000"],
        "ours has its row": len(columns.get("sync", [])) == 4,
        "what hung is gone": is_gone(sleeper),
    }
    for what, is_so in checks.items():
        if not is_so:
            print(f"failed: {what}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
