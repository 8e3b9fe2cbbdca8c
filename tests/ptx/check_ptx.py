#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# check_ptx.py [options] FILE.cu ...: compile kernels for GPUs, and compare the instructions with the promises beside them.
#
# A comment before a kernel holds promises, divided by |:
#
#   short: X ...   some way through the kernel from its entry to its return has no call, and the last access to global memory on it that is not
#                  the loading of state is X; a fence counts as an access. This is the way of a mapped PE
#   reach: X ...   every X is somewhere in the kernel or in the functions that it calls
#   no stack       the kernel itself has no memory of its own
#
# Where the toolkit has ptxas, that must accept the code too.  A file without promises is only compiled.
#
# Exit status: 0, 1 for a broken promise, 77 without nvcc.
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROMISE = re.compile(r"/\*((?:(?!\*/).)*?)\*/\s*KERNEL\((\w+)", re.S)
FUNCTION = re.compile(r"^(?:\.visible |\.weak |\.extern )*\.(entry|func)\b", re.M)
ACCESS = re.compile(r"^(?:@!?%p\d+ )?((?:st|ld|atom|red)\.\S*global\S*|fence\.\S+)")


class Kernel:
    """One function of a PTX file: its statements in order, the places of its labels, and whom it calls."""

    def __init__(self, name, body):
        self.name = name
        self.body = body
        self.statements = []
        self.labels = {}
        for line in re.split(r"[;\n](?![^{]*callseq)", re.sub(r"//[^\n]*", "", body)):
            line = " ".join(line.split())
            while True:
                label = re.match(r"(\$\w+):\s*", line)
                if not label:
                    break
                self.labels[label.group(1)] = len(self.statements)
                line = line[label.end():]
            if line:
                self.statements.append(line)
        self.calls = set(re.findall(r"call(?:\.uni)?\s*(?:\([^)]*\),)?\s*(\w+)", body))

    def has_call(self, statement):
        return re.match(r"(?:@!?%p\d+ )?call\b", statement) is not None

    def next_of(self, at):
        """Where control may go after the statement at `at`."""
        statement = self.statements[at]
        branch = re.match(r"(@!?%p\d+ )?bra(?:\.uni)? (\$\w+)", statement)
        if branch:
            target = [self.labels[branch.group(2)]]
            return target + [at + 1] if branch.group(1) else target
        if re.match(r"(ret|trap|exit)\b", statement):
            return []
        return [at + 1]

    def ends_of_short_ways(self):
        """The last access on each way to a return that has no call. A state is (place, last access); each is visited once."""
        ends, seen, todo = set(), set(), [(0, "")]
        while todo:
            at, last = todo.pop()
            if (at, last) in seen or at >= len(self.statements):
                continue
            seen.add((at, last))
            statement = self.statements[at]
            if self.has_call(statement):
                continue
            access = ACCESS.match(statement)
            if access:
                last = access.group(1)
            if statement.startswith("ret"):
                ends.add(last)
            todo += [(place, last) for place in self.next_of(at)]
        return ends


def parse(text):
    kernels = {}
    starts = [match.start() for match in FUNCTION.finditer(text)] + [len(text)]
    for start, end in zip(starts, starts[1:]):
        piece = text[start:end]
        if "{" not in piece:
            continue  # a declaration
        head, body = piece.split("{", 1)
        name = re.search(r"(\w+)\s*\(", re.sub(r"\.func\s*\([^)]*\)", ".func", head)).group(1)
        kernels[name] = Kernel(name, body)
    return kernels


def reachable(kernels, name):
    found, todo = "", [name]
    seen = set()
    while todo:
        current = todo.pop()
        if current in seen or current not in kernels:
            continue
        seen.add(current)
        found += kernels[current].body
        todo += kernels[current].calls
    return found


def broken(kernels, name, promise):
    """What is wrong with one promise, or None."""
    kernel = kernels[name]
    word, _, rest = promise.partition(":")
    if promise == "no stack":
        return "it has a stack" if ".local" in kernel.body else None
    if word == "reach":
        body = reachable(kernels, name)
        missing = [wanted for wanted in rest.split() if not re.search(r"\b" + re.escape(wanted) + r"(?![\w.])", body)]
        return "nowhere in it: " + ", ".join(missing) if missing else None
    if word == "short":
        ends = kernel.ends_of_short_ways()
        wanted = rest.strip()
        before_out = {end for end in ends if end == wanted or end.startswith("st.global")}
        if wanted in ends or (wanted.startswith(("ld", "atom")) and before_out and wanted in kernel.body):
            return None
        return "ways without a call end in: %s" % (", ".join(sorted(ends)) or "none")
    return "this test does not know the promise"


def promises(source):
    with open(source, encoding="utf-8") as file:
        text = file.read()
    for comment, name in PROMISE.findall(text):
        comment = " ".join(comment.split())
        first = re.search(r"\b(short:|reach:|no stack)", comment)
        if first:
            yield name, [part.strip() for part in comment[first.start():].split("|")]


def compile_one(nvcc, include, source, arch, work):
    ptx = os.path.join(work, "%s.%s.ptx" % (os.path.basename(source), arch))
    command = [nvcc, "-ptx", "-arch=" + arch, "-Werror", "all-warnings", "-I", include, source, "-o", ptx]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or done.stderr.strip():
        return ptx, "%s: nvcc for %s:\n%s" % (source, arch, done.stderr + done.stdout)
    ptxas = os.path.join(os.path.dirname(os.path.realpath(nvcc)), "ptxas")
    if os.path.exists(ptxas):
        done = subprocess.run([ptxas, "-arch=" + arch, ptx, "-o", ptx + ".cubin"], capture_output=True, text=True, check=False)
        if done.returncode:
            return ptx, "%s: ptxas for %s:\n%s" % (source, arch, done.stderr)
    return ptx, None


def check(arguments, source, arch, work):
    ptx, problem = compile_one(arguments.nvcc, arguments.include, source, arch, work)
    if problem:
        return [problem], 0
    with open(ptx, encoding="utf-8") as file:
        kernels = parse(file.read())
    problems, count = [], 0
    for name, parts in promises(source):
        for promise in parts:
            count += 1
            wrong = "there is no such kernel" if name not in kernels else broken(kernels, name, promise)
            if wrong:
                problems.append("%s, %s: kernel %s: promised \"%s\": %s" % (os.path.basename(source), arch, name, promise, wrong))
    return problems, count


def weaken(include, work, change):
    """A copy of the headers with one change, as OLD=NEW in mem.cuh."""
    copy = os.path.join(work, "include")
    shutil.copytree(include, copy)
    path = os.path.join(copy, "shmem/device/mem.cuh")
    old, new = change.split("=", 1)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if old not in text:
        sys.exit("check_ptx: %s is not in mem.cuh" % old)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))
    return copy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--include", required=True)
    parser.add_argument("--arch", default="sm_80,sm_90,sm_100")
    parser.add_argument("--weaken", help="OLD=NEW in mem.cuh: then the check must find something broken")
    parser.add_argument("sources", nargs="+")
    arguments = parser.parse_args()
    if not os.path.exists(arguments.nvcc):
        print("skipped: there is no nvcc (fix: install the CUDA toolkit, or put its bin folder on PATH)")
        return 77
    with tempfile.TemporaryDirectory() as work:
        if arguments.weaken:
            arguments.include = weaken(arguments.include, work, arguments.weaken)
        jobs = [(source, arch) for source in arguments.sources for arch in arguments.arch.split(",")]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda job: check(arguments, job[0], job[1], work), jobs))
    problems = [problem for found, _ in results for problem in found]
    print("\n".join(problems + ["%d promises, %d broken" % (sum(count for _, count in results), len(problems))]))
    if arguments.weaken and not all(count for _, count in results):
        print("weakened, it does not compile: that shows nothing")
        return 1
    if arguments.weaken:
        print("the headers were weakened, and that was %s" % ("seen" if problems else "not seen"))
        return 0 if problems else 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
