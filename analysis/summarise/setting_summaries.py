"""The settings of a run on every topology, as its summary holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.findings import MIN_BUILDS
from analysis.statistics.interval import mean_interval
from analysis.summarise.analysed_run import AnalysedRun
from analysis.summarise.metric_entries import metric_entries
from analysis.summary.summary import Metric, SettingSummary


def setting_summaries(run: AnalysedRun) -> tuple[SettingSummary, ...]:
    """Every setting on every topology where it ran, including those without a valid trial."""
    verdicts = run.trials["trial"].map(run.verdicts["verdict"])
    valid = run.trials[(verdicts == "valid") & run.trials["overhead_pair"].isna()]
    builds = valid.groupby(["setting", "topology"])["build"].nunique().to_dict()
    keys = ["setting", "topology"]
    metrics = dict(iter(run.setting_metrics.groupby(keys)))
    tried = run.trials[[*keys, "workload"]].drop_duplicates().to_dict("records")
    place = {setting: number for number, setting in enumerate(run.labels)}
    entries = [
        _setting(run, row, builds.get(key, 0), metrics.get(key))
        for row in tried
        for key in [(row["setting"], row["topology"])]
    ]
    return tuple(
        sorted(entries, key=lambda e: (place[e.setting], e.medium, e.vms_per_host, e.topology))
    )


def _setting(
    run: AnalysedRun, row: Mapping[Any, Any], n_builds: int, metrics: pd.DataFrame | None
) -> SettingSummary:
    topology = run.topologies[row["topology"]]
    return SettingSummary(
        topology=topology.name,
        vms_per_host=topology.vms_per_host,
        regionservers_per_node=topology.regionservers_per_node,
        medium=topology.medium,
        setting=row["setting"],
        workload=row["workload"],
        label=run.labels[row["setting"]],
        n_builds=n_builds,
        usd_per_hour=run.usd_per_hour.get(topology.name),
        metrics=tuple(map(_with_interval, metric_entries(metrics))),
        **run.settings[row["setting"]].summary_fields(),
    )


def _with_interval(metric: Metric) -> Metric:
    """With an interval from 5 units on (method 2). The value is the median, the interval that of the mean:
    it is extended to include the median."""
    if len(metric.points) < MIN_BUILDS or metric.value is None:
        return metric
    ends = mean_interval(metric.points)
    low, high = min(ends.low, metric.value), max(ends.high, metric.value)
    return metric.model_copy(update={"low": low, "high": high})
