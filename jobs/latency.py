"""Latency percentiles of each trial: `python -m jobs.latency RUN` prints them.

They come from merged histograms, never from averaged percentiles (method 11). What is measured is the
closed-loop latency unless the client also recorded the intended one; both keep their names (method 10).
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.metric_rows import metric_rows
from jobs.run_job import Inputs, run_job

TABLE = tables.METRICS
INPUTS = (tables.LATENCY_PERCENTILES,)
PERCENTILES = ("50", "90", "95", "99", "99.9")


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`: latency in ms by operation, kind and percentile. Null with fewer than
    10 / (1 - p) operations."""
    wanted = [float(percentile) for percentile in PERCENTILES]
    values = inputs[tables.LATENCY_PERCENTILES].where(F.col("percentile").isin(wanted))
    return metric_rows(values, {"latency": ("ms", F.col("value_us") / 1000.0)})


def main(argv: list[str] | None = None, spark: SparkSession | None = None) -> None:
    run_job(INPUTS, transform, argv, spark)


if __name__ == "__main__":
    main()
