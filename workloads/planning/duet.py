"""The turns of two trials of a duet. Pure: equal plans give equal turns, also when a run is resumed."""

from __future__ import annotations

from random import Random

from density_study.workloads.base.values import Turns
from density_study.workloads.planning.plan import Plan, Step
from density_study.workloads.study.study import Study


def turns_of(plan: Plan, study: Study, first: Step, second: Step) -> tuple[Turns, Turns]:
    """The turns of both, in the order of the plan."""
    if first.test_case is None or study.duet is None:
        raise ValueError(f"step {first.index} takes no turns")
    rng = Random(f"{plan.seed}/{first.repetition}/{first.test_case.id}/turns")
    return drawn((str(first.trial), str(second.trial)), first.test_case.window_s, study.duet, rng)


def drawn(trials: tuple[str, str], own_s: float, turn_s: float, rng: Random) -> tuple[Turns, Turns]:
    """The turns of two trials with `own_s` seconds each.

    They work in pairs of turns, each pair in random order: neither follows the other by rule, and a drift
    favours none. Turns last `turn_s`, or a little more or less, so that all are equal. Two that follow each
    other are one.
    """
    pairs = max(1, round(own_s / turn_s))
    edges_s = [round(number * own_s / pairs, 3) for number in range(2 * pairs + 1)]
    own: tuple[list[tuple[float, float]], ...] = ([], [])
    for pair in range(pairs):
        for place, whose in enumerate(rng.sample((0, 1), 2)):
            begin_s, end_s = edges_s[2 * pair + place : 2 * pair + place + 2]
            if own[whose] and own[whose][-1][1] == begin_s:
                begin_s = own[whose].pop()[0]
            own[whose].append((begin_s, end_s))
    first, second = trials
    return Turns(beside=second, own=tuple(own[0])), Turns(beside=first, own=tuple(own[1]))
