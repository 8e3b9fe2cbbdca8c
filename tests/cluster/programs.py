# SPDX-License-Identifier: Apache-2.0
#
# The programs that several suites run: those of the build, and those of this folder, which are compiled when first asked for, by oshcc, as a
# user would compile them.
import os
import subprocess
import threading

from cluster import HERE, Failed, Skipped, clean_environment

lock = threading.Lock()
built = {}


def example(cluster, name):
    return need_there(os.path.join(cluster.build, "examples", name, name))


def stress(cluster, name):
    return need_there(os.path.join(cluster.build, "tests/stress", name))


def need_there(program):
    if not os.path.exists(program):
        raise Failed(f"{program} is missing: build everything")
    return program


def mpi_flags():
    for package in ("ompi-c", "ompi"):
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True)
        if flags.returncode == 0:
            return flags.stdout.split()
    raise Skipped("there is no MPI to compile with (Debian: apt install libopenmpi-dev)")


def folder(cluster):
    """For what the tests build; every node sees it, also where the build lies in /tmp."""
    path = os.path.join(cluster.build, "tests/cluster")
    os.makedirs(path, exist_ok=True)
    return path


def own(cluster, name, flags=()):
    """The program of NAME.c of this folder."""
    with lock:
        if name not in built:
            program = os.path.join(folder(cluster), name)
            fresh = f"{program}.{os.getpid()}"
            # oshcc puts our headers before those of an MPI that has an OpenSHMEM of its own.
            command = [os.path.join(cluster.build, "bin/oshcc"), "-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-o", fresh]
            command += [os.path.join(HERE, f"{name}.c"), f"-Wl,-rpath,{cluster.build}/lib", *flags]
            done = subprocess.run(command, capture_output=True, text=True, env=clean_environment())
            if done.returncode != 0:
                raise Failed(f"+ {' '.join(command)}\n{done.stdout}{done.stderr}")
            os.replace(fresh, program)  # another run may have the old one open
            built[name] = program
        return built[name]
