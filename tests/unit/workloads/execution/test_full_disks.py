"""A failed trial names full disks; an unreachable host does not cause a second failure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from density_study.cluster.model.cluster import Cluster, Endpoints, Site
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.local.provider import LocalProvider
from density_study.cluster.providers.provider import FreeResources
from density_study.workloads.execution import hosts_around_trial as module
from density_study.workloads.execution.hosts_around_trial import FULL_MIB, full_disks
from tests.support.topologies import local


class _Provider(LocalProvider):
    def __init__(self, disks_mib: Mapping[str, int] | None) -> None:
        self._disks_mib = disks_mib

    def free_resources(self, topology: Topology) -> Mapping[str, FreeResources]:
        if self._disks_mib is None:
            raise StudyError("no route to host", "host h1", "look at it")
        return {topology.hosts[0].name: FreeResources(9000, self._disks_mib)}


@pytest.mark.parametrize(
    ("disks_mib", "named"),
    [({"/a": FULL_MIB - 1, "/b": FULL_MIB}, ["/a"]), ({"/a": 90_000}, []), (None, [])],
)
def test_full_disks_are_named(
    monkeypatch: pytest.MonkeyPatch, disks_mib: Mapping[str, int] | None, named: list[str]
) -> None:
    monkeypatch.setattr(module, "provider_of", lambda _: _Provider(disks_mib))
    nowhere = Endpoints()
    root = Path("/nowhere")
    cluster = Cluster(Site(root, "s/r/b1"), local(), nowhere, (), root, root, root, {})
    told = full_disks(cluster)
    assert len(told) == len(named)
    for sentence, path in zip(told, named, strict=True):
        assert path in sentence and "h1" in sentence and "full" in sentence
