"""`Transport`: how files and processes reach a node. Render pure, push thin: it only carries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cluster.command import Command
from cluster.topology import Node


@dataclass(frozen=True)
class ProcessId:
    """A process on a node, told apart from a later one with the same pid by its start time in ticks."""

    node: str
    name: str
    pid: int
    start_ticks: int


class Transport(Protocol):
    """Carries commands and files to nodes. Every process started carries the study's mark."""

    def start(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        """Start a process that outlives the caller; its intent is journalled before."""
        ...

    def alive(self, process: ProcessId) -> bool:
        """Whether that very process (pid and start time) still runs; a zombie does not."""
        ...

    def wait(self, process: ProcessId, timeout_s: float) -> int:
        """Exit code of a process started by this transport object. TimeoutError past the limit."""
        ...

    def stop(self, process: ProcessId, grace_s: float = 10.0) -> None:
        """TERM, then KILL after the grace; returns when it is gone. Stopping what is gone succeeds."""
        ...

    def put(self, node: Node, text: str, path: Path) -> None: ...

    def fetch(self, node: Node, path: Path, to: Path) -> None: ...
