# SPDX-License-Identifier: Apache-2.0
"""Running kv_cache from a test: one call, and what came out."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

OSHRUN = os.environ["KV_OSHRUN"]
PROGRAM = os.environ["KV_PROGRAM"]
CHATS = str(pathlib.Path(__file__).parent / "data" / "chats.jsonl")
HANG_GUARD_S = 60

wrong = 0


class Result:
    """status, out, err of a run; numbers holds the JSON file, or None where it is not there."""

    def __init__(self, status, out, err, numbers):
        self.status, self.out, self.err, self.numbers = status, out, err, numbers


def run(pes, *args, env=None):
    """Run on pes PEs. The job writes its JSON file; a run past the guard counts as a hang, with status 124."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "result.json"
        command = [OSHRUN, "-n", str(pes), "--timeout", str(HANG_GUARD_S), PROGRAM, *map(str, args), "--json", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})}, check=False)
        text = path.read_text() if path.exists() else ""
        return Result(done.returncode, done.stdout, done.stderr, json.loads(text) if text else None)


def run_good(pes, *args):
    """A run that must verify; without one the test ends here."""
    result = run(pes, *args)
    if result.status != 0 or result.numbers is None or result.numbers["verification"] != "passed":
        print(result.out, result.err, f"run of {pes} PEs with {args} ended with {result.status}", sep="\n")
        sys.exit(1)
    return result


def trace(path=CHATS):
    """The requests of a trace."""
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def expect(good, text):
    """Note a failure and go on."""
    global wrong
    if not good:
        print("wrong:", text)
        wrong += 1


def finish():
    """End the test."""
    sys.exit(1 if wrong else 0)
