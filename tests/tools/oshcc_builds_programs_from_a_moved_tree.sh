#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: OpenSHMEM 1.6 §B.1 Compilation
. "${0%/*}/oshcc_lib.sh"
make_tree "$work/first place"
mv "$work/first place" "$work/second place"
bin="$work/second place/bin"
"$bin/oshcc" 'a program.c' -o program && ./program || fail "C in one step"
"$bin/oshcc" -c 'a program.c' -o program.o && "$bin/oshcc" program.o -o program && ./program || fail "C in two steps"
"$bin/oshcc" -static 'a program.c' -o program && ./program || fail "static"
"$bin/oshc++" program.cc -o program && ./program || fail "C++"
"$bin/oshcxx" program.cc -o program && ./program || fail "C++ by its second name"
ln -s "$bin/oshcc" link && ./link 'a program.c' -o program && ./program || fail "through a symbolic link"
PATH="$bin:$PATH" oshcc 'a program.c' -o program && ./program || fail "through PATH"
readelf -d program | grep -q BIND_NOW || readelf -d program | grep -q 'Flags:.*NOW' || fail "not bound at start-up"
readelf -l program | grep -q GNU_RELRO || fail "no RELRO"
