"""A store contains thousands of studies; only the requested one is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec
import pytest

from density_study.jobs.remote_analysis import run_place
from density_study.workloads.rows.raw.manifest_rows import manifests_of
from density_study.workloads.rows.raw.raw_files import raw_files_of
from density_study.workloads.tables import BRING_UP
from density_study.workloads.tables.storage import copy_missing, place
from density_study.workloads.tables.store import read_table, write_rows
from tests.support.records.factory import RUN, RunFactory

STUDIES = 3000
ROW = {"build": "b1", "topology": "t", "position": 0, "phase": "hdfs", "seconds": 1.5}
LOOKS = ("_open", "ls", "info", "rm", "mkdir", "makedirs", "created")


def test_no_other_study_is_listed_or_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    store = f"memory://{uuid4()}"
    there = fsspec.filesystem("memory")
    for number in range(STUDIES):
        name = (
            f"/{store.removeprefix('memory://')}/s{number}/r/tables/{BRING_UP.name}/part-0.parquet"
        )
        there.pipe_file(name, b"not Parquet at all")
    accessed: set[str] = set()
    for name in LOOKS:
        _watch(monkeypatch, type(there), name, accessed)
    mine = run_place(store + "/", Path("/runs/mine/20261121T000000Z"))
    assert mine == place(f"{store}/mine/20261121T000000Z")
    write_rows(mine, BRING_UP, [ROW])
    assert read_table(mine, BRING_UP)["seconds"].tolist() == [1.5]
    assert any(f"{mine}/tables".endswith(path) for path in accessed), "looks are seen"
    base = "/" + store.removeprefix("memory://")
    below = {path for path in accessed if path.startswith(base)}
    assert {path for path in below if not path.startswith(f"{base}/mine")} <= {base}


def _watch(monkeypatch: pytest.MonkeyPatch, cls: type, name: str, accessed: set[str]) -> None:
    real = getattr(cls, name)

    def watched(self: Any, path: str, *args: Any, **kwargs: Any) -> Any:
        accessed.add(str(self._strip_protocol(path)))
        return real(self, path, *args, **kwargs)

    monkeypatch.setattr(cls, name, watched)


def test_records_are_listed_once_however_many_files_they_have(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    factory = RunFactory(tmp_path / "study" / RUN)
    for threads in range(1, 6):
        factory.ycsb("b1-v1-flash", seconds=3, rate=40, threads=threads)
    root = factory.close()
    data = place(f"memory://{uuid4()}/run")
    copy_missing(root / "records", data / "records")
    manifests = manifests_of(root)
    calls: list[str] = []
    there = type(fsspec.filesystem("memory"))
    for name in ("ls", "info", "find", "glob"):
        _count(monkeypatch, there, name, calls)
    by_trial = raw_files_of(data, manifests)
    monkeypatch.undo()
    here = raw_files_of(root, manifests)
    for trial, files in here.items():
        described = [(f.kind, f.subject, f.file, f.bytes, f.fault) for f in by_trial[trial]]
        assert described == [(f.kind, f.subject, f.file, f.bytes, f.fault) for f in files]
        assert len(files) >= 6 and all(
            file.path.startswith("memory://") for file in by_trial[trial]
        )
    assert calls.count("find") == 1 and calls.count("glob") == 0
    folders = {path.parent for path in (root / "records").rglob("*")}
    assert len(calls) <= len(folders) + 5, calls  # `find` walks the folders of this filesystem


def _count(monkeypatch: pytest.MonkeyPatch, cls: type, name: str, calls: list[str]) -> None:
    real = getattr(cls, name)

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append(name)
        return real(self, *args, **kwargs)

    monkeypatch.setattr(cls, name, counted)
