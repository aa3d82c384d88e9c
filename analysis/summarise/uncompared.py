"""The headline of a run in which nothing is compared: the rates that it has, or that it has none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from density_study.analysis.findings import Evidence, rate
from density_study.analysis.summary.numbers import digits
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.cluster.model.plain import counted
from density_study.workloads.study.registry import kind_of

MAX_RATES = 4


@dataclass(frozen=True)
class Headline:
    """The text, and the id of the test case that its first ratio is of; None if there is no valid number."""

    text: str
    test_case: str | None = None


def uncompared(evidence: Evidence, trials: int, is_existing: bool) -> Headline:
    alone = [entry for entry in evidence.test_cases if rate(entry) is not None]
    if not alone:
        if not any(entry.n_builds for entry in evidence.test_cases):
            none = f"none of the {trials} trials is valid" if trials else "no trial was recorded"
            if trials == 1:
                none = "the only trial is not valid"
            return Headline(f"No result: {none}.")
        return Headline("No result: no trial has its main rate.")
    first = alone[0]
    if len({one.topology for one in evidence.test_cases}) == 1 and is_existing:
        return Headline(_measured(evidence, alone), first.test_case)
    left = len(alone) - 1
    more = f", and {left} more number{'s' * (left > 1)} below" if left else ""
    return Headline(
        f"No comparison: no test case has valid trials on two clusters that differ in one factor. "
        f"{first.label} ran {_at(evidence, first)} on {first.topology}{more}.",
        first.test_case,
    )


def _measured(evidence: Evidence, alone: Sequence[TestCaseSummary]) -> str:
    """'The existing cluster, in 5 repetitions: YCSB data load at 5,000 ops/s, TestDFSIO write at 200 MiB/s.'
    The fastest test case of each label in the study's order, at most MAX_RATES, and how many were left
    out."""
    best: dict[str, TestCaseSummary] = {}
    for entry in alone:
        words = entry.label.partition(",")[0]
        best[words] = max(best.get(words, entry), entry, key=lambda one: rate(one) or 0.0)
    told = [f"{words} {_at(evidence, entry)}" for words, entry in best.items()]
    more = f", and {len(told) - MAX_RATES} more below" if len(told) > MAX_RATES else ""
    builds = max(entry.n_builds for entry in alone)
    repeated = counted(builds, "repetition")
    return f"The existing cluster, in {repeated}: {', '.join(told[:MAX_RATES])}{more}."


def _at(evidence: Evidence, entry: TestCaseSummary) -> str:
    """'at 5,000 ops/s', or of a lower bound 'at 5,000 or more ops/s'."""
    more = " or more" if evidence.about_searches(entry) else ""
    return f"at {digits(rate(entry) or 0.0)}{more} {unit_words(entry)}"


def unit_words(entry: TestCaseSummary) -> str:
    return kind_of(entry.workload).rate_words
