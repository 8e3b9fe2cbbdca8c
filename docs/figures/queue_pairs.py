#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws queue_pairs.svg from queue_pairs.tsv: throughput against the number of queue pairs (docs/rdma.md).

    queue_pairs.py                                       draw; needs matplotlib
    queue_pairs.py --measure PROGRAM SIMVERBS_FOLDER     measure first: examples/rdma_anatomy over the simulated device
"""
import argparse
import csv
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "queue_pairs.tsv"
ROUND_TRIPS_NS = (2000, 10000, 40000)
COLOURS = ("#0072b2", "#d55e00", "#009e73")  # told apart by colour-blind readers as well


def measure(program, simverbs):
    """All round trips into the table, under one head."""
    lines = []
    for rtt_ns in ROUND_TRIPS_NS:
        out = subprocess.run([program, "--data", "--rtt", str(rtt_ns)], check=True, stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "LD_LIBRARY_PATH": simverbs}).stdout.splitlines()
        lines += out if not lines else out[1:]
    TABLE.write_text("\n".join(lines) + "\n")


def draw():
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    matplotlib.rcParams["svg.hashsalt"] = "queue_pairs"  # equal data, equal file
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["font.family"] = "sans-serif"

    with TABLE.open() as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file, delimiter="\t")]
    figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    line = rows[0]["line_GBps"]
    axes.axhline(line, color="#888888", linestyle="--", linewidth=1)
    axes.text(24.4, line + 0.6, f"line rate {line:.0f} GB/s", ha="right", va="bottom", color="#555555")
    for rtt_ns, colour in zip(ROUND_TRIPS_NS, COLOURS):
        of_this = [row for row in rows if row["rtt_ns"] == rtt_ns]
        pairs = [row["queue_pairs"] for row in of_this]
        axes.plot(pairs, [row["formula_GBps"] for row in of_this], color=colour, linewidth=1.2)
        axes.plot(pairs, [row["measured_GBps"] for row in of_this], "o", color=colour, markersize=4.5,
                  label=f"measured, round trip {rtt_ns / 1000:.0f} µs")
    axes.plot([], [], color="#555555", linewidth=1.2, label="formula")
    axes.set_xlim(0, 24.6)
    axes.set_ylim(0, line * 1.12)
    axes.set_xticks([1, 4, 8, 12, 16, 20, 24])
    axes.set_xlabel("queue pairs")
    axes.set_ylabel("throughput, GB/s")
    axes.grid(alpha=0.25)
    axes.legend(loc="center right", bbox_to_anchor=(1, 0.6), framealpha=0.9)
    axes.set_title(f"{rows[0]['depth']:.0f} writes of {rows[0]['bytes']:.0f} bytes under way on each queue pair (simulated)", fontsize=11)
    figure.savefig(HERE / "queue_pairs.svg", metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", nargs=2, metavar=("PROGRAM", "SIMVERBS_FOLDER"))
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure)
    draw()
