#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program of SHMEM and MPI, where this machine has an MPI: both begin and end in any order, each tells its own numbers and its own
thread level, and SHMEM operations reach a PE that is in calls of MPI.

Spec: OpenSHMEM 1.6 §D.1.1 Initialization, §D.1.3 Thread Safety, §D.1.4 Mapping Process Identification Numbers
Spec: OpenSHMEM 1.6 §D.1.6 Communication Progress

usage: mpi_and_shmem_begin_and_end_in_any_order.py --root ROOT --lib LIBPOSTERN --oshrun OSHRUN
Exit status 77: no MPI compiler here.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ORDERS = ("smSM", "smMS", "msSM", "msMS", "sSmM", "mMsS")


def main():
    parser = argparse.ArgumentParser()
    for name in ("root", "lib", "oshrun"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    mpicc = shutil.which("mpicc")
    if not mpicc:
        print("skipped: there is no mpicc")
        return 77
    lib_folder = os.path.dirname(args.lib)
    # MPI keeps files of its own below TMPDIR; ours is gone with all of them.
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "mpi_beside_shmem")
        # Our headers before those of an MPI that has an OpenSHMEM of its own.
        command = [mpicc, "-std=gnu17", "-I", os.path.join(args.root, "include"), "-o", program,
                   os.path.join(args.root, "tests", "spec", "mpi_beside_shmem.c"), args.lib, f"-Wl,-rpath,{lib_folder}"]
        built = subprocess.run(command, capture_output=True, text=True)
        if built.returncode != 0:
            print(" ".join(command), built.stdout + built.stderr, sep="\n")
            return 1
        failures = 0
        for order in ORDERS:
            ran = subprocess.run([args.oshrun, "-n", "2", "--timeout", "60", program, order], capture_output=True, text=True,
                                 env={**os.environ, "TMPDIR": folder}, timeout=120)
            if ran.returncode != 0:
                failures += 1
                print(f"order {order}: status {ran.returncode}\n{ran.stdout}{ran.stderr}")
        print(f"{len(ORDERS) - failures} of {len(ORDERS)} orders work")
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
