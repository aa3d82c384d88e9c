"""Latency by percentile of each trial."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.inputs import Inputs

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
