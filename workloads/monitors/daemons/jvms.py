"""The study's JVMs on this machine: daemons and clients."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.state.tags import tagged

_LOG_FLAG, _FOLDER_FLAG = b"-Dstudy.log=", b"-Djava.io.tmpdir="
CLIENT = "client"
_OF_YARN = (
    b"org.apache.hadoop.mapred.YarnChild",
    b"org.apache.hadoop.mapreduce.v2.app.MRAppMaster",
)


@dataclass(frozen=True)
class Jvm:
    """`name`: <node>/<daemon>, as w1/regionserver-1; c1/client for a client. log: None for a client.
    folder: the one of its temporary files."""

    name: str
    pid: int
    log: Path | None
    folder: Path

    def own_file(self, ending: str) -> Path:
        """A file of ours that the JVM may write: its node may see no other folders."""
        return self.folder / f"{self.name.replace('/', '.')}.{os.getpid()}.{ending}"


def daemons(tag: str) -> Iterator[Jvm]:
    """The daemons of the tag, by the flag that names their log."""
    return (jvm for jvm in jvms(tag) if jvm.log is not None)


def jvms(tag: str) -> Iterator[Jvm]:
    """Daemons and clients; no tasks of YARN, which are many and short."""
    return among((process.pid, process.node) for process in tagged(tag))


def among(processes: Iterable[tuple[int, str]], proc: Path = Path("/proc")) -> Iterator[Jvm]:
    """The JVMs of a study among these processes, each with its node."""
    clients: Counter[str] = Counter()
    for pid, node in processes:
        with suppress(OSError):
            if (proc / str(pid) / "exe").readlink().name != "java":
                continue  # a wrapper has the same arguments
            arguments = (proc / str(pid) / "cmdline").read_bytes().split(b"\0")
            log, folder = (_flag(arguments, name) for name in (_LOG_FLAG, _FOLDER_FLAG))
            if log is not None:
                yield Jvm(f"{node}/{log.stem}", pid, log, folder or log.parent)
            elif folder is not None and not set(_OF_YARN) & set(arguments):
                clients[node] += 1
                many = f"-{clients[node]}" if clients[node] > 1 else ""
                yield Jvm(f"{node}/{CLIENT}{many}", pid, None, folder)


def _flag(arguments: Iterable[bytes], name: bytes) -> Path | None:
    value = next((one for one in arguments if one.startswith(name)), None)
    return None if value is None else Path(os.fsdecode(value.removeprefix(name)))
