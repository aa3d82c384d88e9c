"""`python -m tests.dag.scenarios FOLDER NAME...`: runs of studies' DAGs in process, with one fault each.

One process for all, because importing Airflow takes longer than running them. Prints one JSON
object: name of the scenario -> {state, rows: {task: state}, order, plan, ended}.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from density_study.cluster.state.owner import Owner
from density_study.dags.airflow_home.home import Home, project_root
from density_study.workloads.execution.run import has_ended, load_run
from tests.dag import backend

SCENARIOS: dict[str, dict[str, str]] = {
    "all-well": {},
    "mapped": {},
    "bring-up-fails": {"up b1-v1-flash": "fail"},
    "trial-fails": {"trial b1-v1-flash testdfsio-write-n2": "fail"},
    "tear-down-fails": {"down b1-v2-flash": "fail"},
    "analysis-fails": {"series": "fail"},
    "duet": {"trial b2-v1-flash-a ycsb-c-r1000-t1": "fail"},
}


def main(folder: Path, *names: str) -> None:
    backend.install()
    os.environ["DENSITY_STUDY_RUNTIME"] = str(folder / "runtime")
    os.environ["DENSITY_STUDY_STUDIES"] = str(folder / "studies")
    os.environ["DENSITY_STUDY_RUNS"] = str(folder / "runs")
    home = Home(folder / "airflow", project_root())
    os.environ.update(home.command_environment())
    (folder / "studies").mkdir()
    for name in names:
        text = backend.DUET if name == "duet" else backend.STUDY
        text = text.replace("study: tiny", f"study: {name}")
        (folder / "studies" / f"{name}.yaml").write_text(text)
    _without_shipped_studies(folder / "studies")
    _start_last_task_first()
    _without_retry_delay()
    results: dict[str, Any] = {name: _run(folder / "runs", name, SCENARIOS[name]) for name in names}
    if "all-well" in names:
        results["bad conf"] = {**_run_dag("all-well", {"frsh": True}), "runs": _runs(folder)}
        results["bad params"] = _refused({"fresh": "yes"})
        results["reap"] = _reap(folder / "reaped")
    print(json.dumps(results))


def _without_shipped_studies(studies: Path) -> None:
    """Each dag.test parses and stores the DAG of every study again."""
    from density_study.dags.graph import catalogue

    catalogue._paths = lambda: iter(sorted(studies.glob("*.yaml")))


def _start_last_task_first() -> None:
    """dag.test iterates over a set of task instances in any order. This one is deterministic."""
    from airflow.models.taskinstance import TaskInstance

    TaskInstance.__hash__ = lambda self: (  # type: ignore[method-assign]
        self.priority_weight if self.map_index < 0 else 1000 - self.map_index
    )


def _without_retry_delay() -> None:
    from datetime import timedelta

    from density_study.dags.tasks import study_tasks

    for stage in study_tasks.STAGES:
        stage.kwargs["retry_delay"] = timedelta(0)


def _run(runs: Path, name: str, faults: Mapping[str, str]) -> dict[str, Any]:
    from density_study.dags.stages import outline

    backend.break_down(runs / name, faults)
    outline.NAMED_TRIALS = 3 if name == "mapped" else 200
    outcome = _run_dag(name, None)
    outline.NAMED_TRIALS = 200
    run = load_run(next((runs / name).glob("*Z")))
    return {
        **outcome,
        "order": backend.order(run.root),
        "plan": [[step.kind, step.build, step.label, step.trial] for step in run.plan.steps],
        "ended": has_ended(run),
        "standing": [path.parent.name for path in run.root.glob("builds/*/standing")],
    }


def _run_dag(name: str, conf: dict[str, Any] | None) -> dict[str, Any]:
    from density_study.dags.studies import study_dags

    (dag,) = study_dags(f"study_{name}")
    run = dag.test(run_conf=conf)
    rows = {
        task.task_id if task.map_index < 0 else f"{task.task_id}[{task.map_index}]": task.state
        for task in run.get_task_instances()
    }
    return {"state": str(run.state.value), "rows": rows}


def _runs(folder: Path) -> int:
    return len(list((folder / "runs" / "all-well").glob("*Z")))


def _reap(runs_folder: Path) -> dict[str, Any]:
    """DAG reap_clusters, with one process left behind by a killed run, under its tag."""
    from density_study.cluster.machine.processes import Children
    from density_study.cluster.model.transport import Command
    from density_study.cluster.state.journal import Journal
    from density_study.cluster.state.own_runs import register
    from density_study.cluster.state.tags import is_alive
    from density_study.dags.reap_clusters import reap_hourly

    child = subprocess.Popen(["sleep", "60"])
    owner = Owner.of_process(child.pid)
    child.kill()
    child.wait()
    tag = f"killed-{os.getpid()}/r1"
    root = runs_folder / tag
    root.mkdir(parents=True, mode=0o755)
    register(root)
    journal = Journal(root / "journal.jsonl")
    journal.write("run-opened", study=tag, run="r1", tag=tag, owner=owner.to_json())
    others, os.environ["DENSITY_STUDY_RUNS"] = os.environ["DENSITY_STUDY_RUNS"], str(runs_folder)
    out = runs_folder / "out"
    children = Children()
    process = children.start(f"{tag}/b1", "w1", Command("daemon", ("sleep", "600")), out, out)
    looked = reap_hourly.test(run_conf={"dry_run": True})
    alive_after_look = is_alive(process)
    # Passed again: `test` keeps the params of its last run.
    run = reap_hourly.test(run_conf={"dry_run": False})
    os.environ["DENSITY_STUDY_RUNS"] = others
    return {
        "schedule": reap_hourly.schedule,
        "retries": reap_hourly.get_task("reap").retries,
        "states": [str(looked.state.value), str(run.state.value)],
        "alive_after_look": alive_after_look,
        "exit": children.wait(process, 10),
    }


def _refused(conf: dict[str, Any]) -> str:
    """Airflow's message when it refuses params that do not fit their schema."""
    from airflow.sdk.exceptions import ParamValidationError

    from density_study.dags.studies import study_dags

    (dag,) = study_dags("study_all-well")
    try:
        dag.params.__copy__().update(conf)
    except ParamValidationError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
