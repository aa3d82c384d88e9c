"""The watchers of `profile` and `jfr`: each JVM is recorded from when it is seen until the trial ends.

Daemons run already. A client starts later, so new JVMs are looked for.
"""

from __future__ import annotations

import base64
import io
import os
import platform
import shutil
import zipfile
from abc import ABC, abstractmethod
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import ClassVar

from density_study.workloads.monitors.daemons.attach import jcmd, load_agent
from density_study.workloads.monitors.daemons.events import event_row, round_row, title
from density_study.workloads.monitors.daemons.flight import NAME as JFR
from density_study.workloads.monitors.daemons.flight import RECORDED, SECRET, SETTINGS
from density_study.workloads.monitors.daemons.jvms import Jvm, jvms
from density_study.workloads.monitors.daemons.profile import EVENTS, recording_name
from density_study.workloads.monitors.daemons.profile import NAME as PROFILE
from density_study.workloads.monitors.daemons.watcher import Order
from density_study.workloads.monitors.device_sampler import rows
from density_study.workloads.monitors.devices import HOST, header
from density_study.workloads.monitors.devices import title as device_title
from density_study.workloads.monitors.tagged_nodes import LOOKED_FOR

_ARCHITECTURES = {"x86_64": "x64", "aarch64": "arm64"}
AT_ONCE = 16
WITHIN_S = 50.0
"""A recorder is slow to start and to stop in a JVM on a busy machine."""
COLUMNS = ("profiled",)
RECORDING = "study"
"""The recording's name in each JVM."""


class Recordings(ABC):
    """For a device: how a JVM begins and ends a recording, and the device's rows."""

    device: ClassVar[str]
    head: str

    def __init__(self, order: Order) -> None:
        self._order = order
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._starting: dict[str, Future[None]] = {}
        self._begun: dict[str, tuple[int, Path]] = {}
        self._rounds = 0

    @abstractmethod
    def start(self, pid: int, path: Path) -> None:
        """OSError if the JVM does not take it."""

    @abstractmethod
    def stop(self, pid: int) -> None:
        """OSError if the JVM does not answer."""

    def begin(self) -> None:
        """In the background: many JVMs on few cores take longer than a monitor may for its first sample."""
        self._look()

    def rows(self, epoch_s: float) -> str:
        """OSError if a JVM does not take it."""
        self._rounds += 1
        if self._rounds % LOOKED_FOR == 0:
            self._look(clients=True)
        for one in self._starting.values():
            if one.done():
                one.result()
        return self.last_rows(epoch_s)

    def _look(self, clients: bool = False) -> None:
        for jvm in jvms(self._order.tag):
            if jvm.name not in self._starting and (jvm.log is None or not clients):
                self._starting[jvm.name] = self._pool.submit(self._record, jvm)

    @abstractmethod
    def last_rows(self, epoch_s: float) -> str:
        """The JVMs that are recorded."""

    def end(self) -> None:
        self._pool.shutdown()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self._ended, self._begun))

    def _ended(self, name: str) -> None:
        pid, path = self._begun[name]
        with suppress(OSError):  # it may have been killed, or have ended
            self.stop(pid)
        if path.exists():
            shutil.move(path, self._path(name))

    def _record(self, jvm: Jvm) -> None:
        path = jvm.own_file(f"{self.device}.jfr")
        with nullcontext() if jvm.log else suppress(OSError):  # a client may end meanwhile
            self.start(jvm.pid, path)
            self._begun[jvm.name] = jvm.pid, path

    def _path(self, jvm: str) -> Path:
        return self._order.output.with_name(recording_name(self.device, self._order.host, jvm))


class Profiles(Recordings):
    device = PROFILE

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self.head = f"{device_title(order.host, PROFILE)}\n{header(COLUMNS)}\n"

    def begin(self) -> None:
        self._native = unpacked(self._order.library)
        super().begin()

    def start(self, pid: int, path: Path) -> None:
        load_agent(pid, self._native, f"start,{EVENTS},jfr,file={path}", WITHIN_S)

    def stop(self, pid: int) -> None:
        load_agent(pid, self._native, "stop", WITHIN_S)

    def last_rows(self, epoch_s: float) -> str:
        counters = {name: {COLUMNS[0]: 1.0} for name in list(self._begun)} or {HOST: {}}
        return rows(epoch_s, COLUMNS, counters)


class FlightRecordings(Recordings):
    device = JFR

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self.head = title(JFR, order.host) + "\n"
        self._written: set[str] = set()

    def start(self, pid: int, path: Path) -> None:
        more = ("dumponexit=true", *(f"{event}#enabled=false" for event in SECRET))
        words = (f"name={RECORDING}", f"settings={SETTINGS}", f"filename={path}", *more)
        jcmd(pid, f"JFR.start {' '.join(words)}", WITHIN_S)

    def stop(self, pid: int) -> None:
        jcmd(pid, f"JFR.stop name={RECORDING}", WITHIN_S)

    def last_rows(self, epoch_s: float) -> str:
        new = sorted({*self._begun} - self._written)
        self._written.update(new)
        return "".join((round_row(epoch_s), *(event_row(epoch_s, one, RECORDED) for one in new)))


def unpacked(library: Path) -> Path:
    """The native library beside its jar. OSError if the jar has none for this machine.

    Always the same file: a JVM that loads it again must find what it has loaded already.
    """
    machine = _ARCHITECTURES.get(platform.machine(), platform.machine())
    path = library.with_name(f"libasyncProfiler-{machine}.so")
    if not path.exists():
        jar = zipfile.ZipFile(io.BytesIO(base64.b64decode(library.read_bytes())))
        wanted = f"-linux-{machine}.so"
        names = [name for name in jar.namelist() if name.endswith(wanted)]
        if not names:
            raise OSError(f"async-profiler has no library for {platform.machine()}")
        aside = path.with_suffix(f".{os.getpid()}")
        aside.write_bytes(jar.read(names[0]))
        aside.rename(path)
    return path
