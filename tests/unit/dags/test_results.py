"""What the web UI serves of a runs folder: reports and the hub, and nothing that lies outside of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.analysis.hub.files import HUB
from density_study.cluster.state.journal import Journal
from density_study.dags.web.results import run_of_dag_run, served

RUN = "quickstart/20261120T201530Z"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A run with a report, and secrets beside and above it."""
    folder = tmp_path / "runs"
    report = folder / RUN / "report"
    (report / "data_docs").mkdir(parents=True)
    (folder / HUB).write_text("the hub")
    (report / "index.html").write_text("the report")
    (report / "summary.json").write_text("{}")
    (report / "data_docs" / "a b+ü.html").write_text("docs")
    (folder / RUN / "journal.jsonl").write_text("")
    (folder / RUN / "study.yaml").write_text("secret")
    (folder / "secret.html").write_text("secret")
    (tmp_path / "secret.html").write_text("secret")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "index.html").write_text("secret")
    return folder


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


def outside(runs: Path) -> Iterator[str]:
    secret = str(runs.parent / "secret.html")
    up = "../" * 12
    yield from (
        "secret.html",
        "../secret.html",
        f"{RUN}/report/../study.yaml",
        f"{RUN}/report/../../../secret.html",
        f"{RUN}/report/../../../../secret.html",
        f"{RUN}/report/data_docs/../index.html",
        f"{RUN}/report/./index.html",
        f"{RUN}/report//index.html",
        f"/{RUN}/report/index.html",
        f"{RUN}/report/index.html/",
        f"{RUN}/report/",
        f"{RUN}/report",
        f"{RUN}/study.yaml",
        f"{RUN}/journal.jsonl",
        f"{RUN}/records/t1/report/index.html",
        f"{RUN}/../{RUN}/report/index.html",
        "../runs/index.html",
        "..",
        ".",
        "/",
        "./index.html",
        "/index.html",
        "index.html/",
        "//etc/passwd",
        "/etc/passwd",
        secret,
        f"{RUN}/report/{secret}",
        f"{RUN}/report/{up}etc/passwd",
        f"{RUN}/report/..\\..\\..\\secret.html",
        f"{RUN}\\report\\index.html",
        # decoded once already: what is left of a double encoding is a plain name
        f"{RUN}/report/%2e%2e/%2e%2e/%2e%2e/secret.html",
        f"{RUN}/report/..%2f..%2f..%2fsecret.html",
        f"{RUN}/report/%252e%252e/secret.html",
        f"{RUN}/report/..%c0%af..%c0%afsecret.html",
        f"{RUN}/report/\uff0e\uff0e/\uff0e\uff0e/secret.html",
        f"{RUN}/report/index.html\0.png",
        f"{RUN}/report/\0",
        "index.html\0",
        f"{RUN}/report/{'a' * 300}.html",
        f"{RUN}/report/{'a/' * 3000}index.html",
        f"{RUN}/report/\udcff.html",
        f"{RUN}/report/index.html:stream",
        f"{RUN}/report/index.HTML",
        f"{RUN}/report/~root/index.html",
        f"{RUN}/report/.hidden.html",
        f"{RUN}/report/data_docs",
    )


def test_nothing_else_is_served_however_it_is_written(runs: Path) -> None:
    (runs / RUN / "report" / ".hidden.html").write_text("secret")
    every = list(outside(runs))
    assert len(every) > 40
    assert {path: found.content for path in every if (found := served(runs, path))} == {}


def links(runs: Path) -> dict[str, str]:
    """Links that lead out, or within, each with a path through it."""
    report, out = runs / RUN / "report", runs.parent / "secret"
    made = {
        report / "out.html": runs.parent / "secret.html",
        report / "folder": out,
        report / "up": Path("../../../.."),
        report / "within.html": Path("index.html"),
        report / "proc": Path("/proc/self"),
        runs / "quickstart" / "elsewhere": out.parent / "stolen",
        runs / "other": out.parent / "stolen",
        runs / "quickstart" / "newest": runs / RUN,
    }
    (out.parent / "stolen" / "report").mkdir(parents=True)
    (out.parent / "stolen" / "report" / "index.html").write_text("secret")
    (out.parent / "stolen" / "r" / "report").mkdir(parents=True)
    (out.parent / "stolen" / "r" / "report" / "index.html").write_text("secret")
    for link, target in made.items():
        link.symlink_to(target)
    return {
        "a file": f"{RUN}/report/out.html",
        "a folder": f"{RUN}/report/folder/index.html",
        "upwards": f"{RUN}/report/up/secret.html",
        "within": f"{RUN}/report/within.html",
        "proc": f"{RUN}/report/proc/environ.html",
        "a run": "quickstart/elsewhere/report/index.html",
        "a study": "other/r/report/index.html",
        "the newest": "quickstart/newest/report/index.html",
    }


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
