#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A program finds each name at the version node at which the real library has it; so does one that loads libfabric, whose
# drivers want IBVERBS_PRIVATE_34. And such a process starts with every name resolved at once.
set -u
: "${SIMVERBS_LIB:?folder of the simulated libibverbs.so.1}"
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
command -v objdump >/dev/null || skip "no objdump here (package binutils)"
names() { objdump -T "$1" | awk '/IBVERBS_/ && !/[*]UND[*]/ && $(NF-1) !~ /^[(]/ { print $(NF-1), $NF }' | sort; }

real=$(ldconfig -p | awk '/libibverbs.so.1 / { print $NF; exit }')
[ -n "$real" ] || skip "no real libibverbs.so.1 to compare with (package libibverbs1)"
names "$real" >"$work/real"
[ -s "$work/real" ] || fail "no names found in $real"
names "$SIMVERBS_LIB/libibverbs.so.1" >"$work/simulated"
missing=$(comm -23 "$work/real" "$work/simulated")
[ -z "$missing" ] || fail "names of $real that are missing here: $missing"

fabric=$(ldconfig -p | awk '/libfabric.so.1 / { print $NF; exit }')
[ -n "$fabric" ] || exit 0
LD_LIBRARY_PATH=$SIMVERBS_LIB LD_PRELOAD=$fabric LD_BIND_NOW=1 /bin/true 2>"$work/err" ||
    fail "a process with libfabric does not start: $(cat "$work/err")"
[ ! -s "$work/err" ] || fail "the loader says: $(cat "$work/err")"
