"""A third-party records folder: refused or quarantined; no file outside it is read or written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from density_study.cluster.model.errors import StudyError
from density_study.jobs import pipeline
from density_study.jobs.ingest import ingest
from density_study.jobs.run_folder import require_inside
from density_study.workloads.rows.raw.raw_files import RawFile, UnreadableError, content
from density_study.workloads.tables import QUARANTINE, TABLES
from density_study.workloads.tables.store import read_table
from tests.support.records.factory import RUN, RunFactory
from tests.support.truth import Truth

pytestmark = pytest.mark.spark
SECRET = "[READ], Return=OK, 12345\n"


def create_run(tmp_path: Path) -> tuple[Path, Truth]:
    factory = RunFactory(tmp_path / "runs" / RUN)
    truth = factory.ycsb("b1-v1-flash", seconds=3, rate=40)
    root = factory.close()
    (tmp_path / "secret.out").write_text(SECRET)
    return root, truth


def ingested(root: Path) -> pd.DataFrame:
    require_inside(root)
    ingest.ingest(lambda: pytest.fail("no session is needed"), root)
    return read_table(root, QUARANTINE)


def change(root: Path, edit: Any) -> None:
    (path,) = root.glob("records/*/manifest.json")
    value = json.loads(path.read_text())
    edit(value)
    path.write_text(json.dumps(value))


def nothing_read(root: Path) -> None:
    for table in ("ycsb_summary", "quarantine"):
        rows = read_table(root, TABLES[table]).astype(str)
        assert not rows.apply(lambda column: column.str.contains("12345")).any().any(), rows


@pytest.mark.parametrize(
    "name", ("../../../../secret.out", "/secret.out", "raw/../../x", "", "a\0b")
)
def test_names_that_leave_the_folder_are_quarantined(tmp_path: Path, name: str) -> None:
    root, _ = create_run(tmp_path)
    if name.startswith("/"):
        name = str(tmp_path / "secret.out")
    change(root, lambda manifest: manifest["clients"][0].update(stdout=name))
    rows = ingested(root)
    assert list(rows["reason"]) == ["its name leads out of the record"]
    nothing_read(root)


def test_a_linked_file_or_folder_is_quarantined(tmp_path: Path) -> None:
    root, truth = create_run(tmp_path)
    raw = root / "records" / truth.trial / "raw"
    (raw / "ycsb-1.out").unlink()
    (raw / "ycsb-1.out").symlink_to(tmp_path / "secret.out")
    monitor = raw.parent / "monitor"
    monitor.rename(tmp_path / "elsewhere")
    monitor.symlink_to(tmp_path / "elsewhere")
    rows = ingested(root).set_index("kind")["reason"]
    assert rows.to_dict() == {
        "ycsb-summary": "a symbolic link",
        "dool": "a symbolic link leads to it",
        "nodecpu": "a symbolic link leads to it",
    }
    assert read_table(root, TABLES["host_samples"]).empty
    nothing_read(root)


def test_a_pipe_or_a_huge_file_is_not_opened(tmp_path: Path) -> None:
    root, truth = create_run(tmp_path)
    record = root / "records" / truth.trial
    (record / "raw" / "ycsb-1.err").unlink()
    os.mkfifo(record / "raw" / "ycsb-1.err")
    with (record / "monitor" / "here.dool.csv").open("wb") as stream:
        stream.truncate(2**31)  # one line of 2 GB; the file is sparse, and takes no space
    rows = ingested(root).set_index("kind")["reason"]
    assert rows["ycsb-status"] == "not a plain file"
    assert rows["dool"].startswith("larger than")


def test_a_link_that_replaces_a_file_is_not_followed(tmp_path: Path) -> None:
    root, truth = create_run(tmp_path)
    path = root / "records" / truth.trial / "raw" / "ycsb-1.out"
    file = RawFile(truth.trial, "ycsb-summary", "ycsb-1", "raw/ycsb-1.out", str(path))
    path.unlink()
    path.symlink_to(tmp_path / "secret.out")
    with pytest.raises(UnreadableError, match="cannot be read"):
        content(file)


@pytest.mark.parametrize("trial", ("../x", "/tmp/x", "another"))
def test_a_record_with_a_different_name_is_refused(tmp_path: Path, trial: str) -> None:
    root, _ = create_run(tmp_path)
    change(root, lambda manifest: manifest.update(trial=trial))
    with pytest.raises(StudyError, match=r"belongs to the trial|names a trial"):
        ingested(root)


@pytest.mark.parametrize(
    "name", ("tables", "report", "journal.jsonl", "records/linked", "tables/metrics")
)
def test_a_run_with_linked_parts_is_refused(tmp_path: Path, name: str) -> None:
    root, _ = create_run(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    path = root / name
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(outside)
    with pytest.raises(StudyError, match="is a symbolic link"):
        pipeline.run_stage("ingest", root)
    assert not list(outside.iterdir())


def test_a_decompression_bomb_in_a_histogram_is_quarantined(tmp_path: Path) -> None:
    import base64
    import struct
    import zlib

    root, truth = create_run(tmp_path)
    path = root / "records" / truth.trial / "raw" / "ycsb-1-READ.hdr"
    bomb = zlib.compress(b"\0" * 2**28, 9)
    payload = base64.b64encode(struct.pack(">II", 0x1C849314, len(bomb)) + bomb).decode()
    path.write_text(path.read_text() + f"9.000,1.000,0.001,{payload}\n")
    rows = ingested(root)
    assert list(rows["reason"]) == ["histogram does not inflate to its end"]
