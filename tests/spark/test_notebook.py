"""The notebook of the documentation, executed: pandas, DuckDB and Spark read exported runs alike."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from pyspark.sql import SparkSession

from density_study.workloads.rows.export import sources, to_duckdb, to_parquet
from density_study.workloads.tables import TABLES, TRIALS
from density_study.workloads.tables.store import read_table, table_path, write_table
from tests.spark.conftest import Analysed

pytestmark = pytest.mark.spark
NOTEBOOK = Path(__file__).parents[2] / "docs" / "how-to" / "results.ipynb"


def renamed(world: Analysed, root: Path) -> Path:
    """The same run once more, under another id."""
    for table in TABLES.values():
        shutil.copytree(table_path(world.root, table), table_path(root, table))
    shutil.rmtree(table_path(root, TRIALS))
    write_table(root, TRIALS, read_table(world.root, TRIALS).assign(run="again"))
    return root


@pytest.fixture
def cells() -> list[str]:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.usefixtures("spark")
def test_the_notebook_finds_the_same_numbers_three_times(
    world: Analysed, cells: list[str], tmp_path: Path
) -> None:
    runs = sources([world.root, renamed(world, tmp_path / "runs" / "again")])
    places = {"EXPORT": tmp_path / "export", "DATABASE": tmp_path / "results.duckdb"}
    to_parquet(runs, places["EXPORT"])
    to_duckdb(runs, places["DATABASE"])
    names: dict[str, Any] = {}
    for number, cell in enumerate(cells):
        exec(compile(cell, f"cell {number}", "exec"), names)
        if number == 0:  # the JVM of this session is in another folder
            assert {name for name in names if name.isupper()} == set(places)
            names |= {name: str(path) for name, path in places.items()}
    expected = throughputs(world)
    assert len(expected) > 3 and any(len(values) > 1 for values in expected.values())
    for engine in ("pandas", "duckdb", "spark"):
        for run in runs:
            rows = names[f"by_{engine}"].query(f"run == '{run.run}'")
            found = {
                (row.topology, row.test_case): (row.throughput, row.trials)
                for row in rows.itertuples()
            }
            assert found == {key: (median(v), len(v)) for key, v in expected.items()}, engine


def throughputs(world: Analysed) -> dict[tuple[str, str], list[float]]:
    """Throughput of every valid trial, by topology and test case, by plain loops."""
    valid = {row.trial for row in world.table("verdicts").itertuples() if row.verdict == "valid"}
    test_cases = {
        row.trial: (row.topology, row.test_case) for row in world.table("trials").itertuples()
    }
    found: dict[tuple[str, str], list[float]] = {}
    for row in world.table("metrics").itertuples():
        if row.name == "throughput" and row.trial in valid and row.value == row.value:
            found.setdefault(test_cases[row.trial], []).append(row.value)
    return found


@pytest.mark.slow
def test_every_exported_table_opens_in_spark(
    world: Analysed, spark: SparkSession, tmp_path: Path
) -> None:
    (done,) = to_parquet(sources([world.root]), tmp_path / "export")
    for name, rows in done.rows.items():
        frame = spark.read.parquet(str(tmp_path / "export" / name))
        assert frame.columns[:3] == ["study", "run", "trial"]
        assert frame.count() == rows == len(world.table(name))
    assert done.rows["host_samples"] > 100
