"""What a run that is under way has measured so far, as its summary will hold it, from only the records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import TYPE_CHECKING

from density_study.analysis.findings.power_of_design import made_up
from density_study.analysis.summary.summary import Metric, TestCaseSummary
from density_study.analysis.validity.judge import judge
from density_study.jobs.first_look.look import FirstLook, first_look
from density_study.workloads.base.rows import Row
from density_study.workloads.record.record import closed_records
from density_study.workloads.record.searches import answers
from density_study.workloads.testdfsio.facts import access_spreads

if TYPE_CHECKING:
    from density_study.workloads.execution.run import Run

_WHICH = ("name", "unit", "operation", "latency_kind", "percentile", "scope")
Rows = Sequence[Row]


def test_cases_so_far(run: Run) -> tuple[TestCaseSummary, ...]:
    """Every test case of a variant with a trial that is valid, by itself and beside the others of its build;
    a point is a build."""
    records = closed_records(run.records)
    answered = answers(records.values())
    test_cases = {test_case.id: test_case for test_case in run.study.test_cases()}
    looks: dict[str, tuple[tuple[str, str], str, FirstLook]] = {}
    for step in run.plan.trials:
        is_regular = (
            step.test_case and step.overhead_pair is None and step.test_case.id in test_cases
        )
        if not (step.test_case and is_regular and str(step.trial) in records):
            continue
        if step.probe and step.trial not in answered:
            continue
        look = first_look(run.records / str(step.trial))
        cell = step.test_case.id, run.plan.builds[step.build]
        looks[look.trial] = cell, step.build, look
    spreads = access_spreads(
        [look.row for *_, look in looks.values() if look.row],
        {trial: _per_stream(look) for trial, (*_, look) in looks.items()},
    )
    found: dict[tuple[str, str], dict[str, list[Rows]]] = defaultdict(lambda: defaultdict(list))
    for trial, (cell, build, look) in looks.items():
        beside = judge({"access_spread": spreads.get(trial)})
        if look.verdict == beside.verdict == "valid":
            found[cell][build].append(look.metrics)
    return tuple(
        made_up(
            run.plan.topologies[topology], test_cases[test_case], (1.0,) * len(builds)
        ).model_copy(update={"metrics": _metrics(builds), **test_cases[test_case].summary_fields()})
        for (test_case, topology), builds in found.items()
    )


def _per_stream(look: FirstLook) -> float | None:
    rates = (row["value"] for row in look.metrics if row["name"] == "throughput_per_stream")
    return next(rates, None)


def _metrics(builds: Mapping[str, Sequence[Rows]]) -> tuple[Metric, ...]:
    """Repeated trials on a build are one point, their mean (method 1)."""
    points: dict[tuple[object, ...], dict[str, list[float]]] = defaultdict(dict)
    for build, trials in builds.items():
        for row in (row for rows in trials for row in rows):
            if row["value"] is not None:
                which = tuple(row.get(name) for name in _WHICH)
                points[which].setdefault(build, []).append(row["value"])
    return tuple(
        Metric.model_validate(
            {
                **dict(zip(_WHICH, which, strict=True)),
                "value": median(map(mean, of_build.values())),
                "points": tuple(map(mean, of_build.values())),
                "n": len(of_build),
            }
        )
        for which, of_build in points.items()
    )
