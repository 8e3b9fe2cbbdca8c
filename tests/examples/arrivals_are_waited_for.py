# SPDX-License-Identifier: Apache-2.0
"""With --speed no request leaves before it arrives; without it nothing is waited for. The progress bar ends at 100 %."""

import kv


def main():
    last_s = max(request["timestamp"] for request in kv.trace()) * 1e-3
    args = ["--trace", kv.CHATS, "--dtype", "fp8", "--layers", 1, "--pool-bytes", "8m"]
    timed = kv.run_good(2, *args, "--speed", 2)
    kv.expect(timed.numbers["seconds"] >= last_s / 2, f"it took {timed.numbers['seconds']} s, and the last request came at {last_s / 2} s")
    kv.expect(timed.numbers["prefill_request_wait_s"] > 0, "no request was waited for")
    kv.expect(timed.err == "", f"a progress bar without a terminal: {timed.err}")
    free = kv.run_good(2, *args, "--progress")
    kv.expect(free.numbers["prefill_request_wait_s"] == 0, "requests were waited for")
    kv.expect("100 %" in free.err and "48 of 48 requests" in free.err, f"the progress bar: {free.err}")
    kv.finish()


main()
