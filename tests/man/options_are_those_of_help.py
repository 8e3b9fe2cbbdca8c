# SPDX-License-Identifier: Apache-2.0
"""Each page of a command has every option that its --help prints, and no other."""

import os
import re
import subprocess

import man

COMMANDS = ["oshrun", "postern-bench", "postern-doctor", "postern-info"]  # oshcc hands --help on to the compiler
OPTION = r"(?<![\w/-])(-[a-zA-Z]\b|--?[a-z][a-z-]+)"


def main():
    args = man.arguments()
    report = man.Report()
    every = {page.name: page for page in man.read(args)}
    for name in COMMANDS:
        report.check(name in every, f"no page {name}.md")
        if name not in every:
            continue
        done = subprocess.run([os.path.join(args.build, "bin", name), "--help"], capture_output=True, text=True, check=False)
        report.check(done.returncode == 0 and done.stdout, f"{name} --help fails: {done.stderr}")
        # Not those of commands in examples, nor of the launcher that starts the command.
        text = re.sub(r"^\s*\$ .*$", "", done.stdout, flags=re.MULTILINE)
        text = re.sub(rf"\boshrun -n \w+ {name}\b", name, text)
        printed = set(re.findall(OPTION, text))
        section = every[name].sections.get("OPTIONS", "")
        written = {option for line in re.findall(r"^(`.*`[^:\n]*)\n: ", section, re.MULTILINE) for option in re.findall(OPTION, line)}
        report.check(printed <= written, f"{name}.md lacks {sorted(printed - written)}")
        report.check(written <= printed, f"{name} --help lacks {sorted(written - printed)}")
        print(f"{name}: {len(printed)} options")
    report.finish("facts")


main()
