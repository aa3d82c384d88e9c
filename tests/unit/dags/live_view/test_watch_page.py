"""The page of `study watch --web`: what it serves, and to whom."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.watch.page import Page, state
from density_study.dags.run_status.progress import Progress
from tests.unit.dags.live_view.seen import SEEN, STEP, get


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page(0)
    with page.served():
        yield page


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
