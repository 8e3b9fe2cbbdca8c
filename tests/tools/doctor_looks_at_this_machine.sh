#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Without --root it looks at the machine it runs on, whichever that is: it ends well, changes nothing of its own limits, and --root / is the same.
. "${0%/*}/doctor_lib.sh"
run "$doctor"
[ "$rc" -le 2 ] || fail "it ends with $rc"
err_empty
for check in rdma-module gpu-driver memlock container cgroup-memory cgroup-cpu cgroup-pids ptrace huge-pages cpu-frequency c-states; do
    out_has "^(ok|degraded|missing) +$check "
done
grep -oE '^[a-z]+ +[a-z0-9-]+' out >first
run "$doctor" --root /
grep -oE '^[a-z]+ +[a-z0-9-]+' out | cmp -s - first || fail "--root / finds something else"
run bash -c 'ulimit -l 64 && exec "$@"' limited "$doctor" --json
python3 -m json.tool out >/dev/null || fail "no JSON"
out_has '"check": "memlock"'
if command -v valgrind >/dev/null && ! nm -D "$doctor" | grep -qE '__(asan|tsan)_init'; then # these exclude each other
    machine sick_container
    run valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite "$doctor" --root "$work/root"
    status 2
fi

# A device file that this user may not open; root may open all, so it steps down.
machine roce_two_cards
chmod -R go+rX "$work"
step_down=()
[ "$(id -u)" != 0 ] || step_down=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 000 "$work/root/dev/infiniband/uverbs1"
cp "$doctor" "$work/doctor-copy" # the build folder may be closed to others
chmod 755 "$work" "$work/doctor-copy"
run "${step_down[@]}" "$work/doctor-copy" --root "$work/root"
status 2
finding missing rdma-access mlx5_1
detail rdma-access 'fix: chmod 0666 /dev/infiniband/uverbs'
: >"$work/root/.dockerenv" # a container that was given the device: the file's mode is to blame all the same
run "${step_down[@]}" "$work/doctor-copy" --root "$work/root"
detail rdma-access 'fix: chmod 0666 /dev/infiniband/uverbs'
