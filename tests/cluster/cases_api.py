# SPDX-License-Identifier: Apache-2.0
#
# The tests of tests/api, under each engine. They are the same programs, with the tags that tests/CMakeLists.txt explains; only
# oshrun is replaced. Each test takes turns at the numbers of nodes and PEs: over the tests of a folder all of them are used, and the next
# engine begins somewhere else. With --all every test has all of them.
import glob
import os
import re

from cluster import CHECKOUT, Failed

SHAPES = [(2, 2), (3, 1), (2, 3), (3, 2), (2, 1), (3, 3)]  # nodes, PEs on each
TIMEOUT_S = 90

# What a network or an engine cannot change, or what another launcher cannot promise. Name: reason.
NOT_HERE = {
    "heap/memory_for_records_that_one_pe_lacks_is_null_everywhere": "a limit of private memory hits the network's library first",
    "init/statistics_name_peer_path_and_operation": "looks for the path of one machine",
    "nodes/statistics_name_the_way_to_each_pe": "looks for pretend nodes of its own layout",
    "nodes/the_report_tells_nodes_and_routes": "looks for pretend nodes of its own layout; cases_network looks at the report",
    "nodes/a_pe_that_dies_ends_all_nodes": "looks for oshrun's message; cases_failures has it for each engine",
    "rma/memory_of_another_pe_under_another_address_overlaps": "needs mapped memory",
}
# Calls that cannot come to an end are noticed by oshrun; without it a time limit ends the job, and this one is not the usual minute.
LIMITED = {
    "init/barrier_where_another_finalizes_is_one_clear_error": {"POSTERN_INIT_TIMEOUT": "20"},
    "init/finalizing_more_often_than_another_is_one_clear_error": {"POSTERN_INIT_TIMEOUT": "20"},
    "coll/a_finalize_against_a_collective_is_named": {"POSTERN_INIT_TIMEOUT": "20"},
}


# What the library says where oshrun would say it otherwise.
NO_END = [r"cannot follow|a PE has not come to the end of the job|has not come to its end|PE \d+ calls "]
REWORDED = {
    "init/barrier_where_another_finalizes_is_one_clear_error": NO_END,
    "init/finalizing_more_often_than_another_is_one_clear_error": NO_END,
    "init/leaving_without_finalize_while_others_wait_is_a_failure": [r"PE 1: ended without shmem_finalize|the way to PE 1 .* is lost"],
}
# Slurm kills all PEs at once when one ends the job: their exit handlers do not run, what they had in buffers is lost, and the status is that of SIGKILL.
# Under mpirun the status is looked at; the output may be lost there too. Under oshrun these tests are whole.
KILLED_UNDER_SLURM = r"init/(exit_handler|exit_of_start_pes_ends|global_exit)|nodes/global_exit|device/report_of_a_kernel"


class Test:
    def __init__(self, source, build):
        self.name = os.path.relpath(source, os.path.join(CHECKOUT, "tests/api")).removesuffix(".c")
        self.program = os.path.join(build, "tests/api", self.name)
        with open(source) as file:
            text = file.read()
        header = text[:3000]
        self.tags = {}
        for tag in ("PES", "ENV", "ARGS", "STATUS", "OUTPUT", "NOOUTPUT", "LABELS", "NODES", "NOLIBFABRIC", "NONODES"):
            self.tags[tag] = [value.split("*/")[0].strip() for value in re.findall(rf"^[ /*]*{tag}:[ ]*([^\n]*)", header, re.MULTILINE)]
        self.pes = [int(word) for word in self.words("PES")] or [1, 2, 3, 4, 8, 16]
        # Most tests of few PEs need not more and can have more, up to the size of their arrays.
        self.asks_for_transports = 'getenv("POSTERN_TRANSPORTS")' in text  # and makes fewer rounds over posted ones
        bounds = re.findall(r"\bPES_MAX *= *(\d+)", text)
        self.most = min([int(bound) for bound in bounds] + [16 if max(self.pes) > 8 else 8])

    def words(self, tag):
        return [word for value in self.tags[tag] for word in value.split()]

    def belongs_here(self):
        if self.name in NOT_HERE or self.tags["NOLIBFABRIC"] or self.tags["NONODES"]:
            return False
        return max(self.pes) > 1 and "slow" not in self.words("LABELS")

    def shapes(self):
        if len(self.pes) == 1:
            return [shape for shape in SHAPES if shape[0] * shape[1] == self.pes[0]]
        return [shape for shape in SHAPES if min(self.pes) <= shape[0] * shape[1] <= self.most]

    def run(self, cluster, engine, nodes, per_node, cyclic):
        environment = dict(word.split("=", 1) for word in self.words("ENV"))
        environment.update(LIMITED.get(self.name, {}))
        if self.asks_for_transports:
            environment["POSTERN_TRANSPORTS"] = "shm,libfabric"
        if self.tags["NODES"]:
            # It looks there for the layout; labels that agree with the real nodes change nothing.
            environment["POSTERN_NODE"] = ",".join(f"n{i + 1}" if cyclic else f"n{i + 1}:{per_node}" for i in range(nodes))
        job = cluster.job(engine, [self.program, *self.words("ARGS")], nodes, per_node, environment, cyclic, TIMEOUT_S)
        if job.status == 77 or re.search(r"^skipped: ", job.output, re.MULTILINE):
            return  # it says why under oshrun too, where that is counted
        # Another launcher has its own idea of the status of a failed job.
        status = self.tags["STATUS"][0] if self.tags["STATUS"] else "0"
        if engine == "slurm" and re.match(KILLED_UNDER_SLURM, self.name):
            job.need(job.status != 124, "the job does not end")
            return
        job.need_status(status if status == "0" else "fail")
        if engine == "mpirun" and re.match(KILLED_UNDER_SLURM, self.name):
            return  # it may drop the last words of PEs when a job is ended
        for regex in REWORDED.get(self.name, self.tags["OUTPUT"]):
            job.need_output(regex)
        for regex in self.tags["NOOUTPUT"]:
            job.need_no_output(regex)


def make_cases(arguments):
    sources = sorted(glob.glob(os.path.join(CHECKOUT, "tests/api/**/*.c"), recursive=True))
    tests = [Test(source, arguments.build) for source in sources]
    tests = [test for test in tests if test.belongs_here()]
    unbuilt = [test.name for test in tests if not os.path.exists(test.program)]
    if unbuilt:

        def all_programs_are_built(cluster):
            raise Failed(f"{len(unbuilt)} programs are missing, {unbuilt[0]} for one: build all tests")

        return [("all_programs_are_built", all_programs_are_built)]
    rows = []
    for begin, engine in enumerate(("mpirun", "slurm")):
        for number, test in enumerate(tests):
            shapes = test.shapes()
            turn = number + begin * 3
            chosen = shapes if arguments.all else [shapes[turn % len(shapes)]] if shapes else []
            for nodes, per_node in chosen:
                cyclic = (turn // len(shapes)) % 2 == 1 and per_node > 1
                rows.append(make_row(test, engine, nodes, per_node, cyclic, quick=number % 10 == 0))
    return rows


def make_row(test, engine, nodes, per_node, cyclic, quick):
    name = f"{test.name.replace('/', '.')}.{engine}.{nodes}x{per_node}{'c' if cyclic else ''}"
    return name, lambda cluster: test.run(cluster, engine, nodes, per_node, cyclic), quick
