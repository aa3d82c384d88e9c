"""`Outlook`: what a plan foretells of a question: its size, time and power, and what it would need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from density_study.analysis.findings.power_of_design import SPREADS, SeenNoise
from density_study.analysis.findings.question_power import PlannedQuestion, needed, seconds_of
from density_study.workloads.base.quantity import duration
from density_study.workloads.planning.plan import Plan


@dataclass(frozen=True)
class AtNoise:
    """What a question's repetitions decide at one level of noise.

    noise: standard deviation between builds as a fraction; None: that of each comparison in earlier runs.
    power: at least the chance of the right verdicts. needs: the fewest repetitions with a power of 80 %;
    None: more than 1,000, or no number is enough. detects: the smallest ratio that every comparison detects;
    None with fewer than five repetitions, and where they end by a width."""

    noise: float | None
    power: float
    needs: int | None
    detects: float | None


@dataclass(frozen=True)
class Outlook:
    """For one question, with the test cases and variants that it rests on. time_s: of these in all
    repetitions. ratios: the true ratios that power is for. obstacle: why nothing decides it."""

    question: str
    comparisons: int
    test_cases: int
    variants: int
    time_s: float
    ratios: tuple[float, ...]
    obstacle: str | None
    at: tuple[AtNoise, ...]


def outlooks(
    questions: Sequence[PlannedQuestion], plan: Plan, noise: SeenNoise
) -> tuple[Outlook, ...]:
    """The outlook of each question at three levels of noise, and at the noise of earlier runs if there is
    any. If earlier runs show the noise of single comparisons, only at that."""
    levels: list[float | SeenNoise] = [noise] if noise.own else list(SPREADS)
    if noise.seen and not noise.own:
        levels = list(dict.fromkeys((*levels, noise.paired)))
    return tuple(_outlook(one, plan, levels) for one in questions)


def _outlook(one: PlannedQuestion, plan: Plan, levels: Sequence[float | SeenNoise]) -> Outlook:
    mine, n = needed(plan, one.cells), plan.repetitions
    return Outlook(
        one.name,
        len(one.comparisons),
        len({case for case, _ in mine}),
        len({variant for _, variant in mine}),
        seconds_of(plan, mine),
        tuple(sorted({round(c.rule.planned(one.wanted), 2) for c in one.comparisons})),
        one.obstacle,
        () if one.obstacle else tuple(_at(one, n, level) for level in levels),
    )


def _at(one: PlannedQuestion, repetitions: int, level: float | SeenNoise) -> AtNoise:
    noise = level if isinstance(level, float) else None
    power, detects = one.power(repetitions, level), one.detects(repetitions, level)
    return AtNoise(noise, power, one.needs(level), detects)


def notes(
    questions: Sequence[PlannedQuestion], plan: Plan, noise: SeenNoise, declared: bool
) -> Iterator[str]:
    """Where the questions and the noise come from, what cannot be decided, and what the rest costs."""
    if not declared:
        yield _by_default(questions)
    yield from (
        f"question {one.name} cannot be decided: {one.obstacle}"
        for one in questions
        if one.obstacle
    )
    if questions:
        unknown = "unknown before a first run on these hosts, so power is given for three levels"
        yield f"noise: {noise.source if noise.seen else unknown}"
    spent = needed(plan, {cell for one in questions for cell in one.cells})
    if rest := plan.cells - spent:
        rest_s = plan.estimate_s - seconds_of(plan, spent)
        yield (
            f"measured, not tested: {len(rest)} of {len(plan.cells)} test cases by variant, "
            f"{duration(rest_s)}: curves and numbers without a verdict; `leave_out` omits them"
        )


def _by_default(questions: Sequence[PlannedQuestion]) -> str:
    names = ", ".join(one.name for one in questions)
    if not names:
        return "no question: nothing is compared, and nothing is tested"
    return f"the study declares no `questions`; these are decided: {names}"
