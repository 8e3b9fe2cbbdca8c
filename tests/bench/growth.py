#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How a job grows on this machine: time from start to end, and memory of a PE, for 2 to 128 PEs.

usage: tests/bench/growth.py BUILD [--rounds N] [--print]

Writes docs/figures/growth.tsv, the plot docs/figures/growth.svg (gnuplot) and the table in docs/scaling.md; --print only prints the table. Times are
medians of rounds that go through all numbers of PEs in turn.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE, PLOT, PAGE = ROOT / "docs/figures/growth.tsv", ROOT / "docs/figures/growth.svg", ROOT / "docs/scaling.md"
BEGIN, END = "<!-- growth: written by tests/bench/growth.py -->", "<!-- growth: end -->"
PES = (2, 4, 8, 16, 32, 64, 128)
FIELDS = ("pes", "launcher_ms", "oshrun_ms", "pss_kib", "private_kib", "node_kib", "heap_kib")

GNUPLOT = """
set terminal svg size 960,400 font "sans,12" background "white"
set output "{plot}"
set multiplot layout 1,2
set grid
set logscale x 2
set xlabel "PEs on {cores} cores"
set xtics (2,4,8,16,32,64,128)
set xrange [1.7:151]
set key left top
set ylabel "ms from start to end"
set logscale y 10
plot "{table}" using 1:3 skip 1 with linespoints lw 2 pt 7 title "oshrun hello", \\
     "{table}" using 1:2 skip 1 with linespoints lw 2 pt 5 title "least launcher, empty programs"
unset logscale y
set yrange [0:*]
set ylabel "KiB per PE after shmem\\\\_init"
set key right top
plot "{table}" using 1:4 skip 1 with linespoints lw 2 pt 7 title "PSS", \\
     "{table}" using 1:5 skip 1 with linespoints lw 2 pt 5 title "private", \\
     "{table}" using 1:6 skip 1 with linespoints lw 2 pt 9 title "control memory, static data"
"""


def time_ms(command):
    start = time.monotonic()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(f"growth: {' '.join(map(str, command))} failed")
    return (time.monotonic() - start) * 1e3


def memory(build, pes):
    """KiB per PE, by name."""
    text = subprocess.run([build / "bin/oshrun", "-n", str(pes), build / "tests/bench/bench_memory"], check=True, capture_output=True, text=True).stdout.split()
    return {name: int(value) / pes for name, value in zip(text[::2], text[1::2])}


def measure(build, rounds):
    folder = build / "tests/bench"
    launcher, oshrun = {pes: [] for pes in PES}, {pes: [] for pes in PES}
    for _ in range(rounds):
        for pes in PES:
            launcher[pes].append(time_ms([folder / "bench_launch", str(pes), folder / "bench_empty_linked"]))
            oshrun[pes].append(time_ms([build / "bin/oshrun", "-n", str(pes), folder / "bench_hello"]))
    rows = []
    for pes in PES:
        kib = memory(build, pes)
        rows.append([pes, statistics.median(launcher[pes]), statistics.median(oshrun[pes]), *(kib[name] for name in FIELDS[3:])])
    return rows


def markdown(rows):
    lines = ["| PEs | least launcher, ms | oshrun, ms | ours / least | ours, ms per PE | PSS per PE | private per PE | shared control memory and static data per PE | heap pages per PE |",
             "|---|---|---|---|---|---|---|---|---|"]
    for pes, launcher, oshrun, pss, private, node, heap in rows:
        lines.append(f"| {pes} | {launcher:.1f} | {oshrun:.1f} | {oshrun / launcher:.2f} | {oshrun / pes:.2f} | {pss:.0f} KiB | {private:.0f} KiB | {node:.1f} KiB | {heap:.0f} KiB |")
    return "\n".join(lines)


def write(build, rounds=21):
    """Measure, and write the table, the plot (where gnuplot is) and their place in the page. The table as text."""
    rows = measure(build, rounds)
    text = markdown(rows)
    TABLE.write_text("\t".join(FIELDS) + "\n" + "".join("\t".join(f"{value:.2f}" if isinstance(value, float) else str(value) for value in row) + "\n" for row in rows))
    if shutil.which("gnuplot"):
        subprocess.run(["gnuplot"], input=GNUPLOT.format(plot=PLOT, table=TABLE, cores=os.cpu_count()), text=True, check=True)
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    return text


def main():
    parser = argparse.ArgumentParser(description="How a job grows on this machine.")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--print", action="store_true", help="the table to standard output, and nothing else")
    options = parser.parse_args()
    build = options.build.resolve()
    print(markdown(measure(build, options.rounds)) if options.print else write(build, options.rounds))


if __name__ == "__main__":
    main()
