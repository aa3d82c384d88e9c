"""A study within a budget of time: the keys that give its questions the most power."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from density_study.analysis.findings import budget
from density_study.analysis.findings.budget import CellCost, Design, QuestionCells
from density_study.analysis.findings.power_of_design import SeenNoise
from density_study.analysis.findings.question import Cell
from density_study.analysis.findings.question_power import check_names, needed, questions_of
from density_study.analysis.findings.window_noise import between_builds
from density_study.analysis.statistics.power import MIN_UNITS
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import AnyTopology
from density_study.dags.stages.earlier import Earlier
from density_study.dags.stages.estimates import ANALYSIS_ESTIMATE_S
from density_study.dags.stages.pace import Pace
from density_study.workloads.base.quantity import duration
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.planning.plan import Plan, chosen
from density_study.workloads.planning.planned_study import PlannedStudy, plan_study
from density_study.workloads.study.rules.duet import LEAST_TURNS

TWICE_THE_NOISE = 4
"""So many times the repetitions show the same effect at twice the noise."""
MOST_NAMED = 5
"""A budget may leave out more; the study that it writes names all of it."""
Planner = Callable[[Path, Mapping[str, object], Path, tuple[str, ...]], PlannedStudy]


@dataclass(frozen=True)
class Fitted:
    """The study with the chosen keys, and what was chosen and left out, in words."""

    made: PlannedStudy
    chosen: str


def fitted(
    spec: Path,
    overrides: Mapping[str, object],
    earlier: Earlier,
    budget_s: float,
    plan_of: Planner = plan_study,
    only: tuple[str, ...] = (),
) -> Fitted:
    """The study in `spec` with the questions, test cases, windows and repetitions that have the most power
    within `budget_s`, of which a part is for its analysis. InputError if not even one question fits. Writes
    nothing. `earlier`: that of the study. `plan_of`: plans a study file with overrides, for runs in a
    folder. `only`: globs of the test cases to choose from."""
    runs, here, seen = earlier.runs, earlier.pace, earlier.noise
    made = plan_of(spec, overrides, runs, only)
    if only:  # a part of the test cases has a part of the questions
        overrides = {**overrides, "leave_out": [*made.study.leave_out, *_unchosen(made)]}
        made = plan_of(spec, overrides, runs, ())
    else:  # else a slip would be a question that does not fit
        check_names(made.study, made.plan, str(spec))
    asked = tuple(
        QuestionCells(one, needed(made.plan, one.cells))
        for one in questions_of(made.study, made.plan)
    )
    why = {one.question.name: one.question.obstacle for one in asked if one.question.obstacle}
    if len(why) == len(asked):
        reasons = "; ".join(f"{name}: {obstacle}" for name, obstacle in why.items())
        raise InputError(
            f"no question of the study can be decided, in any time ({reasons or 'it asks none'}).",
            f"{spec}, --budget",
            "ask other questions, by the key `questions`.",
        )
    costs = dict(_costs(made.plan, here))
    vary = _within_windows(costs, seen)

    def taken_s(design: Design) -> float:
        keys = {**overrides, **_keys(made, design), "repetitions": design.repetitions}
        return here.of_steps(plan_of(spec, keys, runs, ()).plan.steps)

    steps_s = budget_s - ANALYSIS_ESTIMATE_S
    for_steps_s = steps_s
    while design := budget.best_design(asked, costs, here.build_s, vary, for_steps_s):
        over_s = taken_s(design) - steps_s
        if over_s <= 0:
            allowed = budget.allowed_repetitions(design.cells, costs)
            planned = min(allowed, budget.most_repetitions(design.repetitions))
            reserve = min(allowed, _reserve(design, planned, steps_s))
            bounds = {"at_least": MIN_UNITS, "at_most": max(planned, reserve)}
            bounds |= {"planned": planned} if reserve > planned else {}
            keys = {**overrides, **_keys(made, design), "repetitions": bounds}
            keys |= {"budget": f"{budget_s:.0f} s"}
            chosen = _words(design, asked, made)
            if reserve > planned:
                chosen += f"; up to {reserve} repetitions if the first ones are noisier"
            return Fitted(plan_of(spec, keys, runs, ()), f"{chosen}; {here.words}; {seen.source}")
        for_steps_s -= max(over_s, 1.0)  # an estimate depends a little on the order of trials
    least_s = budget.least_s(asked, costs, here.build_s, vary)
    least = budget.best_design(asked, costs, here.build_s, vary, least_s + 1)
    enough_s = max(budget_s, least_s, taken_s(least) if least else 0.0) + ANALYSIS_ESTIMATE_S
    raise InputError(
        f"five repetitions of no question of the study fit into {duration(budget_s)}.",
        f"{spec}, --budget",
        f"give it {_minutes(enough_s)} or more, or ask a question that needs fewer test cases and variants.",
    )


def _reserve(design: Design, planned: int, steps_s: float) -> int:
    """The last repetition that may run if the first ones show more noise than was assumed: what the time
    pays, or what twice that noise needs."""
    paid = budget.most_repetitions(int(steps_s / (design.seconds / design.repetitions)))
    return min(paid, TWICE_THE_NOISE * planned)


def _minutes(seconds: float) -> str:
    """Whole minutes that are enough: '45 min', '2 h 10 min'."""
    return duration(60 * ceil(seconds / 60)).removesuffix(" 0 s")


def _within_windows(costs: budget.Costs, seen: SeenNoise) -> budget.WindowNoise:
    """The noise of builds apart from that of their windows, if earlier runs tell them apart."""
    longest_s = max((cost.window_s for cost in costs.values()), default=0.0)
    if seen.second is None or not longest_s:
        return budget.WindowNoise(seen.paired)
    return budget.WindowNoise(between_builds(seen.paired, seen.second, longest_s), seen.second)


def _costs(plan: Plan, here: Pace) -> Iterator[tuple[Cell, CellCost]]:
    ran: dict[str, dict[str, TestCase]] = {}
    for step in plan.trials:
        if step.test_case and step.overhead_pair is None:
            ran.setdefault(plan.builds[step.build], {})[step.test_case.id] = step.test_case
    for name, test_cases in ran.items():
        for id_, test_case in test_cases.items():
            probes = test_case.sought.probes if test_case.sought else 1
            shared = list(_shared(test_case, test_cases, plan.topologies[name]))
            window_s = test_case.adjustable_s
            ratio = here.ratio(test_case)
            estimate_s = test_case.estimate_on(plan.topologies[name])
            around_s = ratio * (probes * estimate_s - window_s)
            each = tuple((key, ratio * seconds) for key, seconds in shared)
            yield (id_, name), CellCost(around_s, window_s, each, probes)


def _shared(
    test_case: TestCase, test_cases: Mapping[str, TestCase], topology: AnyTopology
) -> Iterator[tuple[Hashable, float]]:
    """What the first trial of a build pays for others: its data, and the servers' warm-up."""
    if test_case.warmed is not None and topology.store.compiled:
        yield ("warm", test_case.warmed), test_case.warm_up_estimate_s(topology.jit)
    if test_case.prepared is not None:
        yield ("data", test_case.prepared), test_case.prepare_estimate_s(topology, False)
    for other in test_cases.values():
        if test_case.writes_for(other) and other.prepared is not None:
            yield ("data", other.prepared), other.prepare_estimate_s(topology, True)
            return


def _keys(made: PlannedStudy, design: Design) -> dict[str, object]:
    return {
        "questions": list(design.questions),
        "leave_out": [*made.study.leave_out, *_left_out(made.plan, design)],
        "workloads": list(_workloads(made, design.share)),
    }


def _unchosen(made: PlannedStudy) -> Iterator[str]:
    every = made.study.test_cases()
    yield from (f"*/{one.id}" for one in every if one not in chosen(every, made.plan.only))


def _left_out(plan: Plan, design: Design) -> Iterator[str]:
    variants = {variant for _, variant in design.cells}
    yield from (f"{variant}/*" for variant in plan.topologies if variant not in variants)
    spared = sorted(cell for cell in plan.cells - design.cells if cell[1] in variants)
    yield from (f"{variant}/{case}" for case, variant in spared)


def _workloads(made: PlannedStudy, share: float) -> Iterator[dict[str, Any]]:
    """Yields the workloads as the study file has them, with shorter windows."""
    written: Any = made.file.document.value
    for entry, value in zip(made.study.workloads, written["workloads"], strict=True):
        spec = getattr(entry, entry.key)
        if share < 1 and hasattr(spec, "duration"):
            seconds = round(spec.warm_up + share * (spec.duration - spec.warm_up))
            seconds = max(seconds, ceil(LEAST_TURNS * (made.study.duet or 0)))
            yield {entry.key: {**value[entry.key], "duration": f"{seconds} s"}}
        else:
            yield dict(value)


def _words(design: Design, asked: tuple[QuestionCells, ...], made: PlannedStudy) -> str:
    plan, left = made.plan, tuple(_left_out(made.plan, design))
    dropped = [one.question.name for one in asked if one.question.name not in design.questions]
    without = f"; without the questions {', '.join(dropped)}" if dropped else ""
    if left:
        more = f" and {len(left) - MOST_NAMED} more" if len(left) > MOST_NAMED else ""
        without += f"; left out: {', '.join(left[:MOST_NAMED])}{more}"
    return (
        f"{design.repetitions} repetitions, or more where questions end sooner, of {len(design.cells)} of "
        f"{len(plan.cells)} test cases by variant, "
        f"windows at {design.share:.0%} of their length{without}"
    )
