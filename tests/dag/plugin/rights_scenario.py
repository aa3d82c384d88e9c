"""`python -m tests.dag.plugin.rights_scenario FOLDER`: the plugin's pages for somebody who may read one DAG.

Prints one JSON object: the status of each request. The runs and the reader's rights are made up; the pages
and Airflow's checks are real.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from density_study.cluster.state.journal import Journal
from density_study.dags.airflow_home.home import Home, project_root

READABLE = "study_nightly"


def make_runs(runs: Path) -> None:
    # the last two are copies from strangers, whose journals name the DAG that the reader may read
    for study, name, dag_run in (
        ("nightly", "mine", f"{READABLE}/1"),
        ("other", "theirs", "study_other/1"),
        ("other", "lying", f"{READABLE}/1"),
        ("other", "lying-too", f"{READABLE}/3"),
    ):
        report = runs / study / name / "report"
        report.mkdir(parents=True)
        (report / "index.html").write_text(name)
        Journal(report.parent / "journal.jsonl").write(
            "run-opened", study="n", run=name, tag="n/r", dag_run=dag_run
        )
    (runs / "index.html").write_text("the hub")


class Rights:
    """Of an auth manager: who may read which DAG runs. None stands for all DAGs."""

    def is_authorized_dag(self, *, details: Any, **_: object) -> bool:
        return bool(details.id == READABLE)


def main(folder: Path) -> None:
    home = Home(folder / "airflow", project_root())
    os.environ.update(home.command_environment())
    from airflow.api_fastapi.core_api import security
    from fastapi.testclient import TestClient

    from density_study.dags.web import pages

    make_runs(folder / "runs")
    app = pages.pages(folder / "runs")
    app.dependency_overrides[security.get_user] = lambda: SimpleNamespace(get_id=lambda: "ann")
    report = "{}/report/index.html"
    asked = {
        "hub": "/",
        "hub, naming the DAG": f"/?dag_id={READABLE}",
        "report": f"/{report.format('nightly/mine')}",
        "no report of mine": f"/{report.format('nightly/none')}",
        "report of another DAG": f"/{report.format('other/theirs')}",
        "report of another DAG, naming mine": f"/{report.format('other/theirs')}?dag_id={READABLE}",
        "report of another DAG, whose journal names mine": f"/{report.format('other/lying')}",
        "no report of another DAG": f"/{report.format('other/none')}",
        "no report of no DAG": f"/{report.format('none/none')}",
        "no path of a report": "/none.html",
        "my DAG run": f"/dag-run?dag_id={READABLE}&run_id=1",
        "another DAG run": "/dag-run?dag_id=study_other&run_id=1",
        "a DAG run without a run": f"/dag-run?dag_id={READABLE}&run_id=2",
        "a DAG run that another study's journal names": f"/dag-run?dag_id={READABLE}&run_id=3",
    }
    with (
        mock.patch.object(security, "get_auth_manager", Rights),
        mock.patch.object(pages, "get_auth_manager", Rights),
    ):
        client = TestClient(app, follow_redirects=False)
        codes: dict[str, Any] = {name: client.get(path).status_code for name, path in asked.items()}
        app.dependency_overrides.clear()
        asking = {"Accept": "text/html", "Host": "evil.example"}
        codes["login"] = client.get("/a/b?c=d", headers=asking).headers["location"]
        print(json.dumps(codes))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
