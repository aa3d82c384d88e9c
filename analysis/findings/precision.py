"""Whether a study's comparisons are precise enough: what decides if it adds another repetition (method 2).

The comparisons are those of throughput: of every factor, and of the study's own hypotheses. One is precise
enough if it is decided, or if its interval reaches no further from the ratio than the study says. The
intervals are those of a confidence sequence, so that looking after every repetition makes none of them wrong
more often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import sqrt

from density_study.analysis.findings.best_density import FAMILY as BEST_DENSITY
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.primary import asked
from density_study.analysis.findings.question import Evidence, Question
from density_study.analysis.statistics.power import MIN_UNITS
from density_study.analysis.summary.summary import Finding, Look
from density_study.workloads.study.hypotheses import Hypotheses

RATE = "throughput"


def compared(evidence: Evidence, hypotheses: Hypotheses) -> tuple[Question, ...]:
    """The comparisons that are to become precise enough: of throughput, and if the study has questions,
    theirs."""
    every = [
        one
        for one in asked(evidence, hypotheses).every
        # the best density may be another one at each look
        if one.measure == RATE and one.family != BEST_DENSITY
    ]
    main = [one for one in every if one.main]
    return tuple(one for one in main or every if not one.refused)


def looks(questions: Sequence[Question], until: float) -> tuple[Look, ...]:
    """Each comparison as it stands with the builds so far. until: how far an interval may reach, 0.05."""
    # An obstacle forbids a claim, but not to know the number; so does a family's place in the report.
    # What is only measured has no verdict to wait for: it is looked at as if a question asked for it.
    open_ones = [replace(question, obstacles=(), main=True) for question in questions]
    return tuple(_look(found, until) for found in decide(open_ones, MIN_UNITS, sequential=True))


def path(questions: Sequence[Question], until: float) -> Iterator[Look]:
    """Every look from the first with enough builds to the last, in the order of time."""
    most = max((len(variant) for one in questions for variant in (one.first, one.later)), default=0)
    for builds in range(MIN_UNITS, most + 1):
        so_far = [
            replace(one, first=one.first[:builds], later=one.later[:builds]) for one in questions
        ]
        yield from looks(so_far, until)


def reach(low: float, high: float) -> float:
    """How far an interval of a ratio reaches from its middle: 0.05 for 0.95 to 1.05."""
    return sqrt(high / low) - 1


def _look(finding: Finding, until: float) -> Look:
    known = finding.low is not None and finding.high is not None
    narrow = finding.low and finding.high and reach(finding.low, finding.high) <= until
    return Look(
        comparison=finding.statement,
        n=min(finding.n, default=0),
        effect=finding.effect,
        low=finding.low if known else None,
        high=finding.high if known else None,
        precise="decided" if finding.verdict != "inconclusive" else "narrow" if narrow else None,
    )
