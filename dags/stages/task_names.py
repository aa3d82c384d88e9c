"""Names of the tasks in a study's DAG, and the trials behind them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from density_study.workloads.planning.plan import Plan

OPEN, UP, DOWN = "open", "up", "down"
ANALYSIS = "analysis"
"""Group of the tasks that analyse the run, one for each stage of `jobs.stage_names`."""
TRIALS = "trials"
"""The mapped task of a build with many trials."""
FINISHED = frozenset({"success", "failed", "skipped", "upstream_failed", "removed"})
"""States of tasks that Airflow will not execute, unless somebody clears them."""


def dag_id(study: str) -> str:
    return f"study_{study}"


def build_group(build: str) -> str:
    """The task group of a build: `b1-v2-flash-hadoop-3_4_1`. Airflow separates group and task by a dot."""
    return build.replace(".", "_")


def trial_task(build: str, trial: str) -> str:
    """The trial's task within the group of its build: `b1-v2-flash-003-ycsb-c` is `003-ycsb-c`."""
    return trial.removeprefix(f"{build}-")


def pending_trials(plan: Plan, states: Mapping[str, str | None]) -> Iterator[str]:
    """The trials that Airflow is still to execute, or to execute again after Clear.

    states: those of the DAG run's tasks, by id; of an instance of a mapped task, by `<id>_<map index>`.
    """
    number: dict[str, int] = {}
    for step in plan.trials:
        index = number[step.build] = number.get(step.build, -1) + 1
        group = build_group(step.build)
        mapped = f"{group}.{TRIALS}"
        names = (
            f"{group}.{trial_task(step.build, str(step.trial))}",
            f"{mapped}_{index}",
            mapped,  # not yet expanded
        )
        known = next((name for name in names if name in states), None)
        if known is not None and states[known] not in FINISHED:
            yield str(step.trial)


def cleared_trials(plan: Plan, pending: frozenset[str], analysis_pending: bool) -> list[str]:
    """The `pending` trials that a person cleared, in the plan's order.

    Airflow's option Downstream clears all later builds too, because builds follow one another. Nobody wants
    to measure those again: of several builds that are pending as a whole, together with the analysis,
    only the first was meant.
    """
    chosen: list[str] = []
    for build in plan.builds:
        trials = [str(step.trial) for step in plan.trials if step.build == build]
        hit = [trial for trial in trials if trial in pending]
        is_downstream = bool(chosen) and analysis_pending and hit == trials
        if not is_downstream:
            chosen += hit
    return chosen
