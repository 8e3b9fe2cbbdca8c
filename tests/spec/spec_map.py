#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/spec-map.md: section of OpenSHMEM 1.6 -> sources -> tests, and every rule with the tests that prove it.

usage: spec_map.py ROOT              write ROOT/docs/spec-map.md (target docs-spec-map)
       spec_map.py ROOT --check      1, with a message for each, if the page is stale or something of the following is missing
       spec_map.py --self-test       planted mistakes must be found

It is made from sections.tsv, from rules.tsv, and from tags in comments of sources and tests:

    Spec: OpenSHMEM 1.6 §9.12.2 shmem_quiet, §9.11.1 to §9.11.14,   at the head of a file; a line that begins with § goes on with it
    §9.1.1
    Spec: none, and why                                             a test of ours that no section asks for
    Spec: §9.12.2                                                   at the head of a function
    SPEC §9.12.2: "..."                                             in a body, beside the code that answers that sentence

A tag of a source on a section speaks for the sections below it too (not so in include/, which declares and does nothing); a test names
what it tests. Checked:
- each routine and model section has a source and a test, each rule section of an annex has a test, each other section a reason;
- each test of tests/api has a Spec line, and each tag names a section that exists;
- each rule names tests that exist, and one of them has a tag on the rule's section, on one above it or below it;
- each function and generic of tests/abi/names.tsv belongs to exactly one section.
"""
import csv
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = "docs/spec-map.md"
KINDS = ("routine", "model", "annex", "prose")
RULE_KINDS = ("rule", "pitfall", "gap")
SOURCES = ("runtime", "transports", "include")
HEADER_TAG = re.compile(r"Spec: (OpenSHMEM 1\.6 )?(.*§.*)")
BODY_TAG = re.compile(r"SPEC ((?:§[0-9A-H][0-9.]*(?: to |, )?)+): ")
OLD_TAG = re.compile(r"Spec 1\.6\b|SPEC §(?![0-9A-H.]+(?:(?: to |, )§[0-9A-H.]+)*: )|SPEC (?:Annex|RFC)|Spec: (?!(?:OpenSHMEM 1\.6 )?§|none\b)")
CONTINUED_TAG = re.compile(r"^\W*§")
NUMBER = re.compile(r"§([0-9]+(?:\.[0-9]+)*|[A-H](?:\.[0-9]+)*)(?: to §([0-9A-H][0-9.]*))?")
TYPES = ("float double longdouble char schar short int long longlong uchar ushort uint ulong ulonglong int8 int16 int32 int64 "
         "uint8 uint16 uint32 uint64 size ptrdiff complexd complexf").split()


def read_table(path, columns):
    """The rows of a table below its comments and its line of names, as dictionaries."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    if not rows or rows[0] != columns:
        sys.exit(f"{path}: the columns are not {' '.join(columns)}")
    for row in rows[1:]:
        if len(row) != len(columns):
            sys.exit(f"{path}: a row of {len(row)} fields, not {len(columns)}: {row[0] if row else ''}")
    return [dict(zip(columns, row)) for row in rows[1:]]


class Map:
    """All that is known: the sections, the rules, the tags of sources and tests, and what is wrong with them."""

    def __init__(self, root):
        self.root = root
        self.faults = []
        here = os.path.join(root, "tests", "spec")
        self.sections = read_table(os.path.join(here, "sections.tsv"), ["number", "kind", "title", "routines", "why"])
        self.rules = read_table(os.path.join(here, "rules.tsv"), ["id", "section", "kind", "rule", "tests"])
        self.numbers = [section["number"] for section in self.sections]
        self.known = set(self.numbers)
        self.sources = {}  # file -> sections
        self.tests = {}    # test name (no folder tests/, no ending) -> sections
        self.read_tags()

    def fault(self, text):
        self.faults.append(text)

    # ---- tags ----

    def expand(self, text, where):
        """The sections that a tag names; a range is all of its sections between two that have the same parent."""
        found = []
        for first, last in NUMBER.findall(text):
            first, last = first.rstrip("."), last.rstrip(".")
            for number in filter(None, (first, last)):
                if number not in self.known:
                    self.fault(f"{where}: there is no section {number}")
            if last and first in self.known and last in self.known:
                parent = first.rpartition(".")[0]
                if parent != last.rpartition(".")[0]:
                    self.fault(f"{where}: {first} and {last} are not sections of one chapter")
                between = self.numbers[self.numbers.index(first): self.numbers.index(last) + 1]
                found += [number for number in between if number.rpartition(".")[0] == parent]
            elif first in self.known:
                found.append(first)
        return found

    def tags_of(self, path):
        """(sections, whether there is a Spec line) of a file."""
        sections, has_line, goes_on = [], False, False
        where = os.path.relpath(path, self.root)
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except UnicodeDecodeError:
            return [], True
        for at, line in enumerate(lines, 1):
            header = HEADER_TAG.search(line)
            if goes_on and CONTINUED_TAG.search(line):
                sections += self.expand(line, f"{where}:{at}")
                continue
            goes_on = bool(header)
            if header:
                has_line = has_line or bool(header.group(1))
                sections += self.expand(header.group(2), f"{where}:{at}")
            elif "Spec: none" in line:
                has_line = True
            elif OLD_TAG.search(line):
                self.fault(f"{where}:{at}: a tag that is not of the form of spec_map.py: {line.strip()[:80]}")
            for body in BODY_TAG.findall(line):
                sections += self.expand(body, f"{where}:{at}")
        return sorted(set(sections), key=self.numbers.index), has_line

    def files(self, *folders):
        for folder in folders:
            for path, names, files in os.walk(os.path.join(self.root, folder)):
                names.sort()
                names[:] = [name for name in names if name != "__pycache__"]
                for name in sorted(files):
                    yield os.path.join(path, name)

    def read_tags(self):
        for path in self.files(*SOURCES):
            if re.search(r"\.(c|h|def|in|cmake|ld)$", path):
                sections, _ = self.tags_of(path)
                if sections:
                    self.sources[os.path.relpath(path, self.root)] = sections
        own = os.path.basename(__file__)
        for path in self.files("tests"):
            if not re.search(r"\.(c|h|py|sh)$", path) or os.path.basename(path) == own:
                continue
            name = os.path.relpath(os.path.splitext(path)[0], os.path.join(self.root, "tests"))
            sections, has_line = self.tags_of(path)
            if path.endswith(".h"):
                continue
            self.tests[name] = sections
            if name.startswith("api/") and not has_line:
                self.fault(f"tests/{name}: no line such as \"Spec: OpenSHMEM 1.6 §9.12.2 shmem_quiet\" at its head")

    # ---- what belongs to a section ----

    @staticmethod
    def below(inner, outer):
        return inner == outer or inner.startswith(outer + ".")

    def sources_of(self, number):
        """Those with a tag on it; where only headers have one, those too of the nearest section above that has any."""
        found = sorted(path for path, tags in self.sources.items() if number in tags)
        above = number
        while above and not any(not path.startswith("include/") for path in found):
            above = above.rpartition(".")[0]
            found += sorted(path for path, tags in self.sources.items() if above in tags and not path.startswith("include/"))
        return found

    def tests_of(self, number):
        return sorted(name for name, tags in self.tests.items() if number in tags)

    # ---- checks ----

    def check_sections(self):
        for section in self.sections:
            number, kind = section["number"], section["kind"]
            name = f"section {number} ({section['title']})"
            if kind not in KINDS:
                self.fault(f"{name}: the kind {kind} is none of {' '.join(KINDS)}")
            if (kind == "prose") != (section["why"] != "-"):
                self.fault(f"{name}: a reason (why) is for sections of the kind prose, and they need one")
            sources = [path for path in self.sources_of(number) if kind == "model" or not path.startswith("include/")]
            if kind in ("routine", "model") and not sources:
                self.fault(f"{name}: no source has its tag, nor one of a section above")
            if kind != "prose" and not self.tests_of(number):
                self.fault(f"{name}: no test has its tag")
        if len(self.known) != len(self.sections):
            self.fault("sections.tsv: a number is there twice")

    def check_rules(self):
        seen = set()
        for rule in self.rules:
            name = f"rule {rule['id']}"
            if rule["id"] in seen:
                self.fault(f"{name}: this id is there twice")
            seen.add(rule["id"])
            if rule["section"] not in self.known:
                self.fault(f"{name}: there is no section {rule['section']}")
            if rule["kind"] not in RULE_KINDS:
                self.fault(f"{name}: the kind {rule['kind']} is none of {' '.join(RULE_KINDS)}")
            tests = rule["tests"].split()
            if not tests:
                self.fault(f"{name}: it names no test")
            for test in tests:
                if test not in self.tests:
                    self.fault(f"{name}: there is no test tests/{test}")
            tags = {tag for test in tests for tag in self.tests.get(test, [])}
            if tests and not any(self.below(tag, rule["section"]) or self.below(rule["section"], tag) for tag in tags):
                self.fault(f"{name}: none of its tests has a tag on section {rule['section']}")

    def check_names(self):
        """Every function and generic has one section; every routine of a section exists."""
        path = os.path.join(self.root, "tests", "abi", "names.tsv")
        with open(path, encoding="utf-8") as file:
            rows = [row for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]
        names = {row[0] for row in rows if row[1] in ("function", "generic")}
        others = {row[0] for row in rows if row[1] == "type"}
        homes = {name: [] for name in names}
        for section in self.sections:
            for routine in section["routines"].split() if section["routines"] != "-" else []:
                pattern = re.compile(pattern_of(routine))
                found = [name for name in names if pattern.fullmatch(name)]
                for name in found:
                    homes[name].append(section["number"])
                if not found and routine not in others:
                    self.fault(f"section {section['number']}: {routine} is no name of tests/abi/names.tsv")
        for name in sorted(names):
            if len(homes[name]) != 1:
                self.fault(f"{name} belongs to {' and '.join(homes[name]) or 'no section'}, not to one section")

    def check_page(self):
        path = os.path.join(self.root, PAGE)
        try:
            with open(path, encoding="utf-8") as file:
                same = file.read() == self.page()
        except FileNotFoundError:
            same = False
        if not same:
            self.fault(f"{PAGE} is not what the tables and tags give\n    fix: cmake --build BUILD_FOLDER --target docs-spec-map")

    def check(self):
        self.check_sections()
        self.check_rules()
        self.check_names()
        self.check_page()
        return self.faults

    # ---- the page ----

    def page(self):
        return INTRO + self.section_table() + self.prose_table() + self.rule_tables()

    def section_table(self):
        lines = ["## Sections\n\n| section | sources | tests (below `tests/`) |\n|---|---|---|\n"]
        for section in self.sections:
            if section["kind"] == "prose":
                continue
            lines.append(f"| §{section['number']} {cell(section['title'])} | {listed(self.sources_of(section['number']))} "
                         f"| {listed(self.tests_of(section['number']))} |\n")
        return "".join(lines)

    def prose_table(self):
        lines = ["\n## Sections that ask for nothing\n\n| section | why it has neither source nor test of its own |\n|---|---|\n"]
        lines += [f"| §{section['number']} {cell(section['title'])} | {cell(section['why'])} |\n"
                  for section in self.sections if section["kind"] == "prose"]
        return "".join(lines)

    def rule_tables(self):
        lines = [RULES_INTRO]
        for section in self.sections:
            rules = [rule for rule in self.rules if rule["section"] == section["number"]]
            if not rules:
                continue
            lines.append(f"\n### §{section['number']} {section['title']}\n\n| id | kind | rule | tests |\n|---|---|---|---|\n")
            lines += [f"| {rule['id']} | {rule['kind']} | {cell(rule['rule'])} | {listed(rule['tests'].split())} |\n" for rule in rules]
        return "".join(lines)


INTRO = """# Spec map

<!-- Made from tests/spec/sections.tsv, tests/spec/rules.tsv and the tags in sources and tests: change these, then build the target
docs-spec-map. -->

From a section of OpenSHMEM 1.6 to the files that carry it out and to the tests that prove it; then every rule that we
know of, with its tests. A test checks that this page is up to date, that no section that asks for something is without
a source and a test, and that no rule is without a test. `tests/spec/spec_map.py` tells how a file gets its place here.

A source that is named for a section and not for those below it stands for them too.

"""

RULES_INTRO = """
## Rules

In our own words. A **pitfall** is a rule that libraries or their tests are known to have got wrong. A **gap** is a question
that the standard leaves open, with what we do.
"""


def cell(text):
    return text.replace("|", "\\|")


def listed(names):
    return "<br>".join(f"`{name}`" for name in names) or "-"


def pattern_of(routine):
    """A regular expression for an entry of the column routines."""
    text = re.escape(routine).replace(r"\[", "[").replace(r"\]", "]")
    text = text.replace("[TYPE_]", f"(?:(?:{'|'.join(TYPES)})_)?").replace("[SIZE]", "(?:8|16|32|64|128|mem)?")
    return re.sub(r"\[([a-z_]+)\]", r"(?:\1)?", text)


# ---- the test of the test ----

TEST_SECTIONS = """number\tkind\ttitle\troutines\twhy
1\tprose\tOne\t-\tnothing
2\tmodel\tTwo\tshmem_[TYPE_]put shmem_quiet\t-
2.1\troutine\tTwo and one\tshmem_get\t-
2.2\troutine\tTwo and two\tshmem_fence\t-
A\tannex\tLast\t-\t-
"""
TEST_RULES = "id\tsection\tkind\trule\ttests\nr-1\t2\trule\tA rule.\tapi/x/first\nr-2\t2.1\tgap\tAnother.\tapi/x/first api/x/second\n"
TEST_NAMES = "symbol\tkind\n" + "".join(f"{name}\tfunction\n" for name in
                                        "shmem_put shmem_long_put shmem_quiet shmem_get shmem_fence".split())
TEST_FILES = {
    "tests/spec/sections.tsv": TEST_SECTIONS,
    "tests/spec/rules.tsv": TEST_RULES,
    "tests/abi/names.tsv": TEST_NAMES,
    "runtime/put.c": "/* Spec: OpenSHMEM 1.6 §2 Two. */\n",
    "tests/api/x/first.c": "/* Spec: OpenSHMEM 1.6 §2 Two,\n * §2.1 to §2.2 */\n",
    "tests/api/x/second.c": "/* Spec: none, ours */\nint x; /* SPEC §A: \"words\" */\n",
}
# what is planted: file, text in it, text instead, and what the complaint must contain
MISTAKES = [
    ("runtime/put.c", "§2 Two", "§A Last", "section 2 (Two): no source"),
    ("runtime/put.c", "§2 Two", "§2 Two, §7", "there is no section 7"),
    ("runtime/put.c", "OpenSHMEM 1.6 §2", "OpenSHMEM 1.6 \"Two\"", "not of the form"),
    ("tests/api/x/first.c", " * §2.1 to §2.2", " * then", "section 2.1 (Two and one): no test"),
    ("tests/api/x/first.c", "§2.1 to §2.2", "§2.1 to §A", "not sections of one chapter"),
    ("tests/api/x/second.c", "Spec: none, ours", "ours", "tests/api/x/second: no line"),
    ("tests/api/x/second.c", "SPEC §A: ", "SPEC §A ", "not of the form"),
    ("tests/spec/rules.tsv", "api/x/second", "api/x/third", "there is no test tests/api/x/third"),
    ("tests/spec/rules.tsv", "\tapi/x/first\n", "\tapi/x/second\n", "none of its tests has a tag on section 2"),
    ("tests/spec/rules.tsv", "\tapi/x/first\n", "\t\n", "it names no test"),
    ("tests/spec/rules.tsv", "r-2", "r-1", "twice"),
    ("tests/spec/sections.tsv", "\tnothing", "\t-", "a reason (why)"),
    ("tests/spec/sections.tsv", "shmem_quiet", "shmem_get", "shmem_get belongs to 2 and 2.1"),
    ("tests/spec/sections.tsv", " shmem_quiet", "", "shmem_quiet belongs to no section"),
    ("tests/spec/sections.tsv", "shmem_quiet", "shmem_quiet shmem_pause", "shmem_pause is no name"),
    (PAGE, "A rule.", "A role.", "is not what the tables and tags give"),
]


def self_test():
    with tempfile.TemporaryDirectory() as root:
        for name, text in TEST_FILES.items():
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            write(os.path.join(root, name), text)
        os.makedirs(os.path.join(root, "docs"))
        write(os.path.join(root, PAGE), Map(root).page())
        failures = [f"a sound tree: {fault}" for fault in Map(root).check()]
        for name, text, instead, wanted in MISTAKES:
            path = os.path.join(root, name)
            with open(path, encoding="utf-8") as file:
                before = file.read()
            if text not in before:
                failures.append(f"{name} has no text {text!r}")
            write(path, before.replace(text, instead, 1))
            faults = Map(root).check()
            if not any(wanted in fault for fault in faults):
                failures.append(f"{name}, {text!r} -> {instead!r}: no complaint has {wanted!r}, but: {faults}")
            write(path, before)
    print("\n".join(failures) or f"a sound tree passes, and {len(MISTAKES)} planted mistakes are found")
    return 1 if failures else 0


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if not arguments or arguments[1:] not in ([], ["--check"]):
        print(__doc__)
        return 2
    spec_map = Map(arguments[0])
    if len(arguments) == 1:
        write(os.path.join(arguments[0], PAGE), spec_map.page())
        return 0
    faults = spec_map.check()
    for fault in faults:
        print(fault)
    count = sum(section["kind"] != "prose" for section in spec_map.sections)
    print(f"{len(spec_map.sections)} sections, {count} with sources and tests; {len(spec_map.rules)} rules; {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
