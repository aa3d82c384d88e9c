"""What moved between two variants beside their rate: every sampled quantity, per operation if it is work.

By the paired method of findings (`analysis.statistics.difference`). Measured, not tested: of 20 quantities
one moves by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

import pandas as pd

from density_study.analysis.explanation.words import named
from density_study.analysis.findings.factors import pairs
from density_study.analysis.findings.variants import Pair
from density_study.analysis.statistics.difference import Difference as OfMeans
from density_study.analysis.statistics.difference import difference
from density_study.analysis.summary.numbers import ratio
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.analysis.summary.why import Explanation, Shift
from density_study.workloads.study.factors.registry import factors

RATE = "rate"
LEAST = 1.1  # times, or one over it: less is no explanation of anything
FEWEST_BUILDS = 2
MOST = 4  # in a sentence
# Work grows with the operations: it is compared per operation. So is time that resources are busy.
_WORK_UNITS = ("1/s", "MiB/s")
_BUSY = frozenset(
    (
        "cpu_used",
        "disk_busy",
        "softirq",
        "gc_time",
        "run_delay",
        "card_send_use",
        "card_receive_use",
    )
)
_ABOUT_OTHERS = frozenset(("region_share", "region_excess", "server_requests", "server_excess"))


def explanations(
    test_cases: Sequence[TestCaseSummary], means: pd.DataFrame
) -> tuple[Explanation, ...]:
    """Explains each pair of variants that differ in one factor. means: `series_means` of the counted trials,
    with topology, test case and repetition of each, and its rate as the quantity `rate`."""
    alone = [entry for entry in test_cases if entry.neighbour is None]
    builds = means.groupby(["test_case", "topology", "name", "repetition"])["mean"].mean()
    points: dict[Any, pd.Series[float]] = {
        key: of_name.droplevel([0, 1, 2]).sort_index()
        for key, of_name in builds.groupby(level=[0, 1, 2])
    }
    found: dict[tuple[str, str, str], Explanation] = {}
    for factor in factors().values():
        for pair in pairs(alone, factor):
            variants = [_Variant(entry, points) for entry in pair]
            key = (pair[0].test_case, pair[0].topology, pair[1].topology)
            if key not in found and (made := _explanation(pair, *variants)):
                found[key] = made
    return tuple(found.values())


@dataclass(frozen=True)
class _Variant:
    entry: TestCaseSummary
    points: Mapping[Any, pd.Series[float]]
    """The points of each test case, topology and quantity, by repetition."""

    def names(self) -> set[str]:
        here = (self.entry.test_case, self.entry.topology)
        return {name for test_case, topology, name in self.points if (test_case, topology) == here}

    def of(self, name: str, *, per_operation: bool = False) -> pd.Series[float]:
        """The values of the quantity by repetition."""
        values = self.points[self.entry.test_case, self.entry.topology, name]
        if not per_operation:
            return values
        return (values / self.of(RATE)).dropna()


def _explanation(pair: Pair, first: _Variant, later: _Variant) -> Explanation | None:
    names = (first.names() & later.names()) - _ABOUT_OTHERS
    if RATE not in names:
        return None
    compared = [one for name in sorted(names - {RATE}) if (one := _compared(name, first, later))]
    if not compared:
        return None
    moved = [
        (surely, one)
        for surely, one in compared
        if not one.low <= 1 <= one.high and max(one.ratio, 1 / one.ratio) >= LEAST
    ]
    moved.sort(key=lambda both: (-both[0], both[1].name))
    equal = tuple(one for _, one in compared if one.low > 1 / LEAST and one.high < LEAST)
    rates = _difference(first.of(RATE), later.of(RATE))
    is_target = pair[0].target_ops_s is not None
    rate = None if is_target or rates is None else _ratio(rates)
    told = tuple(one for _, one in moved)
    return Explanation(
        test_case=pair[0].test_case,
        first=pair[0].topology,
        later=pair[1].topology,
        rate=rate,
        moved=told,
        equal=equal,
        compared=len(compared),
        sentence=_sentence(rate, told, equal, len(compared)),
    )


def _compared(name: str, first: _Variant, later: _Variant) -> tuple[float, Shift] | None:
    """How many standard errors the quantity moved, and the difference; None if it cannot be compared."""
    label, unit = named().get(name, (name, ""))
    per_operation = unit in _WORK_UNITS or name in _BUSY
    points = [one.of(name, per_operation=per_operation) for one in (first, later)]
    found = _difference(*points)
    if found is None:
        return None
    interval = found.interval
    surely = abs(found.middle) / found.error if found.error > 0 else float("inf")
    return surely, Shift(
        name=name,
        label=label,
        per_operation=per_operation,
        ratio=_ratio(found),
        low=interval.low,
        high=interval.high,
    )


def _ratio(found: OfMeans) -> float:
    return exp(found.middle)


def _difference(first: pd.Series[float], later: pd.Series[float]) -> OfMeans | None:
    if min(len(first), len(later)) < FEWEST_BUILDS or min(first.min(), later.min()) <= 0:
        return None
    paired = first.index.equals(later.index)
    blocks = len(first) if paired else max(len(first), len(later)) + 1
    return difference(list(first), list(later), blocks)


def _sentence(
    rate: float | None, moved: Iterable[Shift], equal: Sequence[Shift], compared: int
) -> str:
    speed = "" if rate is None else f"{'Faster' if rate > 1 else 'Slower'} (rate {ratio(rate)}). "
    texts = list(_texts(moved))
    if not texts:
        return f"{speed}None of {compared} sampled quantities moved by a tenth or more."
    more = f", and {len(texts) - MOST} more" if len(texts) > MOST else ""
    same = ", ".join(one.label for one in equal[:MOST])
    return f"{speed}These moved with it: {', '.join(texts[:MOST])}{more}." + (
        f" Equal: {same}." if same else ""
    )


def _texts(moved: Iterable[Shift]) -> Iterator[str]:
    for one in moved:
        each = " per operation" if one.per_operation else ""
        yield f"{one.label}{each} {ratio(one.ratio)} [{one.low:.2f}, {one.high:.2f}]"
