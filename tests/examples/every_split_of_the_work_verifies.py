# SPDX-License-Identifier: Apache-2.0
"""Every byte is right for each number of PEs, layout, tensor-parallel degree and page size, and the JSON numbers fit together."""

import kv


def near(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1e-12)


def consistent(n, what):
    kv.expect(n["bytes_sent"] == n["pages_sent"] * n["page_bytes"], f"{what}: bytes_sent")
    kv.expect(n["bytes_reused"] == n["pages_reused"] * n["page_bytes"], f"{what}: bytes_reused")
    kv.expect(n["pages_checked"] == n["pages_sent"] + n["pages_reused"], f"{what}: pages_checked")
    kv.expect(n["pages_wrong"] == 0, f"{what}: pages_wrong")
    kv.expect(near(n["gb_per_s"], n["bytes_sent"] / n["seconds"] * 1e-9), f"{what}: gb_per_s")
    kv.expect(near(n["ns_per_page"], n["seconds"] * 1e9 / n["pages_sent"]), f"{what}: ns_per_page")
    kv.expect(near(n["put_gb_per_s"], n["bytes_sent"] / n["prefill_puts_s"] * 1e-9), f"{what}: put_gb_per_s")
    kv.expect(0 < n["usable_p50_us"] <= n["usable_p99_us"], f"{what}: percentiles")
    kv.expect(n["tokens"] == sum(r["input_length"] for r in kv.trace()), f"{what}: tokens")
    kv.expect(n["requests"] == len(kv.trace()), f"{what}: requests")


def check(pes, *args):
    numbers = kv.run_good(pes, "--trace", kv.CHATS, "--dtype", "fp8", "--layers", 2, "--pool-bytes", "12m", *args).numbers
    consistent(numbers, f"n={pes} {args}")
    return numbers


def main():
    for pes in (1, 2, 4, 8):
        for layout in ("joined", "split"):
            check(pes, "--model", "qwen3-8b", "--layout", layout, "--page-tokens", 16)
    check(2, "--model", "deepseek-v3", "--page-tokens", 1)
    check(4, "--model", "deepseek-v3", "--tp", 2)

    # Shards: half the heads each; as many bytes together as without. With more pairs than heads, heads are sent twice.
    whole = check(2, "--model", "qwen2.5-7b", "--pool-bytes", "64m")
    halves = check(4, "--model", "qwen2.5-7b", "--pool-bytes", "32m", "--tp", 2)
    kv.expect(halves["page_bytes"] * 2 == whole["page_bytes"], "tp 2: a page is not half a page")
    kv.expect(halves["bytes_sent"] == whole["bytes_sent"], "tp 2: other bytes in sum")
    kv.expect(halves["blocks"] == whole["blocks"], "tp 2: a block counts twice")
    config_of_one_head = check(8, "--model", "llama3.2-1b", "--tp", 4)
    kv.expect(config_of_one_head["page_bytes"] == 16 * 2 * 2 * 64, "tp 4: a shard is not two of eight heads")

    blind = kv.run(2, "--requests", 2, "--tokens", 100, "--layers", 2, "--pool-bytes", "4m", "--no-verify")
    kv.expect(blind.status == 0 and blind.numbers["verification"] == "off" and blind.numbers["pages_checked"] == 0, "--no-verify checks")
    seeds = [kv.run_good(2, "--requests", 2, "--tokens", 100, "--layers", 2, "--pool-bytes", "4m", "--seed", s) for s in (0, 7)]
    kv.expect(all(s.numbers["pages_sent"] == 28 for s in seeds), "--seed changes what is sent")
    kv.finish()


main()
