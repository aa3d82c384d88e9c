"""One Spark session and one analysed run for all tests of jobs: both take seconds to create."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from density_study.jobs import pipeline
from density_study.jobs.spark.session import spark_session
from density_study.workloads.tables import TABLES
from density_study.workloads.tables.store import read_table
from tests.spark.support.world import make_world
from tests.support.truth import Truth


@dataclass(frozen=True)
class Analysed:
    """A run after ingest, validate, measure and publish, and the generated truth."""

    root: Path
    truths: dict[str, Truth]
    """By the case names of `make_world`."""

    def table(self, name: str) -> pd.DataFrame:
        return read_table(self.root, TABLES[name])

    def row(self, table: str, case: str) -> dict[str, Any]:
        """The trial's row in a table with one row per trial."""
        rows = self.table(table)
        result: dict[str, Any] = rows[rows["trial"] == self.truths[case].trial].iloc[0].to_dict()
        return result

    def verdict(self, case: str) -> tuple[str, str]:
        """The trial's verdict and its reasons as one text."""
        row = self.row("verdicts", case)
        return row["verdict"], "; ".join(row["reasons"])

    def metrics(self, case: str, name: str, **which: object) -> pd.DataFrame:
        rows = self.table("metrics")
        rows = rows[(rows["trial"] == self.truths[case].trial) & (rows["name"] == name)]
        for column, value in which.items():
            rows = rows[rows[column] == value]
        return rows

    def metric(self, case: str, name: str, **which: object) -> float:
        """The value of exactly one metric; NaN stands for null."""
        rows = self.metrics(case, name, **which)
        assert len(rows) == 1, rows
        return float(rows["value"].iloc[0])


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    yield spark_session()


@pytest.fixture(scope="session")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Analysed:
    root, truths = make_world(tmp_path_factory.mktemp("runs") / "quickstart")
    pipeline.analyse(root)
    return Analysed(root, truths)
