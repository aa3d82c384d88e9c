"""The test's own libvirtd: in a network namespace, with every folder it writes to in `folder`.

Needs root and the packages of `tests/packages.sh vm`. Bridges, taps and guests live in the isolated
namespace; the machine's own libvirt is neither visible nor touched.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support.namespace import inside, mounted

READY_S = 30.0
_BOUND = {"etc": "/etc/libvirt", "run": "/run/libvirt", "lib": "/var/lib/libvirt",
          "cache": "/var/cache/libvirt", "log": "/var/log/libvirt"}  # fmt: skip
_QEMU = """\
user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
security_driver = "none"
cgroup_controllers = [ ]
namespaces = [ ]
stdio_handler = "file"
"""
_DAEMON = """\
unix_sock_group = "root"
auth_unix_rw = "none"
auth_unix_ro = "none"
listen_tls = 0
log_outputs = "2:file:/var/log/libvirt/libvirtd.log"
"""


@dataclass(frozen=True)
class Libvirtd:
    """One running daemon, its namespace and how to reach it."""

    namespace: str
    folder: Path
    uri: str


@contextmanager
def as_the_machines(daemon: Libvirtd) -> Iterator[Libvirtd]:
    """The daemon, for this thread and its children, at the address of a machine's own: the only local one
    that a study may name."""
    with inside(daemon.namespace), mounted({_BOUND["run"]: daemon.folder / "run"}):
        yield replace(daemon, uri="qemu:///system")


@contextmanager
def libvirtd(folder: Path, name: str) -> Iterator[Libvirtd]:
    """Started, and ended with all its remaining guests."""
    uri = f"qemu:///system?socket={folder}/run/libvirt-sock"
    daemon = Libvirtd(f"density-{os.getpid()}-{name}", folder, uri)
    for kind in _BOUND:
        (folder / kind).mkdir(parents=True)
    (folder / "lib" / "dnsmasq").mkdir()  # Debian's package creates it
    (folder / "etc" / "qemu.conf").write_text(_QEMU)
    (folder / "etc" / "libvirtd.conf").write_text(_DAEMON)
    _ip("netns", "add", daemon.namespace)
    process = None
    try:
        _ip("-n", daemon.namespace, "link", "set", "lo", "up")
        process = _start(daemon)
        _await(daemon, process)
        yield daemon
    finally:
        _end(daemon, process)


def _start(daemon: Libvirtd) -> subprocess.Popen[bytes]:
    binds = "".join(f"mount --bind {daemon.folder}/{k} {to} && " for k, to in _BOUND.items())
    script = (
        f"mkdir -p {' '.join(_BOUND.values())} && {binds} exec libvirtd --pid-file=/run/libvirt/pid"
    )
    inside = ["ip", "netns", "exec", daemon.namespace, "unshare", "--mount", "sh", "-c", script]
    with (daemon.folder / "libvirtd.out").open("wb") as out:
        return subprocess.Popen(inside, stdout=out, stderr=out, start_new_session=True)


def _await(daemon: Libvirtd, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + READY_S
    command = ["virsh", "--connect", daemon.uri, "list"]
    while subprocess.run(command, capture_output=True, check=False).returncode != 0:
        output = (daemon.folder / "libvirtd.out").read_text()
        assert process.poll() is None, f"libvirtd ended: {output}"
        assert time.monotonic() < deadline, f"libvirtd does not answer: {output}"
        time.sleep(0.2)


def _end(daemon: Libvirtd, process: subprocess.Popen[bytes] | None) -> None:
    """Guests outlive their libvirtd: all remaining processes in the namespace are ended, then it is
    removed."""
    if process is not None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    pids = _ip("netns", "pids", daemon.namespace).split()
    for pid in map(int, pids):
        os.kill(pid, signal.SIGKILL)
    _ip("netns", "delete", daemon.namespace)


def _ip(*args: str) -> str:
    return subprocess.run(["ip", *args], check=True, capture_output=True, text=True).stdout
