#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""postern-bench side by side: ours and every other library that is here, in turn.

usage: tests/bench/peers.py BUILD [--pes N,N] [--rounds N] [--groups A,B] [--peer NAME=PREFIX] [--limit S] [--csv FILE] [-- OPTIONS OF postern-bench]

The same source is built by each library's own compiler. Peers are Open MPI's OpenSHMEM and the one-sided MPI of Open MPI and of MPICH where they are
installed, and any OpenSHMEM whose prefix is given (PREFIX/bin/oshcc and PREFIX/bin/oshrun). Every round runs each library once for each group and
number of PEs, in changing order, so that a machine that changes its speed changes it for all. A figure is the median of the rounds, a ratio the median
of the ratios of one round (result.py). What cannot be measured is said, with the reason, and the rest goes on.
"""
import argparse
import csv
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import result as results
from result import GROUPS, Key

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "runtime/tools"
SOURCES = [*sorted(TOOLS.glob("bench_*.c")), TOOLS / "postern-bench.c", ROOT / "runtime/base/json.c"]
PES = (2, 4, 8, 16, 32, 64)
ROUNDS = 5
MPI_GROUPS = ("latency", "bandwidth", "rate", "atomic")
LIMIT_S = 40  # of one run
NOTHING_TO_MEASURE = "no row fits"  # what postern-bench says where --only leaves nothing of a group

# With more PEs than the first number: these groups, with options that keep the time of all of it within minutes.
MANY = ("collective", "signal")
MANY_SIZES = {4: "8:1M", 8: "8:64K", 16: "8:4K"}


def many_options(group, pes):
    if group == "signal":
        return ["--only", "round a ring", "--sizes", "8"]
    return ["--sizes", MANY_SIZES.get(pes, "8")]


class Library(results.Figures):
    """A library: how its program is started, its figures so far, and what could not be measured."""

    def __init__(self, name, command, environment=lambda pes: {}, groups=GROUPS, pes_max=None):
        super().__init__(name)
        self.command, self.environment, self.groups, self.pes_max = command, environment, groups, pes_max
        self.broken = {}  # group -> least number of PEs at which it crashed or hung
        self.once = False  # one program measures all groups
        self.notes = []

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def can(self, group, pes):
        return group in self.groups and pes < self.broken.get(group, pes + 1) and pes <= (self.pes_max or pes)


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
    made = subprocess.run([compiler, "-O2", "-DNDEBUG", "-std=gnu17", "-D_GNU_SOURCE", f"-I{ROOT}", "-o", program, *sources, "-lpthread"],
                          capture_output=True, text=True)
    if made.returncode == 0:
        return None
    lines = [line for line in made.stderr.splitlines() if "error" in line] or made.stderr.strip().splitlines() or ["no message"]
    return f"{compiler} cannot compile {pathlib.Path(sources[0]).name}: {lines[0]}"


def more_than_cores(pes):
    return pes > len(os.sched_getaffinity(0))


def open_mpi_options(pes):
    """As it is quickest: a core for each PE; where there are too few, it lets others run while it waits."""
    return ["--quiet", "--oversubscribe"] if more_than_cores(pes) else ["--quiet", "--bind-to", "core"]


def open_mpi_environment(folder, memory, **more):
    """Its files go to our folders, which are removed, because a program that crashes leaves them."""
    return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": str(folder),
            "OMPI_MCA_btl_vader_backing_directory": str(memory), "UCX_POSIX_DIR": str(memory), **more}


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
    environment = open_mpi_environment(folder, memory, OMPI_MCA_osc="^rdma", UCX_TLS="posix,self", OMPI_MCA_pml="ob1")
    library = Library("Open MPI", lambda pes: [oshrun, *open_mpi_options(pes), "-n", str(pes), program], lambda pes: environment)
    library.note("Open MPI's OpenSHMEM runs with OMPI_MCA_osc=^rdma: as packaged in Debian 12 it crashes at the end of each program otherwise. "
                 "UCX_TLS=posix,self, OMPI_MCA_pml=ob1 and --bind-to core make it quickest. It has API 1.4: its put_signal is put, fence, p, and its "
                 "collectives are those of active sets.")
    return library, None


def one_sided_mpi(flavour, title, folder, memory):
    compiler, launcher = shutil.which(f"mpicc.{flavour}"), shutil.which(f"mpirun.{flavour}")
    if not compiler or not launcher:
        return None, f"{title}: mpicc.{flavour} is not installed (package lib{flavour}-dev)"
    program = folder / f"rma-{flavour}"
    why = compile_with(compiler, program, [ROOT / "tests/bench/mpi_rma.c"])
    if why:
        return None, f"{title}: {why}"
    is_open = flavour == "openmpi"
    environment = open_mpi_environment(folder, memory, OMPI_MCA_osc="sm") if is_open else {}
    library = Library(title, lambda pes: [launcher, *(open_mpi_options(pes) if is_open else []), "-n", str(pes), program], lambda pes: environment,
                      MPI_GROUPS, 2)
    library.once = True
    return library, None


def given_peer(text, folder):
    name, _, prefix = text.partition("=")
    prefix = pathlib.Path(prefix).absolute()
    if not (prefix / "bin/oshcc").exists():
        return None, f"{name}: there is no oshcc in {prefix}/bin"
    program = folder / f"bench-{name.replace('/', '-')}"
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
    """One run of one group. Where it breaks, the rows before that count, and it is not run again, nor with more PEs."""
    if not library.can(group, pes) or (library.once and group != next(g for g in options.groups if g in library.groups)):
        return
    path = folder / "rows.csv"
    path.unlink(missing_ok=True)
    words = [] if library.once else [group]
    few = many_options(group, pes) if pes != options.pes[0] else []
    trouble = start([*library.command(pes), *words, "--csv", path, *few, *options.arguments], library.environment(pes), options.limit)
    rows = read_rows(path)
    for row in rows:
        key = Key(row["group"], row["operation"], row["memory"], int(row["bytes"]), int(row["pes"]))
        library.add(key, number, float(row["median_ns"]), float(row["raw_ns"]) if row["raw_ns"] else None)
    if trouble and (rows or NOTHING_TO_MEASURE not in trouble):
        last = f"after {rows[-1]['operation']} of {rows[-1]['bytes']} bytes" if rows else "before its first row"
        library.note(f"skipped: {library.name}, {group}, {pes} PEs, {last}: {trouble}.")
        library.broken[group] = pes


# ---- all of it ----


def find_libraries(build, options, folder, memory):
    """Those that can be measured, ours first, and why the others cannot."""
    libraries, missing = [ours(build)], []
    found = [lambda: open_mpi(options.oshcc, folder, memory), lambda: one_sided_mpi("openmpi", "Open MPI, MPI_Put", folder, memory),
             lambda: one_sided_mpi("mpich", "MPICH, MPI_Put", folder, memory)] if options.peers else []
    for find in found + [lambda text=text: given_peer(text, folder) for text in options.peer]:
        library, why = find()
        if any(text in (library.name if library else why) for text in options.without):
            continue
        if library:
            libraries.append(library)
        else:
            missing.append(f"skipped: {why}.")
    return libraries, missing


def turns(libraries, options):
    """Each (round, group, PEs, library) in the order of running: every second round the other way round."""
    return [(number, group, pes, library) for number in range(options.rounds) for pes in options.pes for group in options.groups
            if pes == options.pes[0] or group in MANY
            for library in (libraries if number % 2 == 0 else libraries[::-1])]


def progress(text):
    """On a terminal, one line that is written over."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def compare(build, options):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that what we made is removed
    in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="postern-bench-") as name, \
            tempfile.TemporaryDirectory(prefix="postern-bench-", dir=in_memory) as memory:
        folder = pathlib.Path(name)
        progress("building the program for each library")
        libraries, missing = find_libraries(build, options, folder, memory)
        plan = turns(libraries, options)
        for i, (number, group, pes, library) in enumerate(plan):
            progress(f"{i * 100 // len(plan)} %, round {number + 1} of {options.rounds}: {group}, {pes} PEs, {library.name}")
            measure(library, group, pes, number, options, folder)
    progress("")
    return results.Result(libraries, missing + [note for library in libraries for note in library.notes])


# ---- options ----


def add_options(parser):
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX", help="beside one more OpenSHMEM: its oshcc and oshrun are in PREFIX/bin")
    parser.add_argument("--without", default=[], action="append", metavar="TEXT", help="leave out libraries whose name contains TEXT")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each library has its turn (default %(default)s)")
    parser.add_argument("--pes", default=",".join(map(str, PES)), metavar="N,N",
                        help="numbers of PEs; the first measures all groups, the others collectives and signals (default %(default)s)")
    parser.add_argument("--groups", default=",".join(GROUPS), metavar="A,B", help="groups of postern-bench (default all: %(default)s)")
    parser.add_argument("--oshcc", help="Open MPI's oshcc (default: the one that is installed)")
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="S", help="seconds after which a run counts as hanging (default %(default)s)")
    parser.epilog = "After -- come options of postern-bench itself, such as --samples 21 (see postern-bench --help)."
    parser.usage = "%(prog)s [options] [-- OPTIONS OF postern-bench]"


def parse_options(parser):
    """All before -- is ours; what follows is postern-bench's."""
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:cut])
    options.arguments = words[cut + 1:]
    try:
        options.pes = [int(word) for word in options.pes.split(",")]
    except ValueError:
        parser.error(f"--pes wants numbers with commas between, such as 2,4,8, and not {options.pes}")
    options.groups = options.groups.split(",")
    wrong = [group for group in options.groups if group not in GROUPS]
    if wrong:
        parser.error(f"unknown group: {wrong[0]} (there are {', '.join(GROUPS)})")
    if options.rounds < 1 or min(options.pes) < 1:
        parser.error("--rounds and --pes want numbers from 1 on")
    bad = [text for text in options.peer if not all(text.partition("=")[::2])]
    if bad:
        parser.error(f"--peer wants NAME=PREFIX, such as sandia=/opt/sos, and not {bad[0]}")
    return options


def main():
    parser = argparse.ArgumentParser(description="postern-bench, ours and others side by side.", formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="a build folder, such as build/release")
    parser.add_argument("--csv", type=pathlib.Path, help="write all figures there")
    add_options(parser)
    parser.usage = "%(prog)s BUILD [options] [-- OPTIONS OF postern-bench]"
    options = parse_options(parser)
    options.peers = True
    found = compare(options.build.resolve(), options)
    for note in found.notes:
        print(note)
    print("\n".join(results.plain(results.heads(found), results.table_rows(found))))
    print(f"\n{results.summary(found)}")
    if options.csv:
        results.write_csv(found, options.csv)
        print(f"bench: wrote {options.csv}")
    if not found.ours.figures:
        sys.exit("bench: ours could not be measured")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nbench: interrupted")
