"""A run as a live view sees it, and a request to its page."""

from __future__ import annotations

import http.client

from density_study.dags.cli.watch.page import LOOPBACK, Page
from density_study.dags.run_status.progress import Ended, Progress
from density_study.jobs.first_look.look import FirstLook
from tests.support.drafts import plan

STEP = next(step for step in plan().trials)
SEEN = Progress(
    study="quickstart", run="r1", state="running", elapsed_s=60.0, remaining_s=180.0, total=9,
    ended=(Ended(STEP, "ok", "", 12.0),), current=STEP, live="measured · 900 ops/s", nodes="w1 40 %",
    looks={str(STEP.trial): FirstLook(str(STEP.trial), rate=900.0, rate_unit="ops/s", verdict="invalid",
                                      reasons=("the window is empty",))},
)  # fmt: skip


def get(page: Page, path: str, host: str | None = None) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection(LOOPBACK, page.port, timeout=10)
    connection.request("GET", path, headers={"Host": host or f"{LOOPBACK}:{page.port}"})
    answer = connection.getresponse()
    found = answer.status, answer.headers.get("Content-Type", ""), answer.read()
    connection.close()
    return found
