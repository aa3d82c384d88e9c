"""Check, before anything starts, that a study can answer its question. Does not import Airflow."""

from __future__ import annotations

from pathlib import Path

from density_study.analysis.findings import power_between_runs, power_of_design, question_power
from density_study.cluster.model.errors import InputError
from density_study.dags.stages.earlier import Earlier
from density_study.dags.stages.estimates import ANALYSIS_ESTIMATE_S
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.study import Study


def check_plan(study: Study, plan: Plan, spec: Path, earlier: Earlier) -> None:
    """InputError if none of the study's questions, or not its comparison over time, can be decided, or if the
    repetitions that run in any case take longer than its budget."""
    _check_budget(study, plan, spec, earlier)
    power_of_design.check_can_be_precise(study, plan, str(spec))
    question_power.check_can_decide(study, plan, str(spec), earlier.noise)
    if study.compare:
        power_between_runs.check_can_detect(study, plan, str(spec), earlier.noise)


def _check_budget(study: Study, plan: Plan, spec: Path, earlier: Earlier) -> None:
    first = plan.precise.at_least if plan.precise else plan.repetitions
    if study.budget is None:
        return
    steps = [step for step in plan.steps if step.repetition <= first]
    seconds = earlier.pace.of_steps(steps) + ANALYSIS_ESTIMATE_S
    if seconds <= study.budget:
        return
    raise InputError(
        f"{first} repetitions take about {seconds / 3600:.1f} h, and the budget is "
        f"{study.budget / 3600:.1f} h.",
        f"{spec}, key budget",
        "leave `repetitions` out, so that the study is fitted into its budget; or give it more time.",
        ("budget",),
    )
