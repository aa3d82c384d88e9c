"""Ways to disturb a cluster in containers on this machine, as context managers that undo what they did.

Most change what the kernel gives a node: the files of its container's cgroups, and its network. Needs root.
They name no cause, and know nothing of rules.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

from density_study.cluster.machine import cgroups, io_limits
from density_study.workloads.monitors.daemons.attach import jcmd as send

MIB = 2**20
SQUEEZED_EVERY_S = 0.25
WAITING_FAULTS = 50
"""Pages that had to be read again since the last step: the node's programs wait for memory."""
GIVEN_BACK = 16 * MIB
TIMER_HZ = 100
"""A limit of the network lets a burst pass at each tick of the slowest kernel's timer."""
T = TypeVar("T")
_IO_FILES = {"write_iops": "write_iops", "write_bytes": "write_bps", "read_bytes": "read_bps"}
_BURN = "print(flush=True)\nwhile True: pass"
_WRITE = """\
import os, sys
print(flush=True)
path, size, flags = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data = os.urandom(size)
while True:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | flags)
    for _ in range(2**26 // size):
        os.write(file, data)
    os.close(file)
"""


@dataclass(frozen=True)
class Target:
    """The cluster. `daemons`: pid of each <node>/<daemon>; `nodes`: a process in each node's container;
    `groups`: the name of each container's cgroups; `disk`: a folder on the workers' disk; `sent_bytes_s`:
    what each node sends in a quiet trial."""

    daemons: Mapping[str, int]
    nodes: Mapping[str, int]
    groups: Mapping[str, str]
    disk: str
    sent_bytes_s: Mapping[str, float] = field(default_factory=dict)

    def pids(self, glob: str) -> list[int]:
        """Of the daemons of that name. LookupError if there is none."""
        return _matching(self.daemons, glob)

    def matching(self, glob: str) -> list[str]:
        """The nodes of that name. LookupError if there is none."""
        return _matching({name: name for name in self.nodes}, glob)


def _matching(named: Mapping[str, T], glob: str) -> list[T]:
    found = [value for name, value in named.items() if fnmatchcase(name, glob)]
    if not found:
        raise LookupError(f"nothing is called {glob}; there are {', '.join(sorted(named))}")
    return found


def needs() -> str:
    """Why nothing can be injected here; empty if everything can."""
    if os.geteuid() != 0:
        return "disturbing a cluster needs root"
    missing = cgroups.missing(("cpu", "memory"))
    if missing or io_limits.cgroup_version() != 1:
        return "disturbing a cluster needs cgroups of version 1 for cpu, memory and blkio"
    return ""


def stop(target: Target, daemons: str) -> Iterator[None]:
    pids = target.pids(daemons)
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def jcmd(
    target: Target, daemons: str, command: str, times: int = 10**6, every_s: float = 0.0
) -> Iterator[None]:
    """Sends the command to each JVM, one after the other, again and again."""
    pids = target.pids(daemons)

    def act(over: threading.Event) -> None:
        for _ in range(times):
            for pid in pids:
                send(pid, command)
            if over.wait(every_s):
                return

    with _meanwhile(act):
        yield


def burn(target: Target, processes: int) -> Iterator[None]:
    with _programs([("-c", _BURN)] * processes):
        yield


def sync_writes(target: Target, threads: int) -> Iterator[None]:
    """4 KiB at a time, each on the disk before the next."""
    with _writers(target, threads, 4096, os.O_DSYNC):
        yield


def bulk_writes(target: Target, threads: int) -> Iterator[None]:
    """1 MiB at a time, to files of 64 MiB that are written again and again."""
    with _writers(target, threads, MIB, os.O_DSYNC):
        yield


def quota(target: Target, nodes: str, cores: float) -> Iterator[None]:
    with ExitStack() as undo:
        for node in target.matching(nodes):
            group = cgroups.controller("cpu", target.groups[node])
            period_us = int((group / "cpu.cfs_period_us").read_text())
            file = group / "cpu.cfs_quota_us"
            undo.enter_context(_written(file, str(int(period_us * cores))))
        yield


def slow_disk(target: Target, nodes: str, **limits: int) -> Iterator[None]:
    """`limits`: write_iops, write_bytes and read_bytes, each per second."""
    number = Path(target.disk).stat().st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    with ExitStack() as undo:
        for node in target.matching(nodes):
            group = cgroups.controller("blkio", target.groups[node])
            for name, value in limits.items():
                file = group / f"blkio.throttle.{_IO_FILES[name]}_device"
                undo.enter_context(_written(file, f"{device} {value}", f"{device} 0"))
        yield


def squeeze(target: Target, nodes: str, free_mib: int) -> Iterator[None]:
    """Takes memory away from the node, step by step, until its programs wait for it; never what they hold,
    nor `free_mib` beyond that. A program that nothing is left for stands still until a step gives some back:
    none is killed."""
    with ExitStack() as undo:
        groups = [cgroups.controller("memory", target.groups[n]) for n in target.matching(nodes)]
        for group in groups:  # the limit is put back before the kernel may kill again
            undo.enter_context(_written(group / "memory.oom_control", "1", "0"))
            limit = group / "memory.limit_in_bytes"
            undo.callback(limit.write_text, limit.read_text().strip())
        faults = {group: _lowered(group, free_mib, 0) for group in groups}

        def act(over: threading.Event) -> None:
            while not over.wait(SQUEEZED_EVERY_S):
                for group in groups:
                    faults[group] = _lowered(group, free_mib, faults[group])

        undo.enter_context(_meanwhile(act))
        yield


def _lowered(group: Path, free_mib: int, faults: int) -> int:
    """One step. faults: major ones until the last step; returns those until now."""
    counted = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    held = int(counted["rss"]) + int(counted["mapped_file"])
    held += _number(group / "memory.kmem.usage_in_bytes")
    now, floor = int(counted["pgmajfault"]), held + free_mib * MIB
    file = group / "memory.limit_in_bytes"
    limit, used = _number(file), _number(group / "memory.usage_in_bytes")
    if "under_oom 1" in (group / "memory.oom_control").read_text():
        wanted = limit + GIVEN_BACK
    elif limit < floor or now - faults < WAITING_FAULTS:
        top = min(limit, used)
        wanted = max(floor, top - max(MIB, (top - floor) // 4))
    else:
        wanted = limit  # they wait for memory: that is enough
    with suppress(OSError):  # EBUSY: the kernel cannot free as much
        file.write_text(str(wanted))
    return now


def _number(file: Path) -> int:
    return int(file.read_text()) if file.exists() else 0


def rate(target: Target, nodes: str, kbit_s: float = 0.0, share: float = 0.0) -> Iterator[None]:
    """Limits what the node sends, to `kbit_s` or to a `share` of what it sends in a quiet trial. Its queue
    holds a fifth of a second and drops the rest."""
    with ExitStack() as undo:
        for node in target.matching(nodes):
            inside = ("nsenter", "--target", str(target.nodes[node]), "--net", "--")
            device = _device(inside)
            bytes_s = 125 * kbit_s or share * target.sent_bytes_s[node]
            words = ("tc", "qdisc", "replace", "dev", device, "root", "tbf", "rate",
                     f"{8 * bytes_s:.0f}bit", "burst", f"{max(16_384, bytes_s / TIMER_HZ):.0f}b",
                     "latency", "200ms")  # fmt: skip
            _run(*inside, *words)
            undo.callback(_run, *inside, "tc", "qdisc", "del", "dev", device, "root")
        yield


def sent_bytes(pid: int) -> int:
    """By the interfaces of the process's network beside loopback, until now."""
    lines = Path(f"/proc/{pid}/net/dev").read_text().splitlines()[2:]
    rows = (line.partition(":") for line in lines)
    return sum(int(rest.split()[8]) for name, _, rest in rows if name.strip() != "lo")


def loss(target: Target, nodes: str, percent: int) -> Iterator[None]:
    """Drops packets to the node at random."""
    rules = f"""\
table inet causes {{
  chain lost {{
    type filter hook input priority 0
    iif != lo numgen random mod 100 < {percent} drop
  }}
}}
"""
    with ExitStack() as undo:
        for node in target.matching(nodes):
            inside = ("nsenter", "--target", str(target.nodes[node]), "--net", "--")
            _run(*inside, "nft", rules)
            undo.callback(_run, *inside, "nft", "delete", "table", "inet", "causes")
        yield


INJECTIONS: Mapping[str, Callable[..., AbstractContextManager[None]]] = {
    one.__name__: contextmanager(one)
    for one in (stop, jcmd, burn, sync_writes, bulk_writes, quota, slow_disk, squeeze, rate, loss)
}


@contextmanager
def _written(file: Path, text: str, before: str | None = None) -> Iterator[None]:
    """The file says `text`; afterwards `before`, or what it said."""
    former = file.read_text().strip() if before is None else before
    file.write_text(text)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):  # its container is gone
            file.write_text(former)


@contextmanager
def _meanwhile(act: Callable[[threading.Event], None]) -> Iterator[None]:
    over = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        acting = pool.submit(act, over)
        try:
            yield
        finally:
            over.set()
            acting.result()  # a failure is the injection's


@contextmanager
def _programs(commands: list[tuple[str, ...]]) -> Iterator[None]:
    """Python programs that are not the study's, and end with this one. They have begun: `setpriv` outlives
    a keeper that is killed before it has taken effect."""
    mortal = ("setpriv", "--pdeathsig", "KILL", "--", sys.executable)
    environment = {"PATH": os.environ["PATH"]}
    started = [
        subprocess.Popen([*mortal, *words], env=environment, stdout=subprocess.PIPE)
        for words in commands
    ]
    try:
        for one in started:
            assert one.stdout is not None
            one.stdout.readline()
        yield
    finally:
        for one in started:
            one.kill()
            one.communicate()


@contextmanager
def _writers(target: Target, threads: int, size: int, flags: int) -> Iterator[None]:
    files = [Path(target.disk) / f"causes-{os.getpid()}-{number}" for number in range(threads)]
    try:
        with _programs([("-c", _WRITE, str(file), str(size), str(flags)) for file in files]):
            yield
    finally:
        for file in files:
            file.unlink(missing_ok=True)


def _device(inside: tuple[str, ...]) -> str:
    """The interface of a container, which has one beside loopback."""
    links = json.loads(_run(*inside, "ip", "-json", "link", "show"))
    (name,) = (link["ifname"] for link in links if "LOOPBACK" not in link["flags"])
    return str(name)


def _run(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(argv)}: {done.stderr.strip()[:300]}")
    return done.stdout
