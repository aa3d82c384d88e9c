"""Readiness of the store: a client of the whole cluster writes a row and reads it back."""

from __future__ import annotations

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import BringUpError
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.provider import provider_of
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.timeout_scale import timeout_scale
from density_study.workloads.ycsb.stores.store_tool import store_command
from density_study.workloads.ycsb.table_tool import tool_command

DEADLINE_S = 60


def row_written_and_read(cluster: Cluster, journal: Journal) -> None:
    """Returns when every RegionServer is live and a probe row was read back, or the row of another store.
    BringUpError otherwise."""
    node, store = cluster.topology.client, cluster.topology.store
    deadline_s = round(DEADLINE_S * timeout_scale(cluster.site.tag, journal))
    name = f"{store.name}-ready"
    command = (
        _hbase_command(cluster, name, deadline_s)
        if store.restores
        else store_command(cluster, name, "usertable", "empty", "check")
    )
    transport = provider_of(cluster.topology).transport(cluster.site, journal)
    logs = cluster.site.root / "logs" / node.name
    process = transport.start(node, command, logs / f"{name}.out", logs / f"{name}.err")
    try:
        exit_code = transport.wait(process, deadline_s * 2.0)
    except TimeoutError:
        exit_code = None
    finally:
        transport.stop(process)
        transport.collect(node, logs)
    if exit_code != 0:
        points = cluster.endpoints
        place = points.one("zookeeper.client") or ", ".join(points.all("store").values())
        raise BringUpError(
            f"no row could be written to {store.title} and read back.",
            f"{store.name} on {place or node.name}",
            f"read {logs}/{name}.err and the servers' logs.",
            daemon=name,
            log_tail=(logs / f"{name}.err").read_text(errors="replace")[-2000:],
        )


def _hbase_command(cluster: Cluster, name: str, deadline_s: int) -> Command:
    servers = str(len(cluster.endpoints.all("regionserver.http")))
    existing = cluster.topology.existing
    verb: tuple[str, ...] = ("ready", "--regionservers", servers, "--deadline-s", str(deadline_s))
    if existing is not None:
        verb = (*verb, "--namespace", existing.namespace)
    return tool_command(cluster, name, verb)
