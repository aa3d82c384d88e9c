"""Commands that run in a node's container, on this machine or over SSH; files are the host's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from density_study.cluster.machine.io_limits import ROOT
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.providers.container.names import container_id
from density_study.cluster.providers.local.transport import LocalTransport
from density_study.cluster.providers.ssh.transport import Place, SshTransport
from density_study.cluster.state.events import ContainerUp
from density_study.cluster.state.journal import Journal

# A shell joins the cgroups, then becomes nsenter, which becomes the command: all of them are one process.
_ENTER = f"""\
set -e
for group in {ROOT}/"$1" {ROOT}/*/"$1"; do
  if [ -d "$group" ]; then echo $$ > "$group/cgroup.procs"; fi
done
pid=$2 folder=$3
shift 3
exec nsenter --target "$pid" --mount --uts --ipc --net --wdns="$folder" -- "$@"
"""


class _Entrance:
    """Commands as they run in containers. They are children of the caller, or of the host's agent: pid,
    signals and exit code are the command's own."""

    def __init__(self, transport: LocalTransport | SshTransport) -> None:
        self._transport = transport
        self._up = cache(self._up_now)

    def placed(self, node: Node, command: Command) -> Command:
        """StudyError if the node's container does not run."""
        up = self._up(node.name)
        if self._transport.dead([ProcessId(node.name, "container", up.pid, up.start_ticks)]):
            raise StudyError(
                "it does not run any more.",
                f"container of node {node.name!r}",
                "find out what stopped it, and run the same command again.",
            )
        name = container_id(self._transport.tag, node.host, node.name)
        words = (name, str(up.pid), command.cwd or "/")
        argv = ("/bin/sh", "-c", _ENTER, "enter", *words, *command.argv)
        return replace(command, argv=argv, cwd=None)

    def _up_now(self, node: str) -> ContainerUp:
        """The container's start, from the journal: any process may use what another one made."""
        found = [
            event
            for event in self._transport.journal.events(ContainerUp)
            if event.tag == self._transport.tag and event.node == node
        ]
        if not found:
            raise StudyError(
                "it was never made.", f"container of node {node!r}", "run the same command again."
            )
        return found[-1]


class ContainerTransport(LocalTransport):
    def __init__(self, tag: str, journal: Journal) -> None:
        super().__init__(tag, journal)
        self._entrance = _Entrance(self)

    def _placed(self, node: Node, command: Command) -> Command:
        return self._entrance.placed(node, command)

    def _cgroup(self, node: Node) -> Path | None:
        return None  # limits of its disk are its container's


class ContainerSshTransport(SshTransport):
    def __init__(self, site: Site, journal: Journal, place: Callable[[], Place]) -> None:
        super().__init__(site, journal, place)
        self._entrance = _Entrance(self)

    serve = SshTransport.start  # a unit of systemd would have its own cgroup

    def _placed(self, node: Node, command: Command) -> Command:
        return self._entrance.placed(node, command)
