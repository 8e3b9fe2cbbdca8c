# SPDX-License-Identifier: Apache-2.0
"""Over the chaos transport, which delays and reorders whatever no fence holds back, every byte is still right."""

import os
import sys

import kv

FOLDER = os.environ.get("KV_CHAOS", "")


def main():
    if not FOLDER:
        print("skipped: built without the chaos transport (POSTERN_TEST_CHAOS)")
        sys.exit(77)
    for seed in (1, 2, 3):
        env = {"POSTERN_TRANSPORTS": "chaos", "POSTERN_TRANSPORT_PATH": FOLDER, "POSTERN_CHAOS_SEED": str(seed)}
        for pes in (1, 2, 4):
            result = kv.run(pes, "--trace", kv.CHATS, "--requests", 8, "--dtype", "fp8", "--layers", 2, "--pool-pages", 60, "--page-tokens",
                            64, env=env)
            kv.expect(result.status == 0 and result.numbers["verification"] == "passed",
                      f"n={pes}, seed {seed}: status {result.status}\n{result.out}{result.err}")
            again = kv.run(pes, "--trace", kv.CHATS, "--requests", 8, "--dtype", "fp8", "--layers", 1, "--pool-pages", 2, "--page-tokens", 512,
                           env=env)
            kv.expect(again.status == 0, f"n={pes}, seed {seed}, two slots: status {again.status}\n{again.out}{again.err}")
    kv.finish()


main()
