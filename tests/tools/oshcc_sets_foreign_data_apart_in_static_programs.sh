#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/oshcc_lib.sh"
make_tree tree
shows() { # with|without, then options
    local want=$1 line
    shift
    line=$(tree/bin/oshcc -show x.c "$@")
    case $line in
    *-Wl,-T,"$work"/tree/lib/postern/postern-static.ld*) [ "$want" = with ] || fail "$* has the script: $line" ;;
    *) [ "$want" = without ] || fail "$* lacks the script: $line" ;;
    esac
}
shows without -static # no such file in this tree
mkdir tree/lib/postern && : >tree/lib/postern/postern-static.ld
shows with -static
shows with -static-pie
shows with -fsanitize=address
shows without
shows without -c -static
shows without -shared -fPIC -fsanitize=undefined
case $(tree/bin/oshcc -show x.c -static) in *-lpostern*-lpthread*-ldl) ;; *) fail "libraries of -static" ;; esac
