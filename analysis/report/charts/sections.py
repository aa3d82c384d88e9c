"""The report's sections of charts by density: throughput, latency, CPU, steadiness and price."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from analysis.report.charts.chart import Chart, PanelKey, by_arm, draw
from analysis.report.charts.figure import Figure, Layout, LegendEntry
from analysis.report.charts.observations import (
    Names,
    Observation,
    arm_styles,
    densities,
    observations,
)
from analysis.report.charts.palette import CPU, MUTED, SERIES, Style
from analysis.summary.summary import Metric, Summary

RATES = {
    "throughput": "successful operations",
    "throughput_map_phase": "map-phase rate",
    "throughput_per_stream": "per-stream rate",
    "throughput_job": "whole-job rate",
}
KINDS = tuple(f"cpu_{kind}" for kind in CPU)
SCOPES = {
    "host": Style("var(--ink, #1b1f24)", "diamond"),
    "host-less-client": SERIES[3],
    "cluster": SERIES[2],
    "node": SERIES[0],
    "client": SERIES[1],
    "monitor": SERIES[5],
}
"""Scopes of used CPU as summary.json names them (before the colon), in drawing order."""
SCOPE_WORDS = {
    "host-less-client": "host without client and monitors",
    "cluster": "all nodes together",
    "monitor": "monitors",
}
HIGHEST_DRAWN = 99.0


def sections(summary: Summary, names: Names) -> Iterator[tuple[str, str, list[Figure]]]:
    """(anchor, heading, figures) of each section that has something to draw, in reading order."""
    run = ByDensity(summary, names)
    for anchor, heading, figures in (
        ("throughput", "Throughput", (run.throughput("ycsb"), run.throughput("testdfsio"))),
        ("latency", "Latency", (run.latency(),)),
        ("cpu", "CPU", (run.host_cpu(), run.used_cpu())),
        ("steadiness", "Steadiness and price", (run.steadiness(), run.price_performance())),
    ):
        drawn = [figure for figure in figures if figure is not None]
        if drawn:
            yield anchor, heading, drawn


@dataclass(frozen=True)
class ByDensity:
    """The charts whose horizontal axis is the density and whose series, but for CPU, are the arms."""

    summary: Summary
    names: Names

    def throughput(self, workload: str) -> Figure | None:
        seen = [o for o in self._seen(RATES) if o.setting.workload == workload]
        order = list(dict.fromkeys(o.setting.setting for o in seen)), list(RATES)
        seen.sort(key=lambda o: (order[0].index(o.setting.setting), order[1].index(o.metric.name)))
        chart = self._chart(
            id=f"throughput-{workload}",
            title="YCSB throughput" if workload == "ycsb" else "TestDFSIO throughput",
            caption="Successful operations per second, by density. Each panel has its own scale, from "
            "zero."
            if workload == "ycsb"
            else "Three rates of the same jobs: over the map phase (all streams together, without YARN's "
            "start-up), of one stream, and over the whole job. Each panel has its own scale, from zero.",
            panel=lambda o: (
                f"{o.metric.name}-{o.setting.setting}", o.setting.label, RATES[o.metric.name]
            ),
            table=("Rate", lambda metric: RATES[metric.name]),
            notes=self._notes(seen, "rate", {workload}),
        )  # fmt: skip
        return draw(chart, seen, self.names)

    def latency(self) -> Figure | None:
        seen = self._seen({"latency"})
        known = [one for one in seen if one.metric.value is not None]
        if not known:
            return None
        typical, tail = drawn_percentiles(known)
        hollow = LegendEntry(percentile_name(typical), Style(MUTED), hollow=True)
        solid = LegendEntry(percentile_name(tail), Style(MUTED))
        chart = self._chart(
            id="latency",
            title="YCSB latency",
            caption=f"{percentile_name(typical)} and {percentile_name(tail)} of merged histograms, by "
            "density, in ms on a logarithmic scale. Closed-loop latency hides waiting; compare only "
            "intended latency with an SLO.",
            panel=lambda o: (
                f"latency-{o.setting.setting}-{o.metric.operation}-{o.metric.latency_kind}",
                o.setting.label, f"{o.metric.operation}, {o.metric.latency_kind}",
            ),
            tip=lambda o: f"{percentile_name(o.metric.percentile)}, {self._tip(o)}",
            hollow=lambda o: o.metric.percentile == typical != tail,
            log=True,
            legend=(hollow, solid) if typical != tail else (),
            table=("Latency", latency_words),
            notes=self._notes(seen, "percentile", {"ycsb"}),
        )  # fmt: skip
        drawn = [one for one in seen if one.metric.percentile in (typical, tail)]
        return draw(chart, drawn, self.names, listed=seen)

    def overview(self) -> Figure | None:
        """The headline chart of a run whose findings have no effect yet."""
        seen = [o for o in self._seen({"cpu_used"}) if _scope(o.metric) == "host"]
        chart = self._chart(
            id="overview",
            title="Used host CPU",
            caption="No finding has an effect yet. This is the share of the hosts' CPUs that each setting "
            "used.",
            panel=lambda o: (
                f"overview-{o.setting.setting}-{o.metric.scope}", o.setting.label, str(o.metric.scope)
            ),
            unit="% used",
            table=("Used CPU of", lambda metric: str(metric.scope)),
            notes=point_notes(self.summary),
        )  # fmt: skip
        return draw(chart, seen, self.names)

    def host_cpu(self) -> Figure | None:
        seen = [o for o in self._seen(KINDS) if _scope(o.metric) == "host"]
        chart = self._chart(
            id="cpu-host",
            title="Host CPU",
            caption="How the host's cores spent their time, by density, in percent of all cores. Used is "
            "neither idle nor waiting for disks (iowait) nor taken by the hypervisor (steal). The rest "
            "of a bar up to 100 % is interrupts.",
            panel=self._stack_panel,
            series=lambda o: o.metric.name.removeprefix("cpu_"),
            tip=lambda o: f"{self._density(o)}, {o.metric.name.removeprefix('cpu_')}",
            styles=CPU,
            mark="stack",
            unit="% of the host's cores",
            domain=(0.0, 100.0),
            layout=self._layout(),
            table=("CPU time", lambda m: f"{m.name.removeprefix('cpu_')}, {m.scope}"),
            notes=(
                *self._without_trials({"ycsb", "testdfsio"}), *uncomputed(seen, "share"),
            ),
        )  # fmt: skip
        return draw(chart, self._by_arm(seen), self.names)

    def used_cpu(self) -> Figure | None:
        seen = self._seen({"cpu_used"})
        present = {_scope(one.metric) for one in seen}
        shown = {name: style for name, style in SCOPES.items() if name in present}
        chart = self._chart(
            id="cpu-used",
            title="Used CPU by host, node and client",
            caption="The client's CPU is not part of the cluster's and is drawn separately. In percent of "
            "the cores of the host, or of the machine that the node or client runs on.",
            panel=self._used_panel,
            series=lambda o: SCOPE_WORDS.get(_scope(o.metric), _scope(o.metric)),
            tip=lambda o: f"{o.metric.scope}, {self._density(o)}, {_scope(o.metric)}",
            styles={SCOPE_WORDS.get(name, name): style for name, style in shown.items()},
            unit="% used",
            layout=self._layout(),
            table=("Used CPU of", lambda metric: str(metric.scope)),
            notes=(*point_notes(self.summary), *uncomputed(seen, "used CPU value")),
        )
        return draw(chart, self._by_arm(seen), self.names)

    def steadiness(self) -> Figure | None:
        return self._one_number(
            "throughput_cv",
            "Steadiness",
            "Coefficient of variation of the rate per second: its standard deviation over its mean, in "
            "percent; lower is steadier. YCSB counts successful operations; for TestDFSIO, each map's "
            "bytes are spread evenly over its run time. For the tail, see p99 under Latency.",
            "by second",
        )

    def price_performance(self) -> Figure | None:
        usd = sorted({o.usd_per_hour for o in self.summary.settings if o.usd_per_hour is not None})
        prices = ", ".join(f"{price:g} USD/h" for price in usd)
        return self._one_number(
            "price_performance",
            "Price-performance",
            f"The main rate divided by the price of all hosts of the topology ({prices}).",
            "",
        )

    def _one_number(self, name: str, title: str, caption: str, subtitle: str) -> Figure | None:
        seen = self._seen({name})
        chart = self._chart(
            id=name.replace("_", "-"),
            title=title,
            caption=caption,
            panel=lambda o: (f"{name}-{o.setting.setting}", o.setting.label, subtitle),
            table=("Number", lambda _: title.lower()),
            notes=(*point_notes(self.summary), *uncomputed(seen, "number")),
        )
        return draw(chart, seen, self.names)

    def _chart(self, **changes: object) -> Chart:
        """A chart by density with a series per arm, unless `changes` says otherwise."""
        by_density = {
            "x": lambda o: self.names.density(o.setting.vms_per_host),
            "axis": self.names.axis,
            "ticks": densities(self.summary, self.names),
        }
        return by_arm(self.summary, self.names, **(by_density | changes))

    def _seen(self, metrics: Collection[str]) -> list[Observation]:
        return list(observations(self.summary, metrics))

    def _density(self, one: Observation) -> str:
        return self.names.density_in_words(one.setting.vms_per_host)

    def _tip(self, one: Observation) -> str:
        return f"{self._density(one)}, {self.names.arm(one.setting)}"

    def _stack_panel(self, one: Observation) -> PanelKey:
        arm, scope = self.names.arm(one.setting), one.metric.scope
        return f"stack-{one.setting.setting}-{arm}-{scope}", one.setting.label, f"{arm}, {scope}"

    def _used_panel(self, one: Observation) -> PanelKey:
        arm = self.names.arm(one.setting)
        return f"used-{one.setting.setting}-{arm}", one.setting.label, arm

    def _by_arm(self, seen: Iterable[Observation]) -> list[Observation]:
        """Panels of one setting next to each other, one per arm."""
        every = list(seen)
        order = list(dict.fromkeys(one.setting.setting for one in every))
        return sorted(
            every, key=lambda o: (order.index(o.setting.setting), self.names.arm(o.setting))
        )

    def _layout(self) -> Layout:
        """With two arms, four panels per line, so that both panels of a setting are side by side."""
        return "fours" if len(arm_styles(self.summary, self.names)) == 2 else "threes"

    def _notes(
        self, seen: list[Observation], noun: str, workloads: Collection[str]
    ) -> tuple[str, ...]:
        return (
            *point_notes(self.summary),
            *self._without_trials(workloads),
            *uncomputed(seen, noun),
        )

    def _without_trials(self, workloads: Collection[str]) -> Iterator[str]:
        """One sentence naming each setting and arm without a valid trial: a gap looks like a zero."""
        valid = {(one.topology, one.setting) for one in self.summary.settings if one.n_builds > 0}
        labels = {one.setting: one.label for one in self.summary.settings}
        arms: dict[str, dict[str, None]] = {}
        for trial in self.summary.trials:
            if (trial.topology, trial.setting) not in valid and trial.workload in workloads:
                density = self.names.density_in_words(trial.vms_per_host)
                label = labels.get(trial.setting, trial.setting)
                arms.setdefault(label, {})[f"{density}, {self.names.medium(trial.medium)}"] = None
        if arms:
            missing = "; ".join(f"{label} ({' and '.join(where)})" for label, where in arms.items())
            yield f"Not drawn, because no trial is valid: {missing}."


def point_notes(summary: Summary) -> tuple[str, ...]:
    """How to read the marks."""
    if any(metric.low is not None for entry in summary.settings for metric in entry.metrics):
        return (
            "Light points: one per build. Solid point: the setting's value, with its interval as a bar. "
            "A bar shorter than the point is hidden behind it.",
        )
    return ("One point per build. Too few builds for intervals, so differences are not claims.",)


def uncomputed(seen: Iterable[Observation], noun: str) -> Iterator[str]:
    """How many of these numbers are null in summary.json, and in which settings."""
    missing = [one for one in seen if one.metric.value is None]
    if missing:
        count = f"{len(missing)} {noun}{'s' if len(missing) > 1 else ''}"
        where = ", ".join(sorted({one.setting.label for one in missing}))
        yield f"{count} could not be computed and are not drawn ({where})."


def drawn_percentiles(seen: Iterable[Observation]) -> tuple[float, float]:
    """The percentile nearest to 50, and the highest up to 99, of those that are known."""
    known = sorted({o.metric.percentile for o in seen if o.metric.percentile is not None})
    tail = max((one for one in known if one <= HIGHEST_DRAWN), default=known[0])
    return min(known, key=lambda one: abs(one - 50.0)), tail


def latency_words(metric: Metric) -> str:
    """READ p99, closed-loop."""
    return f"{metric.operation} {percentile_name(metric.percentile)}, {metric.latency_kind}"


def percentile_name(percentile: float | None) -> str:
    return "unknown percentile" if percentile is None else f"p{percentile:g}"


def _scope(metric: Metric) -> str:
    scope = (metric.scope or "").partition(":")[0]
    return scope if scope in SCOPES else "node"
