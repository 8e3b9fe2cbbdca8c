# SPDX-License-Identifier: Apache-2.0
#
# What the cases of tests/vm are written with: one or two emulated machines ("guests") with the kernel's own RDMA stack and a Soft-RoCE device rxe0,
# jobs on them, by oshrun or mpirun, and the deaths of PEs and guests.
#
# QEMU emulates, without KVM and without root. A guest is called n1 or n2, and sees this machine's files as they are, so that what was built here runs
# there. It is told what to do over a virtio port (see guest_init). QEMU's files are all in a folder below build/vm, which goes with the guests; the
# kernel ends a QEMU whose parent has died.
#
# Times mean nothing in themselves: an emulated processor is 10 to 50 times slower than this one.
import os
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "cluster"))  # files of the same name are ours

import kernel  # noqa: E402
from cluster import CHECKOUT, HANG_S, Failed, Job, Skipped, clean_environment  # noqa: E402

RSH = os.path.join(HERE, "rsh")

MEMORY_MIB = 1024
MTU = 9000  # of the guests' Ethernet; RoCE's is the next power of two below, 4096

# What the guests' kernel is told: a console for its messages, no time lost by checks for real processors, an end instead of a hang after a fault.
COMMAND_LINE = "console=ttyS0 loglevel=5 panic=-1 oops=panic reboot=t mitigations=off nokaslr audit=0 nowatchdog tsc=reliable no_timer_check"
COMMAND_LINE += " rcupdate.rcu_cpu_stall_suppress=1 cryptomgr.notests"

# In the kernel's messages, each of these is a fault: ours or its own.
KERNEL_FAULT = re.compile(r"BUG:|WARNING:|Oops|Kernel panic|general protection|hung task|Call Trace", re.MULTILINE)

PACKAGES = [("qemu-system-x86_64", "qemu-system-x86"), ("busybox", "busybox-static"), ("rdma", "iproute2"), ("setpriv", "util-linux")]


def find(program):
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def reason_against():
    """Why this machine cannot have guests; None where it can."""
    if os.uname().machine != "x86_64":
        return f"the guests are x86-64 and run this machine's programs, which are {os.uname().machine}"
    missing = [package for program, package in PACKAGES if not find(program)]
    if missing:
        return f"guests need packages that are not installed (Debian: apt install {' '.join(missing)})"
    if subprocess.run(["ldd", find("busybox")], capture_output=True).returncode == 0:
        return "the guests begin with busybox alone, and this one needs libraries (Debian: apt install busybox-static)"
    with open("/proc/meminfo") as file:
        available_mib = int(re.search(r"MemAvailable: +(\d+)", file.read())[1]) // 1024
    if available_mib < 2 * MEMORY_MIB + 512:
        return f"two guests need {2 * MEMORY_MIB + 512} MiB of memory, and {available_mib} MiB are available"
    return None


def clear_old_runs():
    """Folders of runs that were killed: nobody else takes them away."""
    for name in os.listdir(kernel.FOLDER) if os.path.isdir(kernel.FOLDER) else []:
        match = re.fullmatch(r"run\.(\d+)", name)
        if match and not os.path.exists(f"/proc/{match[1]}"):
            shutil.rmtree(os.path.join(kernel.FOLDER, name), ignore_errors=True)


class Image:
    """The files that guests boot from, for one run of the tests."""

    def __init__(self):
        reason = reason_against()
        if reason:
            raise Skipped(reason)
        clear_old_runs()
        self.kernel = kernel.fetch()
        self.folder = os.path.join(kernel.FOLDER, f"run.{os.getpid()}")
        os.makedirs(self.folder)
        self.initramfs = os.path.join(self.folder, "initramfs")
        with open(self.initramfs, "wb") as file:
            file.write(kernel.initramfs(self.kernel, find("busybox")))
        self.count = 0

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_folder(self):
        self.count += 1
        path = os.path.join(self.folder, str(self.count))
        os.mkdir(path)
        return path


class Guest:
    """One QEMU, and the line to the first program in it."""

    def __init__(self, image, node, processors, wire):
        self.node, self.folder = node, image.new_folder()
        self.name = f"n{node + 1}"
        self.console = os.path.join(self.folder, "console")
        self.line, theirs = socket.socketpair()
        self.heard = b""
        self.gid_index = None
        self.finished = {}  # status of each job that has ended
        escaped = self.folder.replace(",", ",,")
        command = ["setpriv", "--pdeathsig", "KILL", find("qemu-system-x86_64"), "-name", f"postern-{self.name}", "-nodefaults", "-no-user-config"]
        command += ["-display", "none", "-no-reboot", "-machine", "pc,usb=off,vmport=off", "-accel", "tcg,thread=multi", "-cpu", "max"]
        command += ["-smp", str(processors), "-m", str(MEMORY_MIB)]
        command += ["-kernel", os.path.join(image.kernel, "vmlinux"), "-initrd", image.initramfs, "-append", COMMAND_LINE]
        command += ["-serial", f"file:{escaped}/console"]
        command += ["-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap", "-device", "virtio-9p-pci,fsdev=host,mount_tag=host"]
        command += ["-fsdev", f"local,id=job,path={escaped},security_model=none", "-device", "virtio-9p-pci,fsdev=job,mount_tag=job"]
        command += ["-device", "virtio-serial-pci", "-chardev", f"socket,id=line,fd={theirs.fileno()}", "-device", "virtserialport,chardev=line"]
        if wire:
            command += ["-netdev", f"stream,id=net,server=off,addr.type=fd,addr.str={wire.fileno()}"]
        else:
            command += ["-netdev", "hubport,id=net,hubid=0"]  # nobody else is there
        command += ["-device", "virtio-net-pci,netdev=net,romfile="]
        with open(os.path.join(self.folder, "qemu.log"), "w") as log:
            passed = [theirs.fileno()] + ([wire.fileno()] if wire else [])
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=passed)
        theirs.close()

    def tell(self, text):
        try:
            self.line.sendall(f"{text}\n".encode())
        except OSError:
            raise Failed(f"{self.name} has gone\n{self.last_words()}") from None

    def listen(self, seconds):
        """Take in what it says within that time, at most one piece of it. False at the end of it."""
        if not select.select([self.line], [], [], max(0, seconds))[0]:
            return True
        try:
            data = self.line.recv(4096)
        except OSError:
            data = b""
        self.heard += data
        *lines, self.heard = self.heard.split(b"\n")
        for line in lines:
            self.hear(line.decode(errors="replace").split())
        return bool(data)

    def hear(self, words):
        match words:
            case ["up"]:
                self.up = True
            case ["ready", index]:
                self.gid_index = int(index)
            case ["done", job, status]:
                self.finished[job] = int(status)
            case ["failed", *reason]:
                raise Failed(f"{self.name} cannot go on: {' '.join(reason)}\n{self.last_words()}")

    def wait(self, holds, seconds, what):
        limit = time.monotonic() + seconds
        while not holds():
            if not self.listen(min(1, limit - time.monotonic())) or self.process.poll() is not None:
                raise Failed(f"{self.name} has ended: {what}\n{self.last_words()}")
            if time.monotonic() > limit:
                raise Failed(f"{self.name} is not {what} after {seconds} s\n{self.last_words()}")

    up = False

    def last_words(self):
        words = ""
        for name in ("qemu.log", "console"):
            try:
                with open(os.path.join(self.folder, name), errors="replace") as file:
                    words += "".join(f"{name}: {line}" for line in file.readlines()[-20:])
            except OSError:
                pass
        return words

    def kernel_fault(self):
        """What its kernel has complained about, or None."""
        with open(self.console, errors="replace") as file:
            text = file.read()
        match = KERNEL_FAULT.search(text)
        return text[max(0, match.start() - 200) : match.start() + 3000] if match else None

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.line.close()


class Started:
    """A job that runs in a guest."""

    def __init__(self, guest, name, argv):
        self.guest, self.name, self.argv, self.begin = guest, name, argv, time.monotonic()

    def output(self):
        try:
            with open(os.path.join(self.guest.folder, f"{self.name}.out"), errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def ended(self):
        return self.name in self.guest.finished


class Machines:
    """One guest, or two with a wire between them. `with Machines(image, build, 2) as machines:` takes them down at the end."""

    def __init__(self, image, build, count):
        self.image, self.build, self.count = image, build, count
        self.guests, self.jobs = [], 0
        self.used_up = False  # a case sets it when a guest is dead or something in it hangs
        self.environment = {}  # of all jobs; a case may want others

    def __enter__(self):
        try:
            self.start_guests()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_guests(self):
        begin = time.monotonic()
        wires = socket.socketpair() if self.count == 2 else (None, None)
        # As many processors in all as most machines have cores; more would not be emulated any quicker.
        processors = 2 if self.count == 1 else 1
        self.guests = [Guest(self.image, node, processors, wires[node]) for node in range(self.count)]
        for wire in wires:
            if wire:
                wire.close()
        for guest in self.guests:
            guest.wait(lambda guest=guest: guest.up, HANG_S, "up")
            guest.tell(f"node {guest.node} {self.count} {int(time.time())} {MTU}")
            # The guests have a /tmp of their own.
            for folder in {CHECKOUT, self.build}:
                if folder.startswith("/tmp/"):
                    guest.tell(f"folder {folder}")
            guest.tell("start")
        for guest in self.guests:
            guest.wait(lambda guest=guest: guest.gid_index is not None, HANG_S, "ready")
        if self.count == 2:
            # mpirun's way into the other guest: see rsh.
            self.start(1, [find("busybox"), "nc", "-ll", "-p", "514", "-e", "/bin/sh"])
        self.boot_s = time.monotonic() - begin

    def __exit__(self, *unused):
        for guest in self.guests:
            guest.kill()
            shutil.rmtree(guest.folder, ignore_errors=True)
        self.guests = []

    # ---- what runs where ----

    def start(self, node, argv, environment=None):
        """Run it in a guest, with our environment and `environment`, in this folder; a Started."""
        self.jobs += 1
        guest, name = self.guests[node], f"job{self.jobs}"
        values = {**clean_environment(), "HOME": "/tmp", "TMPDIR": "/tmp", "OMPI_MCA_plm_rsh_agent": RSH, **self.environment, **(environment or {})}
        values["VM_GID_INDEX"] = str(guest.gid_index)
        with open(os.path.join(guest.folder, f"{name}.sh"), "w") as file:
            for key, value in values.items():
                if re.fullmatch(r"\w+", key):
                    file.write(f"export {key}={shlex.quote(value)}\n")
            file.write(f"cd {shlex.quote(CHECKOUT)}\nexec {shlex.join(argv)}\n")
        started = Started(guest, name, argv)
        guest.tell(f"run {name}")
        return started

    def listen(self, seconds):
        for guest in self.guests:
            if guest.process.poll() is None:
                guest.listen(seconds / len(self.guests))

    def finish(self, started, timeout=HANG_S):
        """Wait for its end: a Job. What hangs is left to die with its guest."""
        limit = started.begin + timeout
        while not started.ended() and time.monotonic() < limit and started.guest.process.poll() is None:
            started.guest.listen(min(1, limit - time.monotonic()))
        seconds, output = time.monotonic() - started.begin, started.output()
        status = started.guest.finished.get(started.name, 124)
        if not started.ended():
            self.used_up = True
            if started.guest.process.poll() is not None:
                output += f"\nthe guest has ended\n{started.guest.last_words()}"
            else:
                output += f"\nhung; these processes were there:\n{self.processes(started.guest.node)}"
        return Job(started.argv, status, output, seconds)

    def run(self, node, argv, environment=None, timeout=HANG_S):
        return self.finish(self.start(node, argv, environment), timeout)

    def processes(self, node):
        try:
            started = self.start(node, [find("busybox"), "ps", "-o", "pid,ppid,stat,args"])
            limit = time.monotonic() + 20
            while not started.ended() and time.monotonic() < limit:
                started.guest.listen(1)
            return "\n".join(line for line in started.output().splitlines() if "[" not in line)
        except Failed as reason:
            return str(reason)

    def wait_output(self, started, regex, timeout=HANG_S):
        """Until it has said that."""
        limit = time.monotonic() + timeout
        while not re.search(regex, started.output(), re.MULTILINE):
            if started.ended() or time.monotonic() > limit:
                self.finish(started, timeout=0).need(False, f"it has not said: {regex}")
            self.listen(0.1)

    # ---- jobs ----

    def oshrun_command(self, argv, pes):
        return [os.path.join(self.build, "bin/oshrun"), "-n", str(pes), *argv]

    def mpirun_command(self, argv, per_node, environment, cyclic=False):
        hosts = ",".join(f"n{node + 1}:{per_node}" for node in range(self.count))
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "--host", hosts, "-np", str(self.count * per_node)]
        # mpirun looks for networks by itself, among them ours, and for a processor's secrets that are not emulated.
        command += ["--mca", "btl", "self", "--mca", "oob_tcp_if_include", "eth0"]
        if cyclic:
            command += ["--map-by", "node"]
        for name in {**self.environment, **(environment or {})}:
            command += ["-x", name]
        return command + argv

    def job_command(self, argv, per_node, environment, cyclic=False):
        """`per_node` PEs on each guest; where there is only one guest, its PEs are on two nodes by name."""
        if self.count == 1:
            return self.oshrun_command(argv, 2 * per_node)
        if not shutil.which("mpirun"):
            raise Skipped("there is no mpirun (Debian: apt install openmpi-bin)")
        return self.mpirun_command(argv, per_node, environment, cyclic)

    def job_environment(self, per_node, environment=None, cyclic=False):
        values = {"POSTERN_TRANSPORTS": "shm,ibverbs", **(environment or {})}
        if self.count == 1 and "POSTERN_NODE" not in values:
            values["POSTERN_NODE"] = "a,b" if cyclic else ",".join(f"{name}:{per_node}" for name in "ab")
        return values

    def start_job(self, argv, per_node, environment=None, cyclic=False):
        environment = self.job_environment(per_node, environment, cyclic)
        return self.start(0, self.job_command(argv, per_node, environment, cyclic), environment)

    def job(self, argv, per_node, environment=None, cyclic=False, timeout=HANG_S):
        """Run a job of `per_node` PEs on each of two nodes to its end."""
        job = self.finish(self.start_job(argv, per_node, environment, cyclic), timeout)
        self.need_no_kernel_fault(job)
        return job

    def need_no_kernel_fault(self, job):
        for guest in self.guests:
            fault = guest.kernel_fault()
            if fault:
                self.used_up = True
                raise Failed(f"the kernel of {guest.name} complains:\n{fault}\n{job.text()}")

    # ---- deaths ----

    def kill_guest(self, node):
        """As by pulling its plug: nobody says good-bye."""
        self.used_up = True
        guest = self.guests[node]
        guest.process.send_signal(signal.SIGKILL)
        guest.process.wait()

    def pids(self, node, program):
        """Of all that run this program in a guest."""
        job = self.run(node, [find("busybox"), "pidof", os.path.basename(program)])
        return [int(word) for word in job.output.split()]

    def kill(self, node, pid):
        self.run(node, ["/bin/kill", "-KILL", str(pid)]).need_status(0)
