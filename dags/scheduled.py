"""A DAG for each study whose YAML has `schedule:`, named study_<name>. Its tasks: dags/tasks/study_tasks.py.

Studies are looked for in workloads/studies and in the folders of $DENSITY_STUDY_STUDIES (divided like
PATH). A study that is not valid gets no DAG: the log says why, and `study plan` does too.
"""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

from airflow.sdk import DAG, Asset, Param, dag

from cluster.model.errors import StudyError
from dags.airflow_home.home import project_root
from dags.tasks.study_tasks import OPERATING, study_tasks
from workloads.spec.schedule import Schedule
from workloads.spec.study import Study
from workloads.spec.study_file import read_study

log = logging.getLogger(__name__)
FOLDERS = "DENSITY_STUDY_STUDIES"
RUNS = "DENSITY_STUDY_RUNS"


def scheduled_studies() -> Iterator[tuple[Path, Study]]:
    """(file, study) of every valid study with a schedule; of two with one name, the first."""
    folders = [project_root() / "workloads" / "studies"]
    folders += [Path(name) for name in os.environ.get(FOLDERS, "").split(os.pathsep) if name]
    named: set[str] = set()
    for path in (path for folder in folders for path in sorted(folder.glob("*.yaml"))):
        if not path.is_file():
            continue  # reading a pipe would never end
        if "schedule:" not in path.read_text(encoding="utf-8", errors="replace"):
            continue  # most studies: not worth the reading
        try:
            study = read_study(path).study
        except StudyError as error:
            log.error("no DAG for %s: %s", path, error)
            continue
        if study.schedule is not None and study.study not in named:
            named.add(study.study)
            yield path.absolute(), study


def study_dag(path: Path, study: Study) -> DAG:
    """Every run of it is a new run of the study, compared with the earlier ones."""
    assert study.schedule is not None

    @dag(
        dag_id=f"study_{study.study}",
        schedule=_schedule(study.schedule),
        params={
            "spec": Param(str(path), type="string", title="Study"),
            "overrides": Param({}, type="object", additionalProperties=True, title="Overrides"),
            "fresh": Param(True, type="boolean", title="Start anew"),
            "add_repetitions": Param(0, type="integer", title="Repetitions to add"),
            "only": Param([], type="array", title="Settings"),
            "runs": Param(os.environ.get(RUNS, "runs"), type="string", title="Runs folder"),
            "run": Param(None, type=["null", "string"], title="Opened run"),
        },
        max_active_runs=1,
        catchup=False,
        tags=["study", "scheduled"],
        doc_md=f"{study.question or f'The study {study.study}, on its schedule.'}\n{OPERATING}",
        default_args={"retries": 0},
    )
    def scheduled_study() -> None:
        study_tasks(compared=True)

    made: DAG = scheduled_study()
    return made


def _schedule(schedule: Schedule) -> str | list[Asset]:
    if schedule.cron is not None:
        return schedule.cron
    assert schedule.asset is not None
    return [Asset(schedule.asset)]


for _path, _study in scheduled_studies():
    globals()[f"study_{_study.study}"] = study_dag(_path, _study)
