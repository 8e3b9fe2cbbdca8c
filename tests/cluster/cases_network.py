# SPDX-License-Identifier: Apache-2.0
#
# Networks that are not as one would like them: packets get lost, a link is slow, there is IPv6 only, names do not resolve. And what the
# library says of the network that it has found.
import cases_programs
import programs
from cluster import Cluster

# Name, options of `nodes`.
NETWORKS = [
    ("loss", ["--loss", "1"]),
    ("rate", ["--rate", "200mbit"]),
    ("loss_and_rate", ["--loss", "0.2", "--rate", "100mbit"]),
    ("delay", ["--delay", "2ms"]),
    ("ipv6_only", ["--ipv6-only"]),
    ("no_hosts", ["--no-hosts"]),
]


def over(options, function, *values, **keywords):
    """The case, on a cluster of its own with such a network."""

    def run(cluster):
        with Cluster(cluster.build, 3, options) as other:
            function(other, *values, **keywords)

    return run


def report_names_the_network(cluster):
    job = cluster.job("mpirun", [programs.example(cluster, "hello")], 2, 2, {"POSTERN_REPORT": "1"})
    job.need_status(0)
    for regex in (r"mpirun \(PMIx ", r"libfabric.*present", r"tcp"):
        job.need_output(regex)


def required_capabilities_are_enough_or_refused(cluster):
    job = cluster.job("mpirun", [programs.example(cluster, "hello")], 2, 1, {"POSTERN_REQUIRE": "libfabric"})
    job.need_status(0)
    job = cluster.job("mpirun", [programs.example(cluster, "hello")], 2, 1, {"POSTERN_REQUIRE": "ibverbs"})
    job.need_status("fail")
    job.need_output("POSTERN_REQUIRE")


def make_cases(arguments):
    rows = [
        ("report_names_the_network", report_names_the_network, True),
        ("required_capabilities_are_enough_or_refused", required_capabilities_are_enough_or_refused, False),
    ]
    for name, options in NETWORKS:
        kv = ["--layers", "2", "--requests", "4", "--tokens", "256"] if name in ("loss", "loss_and_rate", "delay") else []
        rows.append((f"{name}.kv_cache.mpirun.2x1", over(options, cases_programs.kv_cache, "mpirun", 2, 1, arguments=kv), name == "ipv6_only"))
        rows.append((f"{name}.collectives.mpirun.3x2", over(options, cases_programs.stress, "collectives", "mpirun", 3, 2, 1), name == "loss"))
        rows.append((f"{name}.random.mpirun.2x2", over(options, cases_programs.stress, "random", "mpirun", 2, 2, 1), False))
        rows.append((f"{name}.kv_cache.slurm.2x2", over(options, cases_programs.kv_cache, "slurm", 2, 2, arguments=kv), False))
    return rows
