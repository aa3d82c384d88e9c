"""`deadline`: a study's DAG reports a run that takes longer than planned, by Airflow's deadline alerts.

The scheduler notices the missed deadline, and its executor calls `late`, as it would execute a task. Airflow
calls deadline alerts experimental; LocalExecutor on SQLite executes them (tests/dag/notify/test_late.py).
What `late` needs is imported when it runs, because Airflow parses DAG files often.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote

# missing in its stub
from airflow.sdk import DeadlineAlert, DeadlineReference, SyncCallback  # type: ignore[attr-defined]

LATE = 2.0
"""A run is late after this many times its estimate. The estimate knows nothing of a busy machine."""
_OVER = ("success", "failed")


def deadline(spec: str, estimate_s: float) -> DeadlineAlert:
    """For the DAG of the study in the file `spec`, if a receiver wants the event `late`. The clock starts
    when the DAG run is queued, so waiting for another run counts."""
    return DeadlineAlert(
        reference=DeadlineReference.DAGRUN_QUEUED_AT,
        interval=timedelta(seconds=LATE * estimate_s),
        callback=SyncCallback(late, kwargs={"spec": spec, "estimate_s": estimate_s}),
    )


def late(spec: str, estimate_s: float, context: Mapping[str, Any]) -> None:
    """Airflow calls this with the missed deadline's DAG run. A run that failed in time keeps its deadline in
    Airflow's database, and is not late."""
    from density_study.dags.airflow_home.home import base_folder
    from density_study.dags.notify.message import Message
    from density_study.dags.notify.tell import send
    from density_study.workloads.base.quantity import duration
    from density_study.workloads.study.study_file import read_study

    dag_run = context["dag_run"]
    if dag_run["state"] in _OVER:
        return
    study = read_study(base_folder() / spec).study
    run_id = dag_run["dag_run_id"]
    message = Message(
        "late",
        study.study,
        run_id,
        f"the run has taken {LATE:g} times its estimate of {duration(estimate_s)} and is not over",
        report=_page(dag_run["dag_id"], run_id),
    )
    send(message, study.notify, context)


def _page(dag_id: str, run_id: str) -> str:
    """The DAG run in Airflow's UI; a run that is not over has no report."""
    from airflow.sdk.configuration import conf

    base: str = conf.get("api", "base_url", fallback="") or ""
    return f"{base.rstrip('/')}/dags/{quote(dag_id)}/runs/{quote(run_id)}" if base else ""
