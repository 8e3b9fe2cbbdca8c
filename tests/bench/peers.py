#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collectives side by side: ours and Open MPI's OpenSHMEM, by the same program (collectives.c), in turn.

usage: tests/bench/peers.py BUILD [--pes N,N] [--rounds N] [--realtime] [--fine] [--touch] [--only A,B] [--oshcc PATH] [--tsv FILE]

Every round runs each library once for each number of PEs, in changing order, so that a machine that changes its speed changes it for
both. A figure is the median of the rounds, a ratio the median of the ratios of one round. What cannot be measured is said, with the
reason, and the rest goes on. The first lines of what it prints are for people; --tsv writes all figures, one row each.
"""
import argparse
import collections
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
SOURCE = ROOT / "tests/bench/collectives.c"
PES = (2, 4, 8)
ROUNDS = 5
PRIORITY = 10
LIMIT_S = 30  # of one run of another library
LIMIT_OURS_S = 120
FINE = "8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536,131072,262144,524288,1048576"
OPERATIONS = ("barrier_all", "sync_all", "sync", "broadcast", "collect", "fcollect", "alltoall", "sum_int", "sum_double")

# What identifies a figure within one library.
Key = collections.namedtuple("Key", "operation form pes bytes")


class Library:
    """A library: how its program is started, its rows so far, and what could not be measured."""

    def __init__(self, name, command, environment=None):
        self.name, self.command, self.environment = name, command, environment or {}
        self.samples = {}  # (round, Key) -> row
        self.skip = {}  # PEs -> operations that crashed or hung
        self.notes = []

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def value(self, key, column="lat_us_p50"):
        """The median of the rounds, or None."""
        values = [float(row[column]) for (_, k), row in self.samples.items() if k == key]
        return statistics.median(values) if values else None

    def round_values(self, key):
        return {r: float(row["lat_us_p50"]) for (r, k), row in self.samples.items() if k == key}


# ---- which libraries there are ----


def ours(build):
    return Library("ours", lambda pes: [build / "bin/oshrun", "-n", str(pes), build / "tests/bench/bench_collectives"])


def is_open_mpi(oshcc):
    try:
        shown = subprocess.run([oshcc, "-show"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "-loshmem" in shown.stdout


def find_oshcc(given):
    places = [given] if given else [shutil.which("oshcc.openmpi"), "/usr/bin/oshcc", shutil.which("oshcc")]
    return next((place for place in places if place and is_open_mpi(place)), None)


def open_mpi(given, folder, memory):
    """Open MPI's library with the program compiled for it in folder; or the reason why not. memory: a folder of files in memory."""
    oshcc = find_oshcc(given)
    if not oshcc:
        return None, "Open MPI's oshcc is not installed (packages openmpi-bin and libopenmpi-dev; ./dev deps --all installs them)"
    oshrun = pathlib.Path(oshcc).parent / "oshrun"
    program = folder / "collectives-openmpi"
    made = subprocess.run([oshcc, "-O2", "-o", program, SOURCE], capture_output=True, text=True)
    if made.returncode != 0:
        return None, f"{oshcc} cannot compile {SOURCE.name}: {made.stderr.strip().splitlines()[-1]}"
    options = ["--oversubscribe", "--quiet"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
    # As Debian packages it, its one-sided component crashes at the end of each program. Its files go to our folders, which are removed,
    # because a program that crashes leaves them.
    environment = {"OMPI_MCA_osc": "^rdma", "TMPDIR": str(folder), "OMPI_MCA_btl_vader_backing_directory": str(memory),
                   "UCX_POSIX_DIR": str(memory)}
    library = Library("Open MPI", lambda pes: [oshrun, *options, "-n", str(pes), program], environment)
    library.note("Open MPI runs with OMPI_MCA_osc=^rdma: as packaged in Debian 12 it crashes at the end of each program otherwise.")
    return library, None


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
    """(output, None), or (output so far, why it ended badly)."""
    child = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, start_new_session=True, env={**os.environ, **environment})
    try:
        out, err = child.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        child.terminate()  # a launcher ends its PEs and cleans up
        time.sleep(2)
        kill_session(child.pid)
        out, _ = child.communicate()
        return out, f"did not end within {limit_s:g} s"
    finally:  # also where a signal ends us
        if child.returncode != 0:
            kill_session(child.pid)
    if child.returncode != 0:
        lines = [line for line in err.splitlines() if line.strip(" -")]
        said = next((line for line in lines if "signal" in line or "why:" in line), lines[0] if lines else "no message")
        return out, f"ended with status {child.returncode} ({said.strip()})"
    return out, None


def read_rows(text):
    """The rows, the last '# now:' line, and the other lines with '#'."""
    rows, now, head, columns = [], "", [], None
    for line in text.splitlines():
        if line.startswith("# now: "):
            now = line[len("# now: "):]
        elif line.startswith("#"):
            head.append(line)
        elif columns is None:
            columns = line.split("\t")
        elif line.count("\t") == len(columns) - 1:
            rows.append(dict(zip(columns, line.split("\t"))))
    return rows, now, head


def measure(library, pes, number, arguments, limit_s):
    """One run. Where an operation breaks the program, once more without it."""
    for _ in range(len(OPERATIONS)):
        skip = library.skip.setdefault(pes, [])
        if skip == ["*"]:
            return
        extra = ["progress=1", *arguments] + ([f"skip={','.join(skip)}"] if skip else [])
        out, trouble = start(library.command(pes) + extra, library.environment, limit_s)
        rows, now, head = read_rows(out)
        for row in rows:
            key = Key(row["operation"], row["form"], int(row["pes"]), int(row["bytes"]))
            library.samples[(number, key)] = row
            if row["result"] != "ok":
                library.note(f"{library.name}, {pes} PEs: {key.operation} ({key.form}) of {key.bytes} bytes gave a wrong result.")
        library.head = head
        if not trouble:
            return
        last = rows[-1] if rows else {"operation": "", "form": "", "bytes": ""}
        if now == f"{last['operation']} {last['form']} {last['bytes']}":
            library.note(f"{library.name}, {pes} PEs: the program {trouble} after its last row.")
            return
        library.note(f"skipped: {library.name}, {pes} PEs, {now or 'before the first row'}: {trouble}.")
        library.skip[pes] = skip + [now.split()[0]] if now and len(skip) < 2 else ["*"]


def can_be_realtime():
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
        os.sched_setscheduler(0, *before)
        return True
    except OSError:
        return False


# ---- all of it ----


class Result:
    """What one comparison has found."""

    def __init__(self, libraries, notes, pes, rounds):
        self.libraries, self.general_notes, self.pes, self.rounds = libraries, notes, pes, rounds

    def notes(self):
        return self.general_notes + [note for library in self.libraries for note in library.notes]

    def library(self, name):
        return next((library for library in self.libraries if library.name == name), None)

    def ratio(self, form, key):
        """Ours, in that form, over theirs: the median of the rounds."""
        theirs = self.library("Open MPI")
        if not theirs:
            return None
        mine, other = self.library("ours").round_values(key._replace(form=form)), theirs.round_values(key)
        ratios = [mine[r] / other[r] for r in mine if r in other]
        return statistics.median(ratios) if ratios else None

    def keys(self):
        """Of the rows to show: one for each operation, number of PEs and size."""
        found = {k for library in self.libraries for _, k in library.samples if k.form in ("set", "all")}
        return sorted(found, key=lambda k: (OPERATIONS.index(k.operation), k.pes, k.bytes))


def compare(build, options):
    """Run it all. options: pes, rounds, realtime, arguments (of the program), oshcc."""
    notes, arguments = [], list(options.arguments)
    if options.realtime and can_be_realtime():
        arguments.append(f"realtime={PRIORITY}")
        notes.append(f"PEs of both libraries measured with real-time priority (as by chrt -r {PRIORITY}), each kept on a core, because "
                     "the machine had other load.")
    elif options.realtime:
        notes.append("Real-time priority was asked for, but is not permitted here: measured without.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that what we made is removed
    in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    if options.touch:
        arguments.append("touch=1")
        notes.append("Before each call all of source was written and all of dest was read, not timed.")
    with tempfile.TemporaryDirectory(prefix="postern-bench-") as folder, \
            tempfile.TemporaryDirectory(prefix="postern-bench-", dir=in_memory) as memory:
        theirs, why = open_mpi(options.oshcc, pathlib.Path(folder), pathlib.Path(memory))
        libraries = [ours(build)] + ([theirs] if theirs else [])
        if why:
            notes.append(f"skipped: Open MPI: {why}.")
        for number in range(options.rounds):
            for pes in options.pes:
                for library in libraries if number % 2 == 0 else libraries[::-1]:
                    measure(library, pes, number, arguments, options.limit if library is theirs else LIMIT_OURS_S)
                    if sys.stderr.isatty():
                        print(f"\rround {number + 1} of {options.rounds}, {pes} PEs, {library.name}      ", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return Result(libraries, notes, options.pes, options.rounds)


# ---- what is printed ----


def shown(value):
    return "" if value is None else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def shown_ratio(ratio):
    return "" if ratio is None else f"**{ratio:.2f}**" if ratio > 1 else f"{ratio:.2f}"


HEADS = ("operation", "bytes", "PEs", "ours, team (us)", "ours, active set (us)", "Open MPI (us)", "team / Open MPI",
         "active set / Open MPI")


def table_rows(result):
    mine, theirs = result.library("ours"), result.library("Open MPI")
    for key in result.keys():
        is_both = key.form == "set"
        best = key._replace(form="team") if is_both else key
        yield (key.operation, str(key.bytes or ""), str(key.pes), shown(mine.value(best)), shown(mine.value(key)) if is_both else "",
               shown(theirs.value(key)) if theirs else "", shown_ratio(result.ratio(best.form, key)),
               shown_ratio(result.ratio("set", key)) if is_both else "")


def barrier_lines(result):
    """The barrier of two PEs beside the raw way of one line."""
    mine = result.library("ours")
    raw = mine.round_values(Key("ping_pong", "raw", 2, 0))
    lines = []
    for key in (Key("barrier_all", "all", 2, 0), Key("sync_all", "all", 2, 0), Key("sync", "team", 2, 0), Key("sync", "set", 2, 0)):
        values = mine.round_values(key)
        ratios = [values[r] / raw[r] for r in values if r in raw]
        if not ratios:
            continue
        name = {"team": "team_sync", "set": "sync, active set"}.get(key.form, key.operation)
        target = "at most 2.5" if key.operation == "barrier_all" else ""
        lines.append((name, shown(mine.value(key)), shown(mine.value(Key("ping_pong", "raw", 2, 0))), f"{statistics.median(ratios):.2f}", target,
                      "" if not target else "yes" if statistics.median(ratios) <= 2.5 else "**no**"))
    return lines


def judge(result):
    """How many ratios there are, and in words those in which ours is slower."""
    count, found = 0, []
    for key in result.keys():
        for form in ("team", "set") if key.form == "set" else (key.form,):
            ratio = result.ratio(form, key)
            count += ratio is not None
            if ratio is not None and ratio > 1:
                found.append(f"{key.operation} ({form}) of {key.bytes} bytes with {key.pes} PEs: {ratio:.2f}")
    return count, found


def markdown(heads, rows):
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)] + ["| " + " | ".join(row) + " |" for row in rows]


def section(result):
    """Of docs/performance.md, as lines."""
    out = ["## Collectives", "",
           f"The same program for both libraries, in turn, {result.rounds} rounds. A time is that of one call on the PE where it is longest, in",
           "microseconds, the median of all samples and rounds; a ratio is the median of the ratios of one round, and below 1 ours is faster",
           "(above: bold). Bytes are those of the message (broadcast, sums), that one PE gives (collect, fcollect), for each pair (alltoall).",
           "Broadcast is a broadcast and a `shmem_sync_all`: the root of a broadcast alone waits for nobody. Calls come back to back: what they",
           "move may stay in the cache of the core that wrote it last. `--touch` writes source and reads dest before each call.",
           "", "- ours, team: `shmem_team_sync`, `shmem_broadcastmem` and so on over `SHMEM_TEAM_WORLD`; Open MPI has no such calls.",
           "- ours, active set: the deprecated call with pSync, the same in both libraries.",
           "- barrier_all and sync_all have one form only.", ""]
    out += [f"{note}\n" for note in result.notes()]
    out += markdown(HEADS, table_rows(result))
    if result.library("Open MPI"):
        count, slower = judge(result)
        out += ["", f"{count - len(slower)} of {count} ratios are at most 1." + (f" Slower: {'; '.join(slower)}." if slower else "")]
    lines = barrier_lines(result)
    if lines:
        out += ["", "### Synchronization of 2 PEs beside a ping-pong", "",
                "The ping-pong is plain stores and loads on two cache lines, without any library; one way.", ""]
        out += markdown(("operation", "us", "ping-pong (us)", "ratio", "target", "met"), lines)
    return out


def write_tsv(result, path, commit):
    """One row for each library, operation, form, PEs and size, below what was measured."""
    with open(path, "w", encoding="utf-8") as file:
        print(f"# commit: {commit}\n# rounds: {result.rounds}", file=file)
        for library in result.libraries:
            for line in getattr(library, "head", []):
                print(f"# {library.name}: {line[2:]}", file=file)
        for note in result.notes():
            print(f"# {note}", file=file)
        columns = ("lat_us_p50", "lat_us_p99", "bw_GBps")
        print("\t".join(("library", "operation", "form", "pes", "bytes", *columns)), file=file)
        for library in result.libraries:
            for key in sorted({k for _, k in library.samples}):
                values = [f"{library.value(key, column):.3f}" for column in columns]
                print("\t".join((library.name, *map(str, key), *values)), file=file)


def plain(heads, rows):
    """For a terminal."""
    rows = [tuple(heads), *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    return ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))) for row in rows]


def current_commit():
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "none"


def add_options(parser):
    parser.add_argument("--touch", action="store_true", help="collectives: write source and read dest before each call, as programs do")
    parser.add_argument("--realtime", action="store_true", help="real-time priority for the PEs of collectives, for a machine with other load")
    parser.add_argument("--limit", type=float, default=LIMIT_S,
                        help="seconds after which a run of another library counts as hanging (default %(default)s)")
    parser.add_argument("--oshcc", help="Open MPI's oshcc (default: the one that is installed)")


def main():
    parser = argparse.ArgumentParser(description="Collectives: ours and Open MPI's, side by side.")
    parser.add_argument("build", type=pathlib.Path, help="a build folder, such as build/release")
    parser.add_argument("--pes", default=",".join(map(str, PES)), help="numbers of PEs (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="default %(default)s")
    parser.add_argument("--fine", action="store_true", help="every power of two from 8 bytes to 1 MiB")
    parser.add_argument("--only", help="operations, with commas between")
    parser.add_argument("--tsv", type=pathlib.Path, help="write all figures there")
    parser.add_argument("--program", default="", help="further arguments of collectives.c, such as samples=5")
    add_options(parser)
    options = parser.parse_args()
    options.pes = [int(word) for word in options.pes.split(",")]
    options.arguments = [f"sizes={FINE}"] if options.fine else []
    options.arguments += [f"only={options.only}"] if options.only else []
    options.arguments += options.program.split()
    result = compare(options.build.resolve(), options)
    for note in result.notes():
        print(note)
    print("\n".join(plain(HEADS, table_rows(result))))
    lines = barrier_lines(result)
    if lines:
        print("\n".join(["", *plain(("2 PEs", "us", "ping-pong", "ratio", "target", "met"), lines)]))
    if result.library("Open MPI"):
        count, slower = judge(result)
        print("\n".join(["", f"{count - len(slower)} of {count} ratios are at most 1" + ("; slower:" if slower else ""), *slower]))
    if options.tsv:
        write_tsv(result, options.tsv, current_commit())
        print(f"bench: wrote {options.tsv}")
    if not result.library("ours").samples:
        sys.exit("bench: ours could not be measured")


if __name__ == "__main__":
    main()
