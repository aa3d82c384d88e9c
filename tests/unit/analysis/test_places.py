"""A URI behaves like the paths that the analysis was written for."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest

from density_study.workloads.record.record import closed_records
from density_study.workloads.tables import BRING_UP
from density_study.workloads.tables.storage import (
    UriPath,
    copy_missing,
    file_sizes,
    is_local,
    place,
    remove,
)
from density_study.workloads.tables.store import read_table, write_rows


@pytest.fixture(params=("memory", "file"))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> UriPath:
    name = f"memory://{uuid4()}" if request.param == "memory" else tmp_path.as_uri()
    location = place(f"{name}/run")
    assert isinstance(location, UriPath)
    location.mkdir(parents=True)
    return location


def test_a_path_stays_a_path_and_a_uri_is_kept_verbatim() -> None:
    assert place("/runs/q/1") == Path("/runs/q/1")
    assert is_local(place("runs/q"))
    uri = place("hdfs://127.0.0.1:9000/study/runs")
    assert str(uri / "records") == "hdfs://127.0.0.1:9000/study/runs/records"
    assert str((uri / "a").with_name("b")) == "hdfs://127.0.0.1:9000/study/runs/b"
    assert (uri.name, str(uri.parent)) == ("runs", "hdfs://127.0.0.1:9000/study")
    assert not is_local(uri)


def test_files_are_written_and_removed(folder: UriPath) -> None:
    file = folder / "a.txt"
    assert not file.exists()
    file.write_text("Grüße")
    assert (file.read_text(), file.stat().st_size) == ("Grüße", 7)
    assert (file.is_file(), folder.is_dir()) == (True, True)
    file.unlink()
    file.unlink(missing_ok=True)
    with pytest.raises(FileNotFoundError):
        file.unlink()


def test_a_glob_returns_sorted_paths_of_the_same_place(folder: UriPath) -> None:
    for name in ("t2", "t1"):
        (folder / "records" / name).mkdir(parents=True)
        (folder / "records" / name / "manifest.json").write_text("{}")
    manifests = list((folder / "records").glob("*/manifest.json"))
    assert manifests == [folder / "records" / name / "manifest.json" for name in ("t1", "t2")]
    assert str(manifests[0].relative_to(folder)) == "records/t1/manifest.json"
    assert file_sizes(folder) == {f"records/{name}/manifest.json": 2 for name in ("t1", "t2")}
    assert file_sizes(folder / "none") == {}


def test_a_folder_is_renamed_but_never_into_another(folder: UriPath) -> None:
    for name in ("old", "new"):
        (folder / name).mkdir()
        (folder / name / "part").write_text(name)
    with pytest.raises(FileExistsError):
        (folder / "new").rename(folder / "old")
    remove(folder / "old")
    (folder / "new").rename(folder / "old")
    assert (folder / "old" / "part").read_text() == "new"
    assert not (folder / "new").exists()


def test_a_table_is_replaced_as_a_whole(folder: UriPath) -> None:
    row = {"build": "b1", "topology": "t", "position": 0, "phase": "hdfs", "seconds": 1.5}
    for seconds in (1.5, 2.5):
        write_rows(folder, BRING_UP, [{**row, "seconds": seconds}])
    assert read_table(folder, BRING_UP)["seconds"].tolist() == [2.5]
    assert [path.name for path in (folder / "tables").glob("*")] == [BRING_UP.name]


def test_only_missing_or_different_files_are_copied(folder: UriPath, tmp_path: Path) -> None:
    source = tmp_path / "records"
    for name, text in (("t1/raw/a", "one"), ("t1/raw/b", "two"), ("t2/c", "")):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (source / "t2" / "link").symlink_to("/etc/passwd")
    os.mkfifo(source / "t2" / "pipe")
    to = folder / "records"
    assert copy_missing(source, to) == 3
    assert file_sizes(to) == {"t1/raw/a": 3, "t1/raw/b": 3, "t2/c": 0}
    assert copy_missing(source, to) == 0
    (source / "t1/raw/a").write_text("longer")
    assert copy_missing(source, to) == 1
    assert (to / "t1/raw/a").read_text() == "longer"
    assert closed_records(to) == {}


def test_arrow_reads_the_files_of_a_place(folder: UriPath) -> None:
    write_rows(folder, BRING_UP, [])
    assert isinstance(pa.Table.from_pandas(read_table(folder, BRING_UP)), pa.Table)
