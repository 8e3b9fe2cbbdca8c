#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: OpenSHMEM 1.6 §B.1 Compilation
. "${0%/*}/oshcc_lib.sh"
make_tree "$work/it's a tree"
bin="$work/it's a tree/bin"
line=$("$bin/oshcc" -show 'a program.c' -o program) || fail "-show"
[ ! -e program ] || fail "-show has compiled"
eval "$line" && ./program || fail "does not work: $line"
line=$("$bin/oshcc" 'a program.c' -c -o out.o -show)
case $line in *-lpostern*) fail "links with -c: $line" ;; esac
case $line in *-I*include*) ;; *) fail "no include folder: $line" ;; esac
