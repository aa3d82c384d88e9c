"""The density-by-medium matrix: the results of each setting, one column per arm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.report.charts.observations import Names
from analysis.report.charts.quantity import interval, quantity
from analysis.report.trials import counts, host_cpu, main_rate, slowest_p99, verdicts_by_arm
from analysis.summary.summary import MAIN_RATES, Metric, SettingSummary, Summary


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
    by_name = sorted({names.arm(one): one.medium for one in summary.settings}.items())
    arms = tuple((medium, arm) for arm, medium in by_name)
    return Matrix(arms, tuple(_rows(summary, names, arms)))


def _rows(summary: Summary, names: Names, arms: tuple[tuple[str, str], ...]) -> Iterator[Row]:
    verdicts = verdicts_by_arm(summary)
    found = {
        (one.setting, one.vms_per_host, names.arm(one)): (at, one)
        for at, one in enumerate(summary.settings)
    }
    densities = sorted({one.vms_per_host for one in summary.settings})
    for setting in dict.fromkeys(one.setting for one in summary.settings):
        same = [one for one in summary.settings if one.setting == setting]
        best = max(_rate(one) or 0.0 for one in same)
        for density in densities:
            cells = []
            for medium, arm in arms:
                cell = Cell(medium, (), "did not run", None)
                if (setting, density, arm) in found:
                    at, entry = found[setting, density, arm]
                    trials = counts(verdicts.get((entry.topology, setting), ()), "did not run")
                    rate = _rate(entry)
                    share = 100.0 * rate / best if rate is not None and best > 0 else None
                    cell = Cell(medium, tuple(_facts(at, entry)), trials, share)
                cells.append(cell)
            words, first = names.density_in_words(density), density == densities[0]
            yield Row(setting, same[0].label, density, words, first, tuple(cells))


def _rate(entry: SettingSummary) -> float | None:
    rate = main_rate(entry.metrics)
    return rate.value if rate else None


def _facts(at: int, entry: SettingSummary) -> Iterator[Fact]:
    """Known numbers only; `at` is the setting's index in the summary."""
    known = [one for one in entry.metrics if one.value is not None]
    named: list[tuple[str, Metric]] = [("", one) for one in known if one.name in MAIN_RATES]
    if slowest := slowest_p99(known):
        named.append((f"p99 {slowest.operation}, {slowest.latency_kind}", slowest))
    named += [(f"used CPU, {one.scope}", one) for one in host_cpu(known)]
    named += [("variation by second", one) for one in known if one.name == "throughput_cv"]
    for name, metric in named:
        spread = interval(metric.low, metric.high, metric.unit)
        ref = f"/settings/{at}/metrics/{entry.metrics.index(metric)}"
        yield Fact(name, quantity(metric.value, metric.unit), spread, ref)
