"""Last words of a daemon that died: the line of its output or log that explains most."""

from __future__ import annotations

from pathlib import Path

from density_study.cluster.lifecycle.startup_monitor import ERROR, WIDTH, fetched_lines
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.transport import ProcessId, Transport
from density_study.cluster.providers.provider import node_paths, out_of_memory


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
