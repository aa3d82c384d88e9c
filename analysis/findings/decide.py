"""From questions to findings: effect, interval, test, Holm over the whole report, verdict and reason.

A claim needs two things at once: the adjusted p is at most 0.05, and the whole interval lies inside the
rule (confirmed) or outside it (refuted). The tests are in analysis/statistics. Comparisons that no
question of the study asks for are measured, not tested: they have an interval and no p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import scipy

from density_study.analysis.findings.question import UNDEFINED, Question, Rule
from density_study.analysis.findings.variants import ratio
from density_study.analysis.statistics.difference import Difference, difference, holm
from density_study.analysis.statistics.interval import CONFIDENCE, outlying, ratio_of_means
from density_study.analysis.statistics.looks import Looks
from density_study.analysis.statistics.power import ALPHA, MIN_UNITS, detectable
from density_study.analysis.statistics.sequential import (
    paired_logs,
    sequence_interval,
    sequence_p,
    sequence_ratio,
)
from density_study.analysis.summary.numbers import digits, probability
from density_study.analysis.summary.summary import Finding, FindingVerdict
from density_study.cluster.model.plain import counted

BLOCK_TEST = "t, paired by repetition"
VARIANTS_TEST = "Welch's t"  # a variant lost a build
EQUIVALENCE_TEST = "two one-sided t tests"
LEVEL_TEST = "one-sample t"
SEQUENCE_TEST = "confidence sequence"
REFUSED = "not comparable: the variants' disclosures differ in "
MEASURED = "measured, not tested: no question of the study asks for it"
OUTLYING = "; an outlying "
"""Begins what is doubtful about an interval, after the reason of a verdict."""
_OF_QUESTION = ("id", "statement", "subject", "measure", "variants", "among", "family", "unit",
                "declared", "hindrance", "stand_in", "cells")  # fmt: skip


@dataclass(frozen=True)
class _Tested:
    """`p` belongs to the verdict that the effect supports; the opposite verdict cannot be claimed. `looks`:
    so many times it is divided among looks."""

    effect: float
    low: float
    high: float
    p: float
    test: str
    between: Difference | None = None
    looks: float = 1.0


def decide(
    questions: Sequence[Question],
    repetitions: int,
    sequential: bool = False,
    looks: Looks | None = None,
) -> tuple[Finding, ...]:
    """A finding for each question, in their order: all of a report, which share one error budget of 5 %.
    `sequential`: the number of repetitions depends on the data. `looks`: that of each question does."""
    # Holm adjusts over the questions that can become a claim: the others would only cost power.
    tested = [_test(question, repetitions, sequential, looks) for question in questions]
    able = {
        place: one.p
        for place, (question, one) in enumerate(zip(questions, tested, strict=True))
        if one is not None and question.main and not question.obstacles
    }
    adjusted = dict(zip(able, holm(list(able.values())), strict=True))
    return tuple(
        _finding(question, one, adjusted.get(at), len(able), repetitions)
        if question.main
        else _measured(question, one, repetitions)
        for at, (question, one) in enumerate(zip(questions, tested, strict=True))
    )


def _units(question: Question) -> tuple[int, ...]:
    return tuple(map(len, question.sides))


def _effect(question: Question) -> float | None:
    """Later over first, or over the reference. Needs one unit per variant."""
    if question.refused or question.withheld or not all(_units(question)):
        return None
    if question.reference:  # an arithmetic mean: a percentage may be 0, and is not multiplicative
        return sum(question.later) / len(question.later) / question.reference
    return ratio(question.first, question.later)


def _test(
    question: Question, repetitions: int, sequential: bool, looks: Looks | None
) -> _Tested | None:
    """None with fewer than 5 units per variant, or if a value is not positive."""
    effect = _effect(question)
    if effect is None or min(_units(question)) < MIN_UNITS:
        return None
    if sequential:
        return _at_a_look(question)
    blocks = question.blocks or repetitions
    return _over_looks(question, blocks, looks) if looks else _fixed(question, blocks)


def _over_looks(question: Question, blocks: int, looks: Looks) -> _Tested:
    """The last look, with the p of the looks that support the same verdict."""
    last = _fixed(question, blocks, looks.confidence(blocks))
    before: range | tuple[int, ...] = ()
    if set(_units(question)) == {blocks}:  # else nobody knows which builds an earlier look had
        before = range(looks.first, blocks)
    seen = {n: _fixed(question.up_to(n), n, looks.confidence(n)) for n in before} | {blocks: last}
    holds = question.rule.holds
    alike = {n: one.p for n, one in seen.items() if holds(one.effect) == holds(last.effect)}
    return replace(last, p=looks.p(alike), looks=1 / looks.share(blocks))


def _fixed(question: Question, blocks: int, confidence: float = CONFIDENCE) -> _Tested:
    if question.reference:
        return _level(question, question.reference, confidence)
    effect, rule = ratio_of_means(question.first, question.later), question.rule
    between = difference(question.first, question.later, blocks)
    # Against the bound of the rule, not against 1: "above 1.1" needs more than a difference.
    p = between.p(rule.nearest(effect))
    test = BLOCK_TEST if _units(question) == (blocks, blocks) else VARIANTS_TEST
    # An effect inside two bounds is an equivalence; one outside is tested against the bound it exceeds.
    if rule.low is not None and rule.high is not None and rule.holds(effect):
        p, test = between.equivalence_p((rule.low, rule.high)), EQUIVALENCE_TEST
    ends = between.interval_at(confidence)
    return _Tested(effect, ends.low, ends.high, p, test, between)


def _level(question: Question, reference: float, confidence: float) -> _Tested:
    """One variant's mean against a number: Student's one-sample t test (Student 1908)."""
    shares = [value / reference for value in question.later]
    effect = sum(shares) / len(shares)
    bound = question.rule.nearest(effect)
    if min(shares) == max(shares):  # the t test divides by the spread
        return _Tested(effect, effect, effect, float(shares[0] == bound), LEVEL_TEST)
    result = scipy.stats.ttest_1samp(shares, bound)
    ends = result.confidence_interval(confidence)
    return _Tested(effect, float(ends.low), float(ends.high), float(result.pvalue), LEVEL_TEST)


def _at_a_look(question: Question) -> _Tested:
    """Interval and p that stay valid however often the study looked before it stopped."""
    if question.reference:
        shares = [value / question.reference for value in question.later]
        effect, ends = sum(shares) / len(shares), sequence_interval(shares)
        p = sequence_p(shares, question.rule.nearest(effect))
        return _Tested(effect, ends.low, ends.high, p, SEQUENCE_TEST)
    rule, logs = question.rule, paired_logs(question.first, question.later)
    effect, ends = sequence_ratio(question.first, question.later)
    # inside two bounds, both must be rejected; otherwise the bound that the effect exceeds, as in `_test`
    within = rule.low is not None and rule.high is not None and rule.holds(effect)
    bounds = (rule.low, rule.high) if within else (rule.nearest(effect),)
    p = max(sequence_p(logs, log(bound)) for bound in bounds if bound)
    return _Tested(effect, ends.low, ends.high, p, SEQUENCE_TEST)


def _measured(question: Question, tested: _Tested | None, repetitions: int) -> Finding:
    """A comparison that no question asks for. Without an effect nothing was measured either."""
    effect = _effect(question)
    reasons = [*_hindered(question, repetitions)]
    shown = {"low": tested.low, "high": tested.high} if tested else {}
    return Finding(
        **{name: getattr(question, name) for name in _OF_QUESTION},
        **shown,
        effect=effect,
        rule=question.rule.words,
        verdict="inconclusive" if effect is None else "measured",
        why="; ".join([MEASURED, *reasons] if effect is not None else reasons or [UNDEFINED])
        + (_outlying(question) if tested and not question.reference else ""),
        n=_units(question),
    )


def _finding(
    question: Question, tested: _Tested | None, p: float | None, comparisons: int, repetitions: int
) -> Finding:
    verdict, why = _verdict(question, tested, p, comparisons, repetitions)
    excluded = None
    if p is not None and verdict == "inconclusive":
        excluded = _excluded(question.rule, tested)
    if excluded:
        why += f"; the effect that it was planned for, a ratio of {digits(excluded)}, is excluded"
    if tested and not question.reference:
        why += _outlying(question)
    measured: dict[str, Any] = {"effect": _effect(question)}
    if tested:
        measured = {name: getattr(tested, name) for name in ("effect", "low", "high", "p", "test")}
        if tested.between:  # power belongs to a number of builds that is fixed beforehand
            measured["detectable"] = detectable(
                tested.between.freedom, tested.between.error, max(1, comparisons) * tested.looks
            )
    return Finding(
        **{name: getattr(question, name) for name in _OF_QUESTION},
        **measured,
        question=question.name,
        rule=question.rule.words,
        verdict=verdict,
        why=why,
        n=_units(question),
        p_adjusted=p,
        excluded=excluded,
    )


def _excluded(rule: Rule, tested: _Tested | None) -> float | None:
    if tested is None or rule.effect is None or tested.low <= rule.effect <= tested.high:
        return None
    return rule.effect


def _outlying(question: Question) -> str:
    """An interval describes the typical build. What rare slow builds do, few builds cannot tell."""
    far = [
        ratio
        for variant in (question.first, question.later)
        if (ratio := outlying(variant)) is not None
    ]
    found = " and ".join(
        f"{abs(ratio - 1):.0%} {'above' if ratio > 1 else 'below'} the median of its variant"
        for ratio in far
    )
    return f"{OUTLYING}{question.unit} ({found}) makes the interval doubtful" if far else ""


def _verdict(
    question: Question, tested: _Tested | None, p: float | None, comparisons: int, repetitions: int
) -> tuple[FindingVerdict, str]:
    reasons = _hindered(question, repetitions)
    if reasons or tested is None or p is None:
        return "inconclusive", "; ".join(reasons) or UNDEFINED
    holm_words = probability(p) + (f" after Holm over {comparisons}" if comparisons > 1 else "")
    ends = f"interval {digits(tested.low)} to {digits(tested.high)}"
    rule = question.rule
    if p <= ALPHA and rule.holds(tested.effect) and _inside(tested, rule):
        return "confirmed", f"the ratio is {rule.words}: {ends}, {holm_words}"
    if p <= ALPHA and not rule.holds(tested.effect) and _outside(tested, rule):
        return "refuted", f"the ratio is not {rule.words}: {ends}, {holm_words}"
    return "inconclusive", f"{_undecided(rule, tested.effect, p)}: {ends}, {holm_words}"


def _hindered(question: Question, repetitions: int) -> list[str]:
    """Why it cannot become a claim, whatever its numbers."""
    return [
        *(f"{REFUSED}{named}" for named in question.refused),
        *question.withheld,
        *_too_few(question, repetitions),
        *question.obstacles,
    ]


def _too_few(question: Question, repetitions: int) -> list[str]:
    units = _units(question)
    if question.refused or question.withheld:
        return []
    if not all(units):
        return ["a variant has no valid trial"]
    if min(units) >= MIN_UNITS:
        return []
    have = counted(repetitions, "repetition")
    if repetitions >= MIN_UNITS:
        have = f"{counted(min(units), f'valid {question.unit}')} in one variant"
    return [f"{have}: points only; a claim needs {MIN_UNITS} {question.unit}s per variant"]


def _inside(tested: _Tested, rule: Rule) -> bool:
    """TOST decides an equivalence alone: it corresponds to the 90 % interval (Schuirmann 1987)."""
    if tested.test == EQUIVALENCE_TEST:
        return True
    return rule.holds(tested.low) and rule.holds(tested.high)


def _outside(tested: _Tested, rule: Rule) -> bool:
    below = rule.low is not None and tested.high < rule.low
    return below or (rule.high is not None and tested.low > rule.high)


def _undecided(rule: Rule, effect: float, p: float) -> str:
    if p <= ALPHA:
        return f"the interval is not entirely {rule.words}"
    if rule.nearest(effect) == 1.0:
        return "the difference may be due to chance"
    holds = "is" if rule.holds(effect) else "is not"
    return f"that the ratio {holds} {rule.words} may be due to chance"
