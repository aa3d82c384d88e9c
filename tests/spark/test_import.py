"""Records that others made, from their files to the report."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from analysis.tables import METRICS
from analysis.tables.store import read_table
from jobs import pipeline
from jobs.raw.manifest_rows import manifests_of
from tests.spark.conftest import Analysed
from tests.support.import_maps import write_map
from workloads.imports.map_file import read_map
from workloads.imports.recognise import recognise_all
from workloads.imports.run_folder import write_run
from workloads.imports.trials import assemble

pytestmark = pytest.mark.spark

SOUND = ("write", "read", "load", "mixed", "scan", "scan_v2", "several")


@pytest.fixture(scope="module")
def imported(world: Analysed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The raw files of sound trials of one of our own runs, imported without their manifests."""
    folder = tmp_path_factory.mktemp("of-others")
    names = {world.truths[case].trial for case in SOUND}
    for name in names:
        for part in ("raw", "monitor"):
            shutil.copytree(world.root / "records" / name / part, folder / name / part)
    manifests = [manifest for manifest in manifests_of(world.root) if manifest.trial in names]
    file = read_map(write_map(folder, manifests), frozenset())
    recognised = recognise_all(folder)
    trials = assemble(file, recognised, "20260101T000000Z")
    root = write_run(folder, file, recognised, trials, tmp_path_factory.mktemp("runs"))
    pipeline.analyse(root)
    return root


def _rows(root: Path, trials: set[str]) -> pd.DataFrame:
    rows = read_table(root, METRICS)
    rows = rows[rows["trial"].isin(trials)]
    return rows.sort_values(list(METRICS.key), ignore_index=True)


def test_an_imported_run_has_the_metrics_of_our_own_to_the_last_digit(
    spark: SparkSession, world: Analysed, imported: Path
) -> None:
    names = {world.truths[case].trial for case in SOUND}
    ours, theirs = _rows(world.root, names), _rows(imported, names)
    assert len(ours) > 200
    pd.testing.assert_frame_equal(theirs, ours, check_exact=True)
