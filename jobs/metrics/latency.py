"""Latency percentiles of each trial.

They come from merged histograms, never from averaged percentiles (method 11). Clients measure closed-loop
latency, and in latency trials also intended latency; both keep their names (method 10).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.metrics.metric_rows import metric_rows
from jobs.spark.run_tables import Inputs

TABLE = tables.METRICS
PERCENTILES = ("50", "90", "95", "99", "99.9")


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`: latency in ms by operation, kind and percentile. Null with fewer than
    10 / (1 - p) operations."""
    wanted = [float(percentile) for percentile in PERCENTILES]
    values = inputs[tables.LATENCY_PERCENTILES].where(F.col("percentile").isin(wanted))
    return metric_rows(values, {"latency": ("ms", F.col("value_us") / 1000.0)})
