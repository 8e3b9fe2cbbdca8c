# SPDX-License-Identifier: Apache-2.0
"""Every page has its sections in order, none of them empty, a NAME line that fits, a section of the standard, and references that lead somewhere."""

import re

import man

ALLOWED = {"3": [], "1": [], "7": None}  # further sections: none, or any


def check_sections(report, page):
    """Sections: those that the form asks for, in its order."""
    want, have = man.pages.SECTIONS[page.section], list(page.sections)
    if ALLOWED[page.section] is None:
        have = [title for title in have if title in want]
    report.check(have == want, f"{page.name}.md: has the sections {', '.join(have)}; wants {', '.join(want)}")
    for title, text in page.sections.items():
        report.check(text.strip(), f"{page.name}.md: {title} is empty")


def check_name_line(report, page):
    """NAME: names, a dash, and what it does, without a full stop; the page's own name first."""
    line = " ".join(page.sections.get("NAME", "").replace("\\", "").split())
    match = re.fullmatch(r"([\w+-]+(?:, [\w+-]+)*) - ([^-\s].*[^.])", line)
    report.check(match, f"{page.name}.md: NAME is not 'name, name - what it does': {line}")
    if match:
        names = match[1].split(", ")
        report.check(names[0] == page.name, f"{page.name}.md: NAME begins with {names[0]}")
        if page.section == "3":
            text = page.sections.get("SYNOPSIS", "")
            # A family may go by its name without a type: shmem_and_to_all.
            known = set(re.findall(r"(\w+)\(", text)) | {prototype.name for prototype in page.prototypes}
            known |= {name.replace("TYPENAME_", "") for name in known}
            for name in names:
                report.check(name in known, f"{page.name}.md: {name} is in NAME but not in SYNOPSIS")


def check_head(report, page):
    """The keys of the head."""
    keys = {"section"} | ({"spec", "run"} if page.section == "3" else set())
    report.check(keys <= set(page.front) <= keys | {"aliases"}, f"{page.name}.md: the head has {sorted(page.front)}, wants {sorted(keys)}")
    if page.section == "3":
        report.check(re.fullmatch(r"none|\w+(\.\d+)*(, \w+(\.\d+)*)*", page.front.get("spec", "")), f"{page.name}.md: spec is no section")
        report.check(re.fullmatch(r"no|[1-9]", page.front.get("run", "")), f"{page.name}.md: run is neither a number of PEs nor 'no'")


def check_references(report, page, known):
    """name(3) must be a page or an alias; SEE ALSO may not name the page itself."""
    system = {("man", "1"), ("gcc", "1"), ("ld.so", "8"), ("cc", "1"), ("atexit", "3"), ("exit", "3"), ("malloc", "3"), ("fork", "2"), ("sysctl", "8"),
              ("prctl", "2"), ("taskset", "1"), ("time", "7"), ("signal", "7")}
    for title, text in page.sections.items():
        for name, section in re.findall(r"\*\*([\w.+-]+)\*\*\((\d)\)", text.replace("\\", "")):
            report.check((name, section) in known | system, f"{page.name}.md, {title}: there is no {name}({section})")
            report.check(title != "SEE ALSO" or name != page.name, f"{page.name}.md: SEE ALSO names the page itself")
    rest = re.sub(r"\*\*[\w.+\\-]+\*\*\(\d\)", "", page.sections.get("SEE ALSO", ""))
    report.check(not re.search(r"[^\s,]", rest), f"{page.name}.md: SEE ALSO has more than references: {rest.strip()[:60]}")


def check_text(report, page):
    """ASCII, lines that fit a screen, and no marks that belong to work under way."""
    with open(page.path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for number, line in enumerate(lines, 1):
        where = f"{page.name}.md:{number}"
        report.check(line.isascii(), f"{where}: not plain ASCII: {line}")
        report.check(len(line) <= 160, f"{where}: {len(line)} characters, 160 are allowed")
        report.check(not re.search(r"\b(TODO|FIXME|XXX|TBD)\b", line), f"{where}: {line}")


def main():
    args = man.arguments()
    report = man.Report()
    every = man.read(args)
    known = {(name, page.section) for page in every for name in page.names()}
    for page in every:
        check_sections(report, page)
        check_name_line(report, page)
        check_head(report, page)
        check_references(report, page, known)
        check_text(report, page)
    print(f"{len(every)} pages")
    report.finish("facts")


main()
