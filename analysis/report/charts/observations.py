"""`Observation`: one metric of one setting, with its place in summary.json and its arm's name.

Every datum a chart draws carries that place as a JSON pointer (RFC 6901), so that a reader, or a
test, can hold the drawn number against the stored one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from analysis.summary.summary import Metric, SettingSummary, Summary

Row = dict[str, Any]
"""One datum of a chart: plain JSON values."""
Of = tuple[str, str, str]
"""Setting, vms_per_host and medium: what the page's filters choose by."""


@dataclass(frozen=True)
class Observation:
    """`ref` points at the metric in summary.json."""

    ref: str
    setting: SettingSummary
    metric: Metric

    @property
    def of(self) -> Of:
        return self.setting.setting, str(self.setting.vms_per_host), self.setting.medium


def observations(summary: Summary, names: Collection[str]) -> Iterator[Observation]:
    """Every metric called one of `names`, in the summary's order."""
    for at, setting in enumerate(summary.settings):
        for index, metric in enumerate(setting.metrics):
            if metric.name in names:
                yield Observation(f"/settings/{at}/metrics/{index}", setting, metric)


@dataclass(frozen=True)
class Names:
    """How this run's densities and arms are called, the same in every chart and table."""

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
        marked = medium in self.emulated and "emulated" not in medium
        return f"{medium} (emulated)" if marked else medium

    def arm(self, setting: SettingSummary) -> str:
        """What colour and shape stand for: the medium, and RegionServers where they vary."""
        medium = self.medium(setting.medium)
        if not self.many_regionservers:
            return medium
        servers = setting.regionservers_per_node
        return f"{medium}, {servers} RegionServer{'s' if servers > 1 else ''} a node"


def names(summary: Summary) -> Names:
    servers = {setting.regionservers_per_node for setting in summary.settings}
    return Names(summary.isolation == "process", emulated_media(summary), len(servers) > 1)


def emulated_media(summary: Summary) -> frozenset[str]:
    """Media that an I/O limit stands in for: named so, warned of, or disclosed as `emulated` disks."""
    media = {setting.medium for setting in summary.settings}
    media |= {trial.medium for trial in summary.trials}
    told = {medium for medium in media if "emulated" in medium or _warned(medium, summary)}
    return frozenset(told | set(_emulated(summary.disclosure)))


def _warned(medium: str, summary: Summary) -> bool:
    words = re.compile(rf"\b{re.escape(medium)}\b")
    return any("emulated" in warning and words.search(warning) for warning in summary.warnings)


def _emulated(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if value.get("emulated") is True and isinstance(value.get("medium"), str):
            yield value["medium"]
        for child in value.values():
            yield from _emulated(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _emulated(child)


def unit_rows(seen: Observation, shared: Row) -> Iterator[Row]:
    """One row a unit (`part` "unit"), in repetition order."""
    for index, value in enumerate(seen.metric.points):
        ref = f"{seen.ref}/points/{index}"
        yield {**shared, "part": "unit", "ref": ref, "value": value, "of": list(seen.of)}


def value_row(seen: Observation, shared: Row) -> Row | None:
    """The metric itself (`part` "value"), with its interval if it has one; None where it is null."""
    metric = seen.metric
    if metric.value is None:
        return None
    row = {**shared, "part": "value", "ref": seen.ref, "value": metric.value, "of": list(seen.of)}
    if metric.low is not None and metric.high is not None:
        row |= {"low": metric.low, "high": metric.high}
    return row


def point_rows(seen: Observation, shared: Row) -> list[Row]:
    """Units and the value over them; a lone unit is its own value and is drawn once."""
    value = value_row(seen, shared)
    units = list(unit_rows(seen, shared))
    if value is None or (len(units) == 1 and "low" not in value):
        return units
    return [*units, value]


def pointer_token(key: str) -> str:
    """A key as a token of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")
