# SPDX-License-Identifier: Apache-2.0
"""A program links with libpostern.a by -static and by -static-pie, and the linker has nothing to say."""

import os
import subprocess
import sys
import tempfile

import abi

PROGRAM = "int main(void) { shmem_init(); shmem_finalize(); return 0; }\n"


def link(args, folder, text, *flags):
    """Compile and link; what the compiler and the linker say, or None where it went well in silence."""
    source = os.path.join(folder, "program.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    command = [args.cc, "-I", args.include, source, "-o", os.path.join(folder, "program"), *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr + (f"exit status {done.returncode}" if done.returncode else "") or None


def main():
    args = abi.arguments()
    report = abi.Report()
    if args.flags:
        print("skipped: sanitizers do not work in static programs")
        sys.exit(77)
    script = os.path.join(abi.ROOT, "runtime", "install", "postern-static.ld")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("-static", "-static-pie"):
            if link(args, folder, "int main(void) { return 0; }\n", kind):
                print(f"not checked with {kind}: there is no static C library")
                continue
            said = link(args, folder, "#include <shmem.h>\n" + PROGRAM, kind, f"-Wl,-T,{script}", args.static_lib, "-lpthread")
            report.check(said is None, f"{kind}: {said}")
    report.finish("links")


main()
