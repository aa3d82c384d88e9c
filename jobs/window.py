"""The measured window of each trial, and how much of a sample lies in it (method 18)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812


def windows(trials: DataFrame) -> DataFrame:
    """trial, start_s, end_s (controller's clock), window_s of trials that have a window."""
    start, end = F.col("window_start_epoch_s"), F.col("window_end_epoch_s")
    return trials.where(end > start).select(
        "trial", start.alias("start_s"), end.alias("end_s"), (end - start).alias("window_s")
    )


def overlap_s(since: Column, until: Column) -> Column:
    """Seconds of (since, until] that lie in the window start_s..end_s of the same row; never
    negative."""
    return F.greatest(
        F.lit(0.0), F.least(until, F.col("end_s")) - F.greatest(since, F.col("start_s"))
    )


def by_controller_clock(epoch_s: Column, offset_s: Column) -> Column:
    """A time by a host's clock as the controller's clock had it. An unknown offset counts as none
    here; the checks hold that against the trial."""
    return epoch_s - F.coalesce(offset_s, F.lit(0.0))
