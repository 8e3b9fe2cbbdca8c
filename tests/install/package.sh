#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# package.sh FOLDER: install the Debian package that lies there, use it, and remove it again. Needs root, and changes the
# machine for that time: for CI machines.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
package=$(echo "$1"/postern_*.deb)
work=$(mktemp -d)
trap 'rm -rf "$work"; dpkg --purge postern >/dev/null 2>&1 || true' EXIT

fail() {
    echo "package: $*" >&2
    exit 1
}

dpkg-deb --info "$package" | grep -E '^ (Package|Version|Depends|Architecture):'
# As grep -q, but reads all of its input: a command whose reader leaves early dies, and pipefail would call that a failure.
has() { grep "$@" >/dev/null; }

dpkg-deb --info "$package" | has -E '^ Depends:.*libc6 \(>= ' || fail "the dependencies lack the C library"
dpkg-deb --contents "$package" | awk '{ print $2, $6 }' | grep -v '^root/root' && fail "files that do not belong to root"
dpkg-deb --contents "$package" | awk '{ print $6 }' | grep -vE '^\./(opt/(postern/.*)?|etc/(ld\.so\.conf\.d/(postern\.conf)?)?)?$' &&
    fail "files outside /opt/postern"
dpkg -i "$package"
ldconfig -p | has '/opt/postern/lib/libpostern.so.0' || fail "the loader does not know the library"
# No rpath and no LD_LIBRARY_PATH: the loader finds it.
cc "$here/program.c" -o "$work/program" -I/opt/postern/include -L/opt/postern/lib -lpostern -Wl,-z,relro -Wl,-z,now
/opt/postern/bin/oshrun -n 2 "$work/program"
/opt/postern/bin/oshcc "$here/program.c" -o "$work/program" && /opt/postern/bin/oshrun -n 4 "$work/program"
[ -s /opt/postern/share/man/man3/shmem_long_put.3.gz ] && [ -s /opt/postern/share/man/man1/oshrun.1.gz ] || fail "the manual pages are missing"
dpkg --purge postern
[ ! -e /opt/postern ] || fail "left behind: $(find /opt/postern)"
[ ! -e /etc/ld.so.conf.d/postern.conf ] || fail "left behind: the loader's file"
echo "package: installed, used and removed"
