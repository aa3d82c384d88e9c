"""Runs the noisy neighbour of a victim around the victim's window.

The victim's table is confined to the RegionServers of one node; the noise runs on another node of the same
host. Both trials of a pair have this layout, so that they differ only in the noise.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from density_study.cluster.machine.directories import data_dir
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Node, Placed
from density_study.cluster.model.transport import Command
from density_study.workloads.base.workload import TrialContext

NAME = "neighbour"
NOBODY = "nobody"  # name of the neighbour when the victim runs alone
_SETTLE_S = 1.0
_SOURCE = Path(__file__).with_name("neighbour_load.py")


def pair(topology: Placed) -> tuple[Node, Node] | None:
    """(victim's node, neighbour's node): the first two workers that share a host. None if no host has two."""
    for host in topology.hosts:
        workers = [node for node in topology.workers if node.host == host.name]
        if len(workers) > 1:
            return workers[0], workers[1]
    return None


def required_pair(topology: Placed) -> tuple[Node, Node]:
    """The nodes that `pair` finds; StudyError if there are none."""
    nodes = pair(topology)
    if nodes is None:
        raise StudyError(
            "no host has two workers, so the victim has no neighbour.",
            f"topology {topology.name}",
            "remove `noisy_neighbour`, or add a density of 2 or more to factors.vms_per_host.",
        )
    return nodes


def victims_servers(context: TrialContext) -> str:
    """HOST:PORT,... of the web servers of the RegionServers on the victim's node."""
    victim, _ = required_pair(context.cluster.topology)
    servers = context.cluster.endpoints.all("regionserver.http").items()
    return ",".join(address for name, address in servers if name.split("/")[0] == victim.name)


@contextmanager
def noise(context: TrialContext, threads: int) -> Iterator[None]:
    """Keeps `threads` cores busy and writes to disk next to the victim during the block; 0: no noise.

    raw/neighbour.out receives what the neighbour did. StudyError if it failed or ended early.
    """
    if threads == 0:
        yield
        return
    _, node = required_pair(context.cluster.topology)
    # The source is on the command line: the node only needs Python's standard library.
    source = _SOURCE.read_text(encoding="utf-8")
    argv = (*context.transport.python(node), "-c", source, "--threads", str(threads))
    out, err = (context.record.raw / f"{NAME}.{suffix}" for suffix in ("out", "err"))
    disk = str(data_dir(context.cluster.site, node))  # it writes to the node's own
    process = context.transport.start(node, Command(NAME, argv, cwd=disk), out, err)
    time.sleep(_SETTLE_S)  # start of the interpreter; the victim's ramp-up is excluded anyway
    try:
        yield
        survived = context.transport.alive(process)
    finally:
        context.transport.stop(process)
        context.transport.collect(node, context.record.raw)
    done = noise_made(context.record.raw)
    if not survived or done is None or done["fault"]:
        why = done["fault"] if done and done["fault"] else "it ended early"
        raise StudyError(
            f"the noisy neighbour failed: {why}.",
            f"{NAME} on node {node.name}",
            f"read {context.record.root.name}/raw/{NAME}.err.",
        )


def noise_made(raw: Path) -> dict[str, Any] | None:
    """The neighbour's report: seconds, hashed_mib, written_mib, fault. None if there is no report."""
    path = raw / f"{NAME}.out"
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    made: dict[str, Any] | None = json.loads(text) if text.strip() else None
    return made
