"""`study mcp`: runs of strangers, and names that an agent was talked into."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_json

from density_study.cluster.model.errors import StudyError
from density_study.dags.cli.agents.server import Tools
from tests.security.outputs.damages import HOSTILE, NUMBERS
from tests.support.made_runs.nightly_runs import nightly, run_id, whole

pytestmark = pytest.mark.usefixtures("watchdog")
NAMES = ("..", ".", "", "/", "/etc", "../..", "nightly/../..", "\0", "\x1b[2J", "-x", "x" * 5000,
         "\ud800", "report")  # fmt: skip


def every(tools: Tools) -> tuple[Callable[[str], Any], ...]:
    return tools.findings, tools.numbers, tools.trials, tools.regressions


@pytest.mark.parametrize("name", NAMES)
def test_a_name_leads_nowhere(name: str, tmp_path: Path) -> None:
    whole(tmp_path / "runs", nightly(1))
    whole(tmp_path / "nightly", nightly(2))
    for tool in every(Tools(tmp_path / "runs")):
        with pytest.raises(StudyError, match="no such run"):
            tool(name)


@pytest.mark.parametrize("how", HOSTILE)
def test_a_damaged_summary_is_an_error_or_numbers_of_json(how: str, tmp_path: Path) -> None:
    root = whole(tmp_path, nightly(1))
    HOSTILE[how](root / "report" / "summary.json")
    tools = Tools(tmp_path)
    for tool in every(tools)[:3]:
        try:
            answer = tool(run_id(1))
        except StudyError as error:
            assert how not in NUMBERS and error.remedy
            continue
        json.loads(to_json(answer), parse_constant=_refuse)
    (line,) = tools.list_runs().runs
    assert (line.main_answer is None) == (how not in NUMBERS)


def _refuse(constant: str) -> None:
    raise AssertionError(constant)


@pytest.mark.parametrize("how", [name for name in HOSTILE if name not in NUMBERS])
def test_a_damaged_comparison_is_an_error(how: str, tmp_path: Path) -> None:
    root = whole(tmp_path, nightly(1))
    (root / "report" / "comparison.json").touch()
    HOSTILE[how](root / "report" / "comparison.json")
    with pytest.raises(StudyError, match=r"cannot be read: \S") as caught:
        Tools(tmp_path).regressions(run_id(1))
    assert "compare the run again: study compare " in caught.value.remedy


@pytest.mark.parametrize("key", ["question", "headline"])
def test_a_summary_with_a_text_like_a_book_is_not_read(key: str, tmp_path: Path) -> None:
    """An agent, and the page of all runs, would get all of it."""
    whole(tmp_path, nightly(1).model_copy(update={key: "x" * 2**20}))
    with pytest.raises(StudyError, match="a text in it has more than"):
        Tools(tmp_path).findings(run_id(1))
    (line,) = Tools(tmp_path).list_runs().runs
    assert line.main_answer is None and line.why
