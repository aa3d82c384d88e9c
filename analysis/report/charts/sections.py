"""The report's sections of charts by density: throughput, latency, CPU, steadiness and price."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from analysis.report.charts.chart import Chart, by_arm, draw
from analysis.report.charts.figure import Figure, Layout, LegendEntry, titled
from analysis.report.charts.observations import Observation, View
from analysis.report.charts.palette import CPU, MUTED, SERIES, Style
from analysis.summary.summary import Metric

RATES = {
    "throughput": "successful operations",
    "throughput_map_phase": "map-phase rate",
    "throughput_per_stream": "per-stream rate",
    "throughput_job": "whole-job rate",
}
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
SCOPE_WORDS = {
    "host-less-client": "host without client and monitors",
    "cluster": "all nodes together",
    "monitor": "monitors",
}
HIGHEST_DRAWN = 99.0


def sections(view: View) -> Iterator[tuple[str, str, list[Figure]]]:
    """(anchor, heading, figures) of each section that has something to draw, in reading order."""
    for anchor, heading, figures in (
        ("throughput", "Throughput", (_throughput(view, "ycsb"), _throughput(view, "testdfsio"))),
        ("latency", "Latency", (_latency(view),)),
        ("cpu", "CPU", (_host_cpu(view), _used_cpu(view))),
        (
            "steadiness",
            "Steadiness and price",
            (_one_number(view, "throughput_cv", "by second"), _price_performance(view)),
        ),
    ):
        drawn = [figure for figure in figures if figure is not None]
        if drawn:
            yield anchor, heading, drawn


def _throughput(view: View, workload: str) -> Figure | None:
    seen = [one for one in view.observations(RATES) if one.setting.workload == workload]
    rates = list(RATES)
    chart = _by_density(
        view,
        **titled(f"throughput-{workload}"),
        panel=lambda o: (
            f"{o.metric.name}-{o.setting.setting}", o.setting.label, RATES[o.metric.name]
        ),
        table=("Rate", lambda metric: RATES[metric.name]),
        notes=_notes(view, seen, "rate", {workload}),
    )  # fmt: skip
    return draw(chart, _by_setting(seen, lambda o: rates.index(o.metric.name)), view)


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
    chart = _by_density(
        view,
        **titled("latency", typical=typical, tail=tail),
        panel=lambda o: (
            f"latency-{o.setting.setting}-{o.metric.operation}-{o.metric.latency_kind}",
            o.setting.label, f"{o.metric.operation}, {o.metric.latency_kind}",
        ),
        tip=lambda o: f"p{o.metric.percentile:g}, {view.where(o.setting)}",
        hollow=lambda o: o.metric.percentile == typical != tail,
        log=True,
        legend=(hollow, solid) if typical != tail else (),
        table=("Latency", latency_words),
        notes=_notes(view, seen, "percentile", {"ycsb"}),
    )  # fmt: skip
    drawn = [one for one in seen if one.metric.percentile in (typical, tail)]
    return draw(chart, drawn, view, listed=seen)


def overview(view: View) -> Figure | None:
    """The headline chart of a run whose findings have no effect yet."""
    chart = _by_density(
        view,
        **titled("overview"),
        panel=lambda o: (
            f"overview-{o.setting.setting}-{o.metric.scope}", o.setting.label, str(o.metric.scope)
        ),
        unit="% used",
        table=("Used CPU of", lambda metric: str(metric.scope)),
        notes=(point_notes(view),),
    )  # fmt: skip
    return draw(chart, _of_hosts(view.observations({"cpu_used"})), view)


def _host_cpu(view: View) -> Figure | None:
    seen = _of_hosts(view.observations(KINDS))
    chart = _by_density(
        view,
        **titled("cpu-host"),
        panel=lambda o: (
            f"stack-{o.setting.setting}-{view.arm(o.setting)}-{o.metric.scope}", o.setting.label,
            f"{view.arm(o.setting)}, {o.metric.scope}",
        ),
        series=lambda o: o.metric.name.removeprefix("cpu_"),
        tip=lambda o: f"{_density(view, o)}, {o.metric.name.removeprefix('cpu_')}",
        styles=CPU,
        mark="stack",
        unit="% of the host's cores",
        domain=(0.0, 100.0),
        layout=_layout(view),
        table=("CPU time", lambda m: f"{m.name.removeprefix('cpu_')}, {m.scope}"),
        notes=_notes(view, seen, "share", {"ycsb", "testdfsio"})[1:],  # a stack has no points
    )  # fmt: skip
    return draw(chart, _by_setting(seen, lambda o: view.arm(o.setting)), view)


def _used_cpu(view: View) -> Figure | None:
    seen = view.observations({"cpu_used"})
    present = {_scope(one.metric) for one in seen}
    chart = _by_density(
        view,
        **titled("cpu-used"),
        panel=lambda o: (
            f"used-{o.setting.setting}-{view.arm(o.setting)}", o.setting.label, view.arm(o.setting)
        ),
        series=lambda o: SCOPE_WORDS.get(_scope(o.metric), _scope(o.metric)),
        tip=lambda o: f"{o.metric.scope}, {_density(view, o)}, {_scope(o.metric)}",
        styles={SCOPE_WORDS.get(name, name): SCOPES[name] for name in SCOPES if name in present},
        unit="% used",
        layout=_layout(view),
        table=("Used CPU of", lambda metric: str(metric.scope)),
        notes=_notes(view, seen, "used CPU value"),
    )  # fmt: skip
    return draw(chart, _by_setting(seen, lambda o: view.arm(o.setting)), view)


def _price_performance(view: View) -> Figure | None:
    usd = sorted({o.usd_per_hour for o in view.summary.settings if o.usd_per_hour is not None})
    prices = ", ".join(f"{price:g} USD/h" for price in usd)
    return _one_number(view, "price_performance", "", prices=prices)


def _one_number(view: View, name: str, subtitle: str, **values: object) -> Figure | None:
    seen = view.observations({name})
    texts = titled(name.replace("_", "-"), **values)
    chart = _by_density(
        view,
        **texts,
        panel=lambda o: (f"{name}-{o.setting.setting}", o.setting.label, subtitle),
        table=("Number", lambda _: texts["title"].lower()),
        notes=_notes(view, seen, "number"),
    )
    return draw(chart, seen, view)


def _by_density(view: View, **changes: Any) -> Chart:
    """A chart by density with a series per arm, unless `changes` says otherwise."""
    return by_arm(
        view,
        x=lambda o: view.density(o.setting.vms_per_host),
        axis="workers per host (processes)" if view.process else "VMs per host",
        ticks=view.densities,
        **changes,
    )


def _by_setting(
    seen: Collection[Observation], then: Callable[[Observation], Any]
) -> list[Observation]:
    """Panels of one setting next to each other, in the order of `then`."""
    order = list(dict.fromkeys(one.setting.setting for one in seen))
    return sorted(seen, key=lambda o: (order.index(o.setting.setting), then(o)))


def _of_hosts(seen: Iterable[Observation]) -> list[Observation]:
    return [one for one in seen if _scope(one.metric) == "host"]


def _scope(metric: Metric) -> str:
    scope = (metric.scope or "").partition(":")[0]
    return scope if scope in SCOPES else "node"


def _density(view: View, one: Observation) -> str:
    return view.density_in_words(one.setting.vms_per_host)


def _layout(view: View) -> Layout:
    """With two arms, four panels per line, so that both panels of a setting are side by side."""
    return "fours" if len(view.arm_styles) == 2 else "threes"


def point_notes(view: View) -> str:
    """How to read the marks."""
    if view.has_intervals:
        return (
            "Light points: one per build. Solid point: the setting's value, with its interval as a bar. "
            "A bar shorter than the point is hidden behind it."
        )
    return "One point per build. Too few builds for intervals, so differences are not claims."


def _notes(
    view: View, seen: Iterable[Observation], noun: str, workloads: Collection[str] = ()
) -> tuple[str, ...]:
    """How to read the marks, and which settings of these workloads, or numbers, are not drawn."""
    return (point_notes(view), *_without_trials(view, workloads), *_uncomputed(seen, noun))


def _without_trials(view: View, workloads: Collection[str]) -> Iterator[str]:
    """One sentence naming each setting and arm without a valid trial: a gap looks like a zero."""
    valid = {(one.topology, one.setting) for one in view.summary.settings if one.n_builds > 0}
    arms: dict[str, dict[str, None]] = {}
    for trial in view.summary.trials:
        if (trial.topology, trial.setting) not in valid and trial.workload in workloads:
            where = f"{view.density_in_words(trial.vms_per_host)}, {view.medium(trial.medium)}"
            arms.setdefault(view.labels[trial.setting], {})[where] = None
    if arms:
        missing = "; ".join(f"{label} ({' and '.join(where)})" for label, where in arms.items())
        yield f"Not drawn, because no trial is valid: {missing}."


def _uncomputed(seen: Iterable[Observation], noun: str) -> Iterator[str]:
    """How many of these numbers are null in summary.json, and in which settings."""
    missing = [one for one in seen if one.metric.value is None]
    if missing:
        count = f"{len(missing)} {noun}{'s' if len(missing) > 1 else ''}"
        where = ", ".join(sorted({one.setting.label for one in missing}))
        yield f"{count} could not be computed and are not drawn ({where})."


def latency_words(metric: Metric) -> str:
    """READ p99, closed-loop."""
    return f"{metric.operation} p{metric.percentile:g}, {metric.latency_kind}"
