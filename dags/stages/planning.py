"""Check, before anything starts, that a study can answer its question. Does not import Airflow."""

from __future__ import annotations

from math import inf
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
    """The plan without its reserve, as far as the study's budget lasts if all its questions stay open, but
    not fewer repetitions than run in any case."""
    left_s = (study.budget or inf) - ANALYSIS_ESTIMATE_S
    count = max(plan.least_repetitions, min(plan.planned, plan.paid_by(left_s)))
    steps = tuple(step for step in plan.steps if step.repetition <= count)
    return plan.model_copy(update={"steps": steps, "repetitions": count})


def _check_budget(study: Study, plan: Plan, spec: Path) -> None:
    least = plan.least_repetitions
    steps_s = sum(step.estimate_s for step in plan.steps if step.repetition <= least)
    seconds = steps_s + ANALYSIS_ESTIMATE_S
    if study.budget is None or seconds <= study.budget:
        return
    raise InputError(
        f"{least} repetitions take about {duration(seconds)}, and the budget is {duration(study.budget)}.",
        f"{spec}, key budget",
        "leave `repetitions` out, so that the study is fitted into its budget; or give it more time.",
        ("budget",),
    )
