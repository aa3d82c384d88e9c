"""Registration of YCSB: the keys `ycsb` and `genomics` of a study."""

from __future__ import annotations

from collections.abc import Sequence

from density_study.workloads.base.values import ClientRun, Turns
from density_study.workloads.base.workload import TrialContext, Workload, WorkloadKind
from density_study.workloads.ycsb.facts.metrics import METRICS
from density_study.workloads.ycsb.genomics import GenomicsSpec
from density_study.workloads.ycsb.imported import ImportedYcsb
from density_study.workloads.ycsb.spec import YcsbSpec
from density_study.workloads.ycsb.test_case import YcsbTestCase


def _runner() -> Workload[YcsbTestCase]:
    from density_study.workloads.ycsb.workload import YcsbWorkload

    return YcsbWorkload()


def _duet(
    both: Sequence[tuple[TrialContext, Turns]], test_case: YcsbTestCase
) -> tuple[float, list[tuple[ClientRun, ...]]]:
    from density_study.workloads.ycsb.workload import in_turns

    return in_turns(both, test_case)


YCSB = WorkloadKind(
    name="ycsb",
    specs={"ycsb": YcsbSpec, "genomics": GenomicsSpec},
    test_case=YcsbTestCase,
    runner=_runner,
    title="YCSB",
    metrics=METRICS,
    rate="throughput",
    rate_words="operations per second",
    rates_title="YCSB throughput",
    rates_caption="Successful operations per second, by density.",
    parameters={
        "records": "records loaded",
        "threads": "threads per client",
        "samples": "variant store: samples loaded",
        "sites": "variant store: sites; each sample has a row per site",
    },
    duet=_duet,
    imported=ImportedYcsb,
)
