# SPDX-License-Identifier: Apache-2.0
"""The checks of this folder see what they are for: each fault that is put into a copy of the pages makes the right one fail, with the right words."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import man

# What to run; the page; what to replace, a regular expression; by what; what the check then says.
FAULTS = [
    ("every_name_has_a_page", "shmem_put", r"shmem_putSIZE\(void", "shmem_puttSIZE(void", "the standard has no void shmem_putt8"),
    ("every_name_has_a_page", "shmem_put", r"void shmem_putmem\(.*\n", "", "no page for shmem_putmem"),
    ("every_name_has_a_page", "shmem_put", r"void shmem_put\(shmem_ctx_t.*\n", "", "should be"),
    ("every_name_has_a_page", "shmem_put", r"(shmem_putmem\(void \*)dest", r"\1to", "should be"),
    ("every_name_has_a_page", "shmem_put", r"8, 16, ", "16, ", "no page for shmem_put8"),
    ("every_name_has_a_page", "shmem_put", r"/\* TYPE: RMA types", "/* TYPE: AMO types", "no page for shmem_float_put"),
    ("every_name_has_a_page", "shmem_put", r"/\* bytes \*/", "/* no such table; TYPE: XYZ types */", "types.tsv has no table"),
    ("every_name_has_a_page", "shmem_my_pe", r"deprecated since 1.2", "old", "is deprecated since -"),
    ("every_name_has_a_page", "shmem_my_pe", r"int shmem_my_pe\(void\);", "int shmem_my_pe(void);\nint shmem_n_pes(void);", "is in several pages"),
    ("every_name_has_a_page", "shmemx_info", r"int shmemx_info", "int shmemx_inform", "no page for shmemx_info"),
    ("pages_have_the_form", "shmem_put", r"# RETURN\n", "# RESULT\n", "wants NAME"),
    ("pages_have_the_form", "shmem_put", r"(# RETURN\n)\nNone.\n", r"\1", "RETURN is empty"),
    ("pages_have_the_form", "shmem_put", r"\nshmem_put, ", "\nshmem_putmem, ", "NAME begins with"),
    ("pages_have_the_form", "shmem_put", r"- copy", "copy", "NAME is not"),
    ("pages_have_the_form", "shmem_put", r"shmem_TYPENAME_put, ", "shmem_TYPENAME_putt, ", "is in NAME but not in SYNOPSIS"),
    ("pages_have_the_form", "shmem_put", r"spec: .*", "spec:", "spec is no section"),
    ("pages_have_the_form", "shmem_put", r"run: .*", "run: many", "run is neither"),
    ("pages_have_the_form", "shmem_put", r"section: .*", "section: 9", "is none of"),
    ("pages_have_the_form", "shmem_put", r"\*\*shmem_quiet\*\*", "**shmem_quite**", "there is no shmem_quite(3)"),
    ("pages_have_the_form", "shmem_put", r"(# SEE ALSO\n\n)", r"\1See ", "more than references"),
    ("pages_have_the_form", "shmem_put", r"Copies", "Copi\u00e9s", "not plain ASCII"),
    ("pages_have_the_form", "shmem_put", r"Copies", "Copies " + 200 * "x", "characters, 160 are allowed"),
    ("pages_have_the_form", "shmem_put", r"(static long from_left.*)```", r"\1", "a code block does not end"),
    ("examples_compile_and_run", "shmem_my_pe", r"shmem_my_pe\(\), shmem_n_pes", "shmem_me(), shmem_n_pes", "do not build"),
    ("examples_compile_and_run", "shmem_my_pe", r"    shmem_init\(\);", "    int unused;\n    shmem_init();", "do not build"),
    ("examples_compile_and_run", "shmem_my_pe", r"return 0;", "return 5;", "ends with 5"),
    ("examples_compile_and_run", "shmem_my_pe", r"int main\(void\)", "int example(void)", "is not one C block with a whole program"),
    ("options_are_those_of_help", "oshrun", r"`--timeout`", "`--time-out`", "--time-out"),
    ("options_are_those_of_help", "postern-info", r"`--json`\n.*\n", "", "lacks ['--json']"),
    ("manual_pages_are_valid", "man3/shmem_put.3", r"\.SH SYNOPSIS", ".SHH SYNOPSIS", "unknown macro"),
    ("manual_pages_are_valid", "man3/shmem_put.3", r"None\.", "**None.**", "markdown is left"),
    ("manual_pages_are_valid", "man3/shmem_long_put.3", r"shmem_put\.3", "shmem_putt.3", "does not exist"),
    ("man_finds_typed_names", "man3/shmem_long_put.3", r"shmem_put\.3", "shmem_get.3", "does not show"),
]


def copy_pages(args, folder, check):
    """The pages for one check. Examples are many, so only a few of them come along."""
    source = os.path.join(folder, "source")
    shutil.copytree(args.source, source)
    if check in ("examples_compile_and_run",):
        for name in os.listdir(source):
            if name.endswith(".md") and name not in ("shmem_my_pe.md", "shmem_put.md"):
                os.remove(os.path.join(source, name))
    return source


def copy_build(args, folder):
    """A build folder with manual pages of its own."""
    build = os.path.join(folder, "build")
    os.mkdir(build)
    for name in ("bin", "lib", "include"):
        os.symlink(os.path.join(args.build, name), os.path.join(build, name))
    shutil.copytree(os.path.join(args.build, "man"), os.path.join(build, "man"))
    return build


def break_file(path, pattern, text):
    """Put a fault into a file.  False where there is nothing to replace."""
    with open(path, encoding="utf-8") as file:
        before = file.read()
    after, count = re.subn(pattern, text, before, count=1, flags=re.DOTALL if "```" in pattern else 0)
    with open(path, "w", encoding="utf-8") as file:
        file.write(after)
    return count == 1


def run_check(args, check, source, build):
    """(exit status, what was printed) of one check."""
    command = [sys.executable, "-B", os.path.join(man.HERE, check + ".py"), "--source", source, "--build", build, "--cc", args.cc]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    args = man.arguments()
    args.build = os.path.abspath(args.build)
    report = man.Report()
    tools = {"manual_pages_are_valid": "mandoc", "man_finds_typed_names": "man"}
    for check, name, pattern, text, words in FAULTS:
        if check in tools and not shutil.which(tools[check]):
            print(f"not tried: {check}, {tools[check]} is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            source, build = copy_pages(args, folder, check), copy_build(args, folder) if check in tools else args.build
            path = os.path.join(build, "man", name) if check in tools else os.path.join(source, name + ".md")
            what = f"{check} with '{text}' in {name}"
            report.check(break_file(path, pattern, text), f"{what}: there is no {pattern}")
            status, said = run_check(args, check, source, build)
            report.check(status == 1 and words in said, f"{what}: ends with {status}, wants 1 and '{words}':\n{man.abi.first_lines(said)}")
    report.finish("facts")


main()
