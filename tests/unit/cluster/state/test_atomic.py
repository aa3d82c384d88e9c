"""A reader sees the old file or the new one; a failure leaves no partial file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from density_study.cluster.state.atomic import replacing, write_text
from density_study.cluster.state.journal import Journal


def test_a_file_appears_only_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "below" / "file"
    with replacing(path) as aside:
        aside.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert list(path.parent.iterdir()) == [path]


def test_a_failure_leaves_only_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(OSError, match="disk full"), replacing(path) as aside:
        aside.write_text("half")
        raise OSError("disk full")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_text_replaces_the_old_file_and_gets_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text in ("old", "new"):
        write_text(path, text, mode=0o600)
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_text_write_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "file", "\ud800")
    assert list(tmp_path.iterdir()) == []


def synced(descriptor: int) -> Path:
    return Path(f"/proc/self/fd/{descriptor}").readlink()


def test_a_text_is_on_the_disk_before_it_has_its_name_and_then_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seen = tmp_path / "file", list[tuple[bool, bool]]()
    monkeypatch.setattr(
        os, "fsync", lambda fd: seen.append((synced(fd) == tmp_path, path.exists()))
    )
    write_text(path, "new")
    assert seen == [(False, False), (True, True)]


def test_a_line_of_the_journal_is_on_the_disk_before_its_act(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, seen = Journal(tmp_path / "journal.jsonl"), list[str]()
    journal.write("first")
    monkeypatch.setattr(os, "fsync", lambda fd: seen.append(synced(fd).read_text()))
    journal.write("second")
    assert len(seen) == 1 and '"second"' in seen[0].splitlines()[-1]
