"""DataNodes that do not read ahead: without Hadoop's native library, they leave an HDD to seek."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from density_study.analysis.summary.summary import SummaryWarning
from density_study.cluster.model.topology import Topology
from density_study.workloads.record.manifest import Manifest

NATIVE = "native_hadoop"
"""The key of a build's disclosure that says whether its DataNodes loaded libhadoop."""


def without_read_ahead(manifests: Iterable[Manifest]) -> frozenset[str]:
    """Topologies with DataNodes on HDDs in a build that does not disclose libhadoop. For clusters that this
    program did not build, it is unknown: they are not among them."""
    return frozenset(
        one.topology.name
        for one in manifests
        if isinstance(one.topology, Topology)
        and one.topology.variant.disk_type == "hdd"
        and one.topology.store.hadoop
        and one.disclosure.get(NATIVE) is not True
    )


def read_ahead_warnings(topologies: Collection[str]) -> Iterator[SummaryWarning]:
    if topologies:
        yield SummaryWarning(
            code="no-read-ahead",
            subject="hdd",
            message="DataNodes on HDDs ran without libhadoop, so they did not read ahead "
            "(`dfs.datanode.readahead.bytes`): a sequential read is slower than that of a usual cluster, and "
            "nothing here is a claim about HDDs.",
            remedy="Put the `libhadoop.so` of this Hadoop release into `/usr/lib` of every worker (or of the "
            "image of the VMs), where Java looks for it, or measure an existing cluster.",
        )
