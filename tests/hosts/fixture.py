"""`Hosts`: the lab for tests. It is removed with this process, however the process ends."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from density_study.cluster.machine.as_root import INSTALLED, PROGRAMS, source
from density_study.cluster.providers.ssh.sudo_rules import rules
from density_study.cluster.stack.cache import cache_root
from tests.hosts.host import BOUND, LOCAL_LIB, UID, USER
from tests.hosts.lab import address_of

ROOT = Path(__file__).parents[2]
SEED = cache_root() / "test-hosts" / "stacks"
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
ROOT_LOGIN = "PermitRootLogin prohibit-password\nAuthorizedKeysFile /etc/ssh/authorized_keys\n"


class Hosts:
    """`folder`/<name>/ is a host's disk. `known_hosts` and `identity` are the user's files.

    Hosts start with the stack cache of an earlier session, except for `cold` ones. `user`, who logs in, is
    study or root.
    """

    def __init__(
        self, folder: Path, names: list[str], cold: tuple[str, ...] = (), user: str = USER
    ) -> None:
        self.folder = folder
        self.user = user
        self.names = names
        self.addresses = {name: address_of(index) for index, name in enumerate(names)}
        self.identity = folder / "identity"
        self.known_hosts = folder / "known_hosts"
        folder.mkdir(parents=True, exist_ok=True)
        _keygen(self.identity)
        for name in names:
            self._furnish(name)
            if name not in cold:
                _copy_stacks(SEED, self._stacks(name), self._uid)
        self.known_hosts.write_text(
            "".join(
                f"{self.addresses[name]} {_public(folder / name / 'etc' / 'ssh' / 'host_key')}\n"
                for name in names
            )
        )
        self.lab = subprocess.Popen(
            [
                *("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
                *(sys.executable, "-m", "tests.hosts.lab", str(folder), *names),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            preexec_fn=_end_with_parent,
        )
        self._told("up")
        with self.inside():
            for name in names:
                self.wait_for_ssh(name)

    def close(self) -> None:
        """All hosts off, their disks removed; one host's stack cache is kept for the next
        session."""
        self.lab.kill()
        self.lab.wait()
        for name in self.names:
            _copy_stacks(self._stacks(name), SEED, UID)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _stacks(self, name: str) -> Path:
        return self.folder / name / "var-tmp" / f"density-study-{self.user}" / "stacks"

    @property
    def _uid(self) -> int:
        return 0 if self.user == "root" else UID

    def kill(self, name: str) -> None:
        self._tell("kill", name)

    def boot(self, name: str) -> None:
        self._tell("boot", name)
        with self.inside():
            self.wait_for_ssh(name)

    def cut(self, name: str) -> None:
        self._tell("cut", name)

    def mend(self, name: str) -> None:
        self._tell("mend", name)

    @property
    def enter(self) -> tuple[str, ...]:
        """Start of a command line that runs in the hosts' network, like a controller."""
        return ("nsenter", f"--net={self._net}", "--")

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Moves this thread, and its children, into the hosts' network."""
        with Path("/proc/thread-self/ns/net").open() as own, Path(self._net).open() as other:
            _setns(other.fileno())
            try:
                yield
            finally:
                _setns(own.fileno())

    def on(self, name: str, *argv: str) -> str:
        """Output of a command run as root on a host, without SSH."""
        done = subprocess.run(
            ["nsenter", f"--target={self.first_process(name)}", "--all", "--", *argv],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def first_process(self, name: str) -> int:
        """Process id of the host's first process on this machine."""
        wanted = f"tests.hosts.host {name} "
        for pid in _below(self.lab.pid):
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            if wanted in line and not line.startswith("unshare"):
                return pid
        raise LookupError(name)

    def wait_for_ssh(self, name: str) -> None:
        deadline = time.monotonic() + 15
        while True:
            try:
                with socket.create_connection((self.addresses[name], 22), timeout=1):
                    return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    @property
    def _net(self) -> str:
        children = Path(f"/proc/{self.lab.pid}/task/{self.lab.pid}/children").read_text().split()
        return f"/proc/{children[0]}/ns/net"

    def _tell(self, verb: str, name: str) -> None:
        assert self.lab.stdin is not None
        self.lab.stdin.write(f"{verb} {name}\n".encode())
        self.lab.stdin.flush()
        self._told("done")

    def _told(self, wanted: str) -> None:
        assert self.lab.stdout is not None
        line = self.lab.stdout.readline().decode().strip()
        if line != wanted:
            raise RuntimeError(f"the lab said {line!r}, not {wanted!r}")

    def _furnish(self, name: str) -> None:
        folder = self.folder / name
        etc = folder / "etc"
        etc.mkdir(parents=True)
        for part in BOUND:
            (folder / part).mkdir()
        for part in ("tmp", "var-tmp"):
            (folder / part).chmod(0o1777)
        home = folder / "home" / USER
        (home / ".ssh").mkdir(parents=True)
        shutil.copy(f"{self.identity}.pub", home / ".ssh" / "authorized_keys")
        for path in (home, home / ".ssh", home / ".ssh" / "authorized_keys", folder / "disk"):
            os.chown(path, UID, UID)
        for file in ("passwd", "group", "shadow", "sudoers"):
            shutil.copy(f"/etc/{file}", etc / file)
        _append(etc / "passwd", f"{USER}:x:{UID}:{UID}::/home/{USER}:/bin/bash\n")
        _append(etc / "group", f"{USER}:x:{UID}:\n")
        _append(etc / "shadow", f"{USER}:*:20000:0:99999:7:::\n")
        (etc / "sudoers").chmod(0o640)
        _append(etc / "sudoers", rules(USER, PROGRAMS))
        (etc / "sudoers").chmod(0o440)
        programs = folder / LOCAL_LIB / INSTALLED.name
        programs.mkdir(parents=True)
        for program in PROGRAMS:
            (programs / program).write_text(source(program))
            (programs / program).chmod(0o755)
        (etc / "resolv.conf").write_text("")
        (etc / "hosts").write_text(
            "127.0.0.1 localhost\n"
            + "".join(f"{address} {host}\n" for host, address in self.addresses.items())
        )
        (etc / "ssh").mkdir()
        _keygen(etc / "ssh" / "host_key")
        (etc / "ssh" / "sshd_config").write_text(
            "HostKey /etc/ssh/host_key\nPidFile none\nUsePAM no\nUseDNS no\n"
            "PasswordAuthentication no\nMaxStartups 50:30:100\nSubsystem sftp internal-sftp\n"
            + (ROOT_LOGIN if self.user == "root" else "PermitRootLogin no\n")
        )
        shutil.copy(f"{self.identity}.pub", etc / "ssh" / "authorized_keys")


def _below(pid: int) -> Iterator[int]:
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield int(child)
        yield from _below(int(child))


def _copy_stacks(source: Path, to: Path, uid: int) -> None:
    """Copies missing complete stacks with hard links: a stack is never written to."""
    for archive in source.glob("*/classes.jsa"):
        if not (to / archive.parent.name).exists():
            to.mkdir(parents=True, exist_ok=True)
            for folder in (to, to.parent):
                os.chown(folder, uid, uid)
            argv = ["cp", "--archive", "--link", str(archive.parent), str(to)]
            subprocess.run(argv, check=True)


def _append(file: Path, text: str) -> None:
    with file.open("a") as stream:
        stream.write(text)


def _keygen(path: Path) -> None:
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(path)]
    subprocess.run(argv, check=True)


def _public(path: Path) -> str:
    return " ".join(Path(f"{path}.pub").read_text().split()[:2])


def _setns(descriptor: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
