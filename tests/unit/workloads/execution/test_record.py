"""A record is closed once and completely; remains of a crash are never mixed in."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.workloads.record.record import (
    Record,
    close_unfinished,
    closed_records,
    earlier_attempts,
    read_manifest,
)
from tests.support.drafts import draft


def test_a_closed_record_has_a_hash_of_every_file(tmp_path: Path) -> None:
    record = Record.open(tmp_path / "records", draft("t1"))
    (record.raw / "out").write_text("42\n")
    closed = record.close(draft("t1").model_copy(update={"state": "complete"}))
    assert closed == tmp_path / "records" / "t1"
    assert read_manifest(closed).files == {"raw/out": hashlib.sha256(b"42\n").hexdigest()}


def test_an_open_record_does_not_count(tmp_path: Path) -> None:
    Record.open(tmp_path / "records", draft("t1"))
    assert closed_records(tmp_path / "records") == {}


def test_each_attempt_keeps_a_record_of_its_own_and_the_newest_counts(tmp_path: Path) -> None:
    records = tmp_path / "records"
    for state in ("complete", "failed", "complete"):
        record = Record.open(records, draft("t1"))
        (record.raw / "out").write_text(state)
        record.close(draft("t1").model_copy(update={"state": state}))
    assert list(closed_records(records)) == ["t1"]
    attempts = earlier_attempts(records)
    assert {trial: [m.state for m in found] for trial, found in attempts.items()} == {
        "t1": ["complete", "failed"]
    }
    first = tmp_path / "records.superseded" / "t1.1"
    assert read_manifest(first).files == {"raw/out": hashlib.sha256(b"complete").hexdigest()}
    assert (first / "raw" / "out").read_text() == "complete"


def test_attempts_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    records = tmp_path / "records"
    for number in range(11):
        reasons = (f"attempt {number + 1}",)
        Record.open(records, draft("t1")).close(draft("t1").model_copy(update={"reasons": reasons}))
    attempts = earlier_attempts(records)["t1"]
    assert [manifest.reasons[0] for manifest in attempts] == [f"attempt {n}" for n in range(1, 11)]
    shutil.rmtree(tmp_path / "records.superseded" / "t1.3")  # somebody needs its space
    Record.open(records, draft("t1"))
    assert earlier_attempts(records)["t1"][-1].reasons == ("attempt 11",)


def test_an_interrupted_trial_is_closed_as_incomplete_and_superseded(tmp_path: Path) -> None:
    records = tmp_path / "records"
    (Record.open(records, draft("t1")).raw / "half").write_text("half")
    assert close_unfinished(records, "interrupted by a signal") == ["t1"]
    manifest = closed_records(records)["t1"]
    assert manifest.state == "incomplete"
    assert manifest.reasons == ("interrupted by a signal",)
    again = Record.open(records, draft("t1"))
    assert not (again.raw / "half").exists()
    assert (tmp_path / "records.superseded" / "t1.1" / "raw" / "half").read_text() == "half"


def test_a_crash_between_manifest_and_rename_loses_nothing(tmp_path: Path) -> None:
    records = tmp_path / "records"
    closed = Record.open(records, draft("t1")).close(
        draft("t1").model_copy(update={"state": "complete"})
    )
    closed.rename(records / "t1.open")
    assert close_unfinished(records, "crash") == []
    assert closed_records(records)["t1"].state == "complete"


def test_a_record_of_another_format_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    records = tmp_path / "records"
    closed = Record.open(records, draft("t1")).close(draft("t1"))
    value = json.loads((closed / "manifest.json").read_text())
    (closed / "manifest.json").write_text(json.dumps({**value, "format": 2}))
    with pytest.raises(StudyError, match="format 2") as caught:
        closed_records(records)
    assert "manifest.json" in caught.value.where
