"""`python -m tests.dag.capacity_scenario FOLDER`: a study in process, then the plan its tables
trigger.

Prints one JSON object: the study's event, the trigger of `capacity_plan`, and its final state.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from density_study.analysis.capacity.inputs.catalogue import EXAMPLE
from density_study.dags.airflow_home.home import Home, project_root
from tests.dag import backend
from tests.support.capacity.populations import measured, truths


def main(folder: Path) -> None:
    backend.install()
    os.environ["DENSITY_STUDY_RUNTIME"] = str(folder / "runtime")
    os.environ["DENSITY_STUDY_STUDIES"] = str(folder)
    os.environ["DENSITY_STUDY_RUNS"] = str(folder / "runs")
    os.environ["DENSITY_STUDY_CATALOGUE"] = str(EXAMPLE)
    home = Home(folder / "airflow", project_root())
    os.environ.update(home.command_environment())
    from density_study.dags.airflow_home.home import migrate_once

    migrate_once(home.command_database, home.command_environment())
    (folder / "tiny.yaml").write_text(backend.STUDY)
    from density_study.dags.studies import study_dags

    (dag,) = study_dags("study_tiny")
    study = dag.test()
    events = _events()
    root = str(next((folder / "runs").glob("tiny/*Z")))
    # First: dag.test leaves the params of a run behind for the next one in its process.
    nothing = _plan({})
    print(json.dumps({
        "study": str(study.state.value),
        "root": root,
        "events": events,
        "listens": _listens(),
        "planned": _plan({"run": root}),
        "not named": nothing,
        "no catalogue": _plan({"run": root, "hosts": None}),
        "bad promise": _plan({"run": root, "slo": ["sometime"]}),
        "unknown key": _plan({"run": root, "slo": [], "slaa": ["query_p95=3s"]}),
    }))  # fmt: skip


def _events() -> list[dict[str, Any]]:
    from airflow.models.asset import AssetEvent, AssetModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        rows = session.execute(
            select(AssetModel.name, AssetEvent.extra).join(
                AssetModel, AssetModel.id == AssetEvent.asset_id
            )
        ).all()
        return [{"asset": name, "extra": extra} for name, extra in rows]


def _listens() -> list[str]:
    from density_study.dags.capacity_plan import capacity

    return [asset.name for asset in capacity.timetable.asset_condition.objects]


def _plan(conf: dict[str, Any]) -> dict[str, Any]:
    """The DAG with measured points in place of the run's tables: the backend creates no tables."""
    from density_study.analysis.capacity.sizing import run_plan
    from density_study.dags.capacity_plan import capacity

    run_plan.run_points = lambda _: measured(truths(1, 1), (2, 4, 8), seed=1)
    ended = capacity.test(run_conf=conf)
    return {
        "state": str(ended.state.value),
        "tasks": {f"{t.task_id}[{t.map_index}]": t.state for t in ended.get_task_instances()},
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
