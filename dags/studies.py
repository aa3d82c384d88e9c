"""One Airflow DAG, study_<name>, per study file.

Studies are read from workloads/studies and from the folders of the setting `studies`. A file that is not
valid gets no DAG; invalid_studies.py reports it. The process of `study run` sees only the DAG of its own run,
made from the run's plan.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from airflow.sdk import DAG, get_parsing_context

from density_study.dags.airflow_home.home import OPEN_RUN, runs_folder
from density_study.dags.graph.catalogue import study_files
from density_study.dags.graph.run_dag import run_dag
from density_study.dags.graph.study_dag import study_dag
from density_study.dags.stages.task_names import dag_id


def study_dags(wanted: str | None) -> Iterator[DAG]:
    """The DAG of every study, or the one with the id `wanted`: a task needs only its own."""
    if root := os.environ.get(OPEN_RUN):
        yield run_dag(root)
        return
    for study in study_files():
        if study.outline is not None and wanted in (None, dag_id(study.outline.study)):
            yield study_dag(study.outline, study.path, str(runs_folder()))


for _dag in study_dags(get_parsing_context().dag_id):
    globals()[_dag.dag_id] = _dag
