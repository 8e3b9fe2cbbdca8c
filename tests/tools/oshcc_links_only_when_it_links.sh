#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: OpenSHMEM 1.6 §B.1 Compilation
. "${0%/*}/oshcc_lib.sh"
make_tree tree
# clang warns of link options that are not used, and with -Werror that is an error.
for compiler in cc clang; do
    command -v $compiler >/dev/null || continue
    for mode in -c -S -E -fsyntax-only -M -MM; do
        OSHCC=$compiler tree/bin/oshcc -Werror -Wall $mode 'a program.c' -o out >messages 2>&1 || fail "$compiler $mode: $(cat messages)"
        [ ! -s messages ] || [ $mode = -E ] || fail "$compiler $mode: $(cat messages)"
    done
done
tree/bin/oshcc --version | head -1 >ours && cc --version | head -1 >theirs && cmp ours theirs || fail "--version"
tree/bin/oshcc -dumpmachine >/dev/null || fail "-dumpmachine"
tree/bin/oshcc -v >messages 2>&1 || fail "-v without a file: $(cat messages)"
tree/bin/oshcc no-such-file.c 2>/dev/null && fail "no error"
exit 0
