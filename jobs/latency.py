"""Latency percentiles of each trial: `python -m jobs.latency RUN` prints them.

They come from merged histograms, never from averaged percentiles (method 11). What is measured is the
closed-loop latency unless the client also recorded the intended one; both keep their names (method 10).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.metric_rows import metric_rows
from jobs.run_job import Inputs, run_job
from jobs.window import by_controller_clock, windows
from workloads.ycsb.saturation import NOT_OF_USERS

TABLE = tables.METRICS
INPUTS = (tables.TRIALS, tables.CLIENTS, tables.YCSB_HISTOGRAMS)
PERCENTILES = ("50", "90", "95", "99", "99.9")


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`: latency in ms by operation, kind and percentile."""
    values = percentiles(inputs, PERCENTILES)
    return metric_rows(values, {"latency": ("ms", F.col("value_us") / 1000.0)})


def percentiles(inputs: Inputs, wanted: Sequence[str]) -> DataFrame:
    """trial, operation, latency_kind, percentile, value_us, total (operations behind it).

    The p-th percentile is the least bucket that at least p percent of the operations do not exceed;
    null with fewer than 10 / (1 - p) operations. wanted: percents as decimals, below 100.
    """
    ranked = ranked_histograms(inputs)
    # nearly every bucket is none of any percentile: those go before anything is made of them
    some = ranked.where(reduce(or_, (_first_to_reach(percentile) for percentile in wanted)))
    one = F.explode(F.array(*[_percentile(percentile) for percentile in wanted]))
    rows = some.withColumn("one", one).where("one IS NOT NULL")
    return rows.select("trial", "operation", "latency_kind", "one.*", "total")


def ranked_histograms(inputs: Inputs) -> DataFrame:
    """The merged histograms' buckets with `reached`, the operations up to and with each, and `total`,
    those of all."""
    by_value = Window.partitionBy("trial", "operation", "latency_kind")
    return (
        merged_histograms(inputs)
        .withColumn("reached", F.sum("operations").over(by_value.orderBy("value_us")))
        .withColumn("total", F.sum("operations").over(by_value))
    )


def measured_intervals(inputs: Inputs) -> DataFrame:
    """Histogram intervals of operations that succeeded and were asked for, whole after the warm-up.

    The cut is by time: warm_up_s from the window's start (method 7). An interval that straddles it
    is left out, as its histogram cannot be divided.
    """
    warm_up = inputs[tables.TRIALS].select("trial", "warm_up_s")
    return (
        timed(user_operations(inputs[tables.YCSB_HISTOGRAMS]), inputs)
        .join(warm_up, "trial")
        .where("begun_s >= start_s + warm_up_s OR warm_up_s = 0")
    )


def timed(histograms: DataFrame, inputs: Inputs) -> DataFrame:
    """Intervals with begun_s by the controller's clock and the window of their trial."""
    clocks = inputs[tables.CLIENTS].select("trial", "client", "clock_offset_s")
    begun = by_controller_clock(F.col("start_epoch_s"), F.col("clock_offset_s"))
    return (
        histograms.join(clocks, ["trial", "client"])
        .join(windows(inputs[tables.TRIALS]), "trial")
        .withColumn("begun_s", begun)
    )


def user_operations(histograms: DataFrame) -> DataFrame:
    """Intervals without YCSB's own clean-up and without failed operations."""
    return histograms.where(~F.col("operation").isin(*NOT_OF_USERS) & F.col("outcome").isNull())


def merged_histograms(inputs: Inputs) -> DataFrame:
    """trial, operation, latency_kind, value_us, operations: the sum over clients and intervals."""
    bucket = F.explode(F.arrays_zip("value_us", "counts"))
    return (
        measured_intervals(inputs)
        .select("trial", "operation", F.col("kind").alias("latency_kind"), bucket.alias("bucket"))
        .groupBy("trial", "operation", "latency_kind", F.col("bucket.value_us").alias("value_us"))
        .agg(F.sum("bucket.counts").alias("operations"))
    )


def _first_to_reach(percentile: str) -> Column:
    """Whether a ranked bucket is the least whose cumulative count reaches the percentile's, compared in
    whole numbers. The 0th is reached by the first operation."""
    share = Fraction(percentile) / 100
    needed = F.greatest(F.col("total") * share.numerator, F.lit(1))
    below = (F.col("reached") - F.col("operations")) * share.denominator
    return (below < needed) & (F.col("reached") * share.denominator >= needed)


def _percentile(percentile: str) -> Column:
    """percentile, value_us of the bucket that is it; null of others."""
    needed = Fraction(10) / (1 - Fraction(percentile) / 100)
    enough = F.col("total") * needed.denominator >= needed.numerator
    value_us = F.when(enough, F.col("value_us"))
    one = F.struct(F.lit(float(percentile)).alias("percentile"), value_us.alias("value_us"))
    return F.when(_first_to_reach(percentile), one)


def main(argv: list[str] | None = None, spark: SparkSession | None = None) -> None:
    run_job(INPUTS, transform, argv, spark)


if __name__ == "__main__":
    main()
