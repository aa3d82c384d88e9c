"""Latency by percentile of each trial: `python -m jobs.latency_curves RUN` prints it."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.run_job import Inputs, run_job

TABLE = tables.LATENCY_CURVES
INPUTS = (tables.LATENCY_PERCENTILES,)


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `latency_curves`: any percentile of the merged histograms, none that has too few
    operations behind it (method 11)."""
    return inputs[tables.LATENCY_PERCENTILES].where("value_us IS NOT NULL").select(
        "trial",
        "operation",
        "latency_kind",
        "percentile",
        (F.col("value_us") / 1000.0).alias("latency_ms"),
        "operations",
    )  # fmt: skip


def main(argv: list[str] | None = None, spark: SparkSession | None = None) -> None:
    run_job(INPUTS, transform, argv, spark)


if __name__ == "__main__":
    main()
