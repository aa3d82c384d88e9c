"""How many of the samples a monitor should have taken in the window are there (method 20)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.run_job import Inputs
from jobs.utilization import distinct_samples
from jobs.window import by_controller_clock, windows

LATE_PERIODS = 0.25
"""A gap of up to 1.75 periods is one late sample; from there on one is missing."""


def worst_coverage(inputs: Inputs) -> DataFrame:
    """trial, monitor_coverage, monitor_worst: of the monitor with the least coverage. Null for a
    window too short to expect a sample in."""
    coverage = F.col("seen") / F.when(
        F.col("seen") + F.col("lost") > 0, F.col("seen") + F.col("lost")
    )
    name = F.concat_ws(" on ", "kind", "host")
    worst = F.min(F.struct(coverage.alias("coverage"), name.alias("name"))).alias("worst")
    expecting = _monitors(inputs).where("window_s >= period_s")
    counted = expecting.join(_counts(inputs), ["trial", "kind", "host"], "left")
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
    monitors = inputs[tables.MONITORS].select("trial", "kind", "host", "period_s", "clock_offset_s")
    return monitors.join(windows(inputs[tables.TRIALS]), "trial")


def _counts(inputs: Inputs) -> DataFrame:
    """trial, kind, host, seen (samples in the window), lost (those missing between and around)."""
    at, offset_s = F.col("epoch_s"), F.col("clock_offset_s")
    inside = (
        _rounds(inputs)
        .join(_monitors(inputs), ["trial", "kind", "host"])
        .withColumn("at_s", by_controller_clock(at, offset_s))
        .where("at_s > start_s AND at_s <= end_s")
        # a round before the window, or none: what is missing is counted from its start
        .withColumn(
            "since_s",
            F.greatest(by_controller_clock(F.col("since_epoch_s"), offset_s), F.col("start_s")),
        )
    )
    between = F.sum(_missing(F.col("at_s") - F.col("since_s")))
    counted = inside.groupBy("trial", "kind", "host", "period_s", "end_s").agg(
        F.count(F.lit(1)).alias("seen"), between.alias("between"), F.max("at_s").alias("last_s")
    )
    behind = _missing(F.col("end_s") - F.col("last_s"))
    return counted.select(
        "trial", "kind", "host", "seen", (F.col("between") + behind).alias("lost")
    )


def _missing(gap_s: Column) -> Column:
    """Samples that should lie in a gap between two samples, or between one and the window's edge."""
    return F.greatest(F.lit(0), F.floor(gap_s / F.col("period_s") + LATE_PERIODS) - 1)


def _rounds(inputs: Inputs) -> DataFrame:
    """trial, kind, host, epoch_s, since_epoch_s: each time a monitor sampled, once, and the time
    before."""
    dool = distinct_samples(inputs[tables.HOST_SAMPLES]).withColumn("kind", F.lit("dool"))
    nodes = (
        inputs[tables.NODE_CPU_SAMPLES]
        .where("begins_round")
        .withColumn("kind", F.lit("nodecpu"))
        .withColumn("since_epoch_s", F.col("round_since_epoch_s"))
    )
    columns = ("trial", "kind", "host", "epoch_s", "since_epoch_s")
    return dool.select(*columns).unionByName(nodes.select(*columns))
