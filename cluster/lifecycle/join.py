"""Joining an existing cluster: in place of bring-up, the study's folder and namespace on a cluster of
others."""

from __future__ import annotations

import hashlib
from pathlib import Path

from density_study.cluster.lifecycle.bring_up import FinalCheck, Phases
from density_study.cluster.lifecycle.host_facts import facts_of
from density_study.cluster.model.cluster import Cluster, Site
from density_study.cluster.model.topology import ExistingTopology
from density_study.cluster.model.versions import NATIVE
from density_study.cluster.providers.existing.placing import existing_provider
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state.journal import Journal

CLIENTS = ("java", "hadoop", NATIVE)


def join(
    site: Site, topology: ExistingTopology, journal: Journal, final_check: FinalCheck
) -> Cluster:
    """Make what the study may use of the cluster, and prove that it can be used. Saved as
    <site.root>/cluster.json.

    Phases in seconds: `create`, `check` and `total`. StudyError if the cluster does not answer or refuses.
    Call `tear_down` in every case.
    """
    provider = existing_provider(topology)
    phases = Phases(site, journal)
    with phases.timed("total"):
        journal.intend(
            "build", site.tag, build=site.root.name, provider=topology.provider.name, ports=[]
        )
        with phases.timed("create"):
            provider.create(site, topology, journal)
        joined = provider.join(site, topology)
        stacks = ensure_stacks(joined.versions)
        known = stacks.disclose()
        homes = stacks.install_dirs()
        cluster = Cluster(
            site=site,
            topology=topology,
            endpoints=joined.endpoints,
            processes=(),  # none is ours: nobody here sees whether a daemon restarts
            hadoop_home=Path(homes.hadoop),
            java_home=Path(homes.java),
            client_java_home=Path(homes.client_java),
            disclosure={
                "provider": topology.provider.name,
                "existing": dict(joined.seen),
                "clients": {name: known[name] for name in CLIENTS if name in known},
                # only by hash: a client's configuration may hold passwords
                "files": {
                    path.name: _file(path) for path in sorted(joined.client_conf.glob("*.xml"))
                },
                "facts": facts_of(topology),
                **provider.disclose(topology),
            },
            client_versions=joined.versions,
        )
        with phases.timed("check"):
            final_check(cluster)
    return phases.ready(cluster)


def _file(path: Path) -> dict[str, str]:
    return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
