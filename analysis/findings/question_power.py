"""What each question of a plan can decide, for which it needs which test cases and how many hours.

The comparisons are those of analysis/findings, on synthetic test cases with one point per repetition, so that
they are exactly those that will be tested.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from math import sqrt

from density_study.analysis.findings.power_of_design import SPREADS, SeenNoise, imagined, looks_of
from density_study.analysis.findings.primary import asked
from density_study.analysis.findings.question import WANTED_RATIO, Cell, Question
from density_study.analysis.statistics.power import (
    ALPHA,
    MAX_UNITS,
    MIN_UNITS,
    POWER,
    detectable,
    fixed_errors,
    power_of_rule,
)
from density_study.analysis.statistics.sequential import sequence_errors
from density_study.cluster.model.errors import InputError
from density_study.workloads.planning.plan import Plan, Step
from density_study.workloads.study.hypotheses import Hypotheses
from density_study.workloads.study.study import Study


@dataclass(frozen=True)
class PlannedQuestion:
    """A question and its comparisons. `of`: comparisons of all questions, which share the error budget.
    `sequential`: repetitions end when the answer is precise enough. `looks`: so often looks divide the error,
    because the question ends once it is answered."""

    name: str
    comparisons: tuple[Question, ...]
    of: int
    sequential: bool = False
    looks: float = 1.0
    wanted: float = WANTED_RATIO

    @property
    def cells(self) -> frozenset[Cell]:
        return frozenset(cell for one in self.comparisons for cell in one.cells)

    @property
    def obstacle(self) -> str | None:
        """Why it cannot be decided with any number of repetitions; None if nothing is known."""
        if not self.comparisons:
            return "the study has no test cases and variants for it"
        return next(
            (why for one in self.comparisons for why in (*one.refused, *one.obstacles)), None
        )

    def power(self, repetitions: int, noise: float | SeenNoise) -> float:
        """At least the chance that all of its comparisons get their right verdicts, if the true ratios are
        those planned for."""
        if self.obstacle:
            return 0.0
        chances = (self._power(one, repetitions, noise) for one in self.comparisons)
        return max(0.0, 1 - sum(1 - chance for chance in chances))

    def _power(self, one: Question, repetitions: int, noise: float | SeenNoise) -> float:
        ratio = one.rule.planned(self.wanted)
        error = _error(one, repetitions, noise)
        errors = fixed_errors(repetitions, self.of * self.looks)
        if self.sequential:
            errors = partial(_sequence, repetitions, self.of)
        return power_of_rule((one.rule.low, one.rule.high), ratio, repetitions, error, errors)

    def detects(self, repetitions: int, noise: float | SeenNoise) -> float | None:
        """The smallest ratio above 1 that every comparison detects with a power of 80 %, as a report has it
        after these repetitions. None with fewer than five, and where repetitions end by a width."""
        if repetitions < MIN_UNITS or self.sequential or not self.comparisons:
            return None
        tests = self.of * self.looks
        error = max(_error(one, repetitions, noise) for one in self.comparisons)
        return detectable(repetitions - 1, error, tests)

    def needs(self, noise: float | SeenNoise) -> int | None:
        """The fewest repetitions with a power of 80 %; None beyond 1000, or if none is enough."""
        if self.power(MAX_UNITS, noise) < POWER:
            return None
        low, high = MIN_UNITS, MAX_UNITS
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.power(middle, noise) >= POWER else (middle + 1, high)
        return low


def _error(one: Question, repetitions: int, noise: float | SeenNoise) -> float:
    """For the logarithm of a paired difference; a level has one variant, a ratio of ratios four."""
    spread = noise.of(one) if isinstance(noise, SeenNoise) else noise
    return spread * sqrt(max(1, len(one.cells)) / max(1, repetitions))


def _sequence(units: int, comparisons: int, _both: bool) -> float:
    return sequence_errors(units, ALPHA / comparisons)


def questions_of(
    study: Study, plan: Plan, wanted: float = WANTED_RATIO
) -> tuple[PlannedQuestion, ...]:
    """The questions of the study, in its order, or those that it has by default."""
    every = asked(imagined(study, plan), study.hypotheses)
    able = sum(not one.obstacles and not one.refused and bool(one.later) for one in every.main)
    looks = looks_of(plan)
    return tuple(
        PlannedQuestion(
            name,
            tuple(one for one in every.main if one.name == name and one.later),
            max(1, able),
            sequential=plan.precise is not None and looks is None,
            looks=1 / looks.share(looks.last) if looks else 1.0,
            wanted=wanted,
        )
        for name in every.names
    )


def asked_of_plan(study: Study, plan: Plan) -> Hypotheses:
    """The study's hypotheses, with the questions that it has by default if it declares none. Only the plan
    decides which: a lost build must not change what a report decides."""
    names = asked(imagined(study, plan), study.hypotheses).names
    return study.hypotheses.model_copy(update={"questions": names})


def needed(plan: Plan, cells: Iterable[Cell]) -> frozenset[Cell]:
    """The cells, and those on the same variants that write their data or measure the rate they target."""
    found, ran = set(cells), plan.cells
    test_cases = {step.test_case.id: step.test_case for step in plan.trials if step.test_case}
    waiting = list(found)
    while waiting:
        test_case, topology = waiting.pop()
        if test_case not in test_cases:
            continue
        for other in test_cases.values():
            cell, later = (other.id, topology), test_cases[test_case]
            if cell not in ran or cell in found:
                continue
            if other.writes_for(later) or other.measures_for(later):
                found.add(cell)
                waiting.append(cell)
    return frozenset(found)


def seconds_of(plan: Plan, cells: frozenset[Cell]) -> float:
    """Estimated time of these cells in the plan, bring-up and tear-down of their variants included."""
    variants = {topology for _, topology in cells}
    return sum(step.estimate_s for step in plan.steps if _is_for(plan, step, cells, variants))


def _is_for(plan: Plan, step: Step, cells: frozenset[Cell], variants: set[str]) -> bool:
    return plan.cell(step) in cells if step.test_case else plan.builds[step.build] in variants


def check_names(study: Study, plan: Plan, where: str) -> None:
    """InputError if a question names nothing that the plan can compare."""
    known = {one.name for one in asked(imagined(study, plan), study.hypotheses).every}
    for at, name in enumerate(study.questions or ()):
        if name not in known:
            raise InputError(
                f"nothing of this study is named {name!r}.",
                f"{where}, key questions",
                f"use some of {', '.join(sorted(known)) or 'no name: it compares nothing'}.",
                ("questions", at),
            )


def check_can_decide(study: Study, plan: Plan, where: str, noise: SeenNoise) -> None:
    """InputError if the study declares questions and none of them can be decided: with a power of 80 %, at
    the noise that earlier runs show, or else the lowest that is planned for."""
    if not (study.questions or study.expect):
        return
    check_names(study, plan, where)
    questions = questions_of(study, plan)
    at = noise if noise.seen else SPREADS[0]
    if not questions or any(one.power(plan.repetitions, at) >= POWER for one in questions):
        return
    needs = {one.name: one.needs(at) for one in questions}
    why = "; ".join(
        f"{one.name}: {one.obstacle or f'power {one.power(plan.repetitions, at):.0%}'}"
        for one in questions
    )
    possible = [n for n in needs.values() if n]
    remedy = (
        f"repetitions={min(possible)} decides one of them" if possible else "ask other questions"
    )
    raise InputError(
        f"no question of the study can be decided ({why}; {noise.source}).",
        f"{where}, key questions",
        f"{remedy}; or accept a run that decides nothing: --anyway, or `questions: []`.",
        ("questions",) if study.questions else ("expect",),
    )
