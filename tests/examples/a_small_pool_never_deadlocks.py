# SPDX-License-Identifier: Apache-2.0
"""Pools from one slot on carry every request; a pool with no room for a slot is refused, with the size that is needed."""

import re

import kv

LAYERS = 3


def shape(layout):
    return ["--model", "gpt-oss-20b", "--dtype", "fp8", "--layers", LAYERS, "--layout", layout, "--page-tokens", 64]


def main():
    for layout, parts in (("joined", 1), ("split", 2)):
        for slots in (1, 2, 3, 5, 17):
            for pes in (1, 2, 4):
                numbers = kv.run_good(pes, *shape(layout), "--requests", 5, "--tokens", 1000, "--pool-pages", slots * LAYERS * parts).numbers
                kv.expect(numbers["slots"] == slots, f"{layout}: {numbers['slots']} slots, not {slots}")
                kv.expect(numbers["pages_checked"] == 5 * 16 * LAYERS * parts, f"{layout}: {numbers['pages_checked']} pages checked")

        least = LAYERS * parts
        refused = kv.run(2, *shape(layout), "--pool-pages", least - 1)
        kv.expect(refused.status == 2, f"a pool without a slot ended with {refused.status}")
        advice = re.search(r"--pool-pages (\d+) \(--pool-bytes (\d+)\)", refused.err)
        kv.expect(advice is not None and int(advice[1]) == least, f"the message does not say {least}: {refused.err}")
        if advice:
            kv.run_good(2, *shape(layout), "--requests", 2, "--tokens", 200, "--pool-bytes", advice[2])
    kv.finish()


main()
