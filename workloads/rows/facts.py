"""The facts of each workload. Spark's executors load this module, so it imports no model of a setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from density_study.workloads.base.rows import Facts, Rows
from density_study.workloads.pipeline import facts as pipeline
from density_study.workloads.testdfsio import facts as testdfsio
from density_study.workloads.ycsb.facts import trial as ycsb

FACTS: Mapping[str, Callable[[Rows], Facts]] = MappingProxyType(
    {"testdfsio": testdfsio.facts, "ycsb": ycsb.facts, "pipeline": pipeline.facts}
)


def facts_of(workload: str) -> Callable[[Rows], Facts]:
    """Facts of the workload; none of one that another package adds, which has no tables of its own yet."""
    return FACTS.get(workload, lambda _: Facts())
