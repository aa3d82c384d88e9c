"""What became of each question of a run: its answer, what it took, and what it would take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import log
from pathlib import Path

from density_study.analysis.comparison.history import seen_spread, spread_within_repetitions
from density_study.analysis.findings.answered import evidence_of, ran
from density_study.analysis.findings.best_density import FAMILY as BEST_DENSITY
from density_study.analysis.findings.claims import is_whole
from density_study.analysis.findings.noise_seen import noise_of_questions
from density_study.analysis.findings.question import Cell
from density_study.analysis.findings.question_power import (
    PlannedQuestion,
    asked_of_plan,
    needed,
    questions_of,
)
from density_study.analysis.statistics.power import ASSUMED_SPREAD
from density_study.analysis.summary.summary import Decided, Finding, Summary
from density_study.cluster.providers.simulated import SIMULATED
from density_study.cluster.state.events import QuestionsLeft
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.workloads.execution.run import spared_trials
from density_study.workloads.execution.step_times import step_times
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.study import Study


def decisions(root: Path, study: Study, plan: Plan, summary: Summary) -> Iterator[Decided]:
    """Yields what was decided about each question, in the order of the study."""
    journal = Journal(root / JOURNAL)
    spread = spread_within_repetitions([summary]) or seen_spread([summary]) or ASSUMED_SPREAD
    spared = spared_trials(journal)
    blocks = ran(plan, spared, summary.repetitions)
    evidence = evidence_of(plan, summary.test_cases, spared, summary.repetitions)
    measured = noise_of_questions(evidence, asked_of_plan(study, plan))
    hopeless = {name for event in journal.events(QuestionsLeft) for name in event.hopeless}
    took = step_times(journal)
    for one in questions_of(study, plan):
        mine = [found for found in summary.findings if found.question == one.name]
        have = max((blocks.get(cell, 0) for cell in one.cells), default=0)
        seconds = _seconds(plan, needed(plan, one.cells), took)
        answer, is_open = _answer(mine, one.name in hopeless)
        noise = measured[one.name].noise if one.name in measured else spread
        needs = _as_seen(one, mine).needs(noise) if is_open else None
        more = max(0, needs - have) if needs else None
        if one.obstacle:
            more = 0  # no number of repetitions overcomes it
        yield Decided(
            question=one.name,
            answer=f"{SIMULATED}: {answer}" if summary.is_rehearsal else answer,
            comparisons=len(one.comparisons),
            repetitions=have,
            power=one.power(have if is_open else plan.planned, noise),
            noise=noise,
            hours=seconds / 3600,
            why_not=_why_not(one, mine) if is_open else None,
            more_repetitions=more,
            more_hours=seconds / have / 3600 * more if more and have else None,
        )


def _answer(mine: Sequence[Finding], is_hopeless: bool) -> tuple[str, bool]:
    """The answer in words, and whether it is open. The verdict of a claim stands for those of its parts."""
    among = [one for one in mine if is_whole(one)] or list(mine)
    words = [one.verdict for one in among if one.is_decided]
    if words and len(words) == len(among):
        return " and ".join(dict.fromkeys(words)), False
    if is_hopeless:
        return (
            "not decided: it left, because the repetitions and time left could not decide it",
            True,
        )
    return (f"{len(words)} of {len(among)} comparisons decided" if words else "not decided"), True


def _as_seen(one: PlannedQuestion, mine: Sequence[Finding]) -> PlannedQuestion:
    """The question with the measured ratios in place of the expected ones. The best density has one finding
    for all of its pairs, with the ratio of the least certain one."""
    effects = {found.id: found.effect for found in mine if found.effect}
    weakest = min(effects.values(), key=lambda effect: abs(log(effect)), default=None)
    if one.name == BEST_DENSITY and weakest:
        effects = {each.id: weakest for each in one.comparisons}
    return replace(
        one,
        comparisons=tuple(
            replace(
                each, rule=replace(each.rule, expected=effects.get(each.id, each.rule.expected))
            )
            for each in one.comparisons
        ),
    )


def _why_not(one: PlannedQuestion, mine: Sequence[Finding]) -> str:
    if one.obstacle:
        return one.obstacle
    return next((found.why for found in mine if not found.is_decided), "nothing was measured")


def _seconds(plan: Plan, cells: frozenset[Cell], took: Mapping[int, float]) -> float:
    """Seconds of these test cases with the bring-ups and tear-downs of their builds. What two questions share
    counts for both."""
    trials = [step for step in plan.trials if plan.cell(step) in cells]
    builds = {step.build for step in trials if step.index in took}
    around = (step for step in plan.steps if step.trial is None and step.build in builds)
    return sum(took.get(step.index, 0.0) for step in (*trials, *around))
