"""The journal survives a crash in the middle of a line and concurrent writers."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state import journal as journal_module
from density_study.cluster.state.events import Event, RunEnded, RunOpened, StepStarted, TrialState
from density_study.cluster.state.journal import Journal


def test_events_are_read_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "deep" / "journal.jsonl")
    assert list(journal.read()) == []
    journal.write("intent", act="start", name="namenode")
    journal.write("process-started", pid=7)
    assert [e["event"] for e in journal.read()] == ["intent", "process-started"]
    assert next(journal.read())["name"] == "namenode"


def test_a_torn_last_line_is_skipped_and_the_next_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.write("first")
    with path.open("ab") as stream:
        stream.write(b'{"format": 1, "t": 1.0, "ev')
    assert [e["event"] for e in journal.read()] == ["first"]
    journal.write("second")
    assert [e["event"] for e in journal.read()] == ["first", "second"]


def test_writers_do_not_mix_their_lines(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: journal.write("e", number=n, pad="x" * 5000), range(200)))
    assert sorted(e["number"] for e in journal.read()) == list(range(200))


def test_another_format_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(json.dumps({"format": 99, "t": 0, "event": "x"}) + "\n")
    with pytest.raises(StudyError, match="format 99") as caught:
        list(Journal(path).read())
    assert caught.value.where == f"{path}:1"


def test_events_are_read_back_as_recorded(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.record(StepStarted(index=0, kind="up", build="b1", label="up b1", trial=None))
    journal.record(TrialState(trial="t1", state="running"))
    (started,) = journal.events(StepStarted)
    assert (started.index, started.build, started.trial) == (0, "b1", None)
    assert started.t > 0
    step, trial = journal.read()
    assert set(step) == {"format", "t", "event", "index", "kind", "build", "label", "trial"}
    assert set(trial) == {"format", "t", "event", "trial", "state"}  # no outcome yet: no key


def test_intents_are_found_by_act_and_build(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.intend("make-dir", "s/r/b1", path="/d/1")
    journal.intend("make-dir", "s/r/b2", path="/d/2")
    journal.intend("start", "s/r/b1", argv=["java"], node="w1")
    assert [intent.path for intent in journal.intents("make-dir")] == ["/d/1", "/d/2"]
    assert [intent.path for intent in journal.intents("make-dir", "s/r/b1")] == ["/d/1"]
    assert [intent.act for intent in journal.intents(tag="s/r/b1")] == ["make-dir", "start"]


def test_an_opening_starts_a_new_epoch(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    assert (journal.last(RunOpened), journal.since_opening(RunEnded)) == (None, [])
    for message in ("first", "second"):
        journal.record(RunOpened(study="s", run="r", tag="s/r"))
        journal.write("process-started", pid=7)
        journal.record(RunEnded(outcome="ok", message=message))
    assert [end.message for end in journal.events(RunEnded)] == ["first", "second"]
    assert [end.message for end in journal.since_opening(RunEnded)] == ["second"]
    assert [type(event) for event in journal.since_opening(Event)] == [RunOpened, Event, RunEnded]


def test_only_what_is_new_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    parsed: list[object] = []
    real = journal_module.event_of

    def counting(entry: dict[str, Any]) -> Any:
        parsed.append(entry)
        return real(entry)

    monkeypatch.setattr(journal_module, "event_of", counting)
    for number in range(3):
        journal.intend("start", f"s/r/{number}")
        assert len(journal.intents()) == number + 1
    assert len(parsed) == 3
    assert [one.tag for one in Journal(journal.path).intents()] == ["s/r/0", "s/r/1", "s/r/2"]


def test_a_line_is_read_again_until_it_ends(tmp_path: Path) -> None:
    whole = Journal(tmp_path / "whole.jsonl")
    whole.intend("start", "s/r/0")
    line = whole.path.read_bytes()
    journal = Journal(tmp_path / "journal.jsonl")
    journal.path.write_bytes(line + line[:40])
    assert len(journal.intents()) == 1
    with journal.path.open("ab") as file:
        file.write(line[40:])
    assert len(journal.intents()) == 2


@pytest.mark.parametrize("longer", [False, True])
def test_a_file_that_was_rewritten_is_read_anew(longer: bool, tmp_path: Path) -> None:
    """A backup that was put back, for example."""
    journal = Journal(tmp_path / "journal.jsonl")
    for tag in ("s/r/0", "s/r/1"):
        journal.intend("start", tag)
    assert len(journal.intents()) == 2
    other = Journal(tmp_path / "other.jsonl")
    for number in range(5 if longer else 1):
        other.intend("start", f"s/other/{number}")
    journal.path.write_bytes(other.path.read_bytes())
    assert {one.tag.split("/")[1] for one in journal.intents()} == {"other"}
    journal.path.unlink()
    assert journal.intents() == []
