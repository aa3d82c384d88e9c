"""Readiness of HBase: a client of the whole cluster writes a row and reads it back."""

from __future__ import annotations

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import BringUpError
from density_study.cluster.providers.provider import provider_of
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.timeout_scale import timeout_scale
from density_study.workloads.ycsb.table_tool import tool_command

DEADLINE_S = 60


def row_written_and_read(cluster: Cluster, journal: Journal) -> None:
    """Returns when every RegionServer is live and a probe row was read back. BringUpError otherwise."""
    node = cluster.topology.client
    deadline_s = round(DEADLINE_S * timeout_scale(cluster.site.tag, journal))
    servers = str(len(cluster.endpoints.regionserver_http))
    given = cluster.topology.given
    verb: tuple[str, ...] = ("ready", "--regionservers", servers, "--deadline-s", str(deadline_s))
    if given is not None:
        verb = (*verb, "--namespace", given.namespace)
    command = tool_command(cluster, "hbase-ready", verb)
    transport = provider_of(cluster.topology.provider).transport(cluster.site, journal)
    logs = cluster.site.root / "logs" / node.name
    process = transport.start(node, command, logs / "hbase-ready.out", logs / "hbase-ready.err")
    try:
        exit_code = transport.wait(process, deadline_s * 2.0)
    except TimeoutError:
        exit_code = None
    finally:
        transport.stop(process)
        transport.collect(node, logs)
    if exit_code != 0:
        raise BringUpError(
            "no row could be written to HBase and read back.",
            f"hbase on {cluster.endpoints.zookeeper}",
            f"read {logs}/hbase-ready.err and the RegionServers' logs.",
            daemon="hbase-ready",
            log_tail=(logs / "hbase-ready.err").read_text(errors="replace")[-2000:],
        )
