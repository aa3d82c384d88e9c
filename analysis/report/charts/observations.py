"""What charts draw from: a `View` of the summary, and `Observation`s: a metric of a setting, and its place.

Every datum drawn carries that place as a JSON pointer (RFC 6901) into summary.json, so that a reader or
a test can compare the drawn number with the stored one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from density_study.analysis.report.charts.palette import Style, styles
from density_study.analysis.summary.summary import (
    UNKNOWN_LEVEL,
    UNKNOWN_MEDIUM,
    Metric,
    SettingSummary,
    Summary,
)

Row = dict[str, Any]  # one datum of a chart: plain JSON values
# Setting, vms_per_host and medium: the attributes that the page's filters use.
Of = tuple[str, str, str]


@dataclass(frozen=True)
class Observation:
    """`ref` points to the metric in summary.json. `warned`: which units have a trial with warnings."""

    ref: str
    setting: SettingSummary
    metric: Metric
    warned: tuple[bool, ...] = ()

    @property
    def of(self) -> Of:
        return self.setting.setting, str(self.setting.vms_per_host), self.setting.medium

    def rows(self) -> Iterator[Row]:
        """A row per unit in repetition order (`part` "unit"), then one for the value ("value").

        A single unit without an interval is its own value, and a null value has no row.
        """
        metric, of = self.metric, list(self.of)
        for index, value in enumerate(metric.points):
            ref = f"{self.ref}/points/{index}"
            mark = {"warned": True} if self._is_warned(index) else {}
            yield {"part": "unit", "ref": ref, "value": value, "of": of, **mark}
        if len(metric.points) != 1 or metric.low is not None:
            yield from self.value_row()

    def value_row(self) -> Iterator[Row]:
        """The row of the metric itself, also where it has a single unit; none where it is null."""
        metric = self.metric
        if metric.value is not None:
            ends = {} if metric.low is None else {"low": metric.low, "high": metric.high}
            of = list(self.of)
            mark = {"warned": True} if any(self.warned) else {}
            yield {
                "part": "value",
                "ref": self.ref,
                "value": metric.value,
                "of": of,
                **ends,
                **mark,
            }

    def _is_warned(self, index: int) -> bool:
        """Of every unit, if the metric is not known in all of them: then the places do not agree."""
        if len(self.warned) == len(self.metric.points):
            return self.warned[index]
        return any(self.warned)


@dataclass(frozen=True)
class View:
    """A run's summary, and what its densities and arms are called in every chart and table."""

    summary: Summary

    def observations(self, names: Collection[str]) -> list[Observation]:
        """Every metric with one of these names, in the summary's order."""
        return [
            Observation(
                f"/settings/{at}/metrics/{index}",
                setting,
                metric,
                self._warned.get((setting.topology, setting.setting), ()),
            )
            for at, setting in enumerate(self.summary.settings)
            for index, metric in enumerate(setting.metrics)
            if metric.name in names
        ]

    @cached_property
    def _warned(self) -> dict[tuple[str, str], tuple[bool, ...]]:
        """Of each topology and setting, by repetition: whether a trial that counts has warnings."""
        found: dict[tuple[str, str], dict[int, bool]] = {}
        for trial in self.summary.trials:
            if trial.counted and trial.overhead_pair is None:
                builds = found.setdefault((trial.topology, trial.setting), {})
                builds[trial.repetition] = builds.get(trial.repetition, False) or trial.has_warnings
        return {arm: tuple(on for _, on in sorted(b.items())) for arm, b in found.items()}

    @property
    def process(self) -> bool:
        """Whether groups of processes stand in for VMs."""
        return self.summary.isolation.facts.only_stands_in

    @property
    def density_header(self) -> str:
        return f"{self.noun[0].upper()}{self.noun[1:]}s per host"

    @property
    def noun(self) -> str:
        """What a node is called."""
        return self.summary.isolation.facts.noun

    def density(self, vms_per_host: int) -> str:
        """The tick on a chart's axis."""
        if vms_per_host == UNKNOWN_LEVEL:
            return "unknown"
        return "bare" if vms_per_host == 0 else str(vms_per_host)

    def density_in_words(self, vms_per_host: int) -> str:
        if vms_per_host == UNKNOWN_LEVEL:
            return "unknown density"
        if vms_per_host == 0:
            return "bare host"
        return f"{vms_per_host} {self.noun}{'s' if vms_per_host > 1 else ''} per host"

    @property
    def densities(self) -> tuple[str, ...]:
        """Every density of the run, ascending. A density without a valid trial keeps its empty place."""
        seen = {setting.vms_per_host for setting in self.summary.settings}
        seen |= {trial.vms_per_host for trial in self.summary.trials}
        return tuple(self.density(vms_per_host) for vms_per_host in sorted(seen))

    @cached_property
    def emulated(self) -> list[str]:
        warnings = self.summary.warnings
        return sorted({w.subject for w in warnings if w.code == "emulated-medium" and w.subject})

    @property
    def badges(self) -> tuple[str, ...]:
        """Marks on every figure, so that a figure cut out of the page still shows its limits."""
        stand_in = self.summary.isolation.facts.stand_in
        return (*filter(None, (stand_in,)), *(f"{medium}: emulated" for medium in self.emulated))

    def medium(self, medium: str) -> str:
        return f"{medium} (emulated)" if medium in self.emulated else medium

    def arm(self, setting: SettingSummary) -> str:
        """What colour and shape encode: all but the density. The medium, RegionServers per node if they vary,
        and the levels of factors that have names."""
        medium, servers = self.medium(setting.medium), setting.regionservers_per_node
        medium = "unknown medium" if medium == UNKNOWN_MEDIUM else medium
        many = f"{servers} RegionServer{'s' if servers > 1 else ''} per node"
        control = (many,) if self._many_regionservers and servers != UNKNOWN_LEVEL else ()
        return ", ".join((medium, *control, *setting.levels.values()))

    @property
    def matrix_header(self) -> str:
        """The heading of the table with all results."""
        return "Density by medium" if self.arm_header == "Medium" else "Results by arm"

    @property
    def arm_header(self) -> str:
        """The header of a column with `arm`."""
        named = any(setting.levels for setting in self.summary.settings)
        return "Arm" if named else "Medium"

    @cached_property
    def _many_regionservers(self) -> bool:
        return len({setting.regionservers_per_node for setting in self.summary.settings}) > 1

    @property
    def arm_styles(self) -> dict[str, Style]:
        """The style of each arm of the run: an arm looks the same in every figure."""
        ordered = sorted(
            self.summary.settings, key=lambda one: (one.medium, one.regionservers_per_node)
        )
        return styles(list(dict.fromkeys(map(self.arm, ordered))))

    def where(self, setting: SettingSummary) -> str:
        return f"{self.density_in_words(setting.vms_per_host)}, {self.arm(setting)}"

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of each setting's id."""
        return {setting.setting: setting.label for setting in self.summary.settings}

    @property
    def has_intervals(self) -> bool:
        return any(m.low is not None for one in self.summary.settings for m in one.metrics)
