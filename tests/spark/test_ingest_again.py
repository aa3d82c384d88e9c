"""Repeated ingest: known records are skipped, changed ones are read, and crashes leave no trace."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from density_study.cluster.model.errors import StudyError
from density_study.jobs import pipeline
from density_study.jobs.ingest import ingest, ingest_state, parse_task
from density_study.workloads.rows import file_tables
from density_study.workloads.rows.raw.raw_files import RawFile
from density_study.workloads.tables import TABLES
from density_study.workloads.tables.store import read_table
from tests.support.records.factory import RUN, RunFactory

pytestmark = pytest.mark.spark


def no_session() -> Any:
    raise AssertionError("so little is parsed without a session")


def again(root: Path) -> None:
    ingest.ingest(no_session, root)


def tables(root: Path) -> dict[str, pd.DataFrame]:
    existing = [name for name in TABLES if (root / "tables" / name).exists()]
    return {name: read_table(root, TABLES[name]) for name in existing}


def same(first: dict[str, pd.DataFrame], second: dict[str, pd.DataFrame]) -> None:
    assert first.keys() == second.keys()
    for name, table in first.items():
        pd.testing.assert_frame_equal(table, second[name], check_exact=True, obj=name)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    factory = RunFactory(tmp_path / "runs" / RUN)
    for threads in (1, 2, 3):
        factory.ycsb("b1-v1-flash", seconds=3, rate=40, threads=threads)
    factory.dfsio("b1-v2-flash", "write")
    return factory.close()


@pytest.fixture
def read_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Trials of the read files, in order."""
    trials: list[str] = []

    def spy(files: Sequence[RawFile]) -> Iterator[Any]:
        trials.extend(file.trial for file in files)
        return file_tables.tables_of(files)

    monkeypatch.setattr(parse_task, "tables_of", spy)
    return trials


def test_a_known_record_is_not_read_again(root: Path, read_files: list[str]) -> None:
    records = sorted(path.name for path in (root / "records").iterdir())
    late = root / "late"
    (root / "records" / records[0]).rename(late)
    again(root)
    assert set(read_files) == set(records[1:])
    read_files.clear()
    again(root)
    assert read_files == []
    late.rename(root / "records" / records[0])
    again(root)
    assert set(read_files) == {records[0]}
    by_steps = tables(root)
    shutil.rmtree(root / "tables")
    again(root)
    same(by_steps, tables(root))


def test_rows_of_a_vanished_or_changed_record_are_removed(
    root: Path, read_files: list[str]
) -> None:
    again(root)
    records = sorted(path.name for path in (root / "records").iterdir())
    shutil.rmtree(root / "records" / records[0])
    samples = root / "records" / records[1] / "monitor" / "here.dool.csv"
    samples.write_text("".join(samples.read_text().splitlines(keepends=True)[:-3]))
    read_files.clear()
    again(root)
    assert set(read_files) == {records[1]}
    by_steps = tables(root)
    assert records[0] not in set(by_steps["host_samples"]["trial"])
    shutil.rmtree(root / "tables")
    again(root)
    same(by_steps, tables(root))


@pytest.mark.parametrize("damage", ("cut", "lost file", "lost table", "extra file"))
def test_a_damaged_table_is_rebuilt(root: Path, damage: str) -> None:
    again(root)
    before = tables(root)
    table = root / "tables" / "host_samples"
    part = next(table.glob("*.parquet"))
    if damage == "cut":
        part.write_bytes(part.read_bytes()[:200])
    elif damage == "extra file":
        shutil.copy(part, table / "part-left-by-somebody.parquet")
    else:
        shutil.rmtree(table) if damage == "lost table" else part.unlink()
    again(root)
    same(before, tables(root))


@pytest.mark.parametrize("at", (1, 4, 9))
def test_after_a_kill_at_any_table_the_next_ingest_is_right(
    root: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two tables, some contain a record that vanished and came back, others do not."""
    again(root)
    before = tables(root)
    record = sorted((root / "records").iterdir())[0]
    aside = record.rename(root / record.name)
    replaced = 0

    def dies(*arguments: Any) -> None:
        nonlocal replaced
        replaced += 1
        if replaced == at:
            raise KeyboardInterrupt
        original(*arguments)

    original = ingest.replace
    monkeypatch.setattr(ingest, "replace", dies)
    with pytest.raises(KeyboardInterrupt):
        again(root)
    monkeypatch.setattr(ingest, "replace", original)
    aside.rename(record)
    again(root)
    same(before, tables(root))
    assert {path.name for path in (root / "tables").iterdir()} == {*before, "ingested.json"}


def test_a_full_disk_is_named_and_loses_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(parse_task._Part, "flush", full)
        with pytest.raises(StudyError, match="is full") as caught:
            pipeline.run_stage("ingest", root)
        assert caught.value.where == str(root)
    again(root)
    first = tables(root)
    shutil.rmtree(root / "tables")
    again(root)
    same(first, tables(root))


def test_tables_of_a_later_version_are_an_error_with_a_remedy(root: Path) -> None:
    again(root)
    path = root / "tables" / "ingested.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 9}))
    with pytest.raises(StudyError, match=r"format 9.*remove the folder of tables"):
        again(root)


def test_other_readers_read_everything_again(
    root: Path, read_files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    again(root)
    read_files.clear()
    monkeypatch.setattr(ingest_state, "READERS_VERSION", 0)
    again(root)
    assert len(set(read_files)) == 4
