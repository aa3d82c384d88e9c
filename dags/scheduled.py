"""One DAG, study_<name>, per study with a `schedule:` key. Its tasks: dags/tasks/study_tasks.py.

Studies are read from workloads/studies and from the folders of the setting `studies`. An invalid study gets
no DAG; the log and `study plan` show the reason.
"""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

from airflow.sdk import DAG, Asset, dag

from cluster.model.errors import StudyError
from cluster.state.settings import setting
from dags.airflow_home.home import project_root
from dags.notify.late import deadline
from dags.run_status.progress import ANALYSIS_ESTIMATE_S
from dags.tasks.params import study_params
from dags.tasks.ssh_key import use_ssh_connection
from dags.tasks.study_tasks import OPERATING, study_tasks
from workloads.planning.planned_study import plan_study
from workloads.spec.study import Study
from workloads.spec.study_file import read_study

log = logging.getLogger(__name__)


def scheduled_studies() -> Iterator[tuple[Path, Study]]:
    """(file, study) of every valid study with a schedule; the first one if two have the same name."""
    folders = [project_root() / "workloads" / "studies"]
    folders += [Path(name) for name in (setting("studies") or "").split(os.pathsep) if name]
    named: set[str] = set()
    for path in (path for folder in folders for path in sorted(folder.glob("*.yaml"))):
        if not path.is_file():
            continue  # reading a pipe would block
        if "schedule:" not in path.read_text(encoding="utf-8", errors="replace"):
            continue  # true for most studies; parsing them would slow the dag-processor
        try:
            study = read_study(path).study
        except StudyError as error:
            log.error("no DAG for %s: %s", path, error)
            continue
        if study.schedule is not None and study.study not in named:
            named.add(study.study)
            yield path.absolute(), study


def study_dag(path: Path, study: Study) -> DAG:
    """Each DAG run is a new run of the study, compared with the earlier runs."""
    assert study.schedule is not None
    cron, asset = study.schedule.cron, study.schedule.asset

    @dag(
        dag_id=f"study_{study.study}",
        schedule=[Asset(asset)] if asset else cron,
        params=study_params(str(path), fresh=True, runs=setting("runs") or "runs"),
        max_active_runs=1,
        catchup=False,
        tags=["study", "scheduled"],
        doc_md=f"{study.question or f'The study {study.study}, on its schedule.'}\n{OPERATING}",
        default_args={"retries": 0, "pre_execute": use_ssh_connection},
        deadline=deadline(str(path), planned_s(path)) if study.reports_late_runs else None,
    )
    def scheduled_study() -> None:
        study_tasks(compared=True)

    made: DAG = scheduled_study()
    return made


def planned_s(path: Path) -> float:
    """Estimate of a run, analysis included, in seconds."""
    return plan_study(path).plan.estimate_s + ANALYSIS_ESTIMATE_S


for _path, _study in scheduled_studies():
    globals()[f"study_{_study.study}"] = study_dag(_path, _study)
