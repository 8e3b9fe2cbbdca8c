#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
cat >inner <<'END'
#!/bin/sh
echo "variable ${POSTERN_OSHRUN-gone} pe $POSTERN_PE of $POSTERN_NPES local $POSTERN_LOCAL_RANK of $POSTERN_LOCAL_SIZE"
for fd in /proc/self/fd/*; do
    case $(readlink "$fd") in socket:*) echo "a socket is open" ;; esac
done
END
chmod +x inner
run "$OSHRUN" -n 2 "$PE" open gather=0 system=./inner "system=$PE open identity close" gather=0 close
status 0
count 1 '^variable gone pe 0 of 2 local 0 of 2$' out
count 1 '^variable gone pe 1 of 2 local 1 of 2$' out
count 0 'socket' out
count 2 '^pe 0 of 1 local 0 of 1' out # a job of its own
err_empty
