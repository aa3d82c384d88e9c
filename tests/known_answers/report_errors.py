"""How often does a report with questions claim what is not so, and how often does it decide what is?"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp
from statistics import NormalDist

from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.power_of_design import looks_of
from density_study.analysis.findings.question import WANTED_RATIO, Question
from density_study.analysis.findings.question_power import PlannedQuestion, questions_of
from density_study.analysis.statistics.looks import Looks
from density_study.analysis.summary.summary import Finding
from density_study.workloads.planning.planned_study import outlined_study
from density_study.workloads.study.shipped import shipped_studies
from tests.known_answers.answer import Answer, KnownAnswer

NOISE = 0.025
REPORTS = 2000
STUDIES = ("talk-2013", "collectors", "stores", "tiers", "containers", "network")
Truth = Callable[[Question], float]


def upper(wrong: int, of: int) -> float:
    """Upper end of the 95 % Wilson interval of a share (E. Wilson, JASA 22 (1927))."""
    z, p = NormalDist().inv_cdf(0.975), wrong / of
    half = z * (p * (1 - p) / of + z * z / (4 * of * of)) ** 0.5
    return (p + z * z / (2 * of) + half) / (1 + z * z / of)


def lower(wrong: int, of: int) -> float:
    """Lower end of the same."""
    return 1 - upper(of - wrong, of)


def no_effect(_: Question) -> float:
    return 1.0


def at_its_bound(question: Question) -> float:
    """Where a claim is wrong whichever way it goes, and most often made."""
    rule = question.rule
    return rule.low if rule.low is not None else rule.high or 1.0


def as_planned(question: Question) -> float:
    return question.rule.planned(WANTED_RATIO)


def drawn(
    questions: Sequence[Question], truth: Truth, builds: int, rng: random.Random
) -> list[Question]:
    """With the noise of each build: one draw for each test case, variant and measure, which comparisons
    share. What a repetition does to both variants cancels, so there is none of it here."""
    noise: dict[object, list[float]] = {}

    def of(question: Question, place: int) -> list[float]:
        key = question.cells[place], question.measure
        return noise.setdefault(key, [rng.gauss(0, NOISE) for _ in range(builds)])

    def filled(one: Question) -> Question:
        scale = truth(one) * (one.reference or 1.0)
        if one.reference:
            return replace(one, first=(), later=tuple(scale * exp(x) for x in of(one, 0)))
        if len(one.cells) == 2:
            first, later = of(one, 0), of(one, 1)
        else:  # a ratio of ratios
            first, later = (
                [b - a for a, b in zip(of(one, at), of(one, at + 1), strict=True)] for at in (0, 2)
            )
        return replace(
            one, first=tuple(map(exp, first)), later=tuple(scale * exp(x) for x in later)
        )

    return [filled(one) for one in questions]


def is_wrong(question: Question, finding: Finding, ratio: float) -> bool:
    """At a bound, both verdicts are."""
    if not finding.is_decided:
        return False
    if ratio in (question.rule.low, question.rule.high):
        return True
    return question.rule.holds(ratio) != (finding.verdict == "confirmed")


def planned(name: str) -> tuple[tuple[PlannedQuestion, ...], int, Looks | None]:
    made = outlined_study(shipped_studies()[name])
    return questions_of(made.study, made.plan), made.plan.repetitions, looks_of(made.plan)


def errors(name: str, truth: Truth, reports: int = REPORTS) -> int:
    """Reports with a false claim."""
    questions, builds, looks = planned(name)
    every = [part for one in questions for part in one.comparisons]
    rng, wrong = random.Random(f"{name}/{truth.__name__}"), 0
    for _ in range(reports):
        asked = drawn(every, truth, builds, rng)
        found = decide(asked, builds, looks=looks)  # of all looks, as if none ended a question
        wrong += any(
            is_wrong(one, finding, truth(one)) for one, finding in zip(asked, found, strict=True)
        )
    return wrong


def false_claims() -> list[Answer]:
    answers = []
    for name in STUDIES:
        for truth, words in (
            (no_effect, "no effect"),
            (at_its_bound, "all ratios at their bounds"),
        ):
            wrong = errors(name, truth)
            most = upper(wrong, REPORTS)
            answers.append(
                Answer(
                    f"{name} as shipped, {words}: reports with a false claim",
                    "5 %, upper end of the interval at most 8 %",
                    f"{wrong / REPORTS:.1%} of {REPORTS}, at most {most:.1%}",
                    most <= 0.08,
                )
            )
    return answers


def right_decisions(name: str = "talk-2013") -> list[Answer]:
    """At the planned ratios: each question as a whole."""
    questions, builds, looks = planned(name)
    every = [part for one in questions for part in one.comparisons]
    rng, right = random.Random(name), dict.fromkeys((one.name for one in questions), 0)
    for _ in range(REPORTS):
        asked = drawn(every, as_planned, builds, rng)
        found = {one.id: one.verdict for one in decide(asked, builds, looks=looks)}
        for one in questions:
            wanted = [
                "confirmed" if part.rule.holds(as_planned(part)) else "refuted"
                for part in one.comparisons
            ]
            right[one.name] += [found[part.id] for part in one.comparisons] == wanted
    return [
        Answer(
            f"{name} as shipped, planned ratios, noise {NOISE:.1%}: {one.name} is decided rightly "
            f"(planned: at least {one.power(builds, NOISE):.0%})",
            "at least 80 %",
            f"{right[one.name] / REPORTS:.1%} of {REPORTS}",
            right[one.name] >= 0.8 * REPORTS,
        )
        for one in questions
    ]


def measure() -> list[Answer]:
    return false_claims() + right_decisions()


KNOWN = (
    KnownAnswer(
        "report-errors", "How often does a report claim what is not so, and decide what is?", measure,
        quick=False,
    ),
)  # fmt: skip
