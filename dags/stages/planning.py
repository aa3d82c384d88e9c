"""Check, before anything starts, that a study can answer its question. Does not import Airflow."""

from __future__ import annotations

from pathlib import Path

from density_study.analysis.comparison.history import (
    newest,
    seen_spread,
    spread_within_repetitions,
)
from density_study.analysis.findings import power_between_runs, power_of_design, question_power
from density_study.analysis.findings.power_of_design import Noise
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.study import Study

WINDOW = 5
"""Number of newest runs of the study that estimate the variation between its builds."""


def check_plan(study: Study, plan: Plan, spec: Path, runs: Path) -> None:
    """InputError if none of the study's questions, or not its comparison over time, can be decided."""
    power_of_design.check_can_be_precise(study, plan, str(spec))
    question_power.check_can_decide(study, plan, str(spec), noise(study, runs))
    if study.compare:
        power_between_runs.check_can_detect(study, plan, str(spec), noise(study, runs))


def noise(study: Study, runs: Path) -> Noise:
    """Variation between builds: from the study, else from its newest runs, else an assumption."""
    if study.compare is not None and study.compare.spread is not None:
        return Noise(
            study.compare.spread, f"{study.compare.spread:.1%} between builds, set by the study"
        )
    earlier = newest(runs / study.study, WINDOW)
    seen, within = seen_spread(earlier), spread_within_repetitions(earlier)
    if seen is None:
        return Noise()
    of_repetition = "" if within is None else f", {within:.1%} within a repetition"
    return Noise(seen, f"{seen:.1%} between builds{of_repetition}, seen in earlier runs", within)
