"""Whole seconds of a trial, counted from its window's start, and what of a span lies in each."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from jobs.arrays.spans import MIN_S


def by_second(spans: DataFrame) -> DataFrame:
    """Each row once for every second its span lies in: `second` and `inside_s`, the seconds of the
    span within it.

    spans: since_s, until_s (controller's clock) and start_s of the trial's window. Empty spans go.
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
    """The part of the span that lies in the row's second, of frames that `by_second` gave."""
    return F.col("inside_s") / (F.col("until_s") - F.col("since_s"))
