# SPDX-License-Identifier: Apache-2.0
"""The form of a manual page source, and what the pages say about names.

A page is docs/man/NAME.md; README.md describes its form.  The code blocks of its SYNOPSIS are the one place that lists the
names it covers.  A comment in them holds for the prototypes below it, up to the next comment or the end of the block:

    TYPE: RMA types         TYPE and TYPENAME stand for each row of that table of types.tsv
    SIZE: 8, 16, 32         SIZE, in names, stands for each of these numbers
    C11                     the prototypes are generics, not functions
    deprecated since 1.4    so says the standard

make_man.py turns pages into manual pages, and tests/man compares them with the headers' table of names.
"""

import csv
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))

# What a page must have, by the section of the manual that it belongs to, in this order.
SECTIONS = {
    "1": ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "NOTES", "EXAMPLE", "SEE ALSO"],
    "3": ["NAME", "SYNOPSIS", "DESCRIPTION", "RETURN", "ERRORS", "NOTES", "EXAMPLE", "SEE ALSO"],
    "7": ["NAME", "DESCRIPTION", "SEE ALSO"],
}


class PageError(Exception):
    """A page that does not have the form."""


class Prototype:
    """One line of a SYNOPSIS after expansion: name, signature without ';', whether it is a generic, since when deprecated ("-": not)."""

    def __init__(self, signature, generic, deprecated):
        match = re.search(r"\b(\w+)\(", signature)
        if not match:
            raise PageError(f"not a prototype: {signature}")
        self.name, self.signature, self.generic, self.deprecated = match[1], signature, generic, deprecated


class Page:
    """A page: .name, .section, .front (the head's keys), .sections (title to text), .prototypes, .tables (those it uses)."""

    def __init__(self, path, types):
        self.path = path
        self.name = os.path.basename(path).removesuffix(".md")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        head = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
        if not head:
            raise PageError(f"{path}: does not begin with a head between two lines of ---")
        self.front = dict(re.findall(r"^(\w+): *(.*)$", head[1], re.MULTILINE))
        self.section = self.front.get("section", "")
        if self.section not in SECTIONS:
            raise PageError(f"{path}: 'section: {self.section}' is none of {', '.join(SECTIONS)}")
        self.sections = split_sections(text[head.end() :], path)
        self.tables = []
        self.prototypes = []
        if self.section == "3":
            try:
                for block in code_blocks(self.sections.get("SYNOPSIS", "")):
                    self.read_synopsis(block, types)
            except PageError as error:
                raise PageError(f"{path}: {error}") from None

    def read_synopsis(self, block, types):
        """Add the prototypes of one code block."""
        comment = ""
        for text in re.findall(r"/\*.*?\*/|^#[^\n]*|[^;/#]+;", block, re.DOTALL | re.MULTILINE):
            text = " ".join(text.split())
            if text.startswith("/*"):
                comment = text[2:-2]
            elif not text.startswith("#"):
                self.add_prototypes(text.removesuffix(";"), comment, types)

    def add_prototypes(self, signature, comment, types):
        """Add all prototypes that one line with placeholders stands for."""
        generic = "C11" in comment
        deprecated = find(r"deprecated since ([0-9.]+[0-9])", comment) or "-"
        table = find(r"TYPE: ([^;]*[^; ])", comment)
        if table and table not in types:
            raise PageError(f"types.tsv has no table '{table}'")
        if table and table not in self.tables:
            self.tables.append(table)
        if generic:
            expanded = [signature]
        elif re.search(r"TYPENAME|\bTYPE\b", signature):
            if not table:
                raise PageError(f"no comment 'TYPE: table' above {signature}")
            expanded = [re.sub(r"\bTYPE\b", kind, signature.replace("TYPENAME", name)) for name, kind in types[table]]
        elif re.search(r"SIZE\b|SIZE_", signature):
            sizes = find(r"SIZE: ([0-9, ]+)", comment)
            if not sizes:
                raise PageError(f"no comment 'SIZE: numbers' above {signature}")
            expanded = [signature.replace("SIZE", size) for size in re.findall(r"[0-9]+", sizes)]
        else:
            expanded = [signature]
        self.prototypes += [Prototype(text, generic, deprecated) for text in expanded]

    def names(self):
        """All names that the page covers, without repetition, the page's own first."""
        names = dict.fromkeys([self.name])
        names.update(dict.fromkeys(prototype.name for prototype in self.prototypes))
        names.update(dict.fromkeys(self.front.get("aliases", "").replace(",", " ").split()))
        return list(names)


def find(pattern, text):
    """The first group of pattern in text, or None."""
    match = re.search(pattern, text)
    return match[1] if match else None


def split_sections(text, path):
    """Text by its level-1 headings.  A '#' in a code block is no heading."""
    sections, title, fenced = {}, None, False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        if line.startswith("# ") and not fenced:
            title = line[2:].strip()
            if title in sections:
                raise PageError(f"{path}: two sections {title}")
            sections[title] = ""
        elif title is not None:
            sections[title] += line + "\n"
        elif line.strip():
            raise PageError(f"{path}: text before the first section: {line}")
    if fenced:
        raise PageError(f"{path}: a code block does not end")
    return sections


def code_blocks(text):
    """The C blocks of a section."""
    return re.findall(r"^```c\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def read_types(folder=HERE):
    """The tables of element types: name to list of (TYPENAME, TYPE)."""
    types = {}
    with open(os.path.join(folder, "types.tsv"), encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            types.setdefault(row["table"], []).append((row["TYPENAME"], row["TYPE"]))
    return types


def read_pages(folder=HERE):
    """All pages of the folder, by name."""
    types = read_types(folder)
    names = sorted(name for name in os.listdir(folder) if name.endswith(".md") and name != "README.md")
    return [Page(os.path.join(folder, name), types) for name in names]
