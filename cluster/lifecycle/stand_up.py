"""`stand_up`: in place of bring-up, a cluster that is a queueing model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from density_study.cluster.lifecycle.bring_up import Phases
from density_study.cluster.lifecycle.network_proof import as_declared
from density_study.cluster.model.cluster import Cluster, Endpoints, Site
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.provider import provider_of
from density_study.cluster.providers.simulated.provider import clock_of, rehearsal_of
from density_study.cluster.providers.simulated.service_times import service_times
from density_study.cluster.state.journal import Journal

_TOGETHER = ("render", "create", "hbase", "check")
"""Phases of a bring-up that follow each other; HDFS and YARN come up while HBase does."""


def stand_up(site: Site, topology: Topology, journal: Journal) -> Cluster:
    """A cluster without processes and endpoints, saved as <site.root>/cluster.json."""
    clock, times = clock_of(journal), service_times()["phases_s"]
    rehearsal = rehearsal_of(site)
    journal.intend(
        "build", site.tag, build=site.root.name, provider=topology.provider.name, ports=[]
    )
    phases = Phases(site, journal)
    for name in ("render", "create", "start", "hdfs", "yarn", "hbase", "check"):
        clock.advance(times[name] if name in _TOGETHER else 0.0)
        phases.end(name, times[name])
    phases.end("total", sum(times[name] for name in _TOGETHER))
    nowhere, network = Path("/"), topology.variant.network
    cluster = Cluster(
        site=site,
        topology=topology,
        endpoints=Endpoints(),
        processes=(),
        hadoop_home=nowhere,
        java_home=nowhere,
        client_java_home=nowhere,
        disclosure={
            "provider": topology.provider.name,
            "isolation": topology.isolation,
            "effects": rehearsal.effects.name,
            "noise": asdict(rehearsal.noise),
            **provider_of(topology).disclose(topology),
            **({"network": as_declared(network)} if "network" in topology.levels else {}),
        },
    )
    return phases.ready(cluster)
