"""Writes of an analysis fail, one after another: a message, the records as they were, no half table, and the
next analysis gives the same as an undisturbed one."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from density_study.cluster.model.errors import StudyError
from density_study.dags.cli import import_command
from density_study.jobs import pipeline
from tests.support.hostile.failing_writes import Writes, watched

pytestmark = [pytest.mark.spark, pytest.mark.slow]
SAMPLES = Path(__file__).parents[2] / "samples"
POINTS = 3
"""Writes of each stage that fail, over its whole length."""


@pytest.fixture(scope="module")
def before(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Copies of a run before each stage, and of the analysed one under `done`."""
    folder = tmp_path_factory.mktemp("theirs")
    shutil.copy(SAMPLES / "ycsb-0.17.0_both.out", folder / "out.txt")
    import_command._init(folder, folder / "map.yaml", False)
    runs = tmp_path_factory.mktemp("runs")
    root = import_command._imported(folder, folder / "map.yaml", runs, False)[2]
    found = {}
    for stage in (*pipeline.STAGES, "done"):
        copy = tmp_path_factory.mktemp("before") / root.parent.name / root.name
        shutil.copytree(root, copy)
        found[stage] = copy
        if stage in pipeline.STAGES:
            pipeline.run_stage(stage, root)
    return found


def fresh(saved: Path, folder: Path) -> Path:
    root = folder / saved.parent.name / saved.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(saved, root)
    return root


def tables(root: Path) -> dict[str, Any]:
    folders = (path for path in (root / "tables").glob("*") if path.is_dir())
    return {
        folder.name: pq.read_table(folder).sort_by(
            [(name, "ascending") for name in sortable(folder)]
        )
        for folder in folders
        if not folder.name.startswith(".")
    }


def sortable(folder: Path) -> list[str]:
    fields = pq.read_table(folder).schema
    return [field.name for field in fields if str(field.type) in ("string", "int64", "double")]


def summary(root: Path) -> Any:
    value = json.loads((root / "report" / "summary.json").read_text())
    for key in ("created", "time", "undecided"):
        value.pop(key, None)
    return value


def records(root: Path) -> dict[str, bytes]:
    files = (path for path in (root / "records").rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


@pytest.mark.parametrize("stage", pipeline.STAGES)
def test_writes_of_a_stage_that_fail(stage: str, before: dict[str, Path], tmp_path: Path) -> None:
    place = tmp_path / "runs"
    root = fresh(before[stage], place)
    with watched(Writes(place)) as writes:
        pipeline.run_stage(stage, root)
    undisturbed, count = tables(root), len(writes.seen)
    for first in {number * (count - 1) // (POINTS - 1) for number in range(POINTS)}:
        root = fresh(before[stage], place)
        where = writes.seen[first]
        held, whole = records(root), tables(root)
        try:
            with watched(Writes(place, errno.ENOSPC, first)):
                pipeline.run_stage(stage, root)
        except StudyError as error:
            assert "is full" in error.what and "free some space" in error.remedy, where
        else:  # what the results do not depend on: the hub, a link
            assert stage == "report" and "tables" not in where, where
        assert records(root) == held, where
        for name, rows in tables(root).items():
            assert rows in (whole.get(name), undisturbed[name]), (where, name)
        pipeline.run_stage(stage, root)
        assert tables(root) == undisturbed, where
        if stage == "report":
            assert summary(root) == summary(before["done"]), where


@pytest.mark.skipif(os.getuid() != 0, reason="mounts a small disk")
@pytest.mark.parametrize(("stage", "free"), [("metrics", 0), ("series", 4096), ("report", 4096)])
def test_a_disk_that_is_full_indeed(
    stage: str, free: int, before: dict[str, Path], tmp_path: Path
) -> None:
    """Also for writes of Spark's JVM, which no hook of Python sees."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)], check=True)
    try:
        root = fresh(before[stage], disk / "runs")
        held = records(root)
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as stream, suppress(OSError):
            while True:
                stream.write(b"x" * 4096)
        os.truncate(filler, filler.stat().st_size - free)
        with pytest.raises(StudyError, match="is full") as caught:
            pipeline.run_stage(stage, root)
        assert str(disk) in str(caught.value)
        assert records(root) == held
        filler.unlink()
        pipeline.run_stage(stage, root)
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
