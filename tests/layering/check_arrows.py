#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every #include arrow points down, and a prefix is an address.

usage: check_arrows.py ROOT                  the arrows of the tree below ROOT
       check_arrows.py ROOT --objects O...   the names that these object files define
       check_arrows.py --self-test           planted mistakes must be found

ROOMS is the house of the style guide: which folder may include which. The most specific folder counts.
"""
import os
import re
import subprocess
import sys
import tempfile

# What the standard C library of C17 has; all that a public header may ask for.
C_HEADERS = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg
stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype""".split())

# folder -> folders (and single files) it may include, besides itself. In C, "own" below a folder is the folder itself.
ROOMS = {
    "include": [],
    "runtime/base": ["include"],
    "runtime/bootstrap": ["runtime/base", "include"],
    "runtime/tools": ["runtime/base", "include"],
    "transports": ["runtime/base"],
    # mapped.h: atomics on mapped memory. The runtime does them itself, shm does them when asked, and both must do the same.
    "runtime": ["runtime/bootstrap", "runtime/base", "transports/transport.h", "transports/mapped.h", "include"],
    "device": ["runtime", "runtime/base", "transports/transport.h", "include"],
    "examples": ["include"],
    "tests/api": ["include"],
    "tests/faults": ["include", "tests/api"],
    "tests/stress": ["include", "tests/api"],
    "tests/transport": ["transports", "runtime/base", "tests/unit/unit.h"],
}
# Each folder below these is a room of its own: transports do not know one another.
SEPARATE = ["transports", "examples"]
SOURCE = re.compile(r"\.(c|h|def|cu|cuh|cc|cpp|hpp)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of(path):
    """The room a file belongs to: the longest folder of ROOMS that holds it, or one of its separate rooms."""
    folder = os.path.dirname(path)
    room = ""
    for name in ROOMS:
        if (folder + "/").startswith(name + "/") and len(name) > len(room):
            room = name
    if room in SEPARATE and folder != room:
        return room + "/" + folder[len(room) + 1:].split("/")[0]
    return room


def allowed(room, target):
    """May a file of room include the file target (path from the root)?"""
    target_room = room_of(target)
    if target_room == room:
        return True
    parent = room
    if room not in ROOMS:  # a separate room: the files that lie beside it in the parent, and what the parent may
        parent = os.path.dirname(room)
        if target_room == parent:
            return True
    return target_room in ROOMS[parent] or target in ROOMS[parent]


def resolve(root, path, quote, name):
    """Where an include leads inside the tree, or None for a header of the system or a vendor."""
    candidates = [name, "include/" + name]
    if quote == '"':
        candidates.insert(0, os.path.normpath(os.path.join(os.path.dirname(path), name)))
    for candidate in candidates:
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def sources(root):
    for top in ("include", "runtime", "transports", "device", "examples", "tests"):
        for folder, folders, files in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(files):
                if SOURCE.search(name):
                    yield os.path.relpath(os.path.join(folder, name), root)


def check_includes(root):
    problems, arrows = [], 0
    for path in sources(root):
        room = room_of(path)
        if not room:
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            lines = file.read().splitlines()
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            arrows += 1
            quote, name = match.groups()
            where = f"{path}:{number}"
            target = resolve(root, path, quote, name)
            if target is None:
                if quote == '"':
                    problems.append(f"{where}: \"{name}\" is not in the tree")
                elif room == "include" and name.removesuffix(".h") not in C_HEADERS:
                    problems.append(f"{where}: a public header may include C headers and its own room, not <{name}>")
            # A test may be a variant of another one in its folder.
            elif target.endswith(".c") and not (room.startswith("tests/") and room_of(target) == room):
                problems.append(f"{where}: includes a .c file, {target}")
            elif not allowed(room, target):
                problems.append(f"{where}: {room}/ may not include {target} (room {room_of(target) or 'none'})")
    return problems, arrows


def prefixes_of(path):
    """Beginnings of the global names that a file may define, or None where anything goes."""
    folder, stem = os.path.split(path)
    stem = stem[:-2]
    if folder == "runtime/bootstrap":
        return [f"shmemb_{stem}", f"shmemi_{stem}"]
    if folder == "transports":
        return [f"shmemt_{stem}", f"shmemi_{stem}"]
    if folder.startswith("transports/"):
        return ["shmemt_" + folder.split("/")[1]]
    if folder == "runtime/base":
        return [f"shmemi_{stem}"]
    if folder == "runtime/gpu":
        return ["shmemi_gpu", "shmemx_", "pshmemx_"]
    if folder in ("runtime", "runtime/coll"):
        return [f"shmemi_{stem}", "shmem_", "pshmem_", "shmemx_", "pshmemx_"] + SHARED.get(path, [])
    return None


# Names whose header has no .c of its own, and those of the standard that are older than its prefix, with their twins (annex "Deprecated API").
SHARED = {
    "runtime/init.c": ["shmemi_state", "start_pes", "pstart_pes"],
    "runtime/query.c": ["p_my_pe", "p_num_pes"],
    "runtime/heap.c": [p + name for p in ("", "p") for name in ("shmalloc", "shfree", "shrealloc", "shmemalign")],
}


def check_names(root, objects):
    problems, names = [], 0
    for obj in objects:
        match = re.search(r"CMakeFiles/[^/]*\.dir/(.*\.c)\.o$", obj)
        path = os.path.normpath(match.group(1)) if match else ""
        prefixes = prefixes_of(path)
        if prefixes is None:
            continue
        listing = subprocess.run(["nm", "-g", "--defined-only", "-P", obj], capture_output=True, text=True, check=True)
        for line in listing.stdout.splitlines():
            name = line.split()[0]
            if name.startswith("_"):  # the compiler's and the sanitizers'
                continue
            names += 1
            if not any(name == prefix or name.startswith(prefix if prefix.endswith("_") else prefix + "_")
                       for prefix in prefixes):
                problems.append(f"{path}: defines {name}; names shared from here begin with {prefixes[0]}_")
    return problems, names


def self_test():
    """One planted mistake per rule, in a copy of the house that is otherwise in order."""
    good = {
        "include/shmem.h": "#include <stddef.h>\n",
        "runtime/base/log.h": "#include <unistd.h>\n",
        "runtime/base/log.c": '#include "runtime/base/log.h"\n',
        "runtime/bootstrap/bootstrap.h": '#include "runtime/base/log.h"\n',
        "runtime/rma.c": '#include "runtime/rma.h"\n#include "transports/transport.h"\n#include <shmem.h>\n',
        "runtime/rma.h": '#include "runtime/bootstrap/bootstrap.h"\n',
        "runtime/tools/oshrun.c": '#include "runtime/base/log.h"\n',
        "transports/transport.h": "#include <stdint.h>\n",
        "transports/shm/shm.c": '#include "transports/transport.h"\n#include "runtime/base/log.h"\n',
        "transports/shm/shm.h": "\n",
        "transports/ibverbs/ibverbs.c": "#include <infiniband/verbs.h>\n",
        "examples/hello/hello.c": "#include <shmem.h>\n",
        "tests/api/api.h": "#include <shmem.h>\n",
        "tests/stress/sleep.c": '#include "tests/api/api.h"\n',
        "tests/stress/sleep_with_fencing.c": '#include "tests/stress/sleep.c"\n',
        "tests/unit/log_one_write.c": '#include "runtime/rma.h"\n',
    }
    planted = [
        ("include/shmem.h", '#include "runtime/base/log.h"'),
        ("include/shmem.h", "#include <unistd.h>"),
        ("runtime/base/log.c", '#include "runtime/rma.h"'),
        ("runtime/base/log.c", '#include "../rma.h"'),
        ("runtime/base/log.c", '  #  include "runtime/bootstrap/bootstrap.h"'),
        ("runtime/bootstrap/bootstrap.h", '#include "transports/transport.h"'),
        ("runtime/bootstrap/bootstrap.h", '#include "runtime/rma.h"'),
        ("runtime/tools/oshrun.c", '#include "runtime/rma.h"'),
        ("runtime/tools/oshrun.c", '#include "runtime/bootstrap/bootstrap.h"'),
        ("runtime/rma.c", '#include "transports/shm/shm.h"'),
        ("runtime/rma.c", '#include "runtime/base/log.c"'),
        ("runtime/rma.c", '#include "runtime/absent.h"'),
        ("transports/transport.h", '#include "runtime/rma.h"'),
        ("transports/shm/shm.c", '#include "runtime/bootstrap/bootstrap.h"'),
        ("transports/ibverbs/ibverbs.c", '#include "transports/shm/shm.h"'),
        ("examples/hello/hello.c", '#include "runtime/base/log.h"'),
        ("tests/api/api.h", '#include "runtime/rma.h"'),
        ("tests/stress/sleep.c", '#include "runtime/base/log.c"'),
        ("tests/api/api.h", '#include "tests/stress/sleep.c"'),
    ]
    failures = []
    with tempfile.TemporaryDirectory() as root:
        def write(path, text):
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)

        for path, text in good.items():
            write(path, text)
        if check_includes(root)[0]:
            failures.append(f"the tree in order is refused: {check_includes(root)[0]}")
        for path, line in planted:
            write(path, good[path] + line + "\n")
            problems = check_includes(root)[0]
            if len(problems) != 1 or not problems[0].startswith(f"{path}:{good[path].count(chr(10)) + 1}:"):
                failures.append(f"planted in {path}: {line}: found {problems}")
            write(path, good[path])

        for path, name, is_good in [("runtime/rma.c", "shmemi_rma_put", True), ("runtime/rma.c", "shmem_put", True),
                                    ("runtime/rma.c", "shmemi_amo_add", False), ("runtime/rma.c", "put", False),
                                    ("runtime/rma.c", "shmemi_rmaput", False),
                                    ("runtime/base/log.c", "shmem_put", False),
                                    ("transports/shm/shm.c", "shmemt_shm_ops", True),
                                    ("transports/shm/shm.c", "shmemt_ibverbs_ops", False)]:
            write(path, f"int {name}(void);\nint {name}(void) {{ return 0; }}\n")
            obj = os.path.join(root, "CMakeFiles/x.dir", ".", path + ".o")
            os.makedirs(os.path.dirname(obj), exist_ok=True)
            subprocess.run([os.environ.get("CC", "cc"), "-c", os.path.join(root, path), "-o", obj], check=True)
            if (check_names(root, [obj])[0] == []) != is_good:
                failures.append(f"{name} in {path}: found {check_names(root, [obj])[0]}")
            os.remove(obj)
    for failure in failures:
        print("self-test:", failure)
    print(f"{len(planted)} planted arrows, {len(failures)} self-test failures")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if not arguments or len(arguments) > 1 and arguments[1] != "--objects":
        print(__doc__, file=sys.stderr)
        return 2
    if len(arguments) > 1:
        problems, count = check_names(arguments[0], arguments[2:])
        what = "names"
    else:
        problems, count = check_includes(arguments[0])
        what = "arrows"
    for problem in problems:
        print(problem)
    print(f"{count} {what}, {len(problems)} wrong")
    # A check that looked at nothing has not passed.
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
