"""Every metric that a trial or a test case may have: those of the registered workloads, then those that any
workload may have, and those that other packages add by an entry point."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from density_study.cluster.plugins import unusable, values_of
from density_study.workloads.base.metric import MetricKind
from density_study.workloads.base.metrics import METRICS
from density_study.workloads.study.registry import kinds


@cache
def metric_kinds() -> Mapping[str, MetricKind]:
    """By name, in the order of summary.json. InputError if a name is declared twice."""
    found: dict[str, MetricKind] = {}
    of_any = {metric.name: metric for metric in METRICS}
    for kind in kinds().values():
        for metric in kind.metrics:
            if metric.name in found | of_any:
                raise unusable("metric", f"{metric.name!r} is declared twice", kind.name)
            found[metric.name] = metric
    found |= of_any
    for name, metric in values_of("metric", MetricKind):
        if metric.name in found:
            raise unusable("metric", f"{metric.name!r} is declared twice", name)
        found[metric.name] = metric
    return MappingProxyType(found)


@cache
def main_rates() -> tuple[str, ...]:
    """The name of each workload's rate."""
    return tuple(kind.rate for kind in kinds().values())


def known_metric(name: str) -> str:
    """The name, if such a metric is declared. ValueError otherwise, which lists those that are."""
    if name not in metric_kinds():
        raise ValueError(
            f"no metric {name!r} is declared; install the package that declares it. Declared are "
            f"{', '.join(metric_kinds())}"
        )
    return name
