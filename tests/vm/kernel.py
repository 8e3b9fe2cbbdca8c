# SPDX-License-Identifier: Apache-2.0
#
# What a guest boots from: Debian's kernel, and an initramfs of busybox, the modules of the RDMA stack and `guest_init`.
#
# The package is downloaded once, to build/vm, and never installed. The kernel is kept as the ELF file inside its compressed image: an emulated
# processor would take seconds to unpack that at each start.
import glob
import io
import lzma
import os
import shutil
import struct
import subprocess
import tarfile
import tempfile
import zlib

from cluster import CHECKOUT, HANG_S, Failed, Skipped

FOLDER = os.path.join(CHECKOUT, "build/vm")
GUEST_INIT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "guest_init")
PACKAGE = "linux-image-amd64"

# Loaded in this order, each after those it depends on. rdma_rxe asks the kernel for "crc32" by name; that one is no dependency.
MODULES = ["virtio_pci", "virtio_console", "9p", "9pnet_virtio", "virtio_net", "crc32_generic", "crc32_pclmul", "rdma_rxe", "rdma_ucm"]

# Parts of the kernel's tree in which MODULES and what they depend on are found; all of it would be 300 MB.
MODULE_FOLDERS = [
    "crypto/", "lib/", "arch/x86/crypto/", "net/9p/", "fs/9p/", "fs/netfs/", "fs/fscache/", "fs/configfs/", "net/core/", "net/ipv4/", "net/ipv6/",
    "drivers/virtio/", "drivers/char/", "drivers/net/virtio_net", "drivers/net/net_failover", "drivers/infiniband/core/", "drivers/infiniband/sw/",
]  # fmt: skip


def unpacked(data):
    """What an xz, zstd or gzip stream holds; the size that the kernel's build appends to one is no part of it."""
    if data.startswith(b"\x7fELF"):
        return data
    if data.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor().decompress(data)
    if data.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(31).decompress(data)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        # It complains about what follows the stream, after it has written all of it.
        return subprocess.run(["zstd", "-dcq"], input=data, capture_output=True).stdout
    raise Failed(f"the kernel package holds a file of an unknown format (begins with {data[:4].hex()})")


def elf_of(image):
    """The kernel inside an x86 boot image: the boot protocol's header says where it is (setup_sects, payload_offset, payload_length)."""
    sectors = image[0x1F1]
    offset, length = struct.unpack_from("<II", image, 0x248)
    begin = (sectors + 1) * 512 + offset
    elf = unpacked(image[begin : begin + length])
    if not elf.startswith(b"\x7fELF"):
        raise Failed("the kernel package holds a boot image of an unknown layout")
    return elf


def apt(*arguments, folder=None):
    command = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def real_package():
    """PACKAGE only depends on the newest one, which holds a kernel."""
    shown = subprocess.run(["apt-cache", "depends", PACKAGE], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    for line in shown.stdout.splitlines():
        kind, _, name = line.strip().partition(": ")
        if kind == "Depends" and name.startswith("linux-image-"):
            return name
    return None


def download(folder):
    """The package's file, in `folder`. An old list names files that have gone; so a failure has a second try with a new one."""
    reason = f"apt knows no package {PACKAGE}"
    for attempt in range(2):
        name = real_package()
        if name:
            done = apt("download", name, folder=folder)
            files = glob.glob(os.path.join(folder, "*.deb"))
            if done.returncode == 0 and files:
                return files[0]
            reason = f"cannot download {name}: {done.stderr.strip()}"
        if attempt == 0 and os.getuid() == 0:
            apt("update")
    raise Skipped(f"there is no kernel for the guests: {reason}")


def fetch():
    """Fill FOLDER/kernel: vmlinux, and modules as NAME.ko."""
    done = os.path.join(FOLDER, "kernel")
    if os.path.exists(os.path.join(done, "vmlinux")):
        return done
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Skipped("there is no kernel for the guests: it comes from Debian's package, and this machine has no apt-get")
    os.makedirs(FOLDER, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        print("        downloading a kernel for the guests, once", flush=True)
        package = download(folder)
        fresh = os.path.join(folder, "kernel")
        os.mkdir(fresh)
        unpack = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
        with tarfile.open(fileobj=unpack.stdout, mode="r|") as tree:
            for member in tree:
                take_file(tree, member, fresh)
        if unpack.wait() != 0 or not os.path.exists(os.path.join(fresh, "vmlinux")):
            raise Failed(f"{os.path.basename(package)} holds no kernel")
        # Another run may have been quicker; its files are the same.
        if not os.path.exists(done):
            os.rename(fresh, done)
    return done


def take_file(tree, member, folder):
    name = member.name.removeprefix("./")
    if name.startswith("boot/vmlinuz-"):
        with open(os.path.join(folder, "vmlinux"), "wb") as file:
            file.write(elf_of(tree.extractfile(member).read()))
    elif name.endswith("/modules.builtin"):
        with open(os.path.join(folder, "builtin"), "wb") as file:
            file.write(tree.extractfile(member).read())
    elif member.isfile() and ".ko" in name and any(f"/kernel/{part}" in name for part in MODULE_FOLDERS):
        base = os.path.basename(name).partition(".ko")[0].replace("-", "_")
        with open(os.path.join(folder, f"{base}.ko"), "wb") as file:
            file.write(unpacked(tree.extractfile(member).read()))


def module_order(folder):
    """MODULES and all they depend on, dependencies first, as their own .modinfo names them."""
    with open(os.path.join(folder, "builtin")) as file:
        known = {os.path.basename(line.strip()).removesuffix(".ko").replace("-", "_") for line in file}
    order = []

    def add(name):
        if name in known:
            return
        known.add(name)
        path = os.path.join(folder, f"{name}.ko")
        if not os.path.exists(path):
            raise Failed(f"the kernel package lacks the module {name}")
        with open(path, "rb") as file:
            data = file.read()
        for field in data.split(b"\0"):
            if field.startswith(b"depends="):
                for other in field[len(b"depends=") :].decode().split(","):
                    if other:
                        add(other.replace("-", "_"))
        order.append((name, data))

    for name in MODULES:
        add(name)
    return order


class Archive:
    """A cpio archive of the kind that the kernel unpacks ("newc")."""

    def __init__(self):
        self.data, self.number = io.BytesIO(), 0

    def add(self, name, mode, content=b""):
        self.number += 1
        name = name.encode() + b"\0"
        # Inode, mode, uid, gid, links, time, size, device and its like (four), length of the name, checksum.
        fields = [self.number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0]
        self.data.write(b"070701" + b"".join(b"%08X" % field for field in fields) + name)
        self.pad()
        self.data.write(content)
        self.pad()

    def pad(self):
        self.data.write(b"\0" * (-self.data.tell() % 4))

    def finish(self):
        self.add("TRAILER!!!", 0)
        return self.data.getvalue()


def initramfs(folder, busybox):
    """The bytes of it."""
    archive = Archive()
    for name in ("bin", "dev", "proc", "sys", "host", "root", "job", "scratch", "modules"):
        archive.add(name, 0o040755)
    with open(busybox, "rb") as file:
        archive.add("bin/busybox", 0o100755, file.read())
    for name in subprocess.run([busybox, "--list"], capture_output=True, text=True, timeout=HANG_S).stdout.split():
        if name != "busybox":
            archive.add(f"bin/{name}", 0o120777, b"busybox")
    with open(GUEST_INIT, "rb") as file:
        archive.add("init", 0o100755, file.read())
    order = module_order(folder)
    for name, data in order:
        archive.add(f"modules/{name}.ko", 0o100644, data)
    archive.add("modules/order", 0o100644, "".join(f"{name}\n" for name, _ in order).encode())
    return archive.finish()
