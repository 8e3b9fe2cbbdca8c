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


def hello_with_locked_memory(machines, soft_and_hard):
    """Not as root, which has no limit: its Job, for heaps of 16 MiB."""
    command = machines.oshrun_command([programs.example(machines, "hello")], 2)
    script = 'chmod 666 /dev/infiniband/uverbs0 && exec prlimit --memlock="$0" setpriv --reuid 65534 --regid 65534 --clear-groups "$@"'
    environment = machines.job_environment(1, {"SHMEM_SYMMETRIC_SIZE": "16M"})
    return machines.run(0, ["sh", "-c", script, soft_and_hard, *command], environment)


def too_little_locked_memory_is_told_with_the_command(machines):
    """The limit is looked at before memory is registered."""
    job = hello_with_locked_memory(machines, "22000000:22000000")
    job.need_status("fail")
    job.need_output(r"memlock limit 20 MiB, needs \d+: .*memlock=")


def a_soft_limit_of_locked_memory_is_raised(machines):
    hello_with_locked_memory(machines, "22000000:unlimited").need_status(0)


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
    add("too_little_locked_memory_is_told_with_the_command", too_little_locked_memory_is_told_with_the_command)
    add("a_soft_limit_of_locked_memory_is_raised", a_soft_limit_of_locked_memory_is_raised)
    return rows + jobs.atomic_rows(1, 1)
