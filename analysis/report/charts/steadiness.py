"""Steadiness over time and price-performance, by density: two numbers each, drawn like throughput."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.report.charts.datatable import observation_table
from analysis.report.charts.density import Axes, densities, panel, rows_of
from analysis.report.charts.figure import Figure, Panel
from analysis.report.charts.legend import arm_styles, legend, point_notes
from analysis.report.charts.observations import Names, Observation, observations
from analysis.report.charts.undrawn import uncomputed
from analysis.summary.summary import Summary

CV, PRICE = "throughput_cv", "price_performance"


def figures(summary: Summary, names: Names) -> Iterator[Figure]:
    """Both, each only where its numbers exist."""
    yield from _steadiness(summary, names)
    yield from _price(summary, names)


def _steadiness(summary: Summary, names: Names) -> Iterator[Figure]:
    yield from _figure(
        summary,
        names,
        CV,
        "Steadiness",
        "Coefficient of variation of the rate by second: its standard deviation over its mean, in "
        "percent; lower is steadier. YCSB counts operations that succeeded, TestDFSIO spreads each "
        "map's bytes over its time. See p99 under Latency for the tail.",
    )


def _price(summary: Summary, names: Names) -> Iterator[Figure]:
    """One figure, or none where the study gives no price."""
    prices = sorted({one.usd_per_hour for one in summary.settings if one.usd_per_hour is not None})
    told = ", ".join(f"{usd:g} USD/h" for usd in prices)
    yield from _figure(
        summary,
        names,
        PRICE,
        "Price-performance",
        f"The main rate over the price of all hosts of the topology ({told}).",
    )


def _figure(
    summary: Summary, names: Names, name: str, title: str, caption: str
) -> Iterator[Figure]:
    seen = list(observations(summary, {name}))
    panels = tuple(_panels(summary, names, seen))
    if not panels:
        return
    yield Figure(
        id=name.replace("_", "-"),
        title=title,
        caption=caption,
        panels=panels,
        legend=legend(arm_styles(summary, names)),
        table=observation_table(seen, names, "Of", lambda _: title.lower()),
        notes=(*point_notes(summary), *uncomputed(summary, {name}, "number")),
    )


def _panels(summary: Summary, names: Names, seen: list[Observation]) -> Iterator[Panel]:
    places, arms = densities(summary, names), arm_styles(summary, names)
    for setting in dict.fromkeys(one.setting.setting for one in seen):
        same = [one for one in seen if one.setting.setting == setting]
        rows = [row for one in same for row in rows_of(one, names, names.arm(one.setting))]
        unit = same[0].metric.unit
        if rows:
            axes = Axes(places, names.axis, "%" if unit == "percent" else unit, arms)
            id_ = f"{same[0].metric.name}-{setting}"
            yield panel(
                id_, same[0].setting.label, "by second" if axes.unit == "%" else "", rows, axes
            )
