"""The density-by-medium matrix: the results of each setting, one column per arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.report.charts.observations import Names, Observation, observations
from analysis.report.charts.quantity import interval, quantity
from analysis.report.trials import MAIN_RATES
from analysis.summary.summary import SettingSummary, Summary

TAIL = 99.0


@dataclass(frozen=True)
class Fact:
    """One number of a cell. `ref` points to it in summary.json."""

    name: str
    text: str
    spread: str
    ref: str


@dataclass(frozen=True)
class Cell:
    """A setting on one arm. `share`: its rate in percent of the setting's highest, for the bar."""

    medium: str
    facts: tuple[Fact, ...]
    trials: str
    share: float | None


@dataclass(frozen=True)
class Row:
    setting: str
    label: str
    vms_per_host: int
    density: str
    first: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Matrix:
    """`arms`: (medium, name of the arm) of each column."""

    arms: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]


def matrix(summary: Summary, names: Names) -> Matrix:
    """A row per setting and density, a column per arm. An arm that did not run has an empty cell."""
    found = {
        (one.setting, one.vms_per_host, names.arm(one)): (at, one)
        for at, one in enumerate(summary.settings)
    }
    arms = {names.arm(one): one.medium for one in summary.settings}
    densities = sorted({one.vms_per_host for one in summary.settings})
    return Matrix(
        tuple((medium, arm) for arm, medium in sorted(arms.items())),
        tuple(_rows(summary, names, sorted(arms.items()), densities, found)),
    )


def _rows(
    summary: Summary,
    names: Names,
    arms: list[tuple[str, str]],
    densities: list[int],
    found: dict[tuple[str, int, str], tuple[int, SettingSummary]],
) -> Iterator[Row]:
    numbers = _by_setting(summary)
    verdicts = _verdicts(summary)
    for setting in dict.fromkeys(one.setting for one in summary.settings):
        same = [entry for key, entry in found.items() if key[0] == setting]
        best = max((_rate(numbers[at]) or 0.0 for at, _ in same), default=0.0)
        for density in densities:
            entries = [(medium, found.get((setting, density, arm))) for arm, medium in arms]
            cells = (
                _cell(medium, numbers[entry[0]] if entry else [], best,
                      verdicts.get((entry[1].topology, setting), Counter()) if entry else Counter())
                for medium, entry in entries
            )  # fmt: skip
            label, words = same[0][1].label, names.density_in_words(density)
            yield Row(setting, label, density, words, density == densities[0], tuple(cells))


def _by_setting(summary: Summary) -> dict[int, list[Observation]]:
    """The numbers of each setting, by its index in the summary."""
    wanted = {*MAIN_RATES, "latency", "cpu_used", "throughput_cv"}
    groups: dict[int, list[Observation]] = {at: [] for at in range(len(summary.settings))}
    for one in observations(summary, wanted):
        groups[int(one.ref.split("/")[2])].append(one)
    return groups


def _verdicts(summary: Summary) -> dict[tuple[str, str], Counter[str]]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for trial in summary.trials:
        counts.setdefault((trial.topology, trial.setting), Counter())[trial.verdict] += 1
    return counts


def _rate(seen: list[Observation]) -> float | None:
    return next((one.metric.value for one in seen if one.metric.name in MAIN_RATES), None)


def _cell(medium: str, seen: list[Observation], best: float, verdicts: Counter[str]) -> Cell:
    rate = _rate(seen)
    counts = ", ".join(f"{count} {name}" for name, count in sorted(verdicts.items(), reverse=True))
    share = 100.0 * rate / best if rate is not None and best > 0 else None
    return Cell(medium, tuple(_facts(seen)), counts or "did not run", share)


def _facts(seen: list[Observation]) -> Iterator[Fact]:
    known = [one for one in seen if one.metric.value is not None]
    for one in known:
        if one.metric.name in MAIN_RATES:
            yield _fact("", one)
    tails = [o for o in known if o.metric.name == "latency" and o.metric.percentile == TAIL]
    intended = [one for one in tails if one.metric.latency_kind == "intended"]
    if tails:
        slowest = max(intended or tails, key=lambda one: one.metric.value or 0.0)
        yield _fact(f"p99 {slowest.metric.operation}, {slowest.metric.latency_kind}", slowest)
    for one in known:
        if one.metric.name == "cpu_used" and (one.metric.scope or "").startswith("host:"):
            yield _fact(f"used CPU, {one.metric.scope}", one)
    for one in known:
        if one.metric.name == "throughput_cv":
            yield _fact("variation by second", one)


def _fact(name: str, one: Observation) -> Fact:
    metric = one.metric
    spread = interval(metric.low, metric.high, metric.unit)
    return Fact(name, quantity(metric.value, metric.unit), spread, one.ref)
