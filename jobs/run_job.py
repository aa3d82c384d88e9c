"""How each job reads its tables, and how it is run alone: `python -m jobs.<job> RUN`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from analysis.tables import Table
from cluster.errors import StudyError
from jobs import store
from jobs.session import spark_session

Inputs = Mapping[Table, DataFrame]
"""What a transform reads: each declared table as a frame."""


def read_inputs(spark: SparkSession, run_root: Path, tables: Sequence[Table]) -> Inputs:
    """The run's tables. StudyError for one that has not been made yet."""
    return {table: store.read(spark, run_root, table) for table in tables}


def run_job(
    tables: Sequence[Table],
    transform: Callable[[Inputs], DataFrame],
    argv: Sequence[str] | None = None,
    spark: SparkSession | None = None,
) -> None:
    """Print, as comma-separated values, what `transform` makes of the run named on the command
    line. Needs the tables of `jobs.ingest`; changes nothing."""
    parser = argparse.ArgumentParser(description=transform.__doc__)
    parser.add_argument("run", type=Path, help="runs/<study>/<run-id>, ingested")
    root: Path = parser.parse_args(argv).run
    try:
        frame = transform(read_inputs(spark or spark_session(), root, tables))
    except StudyError as error:
        sys.exit(str(error))
    frame.orderBy(*frame.columns).toPandas().to_csv(sys.stdout, index=False)
