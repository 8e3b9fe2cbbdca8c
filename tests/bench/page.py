# SPDX-License-Identifier: Apache-2.0
"""docs/performance.md from a result: targets, pictures, every row, and what is known about those that are lost or missed."""
import collections
import pathlib
import tomllib

import result as results
from result import bytes_text, time_text

KIB, MIB = 1 << 10, 1 << 20
NOTES = pathlib.Path(__file__).parent / "notes.toml"

# What is asked of ours.
#   ns      at most so long
#   raw_ns  what the raw loop took on the machine that the figure is from: ns / raw_ns is asked as a ratio, which holds on every machine
#   ratio   asked as a ratio from the start
#   copy    the raw loop meant is a plain copy of as many bytes, and not the one of the row
#   bound   it is enough to take 1.1 x what the copies of the row take alone, if that is longer
#   ahead   no peer may be quicker
#   heap    the same as this operation on the heap
Target = collections.namedtuple("Target", "ns raw_ns ratio copy bound ahead heap", defaults=(None, None, None, False, False, False, False))

COPY_NS = {64 * KIB: 630, MIB: 21.8e3}  # of that machine


BOUND = 1.1


def copied(ns, count):
    return Target(ns, COPY_NS[count], copy=True, bound=True)


TARGETS = {  # (operation, memory, bytes, PEs)
    ("p", "heap", 8, 2): Target(3, 0.3),
    ("p", "static", 8, 2): Target(3, 0.3, heap=True),
    ("put + quiet", "heap", 8, 2): Target(9, 6.3),
    ("get", "heap", 8, 2): Target(4, 1),
    ("g", "heap", 8, 2): Target(4, 1),
    ("g", "static", 8, 2): Target(4, 1, heap=True),
    ("fetch_add", "heap", 8, 2): Target(9, 5.7),
    ("fetch_add", "static", 8, 2): Target(9, 5.7, heap=True),
    ("compare_swap", "heap", 8, 2): Target(9, 5.7),
    ("fetch_add by all PEs on one word", "heap", 8, 2): Target(1e3 / 80, 1e3 / 97),
    ("quiet, nothing pending", "", 0, 2): Target(6),
    ("fence, nothing pending", "", 0, 2): Target(3),
    ("p + wait_until, one way", "static", 8, 2): Target(ratio=1.1),
    ("put_signal, one way", "heap", 8, 2): Target(ratio=1.1),
    ("put + quiet", "heap", 64 * KIB, 2): Target(ahead=True),
    ("put + quiet", "heap", MIB, 2): Target(ahead=True),
    ("put + quiet", "heap", 4 * MIB, 2): Target(ahead=True),
    ("barrier_all", "", 0, 2): Target(ratio=1.25),
    ("reduce (sum of double)", "heap", 8, 2): Target(400),
    ("reduce (sum of double)", "heap", 4 * KIB, 2): Target(1200, bound=True),
    ("reduce (sum of double)", "heap", 64 * KIB, 2): copied(8e3, 64 * KIB),
    ("reduce (sum of double)", "heap", MIB, 2): copied(75e3, MIB),
    ("fcollect", "heap", 64 * KIB, 2): copied(7e3, 64 * KIB),
    ("fcollect", "heap", MIB, 2): copied(65e3, MIB),
    ("alltoall", "heap", 64 * KIB, 2): copied(2.1e3, 64 * KIB),
    ("alltoall", "heap", MIB, 2): copied(33e3, MIB),
    ("broadcast + sync_all", "heap", 8, 2): Target(600),
    ("broadcast + sync_all", "heap", 64 * KIB, 2): copied(4.5e3, 64 * KIB),
    ("broadcast + sync_all", "heap", MIB, 2): copied(24e3, MIB),
    ("malloc + free", "heap", 64, 2): Target(ratio=1.1),
    ("barrier_all", "", 0, 4): Target(ratio=1.3),
    ("barrier_all", "", 0, 8): Target(ratio=1.3),
    ("barrier_all", "", 0, 16): Target(ratio=1.3),
    ("reduce (sum of double)", "heap", 8, 4): Target(ahead=True),
    ("reduce (sum of double)", "heap", 8, 8): Target(45e3, ahead=True),
    ("reduce (sum of double)", "heap", 8, 16): Target(90e3, ahead=True),
}
START = ("oshrun -n 2 hello", "the least launcher, two empty programs", 1.5)  # what, beside what, most
START_TWO = "two empty programs, started at once"  # the same without a launcher: fork and exec of two as the target has it, read strictly


class Checked:
    """A target beside what was measured."""

    def __init__(self, name, value, ratios, asked, asked_ratio, met):
        self.name, self.value, self.ratios, self.asked, self.asked_ratio, self.met = name, value, ratios, asked, asked_ratio, met
        self.missed = met == "**no**"

    def cells(self):
        return (*self.name, time_text(self.value), self.asked, self.ratios, self.asked_ratio, self.met)

    def text(self):
        have = ", ".join(word for word in (time_text(self.value), self.ratios if self.asked_ratio else "") if word)
        return f"{have}; asked {' or '.join(word for word in (self.asked, self.asked_ratio) if word)}"


def ratio_of(result, key, target):
    """Ours over the raw loop that the target means: the row's own, or a copy of as many bytes."""
    if not target.copy:
        return result.ours.ratio_to_raw(key)
    copy = result.find("put + quiet", "heap", key.bytes, 2)
    raw = result.ours.raw(copy) if copy else None
    return result.ours.value(key) / raw if raw else None


def at_most(ratio, limit):
    """As they are printed."""
    return bool(ratio and limit) and round(ratio, 2) <= round(limit, 2)


def ratio_words(*pairs):
    return " or ".join(f"{ratio:.2f} x {what}" for ratio, what in pairs if ratio)


def asked_text(result, key, target):
    """The figure that is asked, as words."""
    words = [f"at most {time_text(target.ns)}"] if target.ns else []
    if target.heap:
        other = result.find(key.operation, "heap", key.bytes, key.pes)
        if other:
            words.append(f"as on the heap: {time_text(result.ours.value(other))}")
    if target.ahead:
        judged = result.judge(key)
        words.append("ahead of every peer" + (f": {results.ratio_text(judged)} x {judged.peer.name}" if judged else ""))
    return ", ".join(words)


def verdict_of(result, key, target, ratio, limit):
    """How a target is met: by its figure, by its ratio, by both, or not."""
    by = []
    if target.ns and result.ours.value(key) <= target.ns:
        by.append("figure")
    if at_most(ratio, limit):
        by.append("ratio")
    if target.bound and at_most(result.ours.ratio_to_raw(key), BOUND):
        by.append("bound")
    if target.ahead:
        judged = result.judge(key)
        if judged is None:
            return "no peer to compare"
        if judged.verdict != "won":
            return "level" if judged.verdict == "level" and (by or not target.ns) else "**no**"
        if not target.ns:
            return "yes"
    asked = bool(target.ns) + bool(limit) + bool(target.bound and result.ours.ratio_to_raw(key))
    if not by:
        return "**no**"
    return "yes" if asked == 1 or by[:2] == ["figure", "ratio"] else f"by {' and '.join(by)} only"


def check(result, startup):
    """The targets whose rows were measured, and the names of the others."""
    done, absent = [], []
    for (operation, memory, count, pes), target in TARGETS.items():
        key = result.find(operation, memory, count, pes)
        name = (operation, memory, bytes_text(count), str(pes))
        limit = target.ratio or (target.ns / target.raw_ns if target.raw_ns else None)
        ratio = ratio_of(result, key, target) if key else None
        if not key or (limit and not target.ns and ratio is None):
            absent.append(", ".join(word for word in (operation, memory, bytes_text(count), f"{pes} PEs") if word))
            continue
        to_raw = result.ours.ratio_to_raw(key)
        have = ratio_words((ratio if target.copy else None, "copy"), (to_raw, "raw")).replace(" or ", ", ")
        asked = ratio_words((limit if target.copy else None, "copy"), (None if target.copy else limit, "raw"),
                            (BOUND if target.bound and to_raw else None, "raw"))
        done.append(Checked(name, result.ours.value(key), have, asked_text(result, key, target), asked, verdict_of(result, key, target, ratio, limit)))
    what, beside, most = START
    if what in startup and beside in startup:
        ratio, strict = startup[what] / startup[beside], startup[what] / startup[START_TWO] if START_TWO in startup else None
        met = "**no**" if not at_most(ratio, most) else "yes" if strict is None or at_most(strict, most) else "beside a launcher only"
        have = ratio_words((ratio, "the least launcher"), (strict, "fork and exec of two")).replace(" or ", ", ")
        done.append(Checked((what, "", "", "2"), startup[what] * 1e6, have, "", f"{most:.2f} x raw", met))
    return done, absent


# ---- notes: what was tried for a row that is lost or misses its target ----


def read_notes(path):
    """[[note]] tables: operation, text; optional memory, bytes and pes, each one value or a list. The first that fits a row is its note."""
    if not path.exists():
        return []
    with open(path, "rb") as file:
        notes = tomllib.load(file).get("note", [])
    for note in notes:
        wrong = set(note) - {"operation", "memory", "bytes", "pes", "text"}
        if wrong or not note.get("operation") or not note.get("text"):
            raise SystemExit(f"bench: {path}: a note needs operation and text, and may have memory, bytes, pes: {note}")
    return notes


def fits(note, name):
    """name: operation, memory, bytes and PEs as the tables show them."""
    def has(field, cell):
        wanted = note.get(field)
        return wanted is None or cell in [str(one) for one in (wanted if isinstance(wanted, list) else [wanted])]
    return all(has(field, cell) for field, cell in zip(("operation", "memory", "bytes", "pes"), name))


def with_notes(rows, notes):
    """rows: (name, what is wrong with it). Rows of one note together, below them the note; then those without."""
    groups, alone = {}, []
    for name, text in rows:
        number = next((i for i, note in enumerate(notes) if fits(note, name)), None)
        words = ", ".join(word for word in (*name[:3], f"{name[3]} PEs") if word)
        if number is None:
            alone.append(f"- {words}: {text}. **No note: nobody has said yet what was tried.**")
        else:
            groups.setdefault(number, []).append(f"{words}: {text}")
    return [f"- {'; '.join(lines)}. {' '.join(notes[number]['text'].split())}" for number, lines in sorted(groups.items())] + alone


# ---- the page ----


def markdown(heads, rows):
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)] + ["| " + " | ".join(row) + " |" for row in rows]


TARGET_TEXT = """The figures asked come from another machine. Divided by what the raw loop took there they are ratios, which mean more where machines differ. `x copy` is
beside a plain copy of as many bytes; `x raw` is beside the raw loop of the row, for large collectives all their copies without the calls. Each of figure, ratio
and, for large collectives, 1.10 x these copies alone (the bound) would do; where not all that are asked are met, the last column says which are."""


def target_section(result, startup, notes):
    done, absent = check(result, startup)
    of = collections.Counter(one.met for one in done)
    missed = [one for one in done if one.missed]
    words = [f"{of['yes']} are met", *[f"{count} {kind.replace('by ', 'by their ', 1)}" for kind, count in sorted(of.items()) if kind.startswith("by ")]]
    words += [f"{of[kind]} {text}" for kind, text in (("beside a launcher only", "beside the least launcher only"), ("level", "level with a peer that is to be beaten"),
                                                      ("no peer to compare", "cannot be judged: no peer was measured")) if of[kind]]
    words.append(f"{len(missed)} missed")
    out = ["## Targets", "",
           f"Of {len(done)} targets {', '.join(words)}.", "", TARGET_TEXT, "",
           *markdown(("operation", "where", "bytes", "PEs", "ours", "asked", "ours / raw", "asked", "met"), [one.cells() for one in done])]
    if absent:
        out += ["", f"Not measured in this run: {'; '.join(absent)}."]
    if missed:
        out += ["", "Missed, and why:", "", *with_notes([(one.name, one.text()) for one in missed], notes)]
    return out + [""]


RAW_TEXT = """Raw: a store, a load, a locked instruction, the best of five copies (and a full fence), two flags that two processes set for each other; for collectives
of 64 KiB and more, where each PE has a core, the copies alone that they cannot do without, in the best way and without a meeting; with more PEs
than cores, as many hand-overs of a core from process to process as the PEs need to meet. Bytes are those of the message; for collect and fcollect what each PE
gives, for alltoall what each gives to each other. Calls come back to back: what they move may stay in the cache of the core that wrote it last."""
NOISE_TEXT = """In each round every library has its turn, the order turning round, and a ratio is of one round: the column shows the median of the rounds, and ± the
median distance of the rounds from it. It is beside the peer that is hardest to beat in this row. A row is **won** below 1.00, **level** up to that spread or 2 %
above, whichever is larger, else **lost**. Where rounds differ by more than 1.5 x, the least and the most are shown beside the median."""


def row_section(result, notes):
    out = ["## Every row", "", f"`postern-bench`, {result.rounds()} round{'s' if result.rounds() > 1 else ''}.", "", RAW_TEXT, "", NOISE_TEXT, ""]
    out += [f"{note}\n" for note in result.notes]
    out += [results.summary(result, named=["level"]), ""]
    out += [*markdown(results.heads(result), results.table_rows(result, bold="**")), ""]
    behind = [(key, judged) for key, judged in results.judged_rows(result) if judged.verdict == "lost"]
    if behind:
        rows = [((key.operation, key.memory, bytes_text(key.bytes), str(key.pes)), f"{results.ratio_text(judged)} x {judged.peer.name}")
                for key, judged in behind]
        out += ["Lost, and why:", "", *with_notes(rows, notes), ""]
    return out


def picture_section(pictures):
    """pictures: (file beside docs/figures, what it shows)."""
    if not pictures:
        return []
    return ["## Pictures", "", "Ours, each peer and the raw loops; both axes are logarithmic.", "",
            *[line for name, title in pictures for line in (f"![{title}](figures/{name})", "")]]


def startup_section(startup):
    base = startup.get(START[1])
    if not base:
        return []
    rows = [(name, f"{value:.2f}", f"{value / base:.2f} x") for name, value in startup.items()]
    return ["## Start to finish", "", *markdown(("what", "ms", "ratio to raw"), rows), "",
            "Raw is the fork, exec and end of two by a launcher that does nothing else, whose own start counts as that of `oshrun` does.",
            f"Asked: `{START[0]}` at most {START[2]} x. More PEs: [scaling.md](scaling.md).", ""]


def touch_section(touch):
    if not touch:
        return []
    heads = list(touch[0])
    return ["## First touch of 1 GiB of heap", "",
            "Microseconds per 4 KiB, for each kind of page that this machine grants. `populate` is what an allocation does, `access` the first",
            "store after it, `peer access` the first store of another PE, `owner touch` a store without populate.", "",
            *markdown(heads, [[row.get(head, "") for head in heads] for row in touch]), ""]


def text(result, about, pictures, notes_path=NOTES):
    """about: what figures.json holds besides the rows: machine, startup, touch."""
    notes = read_notes(notes_path)
    startup = about.get("startup", {})
    lines = ["# Performance on one machine", "",
             "Written by `./dev bench --peers`. Each figure was taken beside something else, in turn, in one run: a raw loop that does the same work without any",
             "library between the same two processes, and the same program over other libraries. Figures are medians. Machines differ, so compare ratios.", "",
             *markdown(("machine", ""), about.get("machine", {}).items()), "",
             *target_section(result, startup, notes), *picture_section(pictures), *row_section(result, notes),
             *startup_section(startup), *touch_section(about.get("touch"))]
    return "\n".join(lines).rstrip("\n") + "\n"
