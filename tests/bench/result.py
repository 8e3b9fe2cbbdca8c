# SPDX-License-Identifier: Apache-2.0
"""The figures of one comparison, what they say, and how they are written and read again.

Noise. A round runs every library once, so a ratio is taken within one round; the ratio of a row is the median over the rounds, and its spread the median
distance of the rounds from it. A row beside a peer is won under 1.00, level up to the spread or 2 % above, whichever is larger, and else lost. The peer that
counts is the one beside which ours looks worst.
"""
import collections
import csv
import statistics

GROUPS = ("latency", "bandwidth", "rate", "atomic", "signal", "collective", "heap")
OURS = "ours"
LEVEL_LEAST = 0.02  # what two runs of the same program differ by
TWO_SPEEDS = 1.5    # rounds that differ by more are shown

# What identifies a figure within one library.
Key = collections.namedtuple("Key", "group operation memory bytes pes")
# Ours beside one peer: ratio and spread of ours over theirs, and "won", "level" or "lost".
Judgement = collections.namedtuple("Judgement", "peer ratio spread rounds verdict")


class Figures:
    """What was measured of one library."""

    def __init__(self, name):
        self.name = name
        self.figures = {}  # Key -> {round: (median, raw or None)}

    def add(self, key, number, median, raw):
        self.figures.setdefault(key, {})[number] = (median, raw)

    def rounds(self, key):
        return [median for median, _ in self.figures.get(key, {}).values()]

    def value(self, key):
        """The median of the rounds in nanoseconds, or None."""
        return statistics.median(self.rounds(key)) if key in self.figures else None

    def two_speeds(self, key):
        """(least, most) where the rounds differ by much, else None."""
        values = self.rounds(key)
        return (min(values), max(values)) if values and max(values) > TWO_SPEEDS * min(values) else None

    def raw(self, key):
        values = [raw for _, raw in self.figures.get(key, {}).values() if raw]
        return statistics.median(values) if values else None

    def ratio_to_raw(self, key):
        values = [median / raw for median, raw in self.figures.get(key, {}).values() if raw]
        return statistics.median(values) if values else None

    def ratios_to(self, other, key):
        """Ours over theirs, of the rounds that both have."""
        mine, theirs = self.figures.get(key, {}), other.figures.get(key, {})
        return [mine[r][0] / theirs[r][0] for r in mine if r in theirs]


def judge_ratios(peer, ratios):
    ratio = statistics.median(ratios)
    spread = statistics.median(abs(one - ratio) for one in ratios)
    verdict = "won" if ratio < 1 else "level" if ratio <= 1 + max(spread, LEVEL_LEAST) else "lost"
    return Judgement(peer, ratio, spread, len(ratios), verdict)


class Result:
    """What one comparison has found."""

    def __init__(self, libraries, notes):
        self.libraries, self.notes = libraries, notes
        self.ours, self.peers = libraries[0], libraries[1:]

    def rounds(self):
        return max((len(values) for values in self.ours.figures.values()), default=0)

    def keys(self):
        """In the order in which ours measured them, few PEs first."""
        order = {key: i for i, key in enumerate(self.ours.figures)}
        return sorted(self.ours.figures, key=lambda k: (GROUPS.index(k.group), k.pes, order[k]))

    def find(self, operation, memory, count, pes):
        """The key of a row of ours, or None."""
        return next((k for k in self.ours.figures if (k.operation, k.memory, k.bytes, k.pes) == (operation, memory, count, pes)), None)

    def judge(self, key):
        """Beside the peer that is hardest to beat in this row; None where no peer has it."""
        pairs = [(peer, self.ours.ratios_to(peer, key)) for peer in self.peers]
        judged = [judge_ratios(peer, ratios) for peer, ratios in pairs if ratios]
        return max(judged, key=lambda one: one.ratio) if judged else None


# ---- files ----

COLUMNS = ("library", *Key._fields, "round", "median_ns", "raw_ns")


def write_csv(result, path):
    """One row for each library, figure and round."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(COLUMNS)
        for library in result.libraries:
            for key, values in library.figures.items():
                for number, (median, raw) in values.items():
                    out.writerow((library.name, *key, number, f"{median:.3f}", f"{raw:.3f}" if raw else ""))


def read_csv(path, notes=()):
    libraries = {OURS: Figures(OURS)}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            library = libraries.setdefault(row["library"], Figures(row["library"]))
            key = Key(row["group"], row["operation"], row["memory"], int(row["bytes"]), int(row["pes"]))
            library.add(key, int(row["round"]), float(row["median_ns"]), float(row["raw_ns"]) if row["raw_ns"] else None)
    return Result(list(libraries.values()), list(notes))


# ---- as text ----


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


def figure_text(library, key):
    """A median; with the slowest and the quickest round where these lie far apart."""
    range_ns = library.two_speeds(key)
    text = value_text(key, library.value(key))
    return text if range_ns is None else f"{text} ({value_text(key, range_ns[0])} - {value_text(key, range_ns[1])})"


def bytes_text(count):
    if count == 0:
        return ""
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} B"


def row_name(key):
    return ", ".join(word for word in (key.operation, key.memory, bytes_text(key.bytes), f"{key.pes} PEs") if word)


def ratio_text(judged):
    """The spread says something from two rounds on."""
    ratio = f"{judged.ratio:.2f}" if judged.ratio >= 0.01 else "< 0.01"
    return f"{ratio} ± {judged.spread:.2f}" if judged.rounds > 1 else ratio


def heads(result):
    return ("operation", "where", "bytes", "PEs", "raw", "ours", "ours / raw", *[peer.name for peer in result.peers], "ours / best peer", "row")


def table_rows(result, bold=""):
    """bold goes around what is lost."""
    for key in result.keys():
        judged, to_raw = result.judge(key), result.ours.ratio_to_raw(key)
        mark = bold if judged and judged.verdict == "lost" else ""
        yield (key.operation, key.memory, bytes_text(key.bytes), str(key.pes), value_text(key, result.ours.raw(key)), figure_text(result.ours, key),
               f"{to_raw:.2f}" if to_raw else "", *[figure_text(peer, key) for peer in result.peers],
               ratio_text(judged) if judged else "", f"{mark}{judged.verdict}{mark}" if judged else "")


def judged_rows(result):
    return [(key, judged) for key, judged in ((key, result.judge(key)) for key in result.keys()) if judged]


def judged_text(key, judged):
    return f"{row_name(key)}: {ratio_text(judged)} x {judged.peer.name}"


def summary(result, named=("level", "lost")):
    """How many rows are won, level and lost, and the names of those of some verdicts."""
    rows = judged_rows(result)
    if not rows:
        return "No other library was measured."
    of = {verdict: [pair for pair in rows if pair[1].verdict == verdict] for verdict in ("won", "level", "lost")}
    close = [pair for pair in of["won"] if 1 - pair[1].ratio <= max(pair[1].spread, LEVEL_LEAST)]
    text = f"{len(of['won'])} of {len(rows)} rows with a peer are won ({len(close)} of them by no more than the spread or 2 %), "
    text += f"{len(of['level'])} level, {len(of['lost'])} lost."
    for verdict in named:
        if of[verdict]:
            text += f" {verdict.capitalize()}: {'; '.join(judged_text(*pair) for pair in of[verdict])}."
    return text


def plain(titles, rows):
    """For a terminal."""
    rows = [tuple(titles), *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(titles))]
    return ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows]
