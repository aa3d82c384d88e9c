"""What a reader must know before believing a run's numbers: the summary's warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from analysis.findings import MIN_BUILDS
from analysis.summary.comparability import Difference
from analysis.summary.summary import TrialSummary
from cluster.model.topology import Topology
from workloads.record.manifest import Manifest

MAX_NAMED = 5


def caveats(
    manifests: Sequence[Manifest],
    topologies: Iterable[Topology],
    trials: Sequence[TrialSummary],
    planned: Iterable[str],
    unequal: Sequence[Difference],
) -> tuple[str, ...]:
    """Plain sentences, the gravest first. `planned`: names of the trials the plan wanted."""
    return (
        *_trials(trials, planned),
        *_topologies(list(topologies)),
        *_repetitions(manifests),
        *_memory(manifests),
        *_disclosure(unequal),
    )


def _trials(trials: Sequence[TrialSummary], planned: Iterable[str]) -> Iterator[str]:
    missing = set(planned) - {trial.trial for trial in trials}
    if missing:
        named = ", ".join(sorted(missing)[:MAX_NAMED])
        more = ", ..." if len(missing) > MAX_NAMED else ""
        yield f"{len(missing)} planned trial(s) left no record: {named}{more}."
    verdicts = Counter(trial.verdict for trial in trials)
    refused = [f"{verdicts[name]} {name}" for name in ("invalid", "unknown") if verdicts[name]]
    if refused:
        yield (
            f"Of {len(trials)} trials, {' and '.join(refused)}: shown below with the reasons, and "
            "outside every number of a setting."
        )


def _topologies(topologies: Sequence[Topology]) -> Iterator[str]:
    if any(topology.isolation == "process" for topology in topologies):
        yield (
            "isolation: process. Nodes are groups of processes on one machine, a stand-in for VMs; "
            "such a run decides no claim about VMs."
        )
    if any(set(t.client.roles) == {"client"} and _shares_host(t) for t in topologies):
        yield (
            "The client runs on a host of the cluster: its CPU is shown apart, and the scope "
            "host-less-client is the host's without client and monitors."
        )
    emulated = {t.medium for t in topologies for n in t.workers if n.disk and n.disk.emulated}
    for medium in sorted(emulated):
        yield f"medium: the {medium} of this run is emulated."


def _shares_host(topology: Topology) -> bool:
    return topology.client.host in {node.host for node in topology.workers}


def _repetitions(manifests: Sequence[Manifest]) -> Iterator[str]:
    repetitions = len({manifest.repetition for manifest in manifests})
    if repetitions < MIN_BUILDS:
        counted = "1 repetition" if repetitions == 1 else f"{repetitions} repetitions"
        yield f"{counted}: points without intervals; a claim needs {MIN_BUILDS} builds an arm."


def _memory(manifests: Sequence[Manifest]) -> Iterator[str]:
    """Method 5: below 1 the data may be served from memory; cold reads are proved one by one."""
    ratios = [
        manifest.data_set_mib / manifest.total_ram_mib
        for manifest in manifests
        if manifest.data_set_mib and manifest.total_ram_mib
    ]
    small = [ratio for ratio in ratios if ratio < 1]
    if small:
        yield (
            f"May be served from memory: in {len(small)} of {len(manifests)} trials the data set is "
            f"smaller than RAM ({min(small):.2g} to {max(small):.2g} of it). TestDFSIO reads are "
            "held against the bytes the disks read; YCSB reads are not."
        )


def _disclosure(unequal: Sequence[Difference]) -> Iterator[str]:
    """Method 23. What differs because the topology does is no surprise, and is not warned of."""
    if unequal:
        named = "; ".join(str(one) for one in unequal[:MAX_NAMED])
        more = f"; and {len(unequal) - MAX_NAMED} more" if len(unequal) > MAX_NAMED else ""
        yield (
            "Builds differ in what should be equal, so what they differ in is not compared: "
            f"{named}{more}."
        )
