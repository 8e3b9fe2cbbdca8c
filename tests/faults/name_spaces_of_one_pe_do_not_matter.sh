#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# B55: PEs in other pid, user, mount, IPC or UTS name spaces share memory all the same, whichever of them is the odd one: no path in /proc and no pid is used.
. "${0%/*}/lib.sh"
tried=0
for space in "-p -f" "-U" "-U -r" "-U -r -p -f" "-m" "-i" "-u"; do
    unshare $space true 2>/dev/null || continue
    for odd in 0 1; do
        tried=$((tried + 1))
        ring_ok -n 3 sh -c "if [ \$POSTERN_PE = $odd ]; then exec unshare $space \"\$0\"; fi; exec \"\$0\"" "$RING"
    done
    ring_ok -n 2 unshare $space "$RING"
done
[ $tried -gt 0 ] || skip "unshare is not allowed"

# Another network name space has other abstract sockets, so it is another node: reached by a network, or an error that says so, and no hang.
if unshare -n true 2>/dev/null; then
    ok_or_refused "${JOB[@]}" -n 2 sh -c 'if [ $POSTERN_PE = 1 ]; then exec unshare -n "$0"; fi; exec "$0"' "$RING"
    [ "$rc" = 0 ] || err_has 'the way to PE . .*is lost|there is no way from this node'
fi
