#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# --prometheus FILE: the text format, readable for the collector's user, in one step; and what was there stays where it cannot be written.
. "${0%/*}/doctor_lib.sh"
machine sick_container
mkdir metrics
umask 077
examine --prometheus metrics/postern.prom
status 2
err_empty
[ ! -s out ] || fail "a job of cron would mail this"
[ "$(stat -c %a metrics/postern.prom)" = 644 ] || fail "the collector cannot read it: $(stat -c %a metrics/postern.prom)"
[ "$(ls -A metrics)" = postern.prom ] || fail "something is left: $(ls -A metrics)"
cp metrics/postern.prom out
count 1 '^postern_doctor_finding_state\{check="port-mtu",object="mlx5_0/1"\} 1$' out
count 1 '^postern_doctor_finding_state\{check="memlock",object=""\} 2$' out
count 1 '^postern_doctor_finding_state\{check="rdma-module",object=""\} 0$' out
count 1 '^postern_doctor_findings\{state="degraded"\} 19$' out
count 1 '^postern_doctor_worst_state 2$' out
python3 - metrics/postern.prom <<'PYTHON' || fail "this is not the text format"
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
assert text.endswith("\n")
label = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
helped, typed, seen, last = set(), set(), set(), None
for line in text.splitlines():
    if match := re.fullmatch(r"# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)", line):
        kind, name, rest = match.groups()
        (helped if kind == "HELP" else typed).add(name)
        assert kind == "HELP" or rest == "gauge", line
        continue
    match = re.fullmatch(rf"([a-zA-Z_:][a-zA-Z0-9_:]*)(\{{{label}(?:,{label})*\}})? (\d+)", line)
    assert match, line
    name, labels, _ = match.groups()
    assert name in helped and name in typed, line
    assert (name, labels) not in seen, "given twice: " + line
    assert name == last or all(earlier != name for earlier, _ in seen), "not together: " + line
    seen.add((name, labels))
    last = name
PYTHON
if command -v promtool >/dev/null; then promtool check metrics <metrics/postern.prom || fail "promtool does not take it"; fi

# With --json both are written.
examine --prometheus=metrics/postern.prom --json
status 2
python3 -m json.tool out >/dev/null || fail "no JSON"

# A file that cannot be written whole: the old one stays, and nothing else. (Past that limit a write fails.)
machine laptop
echo old >metrics/postern.prom
run bash -c '(trap "" XFSZ; ulimit -f 0; exec "$@" 2>&1) | cat >&2; exit "${PIPESTATUS[0]}"' limited "$doctor" --root "$work/root" --prometheus metrics/postern.prom
status 3
err_has '^postern-doctor: could not write metrics/postern.prom: File too large$'
err_has '^    fix: '
[ "$(cat metrics/postern.prom)" = old ] || fail "the old file is gone"
[ "$(ls -A metrics)" = postern.prom ] || fail "something is left: $(ls -A metrics)"
examine --prometheus nowhere/postern.prom
status 3
err_has 'could not write nowhere/postern.prom: No such file or directory'
