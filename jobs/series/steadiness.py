"""Variation of each trial's rate from second to second."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.arrays.exact_sums import FINE
from density_study.jobs.metrics.window import windows
from density_study.jobs.spark.columns import whole_steps
from density_study.jobs.spark.run_tables import Inputs

TABLE = tables.STEADINESS


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `steadiness`: mean, sample standard deviation (n - 1) and coefficient of variation of whole
    seconds of the window after the ramp-up (method 7)."""
    count = F.size("rates")
    # two passes: the mean of squares less the square of the mean would cancel for a steady rate
    squares = _added("rates", lambda rate: (rate - F.col("mean")) * (rate - F.col("mean")))
    deviation = F.when(count > 1, F.sqrt(squares / F.greatest(count - 1, F.lit(1))))
    return (
        _measured(inputs)
        .withColumn("mean", _added("rates", lambda rate: rate) / count)
        .select("trial", "name", "unit", count.alias("seconds"), "mean",
                deviation.alias("standard_deviation"))
        .withColumn(
            "coefficient_of_variation",
            F.when(F.col("mean") > 0, F.col("standard_deviation") / F.col("mean")),
        )
    )  # fmt: skip


def _measured(inputs: Inputs) -> DataFrame:
    """trial, name, unit, rates: the rates of the seconds that count; no row without such seconds.

    Each series is one row, so its seconds are shuffled once and need no order.
    """
    busy = F.when(F.col("rate") > 0, F.col("second"))
    series = inputs[tables.TRIAL_RATE_SERIES].groupBy("trial", "name", "unit")
    found = series.agg(
        F.collect_list(F.struct("second", "rate")).alias("all"),
        F.min(busy).alias("first"),
        F.max(busy).alias("last"),
    ).join(windows(inputs[tables.TRIALS]), "trial")

    def counts(one: Column) -> Column:
        second = one["second"]
        # the first and last busy second are partial, and around them a JVM starts or ends
        whole = (second > F.col("first")) & (second < F.col("last"))
        return whole & (second >= F.col("warm_up_s")) & (second + 1 <= F.col("window_s"))

    rates = F.transform(F.filter("all", counts), lambda one: one["rate"])
    return found.select("trial", "name", "unit", rates.alias("rates")).where(F.size("rates") > 0)


def _added(rates: str, term: Callable[[Column], Column]) -> Column:
    """`jobs.spark.columns.exact_sum` over the elements of an array column, of a term of each."""
    steps = F.aggregate(
        rates, F.lit(0).cast("long"), lambda reached, rate: reached + whole_steps(term(rate))
    )
    return steps / FINE
