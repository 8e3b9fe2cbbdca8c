# SPDX-License-Identifier: Apache-2.0
"""What is reused is what a textbook LRU cache of the same size would reuse, however the job is cut up, and in every run."""

from collections import OrderedDict

import kv

BLOCK_TOKENS = 512


def model(requests, groups, slots, page_tokens):
    """Spans sent and reused, blocks, and blocks reused as a whole. Each group has a cache of its own."""
    caches = [OrderedDict() for _ in range(groups)]
    sent = reused = blocks = blocks_reused = 0
    for number, request in enumerate(requests):
        cache = caches[number % groups]
        spans = -(-request["input_length"] // page_tokens)
        per_block = BLOCK_TOKENS // page_tokens
        for first in range(0, spans, per_block):
            keys = [(request["hash_ids"][first // per_block], i) for i in range(min(per_block, spans - first))]
            hits = 0
            for key in keys:
                hit = key in cache
                hits += hit
                cache[key] = True
                cache.move_to_end(key)
                if len(cache) > slots:
                    cache.popitem(last=False)
            sent += len(keys) - hits
            reused += hits
            blocks += 1
            blocks_reused += hits == len(keys)
    return sent, reused, blocks, blocks_reused


def check(pes, tp, layout, page_tokens, layers, slots):
    parts = 2 if layout == "split" else 1
    pairs = max(1, pes // 2)
    groups = pairs // tp
    numbers = kv.run_good(pes, "--trace", kv.CHATS, "--model", "qwen2.5-7b", "--dtype", "fp8", "--layers", layers, "--layout", layout,
                          "--page-tokens", page_tokens, "--tp", tp, "--pool-pages", slots * layers * parts + layers * parts - 1).numbers
    sent, reused, blocks, blocks_reused = model(kv.trace(), groups, slots, page_tokens)
    pages = tp * layers * parts  # of a span, over the pairs that share it
    want = {
        "slots": slots,
        "pages_sent": sent * pages,
        "pages_reused": reused * pages,
        "pages_checked": (sent + reused) * pages,
        "blocks": blocks,
        "blocks_reused": blocks_reused,
    }
    for key, value in want.items():
        kv.expect(numbers[key] == value, f"n={pes} tp={tp} {layout} {page_tokens} tokens, {slots} slots: {key} {numbers[key]}, not {value}")
    return reused


def main():
    some = check(2, 1, "joined", 16, 2, 700)
    kv.expect(some > 0, "nothing was reused: the test proves nothing")
    check(2, 1, "split", 16, 2, 700)
    check(2, 1, "joined", 64, 3, 60)
    check(2, 1, "joined", 512, 1, 8)
    check(1, 1, "joined", 16, 2, 300)
    check(4, 1, "joined", 16, 2, 300)
    check(4, 2, "split", 32, 2, 200)
    check(8, 2, "joined", 32, 2, 150)
    check(8, 4, "joined", 128, 1, 20)
    kv.finish()


main()
