# SPDX-License-Identifier: Apache-2.0
#
# A PE or a whole guest dies, at any step of a job: those that are left end, with a failure, and say which PE is lost.
import re
import time

import programs
from machines import HANG_S, Failed

# Long enough for a NIC's retries, as Soft-RoCE makes them under emulation; far from a hang.
LOSS_S = 60


def die(machines, step, how, per_node):
    environment = {"DIE_PES": str(2 * per_node)}
    return [programs.own(machines, "die"), step, how], environment


def pe_dies(machines, step, how, per_node):
    """The last PE dies, in the middle of what the others do with it; who started the job, or the transport, tells them."""
    argv, environment = die(machines, step, how, per_node)
    job = machines.job(argv, per_node, environment)
    job.need_status("fail")
    job.need_no_output(r"has come out of")
    if machines.count == 1:
        job.need_output(rf"\bPE {2 * per_node - 1}\b")
    need_nobody(machines, job)


def need_nobody(machines, job, nodes=None):
    """No PE is left anywhere."""
    limit = time.monotonic() + LOSS_S
    for node in range(machines.count) if nodes is None else nodes:
        while machines.pids(node, "die"):
            if time.monotonic() > limit:
                machines.used_up = True
                job.need(False, f"PEs are left on n{node + 1}:\n{machines.processes(node)}")
            time.sleep(0.2)


def guest_dies(machines, step, per_node, environment=None, wanted=None):
    """Nobody says good-bye: no process ends where the job could notice, no connection is closed. The PEs of the other guest find out by what they post."""
    argv, values = die(machines, step, "never", per_node)
    started = machines.start_job(argv, per_node, {**values, **(environment or {})})
    machines.wait_output(started, "the victim is ready")
    time.sleep(1)  # the others are in their step, many times
    machines.kill_guest(1)
    begin = time.monotonic()
    # mpirun itself may wait for its daemon there as long as TCP does; the PEs must not.
    while machines.pids(0, "die"):
        if time.monotonic() - begin > LOSS_S:
            raise Failed(f"the PEs do not end\n{machines.processes(0)}\n{started.output()}")
        time.sleep(0.5)
    lost = "|".join(str(pe) for pe in range(per_node, 2 * per_node))
    if not re.search(wanted or rf"PE [0-9]+: .*\bPE ({lost})\b", started.output()):
        raise Failed(f"no PE says whom it has lost:\n{started.output()}")
    if "has come out of" in started.output():
        raise Failed(f"a PE takes the dead ones for alive:\n{started.output()}")


def the_other_guest_is_unharmed(machines):
    """A job of one guest goes on while the other guest dies."""
    program = programs.stress(machines, "random")
    environment = {"STRESS_SECONDS": "4", "POSTERN_TRANSPORTS": "shm,ibverbs", "POSTERN_NODE": "a,b"}
    started = machines.start(0, machines.oshrun_command([program], 2), environment)
    time.sleep(2)
    machines.kill_guest(1)
    machines.finish(started, HANG_S).need_status(0)


def make_cases(_):
    rows = []

    def add(name, guests, function, *values, **keywords):
        rows.append((name, guests, lambda machines: function(machines, *values, **keywords)))

    for step in ("put", "get", "atomic", "wait", "barrier"):
        add(f"pe_killed_in_{step}.one_guest", 1, pe_dies, step, "kill", 1)
    for step in ("put", "wait", "barrier"):
        add(f"pe_killed_in_{step}.two_guests", 2, pe_dies, step, "kill", 2)
    add("pe_exits_in_barrier.two_guests", 2, pe_dies, "barrier", "exit", 1)
    for step, per_node in (("put", 1), ("get", 2), ("atomic", 1)):
        add(f"guest_killed_in_{step}", 2, guest_dies, step, per_node)
    # Whoever only waits posts nothing, and there is nothing to find out by; the user's bound ends it.
    bound = {"POSTERN_WAIT_TIMEOUT": "5"}
    add("guest_killed_in_wait_with_a_bound", 2, guest_dies, "wait", 1, bound, r"waited longer than POSTERN_WAIT_TIMEOUT|\bPE 1\b")
    add("the_other_guest_is_unharmed", 2, the_other_guest_is_unharmed)
    return rows
