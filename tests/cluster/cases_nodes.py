# SPDX-License-Identifier: Apache-2.0
#
# The pretend hosts themselves: whether they are as separate as hosts are, and leave nothing behind. No SHMEM here.
import os
import re
import signal
import subprocess
import tempfile
import time

from cluster import HANG_S, NODES, Cluster, Failed, clean_environment

# A server that reports the bytes it got from one client, and the client. Both take the name that the server's node has.
SERVER = """
import socket, time
listener = socket.create_server(("::", 7000), family=socket.AF_INET6, dualstack_ipv6=True)
print("listening", flush=True)
peer, _ = listener.accept()
count, begin = 0, time.monotonic()
while True:
    data = peer.recv(1 << 20)
    if not data: break
    count += len(data)
print("bytes", count, "seconds", time.monotonic() - begin)
"""
CLIENT = """
import socket, sys
with socket.create_connection((sys.argv[1], 7000), timeout=60) as peer: peer.sendall(bytes(int(sys.argv[2])))
"""

# Counts datagrams until one is longer than the others; and 1000 of them, followed by many long ones.
COUNTER = """
import socket
receiver = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
receiver.bind(("::", 7000))
print("listening", flush=True)
count = 0
while len(receiver.recv(100)) == 1: count += 1
print(count)
"""
DATAGRAMS = """
import socket, sys, time
family, kind, protocol, _, address = socket.getaddrinfo(sys.argv[1], 7000, type=socket.SOCK_DGRAM)[0]
sender = socket.socket(family, kind, protocol)
for i in range(1100):
    sender.sendto(b"x" if i < 1000 else b"long", address)
    if i % 20 == 0: time.sleep(0.005)
"""


def need(holds, what):
    if not holds:
        raise Failed(what)


def send_bytes(cluster, count, address="n1"):
    """From n2 to n1; seconds from the first byte to the last."""
    server = cluster.start("n1", ["python3", "-c", SERVER])
    need(server.stdout.readline() == "listening\n", "the server does not listen")
    client = cluster.run("n2", ["python3", "-c", CLIENT, address, str(count)])
    if client.status != 0:
        server.kill()
    output, _ = server.communicate(timeout=HANG_S)
    client.need_status(0)
    words = output.split()
    need(words[:3] == ["bytes", str(count), "seconds"], f"{count} bytes were sent, but: {output}")
    return float(words[3])


def each_node_has_its_own_name_and_processes(cluster):
    seen = [cluster.run(f"n{i}", ["sh", "-c", "uname -n; ls /proc | grep -c '^[0-9]'; ls /sys/class/net"]).output.split() for i in (1, 2, 3)]
    need([words[0] for words in seen] == ["n1", "n2", "n3"], f"names: {seen}")
    need(all(int(words[1]) < 10 for words in seen), f"more processes than a node has: {seen}")
    need(all(words[2:] == ["eth0", "lo"] for words in seen), f"networks: {seen}")


def each_node_has_its_own_tmp_and_dev_shm(cluster):
    name = f"mine-{os.getpid()}"
    for folder in ("/tmp", "/dev/shm"):
        cluster.run("n1", ["touch", f"{folder}/{name}"]).need_status(0)
        need(name not in cluster.run("n2", ["ls", folder]).output.split(), f"n2 sees n1's {folder}")
        need(not os.path.exists(f"{folder}/{name}"), f"{folder} of n1 is this machine's")
        cluster.run("n1", ["rm", f"{folder}/{name}"])


def abstract_sockets_do_not_reach_another_node(cluster):
    listen = "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind('\\0cluster-test'); print('bound', flush=True); input()"
    send = "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect('\\0cluster-test')"
    bound = cluster.start("n1", ["python3", "-c", listen], stdin=subprocess.PIPE)
    need(bound.stdout.readline() == "bound\n", "it is not bound")
    cluster.run("n1", ["python3", "-c", send]).need_status(0)
    cluster.run("n2", ["python3", "-c", send]).need_status(1)
    bound.communicate("\n", timeout=HANG_S)


def commands_run_in_the_callers_folder(cluster):
    here = os.getcwd()
    for node in ("head", "n1"):
        need(cluster.run(node, ["pwd"]).output == f"{here}\n", f"{node}: not in {here}")


def a_checkout_below_tmp_is_seen_on_the_nodes(cluster):
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="postern-nodes-") as folder:
        os.makedirs(f"{folder}/tests/cluster")
        with open(NODES) as source, open(f"{folder}/tests/cluster/nodes", "w") as copy:
            copy.write(source.read())
        os.chmod(f"{folder}/tests/cluster/nodes", 0o755)
        done = subprocess.run(
            [f"{folder}/tests/cluster/nodes", "run", "1", "--", f"{folder}/tests/cluster/nodes", "exec", "n1", "ls", folder],
            capture_output=True, text=True, stdin=subprocess.DEVNULL, env=clean_environment(), timeout=HANG_S,
        )  # fmt: skip
        need(done.returncode == 0 and done.stdout == "tests\n", f"status {done.returncode}: {done.stdout}{done.stderr}")


def nodes_reach_each_other_by_name(cluster):
    send_bytes(cluster, 1000000)


def without_hosts_names_do_not_resolve(cluster):
    with Cluster(cluster.build, 2, ["--no-hosts"]) as other:
        need(other.run("n1", ["getent", "hosts", "n2"]).status != 0, "n2 resolves")
        send_bytes(other, 1000, "10.77.0.1")


def ipv6_only_has_no_other_address(cluster):
    with Cluster(cluster.build, 2, ["--ipv6-only"]) as other:
        need("inet " not in other.run("n1", ["ip", "address", "show", "eth0"]).output, "there is an IPv4 address")
        send_bytes(other, 1000000)


def a_rate_holds_back(cluster):
    with Cluster(cluster.build, 2, ["--rate", "50mbit"]) as other:
        seconds = send_bytes(other, 5000000)  # 0.8 s, less what a bucket holds
        need(seconds > 0.6, f"5 MB at 50 Mbit/s in {seconds:.3f} s")


def a_loss_loses_packets(cluster):
    with Cluster(cluster.build, 2, ["--loss", "5"]) as other:
        receiver = other.start("n1", ["python3", "-c", COUNTER])
        need(receiver.stdout.readline() == "listening\n", "the receiver does not listen")
        # Few at a time, so that no buffer is too small for them.
        other.run("n2", ["python3", "-c", DATAGRAMS, "n1"]).need_status(0)
        output, _ = receiver.communicate(timeout=HANG_S)
        need(0 < int(output) < 1000, f"{output} of 1000 datagrams have arrived")
        send_bytes(other, 1000000)


def an_unplugged_node_is_silent_until_it_is_plugged(cluster):
    with Cluster(cluster.build, 2) as other:
        other.nodes("unplug", "n1")
        client = other.start("n2", ["python3", "-c", CLIENT, "n1", "1"])
        time.sleep(0.3)
        need(client.poll() is None, "a connection to an unplugged node has ended: " + (client.stdout.read() if client.poll() is not None else ""))
        client.kill()
        client.communicate(timeout=HANG_S)
        other.nodes("plug", "n1")
        send_bytes(other, 1000)


def a_killed_node_takes_its_processes_along(cluster):
    with Cluster(cluster.build, 2) as other:
        # In a session of its own, and without our pipe: nothing but the node's end can end it.
        other.run("n2", ["sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 &"]).need_status(0)
        need("sleep 1000" in other.describe(other.processes()), "the process is not there")
        other.nodes("kill", "n2")
        need("sleep 1000" not in other.describe(other.processes()), "the process has survived its node")
        need(re.search(r"^n2 \S+ dead$", other.nodes("list"), re.MULTILINE), "list does not say it")
        need(other.run("n2", ["true"]).status == 1, "a command ran on a dead node")


def pids_of_machine(mark):
    """All processes of this machine with `mark` in their environment."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit():
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark.encode() in file.read().split(b"\0"):
                        found.append(int(name))
        except OSError:
            pass
    return found


def need_gone(mark, who):
    limit = time.monotonic() + HANG_S
    while pids_of_machine(mark):
        need(time.monotonic() < limit, f"processes are left after the end of {who}: {pids_of_machine(mark)}")
        time.sleep(0.05)


def killed_in_any_way_nothing_is_left(cluster):
    links = sorted(os.listdir("/sys/class/net"))
    for victim in ("run", "guard", "guard's parent", "owner"):
        mark = f"CLUSTER_TEST_MARK={os.getpid()}-{time.monotonic_ns()}"
        environment = {**clean_environment(), **dict([mark.split("=")])}
        script = 'echo up; setsid sleep 1000 & sleep 1000'
        if victim == "owner":
            command = ["sh", "-c", f'NODES=$("{NODES}" up 2 --owner $$); export NODES; "{NODES}" exec n1 sh -c "{script}"']
        else:
            command = [NODES, "run", "2", "--", NODES, "exec", "n1", "sh", "-c", script]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        need(process.stdout.readline() == b"up\n", "the nodes do not come up")
        pid = process.pid
        if victim.startswith("guard"):
            for candidate in pids_of_machine(mark):
                with open(f"/proc/{candidate}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                if words[0] == (b"bash" if victim == "guard" else b"unshare") and b"postern-nodes-guard" in words:
                    pid = candidate
        os.kill(pid, signal.SIGKILL)
        need_gone(mark, victim)
        process.wait(timeout=HANG_S)
        process.stdout.close()
    need(sorted(os.listdir("/sys/class/net")) == links, "a network device is left")


def two_clusters_do_not_meet(cluster):
    with Cluster(cluster.build, 2) as first, Cluster(cluster.build, 2) as second:
        server = first.start("n1", ["python3", "-c", SERVER])
        need(server.stdout.readline() == "listening\n", "the server does not listen")
        second.run("n2", ["python3", "-c", CLIENT, "n1", "1"]).need_status(1)
        server.kill()
        server.communicate(timeout=HANG_S)


def mpirun_starts_programs_on_all_nodes(cluster):
    for cyclic, wanted in ((False, "n1 n1 n2 n2 n3 n3"), (True, "n1 n2 n3 n1 n2 n3")):
        job = cluster.job("mpirun", ["sh", "-c", 'echo "rank $PMIX_RANK on $(uname -n)"'], 3, 2, cyclic=cyclic)
        job.need_status(0)
        lines = sorted(re.findall(r"rank (\d+) on (n\d)", job.output))
        need(" ".join(node for _, node in lines) == wanted, job.text())


def srun_starts_programs_on_all_nodes(cluster):
    job = cluster.job("slurm", ["sh", "-c", 'echo "rank $PMIX_RANK on $(uname -n)"'], 3, 2)
    job.need_status(0)
    lines = sorted(re.findall(r"rank (\d+) on (n\d)", job.output))
    need(" ".join(node for _, node in lines) == "n1 n1 n2 n2 n3 n3", job.text())


CASES = [
    each_node_has_its_own_name_and_processes,
    each_node_has_its_own_tmp_and_dev_shm,
    abstract_sockets_do_not_reach_another_node,
    commands_run_in_the_callers_folder,
    a_checkout_below_tmp_is_seen_on_the_nodes,
    nodes_reach_each_other_by_name,
    without_hosts_names_do_not_resolve,
    ipv6_only_has_no_other_address,
    a_rate_holds_back,
    a_loss_loses_packets,
    an_unplugged_node_is_silent_until_it_is_plugged,
    a_killed_node_takes_its_processes_along,
    killed_in_any_way_nothing_is_left,
    two_clusters_do_not_meet,
    mpirun_starts_programs_on_all_nodes,
    srun_starts_programs_on_all_nodes,
]
