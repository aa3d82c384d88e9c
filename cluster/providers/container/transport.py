"""`ContainerTransport`: processes of this machine that run in a node's container; files are the same."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.providers.container.cgroups import groups
from density_study.cluster.providers.container.names import container_id
from density_study.cluster.providers.local.transport import LocalTransport
from density_study.cluster.state.events import ContainerUp
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import is_alive

# A shell joins the cgroups, then becomes nsenter, which becomes the command: all of them are one process.
_ENTER = """\
set -e
for group in $1; do echo $$ > "$group/cgroup.procs"; done
pid=$2 folder=$3
shift 3
exec nsenter --target "$pid" --mount --uts --ipc --net --wdns="$folder" -- "$@"
"""


class ContainerTransport(LocalTransport):
    """Children of the caller, as with `LocalTransport`: pid, signals and exit code are the command's own."""

    def __init__(self, tag: str, journal: Journal) -> None:
        super().__init__(tag, journal)
        self._up = cache(self._up_now)

    def _placed(self, node: Node, command: Command) -> Command:
        """StudyError if the node's container does not run."""
        up = self._up(node.name)
        if not is_alive(ProcessId(node.name, "container", up.pid, up.start_ticks)):
            raise StudyError(
                "it does not run any more.",
                f"container of node {node.name!r}",
                "find out what stopped it, and run the same command again.",
            )
        joined = " ".join(map(str, groups(container_id(self.tag, node.name))))
        enter = ("/bin/sh", "-c", _ENTER, "enter", joined, str(up.pid), command.cwd or "/")
        return replace(command, argv=(*enter, *command.argv), cwd=None)

    def _up_now(self, node: str) -> ContainerUp:
        """From the journal: any process may start commands in what another one made."""
        found = [
            event
            for event in self.journal.events(ContainerUp)
            if event.tag == self.tag and event.node == node
        ]
        if not found:
            raise StudyError(
                "it was never made.", f"container of node {node!r}", "run the same command again."
            )
        return found[-1]

    def _cgroup(self, node: Node) -> Path | None:
        return None  # limits of its disk are its container's
