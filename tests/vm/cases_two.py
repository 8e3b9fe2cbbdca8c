# SPDX-License-Identifier: Apache-2.0
#
# Two guests, a wire between them, jobs by mpirun: what one sends, the other's kernel takes from its Ethernet.
import jobs


def make_cases(_):
    rows = []

    def add(name, function, *values, **keywords):
        rows.append((name, 2, lambda machines: function(machines, *values, **keywords)))

    add("report.2x2", jobs.report, 2)
    add("kv_cache.2x1", jobs.kv_cache, 1)
    add("kv_cache.2x2", jobs.kv_cache, 2)
    add("kv_cache.2x2c", jobs.kv_cache, 2, cyclic=True)
    add("ring.2x1", jobs.example, "ring", 1)
    add("stencil2d.2x2", jobs.example, "stencil2d", 2)
    add("random.2x1", jobs.stress, "random", 1)
    return rows + jobs.atomic_rows(2, 2)
