#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
cat >wrap <<'END'
#!/bin/bash
exec 3</dev/null 4>"/dev/null" {spare}</dev/null
echo before
"$@"
status=$?
echo "after $status"
exit $status
END
chmod +x wrap
run "$OSHRUN" -n 2 ./wrap "$PE" open gather=8 close
status 0
count 2 '^before$' out
count 2 '^after 0$' out
run "$OSHRUN" -n 2 ./wrap "$PE" open gather=8 @1:exit=9 wait
status 9
run "$OSHRUN" -n 2 ./wrap "$PE" open gather=8 @1:raise=11 wait
status 139
# A script that goes on after its PE died does not keep the others waiting.
run "$OSHRUN" -n 2 sh -c '"$0" "$@"; sleep 1000' "$PE" open gather=8 @1:raise=11 wait
[ "$rc" != 0 ] || fail "status is 0"
err_has 'PE 1 \(process [0-9]+\) ended without shmem_finalize'
nothing_left
