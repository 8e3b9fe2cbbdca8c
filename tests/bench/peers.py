#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""postern-bench side by side: ours and every other library that is here, in turn.

usage: tests/bench/peers.py BUILD [--pes N,N] [--rounds N] [--groups A,B] [--peer NAME=PREFIX] [--limit S] [--csv FILE] [-- OPTIONS OF postern-bench]

The same source is built by each library's own compiler. Peers are Open MPI's OpenSHMEM and the one-sided MPI of Open MPI and of MPICH where they are
installed, and any OpenSHMEM whose prefix is given (PREFIX/bin/oshcc and PREFIX/bin/oshrun). Every round runs each library once for each group and
number of PEs, in changing order, so that a machine that changes its speed changes it for all. A figure is the median of the rounds, a ratio the median
of the ratios of one round. What cannot be measured is said, with the reason, and the rest goes on.
"""
import argparse
import collections
import csv
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "runtime/tools"
SOURCES = [TOOLS / name for name in ("postern-bench.c", "bench_collective.c", "bench_heap.c", "bench_measure.c", "bench_plot.c", "bench_print.c",
                                     "bench_pt2pt.c", "bench_raw.c", "bench_ring.c")] + [ROOT / "runtime/base/json.c"]
PES = (2, 4, 8, 16)
ROUNDS = 5
GROUPS = ("latency", "bandwidth", "rate", "atomic", "signal", "collective", "heap")
MANY = ("collective",)  # groups that more than two PEs are measured with
MPI_GROUPS = ("latency", "bandwidth", "rate", "atomic")
LIMIT_S = 60  # of one run

# What identifies a figure within one library.
Key = collections.namedtuple("Key", "group operation memory bytes pes")


class Library:
    """A library: how its program is started, its figures so far, and what could not be measured."""

    def __init__(self, name, command, environment=None, groups=GROUPS, pes_max=None):
        self.name, self.command, self.environment, self.groups, self.pes_max = name, command, environment or {}, groups, pes_max
        self.figures = {}  # Key -> {round: (median, raw or None)}
        self.broken = set()  # (group, PEs) that crashed or hung
        self.notes = []

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def value(self, key):
        """The median of the rounds in nanoseconds, or None."""
        values = [median for median, _ in self.figures.get(key, {}).values()]
        return statistics.median(values) if values else None

    def raw(self, key):
        values = [raw for _, raw in self.figures.get(key, {}).values() if raw]
        return statistics.median(values) if values else None

    def ratio_to_raw(self, key):
        values = [median / raw for median, raw in self.figures.get(key, {}).values() if raw]
        return statistics.median(values) if values else None

    def ratio_to(self, other, key):
        """Ours over theirs: the median of the rounds that both have."""
        mine, theirs = self.figures.get(key, {}), other.figures.get(key, {})
        ratios = [mine[r][0] / theirs[r][0] for r in mine if r in theirs]
        return statistics.median(ratios) if ratios else None


# ---- which libraries there are ----


def ours(build):
    return Library("ours", lambda pes: [build / "bin/oshrun", "-n", str(pes), build / "bin/postern-bench"])


def is_open_mpi(oshcc):
    try:
        shown = subprocess.run([oshcc, "-show"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "-loshmem" in shown.stdout


def compile_with(compiler, program, sources):
    """None, or why not."""
    made = subprocess.run([compiler, "-O2", "-std=gnu17", "-D_GNU_SOURCE", f"-I{ROOT}", "-o", program, *sources, "-lpthread"], capture_output=True, text=True)
    if made.returncode == 0:
        return None
    lines = [line for line in made.stderr.splitlines() if "error" in line] or made.stderr.strip().splitlines() or ["no message"]
    return f"{compiler} cannot compile {pathlib.Path(sources[0]).name}: {lines[0]}"


def open_mpi_environment(folder, memory):
    """Its files go to our folders, which are removed, because a program that crashes leaves them."""
    return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": str(folder),
            "OMPI_MCA_btl_vader_backing_directory": str(memory), "UCX_POSIX_DIR": str(memory)}


def open_mpi(given, folder, memory):
    oshcc = next((place for place in ([given] if given else [shutil.which("oshcc.openmpi"), "/usr/bin/oshcc", shutil.which("oshcc")])
                  if place and is_open_mpi(place)), None)
    if not oshcc:
        return None, "Open MPI: its oshcc is not installed (packages openmpi-bin and libopenmpi-dev; ./dev deps --all installs them)"
    program = folder / "bench-openmpi"
    why = compile_with(oshcc, program, SOURCES)
    if why:
        return None, f"Open MPI: {why}"
    oshrun = pathlib.Path(oshcc).parent / "oshrun"
    # As Debian packages it, its one-sided component crashes at the end of each program.
    library = Library("Open MPI", lambda pes: [oshrun, "--oversubscribe", "--quiet", "-n", str(pes), program],
                      {"OMPI_MCA_osc": "^rdma", **open_mpi_environment(folder, memory)})
    library.note("Open MPI's OpenSHMEM runs with OMPI_MCA_osc=^rdma: as packaged in Debian 12 it crashes at the end of each program otherwise. It has API 1.4: "
                 "its put_signal is put, fence, p, and its collectives are those of active sets.")
    return library, None


def one_sided_mpi(flavour, title, folder, memory):
    compiler, launcher = shutil.which(f"mpicc.{flavour}"), shutil.which(f"mpirun.{flavour}")
    if not compiler or not launcher:
        return None, f"{title}: mpicc.{flavour} is not installed (package lib{flavour}-dev)"
    program = folder / f"rma-{flavour}"
    why = compile_with(compiler, program, [ROOT / "tests/bench/mpi_rma.c"])
    if why:
        return None, f"{title}: {why}"
    options = ["--oversubscribe", "--quiet"] if flavour == "openmpi" else []
    environment = {"OMPI_MCA_osc": "sm", **open_mpi_environment(folder, memory)} if flavour == "openmpi" else {}
    library = Library(title, lambda pes: [launcher, *options, "-n", str(pes), program], environment, MPI_GROUPS, 2)
    library.once = True  # one program measures all its groups
    return library, None


def given_peer(text, folder):
    name, _, prefix = text.partition("=")
    prefix = pathlib.Path(prefix)
    if not prefix.name or not (prefix / "bin/oshcc").exists():
        return None, f"{name}: there is no oshcc in {prefix}/bin"
    program = folder / f"bench-{name}"
    why = compile_with(prefix / "bin/oshcc", program, SOURCES)
    if why:
        return None, f"{name}: {why}"
    return Library(name, lambda pes: [prefix / "bin/oshrun", "-n", str(pes), program]), None


# ---- a run ----


def kill_session(leader):
    """All processes that the run has started: launchers put PEs into process groups of their own, but not into sessions."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rsplit(")", 1)[1].split()[3]) == leader:
                os.kill(int(folder.name), signal.SIGKILL)
        except (OSError, ValueError, IndexError):
            continue


def start(command, environment, limit_s):
    """None, or why it ended badly."""
    child = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True, start_new_session=True, env={**os.environ, **environment})
    try:
        _, err = child.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        child.terminate()  # a launcher ends its PEs and cleans up
        time.sleep(2)
        kill_session(child.pid)
        child.communicate()
        return f"did not end within {limit_s:g} s"
    finally:  # also where a signal ends us
        if child.returncode != 0:
            kill_session(child.pid)
    if child.returncode == 0:
        return None
    lines = [line for line in err.splitlines() if line.strip(" -=")]
    said = next((line for line in lines if "signal" in line or "why:" in line), lines[0] if lines else "no message")
    return f"ended with status {child.returncode} ({said.strip()})"


def read_rows(path):
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return [row for row in csv.DictReader(file) if row.get("raw") is not None]
    except OSError:
        return []


def measure(library, group, pes, number, options, folder):
    """One run of one group. Where it breaks, the rows before that count, and it is not run again."""
    if group not in library.groups or (group, pes) in library.broken or (library.pes_max and pes > library.pes_max):
        return
    if getattr(library, "once", False):
        if group != next((g for g in options.groups if g in library.groups), None):
            return
        words = []
    else:
        words = [group]
    path = folder / "rows.csv"
    path.unlink(missing_ok=True)
    trouble = start([*library.command(pes), *words, "--csv", path, *options.arguments], library.environment, options.limit)
    rows = read_rows(path)
    for row in rows:
        key = Key(row["group"], row["operation"], row["memory"], int(row["bytes"]), int(row["pes"]))
        library.figures.setdefault(key, {})[number] = (float(row["median_ns"]), float(row["raw_ns"]) if row["raw_ns"] else None)
    if trouble:
        last = f"after {rows[-1]['operation']} of {rows[-1]['bytes']} bytes" if rows else "before its first row"
        library.note(f"skipped: {library.name}, {group}, {pes} PEs, {last}: {trouble}.")
        library.broken.add((group, pes))





# ---- all of it ----


class Result:
    """What one comparison has found."""

    def __init__(self, libraries, notes, options):
        self.libraries, self.general_notes, self.rounds = libraries, notes, options.rounds
        self.ours, self.peers = libraries[0], libraries[1:]

    def notes(self):
        return self.general_notes + [note for library in self.libraries for note in library.notes]

    def keys(self):
        """In the order in which ours measured them, few PEs first."""
        order = {key: i for i, key in enumerate(self.ours.figures)}
        return sorted(self.ours.figures, key=lambda k: (GROUPS.index(k.group), k.pes, order[k]))

    def best_peer(self, key):
        """The peer that is quickest, and ours over it; or None."""
        found = [(peer.value(key), peer) for peer in self.peers if peer.value(key) is not None]
        if not found:
            return None
        peer = min(found, key=lambda pair: pair[0])[1]
        ratio = self.ours.ratio_to(peer, key)
        return (peer, ratio) if ratio is not None else None


def compare(build, options):
    notes = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that what we made is removed
    in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="postern-bench-") as name, \
            tempfile.TemporaryDirectory(prefix="postern-bench-", dir=in_memory) as memory:
        folder = pathlib.Path(name)
        libraries = [ours(build)]
        found = [open_mpi(options.oshcc, folder, memory), one_sided_mpi("openmpi", "Open MPI, MPI_Put", folder, memory),
                 one_sided_mpi("mpich", "MPICH, MPI_Put", folder, memory)] if options.peers else []
        for library, why in found + [given_peer(text, folder) for text in options.peer]:
            if any(text in (library.name if library else why) for text in options.without):
                continue
            if library:
                libraries.append(library)
            else:
                notes.append(f"skipped: {why}.")
        for number in range(options.rounds):
            for pes in options.pes:
                for group in options.groups:
                    if pes != options.pes[0] and group not in MANY:
                        continue
                    for library in libraries if number % 2 == 0 else libraries[::-1]:
                        if sys.stderr.isatty():
                            print(f"\r\033[Kround {number + 1} of {options.rounds}, {group}, {pes} PEs, {library.name}", end="", file=sys.stderr)
                        measure(library, group, pes, number, options, folder)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return Result(libraries, notes, options)


# ---- what is printed ----


def time_text(ns):
    if ns is None:
        return ""
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.2f} {unit}"
    return f"{ns:.1f} ns"


def value_text(key, ns):
    if ns is None:
        return ""
    if key.group == "bandwidth":
        return f"{key.bytes / ns:.2f} GB/s"
    if key.group == "rate":
        return f"{1e3 / ns:.1f} M/s"
    return time_text(ns)


def bytes_text(count):
    if count == 0:
        return ""
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} B"


def ratio_text(ratio):
    return "" if ratio is None else f"**{ratio:.2f}**" if ratio > 1 else f"{ratio:.2f}"


def heads(result):
    return ("operation", "where", "bytes", "PEs", "raw", "ours", "ours / raw", *[peer.name for peer in result.peers], "ours / best peer")


def table_rows(result):
    for key in result.keys():
        best, to_raw = result.best_peer(key), result.ours.ratio_to_raw(key)
        yield (key.operation, key.memory, bytes_text(key.bytes), str(key.pes), value_text(key, result.ours.raw(key)),
               value_text(key, result.ours.value(key)), f"{to_raw:.2f}" if to_raw else "",
               *[value_text(key, peer.value(key)) for peer in result.peers], ratio_text(best[1]) if best else "")


def judge(result):
    """How many rows have a peer, and in words those in which a peer is quicker."""
    count, lost = 0, []
    for key in result.keys():
        best = result.best_peer(key)
        count += best is not None
        if best and best[1] > 1:
            lost.append(f"{key.operation}, {bytes_text(key.bytes)}, {key.pes} PEs: {best[1]:.2f} x {best[0].name}")
    return count, lost


def verdict(result):
    count, lost = judge(result)
    if count == 0:
        return "No other library was measured."
    return f"{count - len(lost)} of {count} rows with a peer are won." + (f" Lost: {'; '.join(lost)}." if lost else "")


def plain(titles, rows):
    """For a terminal."""
    rows = [tuple(titles), *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(titles))]
    return ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows]


def write_csv(result, path):
    """One row for each library and figure."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(("library", *Key._fields, "median_ns", "raw_ns"))
        for library in result.libraries:
            for key in library.figures:
                raw = library.raw(key)
                out.writerow((library.name, *key, f"{library.value(key):.3f}", f"{raw:.3f}" if raw else ""))


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="default %(default)s")
    parser.add_argument("--pes", default=",".join(map(str, PES)), help="numbers of PEs; the first measures all groups, the others collectives (default %(default)s)")
    parser.add_argument("--groups", default=",".join(GROUPS), help="groups of postern-bench, with commas between")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX", help="one more OpenSHMEM: its oshcc and oshrun are in PREFIX/bin")
    parser.add_argument("--oshcc", help="Open MPI's oshcc (default: the one that is installed)")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds after which a run counts as hanging (default %(default)s)")
    parser.add_argument("--without", default=[], action="append", metavar="TEXT", help="leave out libraries whose name contains TEXT")
    parser.epilog = "After -- come options of postern-bench itself, such as --samples 21."


def parse_options(parser):
    """All before -- is ours; what follows is postern-bench's."""
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:cut])
    options.arguments = words[cut + 1:]
    options.pes = [int(word) for word in str(options.pes).split(",")]
    options.groups = options.groups.split(",")
    return options


def main():
    parser = argparse.ArgumentParser(description="postern-bench, ours and others side by side.")
    parser.add_argument("build", type=pathlib.Path, help="a build folder, such as build/release")
    parser.add_argument("--csv", type=pathlib.Path, help="write all figures there")
    add_options(parser)
    options = parse_options(parser)
    options.peers = True
    result = compare(options.build.resolve(), options)
    for note in result.notes():
        print(note)
    print("\n".join(plain(heads(result), table_rows(result))))
    print(f"\n{verdict(result)}")
    if options.csv:
        write_csv(result, options.csv)
        print(f"bench: wrote {options.csv}")
    if not result.ours.figures:
        sys.exit("bench: ours could not be measured")


if __name__ == "__main__":
    main()
