"""`run_dag`: the DAG of a run that is open already, from its own plan."""

from __future__ import annotations

from pathlib import Path

from airflow.sdk import DAG

from density_study.dags.graph.study_dag import study_dag
from density_study.dags.stages.outline import outline_of


def run_dag(root: str) -> DAG:
    """The same kind of DAG as in Airflow's UI; its run may have been resumed or extended."""
    from density_study.workloads.execution.run import load_run

    run = load_run(Path(root))
    return study_dag(outline_of(run.study, run.plan), run.root / "study.yaml", str(run.root), root)
