# SPDX-License-Identifier: Apache-2.0
"""One spoiled byte, sent or resident, ends the job with 1, and the message names request, layer, page and offset."""

import re

import kv

REQUESTS = 14  # of the trace; the pool below holds them all
NAMED = re.compile(r"PE (\d+): wrong byte: request (\d+), layer (\d+), page (\d+), offset (\d+): (0x..) instead of (0x..)")


def spoil(pes, request, layer, page, offset, *args):
    result = kv.run(pes, "--model", "qwen2.5-7b", "--dtype", "fp8", "--layers", 3, *args, "--corrupt", f"{request},{layer},{page},{offset}")
    what = f"n={pes} {args} {request},{layer},{page},{offset}"
    kv.expect(result.status == 1, f"{what}: status {result.status}")
    kv.expect("FAILED" in result.out, f"{what}: the table says nothing of it")
    named = [tuple(map(int, m.groups()[1:5])) for m in NAMED.finditer(result.err)]
    kv.expect((request, layer, page, offset) in named, f"{what}: named was {named}")
    kv.expect(result.numbers is not None and result.numbers["verification"] == "failed", f"{what}: the JSON file says nothing of it")
    return result


def main():
    made = ["--requests", 4, "--tokens", 600, "--pool-pages", 300]
    for place in ((0, 0, 0, 0), (1, 2, 37, 16383), (3, 1, 31, 4097), (2, 0, 5, 7)):
        result = spoil(2, *place, *made)
        kv.expect(result.numbers["pages_wrong"] == 1, f"{place}: {result.numbers['pages_wrong']} pages are wrong")
    spoil(1, 1, 1, 1, 1, *made)
    spoil(4, 3, 2, 10, 100, *made)
    spoil(2, 3, 2, 75, 8191, *made, "--layout", "split")
    spoil(2, 1, 1, 30, 12, *made, "--pool-pages", 3)  # a window of one span

    # A span that several requests share is spoiled where it lies, and a later request finds it so.
    ids = [request["hash_ids"][0] for request in kv.trace()[:REQUESTS]]
    again = next(i for i in range(len(ids)) if ids[i] in ids[:i])
    result = spoil(2, again, 1, 3, 50, "--trace", kv.CHATS, "--requests", REQUESTS, "--pool-bytes", "128m")
    kv.expect("resident in slot" in result.err, "the spoiled page was not a resident one")
    # Every later request with this block finds it, and perhaps an earlier one whose check was not over.
    found, later = result.numbers["pages_wrong"], ids[again:].count(ids[again])
    kv.expect(later <= found <= ids.count(ids[again]), f"{found} pages are wrong, {later} requests still use the block")

    spoiled = kv.run(2, *made, "--corrupt", "0,0,0,0", "--no-verify")
    kv.expect(spoiled.status == 2, "spoiling what nobody checks is not refused")
    kv.finish()


main()
