"""The one table that charts draw from: an `Observation` is a metric of a setting, and its place.

Every datum drawn carries that place as a JSON pointer (RFC 6901) into summary.json, so that a reader or
a test can compare the drawn number with the stored one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from analysis.report.charts.palette import Style, styles
from analysis.summary.summary import Metric, SettingSummary, Summary

Row = dict[str, Any]
"""One datum of a chart: plain JSON values."""
Of = tuple[str, str, str]
"""Setting, vms_per_host and medium: the attributes that the page's filters use."""


@dataclass(frozen=True)
class Observation:
    """`ref` points to the metric in summary.json."""

    ref: str
    setting: SettingSummary
    metric: Metric

    @property
    def of(self) -> Of:
        return self.setting.setting, str(self.setting.vms_per_host), self.setting.medium

    def rows(self) -> Iterator[Row]:
        """A row per unit in repetition order (`part` "unit"), then one for the value ("value").

        A single unit without an interval is its own value, and a null value has no row.
        """
        metric, of = self.metric, list(self.of)
        for index, value in enumerate(metric.points):
            yield {"part": "unit", "ref": f"{self.ref}/points/{index}", "value": value, "of": of}
        has_interval = metric.low is not None and metric.high is not None
        if metric.value is not None and (len(metric.points) != 1 or has_interval):
            ends = {"low": metric.low, "high": metric.high} if has_interval else {}
            yield {"part": "value", "ref": self.ref, "value": metric.value, "of": of, **ends}

    def value_row(self) -> Row | None:
        """The row of the metric itself, also where it has a single unit; None where it is null."""
        rows = [row for row in self.rows() if row["part"] == "value"]
        if rows or self.metric.value is None:
            return rows[0] if rows else None
        return {"part": "value", "ref": self.ref, "value": self.metric.value, "of": list(self.of)}


def observations(summary: Summary, names: Collection[str]) -> Iterator[Observation]:
    """Every metric with one of these names, in the summary's order."""
    for at, setting in enumerate(summary.settings):
        for index, metric in enumerate(setting.metrics):
            if metric.name in names:
                yield Observation(f"/settings/{at}/metrics/{index}", setting, metric)


@dataclass(frozen=True)
class Names:
    """What this run's densities and arms are called in every chart and table."""

    process: bool
    emulated: frozenset[str]
    many_regionservers: bool

    @property
    def axis(self) -> str:
        return "workers per host (processes)" if self.process else "VMs per host"

    @property
    def density_header(self) -> str:
        return "Workers per host" if self.process else "VMs per host"

    def density(self, vms_per_host: int) -> str:
        """The tick on a chart's axis."""
        return "bare" if vms_per_host == 0 else str(vms_per_host)

    def density_in_words(self, vms_per_host: int) -> str:
        if vms_per_host == 0:
            return "bare host"
        noun = "worker" if self.process else "VM"
        return f"{vms_per_host} {noun}{'s' if vms_per_host > 1 else ''} per host"

    def medium(self, medium: str) -> str:
        return f"{medium} (emulated)" if medium in self.emulated else medium

    def arm(self, setting: SettingSummary) -> str:
        """What colour and shape encode: the medium, and RegionServers per node if they vary."""
        medium = self.medium(setting.medium)
        if not self.many_regionservers:
            return medium
        servers = setting.regionservers_per_node
        return f"{medium}, {servers} RegionServer{'s' if servers > 1 else ''} per node"


def names(summary: Summary) -> Names:
    emulated = {one.subject for one in summary.warnings if one.code == "emulated-medium"}
    servers = {setting.regionservers_per_node for setting in summary.settings}
    return Names(
        summary.isolation == "process",
        frozenset(medium for medium in emulated if medium),
        len(servers) > 1,
    )


def badges(summary: Summary) -> tuple[str, ...]:
    """Marks on every figure, so that a figure cut out of the page still shows its limits."""
    process = ("isolation: process",) if summary.isolation == "process" else ()
    return (*process, *(f"{medium}: emulated" for medium in sorted(names(summary).emulated)))


def densities(summary: Summary, names: Names) -> tuple[str, ...]:
    """Every density of the run, ascending. A density without a valid trial keeps its empty place."""
    seen = {setting.vms_per_host for setting in summary.settings}
    seen |= {trial.vms_per_host for trial in summary.trials}
    return tuple(names.density(vms_per_host) for vms_per_host in sorted(seen))


def arm_styles(summary: Summary, names: Names) -> dict[str, Style]:
    """The style of each arm of the run: an arm looks the same in every figure."""
    arms = {(one.medium, one.regionservers_per_node): one for one in summary.settings}
    return styles([names.arm(arms[key]) for key in sorted(arms)])


def pointer_token(key: str) -> str:
    """A key as a token of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")
