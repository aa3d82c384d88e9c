"""Comparisons by one factor, the same for every factor (`workloads.study.factors`).

A variant is one level of every factor. Two variants are compared by one factor only if they agree in all
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from density_study.analysis.findings.question import FALLS, RISES, Evidence, Rule
from density_study.analysis.findings.variants import Pair
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.workloads.study.factors.factor import Direction, Factor, Level
from density_study.workloads.study.factors.registry import factors, held_equal

_RULES: Mapping[Direction, Rule] = {"rises": RISES, "falls": FALLS}


def rules_of(factor: Factor[Any]) -> dict[str, Rule]:
    """The question about each measure, fixed before any data."""
    return {measure: _RULES[direction] for measure, direction in factor.expected.items()}


def obstacles_of(factor: Factor[Any], evidence: Evidence, pair: Pair) -> tuple[str, ...]:
    """Why the pair supports no claim about the factor."""
    about = {"density": evidence.about_density, "disk_types": evidence.about_disk_types}
    return about.get(factor.about, evidence.about_unknown)(*pair)


def others(entry: TestCaseSummary, compared: str) -> tuple[Level, ...]:
    return tuple(entry.level(name) for name in held_equal(compared))


def levels(test_cases: Sequence[TestCaseSummary], factor: str) -> tuple[Level, ...]:
    """The factor's levels, lowest first; those that have names in the study's order."""
    found = (entry.level(factor) for entry in test_cases)
    seen = dict.fromkeys(level for level in found if level is not None)
    return factors()[factor].ordered(tuple(seen))


def baseline(
    entries: Iterable[TestCaseSummary], test_cases: Sequence[TestCaseSummary], *factors: str
) -> tuple[TestCaseSummary, ...]:
    """Entries with the first level of each of these factors in `test_cases`: no control variant, no later
    version."""
    first = {name: (*levels(test_cases, name)[:1], None) for name in factors}
    return tuple(
        entry for entry in entries if all(entry.level(name) in first[name] for name in factors)
    )


def pairs(test_cases: Sequence[TestCaseSummary], factor: Factor[Any]) -> Iterator[Pair]:
    """The two variants of each comparison by the factor, at equal test case and other levels."""
    alike: dict[tuple[object, ...], dict[Level, TestCaseSummary]] = {}
    for entry in test_cases:
        key = (entry.test_case, *others(entry, factor.name))
        alike.setdefault(key, {}).setdefault(entry.level(factor.name), entry)
    order = levels(test_cases, factor.name)
    for variants in alike.values():
        present = [variants[level] for level in order if level in variants]
        for later in present[1:] if factor.has_baseline else present[1:][-1:]:
            yield present[0], later
