"""The measurement window of each trial, in the controller's clock (method 18)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812


def windows(trials: DataFrame) -> DataFrame:
    """trial, start_s, end_s (controller's clock), window_s, warm_up_s of trials with a window."""
    start, end = F.col("window_start_epoch_s"), F.col("window_end_epoch_s")
    return trials.where(end > start).select(
        "trial",
        start.alias("start_s"),
        end.alias("end_s"),
        (end - start).alias("window_s"),
        "warm_up_s",
    )


def window_s() -> Column:
    """Length of a trial's window in seconds; null without a window."""
    start, end = F.col("window_start_epoch_s"), F.col("window_end_epoch_s")
    return F.when(end > start, end - start)
