#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Usage: same_executable_same_identity.sh program... : each has its own identity, equal in every run.
seen=
for program in "$@"; do
    identity=$("$program") || exit 1
    again=$("$program") || exit 1
    echo "$identity ${program##*/}"
    [ "$identity" = "$again" ] || { echo "two runs of $program differ: $again"; exit 1; }
    case " $seen " in
        *" $identity "*) echo "$program has the identity of another executable"; exit 1 ;;
    esac
    seen="$seen $identity"
done
