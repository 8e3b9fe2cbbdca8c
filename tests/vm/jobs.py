# SPDX-License-Identifier: Apache-2.0
#
# Jobs that are run in one guest and over two.
import os

import programs
from cases_api import test_of

# What the emulation moves in a second or two.
KV_SMALL = ["--layers", "2", "--requests", "4", "--tokens", "512", "--pool-bytes", "16M", "--no-progress"]

# One word, updated by PEs beside it and by PEs far from it; every operation of every type; numbers handed out once; signals beside atomics.
ATOMICS = [
    "amo/each_operation_of_each_type_updates_and_fetches",
    "amo/updates_of_one_width_exclude_each_other",
    "amo/fetch_inc_hands_out_each_number_once",
    "nodes/one_word_is_updated_from_both_sides",
    "signal/updates_of_all_kinds_exclude_each_other",
]


def report(machines, per_node):
    job = machines.job([programs.example(machines, "hello")], per_node, {"POSTERN_REPORT": "1"})
    job.need_status(0)
    job.need_output(rf"job +chosen +{2 * per_node} PEs on 2 nodes, {per_node} of them on this one")
    job.need_output(rf"routes +chosen .*{per_node} PEs? posted to over ibverbs")
    job.need_output(r"transport ibverbs +(present|degraded) .*rxe0")


def kv_cache(machines, per_node, cyclic=False, environment=None):
    """The main job, with every byte checked."""
    job = machines.job([programs.example(machines, "kv_cache"), *KV_SMALL], per_node, environment, cyclic)
    job.need_status(0)
    job.need_output(r"verification +passed: all bytes")


def example(machines, name, per_node, arguments=()):
    """It checks its own result."""
    machines.job([programs.example(machines, name), *arguments], per_node).need_status(0)


def stress(machines, name, per_node, seconds=3):
    machines.job([programs.stress(machines, name)], per_node, {"STRESS_SECONDS": str(seconds)}).need_status(0)


def atomics(machines, name, agent, per_node):
    test_of(machines.build, name).run_on(machines, per_node, environment={"POSTERN_AMO": agent})


def agent_is_reported(machines, agent):
    job = machines.job([programs.example(machines, "hello")], 1, {"POSTERN_REPORT": "1", "POSTERN_AMO": agent})
    job.need_status(0)
    job.need_output(r"atomics +chosen +.*" + ("network device" if agent == "nic" else "CPU"))


def atomic_rows(guests, per_node):
    rows = []
    for agent in ("cpu", "nic"):
        rows.append((f"agent_is_reported.{agent}", guests, lambda machines, agent=agent: agent_is_reported(machines, agent)))
        for name in ATOMICS:
            title = f"{os.path.basename(name)}.{agent}.2x{per_node}"
            rows.append((title, guests, lambda machines, name=name, agent=agent: atomics(machines, name, agent, per_node)))
    return rows
