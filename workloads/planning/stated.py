"""What this version states of each trial of a plan, which has what its own version stated. Pure."""

from __future__ import annotations

from collections.abc import Collection

from density_study.workloads.planning.plan import Plan
from density_study.workloads.planning.trial_estimates import Estimates
from density_study.workloads.planning.trial_order import PlannedTrial


def stated(plan: Plan, lost: Collection[str] = ()) -> dict[int, float]:
    """Seconds, by step. `lost`: copies of data that could not be made."""
    copied = set[str]()
    of_build = {build: Estimates(plan.topology_of(build), copied, lost) for build in plan.builds}
    return {
        step.index: of_build[step.build].of(PlannedTrial(step.test_case, probe=step.probe))
        for step in plan.trials
        if step.test_case
    }
