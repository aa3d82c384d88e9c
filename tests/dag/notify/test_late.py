"""A run that takes too long is reported by Airflow's scheduler: LocalExecutor on SQLite, a real web hook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from density_study.workloads.study.study_file import parse_study
from tests.dag.backend import SMALL, wait_until
from tests.dag.web import LATE_STUDY, Web
from tests.support.receivers import Hook

pytestmark = [pytest.mark.dag, pytest.mark.usefixtures("airflow")]


@pytest.mark.slow
def test_a_late_run_is_told_once_while_it_runs(web: Web, hook: Hook) -> None:
    spec = Path(web.environment[LATE_STUDY])
    spec.write_text(SMALL + "notify: [{webhook: hook, events: [late]}]\n")
    run_id = web.trigger("late")

    def told() -> list[dict[str, Any]]:
        return [body for body in hook.bodies if body["event"] == "late"]

    wait_until(told, 120, "the web hook is called")
    assert web.state("late", run_id) in ("queued", "running")
    spec.with_suffix(".told").touch()
    assert web.wait_over("late", run_id) == "success"
    (body,) = told()
    secret = hook.paths[0].rpartition("-")[2]
    assert (body["event"], body["study"], body["run"]) == ("late", "small", run_id)
    assert "2 times its estimate of 1 s" in body["headline"]
    assert body["report"] == f"http://127.0.0.1:{web.port}/dags/late/runs/{quote(run_id)}"
    logs = [path for path in (web.folder / "airflow" / "logs").rglob("*") if path.is_file()]
    assert logs and all(secret not in path.read_text(errors="replace") for path in logs)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    from density_study.dags.notify import tell

    messages: list[Any] = []
    monkeypatch.setattr(tell, "send", lambda message, *_: messages.append(message))
    return messages


@pytest.mark.parametrize(
    ("state", "count"), (("running", 1), ("queued", 1), ("failed", 0), ("success", 0))
)
def test_a_run_that_is_over_is_not_late(
    tmp_path: Path, told: list[Any], state: str, count: int
) -> None:
    from density_study.dags.notify.late import late

    spec = tmp_path / "slow.yaml"
    spec.write_text(SMALL)
    late(str(spec), 60.0, {"dag_run": {"state": state, "dag_id": "d", "dag_run_id": "r"}})
    assert len(told) == count


def test_the_deadline_is_twice_the_estimate() -> None:
    from density_study.dags.notify.late import deadline

    alert = deadline("s.yaml", 90.0)
    assert alert.interval.total_seconds() == 180.0
    assert json.dumps(alert.callback.kwargs) == '{"spec": "s.yaml", "estimate_s": 90.0}'


def test_only_a_receiver_of_the_event_asks_for_a_deadline() -> None:
    def reports(notify: str) -> bool:
        return parse_study(f"{SMALL}{notify}\n", "s").study.reports_late_runs

    assert reports("notify: [{webhook: hook}]")
    assert reports("notify: [{webhook: a, events: [failure]}, {webhook: b, events: [late]}]")
    assert not reports("notify: [{webhook: hook, events: [failure]}]") and not reports("")
