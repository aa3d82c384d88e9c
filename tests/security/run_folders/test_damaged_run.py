"""A damaged folder is named with file and line, and stops no command on the other runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state import journal as journals
from density_study.cluster.state import own_runs
from density_study.cluster.state.events import Event
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.cluster.state.tags import TAG
from density_study.workloads.execution.run_facts import facts_of_runs
from tests.security.run_folders.crafted import build, craft, study
from tests.support.hostile.files import HOSTILE

WHOLE = '{"format": 1, "t": 1.0, "event": "x"}\n'
BAD_LINES = {
    "number": "1",
    "list": "[]",
    "text": '"x"',
    "null": "null",
    "no event": '{"format": 1}',
    "event is an object": '{"format": 1, "event": {"a": 1}}',
    "wrong type": '{"format": 1, "t": 1.0, "event": "run-opened", "study": 1}',
    "no number": '{"format": 1, "t": NaN, "event": "x"}',
    "beyond the calendar": '{"format": 1, "t": 1e300, "event": "x"}',
    "digits": '{"format": 1, "t": ' + "9" * 5000 + ', "event": "x"}',
    "nested": "[" * 100_000,
    "nested object": '{"format": 1, "event": ' + "[" * 100_000,
    "garbage": "\x00\x01garbage",
    "rubbish in a line": '{"format": 1, "event": RUBBISH, "t": 1.0, "more": "text"}',
    "no utf-8": '{"format": 1, "event": "\udcff"}',
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / JOURNAL
    path.write_bytes((WHOLE + BAD_LINES[name] + "\n" + WHOLE).encode(errors="surrogateescape"))
    with pytest.raises(StudyError) as caught:
        Journal(path).events(Event)
    assert caught.value.where == f"{path}:2" and caught.value.remedy


def test_a_line_that_a_crash_tore_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    for length in range(1, len(WHOLE) - 1):
        path.write_text(WHOLE + WHOLE[:length])
        assert len(Journal(path).events(Event)) == 1, length
        Journal(path).write("after")
        assert len(Journal(path).events(Event)) == 2, length


def test_long_lines_and_large_journals_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / JOURNAL
    path.write_text(WHOLE + "x" * (journals.MAX_LINE_BYTES + 1) + "\n")
    with pytest.raises(StudyError, match="the line has more than") as caught:
        list(Journal(path).read())
    assert caught.value.where == f"{path}:2"
    monkeypatch.setattr(journals, "MAX_BYTES", 10)
    with pytest.raises(StudyError, match="larger than 10 bytes"):
        list(Journal(path).read())


def no_journal(root: Path, make: Callable[[Path], object]) -> None:
    root.mkdir(parents=True, mode=0o755)
    own_runs.register(root)
    make(root / JOURNAL)


UNREADABLE: dict[str, Callable[[Path], object]] = {
    **{name: HOSTILE[name] for name in ("pipe", "device", "folder", "link", "deep")},
    "lines": lambda path: path.write_text("1\n[]\n"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.timeout(60)
def test_the_others_are_listed_and_reaped(runs: Path, kind: str) -> None:
    no_journal(runs / "a" / "r1", UNREADABLE[kind])
    root = craft(runs / "b" / "r1", build("b/r1", "local"))
    own_runs.register(root)
    environment = {**os.environ, TAG: "b/r1/b1"}
    left = subprocess.Popen(["sleep", "600"], env=environment)
    try:
        states = {facts.study: facts.state for facts in facts_of_runs(runs)}
        if kind != "folder":  # `study list` shows folders with a file of that name
            assert states["a"] == "unreadable"
        assert states["b"] != ""
        assert study("list", "--runs", runs).exit_code == 0
        result = study("reap", "--runs", runs, "--json")
        found = json.loads(result.stdout)
        assert [one["tag"] for one in found["reaped"]] == ["b/r1"]
        assert left.wait(10) == -15
        told = [*found["failed"], *found["left_alone"]]
        assert [one["tag"] for one in told] == ["a/r1"] and JOURNAL in told[0]["why"]
        assert result.exit_code == (1 if found["failed"] else 0)
    finally:
        left.kill()
        left.wait()


def test_whatever_a_run_provokes_stops_no_other(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from density_study.cluster.lifecycle import reap as reaping

    for name in ("a/r1", "b/r1"):
        own_runs.register(craft(runs / name, build(name, "local")))
    real = reaping.run_state

    def fails(root: Path, lock_free: bool | None) -> object:
        if root.parent.name == "a":
            raise ZeroDivisionError("surprise")
        return real(root, lock_free)

    monkeypatch.setattr(reaping, "run_state", fails)
    swept = reaping.reap(runs)
    assert [str(one) for one in swept.failed] == ["a/r1: failed; ZeroDivisionError: surprise"]
    assert swept.left_alone == ()


def test_a_short_write_leaves_no_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / JOURNAL)
    journal.write("first")
    whole = journal.path.read_bytes()
    real, room = os.write, [10]

    def write(descriptor: int, data: bytes) -> int:
        if not room:
            raise OSError(28, "No space left on device")
        return real(descriptor, data[: room.pop()])

    monkeypatch.setattr(journals.os, "write", write)
    with pytest.raises(OSError, match="No space left"):
        journal.write("second")
    assert journal.path.read_bytes() == whole
    room[:] = [5] * 50
    journal.write("third")
    assert [entry["event"] for entry in journal.read()] == ["first", "third"]


@pytest.mark.skipif(os.geteuid() != 0, reason="mount needs root")
def test_a_full_disk_loses_no_line() -> None:
    """On a tmpfs of 64 KiB, in a mount namespace of its own: what is written without an error can be read."""
    code = """
import sys
from pathlib import Path
from density_study.cluster.state.journal import Journal
journal, written = Journal(Path("/mnt/journal.jsonl")), 0
try:
    while True:
        journal.intend("make-dir", "s/r/b", path="x" * 1003)
        written += 1
except OSError as error:
    assert (error.errno, error.filename) == (28, str(journal.path)), error
print(written, len(journal.intents()))
"""
    mount = 'mount -t tmpfs -o size=64k none /mnt && exec "$@"'
    argv = ["unshare", "--mount", "sh", "-c", mount, "sh", sys.executable, "-c", code]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    written, read = map(int, done.stdout.split())
    assert written == read > 20, done.stderr
