"""The newest run is the one that was opened last, whatever the clock shows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from density_study.cluster.state import run_id
from density_study.cluster.state.journal import run_folders
from density_study.cluster.state.run_id import next_run_id

NOW = datetime(2026, 11, 25, 12, 0, 0, tzinfo=UTC)


class Clock(datetime):
    at = NOW

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        return cls.at


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_id, "datetime", Clock)
    monkeypatch.setattr(Clock, "at", NOW)


def opened(runs: Path, study: str, name: str) -> Path:
    root = runs / study / name
    root.mkdir(parents=True)
    (root / "journal.jsonl").touch()
    return root


def test_what_a_failed_opening_left_is_not_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "s" / "20261125T120000Z").mkdir(parents=True)
    assert next_run_id(tmp_path) == "20261125T120001Z"


@pytest.mark.parametrize("step_s", [0, 1, -1, -3600, 3600, -86_400 * 400, 86_400 * 400])
def test_a_run_after_a_clock_was_set_is_the_newest(step_s: int, tmp_path: Path) -> None:
    made = []
    for number in range(4):
        made.append(opened(tmp_path, f"s{number % 2}", next_run_id(tmp_path)))
        Clock.at += timedelta(seconds=step_s)
    assert run_folders(tmp_path) == made


def test_the_id_is_the_time_where_the_clock_is_right(tmp_path: Path) -> None:
    assert next_run_id(tmp_path) == "20261125T120000Z"
    opened(tmp_path, "s", "20261125T115959Z")
    assert next_run_id(tmp_path) == "20261125T120000Z"


def test_a_clock_that_is_behind_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened(tmp_path, "s", "20270101T000000Z")
    assert next_run_id(tmp_path) == "20270101T000001Z"
    assert "check the clock" in caplog.text


@pytest.mark.parametrize("name", ["99991231T235959Z", "r1", "99999999T999999Z", "2026", "Z" * 200])
def test_a_name_that_is_no_time_does_not_count(name: str, tmp_path: Path) -> None:
    opened(tmp_path, "s", name)
    assert next_run_id(tmp_path) == "20261125T120000Z"
