"""`python -m tests.dag.scenarios FOLDER`: runs of the DAG in process, with one fault each.

One process for all, because importing Airflow takes longer than running them. Prints one JSON
object: name of the scenario -> {state, rows: [[task, map_index, label, state]], order, plan,
ended}.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cluster.state.owner import Owner
from dags.airflow_home.home import Home, project_root
from tests.dag import backend
from workloads.execution import run as runs

SCENARIOS: dict[str, dict[str, str]] = {
    "all well": {},
    "bring-up fails": {"up b1-v1-flash": "fail"},
    "trial fails": {"trial b1-v1-flash testdfsio-write-n2": "fail"},
    "tear-down fails": {"down b1-v2-flash": "fail"},
    "analysis fails": {"series": "fail"},
}


def main(folder: Path) -> None:
    backend.install()
    os.environ["DENSITY_STUDY_RUNTIME"] = str(folder / "runtime")
    os.environ.update(Home(folder / "airflow", project_root()).command_environment())
    from dags.airflow_home.home import migrate_once

    migrate_once(folder / "airflow" / "command.db")
    _hand_out_last_slot_first()
    results = {name: _run(folder / name, faults) for name, faults in SCENARIOS.items()}
    results["bad input"] = _run_dag({"spec": str(folder / "nowhere.yaml"), "runs": str(folder)})
    results["bad params"] = _refused({"overrides": "repetitions=2"})
    results["reap"] = _reap(folder / "reaped")
    print(json.dumps(results))


def _hand_out_last_slot_first() -> None:
    """dag.test iterates over a set of task instances in any order. This one is deterministic."""
    from airflow.models.taskinstance import TaskInstance

    TaskInstance.__hash__ = lambda self: 1000 - self.map_index  # type: ignore[method-assign]


def _run(folder: Path, faults: Mapping[str, str]) -> dict[str, Any]:
    spec = folder / "tiny.yaml"
    backend.break_down(folder / "runs", faults)
    spec.write_text(backend.STUDY)
    outcome = _run_dag({"spec": str(spec), "runs": str(folder / "runs")})
    run = runs.load_run(next((folder / "runs").glob("tiny/*Z")))
    return {
        **outcome,
        "order": backend.order(run.root),
        "plan": [step.label for step in run.plan.steps],
        "ended": runs.has_ended(run),
        "standing": [path.parent.name for path in run.root.glob("builds/*/standing")],
    }


def _run_dag(conf: dict[str, Any]) -> dict[str, Any]:
    from dags.density_study import density

    run = density.test(run_conf=conf)
    tasks = sorted(run.get_task_instances(), key=lambda task: (task.task_id, task.map_index))
    rows = [[t.task_id, t.map_index, t.rendered_map_index, t.state] for t in tasks]
    return {"state": str(run.state.value), "rows": rows}


def _reap(runs_folder: Path) -> dict[str, Any]:
    """DAG reap_clusters, with one process left behind by a killed run, under its tag."""
    from cluster.machine.processes import Children
    from cluster.model.transport import Command
    from cluster.state.journal import Journal
    from cluster.state.tags import is_alive
    from dags.reap_clusters import reap_hourly

    child = subprocess.Popen(["sleep", "60"])
    owner = Owner.of_process(child.pid)
    child.kill()
    child.wait()
    tag = f"killed-{os.getpid()}/r1"
    journal = Journal(runs_folder / tag / "journal.jsonl")
    journal.write("run-opened", study=tag, run="r1", tag=tag, owner=owner.to_json())
    out = runs_folder / "out"
    children = Children()
    process = children.start(f"{tag}/b1", "w1", Command("daemon", ("sleep", "60")), out, out)
    looked = reap_hourly.test(run_conf={"runs": str(runs_folder), "dry_run": True})
    alive_after_look = is_alive(process)
    # Passed again: `test` keeps the params of its last run.
    run = reap_hourly.test(run_conf={"runs": str(runs_folder), "dry_run": False})
    refused = reap_hourly.test(run_conf={"runs": str(runs_folder), "dry_rnu": True})
    return {
        "refused": str(refused.state.value),
        "schedule": reap_hourly.schedule,
        "states": [str(looked.state.value), str(run.state.value)],
        "alive_after_look": alive_after_look,
        "exit": children.wait(process, 10),
    }


def _refused(conf: dict[str, Any]) -> str:
    """Airflow's message when it refuses params that do not fit their schema."""
    from airflow.sdk.exceptions import ParamValidationError

    from dags.density_study import density

    try:
        density.params.__copy__().update(conf)
    except ParamValidationError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]))
