"""The page of `study watch --web`: served only on this machine, from the newest progress. It only shows."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.progress_display import ended_parts, headline
from density_study.workloads.base.quantity import duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from density_study.dags.run_status.progress import Progress

LOOPBACK = "127.0.0.1"
STOPS_WITHIN_S = 0.05
_PAGE = Path(__file__).with_name("page.html")


class Page:
    """Call `show` with the newest progress; readers of `url` see it within a second."""

    def __init__(self, port: int, with_metrics: bool = False) -> None:
        self.with_metrics = with_metrics
        _Handler.metrics = None
        try:
            self.server = ThreadingHTTPServer((LOOPBACK, port), _Handler)
        except OSError as error:
            raise InputError(
                f"the page cannot be served: {error.strerror}.",
                f"--web {port}",
                "name another port, or 0 for a free one.",
            ) from error
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        _Handler.hosts = frozenset(f"{name}:{self.port}" for name in (LOOPBACK, "localhost"))

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}/"

    def show(self, seen: Progress) -> None:
        _Handler.state = json.dumps(state(seen)).encode()
        if self.with_metrics:
            from density_study.dags.telemetry.openmetrics import CONTENT_TYPE, openmetrics

            _Handler.metrics = (CONTENT_TYPE, openmetrics(seen))

    @contextmanager
    def served(self) -> Iterator[None]:
        thread = Thread(target=self.server.serve_forever, args=(STOPS_WITHIN_S,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.server.shutdown()
            self.server.server_close()
            thread.join()


def state(seen: Progress) -> dict[str, Any]:
    """What the page shows, as JSON values."""
    whole_s = seen.elapsed_s + seen.remaining_s
    over = seen.state == "ended"
    left = "" if over else f" · about {duration(seen.remaining_s)} left"
    return {
        "run": f"{seen.study} {seen.run}",
        "headline": f"the run has ended: {seen.outcome}" if over else headline(seen),
        "live": seen.live or ("" if over else seen.doing),
        "nodes": seen.nodes,
        "done": seen.elapsed_s / whole_s if whole_s else 0.0,
        "time": f"elapsed {duration(seen.elapsed_s)}{left}",
        "over": over,
        "ended": [
            {"outcome": outcome, "text": text, "notes": notes}
            for outcome, text, notes in (ended_parts(ended, seen) for ended in seen.ended)
        ],
    }


class _Handler(BaseHTTPRequestHandler):
    timeout = 10.0  # seconds; who connects and is silent keeps no thread
    state = b"{}"
    metrics: tuple[str, bytes] | None = None
    hosts: frozenset[str] = frozenset()

    def do_GET(self) -> None:
        if (
            self.headers.get("Host") not in self.hosts
        ):  # a page of another site that names this machine
            self.send_error(HTTPStatus.FORBIDDEN)
        elif self.path == "/":
            self._answer("text/html; charset=utf-8", _PAGE.read_bytes())
        elif self.path == "/state.json":
            self._answer("application/json", self.state)
        elif self.path == "/metrics" and self.metrics is not None:
            self._answer(*self.metrics)
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged: the terminal shows the run."""
