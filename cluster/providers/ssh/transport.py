"""`SshTransport`: files and processes of a build's nodes, through each host's agent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from density_study.cluster.machine.processes import KILLED_WITHIN_S
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.host import Target
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.providers.ssh.channel import CALL_TIMEOUT_S, channel
from density_study.cluster.providers.ssh.fetching import fetch, fetch_folder
from density_study.cluster.providers.ssh.toolkit import TOOLKIT
from density_study.cluster.state.journal import Journal

_STOP_MARGIN_S = KILLED_WITHIN_S + 30.0


@dataclass(frozen=True)
class Place:
    """The folder of a build on every host, and the SSH servers of its nodes by name."""

    folder: PurePath
    reach: Mapping[str, Target]


class SshTransport:
    """`place` is called on first use: it reads the journal, which has the place once `create` begins."""

    same_kernel = False

    def __init__(self, site: Site, journal: Journal, place: Callable[[], Place]) -> None:
        self.tag = site.tag
        self.journal = journal
        self._run = site.root.absolute().parents[1]
        self._place = cache(place)

    @property
    def folder(self) -> PurePath:
        return self._place().folder

    def start(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        return self._started("start", node, command, stdout, stderr)

    def serve(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        return self._started("serve", node, command, stdout, stderr)

    def alive(self, process: ProcessId) -> bool:
        return not self.dead([process])

    def dead(self, processes: Sequence[ProcessId]) -> list[ProcessId]:
        by_target: dict[Target, list[ProcessId]] = defaultdict(list)
        for process in processes:
            by_target[self._target(process.node)].append(process)
        found: list[ProcessId] = []
        for target, there in by_target.items():
            alive = channel(target).call("alive", [astuple(process) for process in there])
            found += [process for process, lives in zip(there, alive, strict=True) if not lives]
        return found

    def wait(self, process: ProcessId, timeout_s: float) -> int:
        code: int = self._call(
            process.node, "wait", astuple(process), timeout_s, timeout_s=timeout_s + CALL_TIMEOUT_S
        )
        return code

    def stop(self, process: ProcessId, grace_s: float = 10.0) -> None:
        limit_s = grace_s + _STOP_MARGIN_S
        self._call(process.node, "stop", astuple(process), grace_s, timeout_s=limit_s)
        self.journal.write("process-stopped", pid=process.pid, start_ticks=process.start_ticks)

    def put(self, node: Node, text: str, path: Path) -> None:
        channel(self._target(node.name)).put(str(self.at(node, path)), text.encode())

    def fetch(self, node: Node, path: Path, to: Path) -> None:
        fetch(self._target(node.name), self.at(node, path), to)

    def collect(self, node: Node, folder: Path) -> None:
        fetch_folder(self._target(node.name), self.at(node, folder), folder)

    def at(self, node: Node, path: Path) -> PurePath:
        """Paths in the run's folder map to <folder>/run on the host; other paths are unchanged."""
        absolute = path.absolute()
        if absolute.is_relative_to(self._run):
            return self.folder / "run" / absolute.relative_to(self._run)
        return path

    def python(self, node: Node) -> tuple[str, ...]:
        return (
            "/usr/bin/env",
            f"PYTHONPATH={self.folder / TOOLKIT}",
            self._target(node.name).python,
        )

    def act(self, node: Node, name: str, *arguments: Any) -> Any:
        return self._call(node.name, "act", name, list(arguments))

    def _started(
        self, verb: str, node: Node, command: Command, stdout: Path, stderr: Path, *more: str
    ) -> ProcessId:
        named = {"tag": self.tag, "node": node.name, "name": command.name}
        self.journal.intend("start", argv=list(command.argv), **named)
        streams = [str(self.at(node, stream)) for stream in (stdout, stderr)]
        given = {**asdict(self._placed(node, command)), "env": dict(command.env)}
        pid, ticks = self._call(node.name, verb, self.tag, node.name, given, *streams, *more)
        self.journal.write("process-started", **named, pid=pid, start_ticks=ticks)
        return ProcessId(node.name, command.name, pid, ticks)

    def _placed(self, node: Node, command: Command) -> Command:
        """The command line that runs the command where the node is."""
        return command

    def _call(
        self, node: str, verb: str, *arguments: Any, timeout_s: float = CALL_TIMEOUT_S
    ) -> Any:
        return channel(self._target(node)).call(verb, *arguments, timeout_s=timeout_s)

    def _target(self, node: str) -> Target:
        return self._place().reach[node]
