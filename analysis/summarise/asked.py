"""What a run's study asks: fixed by its plan, whatever its data became."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from density_study.analysis.findings.question_power import asked_of_plan
from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.own_runs import STUDY
from density_study.workloads.execution.run import study_of
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.hypotheses import Hypotheses, read_hypotheses


def hypotheses_of(root: Path, plan: Plan | None) -> Hypotheses:
    """The hypotheses of the run in `root`, with the questions that its plan names where the study declares
    none: a lost build must not change what the report decides. Without a plan, they follow from the data."""
    found = read_hypotheses(root / STUDY)
    if found.questions is not None or plan is None:
        return found
    with suppress(
        StudyError
    ):  # a study of another version: its hypotheses can be read, other keys cannot
        return asked_of_plan(study_of(root), plan)
    return found
