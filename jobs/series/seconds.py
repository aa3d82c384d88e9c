"""Cut spans of time into whole seconds of a trial, counted from the start of its window."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from jobs.arrays.spans import MIN_S


def by_second(spans: DataFrame) -> DataFrame:
    """One row per span and second that it overlaps, with `second` and `inside_s`, the overlap in seconds.

    spans: since_s, until_s (controller's clock) and start_s of the trial's window. Empty spans are dropped.
    """
    since, until = F.col("since_s") - F.col("start_s"), F.col("until_s") - F.col("start_s")
    seconds = F.sequence(F.floor(since), F.floor(until))
    inside = F.least(until, F.col("second") + 1) - F.greatest(since, F.col("second"))
    return (
        spans.where("until_s > since_s")
        .withColumn("second", F.explode(seconds))
        .withColumn("inside_s", inside)
        .where(F.col("inside_s") >= MIN_S)
        .withColumn("second", F.col("second").cast("int"))
    )


def share_of_span() -> Column:
    """The share of the span within the row's second, for frames from `by_second`."""
    return F.col("inside_s") / (F.col("until_s") - F.col("since_s"))
