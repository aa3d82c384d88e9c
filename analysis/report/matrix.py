"""The density-by-disk-type matrix: the results of each test case, one column per variant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.charts.quantity import interval, quantity, where
from density_study.analysis.report.trials import (
    counts_by_variant,
    host_cpu,
    main_rate,
    shown_scopes,
    slowest_p99,
)
from density_study.analysis.summary.summary import Metric, TestCaseSummary, unknown_first
from density_study.workloads.study.metrics import main_rates


@dataclass(frozen=True)
class Fact:
    """One number of a cell. `ref` points to it in summary.json."""

    name: str
    text: str
    spread: str
    ref: str


@dataclass(frozen=True)
class Cell:
    """A test case on one variant. `share`: its rate in percent of the test case's highest, for the bar."""

    facts: tuple[Fact, ...]
    trials: str
    share: float | None


@dataclass(frozen=True)
class Matrix:
    """A row per test case (id, label) and density, a column per variant (disk type, name). cells: by test
    case, density and variant; a variant that did not run has none."""

    test_cases: tuple[tuple[str, str], ...]
    densities: tuple[int | None, ...]
    variants: tuple[tuple[str, str], ...]
    cells: dict[tuple[str, int | None, str], Cell]


def matrix(view: View) -> Matrix:
    summary = view.summary
    variants = sorted({view.variant(one): one.disk_type for one in summary.test_cases}.items())
    best: dict[str, float] = {}
    for one in summary.test_cases:
        best[one.test_case] = max(best.get(one.test_case, 0.0), _rate(one) or 0.0)
    counted = counts_by_variant(summary)
    cells = {}
    for at, one in enumerate(summary.test_cases):
        rate, most = _rate(one), best[one.test_case]
        share = 100.0 * rate / most if rate is not None and most > 0 else None
        trials = counted.get((one.topology, one.test_case), "did not run")
        key = (one.test_case, one.vms_per_host, view.variant(one))
        cells[key] = Cell(tuple(_facts(at, one)), trials, share)
    return Matrix(
        tuple(view.labels.items()),
        tuple(sorted({one.vms_per_host for one in summary.test_cases}, key=unknown_first)),
        tuple((disk_type, variant) for variant, disk_type in variants),
        cells,
    )


def _rate(entry: TestCaseSummary) -> float | None:
    rate = main_rate(entry.metrics)
    return rate.value if rate else None


def _facts(at: int, entry: TestCaseSummary) -> Iterator[Fact]:
    """Known numbers only; `at` is the test case's index in the summary."""
    known = [one for one in entry.metrics if one.value is not None]
    named: list[tuple[str, Metric]] = [("", one) for one in known if one.name in main_rates()]
    if slowest := slowest_p99(known):
        named.append((f"p99 {slowest.operation}, {slowest.latency_kind}", slowest))
    shown = shown_scopes(known)
    cpu = [one for one in host_cpu(known) if one.scope in shown]
    named += [(f"used CPU of {where(one.scope)}", one) for one in cpu]
    named += [("variation by second", one) for one in known if one.name == "throughput_cv"]
    caches = {"l1_hit_percent": "found on the heap", "l2_hit_percent": "found in the cache"}
    named += [(caches[one.name], one) for one in known if one.name in caches]
    for name, metric in named:
        spread = interval(metric.low, metric.high, metric.unit)
        ref = f"/test_cases/{at}/metrics/{entry.metrics.index(metric)}"
        yield Fact(name, quantity(metric.value, metric.unit), spread, ref)
