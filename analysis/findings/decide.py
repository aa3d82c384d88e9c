"""From questions to findings: effect, interval, test, Holm within each family, verdict and reason.

A claim needs two things at once: the adjusted p is at most 0.05, and the whole interval lies inside the
rule (reproduced) or outside it (contradicted). The tests are in analysis/statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

from analysis.findings.question import Question
from analysis.findings.rule import Rule
from analysis.statistics import equivalence, rank_test
from analysis.statistics.equivalence import equivalence_p
from analysis.statistics.holm import holm
from analysis.statistics.interval import (
    CONFIDENCE,
    Interval,
    ratio_interval,
    ratio_of_means,
    spread,
)
from analysis.statistics.power import ALPHA, MIN_UNITS, detectable_ratio
from analysis.statistics.rank_test import least_p, rank_p
from analysis.summary.summary import Finding, FindingVerdict

_LEVEL_TEST = "one-sample t"


@dataclass(frozen=True)
class _Tested:
    """`p` belongs to the verdict that the effect supports; the opposite verdict cannot be claimed."""

    effect: float
    interval: Interval
    p: float
    test: str


def decide(questions: Sequence[Question], repetitions: int) -> tuple[Finding, ...]:
    """A finding for each question, in their order. Holm adjusts over the questions of a family that
    were tested and have no obstacles."""
    tested = [_test(question) for question in questions]
    adjusted = _adjusted(questions, tested)
    sizes = {q.family: sum(_counts(o, t) for o, t in zip(questions, tested, strict=True)
                           if o.family == q.family) for q in questions}  # fmt: skip
    return tuple(
        _finding(question, one, p, max(1, sizes[question.family]), repetitions)
        for question, one, p in zip(questions, tested, adjusted, strict=True)
    )


def _counts(question: Question, tested: _Tested | None) -> bool:
    return tested is not None and not question.obstacles


def _adjusted(
    questions: Sequence[Question], tested: Sequence[_Tested | None]
) -> list[float | None]:
    families: dict[str, list[int]] = {}
    for place, (question, one) in enumerate(zip(questions, tested, strict=True)):
        if _counts(question, one):
            families.setdefault(question.family, []).append(place)
    adjusted: list[float | None] = [None] * len(questions)
    for places in families.values():
        ps = holm([one.p for place in places if (one := tested[place]) is not None])
        for place, p in zip(places, ps, strict=True):
            adjusted[place] = p
    return adjusted


def _units(question: Question) -> tuple[int, ...]:
    arms = (question.later,) if question.reference else (question.first, question.later)
    return tuple(len(arm) for arm in arms)


def _effect(question: Question) -> float | None:
    """Later over first, or over the reference. Needs one unit per arm."""
    if question.refused or not all(_units(question)):
        return None
    if question.reference:
        return sum(question.later) / len(question.later) / question.reference
    if min(*question.first, *question.later) <= 0:
        return None
    return ratio_of_means(question.first, question.later)


def _test(question: Question) -> _Tested | None:
    """None with fewer than 5 units per arm, or if a value is not positive."""
    effect = _effect(question)
    if effect is None or min(_units(question)) < MIN_UNITS:
        return None
    if question.reference:
        return _level(question, question.reference)
    rule, first, later = question.rule, question.first, question.later
    interval = ratio_interval(first, later)
    if rule.low is not None and rule.high is not None and rule.holds(effect):
        p = equivalence_p(first, later, (rule.low, rule.high))
        return _Tested(effect, interval, p, equivalence.NAME)
    return _Tested(effect, interval, rank_p(first, later, rule.nearest(effect)), rank_test.NAME)


def _level(question: Question, reference: float) -> _Tested:
    """One arm's mean against a number: Student's one-sample t test (Student 1908)."""
    shares = [value / reference for value in question.later]
    effect = sum(shares) / len(shares)
    if min(shares) == max(shares):
        return _Tested(effect, Interval(effect, effect), 0.0, _LEVEL_TEST)
    result = stats.ttest_1samp(shares, question.rule.nearest(effect))
    ends = result.confidence_interval(CONFIDENCE)
    return _Tested(
        effect, Interval(float(ends.low), float(ends.high)), float(result.pvalue), _LEVEL_TEST
    )


def _finding(
    question: Question, tested: _Tested | None, p: float | None, family_size: int, repetitions: int
) -> Finding:
    verdict, why = _verdict(question, tested, p, family_size, repetitions)
    return Finding(
        id=question.id,
        statement=question.statement,
        subject=question.subject,
        measure=question.measure,
        arms=question.arms,
        among=question.among,
        family=question.family,
        rule=question.rule.words,
        unit=question.unit,
        verdict=verdict,
        why=why,
        effect=tested.effect if tested else _effect(question),
        low=tested.interval.low if tested else None,
        high=tested.interval.high if tested else None,
        n=_units(question),
        test=tested.test if tested else None,
        p=tested.p if tested else None,
        p_adjusted=p,
        detectable=_detectable(question, family_size) if tested else None,
    )


def _detectable(question: Question, family_size: int) -> float | None:
    if question.reference:
        return None
    noise = spread(question.first, question.later)
    return detectable_ratio(min(_units(question)), noise, family_size)


def _verdict(
    question: Question, tested: _Tested | None, p: float | None, family_size: int, repetitions: int
) -> tuple[FindingVerdict, str]:
    reasons = [
        *(f"not comparable: the arms' disclosures differ in {named}" for named in question.refused),
        *_too_few(question, repetitions),
        *question.obstacles,
    ]
    if reasons or tested is None or p is None:
        return "no claim", "; ".join(reasons) or "a value is zero, so the ratio is undefined"
    holm_words = f"p = {p:.2g}" + (f" after Holm over {family_size}" if family_size > 1 else "")
    ends = f"interval {tested.interval.low:.3g} to {tested.interval.high:.3g}"
    rule = question.rule
    if p <= ALPHA and rule.holds(tested.effect) and _inside(tested, rule):
        return "reproduced", f"the ratio is {rule.words}: {ends}, {holm_words}"
    if p <= ALPHA and not rule.holds(tested.effect) and _outside(tested.interval, rule):
        return "contradicted", f"the ratio is not {rule.words}: {ends}, {holm_words}"
    return "no claim", f"{_undecided(question, p, family_size)}: {ends}, {holm_words}"


def _too_few(question: Question, repetitions: int) -> list[str]:
    units = _units(question)
    if question.refused:
        return []
    if not all(units):
        return ["an arm has no valid trial"]
    if min(units) >= MIN_UNITS:
        return []
    counted = "1 repetition" if repetitions == 1 else f"{repetitions} repetitions"
    if repetitions >= MIN_UNITS:
        counted = f"{min(units)} valid {question.unit}s in one arm"
    return [f"{counted}: points only; a claim needs {MIN_UNITS} {question.unit}s per arm"]


def _inside(tested: _Tested, rule: Rule) -> bool:
    """TOST decides an equivalence alone: it corresponds to the 90 % interval (Schuirmann 1987)."""
    if tested.test == equivalence.NAME:
        return True
    return rule.holds(tested.interval.low) and rule.holds(tested.interval.high)


def _outside(interval: Interval, rule: Rule) -> bool:
    below = rule.low is not None and interval.high < rule.low
    return below or (rule.high is not None and interval.low > rule.high)


def _undecided(question: Question, p: float, family_size: int) -> str:
    least = least_p(*_units(question)) if not question.reference else 0.0
    if least * family_size > ALPHA:
        return (
            f"{family_size} comparisons can never be significant with n = {min(_units(question))}"
        )
    if p > ALPHA:
        return "the difference may be due to chance"
    return f"the interval is not entirely {question.rule.words}"
