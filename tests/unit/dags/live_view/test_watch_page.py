"""The page of `study watch --web`: what it serves, and to whom."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import pytest

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.watch.page import LOOPBACK, Page, state
from density_study.dags.run_status.progress import Ended, Progress
from density_study.jobs.first_look.look import FirstLook
from tests.support.drafts import plan

STEP = next(step for step in plan().trials)
SEEN = Progress(
    study="quickstart", run="r1", state="running", started_t=0.0, elapsed_s=60.0, remaining_s=180.0, total=9,
    ended=(Ended(STEP, "ok", "", 12.0),), current=STEP, live="measured · 900 ops/s", nodes="w1 40 %",
    looks={str(STEP.trial): FirstLook(str(STEP.trial), rate=900.0, rate_unit="ops/s", verdict="invalid",
                                      reasons=("the window is empty",))},
)  # fmt: skip


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page(0)
    with page.served():
        yield page


def get(page: Page, path: str, host: str | None = None) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection(LOOPBACK, page.port, timeout=10)
    connection.request("GET", path, headers={"Host": host or f"{LOOPBACK}:{page.port}"})
    answer = connection.getresponse()
    found = answer.status, answer.headers.get("Content-Type", ""), answer.read()
    connection.close()
    return found


def test_the_page_and_the_newest_state_are_served(page: Page) -> None:
    status, kind, body = get(page, "/")
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert b"state.json" in body and b"src=" not in body, "the page loads nothing else"
    for seen in (SEEN, Progress(**{**vars(SEEN), "live": "measured · 950 ops/s"})):
        page.show(seen)
        status, kind, body = get(page, "/state.json")
        assert (status, kind) == (200, "application/json")
        assert json.loads(body)["live"] == seen.live


def test_the_state_has_the_step_its_seconds_and_each_result_with_its_verdict() -> None:
    found = state(SEEN)
    assert found["run"] == "quickstart r1"
    assert STEP.label in found["headline"]
    assert (found["nodes"], found["done"]) == ("w1 40 %", 0.25)
    (ended,) = found["ended"]
    assert ended["outcome"] == "invalid"
    assert "900\N{NO-BREAK SPACE}ops/s" in ended["text"]
    assert ended["notes"] == ("the window is empty",)


def test_a_page_of_another_site_cannot_read_it(page: Page) -> None:
    page.show(SEEN)
    assert get(page, "/state.json", f"rebound.example:{page.port}")[0] == 403
    assert get(page, "/state.json", f"localhost:{page.port}")[0] == 200
    assert get(page, "/../../etc/passwd")[0] == 404


def test_a_port_in_use_is_refused_with_a_remedy(page: Page) -> None:
    with pytest.raises(InputError, match="another port"):
        Page(page.port)
