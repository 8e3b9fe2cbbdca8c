# SPDX-License-Identifier: Apache-2.0
"""Make the manual pages: docs/man/*.md to OUT/man1, man3 and man7, and an alias for every further name of a page.

    make_man.py --out FOLDER --version 0.1.0 --date 2026-01-31 [--lowdown PROGRAM] [--environment docs/environment.md]

lowdown translates the markdown.  What comes from elsewhere: the tables of element types behind a SYNOPSIS
(types.tsv), the section of the standard at the end of the NOTES (the page's head), and, where a page says <!-- environment -->, the variables (docs/environment.md).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

import pages

# Few ways to write things are wanted here, and no surprises: no smart quotes, no emphasis inside of shmem_put_nbi.
LOWDOWN = ["-Tman", "--out-no-smarty", "--parse-no-metadata", "--parse-no-autolink", "--parse-no-super", "--parse-no-intraemph",
           "--parse-no-codeindent"]


def type_table(name, rows):
    """A table of TYPE and TYPENAME, with up to two pairs of them side by side."""
    pairs = 2 if len(rows) > 4 else 1
    height = -(-len(rows) // pairs)
    lines = ["", f"The {name}:", "", "| " + " | ".join(["TYPENAME", "TYPE"] * pairs) + " |", "|" + "---|" * 2 * pairs]
    for line in range(height):
        cells = []
        for name_and_type in (rows[line + pair * height : line + pair * height + 1] for pair in range(pairs)):
            cells += [f"`{cell}`" for cell in name_and_type[0]] if name_and_type else [" ", " "]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def environment_entry(match):
    """A variable as a definition, from its row of the table: name, default, what it takes, what it does."""
    name, default, takes, what = (cell.replace("\\|", "|") for cell in match.groups())
    takes = {"flag": "a flag", "switch": "a switch"}.get(takes, takes)
    return f"{name}\n: {what[0].upper()}{what[1:]}. Values: {takes}. Default: {default}.\n"


def environment_text(path):
    """docs/environment.md below its first heading, its tables as lists of definitions, which fit a terminal."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = text[text.index("\n## ") :]
    rows = r"^\| (`\w+`) \| (.*?) \| (.*?) \| (.*) \|$"
    text = re.sub(r"^\| variable \|.*\n\|---.*\n", "", text, flags=re.MULTILINE)
    text, count = re.subn(rows, environment_entry, text, flags=re.MULTILINE)
    text = re.sub(r"the unit that\s+the\s+table names", "the unit that is named with the variable", text)
    if not count or "|---" in text:
        raise pages.PageError(f"{path}: its tables do not have the form that this reads")
    return text


def page_text(page, types, environment):
    """The markdown of a page, with what comes from elsewhere."""
    text = ""
    for title, body in page.sections.items():
        if title == "SYNOPSIS":
            body += "".join(type_table(name, types[name]) for name in page.tables)
        if title == "NOTES" and page.section == "3":
            spec = page.front.get("spec", "")
            body += f"OpenSHMEM 1.6, section {spec}.\n" if spec != "none" else "An extension of Postern. It is not part of OpenSHMEM.\n"
        text += f"# {title}\n{body}\n"
    if "<!-- environment -->" in text:
        if not environment:
            raise pages.PageError(f"{page.path}: wants the variables, but --environment is not given")
        text = text.replace("<!-- environment -->", environment_text(environment))
    return text


def tidy(roff):
    """lowdown's output in the words that every reader of manual pages knows."""
    roff = roff.replace("\\fC", "\\fB")
    # 2^*n* is emphasis in markdown; lowdown leaves it alone. Code keeps its stars.
    parts = re.split(r"(^\.EX$.*?^\.EE$)", roff, flags=re.DOTALL | re.MULTILINE)
    parts[::2] = [re.sub(r"(?<=\\\(ha)\*(\w+)\*", r"\\fI\1\\fR", part) for part in parts[::2]]
    roff = "".join(parts)
    # A list of definitions: lowdown moves the paragraph up by hand.
    roff = re.sub(r"^\.LP\n(.*)\n\.if n \\\n\.sp -1v\n\.if t \\\n\.sp -0\.25v\n\.IP \"\" \S+$", r".TP\n\1", roff, flags=re.MULTILINE)
    roff = re.sub(r"^\.if n \\\n\.sp -1\n\.if t \\\n\.sp -0\.25v\n", "", roff, flags=re.MULTILINE)
    roff = re.sub(r"^(\.S[HS])\n", r"\1 ", roff, flags=re.MULTILINE)
    roff = re.sub(r"^(\.S[HS] .*)\n\.(?:LP|PP)$", r"\1", roff, flags=re.MULTILINE)
    return re.sub(r"^\.TS\n.*?^\.TE$", lambda match: tidy_table(match[0]), roff, flags=re.DOTALL | re.MULTILINE)


def tidy_table(roff):
    """A table without lines, no wider than it must be; the last column takes the rest of the line where it has long text."""
    roff = re.sub(r"T\{\n([^\n|]{0,30})\nT\}", r"\1", roff)
    roff = roff.replace("tab(|) expand allbox;", "tab(|);")
    if "T{" in roff:
        roff = re.sub(r"^l(.* l)\.$", r"l\1x.", roff, flags=re.MULTILINE)
    return roff


def render(page, text, args):
    """The manual page."""
    done = subprocess.run([args.lowdown, *LOWDOWN], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise pages.PageError(f"{page.path}: {args.lowdown} failed: {done.stderr.strip()}")
    header = f'.TH "{page.name.upper()}" "{page.section}" "{args.date}" "Postern {args.version}" "OpenSHMEM"\n'
    table = "'\\\" t\n" if ".TS" in done.stdout else ""
    return f'{table}.\\" Made from docs/man/{page.name}.md: change that.\n{header}{tidy(done.stdout)}'


def write(folder, section, name, text):
    """One file of the manual."""
    with open(os.path.join(folder, f"man{section}", f"{name}.{section}"), "w", encoding="utf-8") as file:
        file.write(text)


def make(args):
    """Write all pages, into a folder that has nothing else afterwards."""
    types = pages.read_types(args.source)
    every = pages.read_pages(args.source)
    owner = {}
    for section in pages.SECTIONS:
        shutil.rmtree(os.path.join(args.out, f"man{section}"), ignore_errors=True)
        os.makedirs(os.path.join(args.out, f"man{section}"))
    for page in every:
        write(args.out, page.section, page.name, render(page, page_text(page, types, args.environment), args))
        for name in page.names():
            if (name, page.section) in owner:
                raise pages.PageError(f"{page.path}: {name} is also in {owner[name, page.section]}.md")
            owner[name, page.section] = page.name
            if name != page.name:
                write(args.out, page.section, name, f".so man{page.section}/{page.name}.{page.section}\n")
    print(f"{len(every)} pages, {len(owner)} names")


def main():
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", default=pages.HERE)
    parser.add_argument("--out", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--date", required=True)
    parser.add_argument("--lowdown", default="lowdown")
    parser.add_argument("--environment")
    args = parser.parse_args()
    try:
        make(args)
    except pages.PageError as error:
        sys.exit(f"make_man: {error}")


main()
