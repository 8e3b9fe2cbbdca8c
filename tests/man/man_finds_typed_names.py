# SPDX-License-Identifier: Apache-2.0
"""man shows the page of a routine for its typed names too, and the commands and overviews are found."""

import os
import subprocess

import man

LOOK_UPS = {
    "shmem_long_put": "copy consecutive data to another PE",
    "shmem_ctx_uint64_get_nbi": "shmem_get_nbi",
    "_my_pe": "number of the calling PE",
    "shmemalign": "shmem_align",
    "shmemx_info": "shmemx_info",
    "oshrun": "--timeout",
    "oshc++": "oshcc",
    "postern-bench": "--plot",
    "postern-doctor": "--prometheus",
    "postern-info": "--json",
    "postern": "SHMEM_SYMMETRIC_SIZE",
}


def main():
    args = man.arguments()
    report = man.Report()
    environment = dict(os.environ, MANPATH=os.path.join(args.build, "man"), MANPAGER="cat", MANWIDTH="200", LC_ALL="C", MANROFFOPT="")
    for name, text in LOOK_UPS.items():
        done = subprocess.run([man.program("man"), name], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        report.check(done.returncode == 0 and text in done.stdout, f"man {name} does not show '{text}': {done.stderr.strip()}{done.stdout[:200]}")
        report.check(not done.stderr.strip(), f"man {name} says: {done.stderr.strip()}")
    report.finish("look-ups")


main()
