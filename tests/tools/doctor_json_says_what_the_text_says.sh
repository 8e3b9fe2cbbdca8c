#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# --json: the same findings in the same order, the worst state, and null where there is nothing to say.
. "${0%/*}/doctor_lib.sh"
machine sick_container
examine
mv out text
examine --json
status 2
err_empty
python3 - text out <<'PYTHON' || fail "the two differ"
import json
import sys

report = json.load(open(sys.argv[2], encoding="utf-8"))
assert set(report) == {"version", "worst", "findings"}, report.keys()
assert report["worst"] == "missing"
lines = []
for finding in report["findings"]:
    assert list(finding) == ["check", "object", "state", "found", "why", "fix"], finding
    where = finding["object"] + ": " if finding["object"] else ""
    lines.append(f"{finding['state']:<8}  {finding['check']:<15} {where}{finding['found']}")
    assert (finding["why"] is None) == (finding["state"] == "ok") == (finding["fix"] is None), finding
    if finding["why"]:
        lines += ["    why: " + finding["why"], "    fix: " + finding["fix"]]
text = open(sys.argv[1], encoding="utf-8").read().splitlines()
assert text[:-2] == lines, (text, lines)
states = [finding["state"] for finding in report["findings"]]
assert text[-1] == ", ".join(f"{states.count(state)} {state}" for state in ("ok", "degraded", "missing"))
PYTHON
