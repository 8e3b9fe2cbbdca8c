#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py beside a library that crashes in one group and hangs in another: both are named, its other rows are there, nothing is left.

usage: a_library_that_breaks_is_skipped.py BUILD

The library is a pair of scripts: an oshcc that makes an empty file, and an oshrun that writes what a program would.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

OSHCC = """#!/bin/sh
while [ $# -gt 0 ]; do case $1 in -o) : >"$2" ;; esac; shift; done
"""
# Arguments: -n 2 PROGRAM GROUP --csv FILE ...
OSHRUN = """#!/bin/sh
group=$4 file=$6
echo group,operation,memory,bytes,pes,median_ns,p5_ns,p95_ns,p99_ns,raw_ns,raw >"$file"
row() { printf '%s,"%s",%s,%s,2,1000.0,1000.0,1000.0,1000.0,,\\n' "$group" "$1" "$2" "$3" >>"$file"; }
case $group in
rate) row "put_nbi, 1000 and quiet" heap 8 ;;
atomic) row fetch_add heap 8; kill -SEGV $$ ;;
signal) sleep 4321 & echo $! >"${0%/*}/sleeper"; wait ;;
collective) row barrier_all "" 0 ;;
esac
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
        (folder / "bin").mkdir()
        for file, text in (("oshcc", OSHCC), ("oshrun", OSHRUN)):
            (folder / "bin" / file).write_text(text)
            (folder / "bin" / file).chmod(0o755)
        command = [pathlib.Path(__file__).parent / "peers.py", build, "--pes", "2", "--rounds", "2", "--limit", "5", "--without", "MPI", "--peer", f"other={folder}",
                   "--oshcc", "/nonexistent/oshcc", "--groups", "rate,atomic,signal,collective", "--", "--samples", "3", "--sample-us", "5", "--sizes", "8"]
        done = subprocess.run(command, capture_output=True, text=True)
        print(done.stdout, done.stderr)
        lines = done.stdout.splitlines()
        titles = next((line for line in lines if line.startswith("operation ")), "")
        # The peer's column is right-aligned under its name.
        end = titles.index(" other ") + len(" other") if " other " in titles else 0
        theirs = {line.split("  ")[0]: line[:end].split("  ")[-1].strip() for line in lines if " heap " in line or line.startswith("barrier_all")}
        sleeper = int((folder / "bin/sleeper").read_text())
    checks = {
        "peers.py ends well": done.returncode == 0,
        "the crash is named": any(line.startswith("skipped: other, atomic, 2 PEs, after fetch_add of 8 bytes: ended with status -11") for line in lines),
        "the hang is named": "skipped: other, signal, 2 PEs, before its first row: did not end within 5 s." in lines,
        "each is named once": sum(line.startswith("skipped: other") for line in lines) == 2,
        "rows before and after are there": [theirs.get(name) for name in ("put_nbi, 1000 and quiet", "fetch_add", "barrier_all")]
                                           == ["1.0 M/s", "1.00 us", "1.00 us"],
        "ours has its row": any(line.startswith("put_signal, one way") for line in lines),
        "what hung is gone": is_gone(sleeper),
    }
    for what, is_so in checks.items():
        if not is_so:
            print(f"failed: {what}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
