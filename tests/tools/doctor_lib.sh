# SPDX-License-Identifier: Apache-2.0
#
# For the tests of postern-doctor, which source it. A file of doctor_trees is a machine, a line for each line of a file of it:
#
#   sys/class/net/lo/mtu: 65536        (the same path again: the next line of that file)
#   sys/class/net/ens1 -> ../../devices/...    a symbolic link
trees=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/doctor_trees # before lib.sh goes elsewhere
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
doctor=${POSTERN_BIN:?folder of the tools}/postern-doctor

# Make the machine $1 in the folder $work/root. A machine that is there already gets back what was changed.
machine() {
    local path
    if [ "${made-}" = "$1" ]; then
        for path in "${changed[@]}"; do
            rm -rf "${work:?}/root/$path"
            [ ! -e "$work/$1/$path" ] && [ ! -L "$work/$1/$path" ] || cp -a "$work/$1/$path" "$work/root/$path"
        done
    else
        rm -rf "$work/root"
        read_machine "$1" || fail "there is no machine $1"
        cp -a "$work/$1" "$work/root"
        made=$1
    fi
    changed=()
}
# Changes of one file (or folder, or link) of the machine: set its only line, edit it by sed, remove it, make it.
set_file() {
    [ -e "$work/root/$1" ] || fail "the machine has no $1"
    make_file "$1" "$2"
}
edit_file() {
    changed+=("$1")
    sed -i "$2" "$work/root/$1" || fail "cannot edit $1"
}
remove() {
    changed+=("$1")
    rm -r "$work/root/$1" || fail "cannot remove $1"
}
make_file() {
    changed+=("$1")
    mkdir -p "$(dirname "$work/root/$1")"
    printf '%s\n' "$2" >"$work/root/$1"
}
read_machine() {
    python3 - "$trees/$1.txt" "$work/$1" <<'PYTHON'
import os
import sys

files, links = {}, {}
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        if " -> " in line:
            path, target = line.split(" -> ")
            links[path] = target
        else:
            path, _, text = (line + " ").partition(": ")
            files.setdefault(path, []).append(text[:-1] + "\n")
root = sys.argv[2]
for path in list(files) + list(links):
    os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
for path, text in files.items():
    with open(os.path.join(root, path), "w", encoding="utf-8") as file:
        file.write("".join(text))
for path, target in links.items():
    os.symlink(target, os.path.join(root, path))
PYTHON
}
# Look at the machine; then the findings are in the file out.
examine() { run "$doctor" --root "$work/root" "$@"; }

# finding STATE CHECK [OBJECT]: there is one, and only one, and it has that state.
finding() {
    local object=${3:+$3: }
    count 1 "^(ok|degraded|missing) +$2 +$object" out
    count 1 "^$1 +$2 +$object" out
}
# detail CHECK REGEX: one of the three lines of that finding has this.
detail() {
    awk -v check="$1" '/^(ok|degraded|missing) / { in_it = $2 == check } in_it' "$work/out" | grep -qE -- "$2" || fail "$1 does not say: $2"
}

