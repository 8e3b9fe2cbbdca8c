#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/oshcc_lib.sh"
make_tree tree
shows() { # expected first words, then variables and the wrapper
    local want=$1 line
    shift
    line=$(env "$@" -show x.c)
    case $line in "$want -I"*) ;; *) fail "$* runs $line, not $want" ;; esac
}
shows clang OSHCC=clang CC=gcc tree/bin/oshcc
shows gcc CC=gcc tree/bin/oshcc
shows "clang -m64" OSHCC='clang -m64' tree/bin/oshcc
shows clang++ OSHCXX=clang++ CXX=g++ tree/bin/oshc++
shows g++ CXX=g++ tree/bin/oshcxx
# "make CC=oshcc" exports it: the wrapper must not run itself for ever.
for name in oshcc tree/bin/oshcc "$work/tree/bin/oshcc -O2"; do
    line=$(timeout 20 env CC="$name" tree/bin/oshcc -show x.c) || fail "CC=$name"
    case $line in *oshcc*-I*) fail "CC=$name runs itself" ;; esac
done
exit 0
