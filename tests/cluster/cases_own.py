# SPDX-License-Identifier: Apache-2.0
#
# Jobs that no launcher starts: each process is started by hand on its node, and a unique id makes them PEs. Nobody but the library can notice that
# a node has died.
import time

import programs
from cluster import HANG_S, Cluster


class Processes:
    """One process for each rank, in the order of the nodes."""

    def __init__(self, cluster, what, nodes, per_node):
        self.cluster, self.said, self.begin = cluster, [], time.monotonic()
        self.processes, self.commands = [], []
        npes = nodes * per_node
        ident = []
        for rank in range(npes):
            command = [programs.own(cluster, "own_exchange"), str(rank), str(npes), what, *ident]
            self.processes.append(cluster.start(f"n{rank // per_node + 1}", command))
            self.commands.append(command)
            self.said.append("")
            if rank == 0:
                self.until(0, "id ")
                ident = self.said[0].split()[1:2]

    def until(self, rank, word):
        """Read what a process says, up to a line that begins with this word."""
        for line in self.processes[rank].stdout:
            self.said[rank] += line
            if line.startswith(word):
                return

    def finish(self):
        jobs = []
        for rank, process in enumerate(self.processes):
            job = self.cluster.finish(process, self.commands[rank], self.begin, HANG_S)
            job.output = self.said[rank] + job.output
            jobs.append(job)
        self.cluster.need_rest(jobs[0])
        return jobs


def works(cluster, nodes, per_node):
    for job in Processes(cluster, "work", nodes, per_node).finish():
        job.need_status(0)
        job.need_output("has finished")


def works_over_ipv6(cluster):
    with Cluster(cluster.build, 2, ["--ipv6-only"]) as other:
        works(other, 2, 2)


def ends_when(cluster, what, node):
    """kill or unplug a node: the PEs of the others end, and say which PE is gone."""
    processes = Processes(cluster, "wait", 3, 1)
    for rank in range(3):
        processes.until(rank, "ready")
    cluster.nodes(what, f"n{node}")
    cluster.used_up = True
    if what == "kill":
        cluster.at_rest &= cluster.processes()
    for rank, job in enumerate(processes.finish()):
        if rank != node - 1:
            job.need_status(1)
            job.need_output(rf"PE {node - 1} is gone")


def make_cases(arguments):
    return [
        ("2x1", lambda cluster: works(cluster, 2, 1), True),
        ("3x2", lambda cluster: works(cluster, 3, 2), False),
        ("ipv6_only.2x2", works_over_ipv6, True),
        ("node_killed", lambda cluster: ends_when(cluster, "kill", 3), True),
        ("first_node_killed", lambda cluster: ends_when(cluster, "kill", 1), False),
        ("node_unplugged", lambda cluster: ends_when(cluster, "unplug", 3), False),
    ]
