"""Loads whose rate changes with time, part by part: rate asked and achieved, its variation, and intended
latency.

A part is the time of one piece of the clients' schedules, by the clients' own record. Only intervals of the
logs that lie within a part count for it: its histogram and its operations cannot be divided.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.metrics.metric_rows import metric_rows
from density_study.jobs.spark.columns import exact_sum
from density_study.jobs.spark.run_tables import Inputs
from density_study.workloads.ycsb.output.latency import MIN_SLOWER
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS

TABLE = tables.METRICS
PERCENTILES = (50.0, 99.0)
_PART = ("trial", "scope")


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`, each with the scope part:0001, ... of its part."""
    parts = _parts(inputs).cache()
    inside = _intervals(inputs, parts)
    frames = (
        metric_rows(parts, {"part_requested": ("ops/s", F.col("requested_ops_s"))}),
        metric_rows(_rates(parts, inside), {"part_rate": ("ops/s", F.col("ops_s"))}),
        metric_rows(_variation(inputs, parts), {"part_variation": ("percent", F.col("cv"))}),
        metric_rows(_latency(inside), {"part_latency": ("ms", F.col("value_us") / 1000.0)}),
    )
    return reduce(DataFrame.unionByName, frames)


def _parts(inputs: Inputs) -> DataFrame:
    """trial, scope, begun_at_s, until_s (controller's clock), requested_ops_s: the time in which all clients
    are in the part."""
    clients = (
        inputs[tables.YCSB_SCHEDULE]
        .where("piece > 0")
        .groupBy("trial", "client", "piece")
        .agg(
            F.min("begun_s").alias("begun_s"),
            (F.max("begun_s") + 1.0).alias("until_s"),
            (exact_sum(F.col("operations")) / F.count(F.lit(1))).alias("ops_s"),
        )
    )
    return clients.groupBy("trial", "piece").agg(
        # nullable, as the column is in the tables of the other jobs
        F.when(F.first("piece") > 0, F.format_string("part:%04d", F.first("piece"))).alias("scope"),
        F.max("begun_s").alias("begun_at_s"),
        F.min("until_s").alias("until_s"),
        exact_sum(F.col("ops_s")).alias("requested_ops_s"),
    )


def _intervals(inputs: Inputs, parts: DataFrame) -> DataFrame:
    """The intervals of operations that succeeded, each with the part that it lies in."""
    successes = inputs[tables.YCSB_HISTOGRAMS].where("counted IS NOT NULL OR kind = 'intended'")
    within = (F.col("begun_s") >= F.col("begun_at_s")) & (
        F.col("begun_s") + F.col("length_s") <= F.col("until_s")
    )
    return successes.join(F.broadcast(parts), "trial").where(within)


def _rates(parts: DataFrame, inside: DataFrame) -> DataFrame:
    """trial, scope, ops_s over all clients and operations; null without a whole interval."""
    span_s = F.max(F.col("begun_s") + F.col("length_s")) - F.min("begun_s")
    logs = (
        inside.where("kind = 'closed-loop'")
        .groupBy(*_PART, "client", "operation")
        .agg((F.sum("counted") / span_s).alias("log_ops_s"))
    )
    rates = logs.groupBy(*_PART).agg(exact_sum(F.col("log_ops_s")).alias("ops_s"))
    return parts.select(*_PART).join(rates, list(_PART), "left")


def _variation(inputs: Inputs, parts: DataFrame) -> DataFrame:
    """trial, scope, cv: standard deviation over mean of the rate by second, in percent; of a part with a
    constant rate only the cluster's doing."""
    begun = inputs[tables.TRIALS].select("trial", F.col("window_start_epoch_s").alias("start_s"))
    first, last = (
        F.ceil(F.col("begun_at_s") - F.col("start_s")),
        F.floor(F.col("until_s") - F.col("start_s")),
    )
    seconds = (
        parts.join(begun, "trial")
        .where(last > first + 1)
        .select(
            *_PART, F.explode(F.sequence(first.cast("int"), last.cast("int") - 1)).alias("second")
        )
    )
    done = F.coalesce("operations", F.lit(0.0))  # a second without operations has no row
    rates = seconds.join(inputs[tables.OPERATION_SECONDS], ["trial", "second"], "left")
    mean, deviation = F.avg(done), F.stddev_samp(done)
    return rates.groupBy(*_PART).agg(F.when(mean > 0, 100.0 * deviation / mean).alias("cv"))


def _latency(inside: DataFrame) -> DataFrame:
    """trial, scope, operation, latency_kind, percentile, value_us: nearest rank, of merged histograms."""
    buckets = (
        inside.where("kind = 'intended' AND outcome IS NULL")
        .where(~F.col("operation").isin(*NOT_OF_USERS))
        .select(*_PART, "operation", F.explode(F.arrays_zip("value_us", "counts")).alias("bucket"))
        .groupBy(*_PART, "operation", F.col("bucket.value_us").alias("value_us"))
        .agg(F.sum("bucket.counts").alias("count"))
    )
    whole = Window.partitionBy(*_PART, "operation")
    up_to = whole.orderBy("value_us").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ranked = buckets.withColumn("reached", F.sum("count").over(up_to)).withColumn(
        "total", F.sum("count").over(whole)
    )
    wanted = F.explode(F.array(*map(F.lit, PERCENTILES))).alias("percentile")
    rank = F.greatest(F.lit(1), F.ceil(F.col("total") * F.col("percentile") / 100.0))
    enough = F.col("total") * (100.0 - F.col("percentile")) >= 100.0 * MIN_SLOWER
    return (
        ranked.select(*_PART, "operation", "value_us", "reached", "total", wanted)
        .where(F.col("reached") >= rank)
        .groupBy(*_PART, "operation", "percentile", "total")
        .agg(F.min("value_us").alias("at_us"))
        .select(
            *_PART,
            "operation",
            F.lit("intended").alias("latency_kind"),
            "percentile",
            F.when(enough, F.col("at_us")).alias("value_us"),
        )
    )
