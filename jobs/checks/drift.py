"""Drift of a YCSB trial's rate during measurement (method 7), by a rule fixed before the data.

The time after the ramp-up is cut into three equal parts, and the rate of the last part is compared with the
rate of the first. `analysis/validity/rules.toml` decides which ratio is too large.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.spark.inputs import Inputs

PARTS = 3


def drift(inputs: Inputs) -> DataFrame:
    """trial, drift: rate of the last third over rate of the first, for all clients together; null if one
    of these thirds has no operations."""
    intervals = inputs[tables.YCSB_HISTOGRAMS].where("measured AND kind = 'closed-loop'")
    whole = Window.partitionBy("trial")
    begun, end = F.col("begun_s"), F.col("begun_s") + F.col("length_s")
    placed = (
        intervals.withColumn("end_s", end)
        .withColumn("first_s", F.min(begun).over(whole))
        .withColumn("span_s", F.max("end_s").over(whole) - F.col("first_s"))
        .withColumn("part", F.floor(PARTS * (begun - F.col("first_s")) / F.col("span_s")))
    )
    rates = placed.groupBy("trial", "part").agg(
        (F.sum("counted") / (F.max("end_s") - F.min("begun_s"))).alias("ops_s")
    )
    of = {part: F.max(F.when(F.col("part") == part, F.col("ops_s"))) for part in (0, PARTS - 1)}
    return rates.groupBy("trial").agg(F.when(of[0] > 0, of[PARTS - 1] / of[0]).alias("drift"))
