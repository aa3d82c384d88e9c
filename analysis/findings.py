"""Comparisons that every study makes, with their verdicts. Under 5 builds an arm: no claim (method 2).

What is compared is density: the last against the first, on the same medium and the same number of
RegionServers a node, in each setting's rate and in the hosts' CPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import mean

from analysis.summary import Finding, Metric, SettingSummary

LEAST_BUILDS = 5
RATES = ("throughput", "throughput_map_phase")
NAMES = {"rate": "throughput", "cpu": "used CPU of the hosts"}


@dataclass(frozen=True)
class Comparison:
    """One setting at its lowest and its highest density, all else equal."""

    first: SettingSummary
    later: SettingSummary

    def values(self, what: str) -> tuple[float | None, float | None]:
        """(first, later) of `rate` (in the metric's unit) or `cpu` (percent, mean of the hosts)."""
        read = rate if what == "rate" else used_cpu
        return read(self.first), read(self.later)

    def ratio(self, what: str) -> float | None:
        """Later over first; None if one of them is not known, or zero."""
        first, later = self.values(what)
        return later / first if first and later is not None else None


def comparisons(settings: Sequence[SettingSummary]) -> Iterator[Comparison]:
    """One for each setting and arm that has more than one density, in the settings' order."""
    order = list(dict.fromkeys(entry.setting for entry in settings))
    arms = sorted(settings, key=lambda entry: (order.index(entry.setting), *_arm(entry)))
    for _, same in groupby(arms, key=lambda entry: (entry.setting, *_arm(entry))):
        by_density = sorted(same, key=lambda entry: entry.vms_per_host)
        if len(by_density) > 1:
            yield Comparison(by_density[0], by_density[-1])


def _arm(entry: SettingSummary) -> tuple[str, int]:
    return entry.medium, entry.regionservers_per_node


def rate(entry: SettingSummary) -> float | None:
    """The setting's main rate: operations a second, or MiB/s over the map phase."""
    return next((metric.value for metric in entry.metrics if metric.name in RATES), None)


def used_cpu(entry: SettingSummary) -> float | None:
    """Used CPU of the hosts, percent of their cores, their mean (each host counted once)."""
    values = [metric.value for metric in entry.metrics if _is_host_cpu(metric)]
    known = [value for value in values if value is not None]
    return mean(known) if known and len(known) == len(values) else None


def _is_host_cpu(metric: Metric) -> bool:
    return metric.name == "cpu_used" and (metric.scope or "").startswith("host:")


def findings(
    settings: Sequence[SettingSummary], blocks: int, isolation: str, emulated: Sequence[str] = ()
) -> tuple[Finding, ...]:
    """A finding for each comparison's rate and CPU. `emulated`: media that are emulated."""
    return tuple(
        _finding(comparison, what, blocks, isolation, emulated)
        for comparison in comparisons(settings)
        for what in NAMES
    )


def _finding(
    comparison: Comparison, what: str, blocks: int, isolation: str, emulated: Sequence[str]
) -> Finding:
    first, later = comparison.first, comparison.later
    builds = (first.n_builds, later.n_builds)
    densities = (density(one.vms_per_host, isolation) for one in (later, first))
    arms = " over ".join(densities)
    return Finding(
        id=f"density-{what}-{first.setting}-{first.topology}-{later.topology}",
        statement=f"{first.label}, {first.medium}: {NAMES[what]}, {arms}",
        subject=first.label,
        measure=NAMES[what],
        arms=arms,
        among=first.medium,
        verdict="no claim",
        why="; ".join(_why(builds, blocks, isolation, first.medium in emulated)),
        effect=comparison.ratio(what),
        n=builds,
    )


def _why(builds: tuple[int, int], blocks: int, isolation: str, emulated: bool) -> Iterator[str]:
    if not all(builds):
        yield "an arm has no valid trial"
    elif min(builds) < LEAST_BUILDS:
        counted = "1 block" if blocks == 1 else f"{blocks} blocks"
        yield f"{counted}: points only; a claim needs {LEAST_BUILDS} builds an arm"
    if isolation == "process":
        yield "isolation: process; groups of processes decide no claim about VMs"
    if emulated:
        yield "the medium is emulated; it decides no claim"
    if min(builds) >= LEAST_BUILDS and isolation != "process" and not emulated:
        yield "effects are shown; this version tests none of them"


def density(vms_per_host: int, isolation: str) -> str:
    """'2 VMs per host', '1 worker per host', 'the bare host'."""
    if vms_per_host == 0:
        return "the bare host"
    noun = "worker" if isolation == "process" else "VM"
    return f"{vms_per_host} {noun}{'s' if vms_per_host > 1 else ''} per host"
