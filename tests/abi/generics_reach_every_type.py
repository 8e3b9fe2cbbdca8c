# SPDX-License-Identifier: Apache-2.0
"""Each generic takes each type that its typed functions know, with and without a context, and gives the right result type.

The calls compile for ABIs of several widths, with warnings as errors: picking the function of another type would be an
incompatible pointer.  They run, too, with functions that say who was picked, and link with the library.

Spec: OpenSHMEM 1.6 §5 Language Bindings and Conformance
"""

import os
import re
import shutil
import subprocess
import tempfile

import abi

# Compiled, not linked: LP64 and ILP32, char signed and unsigned.  -ffreestanding: no libc headers of the target needed.
# There _Complex is an extension, so no -Wpedantic.
TARGETS = ["x86_64-linux-gnu", "aarch64-linux-gnu", "riscv64-linux-gnu", "i386-linux-gnu", "armv7-linux-gnueabihf", "x86_64-linux-gnux32"]

VALUES = {
    "nelems": "1", "pe": "0", "dst": "1", "sst": "1", "bsize": "1", "nblocks": "1", "signal": "1", "cmp": "SHMEM_CMP_EQ",
    "sig_op": "SHMEM_SIGNAL_ADD", "sig_addr": "&word", "status": "flags", "indices": "places", "ctx": "context",
    "team": "team", "nreduce": "1", "PE_root": "0", "PE_start": "0", "logPE_stride": "0", "PE_size": "1", "pSync": "longs",
    "ivar": "longs", "cmp_value": "1",
}
NOT_TYPES = ("ctx", "team", "signal")  # shmem_signal_add and so on have another thing in the place of the type's name


def types_of(operation, functions):
    """[(NAME, TYPE)]: the types for which shmem_NAME_operation is in the table."""
    found = []
    for row in functions:
        match = re.fullmatch(rf"shmem_([a-z0-9]+)_{operation}", row.symbol)
        if match and match[1] not in NOT_TYPES:
            pointed = re.search(r"(?:\(|, )(?:const )?([^,(]*?) \*", row.signature)
            found.append((match[1], pointed[1]))
    return found


def argument(text, name):
    """The C expression for one parameter of a generic, for the element type with this name."""
    word = re.search(r"(\w+)$", text)[1]
    if "TYPE" not in text:
        return VALUES[word]
    if "*" not in text:
        return f"value_{name}"
    return f"source_{name}" if "const" in text else f"dest_{name}"


def call(form, name):
    """(result, expression) for one form of a generic and one type; TYPE stands for the type."""
    result, symbol, inner = re.fullmatch(r"(.+?) ?(\bshmem_\w+)\((.*)\)", form).groups()
    return result, f"{symbol}({', '.join(argument(part, name) for part in inner.split(', '))})"


class Call:
    """One call of a generic: the expression, its result type, the function of this type, and a pattern for all functions
    that are right: int32_t may be int, and the functions of one type by two names are equal."""

    def __init__(self, form, name, ctype, function, picked=None):
        result, self.text = call(form, name)
        self.result, self.function, self.picked = result.replace("TYPE", ctype), function, picked or function

    def statement(self):
        """The call, with a check of the result's type."""
        return f"    {self.text};" if self.result == "void" else f"    KIND({self.text}, {self.result});"


def calls_of(row, functions):
    """The calls of one generic: each form for each type, and the function of the same name, if any, by that name."""
    operation = row.symbol[len("shmem_"):]
    forms = [form.strip() for form in row.signature.split(";") if form.strip()]
    twin = next((function.signature for function in functions if function.symbol == row.symbol), None)
    types = types_of(operation, functions)
    any_type = "|".join(name for name, _ in types)
    calls = []
    for form in forms:
        prefix = "shmem_ctx_" if "shmem_ctx_t" in form else "shmem_team_" if row.symbol == "shmem_sync" else "shmem_"
        if "TYPE" in form:  # the compiler compares the types, so any type's name will do
            calls += [Call(form, name, ctype, f"{prefix}{name}_{operation}", f"{prefix}({any_type})_{operation}") for name, ctype in types]
        else:
            calls.append(Call(form, "uint64", "uint64_t", prefix + operation))
    if twin and "TYPE" not in row.signature:  # shmem_signal_add, _set, shmem_sync: the macro calls the function, too
        calls.append(Call(twin, "uint64", "uint64_t", row.symbol))
    if twin:  # in parentheses the name is the function's, with shmem_wait_until as well
        plain = Call(twin, "uint64", "uint64_t", row.symbol)
        plain.text = plain.text.replace(row.symbol, f"({row.symbol})", 1)
        calls.append(plain)
    return calls


def program(calls, each="", last=""):
    """A source text with a function calls(), which makes the calls with the text each, a format, after each of them."""
    functions = abi.table("function")
    declared = {name: ctype for row in abi.table("generic") for name, ctype in types_of(row.symbol[len("shmem_"):], functions)}
    head = ["#include <shmem.h>", "shmem_ctx_t context = SHMEM_CTX_DEFAULT;", "shmem_team_t team = SHMEM_TEAM_WORLD;", "uint64_t word;",
            "int flags[1];", "size_t places[1];", "long longs[1];",
            "#define KIND(CALL, TYPE) (void)(CALL); _Static_assert(_Generic((CALL), TYPE: 1, default: 0), #CALL)"]
    for name, ctype in declared.items():
        head.append(f"{ctype} dest_{name}[1], value_{name}; const {ctype} source_{name}[1] = {{0}};")
    body = ["void calls(void);", "void calls(void)", "{"]
    for number, one in enumerate(calls):
        body.append(one.statement() + (each % number if each else ""))
    return "\n".join([*head, last, *body, "}", ""])


def recorder(row):
    """A definition of row's function that writes its name down and returns zero."""
    declaration = row.signature.replace(row.symbol + "(", f"({row.symbol})(", 1)
    result = re.match(r"(.*?)\(", declaration)[1].strip()
    return f'{declaration} {{ picked = "{row.symbol}"; {"" if result == "void" else "return 0;"} }}'


def check_who_is_picked(report, args, compiler, standard, calls):
    """Run the calls with functions that write down their names, and compare each with the pattern of its call."""
    functions = [row for row in abi.table("function") if row.symbol not in ("shmem_global_exit", "shmem_pcontrol")]
    recorders = "\n".join(["#include <stdio.h>", "static const char *picked;", *map(recorder, functions)])
    text = program(calls, ' printf("%d %%s\\n", picked); picked = "nothing";', recorders)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program")
        command = [compiler, f"-std={standard}", *abi.WARNINGS, "-Wno-unused-parameter", "-I", args.include]
        status, said = abi.compile_text(command, text + "int main(void) { calls(); return 0; }\n", path)
        report.check(status == 0, f"the recording program with {compiler} -std={standard}:\n{abi.first_lines(said)}")
        said = subprocess.run([path], capture_output=True, text=True, check=False).stdout if status == 0 else ""
    picked = dict(line.split() for line in said.splitlines())
    for number, one in enumerate(calls):
        name = picked.get(str(number), "nothing")
        report.check(re.fullmatch(one.picked, name), f"{compiler} -std={standard}: {one.text} calls {name}, not {one.picked}")


def main():
    args = abi.arguments()
    report = abi.Report()
    functions = abi.table("function")
    generics = abi.table("generic")
    calls = []
    for row in generics:
        found = calls_of(row, functions)
        report.check(found, f"no type found for {row.symbol}")
        calls += found
    text = program(calls)
    for compiler in abi.compilers("c"):
        for standard in ("c11", "c17"):
            check_who_is_picked(report, args, compiler, standard, calls)
    if shutil.which("clang"):
        for target in TARGETS:
            command = ["clang", f"--target={target}", "-ffreestanding", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", args.include]
            status, said = abi.compile_text(command, text)
            report.check(status == 0, f"for {target}:\n{abi.first_lines(said)}")
    if args.lib:
        there = {row.symbol for row in abi.linkable(args, functions)}
        text = program([one for one in calls if one.function in there])
    for library in filter(None, (args.lib, args.static_lib)):
        status, said = abi.link_text(args, text + "int main(void) { calls(); return 0; }\n", library)
        report.check(status == 0, f"with {library}:\n{abi.first_lines(said)}")
    print(f"each compilation has {len(calls)} calls of {len(generics)} generics")
    report.finish("checks")


main()
