#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: none; the standard leaves it to the launcher where PEs run.
. "${0%/*}/engine_lib.sh"
fake_orte
hosts() { # what --hosts is given, what the engine is told, PEs
    run_faked "$OSHRUN" --hosts "$1" --dry-run ./program
    shows "mpirun$root --map-by slot --host $2 -n $3 ./program"
}
hosts far far:1 1
hosts far:3 far:3 3
hosts a,b:2 a:1,b:2 3
hosts a,b,a:3 a:4,b:1 5
hosts node-1:2 node-1:2 2
hosts 192.0.2.7:2 192.0.2.7:2 2
hosts localhost,far localhost:1,far:1 2

printf '# all of them\n\n  a \nb:2 # two\nc slots=3\r\n\td\tslots=4\na' >file
hosts file a:2,b:2,c:3,d:4 11
hosts "$work/file" a:2,b:2,c:3,d:4 11
hosts ./file a:2,b:2,c:3,d:4 11
# A comma makes it a list, and so does a name that is no file.
hosts file,a file:1,a:1 2
hosts no-file no-file:1 1

# mpirun leaves a name with a domain alone if it is told to.
run_faked "$OSHRUN" --hosts node-1.example.org:2,a --dry-run ./program
shows "mpirun$root --map-by slot --mca orte_keep_fqdn_hostnames 1 --host node-1.example.org:2,a:1 -n 3 ./program"

# Nor does it get along with other letters without being told.
run_faked "$OSHRUN" --hosts node_1 --dry-run ./program
shows "mpirun$root --map-by slot --mca regx naive --host node_1:1 -n 1 ./program"

# Addresses with colons go by a file, which they do not break.
lines() { # what --hosts is given, the lines, PEs
    run_faked "$OSHRUN" --hosts "$1" --dry-run ./program
    shows "mpirun$root --map-by slot --mca regx naive --hostfile <(printf '%s\\n' $2) -n $3 ./program"
}
lines '[2001:db8::1]' "'2001:db8::1 slots=1'" 1
lines 'a:2,[2001:db8::1]:3,[fe80::1%eth0]' "'a slots=2' '2001:db8::1 slots=3' 'fe80::1%eth0 slots=1'" 6
printf '[2001:db8::1]\n[2001:db8::2]:2\n[2001:db8::3] slots=3\n' >file
lines file "'2001:db8::1 slots=1' '2001:db8::2 slots=2' '2001:db8::3 slots=3'" 6
# The engine can read that file.
cat >engines/mpirun <<'END'
#!/bin/bash
case $1 in --version) echo 'mpirun (Open MPI) 4.1.4'; exit ;; esac
while [ "$1" != --hostfile ]; do shift; done
while read -r line; do echo "line $line"; done <"$2"
END
run_faked "$OSHRUN" --hosts file ./program
status 0
[ "$(cat out)" = $'line 2001:db8::1 slots=1\nline 2001:db8::2 slots=2\nline 2001:db8::3 slots=3' ] || fail "the engine reads another file"
