"""The summary's warnings about the programs that were measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from density_study.analysis.summary.summary import SummaryWarning
from density_study.cluster.model.topology import Topology
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.recorded import RecordedTopology


def quick_compilers(topologies: Iterable[Topology | RecordedTopology]) -> Iterator[SummaryWarning]:
    if any(isinstance(one, Topology) and one.jit == "c1" for one in topologies):
        yield SummaryWarning(
            code="c1-only",
            message="Only C1 compiled all JVMs (`stack.jit: c1`), which warms up sooner: rates are lower "
            "than in production, and another resource may limit them.",
            remedy="For numbers to decide by, leave out `jit`.",
        )


def store_cautions(manifests: Sequence[Manifest]) -> Iterator[SummaryWarning]:
    """What is disclosed of a store that is not a supported release, or whose binding never ran on it."""
    built, existing = (_disclosed(manifests, key) for key in ("store", "existing"))
    for caution in built:
        yield SummaryWarning(
            code="store-for-testing",
            message=f"{caution}.",
            remedy="Measure a supported release before you decide for or against this store.",
        )
    for caution in existing:
        yield SummaryWarning(
            code="store-untried",
            message=f"{caution}.",
            remedy="Compare its rates with those of a client that you trust before you use these numbers.",
        )


def _disclosed(manifests: Sequence[Manifest], key: str) -> list[str]:
    return sorted({one.disclosure.get(key, {}).get("caution", "") for one in manifests} - {""})
