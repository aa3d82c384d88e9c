"""What the web UI serves of a runs folder: reports and the hub, and nothing that lies outside of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from density_study.analysis.hub.files import HUB
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.dags.web.results import no_report, run_of_dag_run, served
from density_study.workloads.execution.run import end_run, load_run
from density_study.workloads.planning.plan import write_plan
from tests.support.drafts import QUICKSTART, plan
from tests.support.made_runs.outside import RUN, links, outside, runs

__all__ = ["runs"]  # the fixture


def test_the_hub_and_reports_are_served(runs: Path) -> None:
    for path, content, kind in (
        ("", b"the hub", "text/html; charset=utf-8"),
        ("index.html", b"the hub", "text/html; charset=utf-8"),
        (f"{RUN}/report/index.html", b"the report", "text/html; charset=utf-8"),
        (f"{RUN}/report/summary.json", b"{}", "application/json"),
        (f"{RUN}/report/data_docs/a b+ü.html", b"docs", "text/html; charset=utf-8"),
    ):
        found = served(runs, path)
        assert found is not None, path
        assert (found.content, found.content_type) == (content, kind)
        assert found.in_report == (RUN in path)


def test_nothing_else_is_served_however_it_is_written(runs: Path) -> None:
    (runs / RUN / "report" / ".hidden.html").write_text("secret")
    every = list(outside(runs))
    assert len(every) > 40
    assert {path: found.content for path in every if (found := served(runs, path))} == {}


def test_links_are_not_followed(runs: Path) -> None:
    for path in links(runs).values():
        assert (runs / path).exists() or "proc" in path, "the link leads somewhere"
        assert served(runs, path) is None, path
    (runs / HUB).unlink()
    (runs / HUB).symlink_to(runs.parent / "secret.html")
    assert served(runs, "") is None


def test_only_regular_files_are_served_and_a_pipe_does_not_block(runs: Path) -> None:
    report = runs / RUN / "report"
    os.mkfifo(report / "pipe.html")
    (report / "folder.html").mkdir()
    for name in ("pipe.html", "folder.html"):
        assert served(runs, f"{RUN}/report/{name}") is None


@pytest.mark.usefixtures("runtime")
def test_a_report_is_promised_only_while_a_run_is_under_way(runs: Path) -> None:
    root = runs / "quickstart" / "20261121T201530Z"
    root.mkdir(parents=True)
    journal = Journal(root / "journal.jsonl")
    here = Owner.of_process(os.getpid()).to_json()
    journal.write("run-opened", study="quickstart", run=root.name, tag="t/1", owner=here)
    assert "plan.json" in no_report(root)[1] and "None" not in no_report(root)[1]
    (root / "study.yaml").write_text(QUICKSTART.read_text())
    write_plan(plan(), root / "plan.json")
    assert no_report(root)[0] == "No report yet"
    end_run(load_run(root), "failed", "analysis: it did not finish")
    title, text = no_report(root)
    assert title == "No report" and f"failed, 0 of {len(plan().trials)} trials done." in text
    assert f"study status {root}" in text and f"study report {root}" in text


def test_descriptors_are_closed(runs: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in (
        "",
        f"{RUN}/report/index.html",
        f"{RUN}/report/none.html",
        f"{RUN}/x/report/a.html",
    ):
        served(runs, path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert served(runs / "nowhere", "") is None


def test_the_runs_folder_itself_may_be_a_link(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(runs)
    found = served(tmp_path / "link", f"{RUN}/report/index.html")
    assert found is not None and found.content == b"the report"


# ------------------------------------------------------------------- the run of a DAG run


def opened(runs: Path, name: str, dag_run: str, study: str = "nightly") -> Path:
    root = runs / study / name
    Journal(root / "journal.jsonl").write(
        "run-opened", study="nightly", run=name, tag=f"nightly/{name}", dag_run=dag_run
    )
    return root


def test_the_run_of_a_dag_run_is_found(tmp_path: Path) -> None:
    odd = 'manual__2026-11-20T20:15:30.1+00:00 "ü/x"'
    first = opened(tmp_path, "1", "study_nightly/scheduled__1")
    second = opened(tmp_path, "2", f"study_nightly/{odd}")
    assert run_of_dag_run(tmp_path, "study_nightly", "scheduled__1") == first
    assert run_of_dag_run(tmp_path, "study_nightly", odd) == second
    assert run_of_dag_run(tmp_path, "study_nightly", "scheduled__") is None
    assert run_of_dag_run(tmp_path, "other", "scheduled__1") is None
    assert run_of_dag_run(tmp_path / "nowhere", "other", "scheduled__1") is None


def test_the_newest_run_counts_and_a_broken_journal_does_not(tmp_path: Path) -> None:
    opened(tmp_path, "1", "study_nightly/r")
    newer = opened(tmp_path, "2", "study_nightly/r")
    broken = opened(tmp_path, "3", "study_nightly/r")
    with (broken / "journal.jsonl").open("a") as journal:
        journal.write('{"format": 99}\n')
    assert run_of_dag_run(tmp_path, "study_nightly", "r") == newer


def test_a_resumed_run_belongs_to_both_dag_runs(tmp_path: Path) -> None:
    root = opened(tmp_path, "1", "study_nightly/first")
    opened(tmp_path, "1", "study_nightly/second")
    for dag_run in ("first", "second"):
        assert run_of_dag_run(tmp_path, "study_nightly", dag_run) == root


def test_finding_files_needs_no_airflow_and_no_statistics() -> None:
    """Airflow loads the plugin in all its processes."""
    code = (
        "import sys; import density_study.dags.web.results; "
        "print([m for m in ('airflow', 'scipy', 'altair', 'pandas') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
