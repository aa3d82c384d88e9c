"""`factors.cluster`: existing clusters, compared by name. Nothing is built for a level: it is a
topology of its own (`existing_spec.existing_clusters`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import Field

from density_study.workloads.study.existing_spec import ClusterSpec
from density_study.workloads.study.factors.factor import Factor, LevelName


class Cluster(Factor[ClusterSpec]):
    """Density, disk type and RegionServers of an existing cluster are facts about it, and only declared."""

    name = "cluster"
    key = (
        dict[LevelName, ClusterSpec] | None,
        Field(
            None,
            min_length=2,
            description="Existing clusters to compare, by name, with provider `existing`, which has no other "
            "factor. The first one is the baseline.",
        ),
    )
    is_named = False
    about = "unknown"
    carries = ("vms_per_host", "regionservers_per_node", "disk_type", "hosts")

    def pairs(self, given: Mapping[str, ClusterSpec]) -> Iterator[tuple[str, ClusterSpec]]:
        yield from dict(given).items()


CLUSTER = Cluster()
