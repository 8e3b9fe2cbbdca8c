# SPDX-License-Identifier: Apache-2.0
#
# One guest: PEs on nodes by name (POSTERN_NODE), so that the way between them is the RDMA device, by its loopback.
import jobs
import programs


def kv_cache_over_ibverbs_alone(machines):
    """No memory is mapped: each PE is a node."""
    program = programs.example(machines, "kv_cache")
    job = machines.run(0, machines.oshrun_command([program, *jobs.KV_SMALL], 4), {"POSTERN_TRANSPORTS": "ibverbs"})
    machines.need_no_kernel_fault(job)
    job.need_status(0)
    job.need_output(r"verification +passed: all bytes")


def a_small_limit_of_locked_memory_is_told(machines):
    """The limit is looked at before memory is registered, and the message has the command that raises it."""
    command = machines.oshrun_command([programs.example(machines, "hello")], 2)
    shell = ["sh", "-c", 'ulimit -l 64 && exec setpriv --inh-caps=-ipc_lock --bounding-set=-ipc_lock "$@"', "sh", *command]
    job = machines.run(0, shell, machines.job_environment(1))
    job.need_status("fail")
    job.need_output(r"memlock limit \d+ MiB, needs \d+: .*memlock|ulimit -l")


def make_cases(_):
    rows = []

    def add(name, function, *values, **keywords):
        rows.append((name, 1, lambda machines: function(machines, *values, **keywords)))

    add("report.2x1", jobs.report, 1)
    add("report.2x2", jobs.report, 2)
    add("kv_cache.2x1", jobs.kv_cache, 1)
    add("kv_cache.2x2", jobs.kv_cache, 2)
    add("kv_cache.2x2c", jobs.kv_cache, 2, cyclic=True)
    add("kv_cache_over_ibverbs_alone.4", kv_cache_over_ibverbs_alone)
    for name in ("ring", "stencil2d", "matmul", "sample_sort"):
        add(f"{name}.2x2", jobs.example, name, 2)
    for name in ("random", "collectives", "lock"):
        add(f"{name}.2x1", jobs.stress, name, 1)
    add("a_small_limit_of_locked_memory_is_told", a_small_limit_of_locked_memory_is_told)
    return rows + jobs.atomic_rows(1, 1)
