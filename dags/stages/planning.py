"""Check, before anything starts, that a study can answer its question. Does not import Airflow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from density_study.analysis.comparison.history import (
    newest,
    seen_spread,
    spread_within_repetitions,
    summaries,
)
from density_study.analysis.findings import power_between_runs, power_of_design, question_power
from density_study.analysis.findings.noise_seen import noise_seen
from density_study.analysis.findings.power_of_design import Noise
from density_study.analysis.findings.window_noise import second_seen
from density_study.analysis.summary.summary import Summary
from density_study.cluster.model.errors import InputError
from density_study.dags.stages.estimates import ANALYSIS_ESTIMATE_S
from density_study.dags.stages.pace import alike, pace
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.study import Study

WINDOW = 5
"""Number of newest runs of the study that estimate the variation between its builds."""


def check_plan(study: Study, plan: Plan, spec: Path, runs: Path) -> None:
    """InputError if none of the study's questions, or not its comparison over time, can be decided, or if the
    repetitions that run in any case take longer than its budget."""
    _check_budget(study, plan, spec, runs)
    power_of_design.check_can_be_precise(study, plan, str(spec))
    seen = noise(study, runs)
    question_power.check_can_decide(study, plan, str(spec), seen)
    if study.compare:
        power_between_runs.check_can_detect(study, plan, str(spec), seen)


def _check_budget(study: Study, plan: Plan, spec: Path, runs: Path) -> None:
    first = plan.precise.at_least if plan.precise else plan.repetitions
    if study.budget is None:
        return
    steps = [step for step in plan.steps if step.repetition <= first]
    seconds = pace(study, runs).of_steps(steps) + ANALYSIS_ESTIMATE_S
    if seconds <= study.budget:
        return
    raise InputError(
        f"{first} repetitions take about {seconds / 3600:.1f} h, and the budget is "
        f"{study.budget / 3600:.1f} h.",
        f"{spec}, key budget",
        "leave `repetitions` out, so that the study is fitted into its budget; or give it more time.",
        ("budget",),
    )


def noise(study: Study, runs: Path) -> Noise:
    """Variation between builds: from the study, else from its newest runs, else from those of other studies
    on the same hosts with the same software, else an assumption."""
    if study.compare is not None and study.compare.spread is not None:
        return Noise(
            study.compare.spread, f"{study.compare.spread:.1%} between builds, set by the study"
        )
    for earlier, words in _earlier(study, runs):
        seen = seen_spread(earlier)
        if seen is not None:
            within = spread_within_repetitions(earlier)
            of_repetition = "" if within is None else f", {within:.1%} within a repetition"
            source = f"{seen:.1%} between builds{of_repetition}, seen in earlier runs{words}"
            own = noise_seen(earlier, study.hypotheses)
            return Noise(seen, source, within, own, second_seen(earlier))
    return Noise()


def _earlier(study: Study, runs: Path) -> Iterator[tuple[Sequence[Summary], str]]:
    yield newest(runs / study.study, WINDOW), ""
    others = [run.root for run in alike(study, runs)]
    yield summaries(others[:WINDOW]), " of other studies here"
