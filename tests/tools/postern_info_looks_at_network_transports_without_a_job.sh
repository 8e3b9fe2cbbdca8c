#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: none; the report is the library's own.
. "${0%/*}/lib.sh"
info=${POSTERN_BIN:?folder of the tools}/postern-info
modules=("$POSTERN_BIN"/../lib/postern/transport_*.so)
[ -e "${modules[0]}" ] || { echo "skipped: this build has no modules of transports"; exit 77; }
for module in "${modules[@]}"; do
    name=${module##*/transport_}
    name=${name%.so}
    run "$info"
    status 0
    count 1 "^  transport $name +(present|absent|degraded) +[^ ]" out
    run "$info" --json
    status 0
    python3 -c '
import json, sys
line, = [line for line in json.load(open("out"))["report"] if line["capability"] == "transport " + sys.argv[1]]
sys.exit(not (line["state"] in ("present", "absent", "degraded") and line["text"]))' "$name" || fail "the JSON has no line for $name"
    POSTERN_SURVEY=0 run "$info"
    status 0
    count 0 "^  transport $name " out
done
