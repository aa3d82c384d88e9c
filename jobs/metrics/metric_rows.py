"""Convert wide frames into rows of the long table `metrics`."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis.tables import METRICS
from density_study.jobs.spark.run_tables import struct


def metric_rows(wide: DataFrame, values: Mapping[str, tuple[str, Column]]) -> DataFrame:
    """One row of `metrics` per row of `wide` and entry of `values`: name -> (unit, value).

    trial, operation, latency_kind, percentile and scope come from `wide`, or are null if it lacks them.
    """
    entries = [
        F.struct(
            F.lit(name).alias("name"),
            F.lit(unit).alias("unit"),
            value.cast("double").alias("value"),
        )
        for name, (unit, value) in values.items()
    ]
    long = wide.withColumn("entry", F.explode(F.array(*entries)))
    present = set(wide.columns)
    return long.select(
        [
            _source(field.name, present).cast(field.dataType).alias(field.name)
            for field in struct(METRICS)
        ]
    )


def _source(name: str, present: set[str]) -> Column:
    if name in ("name", "unit", "value"):
        return F.col("entry")[name]
    return F.col(name) if name in present else F.lit(None)
