"""`write`: two runs side by side, of one study or of two, as one HTML page that needs no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from markupsafe import Markup

from density_study.analysis.comparison.compare import Change, RunComparison
from density_study.analysis.comparison.declared import Declared
from density_study.analysis.comparison.numbers import number_id
from density_study.analysis.findings.variants import TAIL, latency, main_operation
from density_study.analysis.hub.trend import trend
from density_study.analysis.report.charts.figure import Column, DataTable, Figure, columns
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.charts.quantity import interval, quantity, ratio
from density_study.analysis.report.html import policy, static, templates
from density_study.analysis.summary.summary import Metric, Summary, TestCaseSummary
from density_study.cluster.state import atomic
from density_study.workloads.study.metrics import main_rates

SIDES = ("A", "B")
HEADER = ("Test case", "Variant", "Measure", "A", "B", "B over A", "p, adjusted", "Machine, B over A",
          "Outcome")  # fmt: skip
NUMERIC = HEADER[3:8]


@dataclass(frozen=True)
class Pair:
    """Two analysed runs. `declared` is None where a study file cannot be read; `why_not` is then the
    reason."""

    before: Summary
    after: Summary
    comparison: RunComparison
    declared: tuple[Declared, ...] | None
    why_not: str = ""


def write(pair: Pair, path: Path) -> None:
    """`render` into `path`, atomically."""
    atomic.write_text(path, render(pair))


def render(pair: Pair) -> str:
    """The whole page. Every number in it is in the runs' summaries or in the comparison."""
    sides = tuple(zip(SIDES, (pair.before, pair.after), strict=True))
    return templates().get_template("compare.html.j2").render(
        pair=pair,
        sides=[(letter, one, _facts(one)) for letter, one in sides],
        figure_of_rates=_figure(pair),
        numbers=DataTable(
            tuple(Column(name, name in NUMERIC) for name in HEADER), tuple(_rows(pair))
        ),
        declared=DataTable(
            columns("Key of the study file | A | B"),
            tuple((one.key, one.before, one.after) for one in pair.declared or ()),
        ),
        css=Markup(static("report.css") + static("hub.css")),
        policy=policy(()),
    )  # fmt: skip


def _facts(summary: Summary) -> list[tuple[str, str]]:
    return [
        ("Study", summary.study),
        ("Run", summary.run),
        ("Analysed", f"{datetime.fromisoformat(summary.created):%d %b %Y, %H:%M} UTC"),
        ("Provider", f"{summary.provider}, isolation: {summary.isolation}"),
        ("Repetitions", str(summary.repetitions)),
    ]


def _figure(pair: Pair) -> Figure | None:
    """The rates of both runs. They are called A and B, because their ids may be equal."""
    both = (pair.before, pair.after)
    named = [one.model_copy(update={"run": name}) for name, one in zip(SIDES, both, strict=True)]
    drawn = trend(named, (), "rates")
    if drawn is None:
        return None
    caption = "Each test case's rate in both runs, with its interval. Lines only guide the eye."
    return replace(drawn, title="Rates", caption=caption)


def _rows(pair: Pair) -> Iterator[tuple[str, ...]]:
    changes = {change.finding.id: change for change in pair.comparison.changes}
    view = View(pair.after)
    before = {(one.test_case, one.topology): one for one in pair.before.test_cases}
    for later in pair.after.test_cases:
        first = before.get((later.test_case, later.topology))
        if first is None:
            continue
        for family, measure, numbers in _measures(first, later):
            change = changes.get(number_id(family, later))
            if change is not None:
                yield (
                    later.label,
                    view.where(later),
                    measure,
                    *map(_number, numbers),
                    *_change(change),
                )


def _measures(
    first: TestCaseSummary, later: TestCaseSummary
) -> Iterator[tuple[str, str, Sequence[Metric | None]]]:
    """(family of the comparison, what is measured, its numbers in A and in B)."""
    yield "rates", "throughput", (_rate(first), _rate(later))
    operation = main_operation(later)
    if operation is not None:
        tails = [latency(one, operation, TAIL) for one in (first, later)]
        kind = next((one.latency_kind for one in tails if one is not None), "")
        yield "latencies", f"{operation} p{TAIL:g}, {kind}", tails


def _rate(entry: TestCaseSummary) -> Metric | None:
    return next((metric for metric in entry.metrics if metric.name in main_rates()), None)


def _number(metric: Metric | None) -> str:
    if metric is None:
        return "none"
    ends = interval(metric.low, metric.high, metric.unit)
    return quantity(metric.value, metric.unit) + (f" ({ends})" if ends else "")


def _change(change: Change) -> tuple[str, str, str, str]:
    found = change.finding
    ends = interval(found.low, found.high, "")
    effect = ratio(found.effect) + (f" ({ends})" if ends else "")
    p = "none" if found.p_adjusted is None else f"{found.p_adjusted:.2g}"
    return effect, p, ratio(change.computing), change.outcome
