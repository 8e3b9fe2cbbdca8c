# SPDX-License-Identifier: Apache-2.0
#
# Tests of tests/api, whose PEs are posted to over ibverbs. They are the same programs, with the tags that tests/CMakeLists.txt explains. In one guest
# oshrun starts them, their PEs on two nodes by name; on two guests mpirun does. An emulated machine has no time for all of them: CHOSEN are those
# whose bytes, words, orders and ends a transport makes.
import glob
import importlib.util
import os
import re

from cluster import CHECKOUT, Failed

TIMEOUT_S = 120

# How a test of tests/api is read, and what another launcher cannot promise, are told once, beside the pretend hosts.
_spec = importlib.util.spec_from_file_location("cluster_api", os.path.join(CHECKOUT, "tests/cluster/cases_api.py"))
cluster_api = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cluster_api)

# Of each folder: names, or parts of them. Those of atomics are in jobs.py, under both agents.
CHOSEN = {
    "rma": "copies_of_every_size|puts_of_every_path|strided_calls_place|block_strided|mem_calls_take|any_memory_serves|source_is_free|put_to_self"
    "|statics_of_every_kind|traffic_advances|no_elements|large_transfers",
    "order": ".",
    "signal": "every_form|payload_is_there|set_stores|no_elements|context_governs|copies_past|wait_until_returns",
    "amo": "words_wrap",
    "ctx": "destroy_completes|every_call_counts|every_option|thousands_come",
    "nodes": "a_fence|a_lock|a_quiet|put_travels|time_limit|signals_follow|teams_may|threads_use|transfers_reach|waits_end|init_works",
    "wait": "sleeper_wakes|a_time_limit|all_waiting",
    "p2p": "word_is_never|any_kind_of_writer|wait_shows|vectors_pair",
    "sync": "barrier_completes|no_pe_leaves",
    "lock": "next_holder",
    "threads": "all_on_the_default|private_context|blocked_thread|quiet_blocks",
    "coll": "blocks_of_any_size|elements_of_every_type|dest_may_be_overwritten_on",
    "coll_nodes": "no_pe_leaves|blocks_arrive_over_nodes$|calls_follow",
    "heap": "free_waits",
    "init": "global_exit_of_the_last|last_finalize|works_again",
}


class Test(cluster_api.Test):
    def __init__(self, source, build):
        super().__init__(source, build)
        with open(source) as file:
            self.for_mapped_memory = re.search(r"^[ /*]*NOCHAOS:", file.read(3000), re.MULTILINE) is not None

    def belongs_here(self):
        return super().belongs_here() and not self.for_mapped_memory

    def is_chosen(self):
        folder, name = self.name.split("/", 1)
        return re.search(CHOSEN.get(folder, "$^"), name) is not None

    def per_node(self):
        """Numbers of PEs on each of two nodes that it takes."""
        return [count for count in (1, 2) if min(self.pes) <= 2 * count <= self.most and (len(self.pes) > 1 or self.pes == [2 * count])]

    def run_on(self, machines, per_node, cyclic=False, environment=None):
        if machines.count == 2:
            self.run(ByMpirun(machines, environment or {}), "mpirun", 2, per_node, cyclic)
            return
        values = dict(word.split("=", 1) for word in self.words("ENV"))
        values.update(environment or {})
        job = machines.job([self.program, *self.words("ARGS")], per_node, values, cyclic, TIMEOUT_S)
        if job.status == 77:
            return  # it says why beside shm too, where that is counted
        job.need_status(self.tags["STATUS"][0] if self.tags["STATUS"] else "0")
        for regex in self.tags["OUTPUT"]:
            # The names of a test's own transports are not ours.
            job.need_output(regex.replace("(chaos|libfabric)", "ibverbs"))
        for regex in self.tags["NOOUTPUT"]:
            job.need_no_output(regex)


class ByMpirun:
    """What a test of the pretend hosts runs on, here two guests."""

    def __init__(self, machines, environment):
        self.machines, self.environment = machines, environment

    def job(self, _engine, argv, _nodes, per_node, environment, cyclic, timeout):
        environment = {**environment, **self.environment}
        environment.pop("POSTERN_TRANSPORTS", None)
        return self.machines.job(argv, per_node, environment, cyclic, timeout)


def test_of(machines_build, name):
    return Test(os.path.join(CHECKOUT, "tests/api", f"{name}.c"), machines_build)


def make_cases(arguments):
    tests = [Test(source, arguments.build) for source in sorted(glob.glob(os.path.join(CHECKOUT, "tests/api/**/*.c"), recursive=True))]
    tests = [test for test in tests if test.belongs_here() and (arguments.all or test.is_chosen())]
    unbuilt = [test.name for test in tests if not os.path.exists(test.program)]
    if unbuilt:

        def all_programs_are_built(_):
            raise Failed(f"{len(unbuilt)} programs are missing, {unbuilt[0]} for one: build all tests")

        return [("all_programs_are_built", 1, all_programs_are_built)]
    rows = []
    for number, test in enumerate(tests):
        counts = test.per_node()
        for per_node in counts if arguments.all else counts[number % len(counts) :][:1] if counts else []:
            rows.append(make_row(test, per_node, cyclic=per_node > 1 and number % 3 == 2))
    return rows


def make_row(test, per_node, cyclic):
    name = f"{test.name.replace('/', '.')}.2x{per_node}{'c' if cyclic else ''}"
    return name, 1, lambda machines: test.run_on(machines, per_node, cyclic)
