"""The numbers that runs are compared by, over all runs that measured them in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from statistics import median, stdev

from density_study.analysis.comparison.acknowledged import Acknowledged
from density_study.analysis.comparison.between_runs import Course
from density_study.analysis.comparison.causes import differing
from density_study.analysis.findings.variants import (
    TAIL,
    Points,
    latency,
    main_operation,
    points_of,
    rate_points,
)
from density_study.analysis.summary.disclosure import unequal_durability
from density_study.analysis.summary.summary import Summary, TestCaseSummary

Key = tuple[str, str]
FAMILIES = ("rates", "latencies")


@dataclass(frozen=True)
class Number:
    """What is compared: a rate or a tail latency of one test case. A latency is inverted, so that lower is
    worse."""

    family: str
    entry: TestCaseSummary
    measure: str
    course: Course
    acknowledged: str

    @property
    def id(self) -> str:
        return number_id(self.family, self.entry)

    @property
    def key(self) -> Key:
        return self.entry.test_case, self.entry.topology


def number_id(family: str, entry: TestCaseSummary) -> str:
    """What a number is called in comparison.json and acknowledged.json."""
    return f"{family}-{entry.test_case}-{entry.topology}"


def numbers(
    key: Key, earlier: Sequence[Summary], after: Summary, acknowledged: Acknowledged
) -> Iterator[Number]:
    """The numbers of one test case that the newest run has, over the runs that measured them in the same way.
    If a search ends in a lower bound, its answer does not count as a rate, nor the latency near its limit."""
    runs = (*earlier, after)
    found = []
    for run in runs:
        entry = next((e for e in run.test_cases if (e.test_case, e.topology) == key), None)
        sides = [{key: entry}, {key: _entry(after, key)}] if entry else []
        if entry and not incomparable(key, (run, after), sides):
            found.append((name_of(run, after.study), entry, is_bound(run, key)))
    newest = found[-1][1]
    families: list[tuple[str, str, list[Points]]] = []
    if newest.target_ops_s is None:  # a target rate is not a result
        rates = [() if bound else rate_points(entry) for _, entry, bound in found]
        families.append(("rates", "throughput", rates))
    last = latency(newest, main_operation(newest) or "", TAIL)
    if last is not None and newest.sought is None:
        tails = [latency(entry, last.operation or "", TAIL) for _, entry, _ in found]
        inverted = [
            tuple(1 / point for point in points_of(one) if point > 0)
            if one is not None and one.latency_kind == last.latency_kind else ()
            for one in tails
        ]  # fmt: skip
        measure = f"{last.latency_kind} {last.operation} p{TAIL:g}"
        families.append(("latencies", measure, inverted))
    for family, measure, every in families:
        kept = [
            (name, points)
            for (name, _, _), points in zip(found, every, strict=True)
            if points and min(points) > 0
        ]
        if not kept or kept[-1][0] != after.run:
            continue
        since = acknowledged.since(number_id(family, newest), after.run)
        course = Course(
            runs=tuple(name for name, _ in kept),
            levels=tuple(sum(map(log, points)) / len(points) for _, points in kept),
            errors=_errors([points for _, points in kept]),
            start=sum(name.rpartition("/")[2] < since for name, _ in kept),
        )
        yield Number(family, newest, measure, course, since)


def _entry(run: Summary, key: Key) -> TestCaseSummary:
    return next(e for e in run.test_cases if (e.test_case, e.topology) == key)


def is_bound(run: Summary, key: Key) -> bool:
    """Whether a search of this test case ended early: its answer is a lower bound."""
    return any((one.test_case, one.topology) == key and not one.exact for one in run.searches)


def _errors(runs: Sequence[Points]) -> tuple[float, ...]:
    """The standard error of each run's mean, by the spread of builds, the median over runs."""
    spreads = [stdev(map(log, points)) for points in runs if len(points) > 1]
    spread = median(spreads) if spreads else 0.0
    return tuple(spread / sqrt(len(points)) for points in runs)


def incomparable(
    key: Key, runs: Sequence[Summary], sides: Sequence[Mapping[Key, TestCaseSummary]]
) -> tuple[str, ...]:
    """The knobs that differ between runs, and unequal durability of their stores."""
    variants = [run.variants[key[1]] for run in runs if key[1] in run.variants]
    unequal = (why for variant in variants[1:] for why in unequal_durability(variants[0], variant))
    return (*differing(side[key] for side in sides if key in side), *dict.fromkeys(unequal))


def name_of(summary: Summary, study: str) -> str:
    return summary.run if summary.study == study else f"{summary.study}/{summary.run}"
