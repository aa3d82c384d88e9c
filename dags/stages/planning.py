"""Check, before anything starts, that a study can answer its question. Does not import Airflow."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

from density_study.analysis.findings import power_between_runs, power_of_design, question_power
from density_study.cluster.model.errors import InputError
from density_study.dags.stages.earlier import Earlier
from density_study.dags.stages.estimates import ANALYSIS_ESTIMATE_S
from density_study.workloads.base.quantity import duration
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.study import Study


def check_plan(study: Study, plan: Plan, spec: Path, earlier: Earlier) -> None:
    """InputError if none of the study's questions, or not its comparison over time, can be decided, or if the
    repetitions that run in any case take longer than its budget."""
    paced = earlier.pace.applied(plan)
    _check_budget(study, paced, spec)
    power_of_design.check_can_be_precise(study, plan, str(spec))
    question_power.check_can_decide(study, within_budget(study, paced), str(spec), earlier.noise)
    if study.compare:
        power_between_runs.check_can_detect(study, plan, str(spec), earlier.noise)


def within_budget(study: Study, plan: Plan) -> Plan:
    """The plan as far as the study's budget lasts if all its questions stay open, but not fewer repetitions
    than run in any case."""
    if study.budget is None:
        return plan
    spent_s = accumulate(_repetitions_s(plan), initial=ANALYSIS_ESTIMATE_S)
    fitting = sum(seconds <= study.budget for seconds in spent_s) - 1
    count = max(_least(plan), fitting)
    steps = tuple(step for step in plan.steps if step.repetition <= count)
    return plan.model_copy(update={"steps": steps, "repetitions": count})


def _least(plan: Plan) -> int:
    return plan.precise.at_least if plan.precise else plan.repetitions


def _repetitions_s(plan: Plan) -> list[float]:
    """Seconds of each repetition."""
    found = [0.0] * plan.repetitions
    for step in plan.steps:
        found[step.repetition - 1] += step.estimate_s
    return found


def _check_budget(study: Study, plan: Plan, spec: Path) -> None:
    least = _least(plan)
    seconds = sum(_repetitions_s(plan)[:least]) + ANALYSIS_ESTIMATE_S
    if study.budget is None or seconds <= study.budget:
        return
    raise InputError(
        f"{least} repetitions take about {duration(seconds)}, and the budget is {duration(study.budget)}.",
        f"{spec}, key budget",
        "leave `repetitions` out, so that the study is fitted into its budget; or give it more time.",
        ("budget",),
    )
