"""Which questions of a study are answered after a repetition, and what the others still need. Pure.

A run, its analysis and its rehearsals ask this, so that all of them leave the same test cases.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from math import sqrt
from typing import Literal

import numpy as np

from density_study.analysis.findings import claims
from density_study.analysis.findings.best_density import FAMILY as BEST_DENSITY
from density_study.analysis.findings.best_density import conclusion
from density_study.analysis.findings.budget import most_repetitions
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.noise_seen import Measured
from density_study.analysis.findings.power_of_design import looks_of, unequal_in
from density_study.analysis.findings.primary import Comparisons, asked
from density_study.analysis.findings.question import Cell, Evidence, Question
from density_study.analysis.findings.question_power import PlannedQuestion, needed
from density_study.analysis.statistics.difference import Difference, difference
from density_study.analysis.statistics.looks import Looks
from density_study.analysis.statistics.power import MAX_UNITS, MIN_UNITS
from density_study.analysis.summary.summary import Finding, Look, TestCaseSummary
from density_study.cluster.model.isolation import isolation_of
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.hypotheses import Hypotheses

HOPELESS = 0.05
"""A comparison that the last look decides with a smaller chance is not worth its time."""
Pairs = list[tuple[Question, Finding]]


@dataclass(frozen=True)
class Standing:
    """`answered` and `hopeless`: the names of questions that need no more repetitions. `open`: those of the
    others, with what they are about."""

    answered: tuple[str, ...]
    hopeless: tuple[str, ...]
    open: Mapping[str, frozenset[Cell]]

    @property
    def cells(self) -> frozenset[Cell]:
        return frozenset[Cell]().union(*self.open.values())


def ran(plan: Plan, spared: Collection[str], last: int) -> Mapping[Cell, int]:
    """In how many of the repetitions up to `last` each test case of a variant was not spared."""
    blocks: dict[Cell, set[int]] = {}
    for step in plan.trials:
        cell = plan.cell(step)
        if cell and step.overhead_pair is None and step.repetition <= last:
            found = blocks.setdefault(cell, set())
            if step.trial not in spared:
                found.add(step.repetition)
    return {cell: len(repetitions) for cell, repetitions in blocks.items()}


def evidence_of(
    plan: Plan,
    test_cases: tuple[TestCaseSummary, ...],
    spared: Collection[str] = (),
    repetitions: int | None = None,
) -> Evidence:
    """The evidence that the plan's run has after this number of repetitions (None: all), if every trial is
    valid. test_cases: those measured, or imagined before a run. spared: trials that did not run."""
    last = plan.repetitions if repetitions is None else repetitions
    disks = (disk for one in plan.built for node in one.workers for disk in node.disks)
    looks = looks_of(plan)
    return Evidence(
        test_cases,
        last,
        isolation_of(one.isolation for one in plan.topologies.values()),
        frozenset(disk.disk_type for disk in disks if disk.emulated),
        sequential=plan.precise is not None and looks is None,
        looks=looks,
        ran=ran(plan, spared, last) if looks else {},
        confounds=unequal_in(plan),
    )


def standing(evidence: Evidence, hypotheses: Hypotheses) -> Standing:
    """Which questions are answered, hopeless or still open after `evidence.repetitions`. ValueError if the
    number of repetitions is fixed."""
    looks = evidence.looks
    if looks is None:
        raise ValueError("the repetitions are fixed")
    every = asked(evidence, hypotheses)
    found = decide(every.every, evidence.repetitions, looks=looks)
    main = [pair for pair in zip(every.every, found, strict=True) if pair[0].main]
    answered, hopeless, still = list[str](), list[str](), dict[str, frozenset[Cell]]()
    for name, group in groupby(sorted(main, key=_name), key=_name):
        pairs = list(group)
        if _is_answered(name, pairs, every):
            answered.append(name)
        elif cells := frozenset(_still(name, pairs, evidence, looks)):
            still[name] = cells
        else:
            hopeless.append(name)
    return Standing(tuple(answered), tuple(hopeless), still)


def last_needed(
    questions: Sequence[PlannedQuestion], measured: Mapping[str, Measured], plan: Plan, paid: int
) -> int | None:
    """The last repetition that the questions need by the noise of the first ones, at least the planned one,
    at most the last one that is `paid` by the budget. None: the plan has no reserve.

    It depends only on the noise: residuals of normal data are independent of their means, so that no chance
    effect asks for more repetitions, or for fewer. What remains is that a variance which is small by chance
    asks for fewer and stays in the test (J. Wittes and E. Brittain, Statistics in Medicine 9 (1990)). Looks
    share the error as if they did not overlap, which leaves more room than that takes: a test draws it.
    """
    bounds = plan.precise
    if bounds is None or bounds.planned is None:
        return None
    room = min(bounds.at_most, paid)
    enough = [
        one.needs(measured[one.name].noise)
        for one in questions
        if one.name in measured and not one.obstacle
    ]
    wanted = max((most_repetitions(needs or MAX_UNITS) for needs in enough), default=0)
    return max(bounds.planned, min(room, wanted))


def spared_by(plan: Plan, now: Standing, after: int) -> tuple[str, ...]:
    """The trials after this repetition that no open question needs."""
    wanted = needed(plan, now.cells)
    bounds = plan.precise
    last = bounds.at_most if bounds else plan.repetitions  # a person asked for those beyond
    later = [step for step in plan.trials if after < step.repetition <= last]
    kept = {step.trial for step in later if plan.cell(step) in wanted}
    return tuple(str(step.trial) for step in later if step.trial not in kept)


def path_to_answers(evidence: Evidence, hypotheses: Hypotheses) -> Iterator[Look]:
    """Every comparison of the questions at each look while its test cases ran, in the order of time. If one
    lost a build, only its last: nobody knows which builds an earlier look had."""
    looks = evidence.looks
    if looks is None:
        return
    main = asked(evidence, hypotheses).main
    for n in range(looks.first, evidence.repetitions + 1):
        so_far = [
            one.up_to(min(n, one.blocks or n))
            if {*map(len, one.sides)} == {one.blocks or evidence.repetitions}
            else one
            for one in main
        ]
        for one, found in zip(so_far, decide(so_far, n, looks=looks), strict=True):
            if (one.blocks or evidence.repetitions) == n:
                decided: Literal["decided"] | None = "decided" if found.is_decided else None
                yield Look(
                    comparison=found.statement, n=min(found.n, default=0), effect=found.effect,
                    low=found.low, high=found.high, precise=decided,
                )  # fmt: skip


def _name(pair: tuple[Question, Finding]) -> str:
    return pair[0].name


def _is_answered(name: str, pairs: Pairs, every: Comparisons) -> bool:
    if name == BEST_DENSITY:  # its pairs are in the order of the candidates
        found = iter(finding for _, finding in pairs)
        return all(
            conclusion(one, list(islice(found, len(one.pairs)))).is_decided for one in every.best
        )
    if all(finding.is_decided for _, finding in pairs):
        return True
    # one refuted part refutes the claim
    is_claim = any(claim.id == name for claim in claims.CLAIMS)
    return is_claim and any(finding.verdict == "refuted" for _, finding in pairs)


def _still(name: str, pairs: Pairs, evidence: Evidence, looks: Looks) -> Iterator[Cell]:
    """What its open comparisons are about."""
    if name == BEST_DENSITY:  # any test case may turn out to be the best
        yield from ((entry.test_case, entry.topology) for entry in evidence.test_cases)
        return
    for question, finding in pairs:
        hindered = question.obstacles or question.refused or question.withheld
        left = (question.blocks or evidence.repetitions) < evidence.repetitions
        if not (finding.is_decided or hindered or left) and _chance(question, looks) >= HOPELESS:
            yield from question.cells


def _chance(question: Question, looks: Looks) -> float:
    """The probability that the last look decides the question."""
    units = min(map(len, question.sides))
    if units < MIN_UNITS or min(map(min, question.sides)) <= 0:
        return 1.0  # nothing is known
    rule = question.rule
    if question.reference:
        shares = np.array(question.later) / question.reference
        error = float(shares.std(ddof=1)) / sqrt(units)
        return looks.chance(
            Difference(float(shares.mean()), error, units - 1), units, (rule.low, rule.high)
        )
    found = difference(question.first, question.later, question.blocks or units)
    return looks.chance(found, units, rule.logs)
