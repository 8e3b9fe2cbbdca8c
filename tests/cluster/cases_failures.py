# SPDX-License-Identifier: Apache-2.0
#
# A PE, a node or the launcher dies, at any step of a job: the job ends by itself, with a failure, one message names the PE,
# and nothing is left. How long it took is in the output of --only; the limit here is only that of a hang.
import os
import signal
import time

import programs
from cluster import Failed, HANG_S

STEPS = ["begin", "init", "idle", "put", "get", "atomic", "wait", "barrier", "reduce", "lock", "finalize"]


def need_named(job, pe, nodes, per_node):
    """Somebody says which PE it was: our library, or the engine in its words."""
    node = f"n{pe // per_node + 1}"
    job.need_output(rf"\bPE {pe}\b|\brank {pe}\b|\btasks? [0-9,-]*\b{pe}\b|{node}: tasks? [0-9,-]*{pe}")


def pe_dies(cluster, engine, step, how, nodes, per_node):
    n = nodes * per_node
    environment = {"DIE_PES": str(n)}
    if (step, how) == ("begin", "exit"):
        # No launcher minds that. The others notice when the time for the first exchange is over; that is a minute, usually.
        environment["POSTERN_INIT_TIMEOUT"] = "10"
    # mpirun sometimes ends without its word about a process that died, and kills the others before theirs are passed on: then it is asked again.
    # Before shmem_init only the launcher can know.
    for attempt in range(3):
        job = cluster.job(engine, [programs.own(cluster, "die"), step, how], nodes, per_node, environment, timeout=90)
        if engine == "mpirun" and job.launcher_alone:
            print("        note: mpirun hung after all PEs had ended", flush=True)
            continue
        job.need_status("fail")
        job.need_no_output(r"has come out of")
        print_time(job, f"{step}.{how}.{engine}")
        try:
            if not (step == "begin" and engine == "mpirun"):
                need_named(job, n - 1, nodes, per_node)
            return
        except Failed:
            if attempt == 2 or engine != "mpirun":
                raise


def print_time(job, name):
    if os.environ.get("CLUSTER_TIMES"):
        print(f"        {name}: {job.seconds:.2f} s", flush=True)


def start_until(cluster, engine, step, how, nodes, per_node, line):
    """Start `die` and wait for a line of its output. The process, its command, and what it has said."""
    environment = {"DIE_PES": str(nodes * per_node)}
    command = cluster.job_command(engine, [programs.own(cluster, "die"), step, how], nodes, per_node, environment)
    process = cluster.start("head", command, environment)
    said = ""
    for text in process.stdout:
        said += text
        if line in text:
            return process, command, said
    process.wait(timeout=HANG_S)
    raise Failed(f"it has ended before its time: {said}")


def node_dies(cluster, engine, step):
    if engine == "slurm":
        cluster.set_slurm("SlurmdTimeout", 10)  # after which Slurm takes a node for dead; five minutes, usually
    process, command, said = start_until(cluster, engine, step, "never", 3, 1, "the victim is ready")
    begin = time.monotonic()
    cluster.nodes("kill", "n3")
    cluster.at_rest &= cluster.processes()  # the node's own have gone with it
    job = cluster.finish(process, command, begin, 45 if engine == "mpirun" else 90)
    job.output = said + job.output
    if engine == "mpirun" and job.launcher_alone:
        print("        note: mpirun hung after all PEs had ended", flush=True)
    else:
        job.need_status("fail")
    job.need_output(r"\bPE 2\b|\brank 2\b|\btasks? [0-9,-]*2\b|\bn3\b|daemon")
    cluster.need_rest(job)
    print_time(job, f"node.{step}.{engine}")
    cluster.used_up = True


def launcher_dies(cluster, engine):
    """Nobody tells the daemons, but they notice that their connection is gone."""
    process, command, said = start_until(cluster, engine, "wait", "never", 2, 2, "the victim is ready")
    begin = time.monotonic()
    os.killpg(process.pid, signal.SIGKILL)
    job = cluster.finish(process, command, begin, 60)
    job.output = said + job.output
    cluster.need_rest(job)


def interrupted(cluster, engine):
    """Control-C, which a launcher gives on as it likes."""
    process, command, said = start_until(cluster, engine, "wait", "never", 2, 2, "the victim is ready")
    begin = time.monotonic()
    program = os.path.basename(next(word for word in command if "=" not in word and word != "env"))
    for pid in cluster.processes() - cluster.at_rest:
        if cluster.command_line(pid)[0].rpartition("/")[2] == program:
            cluster.run("head", ["kill", "-TERM", str(pid)])
    job = cluster.finish(process, command, begin, 60)
    job.output = said + job.output
    job.need_status("fail")
    cluster.need_rest(job)


def a_wait_has_its_bound(cluster):
    """An unplugged node says nothing and nobody notices; the user's bound for waits ends the job all the same."""
    environment = {"DIE_PES": "2", "POSTERN_WAIT_TIMEOUT": "3"}
    command = cluster.job_command("mpirun", [programs.own(cluster, "die"), "wait", "never"], 2, 1, environment)
    process = cluster.start("head", command, environment)
    begin = time.monotonic()
    job = cluster.finish(process, command, begin, 60)
    job.need_status("fail")
    job.need_output(r"PE 0.*shmem_long_wait_until: waited longer than POSTERN_WAIT_TIMEOUT")
    cluster.need_rest(job)


def global_exit_gives_its_status(cluster, engine):
    program = os.path.join(cluster.build, "tests/api/init/global_exit_of_the_last_pe_gives_its_status")
    job = cluster.job(engine, [program], 2, 2)
    job.need_status(43)


def make_cases(arguments):
    rows = []

    def add(name, function, *values, quick=False):
        rows.append((name, lambda cluster: function(cluster, *values), quick))

    for engine in ("mpirun", "slurm"):
        for number, step in enumerate(STEPS):
            nodes, per_node = ((2, 2), (3, 1), (2, 1))[number % 3]
            add(f"killed_in_{step}.{engine}.{nodes}x{per_node}", pe_dies, engine, step, "kill", nodes, per_node, quick=step in ("put", "barrier"))
        for step, how in (("begin", "exit"), ("wait", "exit"), ("barrier", "exit"), ("put", "exit"), ("finalize", "exit"), ("reduce", "abort")):
            add(f"{how}_in_{step}.{engine}.2x2", pe_dies, engine, step, how, 2, 2, quick=(step, how) == ("wait", "exit"))
        for step in ("idle", "put", "wait", "barrier"):
            add(f"node_killed_in_{step}.{engine}", node_dies, engine, step, quick=step == "barrier")
        if engine != "slurm":  # where a step outlives its srun, by design
            add(f"launcher_killed.{engine}", launcher_dies, engine, quick=True)
        add(f"launcher_terminated.{engine}", interrupted, engine)
        add(f"global_exit_gives_its_status.{engine}", global_exit_gives_its_status, engine)
    add("a_wait_has_its_bound", a_wait_has_its_bound)
    return rows
