"""The turns of two trials of a duet. Pure: equal plans give equal turns, also when a run is resumed."""

from __future__ import annotations

from random import Random

from density_study.workloads.base.turns import Turns, drawn
from density_study.workloads.planning.plan import Plan, Step
from density_study.workloads.study.study import Study


def turns_of(plan: Plan, study: Study, first: Step, second: Step) -> tuple[Turns, Turns]:
    """The turns of both, in the order of the plan."""
    if first.test_case is None or study.duet is None:
        raise ValueError(f"step {first.index} takes no turns")
    rng = Random(f"{plan.seed}/{first.repetition}/{first.test_case.id}/turns")
    return drawn((str(first.trial), str(second.trial)), first.test_case.window_s, study.duet, rng)
