"""The test cases on which a claim is decided, out of all test cases of a study."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from density_study.analysis.findings.control import more_daemons
from density_study.analysis.findings.factors import baseline
from density_study.analysis.findings.question import Evidence, Question, Rule
from density_study.analysis.findings.variants import Pair, Points, cells, rate_points
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.workloads.study.factors.registry import factors

_ABOUT_VMS = ("C5", "C6", "C7", "C9")

# With compression, erasure coding or another read size. Plain test cases differ in their readers only.
_SPECIAL_DFSIO = re.compile(r"testdfsio-(?![a-z]+-n\d+(-r\d+)?$).*")


def compared(
    evidence: Evidence,
    claim: str,
    part: str,
    pair: Pair,
    id_: str,
    variants: str,
    rule: Rule,
    points: tuple[Points, Points] | None = None,
    **more: Any,
) -> Question:
    """A part of a claim: the later test case of `pair` over the first, by their rates unless `points` says
    otherwise. more: other fields of the question; the subject is otherwise the first test case."""
    first, later = points or (rate_points(pair[0]), rate_points(pair[1]))
    about = evidence.about_vms if claim in _ABOUT_VMS else evidence.about_disk_types
    fields = {"subject": pair[0].label, "measure": "throughput", **more}
    return Question(
        id=f"{claim}-{id_}",
        family=claim,
        part=part,
        variants=variants,
        rule=rule,
        first=first,
        later=later,
        obstacles=about(*pair),
        refused=evidence.differences(*pair),
        declared=(*evidence.declared(*pair), *more_daemons(*pair) * (claim in _ABOUT_VMS)),
        **{"cells": cells(*pair), **fields},
    )


def least_dense(
    evidence: Evidence, mode: str, disk_type: str | None = None
) -> tuple[TestCaseSummary, ...]:
    """Test cases of a mode at the run's fewest VMs and RegionServers."""
    fewest = min((entry.density for entry in evidence.test_cases), default=0)
    return tuple(
        entry
        for entry in plain(evidence, mode)
        if entry.density == fewest and disk_type in (None, entry.disk_type)
    )


def plain(evidence: Evidence, mode: str) -> tuple[TestCaseSummary, ...]:
    """Test cases of a mode without noisy neighbour, control variant, later version or configuration, target
    rate or other storage options."""
    usual = (
        entry
        for entry in evidence.test_cases
        if entry.mode == mode
        and entry.neighbour is None
        and entry.target_ops_s is None
        and entry.sought is None
        and entry.fault is None
        and not _SPECIAL_DFSIO.fullmatch(entry.test_case)
    )
    named = (factor.name for factor in factors().values() if factor.is_named)
    return baseline(usual, evidence.test_cases, "regionservers_per_node", *named)


def on(evidence: Evidence, mode: str, vms_per_host: int) -> tuple[TestCaseSummary, ...]:
    """Test cases of a mode at one density, on flash if the run has it (the talk's VMs were on flash)."""
    entries = [entry for entry in plain(evidence, mode) if entry.density == vms_per_host]
    flash = tuple(entry for entry in entries if entry.disk_type == "flash")
    return flash or tuple(entries)


def most_loaded(entries: Sequence[TestCaseSummary]) -> tuple[TestCaseSummary, ...]:
    """The test case with the most readers or threads per data-set size; smaller sizes first."""
    by_size = sorted(entries, key=lambda entry: entry.count("records") or 0)
    groups = groupby(by_size, key=lambda entry: entry.count("records") or 0)
    return tuple(max(same, key=_load) for _, same in groups)


def _load(entry: TestCaseSummary) -> float:
    return entry.count("threads") or readers(entry)


def readers(entry: TestCaseSummary) -> float:
    """Maps that ran concurrently (method 14); the number of files if that is not known."""
    found = next((m.value for m in entry.metrics if m.name == "concurrent_maps"), None)
    return float(found if found is not None else entry.count("files") or 0)


def by_threads(entries: Sequence[TestCaseSummary]) -> tuple[Pair, ...]:
    """The test cases with the fewest and the most threads at the largest data set; empty if they are
    equal."""
    sized = [entry for entry in entries if entry.count("threads")]
    largest = max((entry.count("records") or 0 for entry in sized), default=0)
    ordered = [entry for entry in sized if entry.count("records") == largest]
    ordered.sort(key=lambda entry: entry.count("threads") or 0)
    if not ordered or ordered[0].count("threads") == ordered[-1].count("threads"):
        return ()
    return ((ordered[0], ordered[-1]),)
