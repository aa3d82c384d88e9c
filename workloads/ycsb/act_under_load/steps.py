"""Acts that no tool of the store does: daemons restarted one after the other, a DataNode emptied."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from density_study.cluster.clients.client_commands import hadoop_command
from density_study.cluster.lifecycle.rendering import rendering_of
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.render.conf_files import with_properties
from density_study.cluster.stores.answers import Seen, fetch_json
from density_study.cluster.stores.hadoop import jmx_check
from density_study.cluster.stores.store import render, store_of
from density_study.workloads.base.client_run import require_success, run_client
from density_study.workloads.base.workload import TrialContext

STOP_S, READY_S, POLL_S = 60.0, 300.0, 0.5
_REFRESH = "org.apache.hadoop.hdfs.tools.DFSAdmin"
_STATE = "NameNode,name=FSNamesystemState"


def restart(context: TrialContext, victims: Sequence[ProcessId], stopped: threading.Event) -> None:
    """Stop and start each process, and wait until all services of the store are ready again."""
    cluster = context.cluster
    daemons = {(one.node, one.name): one for one in render(rendering_of(cluster)).daemons}
    nodes = {node.name: node for node in cluster.topology.nodes}
    for victim in victims:
        if stopped.is_set():
            break
        daemon = daemons[victim.node, victim.name]
        context.transport.stop(victim, STOP_S)
        streams = (Path(f"{name}.restarted") for name in (daemon.stdout, daemon.stderr))
        context.transport.serve(nodes[victim.node], daemon.command, *streams)
        _await(context, stopped, _alive(context, victim), victim.name)
        for service in store_of(cluster.topology).readiness(cluster.built, cluster.endpoints):
            _await(context, stopped, service.check, service.name)


def empty(context: TrialContext, stopped: threading.Event) -> None:
    """Decommission the last worker's DataNode: all of its blocks have a replica elsewhere when this returns.
    The NameNode reads its configuration again for it."""
    cluster = context.cluster
    blueprint = rendering_of(cluster)
    master, worker = cluster.built.master, cluster.built.workers[-1]
    name = f"nodes/{master.name}/hdfs-site.xml"
    excludes = blueprint.places.conf_of(master) / "excludes"
    text = with_properties(render(blueprint).files[name], {"dfs.hosts.exclude": str(excludes)})
    address = blueprint.ports.address(worker, "datanode.data")
    put = partial(context.transport.put, master)
    put(f"{address}\n", Path(excludes))
    put(text, Path(blueprint.places.conf) / name)
    refresh = hadoop_command(cluster, "act-refresh", _REFRESH, ("-refreshNodes",))
    require_success(context, run_client(context, refresh, READY_S, "logs"), "the decommission")
    namenode = cluster.endpoints.one("namenode.http")
    fetch = partial(fetch_json, network=cluster.endpoints.network)
    _await(context, stopped, jmx_check(fetch, namenode, _STATE, _left, 1), "namenode", limit=False)


def _left(beans: dict[str, int], expected: int) -> Seen:
    done, leaving = beans["NumDecomLiveDataNodes"], beans["NumDecommissioningDataNodes"]
    return Seen(done == expected, f"{done} DataNodes have left, {leaving} are leaving")


def _alive(context: TrialContext, process: ProcessId) -> Callable[[], Seen]:
    """Whether the daemon's own page answers: the master may still take the one before for alive."""
    endpoints = context.cluster.endpoints
    address = endpoints.all("regionserver.http")[f"{process.node}/{process.name}"]
    fetch = partial(fetch_json, network=endpoints.network)
    server = "HBase,name=RegionServer,sub=Server"
    return jmx_check(fetch, address, server, lambda _, __: Seen(True, "it answers"), 1)


def _await(
    context: TrialContext,
    stopped: threading.Event,
    check: Callable[[], Seen],
    name: str,
    limit: bool = True,
) -> None:
    deadline = time.monotonic() + READY_S * context.timeout_scale
    while not (seen := check()).ready:
        if stopped.wait(POLL_S) or (limit and time.monotonic() > deadline):
            raise StudyError(
                f"{name} was not ready again: {seen.state}.",
                f"build {context.cluster.site.root.name}",
                "read the daemon's log below the run's builds folder.",
            )
