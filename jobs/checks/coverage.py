"""Share of the expected monitor samples that exist in the window (method 20)."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.metrics.window import windows
from jobs.spark.inputs import Inputs


def worst_coverage(inputs: Inputs) -> DataFrame:
    """trial, monitor_coverage, monitor_worst: the monitor with the lowest coverage. Null if the window is
    shorter than a sampling period."""
    coverage = F.col("seen") / F.when(
        F.col("seen") + F.col("lost") > 0, F.col("seen") + F.col("lost")
    )
    name = F.concat_ws(" on ", "kind", "host")
    worst = F.min(F.struct(coverage.alias("coverage"), name.alias("name"))).alias("worst")
    expecting = _monitors(inputs).where("window_s >= period_s")
    counted = expecting.join(inputs[tables.MONITOR_ROUNDS], ["trial", "kind", "host"], "left")
    empty = F.floor(F.col("window_s") / F.col("period_s"))
    return (
        counted.withColumn("lost", F.coalesce("lost", empty))
        .fillna(0, ["seen"])
        .groupBy("trial")
        .agg(worst)
        .select(
            "trial",
            F.col("worst.coverage").alias("monitor_coverage"),
            F.col("worst.name").alias("monitor_worst"),
        )
    )


def _monitors(inputs: Inputs) -> DataFrame:
    monitors = inputs[tables.MONITORS].select("trial", "kind", "host", "period_s")
    return monitors.join(windows(inputs[tables.TRIALS]), "trial")
