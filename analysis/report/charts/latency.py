"""Latency by density: a panel for each setting, operation and kind, p50 hollow and p99 solid."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.report.charts.datatable import observation_table
from analysis.report.charts.density import Axes, densities, panel, rows_of
from analysis.report.charts.figure import Figure, LegendEntry, Panel
from analysis.report.charts.legend import arm_styles, legend, point_notes
from analysis.report.charts.observations import Names, Observation, Row, observations
from analysis.report.charts.palette import MUTED, Style
from analysis.report.charts.undrawn import settings_without_trials, uncomputed
from analysis.summary.summary import Metric, Summary

HIGHEST_DRAWN = 99.0


def figures(summary: Summary, names: Names) -> Iterator[Figure]:
    """One figure, or none where the run measured no latency."""
    seen = list(observations(summary, {"latency"}))
    panels = tuple(_panels(summary, names, seen))
    if not panels:
        return
    typical, tail = drawn_percentiles(seen)
    yield Figure(
        id="latency",
        title="YCSB latency",
        caption=f"{_name(typical)} and {_name(tail)} of merged histograms, by density, in ms on a "
        "logarithmic scale. Closed-loop latency hides waiting; only intended latency may be held "
        "against a promise.",
        panels=panels,
        legend=(*legend(arm_styles(summary, names)), *_percentile_legend(typical, tail)),
        table=observation_table(seen, names, "Latency", what),
        notes=(
            *point_notes(summary),
            *settings_without_trials(summary, names, {"ycsb"}),
            *uncomputed(summary, {"latency"}, "percentile"),
        ),
    )


def drawn_percentiles(seen: list[Observation]) -> tuple[float, float]:
    """The typical and the tail percentile of those known: nearest 50, and the highest up to 99."""
    known = sorted({at for one in seen if (at := _known(one)) is not None})
    tail = max((one for one in known if one <= HIGHEST_DRAWN), default=known[0])
    return min(known, key=lambda one: abs(one - 50.0)), tail


def _known(one: Observation) -> float | None:
    return None if one.metric.value is None else one.metric.percentile


def what(metric: Metric) -> str:
    """READ p99, closed-loop."""
    return f"{metric.operation} {_name(metric.percentile)}, {metric.latency_kind}"


def _name(percentile: float | None) -> str:
    return "percentile not told" if percentile is None else f"p{percentile:g}"


def _percentile_legend(typical: float, tail: float) -> tuple[LegendEntry, ...]:
    if typical == tail:
        return ()
    plain = Style(MUTED)
    return LegendEntry(_name(typical), plain, hollow=True), LegendEntry(_name(tail), plain)


def _panels(summary: Summary, names: Names, seen: list[Observation]) -> Iterator[Panel]:
    if all(_known(one) is None for one in seen):
        return
    arms, places = arm_styles(summary, names), densities(summary, names)
    axes = Axes(places, names.axis, "ms", arms, log=True)
    typical, tail = drawn_percentiles(seen)
    keys = dict.fromkeys(_key(one) for one in seen)
    for setting, operation, kind in keys:
        same = [one for one in seen if _key(one) == (setting, operation, kind)]
        rows = list(_rows(same, names, typical, tail))
        if not rows:
            continue
        yield panel(
            f"latency-{setting}-{operation}-{kind}",
            same[0].setting.label,
            f"{operation}, {kind}",
            rows,
            axes,
        )


def _rows(same: list[Observation], names: Names, typical: float, tail: float) -> Iterator[Row]:
    for one in same:
        if one.metric.percentile not in (typical, tail):
            continue
        hollow = one.metric.percentile == typical and typical != tail
        for row in rows_of(one, names, names.arm(one.setting), hollow):
            yield {**row, "tip": f"{_name(one.metric.percentile)}, {row['tip']}"}


def _key(one: Observation) -> tuple[str, str | None, str | None]:
    return one.setting.setting, one.metric.operation, one.metric.latency_kind
