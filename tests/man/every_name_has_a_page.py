# SPDX-License-Identifier: Apache-2.0
"""Every function and generic of the standard, and every extension, is in the SYNOPSIS of exactly one page, with the signature that the headers
declare and marked as deprecated where it is; and no page has a name that does not exist."""

import man


def signatures(row):
    """The signatures of a row of names.tsv, in one form; a generic may have several."""
    return {" ".join(text.split()) for text in row.signature.split(";") if text.strip()}


def main():
    args = man.arguments()
    report = man.Report()
    rows = {(row.symbol, row.kind == "generic"): row for kind in ("function", "generic") for row in man.names_of_the_standard(kind)}
    found = {}
    for page in man.read(args):
        for prototype in page.prototypes:
            key = (prototype.name, prototype.generic)
            report.check(key in rows or prototype.name in man.abi.EXTENSIONS, f"{page.name}.md: the standard has no {prototype.signature}")
            found.setdefault(key, []).append((page.name, prototype))
    for key, row in rows.items():
        where = found.get(key, [])
        report.check(where, f"no page for {key[0]}" + (" (C11 generic)" if key[1] else ""))
        if not where:
            continue
        owners = {page for page, _ in where}
        report.check(len(owners) == 1, f"{key[0]} is in several pages: {', '.join(sorted(owners))}")
        said = [prototype.signature for _, prototype in where]
        report.check(len(said) == len(set(said)), f"{where[0][0]}.md: {key[0]} is there twice")
        report.check(set(said) == signatures(row), f"{where[0][0]}.md: {sorted(said)} should be {sorted(signatures(row))}")
        for page, prototype in where:
            report.check(prototype.deprecated == row.deprecated, f"{page}.md: {key[0]} is deprecated since {prototype.deprecated}, the standard says {row.deprecated}")
    for name in man.abi.EXTENSIONS:
        report.check((name, False) in found, f"no page for {name}")
    print(f"{len(rows)} names, {sum(not generic for _, generic in rows)} of them functions")
    report.finish("facts")


main()
