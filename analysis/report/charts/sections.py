"""The report's sections of charts by density: throughput, latency, CPU, steadiness and price."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from density_study.analysis.report.charts.chart import by_density, draw
from density_study.analysis.report.charts.figure import Figure, Layout, LegendEntry, titled
from density_study.analysis.report.charts.notes import notes
from density_study.analysis.report.charts.observations import Observation, View
from density_study.analysis.report.charts.palette import CPU, MUTED, SERIES, Style
from density_study.analysis.report.charts.pipeline import pipeline_figures
from density_study.analysis.report.charts.quantity import where, words
from density_study.analysis.report.trials import MOST_SHOWN, shown_scopes
from density_study.analysis.summary.summary import Metric
from density_study.workloads.base.workload import WorkloadKind
from density_study.workloads.study.metrics import metric_kinds
from density_study.workloads.study.registry import kinds

KINDS = tuple(f"cpu_{kind}" for kind in CPU)
# Scopes of used CPU as summary.json names them (before the colon), in drawing order.
SCOPES = {
    "host": Style("var(--ink, #1b1f24)", "diamond"),
    "host-less-client": SERIES[3],
    "cluster": SERIES[2],
    "node": SERIES[0],
    "client": SERIES[1],
    "monitor": SERIES[5],
}
HIGHEST_DRAWN = 99.0
OWN_SCALES = "Each panel has its own scale, from zero."


def sections(view: View) -> Iterator[tuple[str, str, list[Figure]]]:
    """(anchor, heading, figures) of each section that has something to draw, in reading order."""
    for anchor, heading, figures in (
        ("throughput", "Throughput", tuple(_rates(view, kind) for kind in kinds().values())),
        ("pipeline", "Genomics pipeline", pipeline_figures(view)),
        ("numbers", "Other numbers", tuple(_declared(view))),
        ("latency", "Latency", (_latency(view),)),
        ("cpu", "CPU", (_host_cpu(view), _used_cpu(view))),
        (
            "steadiness",
            "Steadiness and price",
            (
                _one_number(view, "throughput_cv", titled("throughput-cv"), "by second"),
                _price_performance(view),
            ),
        ),
    ):
        drawn = [figure for figure in figures if figure is not None]
        if drawn:
            yield anchor, heading, drawn


def _rates(view: View, kind: WorkloadKind) -> Figure | None:
    """The rates of a workload, its main one first."""
    rates = [one.name for one in kind.metrics if one.shown == "rates"]
    rates.sort(key=lambda name: name != kind.rate)
    seen = view.observations(rates)
    chart = by_density(
        view,
        id=f"throughput-{kind.name}",
        title=kind.rates_title,
        caption=f"{kind.rates_caption} {OWN_SCALES}",
        panel=lambda o: (
            f"{o.metric.name}-{o.test_case.test_case}", o.test_case.label, words(o.metric)
        ),
        table=("Rate", words),
        notes=notes(view, seen, "rate", {kind.name}),
    )  # fmt: skip
    return draw(chart, _by_test_case(seen, lambda o: rates.index(o.metric.name)), view)


def _declared(view: View) -> Iterator[Figure | None]:
    """A figure of each metric that asks for one."""
    for metric in metric_kinds().values():
        if metric.shown == "figure":
            title, meaning = metric.words.capitalize(), metric.meaning.capitalize()
            yield _one_number(
                view,
                metric.name,
                {"id": metric.name.replace("_", "-"), "title": title,
                 "caption": f"{meaning}, by density. {OWN_SCALES}"},
            )  # fmt: skip


def _latency(view: View) -> Figure | None:
    seen = view.observations({"latency"})
    known = sorted({o.metric.percentile for o in seen
                    if o.metric.value is not None and o.metric.percentile is not None})  # fmt: skip
    if not known:
        return None
    typical = min(known, key=lambda percentile: abs(percentile - 50.0))
    tail = max((one for one in known if one <= HIGHEST_DRAWN), default=known[0])
    hollow = LegendEntry(f"p{typical:g}", Style(MUTED), hollow=True)
    solid = LegendEntry(f"p{tail:g}", Style(MUTED))
    chart = by_density(
        view,
        **titled("latency", typical=typical, tail=tail),
        panel=lambda o: (
            f"latency-{o.test_case.test_case}-{o.metric.operation}-{o.metric.latency_kind}",
            o.test_case.label, f"{o.metric.operation}, {o.metric.latency_kind}",
        ),
        tip=lambda o: f"p{o.metric.percentile:g}, {view.where(o.test_case)}",
        hollow=lambda o: o.metric.percentile == typical != tail,
        log=True,
        legend=(hollow, solid) if typical != tail else (),
        table=("Latency", latency_words),
        notes=notes(view, seen, "percentile", {"ycsb"}),
    )  # fmt: skip
    drawn = [one for one in seen if one.metric.percentile in (typical, tail)]
    return draw(chart, drawn, view, listed=seen)


def _host_cpu(view: View) -> Figure | None:
    seen, left_out = _shown(view, _of_hosts(view.observations(KINDS)))
    chart = by_density(
        view,
        **titled("cpu-host"),
        panel=lambda o: (
            f"stack-{o.test_case.test_case}-{view.variant(o.test_case)}-{o.metric.scope}", o.test_case.label,
            f"{view.variant(o.test_case)}, {where(o.metric.scope)}",
        ),
        series=lambda o: o.metric.name.removeprefix("cpu_"),
        tip=lambda o: f"{_density(view, o)}, {o.metric.name.removeprefix('cpu_')}",
        styles=CPU,
        mark="stack",
        unit="% of the host's cores",
        domain=(0.0, 100.0),
        layout=_layout(view),
        table=("CPU time", lambda m: f"{m.name.removeprefix('cpu_')}, {where(m.scope)}"),
        notes=(*notes(view, seen, "share", kinds())[1:], *left_out),  # a stack has no points
    )  # fmt: skip
    return draw(chart, _by_test_case(seen, lambda o: view.variant(o.test_case)), view)


def _used_cpu(view: View) -> Figure | None:
    every = view.observations({"cpu_used"})
    styles, (seen, left_out) = _cpu_styles(every), _shown(view, every)
    chart = by_density(
        view,
        **titled("cpu-used"),
        panel=lambda o: (
            f"used-{o.test_case.test_case}-{view.variant(o.test_case)}",
            o.test_case.label, view.variant(o.test_case)
        ),
        series=lambda o: next(
            name for name in (where(o.metric.scope), where(_scope(o.metric))) if name in styles
        ),
        tip=lambda o: f"{where(o.metric.scope)}, {_density(view, o)}",
        styles=styles,
        unit="% used",
        layout=_layout(view),
        table=("Used CPU of", lambda metric: where(metric.scope)),
        notes=(*notes(view, seen, "used CPU value"), *left_out),
    )  # fmt: skip
    return draw(chart, _by_test_case(seen, lambda o: view.variant(o.test_case)), view)


def _cpu_styles(seen: Collection[Observation]) -> dict[str, Style]:
    """A style for each scope, and for each node while there is a shape for each."""
    present = {_scope(one.metric) for one in seen}
    nodes = sorted({where(one.metric.scope) for one in seen if _scope(one.metric) == "node"})
    found: dict[str, Style] = {}
    for scope in SCOPES:
        if scope == "node" and 1 < len(nodes) <= len(SERIES):
            colour = SCOPES[scope].colour
            found |= {
                node: Style(colour, one.shape) for node, one in zip(nodes, SERIES, strict=False)
            }
        elif scope in present:
            found[where(scope)] = SCOPES[scope]
    return found


def _price_performance(view: View) -> Figure | None:
    usd = sorted({o.usd_per_hour for o in view.summary.test_cases if o.usd_per_hour is not None})
    prices = ", ".join(f"{price:g} USD/h" for price in usd)
    return _one_number(view, "price_performance", titled("price-performance", prices=prices))


def _one_number(
    view: View, name: str, texts: Mapping[str, str], subtitle: str = ""
) -> Figure | None:
    seen = view.observations({name})
    chart = by_density(
        view,
        **texts,
        panel=lambda o: (
            "-".join(filter(None, (name, o.test_case.test_case, o.metric.scope))),
            o.test_case.label, subtitle or where(o.metric.scope),
        ),
        table=("Number", words),
        notes=notes(view, seen, "number"),
    )  # fmt: skip
    return draw(chart, seen, view)


def _by_test_case(
    seen: Collection[Observation], then: Callable[[Observation], Any]
) -> list[Observation]:
    """Panels of one test case next to each other, in the order of `then`."""
    order = list(dict.fromkeys(one.test_case.test_case for one in seen))
    return sorted(seen, key=lambda o: (order.index(o.test_case.test_case), then(o)))


def _of_hosts(seen: Iterable[Observation]) -> list[Observation]:
    return [one for one in seen if _scope(one.metric) == "host"]


def _shown(view: View, seen: Collection[Observation]) -> tuple[list[Observation], tuple[str, ...]]:
    """Those of hosts and nodes that a page shows, and a note if some are left out."""
    shown = {id(one): shown_scopes(one.metrics) for one in view.summary.test_cases}
    found = [one for one in seen if one.metric.scope in shown[id(one.test_case)]]
    note = (
        f"With more than {MOST_SHOWN} hosts or nodes, the least used, median and most used are shown; "
        "summary.json has all."
    )
    return found, (note,) if len(found) < len(seen) else ()


def _scope(metric: Metric) -> str:
    scope = (metric.scope or "").partition(":")[0]
    return scope if scope in SCOPES else "node"


def _density(view: View, one: Observation) -> str:
    return view.density_in_words(one.test_case.vms_per_host)


def _layout(view: View) -> Layout:
    """With two variants, four panels per line, so that both panels of a test case are side by side."""
    return "fours" if len(view.variant_styles) == 2 else "threes"


def latency_words(metric: Metric) -> str:
    """READ p99, closed-loop."""
    return f"{metric.operation} p{metric.percentile:g}, {metric.latency_kind}"
