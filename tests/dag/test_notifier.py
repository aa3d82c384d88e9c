"""The notifier of docs/how-to/schedule-with-alerts.md, verbatim: it posts the failure."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from typing import Any

import pytest

from dags.airflow_home.home import project_root

pytestmark = pytest.mark.dag
POSTED: list[dict[str, Any]] = []


class _Hook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        POSTED.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_the_documented_notifier_is_attached_to_regression_and_posts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = (project_root() / "docs" / "how-to" / "schedule-with-alerts.md").read_text(
        encoding="utf-8"
    )
    code = re.findall(r"```python\n(.*?)```", page, re.S)
    settings: dict[str, Any] = {}
    exec(compile(code[0], "airflow_local_settings.py", "exec"), settings)
    server = HTTPServer(("127.0.0.1", 0), _Hook)
    threading.Thread(target=server.handle_request, daemon=True).start()
    monkeypatch.setenv("DENSITY_STUDY_HOOK", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    other = SimpleNamespace(task_id="conclude", on_failure_callback=[])
    task: Any = SimpleNamespace(task_id="regression", on_failure_callback=[])
    settings["task_policy"](other)
    settings["task_policy"](task)
    assert other.on_failure_callback == []
    dag = SimpleNamespace(dag_id="study_nightly")
    task.on_failure_callback[0].notify({"dag": dag, "run_id": "r1", "exception": "Slower: 1 of 6"})
    server.server_close()
    assert POSTED == [{"dag": "study_nightly", "run": "r1", "why": "Slower: 1 of 6"}]
