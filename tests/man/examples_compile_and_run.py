# SPDX-License-Identifier: Apache-2.0
"""The example of every routine is a whole program, compiles as C11 without a warning, links with the library, and passes on as many PEs as its page
says, in checked mode.  Other C in pages compiles.

All programs become functions of one, so that there is one link: that is seconds instead of minutes."""

import os
import re
import subprocess
import tempfile

import man

RUN_SECONDS = 60  # a guard against hangs


def identifier(page):
    """A C name for the example of a page."""
    return "example_" + re.sub(r"\W", "_", page.name)


def dispatcher(names):
    """The program that calls the example that its argument names. It includes no header of ours: the examples' own includes must do."""
    lines = ["#include <stdio.h>", "#include <string.h>"]
    lines += [f"int {name}(void);" for name in names]
    lines += ["int main(int argc, char **argv)", "{", "    if (argc < 2) return 99;"]
    lines += [f'    if (strcmp(argv[1], "{name}") == 0) return {name}();' for name in names]
    return "\n".join(lines + ['    printf("no example %s\\n", argv[1]);', "    return 99;", "}", ""])


def write_parts(folder, parts):
    """One file for each C block that is no program.  Returns the file names."""
    for name, text in parts.items():
        with open(os.path.join(folder, name + ".c"), "w", encoding="utf-8") as file:
            file.write(f'#line 1 "{name}"\n{text}')
    return [name + ".c" for name in parts]


def write_sources(folder, examples):
    """One file for each example, and the dispatcher.  Returns the file names."""
    for name, text in examples.items():
        with open(os.path.join(folder, name + ".c"), "w", encoding="utf-8") as file:
            file.write(f'#define main {name}\n#line 1 "{name}"\n{text}')
    with open(os.path.join(folder, "dispatcher.c"), "w", encoding="utf-8") as file:
        file.write(dispatcher(list(examples)))
    return [name + ".c" for name in [*examples, "dispatcher"]]


def compile_all(args, folder, sources, parts):
    """Objects of sources and parts, and the program of sources.  Returns what the compiler said, "" where all went well."""
    oshcc = [os.path.join(args.build, "bin", "oshcc")]
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    environment = dict(os.environ, OSHCC=args.cc)
    objects = [source[:-1] + "o" for source in sources]
    for command in (oshcc + flags + ["-c"] + sources + parts, oshcc + ["-o", "examples"] + objects + ["-pthread", "-lm"]):
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode or done.stderr:
            return done.stdout + done.stderr
    return ""


def run(args, folder, name, npes):
    """Run one example.  Returns (exit status, output)."""
    command = [os.path.join(args.build, "bin", "oshrun"), "-n", npes, "--timeout", str(RUN_SECONDS), "./examples", name]
    environment = dict(os.environ, POSTERN_CHECK="1")
    done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    args = man.arguments()
    report = man.Report()
    examples, parts, runs = {}, {}, []
    for page in man.read(args):
        blocks = man.pages.code_blocks(page.sections.get("EXAMPLE", ""))
        if page.section != "3":
            parts.update({f"part{number}_{identifier(page)}": block for number, block in enumerate(blocks)})
            continue
        whole = len(blocks) == 1 and re.search(r"^int main\(void\)$", blocks[0], re.MULTILINE)
        report.check(whole, f"{page.name}.md: EXAMPLE is not one C block with a whole program and int main(void)")
        if whole:
            examples[identifier(page)] = blocks[0]
            if page.front.get("run", "no") != "no":
                runs.append((page, identifier(page)))
    with tempfile.TemporaryDirectory() as folder:
        said = compile_all(args, folder, write_sources(folder, examples), write_parts(folder, parts))
        report.check(not said, "the examples do not build:\n" + man.abi.first_lines(said, 60))
        if not said:
            for page, name in runs:
                status, output = run(args, folder, name, page.front["run"])
                report.check(status == 0, f"{page.name}.md: the example ends with {status}:\n{man.abi.first_lines(output)}")
    print(f"{len(examples)} examples, {len(runs)} of them run; {len(parts)} other pieces of C")
    report.finish("facts")


main()
