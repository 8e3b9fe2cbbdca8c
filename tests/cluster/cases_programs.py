# SPDX-License-Identifier: Apache-2.0
#
# Whole programs over nodes: the main job with every byte checked, GUPS, the stress programs, programs of MPI and SHMEM, two jobs
# at once; and jobs that our own oshrun hands over to an engine.
import os
import time

import programs
from cluster import HANG_S

SHAPES = [(nodes, per_node) for nodes in (2, 3) for per_node in (1, 2, 3)]
KV_SMALL = ["--model", "qwen2.5-7b", "--layers", "4", "--requests", "8", "--tokens", "512", "--pool-bytes", "16M", "--no-progress"]


def kv_cache(cluster, engine, nodes, per_node, environment=None, cyclic=False, arguments=()):
    job = cluster.job(engine, [programs.example(cluster, "kv_cache"), *KV_SMALL, *arguments], nodes, per_node, environment, cyclic)
    job.need_status(0)
    job.need_output(r"verification +passed: all bytes")


def gups(cluster, engine, nodes, per_node, environment=None, cyclic=False):
    job = cluster.job(engine, [programs.example(cluster, "gups")], nodes, per_node, environment, cyclic)
    job.need_status(0)
    job.need_output(r"GUPS|updates")


def stress(cluster, name, engine, nodes, per_node, seconds=2, environment=None, cyclic=False):
    environment = {"STRESS_SECONDS": str(seconds), **(environment or {})}
    job = cluster.job(engine, [programs.stress(cluster, name)], nodes, per_node, environment, cyclic)
    job.need_status(0)


def busy_target(cluster, engine, nodes, per_node, environment=None):
    job = cluster.job(engine, [programs.own(cluster, "busy_target")], nodes, per_node, environment)
    job.need_status(0)
    job.need_output("a round .put, quiet, get, atomic. takes")


def with_mpi(cluster, engine, order, nodes, per_node):
    program = programs.own(cluster, "with_mpi", programs.mpi_flags())
    job = cluster.job(engine, [program, order], nodes, per_node)
    job.need_status(0)


def two_jobs_at_once(cluster):
    """On the same nodes, with the same numbers of PEs, at the same time: the names that one uses must not be those of the other."""
    command = cluster.job_command("mpirun", [programs.stress(cluster, "collectives")], 2, 2, {"STRESS_SECONDS": "3"})
    begin = time.monotonic()
    started = [cluster.start("head", command, {"STRESS_SECONDS": "3"}) for _ in range(2)]
    jobs = [cluster.finish(process, command, begin, HANG_S) for process in started]
    for job in jobs:
        job.need_status(0)
    cluster.need_rest(jobs[0])


def hosts_file(cluster, nodes, per_node):
    """oshrun reads the nodes from a file, too."""
    path = os.path.join(programs.folder(cluster), f"hosts-{os.getpid()}")
    with open(path, "w") as file:
        file.write("# the nodes of this job\n" + "".join(f"n{i + 1}:{per_node}\n" for i in range(nodes)))
    program = programs.example(cluster, "kv_cache")
    command = [os.path.join(cluster.build, "bin/oshrun"), "--hosts", path, "-n", str(nodes * per_node), program, *KV_SMALL]
    try:
        job = cluster.run("head", command)
    finally:
        os.unlink(path)
    cluster.need_rest(job)
    job.need_status(0)
    job.need_output(r"verification +passed: all bytes")


def make_cases(arguments):
    rows = []

    def add(name, function, *values, quick=False, **keywords):
        rows.append((name, lambda cluster: function(cluster, *values, **keywords), quick))

    # The main sentence first.
    add("kv_cache.oshrun.3x2", kv_cache, "oshrun", 3, 2, quick=True)
    add("kv_cache.oshrun_hosts_file.3x2", hosts_file, 3, 2)
    for engine in ("mpirun", "slurm"):
        for nodes, per_node in ((2, 1), (2, 2), (2, 3), (3, 2)):
            add(f"kv_cache.{engine}.{nodes}x{per_node}", kv_cache, engine, nodes, per_node, quick=(nodes, per_node) == (2, 1))
        add(f"kv_cache.{engine}.2x2c", kv_cache, engine, 2, 2, cyclic=True)
        # Its 262,144 atomics for each PE are messages here.
        some = {"mpirun": ((2, 1), (3, 2)), "slurm": ((2, 2), (3, 1))}[engine]
        for nodes, per_node in SHAPES if arguments.all else some:
            add(f"gups.{engine}.{nodes}x{per_node}", gups, engine, nodes, per_node)
        for nodes, per_node in SHAPES:
            add(f"collectives.{engine}.{nodes}x{per_node}", stress, "collectives", engine, nodes, per_node, quick=(nodes, per_node) == (3, 2))
        add(f"collectives.{engine}.3x2c", stress, "collectives", engine, 3, 2, cyclic=True)
        for name in ("random", "barrier", "lock"):
            add(f"{name}.{engine}.2x2", stress, name, engine, 2, 2)
            add(f"{name}.{engine}.3x1", stress, name, engine, 3, 1)
        add(f"busy_target.{engine}.2x1", busy_target, engine, 2, 1, quick=True)
        add(f"busy_target.{engine}.3x2", busy_target, engine, 3, 2)
    for order in ("smSM", "smMS", "msSM", "msMS", "sSmM", "mMsS"):
        add(f"with_mpi.{order}.mpirun.2x2", with_mpi, "mpirun", order, 2, 2, quick=order == "msSM")
    add("with_mpi.smMS.slurm.2x2", with_mpi, "slurm", "smMS", 2, 2)
    rows.append(("two_jobs_at_once.mpirun", two_jobs_at_once, True))
    add("kv_cache.prterun.3x2", kv_cache, "prterun", 3, 2)
    add("collectives.prterun.2x3", stress, "collectives", "prterun", 2, 3)
    return rows
