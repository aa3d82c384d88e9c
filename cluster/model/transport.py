"""`Transport`: starts commands on nodes and copies files to and from them. It renders nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # this module also runs on hosts, which have only the standard library
    from collections.abc import Sequence

    from density_study.cluster.model.topology import Node


@dataclass(frozen=True)
class Command:
    """An argv list (never a shell string), variables to add to a clean environment, and a directory.

    `of_machine`: it watches the machine's own network, also where the node has another."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    of_machine: bool = False


@dataclass(frozen=True)
class ProcessId:
    """A process on a node. The start time in ticks distinguishes it from a later one with the same pid."""

    node: str
    name: str
    pid: int
    start_ticks: int

    def __str__(self) -> str:
        return f"process {self.pid} ({self.name} on {self.node or '-'})"


class Transport(Protocol):
    """Carries commands and files to nodes. Every process started carries the study's tag.

    Paths below the run's folder are the controller's. On another machine they map to the same relative
    path below the build's own folder there (see `at`).
    """

    def start(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        """Start a process that outlives the caller; its intent is journalled before."""

    def serve(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        """`start` a daemon: under the host's service manager, where it has one."""

    def alive(self, process: ProcessId) -> bool:
        """Whether that very process (pid and start time) still runs; a zombie does not."""

    def dead(self, processes: Sequence[ProcessId]) -> list[ProcessId]:
        """Those that no longer run; one call per host. HostLostError if a host does not answer."""

    def wait(self, process: ProcessId, timeout_s: float) -> int:
        """Exit code of a process started by this transport object. TimeoutError past the limit."""

    def stop(self, process: ProcessId, grace_s: float = 10.0) -> None:
        """Send TERM, then KILL after `grace_s`; returns when the process is gone, or if it was gone."""

    def put(self, node: Node, text: str, path: Path) -> None: ...

    def fetch(self, node: Node, path: Path, to: Path) -> None:
        """Copy one file to the controller. FileNotFoundError if it does not exist."""

    def collect(self, node: Node, folder: Path) -> None:
        """Copy to `folder`, a folder of the run, everything in the corresponding folder on the node."""

    def at(self, node: Node, path: Path) -> PurePath:
        """The node's path for a path in the run's folder, for arguments of commands."""

    def python(self, node: Node) -> tuple[str, ...]:
        """Start of a command line that runs the program's own modules, or dool, on the node."""

    def act(self, node: Node, name: str, *arguments: Any) -> Any:
        """Run one of `cluster.machine.host_commands` on the node's machine; returns its result."""

    @property
    def same_kernel(self) -> bool:
        """Whether nodes share the controller's kernel, and with it its clock."""
