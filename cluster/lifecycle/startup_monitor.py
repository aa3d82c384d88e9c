"""`StartupMonitor`: watches the daemons during bring-up, and fails at once when one dies. `why_dead`: the
line that explains most, of a daemon that died later."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import BringUpError
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import ProcessId, Transport
from density_study.cluster.providers.provider import node_paths, out_of_memory
from density_study.cluster.render.daemons import Daemon

POLL_S = 0.1
LAST_LINES = 30
ERRORS = 5
WIDTH = 300
"""Characters; Hadoop logs its class path, 20,000 of them, on one line."""

ERROR = re.compile(r"\b(ERROR|FATAL)\b|^[EF][0-9]{4,8} |^Caused by:|^Exception in thread")
"""Lines of log4j and logback, of glog and of Java that report an error."""


@dataclass
class StartupMonitor:
    """The daemons of one bring-up, their processes, and the deadline by which all must be ready.

    `logs` is a folder on the controller; the logs of a daemon that fails are copied there. `poll_s` is longer
    for emulated guests: ten polls per second would take half of a guest's CPU.
    """

    transport: Transport
    nodes: Mapping[str, Node]
    logs: Path
    deadline_s: float
    poll_s: float = POLL_S
    running: dict[ProcessId, Daemon] = field(default_factory=dict)
    began_s: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the first process was started."""
        return time.monotonic() - self.began_s

    @property
    def overdue(self) -> bool:
        return self.seconds > self.deadline_s

    def check_alive(self) -> None:
        """BringUpError if a daemon has died."""
        for process in self.transport.dead(tuple(self.running)):
            self._fail(self.running[process], "died during bring-up.")

    def until_ended(self, process: ProcessId, daemon: Daemon) -> None:
        """Wait for a preparing command. BringUpError if it fails, is late, or a daemon dies."""
        while self.transport.alive(process):
            self.check_alive()
            if self.overdue:
                self._fail(daemon, f"did not finish within {self.seconds:.0f} s.")
            time.sleep(self.poll_s)
        code = self.transport.wait(process, timeout_s=1.0)
        if code != 0:
            self._fail(daemon, f"exited with code {code}.")

    def fail_overdue(self, name: str, state: str) -> NoReturn:
        """Raise BringUpError for the daemon that answers for a service."""
        daemon = next(d for d in self.running.values() if name in (d.name, f"{d.node}/{d.name}"))
        self._fail(daemon, f"was not ready after {self.seconds:.0f} s: {state}.")

    def has_logged(self, role: str, text: str) -> bool:
        """Whether any daemon of that role has `text` in its log."""
        daemons = [daemon for daemon in self.running.values() if daemon.role == role]
        return any(text in line for d in daemons for line in self._lines(d, Path(d.log)))

    def printed(self, role: str) -> Iterator[list[str]]:
        """Standard output of each daemon of that role."""
        daemons = [daemon for daemon in self.running.values() if daemon.role == role]
        yield from (self._lines(daemon, Path(daemon.stdout)) for daemon in daemons)

    def _fail(self, daemon: Daemon, what: str) -> NoReturn:
        raise BringUpError(
            f"{daemon.name} {what}",
            f"{daemon.name} on node {daemon.node!r}",
            f"read its last lines below and the logs in {daemon.log.parent}, then start again.",
            daemon=daemon.name,
            log_tail=self._tail(daemon),
        )

    def _tail(self, daemon: Daemon) -> str:
        """The last lines of its output and its log, each under the name of the file."""
        parts = []
        for path in (Path(daemon.stdout), Path(daemon.stderr), Path(daemon.log)):
            lines = self._lines(daemon, path)
            if lines:
                parts += [f"[{path.name}]", *log_tail(lines)]
        return "\n".join(parts)

    def _lines(self, daemon: Daemon, path: Path) -> list[str]:
        return fetched_lines(self.transport, self.nodes[daemon.node], path, self.logs)


def fetched_lines(transport: Transport, node: Node, path: Path, logs: Path) -> list[str]:
    """The lines of a node's file, of which a copy goes to `logs`; none if the daemon died before it wrote."""
    to = logs / node.name / path.name
    try:
        transport.fetch(node, path, to)
        return to.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []


def log_tail(lines: Sequence[str]) -> list[str]:
    """The last lines, preceded by the last errors above them: shutdown messages push those up."""
    last = [line[:WIDTH] for line in lines[-LAST_LINES:]]
    above = [line[:WIDTH] for line in lines[:-LAST_LINES] if ERROR.search(line)]
    return [*above[-ERRORS:], "...", *last] if above else last


def why_dead(cluster: Cluster, transport: Transport, dead: list[ProcessId]) -> str:
    """'regionserver-1 on w1 died: Terminating due to java.lang.OutOfMemoryError: Java heap space
    (logs/w1/regionserver-1.out)'. What the kernel knows of containers without memory comes first."""
    causes = out_of_memory(cluster.site, cluster.topology)
    found = []
    for process in dead:
        words = _last_words(cluster, transport, process)
        found.append(f"{process.name} on {process.node} died{words and f': {words}'}")
    return "; ".join((*causes, *found))


def _last_words(cluster: Cluster, transport: Transport, process: ProcessId) -> str:
    """Empty if it wrote nothing: then something killed it. A JVM explains its end on its output."""
    paths = node_paths(cluster.site, cluster.topology)
    node = next(one for one in cluster.topology.nodes if one.name == process.node)
    for suffix in ("out", "err", "log"):
        path = Path(paths.log(node, process.name, suffix))
        lines = fetched_lines(transport, node, path, cluster.site.root / "logs")
        telling = [
            line for line in lines if line.strip() and (suffix != "log" or ERROR.search(line))
        ]
        if telling:
            return f"{telling[-1].strip()[:WIDTH]} (logs/{node.name}/{path.name})"
    return ""
