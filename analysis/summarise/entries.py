"""The test cases and trials of a run, as its summary holds them."""

from __future__ import annotations

import math

import pandas as pd

from density_study.analysis.findings import MIN_BUILDS
from density_study.analysis.findings.question import IntervalOf
from density_study.analysis.statistics.interval import mean_interval
from density_study.analysis.summarise.analysed_run import AnalysedRun
from density_study.analysis.summary.summary import (
    Metric,
    ProbeSummary,
    SearchSummary,
    TestCaseSummary,
    TrialSummary,
    unknown_first,
)
from density_study.workloads.record.searches import searches
from density_study.workloads.study.metrics import metric_kinds

_OF_TRIAL = (
    "trial", "order", "repetition", "build", "topology", "disk_type", "test_case", "workload", "state",
)  # fmt: skip


def trial_summaries(run: AnalysedRun) -> tuple[TrialSummary, ...]:
    """Every trial with a closed record, in the order in which they ran."""
    metrics = {str(trial): rows for trial, rows in run.metrics.groupby("trial")}
    return tuple(
        TrialSummary(
            **{name: row[name] for name in _OF_TRIAL},
            vms_per_host=_number(row["vms_per_host"]),
            counted=bool(run.verdicts.loc[row["trial"], "counted"]),
            verdict=run.verdicts.loc[row["trial"], "verdict"],
            reasons=tuple(run.verdicts.loc[row["trial"], "reasons"]),
            measure_s=_number(row["measure_s"]),
            overhead_pair=None if pd.isna(row["overhead_pair"]) else int(row["overhead_pair"]),
            monitored=bool(row["monitored"]),
            probe=None if pd.isna(row["probe"]) else int(row["probe"]),
            metrics=_metrics(metrics.get(row["trial"])),
            warm_up_s=_number(row["warm_up_s"]),
        )
        for row in run.trials.to_dict("records")
    )


def case_summaries(
    run: AnalysedRun, interval: IntervalOf = mean_interval
) -> tuple[TestCaseSummary, ...]:
    """Every test case on every topology where it ran, including those without a valid trial."""
    is_counted = run.trials["trial"].map(run.verdicts["counted"])
    counted = run.trials[is_counted & run.trials["studied"]]
    variant = ["test_case", "topology"]
    builds = counted.groupby(variant)["build"].nunique().to_dict()
    unknown = counted[counted["trial"].map(run.verdicts["verdict"]) == "unknown"]
    unknown_builds = unknown.groupby(variant)["build"].nunique().to_dict()
    metrics = dict(iter(run.test_case_metrics.groupby(["test_case", "topology"])))
    tried = set(zip(run.trials["test_case"], run.trials["topology"], strict=True))
    place = {test_case: number for number, test_case in enumerate(run.labels)}
    entries = [
        TestCaseSummary(
            topology=topology.name,
            vms_per_host=topology.variant.vms_per_host,
            regionservers_per_node=topology.variant.regionservers_per_node,
            disk_type=topology.variant.disk_type,
            levels=dict(topology.levels),
            test_case=test_case,
            workload=run.test_cases[test_case].workload,
            label=run.labels[test_case],
            n_builds=builds.get((test_case, topology.name), 0),
            n_unknown=unknown_builds.get((test_case, topology.name), 0),
            usd_per_hour=run.usd_per_hour.get(topology.name),
            metrics=tuple(
                _with_interval(metric, interval)
                for metric in _metrics(metrics.get((test_case, topology.name)))
            ),
            **run.test_cases[test_case].summary_fields(),
        )
        for test_case, topology in ((test_case, run.topologies[name]) for test_case, name in tried)
    ]

    def key(entry: TestCaseSummary) -> tuple[object, ...]:
        order = run.topologies[entry.topology].order  # baselines come first
        density = unknown_first(entry.vms_per_host)
        return place[entry.test_case], entry.disk_type, density, order, entry.topology

    return tuple(sorted(entries, key=key))


def search_summaries(run: AnalysedRun) -> tuple[SearchSummary, ...]:
    """Every search, in the order of the test cases and of their trials."""
    place = {test_case: number for number, test_case in enumerate(run.labels)}
    found = sorted(searches(run.manifests), key=lambda one: place[one.test_case])
    return tuple(
        SearchSummary(
            test_case=one.test_case,
            topology=one.topology,
            build=one.build,
            goal=one.search.goal,
            unit=one.search.unit,
            limits_ms={f"{x.operation} p{x.percentile:g}": x.ms for x in one.search.limits},
            probes=tuple(ProbeSummary(trial=t, **p.model_dump()) for t, p in one.probes.items()),
            answer=one.answer,
            answer_load=one.ended.answer.load if one.ended.answer else None,
            rejected_load=one.ended.rejected,
            exact=one.ended.exact,
            why=one.ended.why,
        )
        for one in found
    )


def _with_interval(metric: Metric, interval: IntervalOf) -> Metric:
    """The metric with an interval, if it has at least five units (method 2)."""
    if len(metric.points) < MIN_BUILDS or metric.value is None:
        return metric
    ends = interval(metric.points)
    # the value is the median, the interval that of the mean: extended, so that it includes the median
    low, high = min(ends.low, metric.value), max(ends.high, metric.value)
    return metric.model_copy(update={"low": low, "high": high})


def _metrics(rows: pd.DataFrame | None) -> tuple[Metric, ...]:
    """Rows of `metrics` or `test_case_metrics`, in the order of `metric_kinds`."""
    found = [
        Metric(
            **{name: row[name] for name in ("name", "unit", "operation", "latency_kind", "scope")},
            value=_number(row["value"]),
            percentile=_number(row["percentile"]),
            n=row.get("n", 1),
            points=tuple(row.get("points", ())),
        )
        for row in ([] if rows is None else rows.to_dict("records"))
    ]
    order = {name: place for place, name in enumerate(metric_kinds())}
    return tuple(sorted(found, key=lambda metric: (order[metric.name], *_part(metric))))


def _part(metric: Metric) -> tuple[str, str, float, str]:
    return (
        metric.operation or "",
        metric.latency_kind or "",
        metric.percentile or 0.0,
        metric.scope or "",
    )


def _number(value: float | None) -> float | None:
    """None for NaN: pandas reads a null as NaN, and no table holds NaN."""
    return None if value is None or math.isnan(value) else float(value)
