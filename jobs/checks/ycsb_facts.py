"""The results of YCSB's clients compared with the requested work and with each other (method 9)."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.checks.fact_columns import of_all, relative_error
from jobs.metrics.throughput import whole_run
from jobs.spark.inputs import Inputs


def ycsb_facts(inputs: Inputs) -> DataFrame:
    """failed_operations, ycsb_share, ycsb_rate_error, histogram_error: over all clients of a trial, null if
    a client reported nothing (method 9)."""
    trials = inputs[tables.TRIALS].where("workload = 'ycsb'").select("trial", "duration_s")
    clients = (
        inputs[tables.CLIENTS]
        .select("trial", "client", "operations_asked")
        .join(trials, "trial")
        .join(whole_run(inputs[tables.YCSB_SUMMARY]), ["trial", "client"], "left")
        .join(_histogram_counts(inputs), ["trial", "client"], "left")
    )
    by_count = F.col("operations") / F.col("operations_asked")
    by_time = F.col("run_s") / F.col("duration_s")
    done = F.least(F.lit(1.0), F.greatest(by_count, by_time))
    rate_error = relative_error(F.col("overall_ops_s") * F.col("run_s"), F.col("operations"))
    histogram_error = relative_error(F.col("in_histograms"), F.col("succeeded"))
    return clients.groupBy("trial").agg(
        of_all(F.sum, F.col("failed")).alias("failed_operations"),
        of_all(F.min, done).alias("ycsb_share"),
        of_all(F.max, rate_error).alias("ycsb_rate_error"),
        of_all(F.max, histogram_error).alias("histogram_error"),
    )


def _histogram_counts(inputs: Inputs) -> DataFrame:
    """trial, client, in_histograms: successful operations of the whole run, ramp-up included."""
    return (
        inputs[tables.YCSB_HISTOGRAMS]
        .where("counted IS NOT NULL AND kind = 'closed-loop'")
        .groupBy("trial", "client")
        .agg(F.sum("counted").alias("in_histograms"))
    )
