"""`python -m tests.dag.scheduled_scenarios FOLDER`: a scheduled study's DAG, in process, twice.

The first run finds no earlier one; the second, after twelve more, is 20 % slower and fails in `regression`.
Prints one JSON object; the summaries are synthetic, the rest comes from the simulated backend.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.dags.airflow_home.home import Home, project_root
from density_study.workloads.execution.run import load_run
from tests.dag import backend
from tests.support.summary_factory import one_block
from tests.support.variants import noisy, ycsb

STUDY = """\
study: nightly
schedule: {schedule}
repetitions: 5
compare: {{baseline: rolling 5, tolerance: 10%, spread: 2%}}
hosts:
  - {{name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{{disk_type: flash}}]}}
factors: {{vms_per_host: [1]}}
workloads:
  - ycsb: {{records: [1000], mixes: [a], threads: [1], duration: 2 s, warm_up: 1 s}}
"""


def main(folder: Path) -> None:
    backend.install()
    os.environ["DENSITY_STUDY_RUNTIME"] = str(folder / "runtime")
    os.environ["DENSITY_STUDY_STUDIES"] = str(folder / "studies")
    os.environ["DENSITY_STUDY_RUNS"] = str(folder / "runs")
    home = Home(folder / "airflow", project_root())
    os.environ.update(home.command_environment())
    (folder / "studies").mkdir()
    (folder / "studies" / "nightly.yaml").write_text(STUDY.format(schedule='"0 2 * * 6"'))
    (folder / "studies" / "broken.yaml").write_text("study: broken\nschedule: at noon\n")
    on_asset = STUDY.format(schedule="{asset: 'file:///release'}").replace("nightly", "on-release")
    (folder / "studies" / "release.yaml").write_text(on_asset)
    from density_study.dags.airflow_home.home import migrate_once

    migrate_once(home.command_database, home.command_environment())
    from density_study.dags.studies import study_dags

    dags = {dag.dag_id: dag for dag in study_dags(None)}
    results: dict[str, Any] = {"dags": {name: str(dag.schedule) for name, dag in dags.items()}}
    dag = dags["study_nightly"]
    results["runs"] = [_run(folder, dag, 100.0)]
    write_history(folder / "runs" / "nightly")
    results["runs"].append(_run(folder, dag, 80.0))
    refused = dag.test(run_conf={"overides": {}})
    results["refused"] = [str(refused.state.value), len(list((folder / "runs").glob("nightly/*Z")))]
    print(json.dumps(results))


def _run(folder: Path, dag: Any, ops_s: float) -> dict[str, Any]:
    def run_stage(name: str, root: Path) -> None:
        original(name, root)
        if name == "report":
            write_summary(root, ops_s)

    original, backend.run_stage = backend.run_stage, run_stage
    try:
        ended = dag.test()
    finally:
        backend.run_stage = original
    states = {task.task_id: str(task.state) for task in ended.get_task_instances()}
    root = max((folder / "runs" / "nightly").glob("*Z"))
    comparison = root / "report" / "comparison.json"
    return {
        "state": str(ended.state.value),
        "regression": states["regression"],
        "conclude": states["conclude"],
        "run": root.name,
        "fresh": load_run(root).id,
        "comparison": json.loads(comparison.read_text()) if comparison.exists() else None,
    }


def write_summary(root: Path, ops_s: float) -> None:
    """Like the analysis of five repetitions with `ops_s` operations per second."""
    summary = one_block(root.parent.name).model_copy(
        update={
            "run": root.name, "repetitions": 5, "findings": (),
            "test_cases": (ycsb("a", ops_s=noisy(ops_s, 5, 0.01, ops_s)),),
        }
    )  # fmt: skip
    (root / "report" / "summary.json").write_text(summary.model_dump_json())


HISTORY = 12


def write_history(study: Path) -> None:
    """Analysed runs of last year in which nothing changed: they tell how much runs differ."""
    for number in range(HISTORY):
        root = study / f"202512{10 + number}T020000Z"
        (root / "report").mkdir(parents=True)
        Journal(root / JOURNAL).write("run-ended", outcome="ok", message="")
        write_summary(root, 100.0 + number / 10)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
