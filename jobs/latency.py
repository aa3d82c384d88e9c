"""Latency percentiles of each trial: `python -m jobs.latency RUN` prints them.

They come from merged histograms, never from averaged percentiles (method 11). What is measured is the
closed-loop latency unless the client also recorded the intended one; both keep their names (method 10).
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.metric_rows import metric_rows
from jobs.run_job import Inputs, run_job
from jobs.window import by_controller_clock, windows
from workloads.ycsb.operations import NOT_OF_USERS

TABLE = tables.METRICS
INPUTS = (tables.LATENCY_PERCENTILES,)
PERCENTILES = ("50", "90", "95", "99", "99.9")


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`: latency in ms by operation, kind and percentile. Null with fewer than
    10 / (1 - p) operations."""
    wanted = [float(percentile) for percentile in PERCENTILES]
    values = inputs[tables.LATENCY_PERCENTILES].where(F.col("percentile").isin(wanted))
    return metric_rows(values, {"latency": ("ms", F.col("value_us") / 1000.0)})


def measured_intervals(inputs: Inputs) -> DataFrame:
    """Histogram intervals of operations that succeeded and were asked for, whole after the warm-up.

    The cut is by time: warm_up_s from the window's start (method 7). An interval that straddles it
    is left out, as its histogram cannot be divided.
    """
    return timed(user_operations(inputs[tables.YCSB_HISTOGRAMS]), inputs).where(
        "begun_s >= start_s + warm_up_s OR warm_up_s = 0"
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


def main(argv: list[str] | None = None, spark: SparkSession | None = None) -> None:
    run_job(INPUTS, transform, argv, spark)


if __name__ == "__main__":
    main()
