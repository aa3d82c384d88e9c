"""Records that others made, from their files to the report."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from density_study.dags.cli.main import app
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.rows.raw.manifest_rows import manifests_of
from density_study.workloads.tables import METRICS, VERDICTS
from density_study.workloads.tables.store import read_table
from tests.spark.conftest import Analysed
from tests.spark.support.import_maps import write_map

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SOUND = ("write", "read", "load", "mixed", "scan", "scan_v2", "several")


@pytest.fixture(scope="module")
def own(world: Analysed) -> list[Manifest]:
    """Sound trials of one of our own runs."""
    names = {world.truths[case].trial for case in SOUND}
    known = [manifest for manifest in manifests_of(world.root) if manifest.trial in names]
    return sorted(known, key=lambda manifest: manifest.order)


@pytest.fixture(scope="module")
def imported(
    world: Analysed, own: Sequence[Manifest], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The run that `study import` makes of their raw files, without their manifests."""
    folder, runs = tmp_path_factory.mktemp("of-others"), tmp_path_factory.mktemp("runs")
    for manifest in own:
        for part in ("raw", "monitor"):
            source = world.root / "records" / manifest.trial / part
            shutil.copytree(source, folder / manifest.trial / part)
    write_map(folder, own)
    done = CliRunner().invoke(app, ["import", str(folder), "--runs", str(runs)])
    assert done.exit_code == 0, done.output
    (root,) = (runs / "imported").glob("*Z")
    return root


def _metrics(root: Path) -> pd.DataFrame:
    return read_table(root, METRICS)


def test_an_imported_run_has_the_metrics_of_our_own_to_the_last_digit(
    world: Analysed, own: Sequence[Manifest], imported: Path
) -> None:
    names = {
        theirs.trial: ours.trial
        for theirs, ours in zip(
            sorted(manifests_of(imported), key=lambda manifest: manifest.order), own, strict=True
        )
    }
    ours, theirs = _metrics(world.root), _metrics(imported)
    ours = ours[ours["trial"].isin(set(names.values()))]
    theirs["trial"] = theirs["trial"].map(names)
    assert len(ours) > 200
    pd.testing.assert_frame_equal(_sorted(theirs), _sorted(ours), check_exact=True)


def _sorted(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(list(METRICS.key), ignore_index=True)


def test_an_imported_run_has_verdicts_and_a_report(imported: Path) -> None:
    verdicts = read_table(imported, VERDICTS)
    assert set(verdicts["verdict"]) == {"valid"}
    page = (imported / "report" / "index.html").read_text()
    assert "imported" in page
