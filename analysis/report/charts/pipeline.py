"""The figures of a genomics pipeline: what each stage costs, and how the cost of a base grows with the
reference."""

from __future__ import annotations

from density_study.analysis.report.charts.chart import by_density, by_variant, draw
from density_study.analysis.report.charts.figure import Figure, titled
from density_study.analysis.report.charts.notes import notes
from density_study.analysis.report.charts.observations import Observation, View
from density_study.analysis.report.charts.palette import styles
from density_study.analysis.summary.summary import Metric
from density_study.workloads.pipeline.machine.files import LOAD, STAGES
from density_study.workloads.pipeline.metrics import METRICS

DRAWN = (*STAGES, LOAD)
"""Stages of one genome; variant importance has samples of its own."""
PER_BASE = "stage_core_per_base"
NUMBERS = {
    metric.name: metric.words
    for metric in METRICS
    if metric.shown == "elsewhere" and metric.name != PER_BASE
}


def pipeline_figures(view: View) -> tuple[Figure | None, ...]:
    return _stages(view), _cost(view)


def _stages(view: View) -> Figure | None:
    listed = view.observations(NUMBERS)
    drawn = [
        one for one in listed if one.metric.name == "stage_core" and _stage(one.metric) in DRAWN
    ]
    chart = by_density(
        view,
        **titled("pipeline-stages"),
        panel=lambda o: (
            f"stages-{o.test_case.test_case}-{view.variant(o.test_case)}",
            o.test_case.label, view.variant(o.test_case)
        ),
        series=lambda o: _stage(o.metric),
        tip=lambda o: f"{_stage(o.metric)}, {view.where(o.test_case)}",
        styles=styles(list(DRAWN)),
        mark="stack",
        unit="core-seconds",
        table=("Number", lambda m: f"{_stage(m)}, {NUMBERS[m.name]}"),
        notes=notes(view, drawn, "number", {"pipeline"})[1:],  # a stack has no points
    )  # fmt: skip
    return draw(chart, drawn, view, listed=listed)


def _cost(view: View) -> Figure | None:
    """None unless a study has several sizes: one point gives no curve."""
    seen = [o for o in view.observations({PER_BASE}) if _stage(o.metric) in STAGES]
    seen = sorted(seen, key=lambda o: STAGES.index(_stage(o.metric)))
    if len({one.test_case.count("bases") for one in seen}) < 2:
        return None

    def series(one: Observation) -> str:
        return f"{view.where(one.test_case)}, {one.test_case.count('concurrent')} at once"

    chart = by_variant(
        view,
        **titled("pipeline-cost"),
        panel=lambda o: (f"cost-{_stage(o.metric)}", _stage(o.metric), "CPU time per base"),
        x=lambda o: (o.test_case.count("bases") or 0) / 1e6,
        axis="length of the reference, Mb",
        series=series,
        tip=lambda o: f"{o.test_case.label}, {view.where(o.test_case)}",
        styles=styles(list(dict.fromkeys(map(series, seen)))),
        mark="curve",
        table=("Stage", _stage),
        notes=notes(view, seen, "number")[1:],
    )
    return draw(chart, seen, view)


def _stage(metric: Metric) -> str:
    return (metric.scope or "").removeprefix("stage:")
