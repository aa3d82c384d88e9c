"""Study files in a running Airflow: new, edited, and invalid ones."""

from __future__ import annotations

import pytest

from density_study.dags.airflow_home.home import REFRESH_EVERY_S
from tests.dag.backend import SMALL, wait_until
from tests.dag.web import Study, Web

pytestmark = [pytest.mark.dag, pytest.mark.slow]
NAMES = ("edited",)
# Twice, because the test's machine may be busy.
WITHIN_S = 2 * 60


def test_new_edited_and_invalid_studies_show_up_within_a_minute(web: Web) -> None:
    """Airflow of the tests reads the files more often than `make airflow` does."""
    assert REFRESH_EVERY_S < 60
    edited, broken = Study(web, "edited"), web.studies / "broken.yaml"
    assert len(edited.group("b1-v1-flash")) == 4
    before = web.dags()
    edited.file.write_text(edited.file.read_text().replace("[write, read]", "[write]"))
    broken.write_text("study: broken\nhosts: []\nfactor: {}\n")
    Study(web, "added")
    wait_until(lambda: web.import_errors(), WITHIN_S, "the error shows")
    (text,) = web.import_errors().values()
    assert f"{broken}:" in text
    assert "key factor: unknown key 'factor'" in text
    assert "did you mean factors?" in text
    wait_until(lambda: len(edited.group("b1-v1-flash")) == 3, WITHIN_S, "the edit shows")
    wait_until(lambda: "study_added" in web.dags(), WITHIN_S, "the new study is a DAG")
    assert web.dags() == {*before, "study_added"}, "the invalid file hides no other"
    broken.write_text(SMALL.replace("study: small", "study: broken"))
    run_id = edited.completes()
    assert len([task for task in edited.states(run_id) if "testdfsio" in task]) == 2
    wait_until(lambda: not web.import_errors(), WITHIN_S, "the error is gone")
