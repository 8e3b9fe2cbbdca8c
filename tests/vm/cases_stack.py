# SPDX-License-Identifier: Apache-2.0
#
# The ground that the other suites stand on: the device, and other people's programs over it. Where these fail, the fault is not in our library.
import re
import time

from machines import Skipped, find


def on_device(program):
    """Begin of a command: the program, with the options that name device and GID."""
    option = "-x" if program.startswith("ib_") else "-g"  # perftest's, and those of ibverbs-utils
    return ["sh", "-c", f'program=$1 && shift && exec "$program" -d rxe0 {option} $VM_GID_INDEX "$@"', "sh", program]


def need_program(name, package):
    if not find(name):
        raise Skipped(f"there is no {name} (Debian: apt install {package})")


def device_is_active(machines):
    need_program("ibv_devinfo", "ibverbs-utils")
    for node in range(machines.count):
        job = machines.run(node, ["ibv_devinfo", "-v", "-d", "rxe0"])
        job.need_status(0)
        job.need_output(r"state:\s+PORT_ACTIVE")
        job.need_output(r"active_mtu:\s+4096")
        job.need_output(r"atomic_cap:\s+ATOMIC_HCA")
        job.need_output(r"GID\[ *\d+\]:.*RoCE v2")


def pair(machines, program, arguments=()):
    """A program of two sides, server first; both must end well. The client's Job."""
    far = machines.count - 1
    server = machines.start(far, [*on_device(program), *arguments])
    # It does not say when it listens; the client gives up at once where it does not.
    limit = time.monotonic() + 20
    while True:
        client = machines.run(0, [*on_device(program), *arguments, f"n{far + 1}"])
        if not re.search(r"[Cc]onnection refused|Couldn't connect", client.output) or time.monotonic() > limit:
            break
        time.sleep(0.2)
    client.need_status(0)
    machines.finish(server).need_status(0)
    machines.need_no_kernel_fault(client)
    return client


def messages(machines):
    need_program("ibv_rc_pingpong", "ibverbs-utils")
    pair(machines, "ibv_rc_pingpong", ["-n", "100"]).need_output(r"100 iters in")


def datagrams(machines):
    need_program("ibv_ud_pingpong", "ibverbs-utils")
    pair(machines, "ibv_ud_pingpong", ["-n", "100", "-s", "1024"]).need_output(r"100 iters in")


def shared_receives(machines):
    need_program("ibv_srq_pingpong", "ibverbs-utils")
    pair(machines, "ibv_srq_pingpong", ["-n", "100", "-q", "4"]).need_output(r"100 iters in")


def writes(machines):
    need_program("ib_write_lat", "perftest")
    pair(machines, "ib_write_lat", ["-n", "100", "-s", "8"]).need_output(r"^ 8 ")


def atomics(machines):
    need_program("ib_atomic_lat", "perftest")
    pair(machines, "ib_atomic_lat", ["-n", "100"]).need_output(r"^ 8 ")


def make_cases(_):
    rows = [("device_is_active.1", 1, device_is_active)]
    for function in (messages, datagrams, shared_receives, writes, atomics):
        rows.append((f"{function.__name__}.1", 1, function))
    rows.append(("device_is_active.2", 2, device_is_active))
    for function in (messages, writes):
        rows.append((f"{function.__name__}.2", 2, function))
    return rows
