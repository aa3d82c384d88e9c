"""The facts of each workload. Spark's executors load this module, so it imports no model of a test case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

from density_study.cluster.plugins import values_of
from density_study.workloads.base import metrics as of_any
from density_study.workloads.base.metric import MetricKind
from density_study.workloads.base.rows import Facts, Rows
from density_study.workloads.pipeline import facts as pipeline
from density_study.workloads.pipeline import metrics as of_pipeline
from density_study.workloads.testdfsio import facts as testdfsio
from density_study.workloads.testdfsio import metrics as of_testdfsio
from density_study.workloads.ycsb.facts import metrics as of_ycsb
from density_study.workloads.ycsb.facts import trial as ycsb

if TYPE_CHECKING:
    from density_study.workloads.base.workload import WorkloadKind

FACTS: Mapping[str, Callable[[Rows], Facts]] = MappingProxyType(
    {"testdfsio": testdfsio.facts, "ycsb": ycsb.facts, "pipeline": pipeline.facts}
)


@cache
def computed_metrics() -> tuple[MetricKind, ...]:
    """Metrics that compute themselves from the rows of a trial, those of other packages among them."""
    added = (metric for _, metric in values_of("metric", MetricKind))
    ours = (one.METRICS for one in (of_testdfsio, of_ycsb, of_pipeline, of_any))
    return tuple(metric for metric in (*chain.from_iterable(ours), *added) if metric.compute)


def own_rate(workload: str) -> str | None:
    """Name of the rate of a workload of another package. Our own rates begin with `throughput`."""
    return None if workload in FACTS else _kind_of(workload).rate


def facts_of(workload: str) -> Callable[[Rows], Facts]:
    """Facts of the workload. One of another package brings its own; without them, its verdict is unknown."""
    if workload in FACTS:
        return FACTS[workload]
    return _kind_of(workload).facts or (lambda _: Facts())


def _kind_of(workload: str) -> WorkloadKind:
    from density_study.workloads.study.registry import kind_of  # loads the models of test cases

    return kind_of(workload)
