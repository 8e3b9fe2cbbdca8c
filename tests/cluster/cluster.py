# SPDX-License-Identifier: Apache-2.0
#
# What the cases of tests/cluster are written with: a cluster of pretend hosts (see `nodes`), jobs on it under each engine, and
# a look at what a job has left behind.
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
CHECKOUT = os.path.dirname(os.path.dirname(HERE))
NODES = os.path.join(HERE, "nodes")
SLURM = os.path.join(HERE, "slurm.sh")

# How long anything may take before it counts as hung: for a loaded machine, never a measure of speed.
HANG_S = 120

# What Open MPI and `nodes` leave of a job whose PEs have all ended, when mpirun locks itself up (in PMIx_server_finalize, after a death inside a fence).
LAUNCHER_PROGRAMS = {"", "mpirun", "orterun", "orted", "bash", "sh", "dash", "nsenter", "unshare"}


class Failed(Exception):
    """The case has failed; the text says how."""


class Skipped(Exception):
    """This machine cannot run the case; the text says why."""


def clean_environment():
    """Ours, without what a caller may have set for other jobs, and with what Open MPI wants from root."""
    foreign = ("SHMEM_", "SMA_", "POSTERN_", "OMPI_", "PMIX_", "PRTE_", "SLURM_", "FI_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    environment.update(
        LC_ALL="C.UTF-8",
        PATH=environment.get("PATH", "") + ":/usr/sbin:/sbin",
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        PRTE_ALLOW_RUN_AS_ROOT="1",
        PRTE_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_plm_rsh_agent=f"{NODES} rsh",
        PRTE_MCA_plm_ssh_agent=f"{NODES} rsh",
    )
    return environment


class Job:
    """A finished job: its status (124: it hung), all it has said, how long it took."""

    def __init__(self, command, status, output, seconds):
        self.command, self.status, self.output, self.seconds = command, status, output, seconds
        self.launcher_alone = False  # it hung, and nobody else was left

    def text(self):
        lines = self.output.splitlines()
        if len(lines) > 60:
            lines = lines[:30] + [f"... {len(lines) - 60} lines ..."] + lines[-30:]
        return "\n".join([f"+ {' '.join(self.command)}", *lines, f"status {self.status} after {self.seconds:.1f} s"])

    def need(self, holds, what):
        if not holds:
            raise Failed(f"{what}\n{self.text()}")

    def need_status(self, wanted):
        """A number, a list such as "1|7", or "fail": any failure but a hang, a segmentation fault and `skipped`."""
        if str(wanted) == "fail":
            self.need(self.status not in (0, 77, 124, 139), "the status is not that of a failure")
        else:
            self.need(str(self.status) in str(wanted).split("|"), f"the status is not {wanted}")

    def need_output(self, regex):
        self.need(re.search(regex, self.output, re.MULTILINE), f"the output lacks: {regex}")

    def need_no_output(self, regex):
        self.need(not re.search(regex, self.output, re.MULTILINE), f"the output must not contain: {regex}")


class Engine:
    """How a job is started. `command` is what runs on the head."""

    def __init__(self, name, program, packages):
        self.name, self.program, self.packages = name, program, packages

    def missing(self):
        if self.program and not shutil.which(self.program):
            return f"there is no {self.program} ({self.packages})"
        return None

    def command(self, cluster, argv, nodes, per_node, environment, cyclic):
        raise NotImplementedError


class Mpirun(Engine):
    def command(self, cluster, argv, nodes, per_node, environment, cyclic):
        command = [self.program, "--oversubscribe", "--bind-to", "none", "--host", cluster.hosts(nodes, per_node), "-np", str(nodes * per_node)]
        if cyclic:
            command += ["--map-by", "node"]
        for name in environment:
            command += ["-x", name]
        return command + argv


class Prterun(Engine):
    def command(self, cluster, argv, nodes, per_node, environment, cyclic):
        prefix = os.path.dirname(os.path.dirname(os.path.abspath(shutil.which(self.program))))
        command = [self.program, "--prefix", prefix, "--map-by", ("node" if cyclic else "slot") + ":OVERSUBSCRIBE", "--bind-to", "none"]
        command += ["--host", cluster.hosts(nodes, per_node), "-np", str(nodes * per_node)]
        for name in environment:
            command += ["-x", name]
        return command + argv


class Srun(Engine):
    def missing(self):
        if not hasattr(self, "reason"):
            check = subprocess.run([SLURM, "check"], capture_output=True, text=True, env=clean_environment())
            self.reason = check.stdout.strip().removeprefix("skipped: ") if check.returncode == 77 else None
        return self.reason

    def command(self, cluster, argv, nodes, per_node, environment, cyclic):
        names = ",".join(f"n{i + 1}" for i in range(nodes))
        # A step of the allocation that holds all nodes: that starts in less time than a job of its own.
        command = ["env", f"SLURM_CONF={cluster.slurm_conf()}", "srun", f"--jobid={cluster.allocation}", "--overlap", "--quiet", "--mpi=pmix"]
        command += [f"--nodelist={names}", f"--nodes={nodes}", f"--ntasks={nodes * per_node}", f"--ntasks-per-node={per_node}", "--kill-on-bad-exit=1"]
        return command + [f"--distribution={'cyclic' if cyclic else 'block'}"] + argv


class Oshrun(Engine):
    """Our own oshrun, which hands over to the first of the others that it finds."""

    def command(self, cluster, argv, nodes, per_node, environment, cyclic):
        return [os.path.join(cluster.build, "bin/oshrun"), "--hosts", cluster.hosts(nodes, per_node), "-n", str(nodes * per_node)] + argv


ENGINES = {
    "mpirun": Mpirun("mpirun", "mpirun", "Debian: apt install openmpi-bin"),
    "slurm": Srun("slurm", None, ""),
    # Not one in PATH, if told so: our oshrun would take it too, and a wheel's prterun needs to be told where it lies.
    "prterun": Prterun("prterun", os.environ.get("CLUSTER_PRTERUN", "prterun"), "the Python package openmpi 5 brings it"),
    "oshrun": Oshrun("oshrun", None, ""),
}


class Cluster:
    """Some nodes, and Slurm on them once a job wants it. `with Cluster(...) as cluster:` takes all of it down at the end."""

    def __init__(self, build, count=3, options=()):
        self.build, self.count, self.options = build, count, list(options)
        launcher = shutil.which(ENGINES["prterun"].program)
        launchers = [os.path.dirname(os.path.dirname(os.path.abspath(launcher)))] if launcher else []
        self.binds = [folder for folder in [build, *launchers] if os.path.realpath(folder).startswith("/tmp/")]
        self.environment = clean_environment()
        self.guard = None
        self.slurm = None
        self.used_up = False  # a case sets it when a node is dead

    def __enter__(self):
        command = [NODES, "up", str(self.count), "--owner", str(os.getpid()), *self.options]
        for folder in self.binds:
            command += ["--bind", folder]
        up = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=self.environment, timeout=HANG_S)
        if up.returncode == 77:
            raise Skipped(up.stdout.strip().removeprefix("skipped: "))
        if up.returncode != 0:
            raise Failed(f"the nodes do not come up: {up.stdout}{up.stderr}")
        self.guard = up.stdout.strip()
        self.environment["NODES"] = self.guard
        self.proc = f"/proc/{self.guard}/root/proc"  # as the head sees it: the processes of the cluster and no others
        self.at_rest = self.processes()
        return self

    def __exit__(self, *unused):
        self.stop_slurm()
        if self.guard:
            subprocess.run([NODES, "down"], env=self.environment, stdin=subprocess.DEVNULL, timeout=HANG_S)

    # ---- what runs where ----

    def nodes(self, *arguments):
        """One command of `nodes`, which must succeed; its output."""
        done = subprocess.run([NODES, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=self.environment, timeout=HANG_S)
        if done.returncode != 0:
            raise Failed(f"nodes {' '.join(arguments)}: status {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def hosts(self, nodes, per_node):
        return ",".join(f"n{i + 1}:{per_node}" for i in range(nodes))

    def start(self, node, argv, environment=None, **keywords):
        keywords.setdefault("stdout", subprocess.PIPE)
        keywords.setdefault("stderr", subprocess.STDOUT)
        keywords.setdefault("stdin", subprocess.DEVNULL)
        # Its own process group, so that a hung launcher can be ended with all that it has here.
        return subprocess.Popen(
            [NODES, "exec", node, *argv],
            env={**self.environment, **(environment or {})},
            text=True,
            errors="replace",
            start_new_session=True,
            **keywords,
        )

    def finish(self, process, argv, begin, timeout=HANG_S):
        """Wait for the end of what start() has started: a Job. What hangs is killed with everything that is not the cluster's own."""
        try:
            output, _ = process.communicate(timeout=timeout)
            status = process.returncode
            if status < 0:
                status = 128 - status
        except subprocess.TimeoutExpired:
            left = self.processes() - self.at_rest
            seen = self.describe(left)
            alone = all(program in LAUNCHER_PROGRAMS or program.startswith("python") for program in map(self.program, left))
            process.send_signal(signal.SIGTERM)
            self.end_everything()
            try:
                output, _ = process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
            output += f"\nhung; these processes were there:\n{seen}\n"
            status = 124
        job = Job(argv, status, output, time.monotonic() - begin)
        job.launcher_alone = status == 124 and alone
        return job

    def run(self, node, argv, environment=None, timeout=HANG_S):
        begin = time.monotonic()
        return self.finish(self.start(node, argv, environment), argv, begin, timeout)

    def job_command(self, engine, argv, nodes, per_node, environment=None, cyclic=False):
        missing = ENGINES[engine].missing()
        if missing:
            raise Skipped(missing)
        return ENGINES[engine].command(self, argv, nodes, per_node, environment or {}, cyclic)

    def job(self, engine, argv, nodes, per_node, environment=None, cyclic=False, timeout=HANG_S):
        """Run a job to its end on n1, n2, ..., and see that nothing is left."""
        job = self.run("head", self.job_command(engine, argv, nodes, per_node, environment, cyclic), environment, timeout)
        self.need_rest(job)
        return job

    # ---- what is left ----

    def processes(self):
        """Pids, as the head counts them; a zombie has ended, only its parent has not looked yet."""
        found = set()
        for name in os.listdir(self.proc):
            if not name.isdigit():
                continue
            try:
                with open(f"{self.proc}/{name}/stat") as file:
                    state = file.read().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if state not in "ZX":
                found.add(int(name))
        return found

    def program(self, pid):
        """Base name of what runs as pid; empty where it has gone."""
        try:
            return os.path.basename(os.readlink(f"{self.proc}/{pid}/exe")).removesuffix(" (deleted)")
        except OSError:
            return ""

    def command_line(self, pid):
        """Words of the command that runs as pid; [""] where it has gone."""
        try:
            with open(f"{self.proc}/{pid}/cmdline", "rb") as file:
                return file.read().decode(errors="replace").split("\0")
        except OSError:
            return [""]

    def describe(self, pids):
        lines = {pid: " ".join(self.command_line(pid)) for pid in sorted(pids)}
        return "\n".join(f"    {pid} {line[:200]}" for pid, line in lines.items() if line)

    def node_pid(self, node):
        with open(f"/proc/{self.guard}/root/media/postern/{node}") as file:
            return int(file.read())

    def traces(self):
        """Files in the nodes' /dev/shm and abstract sockets of their networks."""
        found = set()
        for number in range(self.count):
            node = f"n{number + 1}"
            root = f"{self.proc}/{self.node_pid(node)}"
            if not os.path.exists(f"{root}/root/dev"):
                continue  # a dead node keeps nothing
            found |= {f"{node}:/dev/shm/{name}" for name in os.listdir(f"{root}/root/dev/shm")}
            with open(f"{root}/net/unix", errors="replace") as file:
                found |= {f"{node}:{word}" for line in file for word in line.split()[7:8] if word.startswith("@")}
        return found

    def need_rest(self, job, seconds=HANG_S / 2):
        """Everything that the job has brought is gone soon after its launcher."""
        limit = time.monotonic() + seconds
        while True:
            left = self.processes() - self.at_rest
            traces = self.traces()
            if not left and not traces:
                return
            if time.monotonic() > limit:
                break
            time.sleep(0.02)
        text = self.describe(left)
        self.end_everything()
        job.need(False, f"left behind: {' '.join(sorted(traces))}\n{text}")

    def end_everything(self):
        """Kill all processes that do not belong to the cluster."""
        left = [str(pid) for pid in self.processes() - self.at_rest]
        if left:
            subprocess.run([NODES, "exec", "head", "kill", "-KILL", *left], env=self.environment, capture_output=True, timeout=HANG_S)

    # ---- Slurm ----

    def slurm_conf(self):
        if self.slurm is None:
            if not os.path.exists(SLURM):
                raise Skipped("there is no slurm.sh")
            nodes = " ".join(f"{line.split()[0]}={line.split()[1]}" for line in self.nodes("list").splitlines())
            ipv6 = "--ipv6-only" in self.options
            command = [SLURM, "run", "--nodes", nodes, "--in-node", f"{NODES} exec {{node}}", "--controller", "fd77::254" if ipv6 else "10.77.0.254"]
            # It stays as long as its command does, and that as long as we hold its input.
            command += ["--", "salloc", "--quiet", f"--nodes={self.count}", "--exclusive", "bash", "-c", 'echo "conf $SLURM_CONF $SLURM_JOB_ID"; cat']
            self.slurm = self.start("head", command, stdin=subprocess.PIPE)
            words = []
            for line in self.slurm.stdout:
                words.append(line)
                if line.startswith("conf "):
                    break
            if not words or not words[-1].startswith("conf "):
                raise Failed("Slurm does not start: " + "".join(words))
            _, self.conf, self.allocation = words[-1].split()
            self.at_rest = self.processes()
        return self.conf

    def set_slurm(self, name, value):
        """Change a line of the running Slurm's configuration."""
        with open(self.slurm_conf(), "a") as file:
            file.write(f"{name}={value}\n")
        self.run("head", ["env", f"SLURM_CONF={self.conf}", "scontrol", "reconfigure"]).need_status(0)

    def stop_slurm(self):
        if self.slurm is None:
            return
        self.slurm.stdin.close()
        try:
            self.slurm.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.slurm.kill()
        self.slurm.stdout.close()
        self.slurm = None


def fail_loudly(message):
    print(message, file=sys.stderr)
    sys.exit(1)
