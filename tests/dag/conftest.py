"""Fixtures of tests that import Airflow into their own process."""

from __future__ import annotations

import pytest


@pytest.fixture
def airflow(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow writes to its home when it is imported. No proxy stands before loopback."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path_factory.getbasetemp() / "airflow"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
