"""Airflow's public REST API, as far as starting and stopping Airflow needs it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import requests

_UNFINISHED = ("queued", "running")
_TIMEOUT_S = 60.0
_LOOK_EVERY_S = 0.5


def health(url: str) -> dict[str, Any]:
    """State of Airflow's components, by name; empty if the server at `url` does not answer."""
    try:
        value: dict[str, Any] = requests.get(f"{url}/api/v2/monitor/health", timeout=5).json()
    except (requests.RequestException, ValueError):
        return {}
    return value


class Session:
    """Signed in at `url`. requests.RequestException if the server refuses or does not answer."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self._url = f"{url}/api/v2"
        self._session = requests.Session()
        login = {"username": user, "password": password}
        answer = requests.post(f"{url}/auth/token", json=login, timeout=_TIMEOUT_S)
        answer.raise_for_status()
        self._session.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"

    def stop_dag_runs(self, before: datetime, within_s: float) -> Iterator[str]:
        """Mark failed every DAG run that was queued `before` and has not finished, and wait until the
        tear-down tasks of those that had begun have ended. Yields the name of each."""
        for dag, run in self._unfinished(before):
            self._ask("PATCH", f"/dags/{dag}/dagRuns/{run}", state="failed")
            yield f"{dag} {run}"
        until = time.monotonic() + within_s
        while self._unfinished(before) and time.monotonic() < until:
            time.sleep(_LOOK_EVERY_S)

    def _unfinished(self, before: datetime) -> list[tuple[str, str]]:
        """(DAG, id) of each DAG run that began before and has not ended."""
        query = "&".join(f"state={state}" for state in _UNFINISHED)
        found = self._ask("GET", f"/dags/~/dagRuns?{query}&limit=100")
        return [
            (run["dag_id"], run["dag_run_id"])
            for run in found["dag_runs"]
            if datetime.fromisoformat(run["queued_at"] or run["run_after"]) < before
        ]

    def _ask(self, method: str, path: str, **body: object) -> Any:
        answer = self._session.request(
            method, self._url + path, json=body or None, timeout=_TIMEOUT_S
        )
        answer.raise_for_status()
        return answer.json()
