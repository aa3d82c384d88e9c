"""The section "Why": what moved between variants, what limits each test case, and causes of slow trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from density_study.analysis.report.charts.figure import DataTable, columns
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.trials import number, slow_seconds
from density_study.analysis.summary.summary import TrialSummary
from density_study.analysis.summary.why import TrialCause
from density_study.cluster.model.plain import capitalised

MOST_TRIALS = 200
"""Rows of the table of trials: those that affected most. summary.json has all."""


@dataclass(frozen=True)
class Why:
    """`sentences`: for readers in a hurry. The tables are their evidence."""

    sentences: tuple[str, ...]
    limits: DataTable
    variants: DataTable
    causes: DataTable
    slow: DataTable


def why(view: View) -> Why:
    summary = view.summary
    trials = {trial.trial: trial for trial in summary.trials}
    return Why(
        sentences=(*_between(view), *_within(view, trials)),
        limits=_limits(view),
        variants=_variants(view),
        causes=_causes(view, trials),
        slow=slow_seconds(view),
    )


def _between(view: View) -> Iterator[str]:
    for one in view.summary.explanations:
        if one.moved:
            yield f"{view.labels[one.test_case]}, {one.later} over {one.first}: {one.sentence}"


def _within(view: View, trials: dict[str, TrialSummary]) -> Iterator[str]:
    """A sentence for each cause of a test case on a topology that was named first, the most frequent one
    first."""
    counts: Counter[tuple[str, str, str]] = Counter()
    example: dict[tuple[str, str, str], TrialCause] = {}
    run = Counter((trial.test_case, trial.topology) for trial in trials.values())
    for cause in view.summary.causes:
        trial = trials[cause.trial]
        key = (trial.test_case, trial.topology, cause.cause)
        if cause.rank == 1 or cause.common:
            counts[key] += 1
            example.setdefault(key, cause)
    for key, count in counts.most_common():
        test_case, topology, _ = key
        one = example[key]
        yield (
            f"{view.labels[test_case]} on {topology}: {one.title} in {count} of {run[test_case, topology]} "
            f"trials. {capitalised(one.sentence)} {one.remedy}"
        )


def _limits(view: View) -> DataTable:
    header = columns("Test case | Topology | What limits it")
    rows = (
        (view.labels[one.test_case], one.topology, one.sentence) for one in view.summary.bottlenecks
    )
    return DataTable(header, tuple(rows))


def _variants(view: View) -> DataTable:
    header = columns("Test case | Variants | Quantity | Ratio # | Interval #")
    rows = (
        (
            view.labels[one.test_case],
            f"{one.later} over {one.first}",
            shift.label + (" per operation" if shift.per_operation else ""),
            f"×{shift.ratio:.2f}",
            f"{shift.low:.2f} to {shift.high:.2f}",
        )
        for one in view.summary.explanations
        for shift in (*one.moved, *one.equal)
    )
    return DataTable(header, tuple(rows))


def _causes(view: View, trials: dict[str, TrialSummary]) -> DataTable:
    header = columns("Trial | Rank # | Cause | Evidence")
    rows = [
        (
            f"{number(trials[one.trial])}: {view.labels[trials[one.trial].test_case]}",
            str(one.rank),
            one.title,
            one.sentence,
        )
        for one in view.summary.causes
        if not one.common
    ]
    return DataTable(header, tuple(rows[:MOST_TRIALS]))
