"""Fixtures: Airflow imported into a test's own process, and one Airflow with its UI for many tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from density_study.analysis.capacity.inputs.catalogue import EXAMPLE
from tests.dag.backend import most_standing, wait_until
from tests.dag.web import LATE_STUDY, Study, Web, started
from tests.support.receivers import Hook, serving

COMPLETED = "completed"
HOOK_PATH = "/T0-2718281828"
"""A secret: no log may have it."""


@pytest.fixture
def airflow(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow writes to its home when it is imported. No proxy stands before loopback."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path_factory.getbasetemp() / "airflow"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(scope="session")
def hook() -> Iterator[Hook]:
    """The receiver behind the connection `hook` of `one_airflow`."""
    with serving(Hook()) as server:
        yield server


@pytest.fixture(scope="session")
def one_airflow(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, hook: Hook
) -> Iterator[Web]:
    """For all tests, because its start takes 15 s. It has the studies in NAMES of the tests' modules."""
    users = {item.module for item in request.session.items if "one_airflow" in item.fixturenames}
    names = [COMPLETED, *(name for user in users for name in getattr(user, "NAMES", ()))]
    assert len(set(names)) == len(names), "each study belongs to one module"
    folder = tmp_path_factory.mktemp("airflow")
    environment = {
        "AIRFLOW_CONN_HOOK": hook.address + HOOK_PATH,
        "DENSITY_STUDY_CATALOGUE": str(EXAMPLE),
        "NO_PROXY": "127.0.0.1",
        LATE_STUDY: str(folder / "slow.yaml"),
    }
    with started(folder, *names, **environment) as web:
        wait_until(lambda: "late" in web.dags(), 120, "the DAG `late` is read")
        web.pause("capacity_plan", True)  # it would follow every run
        yield web


@pytest.fixture
def web(one_airflow: Web) -> Iterator[Web]:
    """`one_airflow`. Whatever the test does, two clusters never stand at once, and none after it."""
    yield one_airflow
    one_airflow.stop_what_runs()
    assert most_standing(one_airflow.runs) <= 1


@pytest.fixture(scope="session")
def completed(one_airflow: Web) -> tuple[Study, str]:
    """A study that was triggered and succeeded, and its DAG run."""
    study = Study(one_airflow, COMPLETED)
    return study, study.completes()
