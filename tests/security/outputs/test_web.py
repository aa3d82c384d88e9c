"""What the web UI says of runs follows from a path alone, and files that are elsewhere too are not served."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from density_study.dags.web.results import dag_of, served

RUN = "nightly/20261120T201530Z"


@pytest.mark.parametrize(
    ("path", "dag"),
    [
        (f"{RUN}/report/index.html", "study_nightly"),
        ("nightly/none/report/index.html", "study_nightly"),
        ("nightly/x", "study_nightly"),
        ("other/../nightly/x", "study_other"),
        ("", None),
        ("index.html", None),
        ("secret.html", None),
        ("../nightly/x", None),
        ("/nightly/x", None),
        (".hidden/x", None),
    ],
)
def test_rights_follow_from_the_path_and_not_from_a_journal(path: str, dag: str | None) -> None:
    assert dag_of(path) == dag


def test_hard_links_are_not_served(tmp_path: Path) -> None:
    runs, secret = tmp_path / "runs", tmp_path / "secret.html"
    report = runs / RUN / "report"
    report.mkdir(parents=True)
    secret.write_text("secret")
    (report / "index.html").write_text("a report")
    (runs / "index.html").write_text("the hub")
    os.link(secret, report / "hard.html")
    assert served(runs, f"{RUN}/report/index.html") is not None
    assert served(runs, f"{RUN}/report/hard.html") is None
    (runs / "index.html").unlink()
    os.link(secret, runs / "index.html")
    assert served(runs, "") is None
