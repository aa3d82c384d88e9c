"""The first chart: the test case that the headline is about, by density, or where there is one, by variant.
Rate, p99 latency and used CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from density_study.analysis.findings.variants import TAIL, main_operation
from density_study.analysis.report.charts.chart import by_density, draw
from density_study.analysis.report.charts.figure import Figure, PanelKey, titled
from density_study.analysis.report.charts.notes import notes
from density_study.analysis.report.charts.observations import Observation, View
from density_study.analysis.report.charts.quantity import sign, where, words
from density_study.analysis.report.charts.sections import latency_words
from density_study.analysis.summary.summary import Metric
from density_study.workloads.study.metrics import main_rates


def answer(view: View) -> Figure | None:
    """None if the test case has no valid number."""
    seen = list(_seen(view))
    if not seen:
        return None
    limits = _limits(view, seen)
    chart = by_density(
        view,
        **titled("answer", label=seen[0].test_case.label, what=_varied(view), memory=_memory(view)),
        panel=_panel,
        table=("Number", _words),
        notes=(*_sought(seen, bool(limits)), *notes(view, seen, "number")),
        joined=True,
        limits=limits,
        height_px=232,
    )
    return draw(chart, seen, view)


def _memory(view: View) -> str:
    """Nobody knows how others divide theirs."""
    existing = any(one.code == "existing-cluster" for one in view.summary.warnings)
    others = existing or view.summary.imported is not None
    return "" if others else "Total memory is the same in every variant. "


def _sought(seen: Sequence[Observation], has_limit: bool) -> Iterator[str]:
    """A latency far below its limit looks like a fault of the search, unless one knows its steps.
    has_limit: whether a panel shows it."""
    line = "; the dashed line is the limit" if has_limit else ""
    for sought in dict.fromkeys(one.test_case.sought for one in seen if one.test_case.sought):
        yield (
            f"A search found each rate: the {sought}. Latency and CPU are those at that rate{line}. At the "
            "next higher rate that was tried, a limit no longer held; see Searches."
        )


def _limits(view: View, seen: Sequence[Observation]) -> dict[str, tuple[str, float]]:
    """The latency that a search keeps, and its place in the summary, by the panel that shows it."""
    wanted = {
        (one.test_case, quantity): (f"/searches/{at}/limits_ms/{quantity}", ms)
        for at, one in enumerate(view.summary.searches)
        for quantity, ms in one.limits_ms.items()
    }
    return {
        _panel(one)[0]: wanted[key]
        for one in seen
        if one.metric.latency_kind == "intended"
        and (key := (one.test_case.test_case, f"{one.metric.operation} p{one.metric.percentile:g}"))
        in wanted
    }


def _varied(view: View) -> str:
    """What the marks of a panel differ in."""
    return "density" if len(view.densities) > 1 or len(view.variant_styles) == 1 else "variant"


def _seen(view: View) -> Iterator[Observation]:
    """Yields the observations in the order of the panels."""
    about = view.summary.headline_test_case
    of_it = [
        one
        for one in view.observations((*main_rates(), "latency", "cpu_used"))
        if one.test_case.test_case == about
    ]
    yield from (one for one in of_it if one.metric.name in main_rates())
    tails = [one for one in of_it if _is_tail(one)]
    # intended latency if there is any, because closed-loop latency hides waiting
    intended = [one for one in tails if one.metric.latency_kind == "intended"]
    yield from intended or tails
    yield from _cpu(of_it)


def _is_tail(one: Observation) -> bool:
    metric = one.metric
    main = main_operation(one.test_case)
    return metric.name == "latency" and metric.percentile == TAIL and metric.operation == main


def _cpu(of_it: Sequence[Observation]) -> list[Observation]:
    """For the host, without the load generator if it runs there; of several hosts, of all nodes together."""
    used = [one for one in of_it if one.metric.name == "cpu_used"]
    hosts = _scopes(used, "host")
    wanted = _scopes(used, "host-less-client") or hosts if len(hosts) == 1 else {"cluster"}
    return [one for one in used if one.metric.scope in wanted]


def _scopes(used: Sequence[Observation], kind: str) -> set[str]:
    scopes = {one.metric.scope or "" for one in used}
    return {scope for scope in scopes if scope.partition(":")[0] == kind}


def _panel(one: Observation) -> PanelKey:
    metric = one.metric
    if metric.name == "latency":
        return f"answer-{metric.latency_kind}", "Latency", latency_words(metric)
    if metric.name == "cpu_used":
        return "answer-cpu", "Used CPU", _words(metric)
    return "answer-rate", "Throughput", f"{words(metric)}, {sign(metric.unit)}"


def _words(metric: Metric) -> str:
    if metric.name == "latency":
        return latency_words(metric)
    if metric.name == "cpu_used":
        return where(metric.scope)
    return words(metric)
